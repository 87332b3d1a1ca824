"""Measured and simulated, point by point: rates, percentiles, distributions, likely causes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypedDict

from raidlab.calibration.fitting.bench.bench import FINAL, Bench, Effort, Simulated
from raidlab.calibration.fitting.search.loss import measured_cpu_us, total_percentile
from raidlab.calibration.measurements.distribution import kolmogorov, percentile
from raidlab.calibration.measurements.measurement import Latency, Point, Side
from raidlab.devices.trees import Document
from raidlab.scenarios.results.number_text import percent
from raidlab.scenarios.running.simulate import Progress

PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Compared:
    """A measured point beside its simulation."""

    point: Point
    simulated: Simulated
    part: str = ""
    """`train` or `test`, where a fit has seen some points and not others."""

    @property
    def error_pct(self) -> float:
        """Of the rate."""
        return 100.0 * (self.simulated.iops / self.point.iops - 1.0)

    @property
    def mean_error_pct(self) -> float:
        """Of the mean latency, with what fio counts to no latency added to the measured one."""
        measured = self.point.latency_mean_us + self.point.unseen_us
        return 100.0 * (self.simulated.latency_mean_us / measured - 1.0)

    def percentiles(self, percent: float) -> list[tuple[str, float, float]]:
        """Direction, measured and simulated percentile in microseconds."""
        found = []
        for name, side in self.point.sides():
            measured = total_percentile(self.point, side, percent)
            latency = self.simulated.side(name)
            simulated = percentile(latency, percent) if latency is not None else None
            if measured is not None and simulated is not None:
                found.append((name, measured, simulated))
        return found

    def percentile_error_pct(self, percent: float) -> float | None:
        """Largest error of a percentile over the directions."""
        errors = [100.0 * (s / m - 1.0) for _, m, s in self.percentiles(percent) if m > 0]
        return max(errors, key=abs, default=None)

    def distance(self) -> float | None:
        """Largest Kolmogorov distance of the latencies over the directions."""
        found = []
        for name, side in self.point.sides():
            latency = self.simulated.side(name)
            if latency is not None:
                distance = kolmogorov(shifted(self.point, side), latency)
                if distance is not None:
                    found.append(distance)
        return max(found, default=None)

    def cause(self) -> str:
        """What the error most likely comes from."""
        return likely_cause(self)

    def to_dict(self) -> Document:
        """A row of the document of `raidlab compare --json`."""
        point = self.point
        first = {p: next(iter(self.percentiles(p)), ("", None, None)) for p in PERCENTS}
        names = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p99_9"}
        row: Document = {
            "rw": point.rw,
            "bs": point.bs,
            "read_share": point.read_share,
            "iodepth": point.iodepth,
            "numjobs": point.numjobs,
            "part": self.part,
            "measured_iops": point.iops,
            "simulated_iops": self.simulated.iops,
            "error_pct": self.error_pct,
            "measured_mean_us": point.latency_mean_us,
            "simulated_mean_us": self.simulated.latency_mean_us,
            "kolmogorov": self.distance(),
            "busiest": self.simulated.busiest,
            "file": point.file,
        }
        for rank, name in names.items():
            row[f"measured_{name}_us"] = first[rank][1]
            row[f"simulated_{name}_us"] = first[rank][2]
        return row


def shifted(point: Point, side: Side) -> Latency:
    """The measured completion latencies with what the simulation counts besides added."""
    slat = side.submission_mean_us + point.unseen_us
    was = side.completion
    return was.model_copy(
        update={
            "mean_us": was.mean_us + slat,
            "min_us": was.min_us + slat,
            "max_us": was.max_us + slat,
            "percentiles_us": {key: value + slat for key, value in was.percentiles_us.items()},
            "bins_ns": tuple((at + round(slat * 1e3), count) for at, count in was.bins_ns),
        }
    )


def compare(
    bench: Bench,
    points: Sequence[Point],
    effort: Effort,
    *,
    parts: Sequence[str] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Compared]:
    """Simulates every point and lays it beside what was measured."""
    results = bench.run_all(points, effort, workers, progress)
    of = parts or [""] * len(points)
    return [Compared(*row) for row in zip(points, results, of, strict=True)]


def out_of_balance(rows: Sequence[Compared]) -> list[str]:
    """What a user should know of points whose simulated mean latency misses I/Os that wait.

    A run over time is as long as it was measured, and a part of it has no steady state.
    """
    off = [
        (row.simulated.imbalance(row.point.outstanding), row.point)
        for row in rows
        if not row.simulated.rates
    ]
    off = [each for each in off if abs(each[0]) > FINAL.balance]
    if not off:
        return []
    worst, point = max(off, key=lambda each: abs(each[0]))
    return [
        f"{len(off)} of {len(rows)} points: I/Os wait for longer than the run, so the simulated"
        " mean latency and p99 are not to be relied on; rate times mean is"
        f" {abs(worst):.0%} {'below' if worst < 0 else 'above'} the I/Os in flight at"
        f" {point.in_words()}"
    ]


class Summary(TypedDict):
    """How far off some points are: errors in percent without their signs; None without points."""

    points: int
    median_abs_error_pct: float | None
    p90_abs_error_pct: float | None
    mean_latency_median_abs_error_pct: float | None
    p99_latency_median_abs_error_pct: float | None
    p99_9_latency_median_abs_error_pct: float | None
    median_kolmogorov: float | None


def summary(rows: Sequence[Compared]) -> Summary:
    """How far off: rates, mean latencies, p99 and p99.9."""
    errors = [abs(row.error_pct) for row in rows]
    means = [abs(row.mean_error_pct) for row in rows]
    p99, p99_9 = (
        [abs(e) for row in rows if (e := row.percentile_error_pct(percent)) is not None]
        for percent in (99.0, 99.9)
    )
    distances = [d for row in rows if (d := row.distance()) is not None]
    return {
        "points": len(rows),
        "median_abs_error_pct": statistics.median(errors) if errors else None,
        "p90_abs_error_pct": p90(errors) if errors else None,
        "mean_latency_median_abs_error_pct": statistics.median(means) if means else None,
        "p99_latency_median_abs_error_pct": statistics.median(p99) if p99 else None,
        "p99_9_latency_median_abs_error_pct": statistics.median(p99_9) if p99_9 else None,
        "median_kolmogorov": statistics.median(distances) if distances else None,
    }


HOLDS: Final = 0.9
"""Share of the points that must be within a stated tolerance."""


class Agreement(TypedDict):
    """Whether rates are within a tolerance: how many are, and if those are enough."""

    tolerance_pct: float
    points: int
    within: int
    holds: bool


def within(rows: Sequence[Compared], tolerance_pct: float) -> Agreement:
    """Whether rates hold a tolerance that was stated before: nine points of ten are within it.

    Args:
        rows: The points that count: unseen ones, where a fit has seen others.
        tolerance_pct: Largest error of a rate, in percent.
    """
    inside = sum(abs(row.error_pct) <= tolerance_pct for row in rows)
    holds = bool(rows) and inside >= HOLDS * len(rows)
    return {
        "tolerance_pct": tolerance_pct,
        "points": len(rows),
        "within": inside,
        "holds": holds,
    }


def p90(numbers: Sequence[float]) -> float:
    """The 90th percentile, between the two nearest numbers."""
    ordered = sorted(numbers)
    at = 0.9 * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


@dataclass(frozen=True)
class Mapped:
    """What reads say of the share of a solid-state drive that contained data."""

    share: float
    """What it is taken to be."""
    point: Point
    """The reads with one outstanding."""
    alone: float
    """What these would say by themselves."""


def estimate_mapped(bench: Bench, points: Sequence[Point], effort: Effort) -> Mapped | None:
    """The share of a solid-state drive that contained data, from its reads with one outstanding.

    Measurements seldom say what the drive had been through. Reads of what was never written come
    back without NAND being touched, so the share shows in the distribution at depth 1, and
    only there is it looked at. Other shallow reads must agree that the drive was not full: one
    point by itself does not decide it.

    Returns:
        None if the drive is no SSD, the state is known, or no such point was measured.
    """
    if not bench.has_unknown_past:
        return None
    alone = [p for p in points if p.outstanding == 1 and p.read is not None and p.state is None]
    if not alone:
        return None
    point = max(alone, key=lambda p: p.read_share)
    if point.read is None:
        return None
    shallow = [p for p in points if 1 < p.outstanding <= _SHALLOW and p.state is None]
    others = [p for p in shallow if p.rw == point.rw and p.bs == point.bs and p.numjobs == 1]

    def cost(share: float, of: Sequence[Point]) -> float:
        trial = replace(bench, mapped=share)
        rows = [Compared(each, trial.run(each, effort)) for each in of]
        off = [
            abs(m - s) / m for row in rows for p in PERCENTS[:4] for _, m, s in row.percentiles(p)
        ]
        return sum(min(1.0, one) for one in off) + sum(abs(row.error_pct) for row in rows) / 100.0

    full = cost(1.0, [point])
    best, share = min((cost(step / 16, [point]), step / 16) for step in range(16))
    # A drive that was full is the rule: less than that must be seen clearly, and not once alone.
    if best >= 0.8 * full:
        share = 1.0
    if share == 1.0:
        return Mapped(1.0, point, 1.0)
    agree = bool(others) and cost(share, others) < cost(1.0, others)
    return Mapped(share if agree else 1.0, point, share)


_SHALLOW: Final = 8
"""Reads outstanding up to which latencies show whether NAND was touched."""
_OTHER_KIND: Final = 4.0
"""Ratio of rates that no single time explains."""
_EXPLAINS: Final = 1 / 3
"""Share of a difference that its cause makes at least."""
_LIMITS: Final = 0.8
"""Share of the time from which on a component may be what bounds the simulated rate."""
_RATE_AGREES, _NEARLY = 5.0, 7.0
_TAIL_AGREES: Final = 30.0
"""Percent within which a rate, and p99, agree."""


def likely_cause(row: Compared) -> str:
    """What an error most likely comes from, in a few words that its row does not contradict."""
    point, error = row.point, row.error_pct
    ratio = row.simulated.iops / point.iops
    p99 = row.percentile_error_pct(99.0)
    spread = max((side.spread for _, side in point.sides()), default=0.0)
    busy = row.simulated.busiest if row.simulated.busy >= _LIMITS else ""
    tail_agrees = p99 is None or abs(p99) < _TAIL_AGREES
    if abs(error) < _RATE_AGREES and tail_agrees:
        return "agrees"
    if spread > 0.15 and abs(error) < 300.0 * spread and point.numjobs == 1:
        return f"the measured rate itself varied by {percent(spread)} over the run"
    if abs(error) < _NEARLY:
        if tail_agrees:
            return f"nearly agrees: {abs(error):.0f} % too {'fast' if error > 0 else 'slow'}"
        return (
            "the tail: some jobs or requests waited far longer than others"
            if p99 is not None and p99 < 0
            else "the tail is shorter than simulated"
        )
    if max(ratio, 1.0 / max(ratio, 1e-9)) > _OTHER_KIND:
        return "another kind of device, or another state of it"
    if point.outstanding == 1:
        return "latency at depth 1: firmware, medium, what contained data, or waking of the thread"
    cpu = _cpu_explains(row)
    if point.numjobs > 1 and point.iodepth == 1 and error > 0 and cpu:
        return "CPU time of many sleeping jobs: changes of context"
    if error > 0 and ("link" in busy or "SATA" in busy or "PCIe" in busy):
        if "rand" in point.rw and point.read_share < 1.0:
            return "garbage collection (the measured drive was fuller), or the port limits earlier"
        return "the port or the drive's command processing limits earlier than simulated"
    if error > 0 and "host" in busy and cpu:
        return "CPU time an I/O of the host is larger than simulated"
    if error > 0:
        return "waiting at the drive under load is underestimated"
    if "host" in busy and cpu:
        return "CPU time an I/O of the host is smaller than simulated"
    if busy:
        return f"limited by {busy} in the simulation"
    return "times of one I/O are overestimated: no component is busy for 80 % of the time"


def _cpu_explains(row: Compared) -> bool:
    """True if the host's CPU time makes much of the time by which a job's I/Os are apart.

    The CPU time is the measured one less the simulated one; where fio saw none it may be twice
    the simulated one, or nothing.
    """
    point, simulated = row.point, row.simulated
    seen, here = measured_cpu_us(point), simulated.cpu_us
    slower = 1e6 * point.numjobs * (1.0 / point.iops - 1.0 / simulated.iops)
    more = math.copysign(here, slower) if seen is None else seen - here
    # Jobs that share a core wait for each other's.
    return more * max(1.0, point.numjobs / simulated.cores) / slower >= _EXPLAINS
