"""Independent numbers of the rooms of flash, caches and risk: closed forms, the engine's rows."""

from __future__ import annotations

import json
import math
import statistics
from functools import lru_cache
from pathlib import Path

import raidlab
from raidlab.notebooks import (
    compression,
    first_day,
    fsync,
    outlive,
    own_disk,
    ssd_cache,
    write_cache,
)
from raidlab.scenarios.risk.assess import Question, assess
from tests.notebooks.numbers.disks import Setting, busy, rate, rows_of, share, time
from tests.notebooks.numbers.shown import Known

UNIT = 4096


@lru_cache
def _blocks(spare: str, load: str) -> dict[float, raidlab.EraseBlocks]:
    env = raidlab.Environment()
    live = raidlab.LiveSystem(env, first_day.scenario({"spare": spare, "load": load}), seed=1)
    found = {}
    for at in sorted(first_day.TIMES):
        env.run(until=at)
        found[at] = live.erase_blocks()
    return found


def of_first_day(values: Setting) -> list[Known]:
    """Room 6: the run's rows, the drive's blocks, and how much NAND there is."""
    made, steady = first_day.scenario(values), rows_of(first_day.old(values))[0]
    fresh = rows_of(made)[0]["timeline"]["iops"]
    blocks = _blocks(values["spare"], values["load"])[values["time"]]
    full = [
        valid / blocks.units
        for valid, state in zip(blocks.valid, blocks.states, strict=True)
        if state == "closed"
    ]
    capacity = first_day.CAPACITY[values["spare"]]
    found = [
        Known(fresh[1], "IO/s", "rate of the run's second step"),
        rate(steady),
        share(steady["iops"] / fresh[1], "steady over fresh"),
        Known(steady["write_amplification"], "", "write amplification of the run"),
        Known(8 * 128, "", "dies × blocks"),
        Known(blocks.states.count("free"), "", "erased blocks"),
        share(statistics.fmean(full), "valid data of full blocks"),
        Known(2**29 / capacity, "", "NAND over capacity"),
        # Collection begins when two of a die's 128 blocks are left. It costs little at first where
        # most writes fall on a tenth: the rate falls later.
        Known(
            126 / 128 * 2**29 / capacity,
            "",
            "126 of 128 blocks over capacity",
            0.035 if values["load"] == "hot" else 0.012,
            box=2,
        ),
    ]
    written = sum(fresh[: round(values["time"] / first_day.STEP_S)]) * first_day.STEP_S * UNIT
    x = written / capacity
    if values["load"] == "whole" and 0.2 < x < 0.85:
        found.append(Known(100 * (1 - math.exp(-x)) / x, "%", "(1 - e⁻ˣ) / x", 0.02))
    return found


def of_compression(values: Setting) -> list[Known]:
    """Room 7: what the coder finds."""
    (row,) = rows_of(compression.scenario(values))
    (plain,) = rows_of(compression.scenario(values | {"shrink": 0}))
    c = values["shrink"] / 100
    found = [
        rate(row),
        Known(row["iops"] / plain["iops"], "", "gain"),
        Known(row["write_amplification"], "", "write amplification of the run"),
        *busy(row),
    ]
    if values["load"] == "write":
        kept = 1 - 0.95 * c**3 * (3 - 2 * c)
        found.append(Known(kept, "", "1 - 0.95 c³ (3 - 2c)", 0.02))
    return found


def of_ssd_cache(values: Setting) -> list[Known]:
    """Room 8: the disks alone, and accesses a line."""
    made = ssd_cache.scenario(values)
    (row,) = rows_of(made)
    array = {key: value for key, value in made["array"][0].items() if key != "cache_tier"}
    bare = made | {"array": [array], "run": {"warm_up": "2 s", "duration": "90 s"}}
    first = rows_of(bare)[0]["iops"]
    rates = row["timeline"]["iops"]
    last = statistics.fmean(rates[-30:])
    minutes = 2.67 * values["hot"] * 1e9 / 65536 / (first * values["share"] / 100) / 60
    return [
        Known(last, "IO/s", "rate of the last five minutes"),
        Known(last / first, "", "last over first", 0.02, box=1),
        Known(60 * minutes, "s", "2.67 accesses a line", 0.02),
        Known(60 * minutes, "s", "half of the gain beside 2.67 accesses a line", 0.25, box=0),
        share(row["cache"]["tier"]["read_hit_ratio"], "read hits"),
        Known(first, "IO/s", "the disks without the SSD for 90 s", 0.02),
    ]


def of_own_disk(values: Setting) -> list[Known]:
    """Room 10: errors of the points themselves."""
    folder = Path(own_disk.__file__).parent / "examples" / "own-disk"
    document = json.loads((folder / f"{values['seen']}.json").read_text(encoding="utf-8"))
    errors: dict[bool, list[float]] = {True: [], False: []}
    for point in document["points"]:
        off = 100 * abs(point["simulated_iops"] / point["measured_iops"] - 1)
        errors[point["part"] == "train"].append(off)
    found = document["parameters"]
    known = [
        Known(len(errors[True]), "", "points seen"),
        Known(len(errors[True]) + len(errors[False]), "", "points"),
        Known(statistics.median(errors[True]), "%", "median error of points seen"),
        Known(sum(each["identifiable"] for each in found), "", "parameters determined"),
        Known(len(found), "", "parameters"),
    ]
    if errors[False]:
        unseen = statistics.median(errors[False])
        known.append(Known(unseen, "%", "median error of points not seen"))
    lines = document["baseline"]
    if lines["skill"] is not None:
        names = ("model_median_abs_error_pct", "median_abs_error_pct")
        known += [Known(lines[name], "%", "fit and lines where lines reach") for name in names]
    return known


def of_qlc(values: Setting) -> list[Known]:
    """Room 15: two rates and a cache."""
    slc, lasting = 8 * 4 * 16384 / 250e-6, 8 * 4 * 16384 / 2e-3
    cache = min(16e9, (8 * 4 * 144 * 1024 * 16384 - values["filled"] * 1e9) / 4)
    cliff = cache / slc
    inside = min(values["length"], cliff)
    reported = (inside * slc + (values["length"] - inside) * lasting) / values["length"]
    empty = 8 * 4 * 144 * 1024 * 16384 - values["filled"] * 1e9
    return [
        Known(cache, "B", "a quarter of the empty flash, at most 16 GB"),
        Known(cliff, "s", "cache over pSLC rate", 0.01),
        Known(lasting, "B/s", "programs of four bits", 0.01),
        Known(reported, "B/s", "pSLC until the cliff, then four bits", 0.03),
        Known(reported / lasting, "", "reported over lasting", 0.03),
        Known(empty, "B", "empty flash", needed=False),
    ]


def of_fsync(values: Setting) -> list[Known]:
    """Room 17: a commit a revolution."""
    (row,) = rows_of(fsync.scenario(values))
    found = [rate(row), time(row, "p50"), time(row, "max")]
    after = values["after"]
    if after > 1:
        found.append(Known(row["iops"] / after, "", "records over those of a commit"))
    if after and values["writers"] == 1 and values["drive"] == "through":
        found.append(Known(120, "IO/s", "a record each revolution: rpm / 60", 0.02))
    if after == 1 and values["writers"] == 1 and values["drive"] == "disk":
        found.append(Known(120, "IO/s", "a commit each revolution: rpm / 60", 0.02))
    return found


def of_outlive(values: Setting) -> list[Known]:
    """Room 18: histories, a Markov chain, bits that are read."""
    question = Question(years=5, uber=float(values["bits"]), rebuild_h=values["hours"], replace_h=0)
    (array,) = assess(outlive.scenario(values), None, question, seed=1).arrays

    def chance(value: float, source: str, off: float, box: int | None = None) -> Known:
        # Below 1 % a page says "one in 82,200", with three digits.
        if value < 0.01:
            return Known(1 / value, "", source, max(off, 0.005), box=box)
        return Known(100 * value, "%", source, off, box=box)

    found = [
        chance(array.found.loss, "histories", 0),
        chance(array.unreadable, "unreadable in a rebuild", 0),
        Known(round(1000 * array.found.loss), "", "of 1,000 arrays"),
    ]
    if array.closed_form:
        found.append(chance(array.closed_form, "Markov chain", 0.04, box=2))
    return found


def of_write_cache(values: Setting) -> list[Known]:
    """Room 19: a bucket that fills."""
    made = write_cache.scenario(values)
    hardest = rows_of(write_cache.scenario(values | {"rate": 2400}))[0]["timeline"]
    late = [x for t, x in zip(hardest["t_s"], hardest["iops"], strict=True) if t > 20]
    out = statistics.fmean(late)
    length = made | {"run": made["run"] | {"duration": f"{values['length']} s"}}
    room = 0.75 * {"lsi2208-512-3.0": 512, "lsi2208-1g-3.0": 1024}[values["cache"]] * 2**20
    found = [
        Known(out, "IO/s", "what leaves a full cache"),
        time(rows_of(length)[0]),
    ]
    if values["rate"] > 1.02 * out:
        fills = room / 65536 / (values["rate"] - out)
        found.append(Known(fills, "s", "0.75 cache / (in - out)"))
        if fills < 29:
            found.append(
                Known(fills, "s", "leap of the run beside 0.75 cache / (in - out)", 0.1, box=0)
            )
    return found
