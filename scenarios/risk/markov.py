"""Closed forms: loss probabilities where lives and repairs are exponential.

A group of `n` drives that bears `m` failures is a birth-death chain: with `k` failed drives
failures come at rate `(n - k) l`, repairs at `k u` (each drive is repaired on its own), and state
`m + 1` is the loss. Groups are independent, so an array of `g` loses data with probability
`1 - (1 - P)^g`. For one failure the mean time to the loss is the textbook's

    MTTDL = ((2n - 1) l + u) / (n (n - 1) l^2)

(Patterson, Gibson, Katz, "A case for redundant arrays of inexpensive disks", 1988, without its
approximation). Uniformisation sums positive terms alone, so probabilities of 10^-15 have all their
digits (Jensen, 1953; Stewart, "Probability, Markov chains, queues, and simulation", 2009).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from raidlab.scenarios.risk.redundancy import Redundancy


def loss_probability(array: Redundancy, rate: float, repair: float, hours: float) -> float:
    """The probability that an array loses data within a time.

    Args:
        array: Groups; a ring of neighbours has no chain of this kind.
        rate: Failures of a drive an hour.
        repair: Repairs of a failed drive an hour.
        hours: The time.

    Raises:
        ValueError: The array is a ring.
    """
    if array.ring:
        raise ValueError("which neighbours have failed is no number of failed drives")
    chain = _chain(array.group_size, array.tolerance, rate, repair)
    if array.is_spread:
        chain = _spread_chain(array, rate, repair)
    one = _chain_loss(chain, hours)
    return float(-np.expm1(array.groups * np.log1p(-one)))


def mean_time_to_loss(drives: int, tolerance: int, rate: float, repair: float) -> float:
    """Hours until a group loses data, on average."""
    chain = _chain(drives, tolerance, rate, repair)[:-1, :-1]
    return float(np.linalg.solve(-chain, np.ones(len(chain)))[0])


def _chain(drives: int, tolerance: int, rate: float, repair: float) -> npt.NDArray[np.float64]:
    """The generator: rows are states of 0 failed drives to the loss."""
    size = tolerance + 2
    chain = np.zeros((size, size))
    for failed in range(size - 1):
        chain[failed, failed + 1] = (drives - failed) * rate
        if failed:
            chain[failed, failed - 1] = failed * repair
        chain[failed, failed] = -chain[failed].sum()
    return chain


def _spread_chain(array: Redundancy, rate: float, repair: float) -> npt.NDArray[np.float64]:
    """That of a declustered array which bears two failures.

    With two drives failed, one pass of rate `u` ends with both whole. Where critical stripes come
    first, the array bears a failure again after `(w - 1) / (n - 1)` of a drive's rebuild.
    """
    chain = _chain(array.drives, array.tolerance, rate, repair)
    chain[2, :3] = 0.0
    if array.critical_first:
        chain[2, 1] = repair / array.critical_share
    else:
        chain[2, 0] = repair
    chain[2, 2] = -chain[2].sum()
    return chain


def _chain_loss(chain: npt.NDArray[np.float64], hours: float) -> float:
    fastest = float(-chain.diagonal().min())
    steps = np.eye(len(chain)) + chain / fastest
    mean = fastest * hours
    most = int(mean + 12 * np.sqrt(mean) + 60)
    terms = np.arange(most + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(terms[1:]))])
    # The Poisson distribution, by logarithms.
    weights = np.exp(terms * np.log(mean) - mean - factorials)
    state = np.zeros(len(chain))
    state[0] = 1.0
    total = 0.0
    for weight in weights:
        total += float(weight) * state[-1]
        state = state @ steps
    return min(1.0, total)
