"""Loads that ran side by side as one: rates add up, distributions are put together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from raidlab.scenarios.results.intervals import PERCENTILES, Interval, of_latencies, of_sum
from raidlab.scenarios.results.latency_map import merge_maps
from raidlab.scenarios.results.row import DIRECTIONS, figures_of, latency_of
from raidlab.scenarios.results.row import Side as RowSide
from raidlab.scenarios.spec.run_result import (
    Arrived,
    Latency,
    MapReport,
    Side,
    SlowIo,
    Timeline,
    WorkloadResult,
)


def merge_loads(loads: Sequence[WorkloadResult]) -> WorkloadResult:
    """The loads as one, with the fields that a row is made of."""
    ios = sum(load["ios"] for load in loads)
    iops = sum(load["iops"] for load in loads)
    parts = sorted({part for load in loads for part in load["breakdown_us"]})
    batches = [load["independent_batches"] for load in loads]
    known = [each for each in batches if each is not None]
    latency, intervals = _merge_latencies(
        loads, [load[side]["bins"] for load in loads for side in DIRECTIONS]
    )
    return {
        "name": loads[0]["name"],
        "target": loads[0]["target"],
        "ios": ios,
        "errors": sum(load["errors"] for load in loads),
        "iops": iops,
        "iops_ci95": of_sum(
            iops,
            [load["iops_ci95"] for load in loads],
            [load.get("iops_past_half_width") or 0.0 for load in loads],
        ),
        "independent_batches": min(known) if len(known) == len(batches) else None,
        "steady": all_steady([load["steady"] for load in loads]),
        "mib_per_s": sum(load["mib_per_s"] for load in loads),
        "mb_per_s": sum(load["mb_per_s"] for load in loads),
        "latency_us": latency,
        "latency_ci95_us": intervals,
        "rank_half_widths": {},
        "read": _merge_sides([load["read"] for load in loads]),
        "write": _merge_sides([load["write"] for load in loads]),
        "breakdown_us": {
            part: sum(load["ios"] * load["breakdown_us"].get(part, 0.0) for load in loads)
            / max(ios, 1)
            for part in parts
        },
        "periods": loads[0]["periods"] if len(loads) == 1 else [],
        "timeline": _merge_timelines([load["timeline"] for load in loads]),
        "slowest": _merge_slowest([load.get("slowest") for load in loads]),
        "arrived": _merge_arrived([load.get("arrived") for load in loads]),
    }


def _merge_slowest(lists: Sequence[list[SlowIo] | None]) -> list[SlowIo] | None:
    """The slowest I/Os of several loads: as many as each has."""
    known = [each for each in lists if each is not None]
    every = sorted((io for each in known for io in each), key=lambda io: -io["latency_us"])
    return every[: max(len(each) for each in known)] if known else None


def _merge_arrived(each: Sequence[Arrived | None]) -> Arrived | None:
    """Arrivals of several loads: sums."""
    known = [one for one in each if one is not None]
    if not known or len(known) < len(each):
        return None
    halves = zip(*(one["fewest_in_flight"] for one in known), strict=True)
    return {
        "requests": sum(one["requests"] for one in known),
        "fewest_in_flight": [None if None in half else sum(half) for half in halves],
    }


def all_steady(each: Sequence[bool | None]) -> bool | None:
    """Whether all are; None if that cannot be said of one, and the others are."""
    return False if False in each else None if None in each else True


def _merge_sides(sides: Sequence[Side]) -> Side:
    bins = [side["bins"] for side in sides]
    latency, intervals = _merge_latencies(sides, bins)
    merged: Side = {
        "ios": sum(side["ios"] for side in sides),
        "bytes": sum(side["bytes"] for side in sides),
        "iops": sum(side["iops"] for side in sides),
        "mib_per_s": sum(side["mib_per_s"] for side in sides),
        "latency_us": latency,
        "latency_ci95_us": intervals,
        "rank_half_widths": {},
        "bins": [list(pair) for pair in sorted(add_bins(bins).items())],
    }
    if (over_time := merged_maps(sides)) is not None:
        merged["latency_map"] = over_time
    return merged


def merged_maps(sides: Sequence[RowSide] | Sequence[Side]) -> MapReport | None:
    """Latencies over time of several loads or directions together; None if none has them."""
    return merge_maps([side.get("latency_map") for side in sides])


def add_bins(many: Iterable[Iterable[Sequence[int]]]) -> dict[int, int]:
    """Buckets of several histograms as one: nanoseconds and count."""
    total: dict[int, int] = {}
    for bins in many:
        for at, count in bins:
            total[at] = total.get(at, 0) + count
    return total


def _merge_latencies(
    loads: Sequence[WorkloadResult] | Sequence[Side], bins: Iterable[Iterable[Sequence[int]]]
) -> tuple[Latency | None, dict[str, Interval]]:
    """`latency_us` and `latency_ci95_us` of several loads together."""
    counted = sorted(add_bins(bins).items())
    merged = _merged([(load["ios"], load["latency_us"]) for load in loads], counted)
    figures = None if merged is None else figures_of(merged)
    return merged, of_latencies(figures, loads, counted)


def _merged(
    each: Sequence[tuple[int, Latency | None]], counted: Sequence[tuple[int, int]]
) -> Latency | None:
    known = [(ios, latency) for ios, latency in each if latency is not None]
    if not known:
        return None
    total = sum(ios for ios, _ in known)
    mean = sum(ios * latency["mean"] for ios, latency in known) / total
    square = sum(ios * (latency["stddev"] ** 2 + latency["mean"] ** 2) for ios, latency in known)
    low = min(latency["min"] for _, latency in known)
    high = max(latency["max"] for _, latency in known)
    figures = {
        "min": low,
        "mean": mean,
        "stddev": math.sqrt(max(0.0, square / total - mean * mean)),
        **{
            name: min(max(_percentile(counted, percent), low), high)
            for name, percent in PERCENTILES.items()
        },
        "max": high,
    }
    return latency_of(figures)


def _percentile(counted: Sequence[tuple[int, int]], percent: float) -> float:
    """Microseconds below which `percent` of the counted latencies lie (nearest rank)."""
    rank = math.ceil(sum(count for _, count in counted) * percent / 100)
    for at, count in counted:
        rank -= count
        if rank <= 0:
            return at / 1e3
    return counted[-1][0] / 1e3


def _merge_timelines(lines: Sequence[Timeline]) -> Timeline:
    length = min(len(line["t_s"]) for line in lines)
    iops = [sum(line["iops"][at] for line in lines) for at in range(length)]
    latency: list[float | None] = []
    for at in range(length):
        known = [
            (line["iops"][at], mean)
            for line in lines
            if (mean := line["latency_us"][at]) is not None
        ]
        weight = sum(rate for rate, _ in known)
        latency.append(sum(rate * mean for rate, mean in known) / weight if weight else None)
    return {"t_s": lines[0]["t_s"][:length], "iops": iops, "latency_us": latency}
