"""Laws of a device's rate: few numbers each, a function of direction, block size, depth and jobs.

`ServerLaw` is a station and a delay around it (`queueing`): an I/O takes the server a time of its
own and one for each byte, of reads and of writes, and waits a latency outside. Reads and writes
share the server, so a mix takes the mean of both; or they are apart, so that the busier of both
limits, and an I/O meets the other only as time. Variants: one server for all jobs or one for each
job; caps on I/Os and bytes a second; constant or exponential times.

`LinesLaw` knows nothing of devices: the logarithm of the rate is a plane over the logarithms of
block size and of outstanding I/Os, of reads and of writes; a mix takes the harmonic mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import scipy

from raidlab.calibration.surrogates.loads import Array, Loads, Measured
from raidlab.calibration.surrogates.queueing import closed_rate

PULL: Final = 0.05
"""Tolerances of residual for each factor of e between a parameter and where it began."""
_SHORTEST_S, _LONGEST_S = 1e-9, 10.0
_FASTEST: Final = 1e12
CACHE_BYTES: Final = 2.0 * 1024 * 1024
"""Bytes of a CPU's cache at which a search begins: the second level of a server's core."""
_CACHES: Final = (256.0 * 1024, 256.0 * 1024 * 1024)
"""From the second level of a small core to the last level of a large CPU."""
_UNCACHED, _MOST_UNCACHED = 1.5, 6.0
"""How many times as long a byte takes from memory as from a cache: at the start, at most."""
_STARTS: Final = 4
_SIDES: Final = ("read", "write")
_STEP: Final = 1e-6
"""Of a number, which is a logarithm, by which slopes are taken."""
_JITTER: Final = 0.7
"""Deviation of the logarithms of further starts."""


@dataclass(frozen=True)
class HostTimes:
    """CPU time of the thread that issues an I/O, in seconds (`cpu`)."""

    command: float = 0.0
    page: float = 0.0
    """Of each 4 KiB besides."""
    write: float = 0.0
    """Of a write besides."""
    write_page: float = 0.0
    """Of each 4 KiB of a write besides."""
    wake: float = 0.0
    """Of an I/O whose thread slept until it was back."""
    threads: int = 0
    """Hardware threads; 0 if they are not known."""

    def busy(self, loads: Loads) -> Array:
        """Time of an I/O at its thread, without waking, in seconds."""
        pages, writes = np.ceil(loads.block / 4096.0), 1.0 - loads.read_share
        of_write = self.write + self.write_page * pages
        found: Array = self.command + self.page * pages + of_write * writes
        return found


class Law(Protocol):
    """A function of a load with a few numbers in it, all of them logarithms."""

    @property
    def name(self) -> str:
        """In messages and documents."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its numbers."""

    def start(self, seen: Measured) -> Array:
        """Where a search for its numbers begins; shape (numbers,)."""

    def bounds(self) -> tuple[Array, Array]:
        """Least and greatest value of each number."""

    def rates(self, numbers: Array, loads: Loads) -> Array:
        """I/Os a second, shape (loads,); of several rows of numbers shape (rows, loads)."""


@dataclass(frozen=True)
class ServerLaw:
    """Servers that reads and writes share, a latency outside, and caps if it has any."""

    spread: float = 1.0
    """Share of the service time that varies exponentially."""
    each_job: bool = False
    """True if each job has a server to itself."""
    capped: bool = False
    continued: bool = False
    """True if sequential I/Os take a share of the time of others."""
    servers: int = 1
    apart: bool = False
    """True if reads and writes have servers of their own."""
    cached: bool = False
    """True if bytes take longer where more of them are in flight than a CPU caches."""
    host: HostTimes = HostTimes()

    @property
    def name(self) -> str:
        """In messages and documents."""
        own = "one server a job" if self.each_job else "one server"
        own = f"{self.servers} servers" if self.servers > 1 else own
        own += " a direction" if self.apart else ""
        parts = [own, "exponential" if self.spread >= 1.0 else "constant"]
        parts += ["capped"] if self.capped else []
        parts += ["sequential apart"] if self.continued else []
        parts += ["copied by a CPU"] if self.cached else []
        return ", ".join(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Seconds, seconds a byte, seconds; I/Os and bytes a second; shares."""
        return (
            "read", "write", "read_byte", "write_byte", "read_latency", "write_latency",
            *(("rate", "throughput") if self.capped else ()),
            *(("continued_read", "continued_write") if self.continued else ()),
            *(("cache", "uncached") if self.cached else ()),
        )  # fmt: skip

    def start(self, seen: Measured) -> Array:
        """Times of the fastest I/Os and bytes; latencies of the shallowest."""
        gap, loads = 1.0 / seen.rate, seen.loads
        small, large = _least_of(loads, gap), _least_of(loads, gap / loads.block)
        shallow = _least_of(loads, loads.outstanding * gap)
        found = [*(0.7 * self.servers * small), *(0.5 * self.servers * large), *(0.6 * shallow)]
        if self.capped:
            found += [1.05 * seen.rate.max(), 1.05 * (seen.rate * loads.block).max()]
        if self.continued:
            found += [0.8, 0.8]
        if self.cached:
            found += [CACHE_BYTES, _UNCACHED]
        return np.asarray(np.log(np.array(found)))

    def bounds(self) -> tuple[Array, Array]:
        """Wide: what no measurement speaks to stays at the start by its pull."""
        low, high = [_SHORTEST_S] * 6, [_LONGEST_S] * 6
        low[2:4] = [1e-14] * 2
        if self.capped:
            low, high = [*low, 1.0, 1.0], [*high, _FASTEST, _FASTEST]
        if self.continued:
            low, high = [*low, 0.05, 0.05], [*high, 1.0, 1.0]
        if self.cached:
            low, high = [*low, _CACHES[0], 1.0], [*high, _CACHES[1], _MOST_UNCACHED]
        return np.log(np.array(low)), np.log(np.array(high))

    def rates(self, numbers: Array, loads: Loads) -> Array:
        """I/Os a second of closed loads."""
        columns = np.moveaxis(np.exp(numbers), -1, 0)[..., None]
        named = dict(zip(self.names, columns, strict=True))
        reads = loads.read_share

        def mixed(read: float | Array, write: float | Array) -> Array:
            return np.asarray(reads * read + (1.0 - reads) * write)

        bytes_of = [loads.block * named[f"{side}_byte"] for side in _SIDES]
        if self.cached:
            outside = np.maximum(1.0 - named["cache"] / (loads.block * loads.outstanding), 0.0)
            bytes_of = [moved * (1.0 + (named["uncached"] - 1.0) * outside) for moved in bytes_of]
        times = [named[side] + moved for side, moved in zip(_SIDES, bytes_of, strict=True)]
        if self.continued:
            times = [
                time * np.where(loads.sequential > 0.0, named[f"continued_{side}"], 1.0)
                for side, time in zip(_SIDES, times, strict=True)
            ]
        of_read, of_write = reads * times[0], (1.0 - reads) * times[1]
        service, beside = of_read + of_write, np.zeros(len(loads))
        if self.apart:
            service, beside = np.maximum(of_read, of_write), np.minimum(of_read, of_write)
        at_host = self.host.busy(loads)
        delay = mixed(named["read_latency"], named["write_latency"])
        delay = delay + beside + at_host + self.host.wake / loads.depth
        count = loads.depth if self.each_job else loads.outstanding
        found = closed_rate(count, service, delay, self.spread, self.servers)
        found = found * loads.jobs if self.each_job else found
        found = within_host(found, at_host, loads, self.host.threads)
        if self.capped:
            caps = np.minimum(named["rate"], named["throughput"] / loads.block)
            found = np.minimum(found, caps)
        return found


def within_host(rates: Array, busy: Array, loads: Loads, threads: int) -> Array:
    """Rates that the CPU time of I/Os allows: each job has one thread, all have the host's.

    Args:
        rates: Without that limit.
        busy: CPU time of an I/O in seconds.
        loads: What is asked for.
        threads: Of the host; 0 for no limit.
    """
    workers = np.minimum(loads.jobs, threads) if threads else loads.jobs
    limits = np.divide(workers, busy, out=np.full(len(busy), np.inf), where=busy > 0.0)
    found: Array = np.minimum(rates, limits)
    return found


def _least_of(loads: Loads, values: Array) -> Array:
    """The least value of reads, and of writes; that of all where a direction was not measured."""
    sides = [values[loads.read_share > 0.5], values[loads.read_share <= 0.5]]
    return np.array([side.min() if len(side) else values.min() for side in sides])


@dataclass(frozen=True)
class LinesLaw:
    """Planes in logarithms: what needs no thought, and what any law must beat.

    Beyond the largest block that was measured bytes a second stay, beyond the smallest one and
    beyond the depths I/Os a second do.
    """

    blocks: tuple[float, float] = (1.0, math.inf)
    """Least and greatest that were measured, in bytes."""
    outstanding: tuple[float, float] = (1.0, math.inf)
    name: str = "lines"
    names: tuple[str, ...] = (
        "read", "read_size", "read_depth", "write", "write_size", "write_depth",
    )  # fmt: skip

    @staticmethod
    def over(loads: Loads) -> LinesLaw:
        """Lines that are straight between these loads."""
        blocks, depths = loads.block, loads.outstanding
        return LinesLaw(
            (float(blocks.min()), float(blocks.max())), (float(depths.min()), float(depths.max()))
        )

    def start(self, seen: Measured) -> Array:
        """The mean rate, falling with the square root of the size, rising with that of depth."""
        mean = float(np.log(seen.rate).mean())
        return np.array([mean, -0.5, 0.5, mean, -0.5, 0.5])

    def bounds(self) -> tuple[Array, Array]:
        """Rates fall with the size, at most as bytes make them, and rise at most as depth does."""
        low = np.array([-30.0, -1.0, -0.2] * 2)
        return low, np.array([40.0, 0.2, 1.0] * 2)

    def rates(self, numbers: Array, loads: Loads) -> Array:
        """I/Os a second; a mix takes the mean of the times."""
        columns = np.moveaxis(np.asarray(numbers), -1, 0)[..., None]
        block = np.clip(loads.block, *self.blocks)
        size = np.log(block / 16384.0)
        depth = np.log(np.clip(loads.outstanding, *self.outstanding) / 4.0)
        one, other = (
            np.exp(np.clip(a + b * size + c * depth, -40.0, 40.0))
            for a, b, c in (columns[:3], columns[3:])
        )
        beyond = np.maximum(loads.block / block, 1.0)
        found: Array = 1.0 / (loads.read_share / one + (1.0 - loads.read_share) / other) / beyond
        return found


@dataclass(frozen=True)
class FittedLaw:
    """A law with its numbers."""

    law: Law
    numbers: Array
    cost: float
    """Of the fit: half the sum of the soft residuals in tolerances."""
    spread: Array
    """Standard errors of the numbers, which are logarithms, shape (numbers,)."""
    covariance: Array
    """Of the numbers by the points' tolerances alone, shape (numbers, numbers): a law that does not
    fit is determined all the same."""

    def deviations(self, loads: Loads) -> Array:
        """Standard errors of the logarithms of rates, from those of the numbers; shape (loads,)."""
        slopes = _slopes(self.law, self.numbers, loads)
        found: Array = np.sqrt(np.maximum(((slopes @ self.covariance) * slopes).sum(axis=1), 0.0))
        return found

    def rates(self, loads: Loads) -> Array:
        """I/Os a second, shape (loads,)."""
        return self.law.rates(self.numbers, loads)

    def named(self) -> dict[str, float]:
        """The numbers by name, no longer as logarithms where they are times and rates."""
        values = self.numbers if isinstance(self.law, LinesLaw) else np.exp(self.numbers)
        return dict(zip(self.law.names, map(float, values), strict=True))


def fit_law(
    law: Law, seen: Measured, begin: Sequence[Array] = (), starts: int = _STARTS
) -> FittedLaw:
    """The numbers of a law that meet measured rates best: least squares with a soft loss.

    Args:
        law: The law.
        seen: What is met; at least one point.
        begin: Places to begin at besides the law's own start.
        starts: How many others are drawn around the start; the same ones every time.
    """
    first = law.start(seen)
    low, high = law.bounds()
    drawn = np.random.default_rng(1).normal(0.0, _JITTER, (starts, len(first)))
    goal = np.log(seen.rate)

    def residuals(numbers: Array) -> Array:
        off = (np.log(law.rates(numbers, seen.loads)) - goal) / seen.tolerance
        return np.concatenate([off, PULL * (numbers - first)])

    def slopes(numbers: Array) -> Array:
        found = _slopes(law, numbers, seen.loads) / seen.tolerance[:, None]
        return np.vstack([found, PULL * np.eye(len(first))])

    best = None
    for place in (first, *begin, *(first + jitter for jitter in drawn)):
        inside = np.clip(place, low + 1e-6, high - 1e-6)
        found = scipy.optimize.least_squares(
            residuals, inside, slopes, (low, high), loss="soft_l1", max_nfev=60, xtol=1e-5
        )
        if best is None or found.cost < best.cost:
            best = found
    if best is None:
        raise AssertionError("a law has a start")
    information = best.jac.T @ best.jac
    scale = max(1.0, 2.0 * best.cost / max(1, len(seen) - len(first)))
    covariance = np.linalg.pinv(information)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0) * scale)
    return FittedLaw(law, np.asarray(best.x), float(best.cost), errors, covariance)


def _slopes(law: Law, numbers: Array, loads: Loads) -> Array:
    """Slopes of the logarithms of rates over the numbers; shape (loads, numbers)."""
    near = np.vstack([numbers, numbers + _STEP * np.eye(len(numbers))])
    logs = np.log(law.rates(near, loads))
    found: Array = (logs[1:] - logs[0]).T / _STEP
    return found
