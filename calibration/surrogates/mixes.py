"""How far reads and writes wait for each other: what measured mixes say.

A table has the rate X(m) of each direction alone with m commands. In a closed load of n commands, a
share r of them reads, m_read + m_write = n are in the device. Each waits with those of its own
direction and with the share c of the others (`devices.table`), so that by Little's law

    X r       = m_read X_read(m_read + c m_write) / (m_read + c m_write)
    X (1 - r) = m_write X_write(m_write + c m_read) / (m_write + c m_read)

With c = 1 this is n / (r L_read(n) + (1 - r) L_write(n)), one bottleneck. With c = 0 and long
queues it is the smaller of X_read / r and X_write / (1 - r): a link with two directions.

**Example.** Reads alone 100 a second, writes alone 50, half of each, long queues: 66.7 a second
with c = 1, and 100 with c = 0.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from raidlab.calibration.surrogates.loads import Array, Loads, Measured

SHARED: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares that are tried."""
_CLEARLY: Final = 0.9
"""Ratio of errors below which a share is taken that is not 1."""
_HALVINGS: Final = 40


class Rates(Protocol):
    """Whatever predicts rates."""

    def rates(self, loads: Loads) -> Array:
        """I/Os a second, shape (loads,)."""


def shared_of(predictor: Rates, seen: Measured) -> float:
    """The share under which rates of each direction alone give those of measured mixes best.

    Args:
        predictor: Of rates of each direction alone.
        seen: What was measured; without mixes both directions count alike.
    """
    mixed = [at for at, share in enumerate(seen.loads.read_share) if 0.01 < share < 0.99]
    if not mixed:
        return 1.0
    of = seen.take(mixed)
    errors = [_error(mix_rates(predictor, of.loads, shared), of) for shared in SHARED]
    best = int(np.argmin(errors))
    return SHARED[best] if errors[best] < _CLEARLY * errors[-1] else 1.0


def _error(rates: Array, of: Measured) -> float:
    return float(np.mean(np.abs(np.log(rates / of.rate)) / of.tolerance))


def mix_rates(predictor: Rates, loads: Loads, shared: float) -> Array:
    """Rates of mixes by those of each direction alone, in I/Os a second; shape (loads,).

    Args:
        predictor: Of rates of each direction alone.
        loads: Mixes.
        shared: Share of the other direction's commands that a command waits with.
    """
    count, reads = loads.outstanding, loads.read_share

    def passed(of_reads: Array) -> tuple[Array, Array]:
        of_writes = count - of_reads
        found = []
        for own, other, direction in ((of_reads, of_writes, True), (of_writes, of_reads, False)):
            with_it = np.maximum(own + shared * other, 1.0)
            alone = loads.pure(reads=direction)
            at = Loads(
                alone.read_share, alone.block, with_it / loads.jobs, loads.jobs, loads.sequential
            )
            found.append(own * predictor.rates(at) / with_it)
        return found[0], found[1]

    low, high = np.zeros(len(loads)), np.asarray(count, dtype=float)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        read, write = passed(middle)
        more = read * (1.0 - reads) < write * reads
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    read, write = passed((low + high) / 2.0)
    found: Array = read + write
    return found
