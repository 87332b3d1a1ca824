"""Independent numbers of the rooms of disks, queues and arrays: closed forms, the engine's rows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import raidlab
from raidlab.notebooks import (
    arm,
    battery,
    block_size,
    how_long,
    iostat,
    knee,
    levels,
    neighbour,
    omission,
    one_io,
    plan,
    rebuild,
    simpy_60,
    tails,
    write_penalty,
)
from raidlab.notebooks.frame import run
from raidlab.scenarios.spec.trees import ScenarioTree
from tests.notebooks.numbers.shown import Known

Setting = Mapping[str, float | str]
Row = Mapping[str, Any]
COST = {"raid0": 1, "raid10": 2, "raid5": 4, "raid6": 6}
"""Commands of a small write."""
MEAN_READ_S = {"generic-15000rpm": 5.09e-3, "generic-7200rpm": 13.06e-3}
"""Host, overhead, mean seek, half of the spread, half a revolution, transfer: from the sheets."""


def rows_of(scenario: ScenarioTree, seed: int = 1) -> Sequence[Row]:
    """The engine's own rows."""
    return run(scenario, seed).results


def rate(row: Row, *, needed: bool = True) -> Known:
    """A row's rate."""
    return Known(row["iops"], "IO/s", "rate of the run", needed=needed)


def time(row: Row, name: str = "mean", *, needed: bool = True) -> Known:
    """One of a row's or a period's latencies."""
    return Known(row["latency_us"][name] / 1e6, "s", f"{name} of the run", needed=needed)


def share(value: float, source: str, *, needed: bool = True) -> Known:
    """A share of one, shown in percent."""
    return Known(100 * value, "%", source, needed=needed)


def busy(row: Row) -> list[Known]:
    """How busy components were: one of them is named."""
    return [
        share(each["utilization"], "utilization", needed=False) for each in row["components"]
    ] + [
        # 79 % is written of what is just below 80 %, where a sentence says so.
        Known(79, "%", "utilization", needed=False)
    ]


def worked(row: Row) -> float:
    """The share of the time in which a drive works, 0 to 1."""
    return statistics.fmean(
        each["utilization"] for each in row["components"] if each["kind"] == "drive"
    )


def mean_commands(reads: float, level: str) -> float:
    """Commands an I/O takes on average."""
    return reads + COST[level] * (1 - reads)


def of_one_io(values: Setting) -> list[Known]:
    """Room 1."""
    made = one_io.scenario(values)
    (row,) = rows_of(made)
    io = raidlab.simulate(made, seed=1, trace_ios=8).ios[values["number"] - 1]
    path = [each for each in io["stages"] if each["critical"]]
    sums: dict[str, int] = {}
    for each in path:
        took = each["end_ns"] - each["begin_ns"]
        sums[each["stage"]] = sums.get(each["stage"], 0) + took
    found = [
        time(row),
        rate(row),
        share(row["breakdown_us"]["transfer"] / row["latency_us"]["mean"], "transfer"),
        Known(io["latency_ns"] / 1e9, "s", "traced latency"),
        share(max(sums.values()) / io["latency_ns"], "longest part of the trace"),
        Known(len(path), "", "stages"),
        Known(4 if values["system"] == "raid5" and values["op"] == "randwrite" else 1, "",
              "commands of a small write"),
        Known(1e6 / row["latency_us"]["mean"], "IO/s", "one after the other: 1 / latency", 0.01),
    ]  # fmt: skip
    disk = {"disk": "generic-15000rpm", "slow": "generic-7200rpm"}.get(values["system"])
    if disk and values["op"] == "randread":
        found.append(Known(MEAN_READ_S[disk], "s", "mean read by the data sheet", 0.02))
    return found


def of_arm(values: Setting) -> list[Known]:
    """Room 2."""
    rows = rows_of(arm.scenario(values))
    row = rows[arm.DEPTHS.index(values["depth"])]
    found = [
        rate(row),
        time(row),
        Known(row["iops"] / rows[0]["iops"], "", "gain"),
        Known(row["breakdown_us"]["seek"] / 1e6, "s", "seek"),
        Known(row["breakdown_us"]["rotation"] / 1e6, "s", "rotation"),
        Known(values["depth"] / row["iops"], "s", "Little's law", 0.02, box=2),
    ]
    if values["depth"] == 1:
        mean = MEAN_READ_S[values["disk"]]
        found.append(Known(1 / mean, "IO/s", "1 / mean read by the data sheet", 0.02))
    return found


def of_knee(values: Setting) -> list[Known]:
    """Room 3: asymptotes and Little."""
    rows = rows_of(knee.scenario(values))
    at = knee.DEPTHS.index(values["depth"])
    row = rows[at]
    teaching = values["drive"] in ("five", "fivex")
    best = values["count"] / 0.005 if teaching else max(each["iops"] for each in rows)
    found = [
        Known(best * rows[0]["latency_us"]["mean"] / 1e6, "", "N* = R1 D / S"),
        rate(row),
        time(row),
        time(row, "p99"),
        Known(row["iops"], "", "rate of the run"),
        Known(values["depth"], "", "Little's law", 0.03),
        Known(best, "IO/s", "D / S", needed=False),
        *(
            Known(depth, "", "nine tenths of the best rate", needed=False)
            for depth, each in zip(knee.DEPTHS, rows, strict=True)
            if each["iops"] >= 0.9 * best
        ),
        rate(rows[-1], needed=False),
        *busy(row),
    ]
    if teaching:
        used = row["iops"] * 0.005 / values["count"]
        found.append(Known(100 * min(1.0, used), "%", "utilization X S / D", 0.08))
    return found


def of_write_penalty(values: Setting) -> list[Known]:
    """Room 4: commands are counted."""
    (row,) = rows_of(write_penalty.scenario(values))
    (plain,) = rows_of(write_penalty.scenario(values | {"level": "raid0"}))
    mean = mean_commands(values["reads"] / 100, values["level"])
    found = [
        rate(row),
        Known(COST[values["level"]], "", "commands of a small write"),
        Known(mean, "", "commands an I/O: r + k (1 - r)"),
        Known(plain["iops"] / row["iops"], "", "RAID 0's rate over this one"),
    ]
    if values["system"] == "five":
        found.append(Known(1600 / mean, "IO/s", "8 × 200 / commands", 0.04))
    return found


def of_battery(values: Setting) -> list[Known]:
    """Room 5: the engine's audit of the data."""
    data = run(battery.scenario(values), 1).data
    names = ("lost_writes", "corrupt_stripes", "lost_in_drive_caches")
    found = [Known(data[name], "", name, needed=bool(data[name])) for name in names]
    if values["caches"] == "off":
        found.append(Known(0, "", "no cache of a drive, nothing lost in one"))
        if values["policy"] == "write-through" or values["backup"] == "fbu":
            assert data["lost_writes"] == 0
        if values["policy"] == "write-through":
            assert data["corrupt_stripes"] <= 16
    return found


def of_rebuild(values: Setting) -> list[Known]:
    """Room 9: the engine's events and periods."""
    result = run(rebuild.scenario(values), 1)
    at = {each["kind"]: each["t_s"] for each in result.events}
    took = at["rebuild-done"] - at["rebuild-begun"]
    before, during, *_ = result.results[0]["periods"]
    return [
        Known(took, "s", "events of the rebuild"),
        Known(took * 300e3 / 300, "s", "1,000 times as much of each drive"),
        Known(300e6 / took, "B/s", "300 MB over the time"),
        time(before, "p99"),
        time(during, "p99"),
        Known(during["latency_us"]["mean"] / before["latency_us"]["mean"], "", "mean over mean"),
    ]


def of_plan(values: Setting) -> list[Known]:
    """Room 11: the rate on the line at 60 ms."""
    rows = [row for row in rows_of(plan.scenario(values)) if not row["doubts"]]
    near = [row["latency_us"]["p99"] / 1e3 for row in rows]
    rates = [row["iops"] for row in rows]
    inside = [x for x, p99 in zip(rates, near, strict=True) if p99 <= 60]
    if near == sorted(near) and inside:
        crossing = float(np.interp(math.log(60), np.log(near), rates))
        best = max(crossing, *inside)
    else:
        best = max(inside, default=0.0)
    commands = round(mean_commands(0.67, values["level"]), 2)
    return [
        Known(best, "IO/s", "rate at 60 ms"),
        Known(0.75 * best, "IO/s", "less 25 %"),
        Known(commands, "", "commands an I/O: r + k (1 - r)"),
        *busy(rows_of(plan.scenario(values))[-1]),
    ]


def of_simpy_60(values: Setting) -> list[Known]:
    """Room 12: two simulators."""
    row = rows_of(simpy_60.scenario(values))[simpy_60.DEPTHS.index(values["depth"])]
    small, _ = simpy_60.sixty_lines(values["level"], values["depth"], 1)
    found = [
        rate(row),
        time(row),
        Known(row["iops"], "IO/s", "the other simulator", 0.08, box=1),
        Known(small, "IO/s", "60 lines"),
        Known(100 * abs(small / row["iops"] - 1), "%", "their distance"),
        Known(values["depth"] / row["iops"], "s", "Little's law", 0.03),
    ]
    if values["depth"] == 1:
        steps = 1 if values["level"] in ("raid0", "raid10") else 2
        found.append(Known(200 / steps, "IO/s", "one or two steps of 5 ms", 0.02))
    return found


def of_tails(values: Setting) -> list[Known]:
    """Room 13: the histogram of the run beside the traced I/Os."""
    made = tails.scenario(values)
    (row,) = rows_of(made)
    ios = raidlab.simulate(made, seed=1, trace_ios=4000).ios
    took = sorted(io["latency_ns"] for io in ios)
    mean, p99 = statistics.fmean(took), took[int(0.99 * len(took))]
    slow = [io for io in ios if io["latency_ns"] >= p99]
    waits = sum(
        stage["end_ns"] - stage["begin_ns"]
        for io in slow
        for stage in io["stages"]
        if stage["critical"] and stage["stage"] == "queue"
    )
    return [
        Known(mean / 1e9, "s", "mean of the traced"),
        Known(p99 / 1e9, "s", "p99 of the traced"),
        Known(p99 / mean, "", "p99 over mean"),
        share(sum(each > mean for each in took) / len(took), "longer than the mean"),
        share(waits / sum(io["latency_ns"] for io in slow), "queue of the slowest"),
        # Arrivals at random find a drive at work as often as it works (PASTA).
        Known(100 * worked(row), "%", "utilization of the drives", 0.12),
        Known(row["latency_us"]["mean"] / 1e6, "s", "mean of the run's histogram", 0.05, box=0),
        Known(row["latency_us"]["p99"] / 1e6, "s", "p99 of the run's histogram", 0.1, box=1),
    ]


def of_levels(values: Setting) -> list[Known]:
    """Room 14."""
    at = levels.DEPTHS.index(values["depth"])
    row = rows_of(levels.scenario(values))[at]
    plain = rows_of(levels.scenario(values | {"level": "raid0"}))[at]
    usable = {"raid0": 8, "raid10": 4, "raid5": 7, "raid6": 6}[values["level"]]
    return [
        rate(row),
        time(row, "p99"),
        share(row["iops"] / plain["iops"], "share of RAID 0"),
        Known(usable, "", "disks less redundancy"),
    ]


def of_omission(values: Setting) -> list[Known]:
    """Room 16: the engine's period of the rebuild."""
    during = {
        who: rows_of(omission.scenario(values | {"who": who}))[0]["periods"][1]
        for who in (values["who"], "clock")
    }
    own = during[values["who"]]
    return [time(each, name) for each in during.values() for name in ("mean", "p95")] + [
        time(own, "p99")
    ]


def of_block_size(values: Setting) -> list[Known]:
    """Room 20."""
    (row,) = rows_of(block_size.scenario(values))
    other = "read" if values["access"] == "randread" else "randread"
    (beside,) = rows_of(block_size.scenario(values | {"access": other}))
    size = values["size"] * 1024
    return [
        rate(row),
        time(row),
        Known(row["iops"] * size, "B/s", "rate × size"),
        Known(beside["iops"] * size, "B/s", "rate × size, the other access"),
        Known(values["depth"] / row["iops"], "s", "Little's law", 0.08),
    ]


def of_neighbour(values: Setting) -> list[Known]:
    """Room 21."""
    made = neighbour.scenario(values)
    own, other = rows_of(made)
    (alone,) = rows_of(made | {"workload": made["workload"][:1]})
    found = [time(own), time(alone), time(own, "p99"), time(alone, "p99"), rate(other)]
    if values["cure"] == "limit":
        found.append(Known(min(300.0, other["iops"]), "IO/s", "its limit", 0.02))
    return found


def of_iostat(values: Setting) -> list[Known]:
    """Room 22."""
    rows = rows_of(iostat.scenario(values))
    row = rows[iostat.DEPTHS.index(values["depth"])]
    best = max(each["iops"] for each in rows)
    return [
        Known(row["iops"], "IO/s", "rate of the run"),
        time(row),
        time(row, "p99"),
        Known(values["depth"], "", "Little's law", 0.05),
        Known(100, "", "a closed load always has something under way", 0.01),
        Known(100, "%", "a closed load always has something under way", 0.01),
        # Within a hundredth of it the page says that this rate is the best one.
        Known(best, "IO/s", "best rate", needed=row["iops"] < 0.99 * best),
        Known(100 * rows[0]["iops"] / best, "%", "rate with one under way"),
    ]


@lru_cache(maxsize=64)
def _five(load: int, length: int, what: str) -> tuple[float, ...]:
    made = how_long.scenario({"load": load, "length": length})
    return tuple(rows_of(made, seed)[0]["latency_us"][what] / 1e6 for seed in range(1, 6))


def of_how_long(values: Setting) -> list[Known]:
    """Room 23: M/M/1."""
    own = _five(values["load"], values["length"], values["what"])
    mean = 0.005 / (1 - values["load"] / 100)
    truth = mean if values["what"] == "mean" else mean * math.log(100)
    # Two digits are shown of a span; its lower end has the unit of its upper one.
    low, high = (1e3 * float(f"{each:.2g}") for each in (min(own), max(own)))
    scale = 1e3 if high < 1e3 else 1.0
    return [
        Known(truth, "s", "M/M/1"),
        Known(high / 1e3, "s", "highest of five"),
        Known(low / 1e3 * scale, "", "lowest of five", needed=low != high),
        Known(100 * (max(own) - min(own)) / truth, "%", "lowest to highest"),
    ]
