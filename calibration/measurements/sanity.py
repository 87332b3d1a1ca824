"""What a measurement cannot determine, and what in it is impossible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.devices.faults import Fault, SpecError

_MOST_OUTSTANDING = 1.5
"""Latency times rate over what is outstanding: more cannot be, whatever was rounded."""
_ROUNDED_OUTSTANDING = 1.1
"""Likewise, up to which rounding and I/Os from before the run explain it."""
_LEAST_OUTSTANDING = 0.1
_RATIO_OF_DRIVES = 2.0
"""Ratio of rates under one load that one drive in one state does not have."""
_SHOWN = 20


def possible(measurement: Measurement) -> tuple[list[Point], list[str]]:
    """The points whose rate and latency can belong together, and what is said of the others.

    By Little's law rate times latency is what is outstanding, less the time that the load
    generator takes itself.

    Raises:
        SpecError: Most of the points cannot be.
    """
    remaining, wrong, idle, long = [], [], [], []
    for point in measurement.points:
        inside = point.iops * point.latency_mean_us / 1e6 / point.outstanding
        if inside > _MOST_OUTSTANDING:
            wrong.append((point, inside * point.outstanding))
        else:
            remaining.append(point)
            idle += [point] if inside < _LEAST_OUTSTANDING else []
            long += [(inside, point)] if inside > _ROUNDED_OUTSTANDING else []
    if 2 * len(wrong) > len(measurement.points):
        raise SpecError([_contradiction(point, inside) for point, inside in wrong[:_SHOWN]])
    notes = [f"left out: {_contradiction(point, inside)}" for point, inside in wrong]
    if idle:
        notes.append(
            f"{_points(len(idle))}, {idle[0].label()} the first, latencies far below what their"
            " rate and depth say: was the load limited (rate, thinktime), or are units mixed?"
        )
    if long:
        most, point = max(long, key=lambda each: each[0])
        notes.append(
            f"{_points(len(long))} latencies beyond what rate and depth allow (Little's law),"
            f" {point.label()} the most: {100 * (most - 1):.0f} % beyond; fits go by the rates"
        )
    buffered = [point for point in remaining if point.buffered]
    if buffered:
        notes.append(
            f"{_points(len(buffered))}, {buffered[0].label()} the first, gone through the host's"
            " page cache: memory answers where the device should; measure with direct=1"
        )
    return remaining, [*notes, *_mixed(remaining)]


def _mixed(points: Sequence[Point]) -> Iterator[str]:
    """A note if one load has rates that no drive in one state has, all points being one drive's."""
    rates: dict[tuple[object, ...], list[Point]] = {}
    for point in points:
        load = (
            *point.load,
            point.iodepth,
            point.numjobs,
            point.area_bytes,
            point.area_start_bytes,
            point.state,
        )
        rates.setdefault(load, []).append(point)
    apart = []
    for same in rates.values():
        slow, fast = (pick(same, key=lambda point: point.iops) for pick in (min, max))
        if fast.iops > _RATIO_OF_DRIVES * slow.iops:
            apart.append((fast.iops / slow.iops, slow, fast))
    if apart:
        ratio, slow, fast = max(apart, key=lambda each: each[0])
        loads = "1 load has" if len(apart) == 1 else f"{len(apart)} loads have"
        yield (
            f"{loads} rates up to {ratio:.3g} times apart, {slow.label()} the most:"
            f" {slow.iops:.4g} and {fast.iops:.4g} IO/s ({slow.file or slow.name},"
            f" {fast.file or fast.name}); are several drives in one set? Give each its own file"
        )


def _contradiction(point: Point, inside: float) -> Fault:
    value = f"{point.latency_mean_us:.4g} us at {point.iops:.4g} IO/s"
    allowed = (
        f"{point.label()}: at most {point.outstanding} outstanding, these make {inside:.3g};"
        " are milliseconds written as microseconds, or jobs not counted?"
    )
    return Fault("latency_mean_us", value, allowed, (), point.file)


def too_little(points: Sequence[Point]) -> list[str]:
    """What the points do not say, and what to measure for it."""
    found = []
    if len({point.outstanding for point in points}) == 1:
        found.append(
            f"all points have {points[0].outstanding} outstanding: waiting and work cannot be"
            " separated; measure depth 1 and a deep queue too (raidlab-collect --plan quick)"
        )
    for side in ("read", "write"):
        if not any(getattr(point, side) for point in points):
            found.append(
                f"no {side}s were measured: what only {side}s determine stays as assumed"
                " (raidlab-collect --plan quick measures both)"
            )
    if not any(
        s.completion.percentiles_us or s.completion.bins_ns for p in points for _, s in p.sides()
    ):
        found.append(
            "no percentiles were measured: fitted to rates alone (raidlab-collect keeps fio's bins)"
        )
    return found


def extrapolated(train: Sequence[Point], every: Sequence[Point]) -> list[str]:
    """What lies outside the range that the fit has seen."""
    found = []
    most = max(point.outstanding for point in train)
    beyond = [p for p in every if p.outstanding > most]
    if beyond:
        found.append(
            f"{_points(len(beyond))} more outstanding than the {most} that the fit has seen:"
            " extrapolated"
        )
    jobs = max(point.numjobs for point in train)
    more = sum(point.numjobs > jobs for point in every)
    if more:
        found.append(f"{_points(more)} more than {jobs} jobs: the host's own figures decide")
    sizes = {point.bs for point in train}
    other = sorted({point.bs for point in every} - sizes)
    if other:
        found.append(
            f"blocks of {', '.join(str(size) for size in other)} bytes were not seen by the fit:"
            " extrapolated"
        )
    return found


def _points(count: int) -> str:
    return "1 point has" if count == 1 else f"{count} points have"
