"""What a run does to its flash drives: wear against what they are rated for, and temperature.

The figures of each drive are in `components` of the result; here they are put together for the
drives of one model in one array.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypedDict, cast

from raidlab.scenarios.results.diagnostics.cache_filling import still_filling
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.run_result import CacheReport
from raidlab.scenarios.spec.sustained import GATHERED

Figures = Mapping[str, float]

_OF_TIME: Final = {"drive_writes_per_day": 1, "life_years": -1, "life_by_cycles_years": -1}
"""What hangs on how fast the drives are given what they write, and with which exponent."""


class Wear(TypedDict):
    """The drives of one model in one array at a point; see `endurance`."""

    outstanding: int
    drives: str
    host_gb: float | None
    waf: float | None
    rated_tb: float | None
    drive_writes_per_day: float | None
    rated_drive_writes_per_day: float | None
    life_years: float | None
    life_by_cycles_years: float | None
    temperature_c_max: float | None
    throttled_s: float | None


def endurance(result: Result) -> list[Wear]:
    """One line for each point and each model of flash drives in an array.

    `host_gb` is what the host (or a controller) wrote to all of them, warm-up included, `waf` the
    bytes written to NAND for each of those. `rated_tb` is what may be written to all of them, in
    bytes of the host as well: by their data sheets, or, where these say nothing, what the rated
    cycles of their NAND come to at this WAF (10^9 and 10^12 bytes). `life_years` is the time in
    which the drive written most comes to its share of it, so it is
    `5 * rated_drive_writes_per_day / drive_writes_per_day` of a drive that is rated;
    `life_by_cycles_years` is the time until NAND has had its rated cycles, whatever a sheet says.

    Drive writes a day and rated ones (of the data sheet over five years, None if it has none) are
    means over the drives, lives are their least; temperature and throttled time are the highest.
    What does not apply is None: wear without writes, temperature without a thermal model.
    Replications are averaged. Where more than a tenth of what flash drives have to write still
    waits in a controller's cache, writes a day and lives are those of the recorded time; None as
    well if the cache went on to fill in it: drives are given that later.
    """
    groups: dict[tuple[int, str], list[tuple[list[Figures], float]]] = {}
    outstanding: dict[int, int] = {}
    withheld: set[int] = set()
    for own in Observed(result.results).runs():
        row = own[0]
        outstanding.setdefault(row["point"], row["outstanding"])
        of_run: dict[str, list[Figures]] = {}
        recorded: dict[str, int] = {}
        for component in row["components"]:
            figures = component.get("figures") or {}
            drive = drive_name(component["name"])
            if drive and "nand_bytes_written" in figures:
                name, written = f"{drive.array}/{drive.model}", component.get("written")
                of_run.setdefault(name, []).append(figures)
                recorded[name] = recorded.get(name, 0) + (written["host_bytes"] if written else 0)
        waits = _waits(row["caches"], of_run.values())
        if waits and still_filling(own):
            withheld.add(row["point"])
        for name, drives in of_run.items():
            faster = _faster(row, recorded[name], drives) if waits else 1.0
            groups.setdefault((row["point"], name), []).append((drives, faster))
    lines = []
    for (point, name), runs in groups.items():
        means = _mean([_of_drives(drives, faster) for drives, faster in runs])
        if point in withheld:
            means |= dict.fromkeys(_OF_TIME)
        if means["waf"] is not None or means["temperature_c_max"] is not None:
            where = {"outstanding": outstanding[point], "drives": f"{len(runs[0][0])} x {name}"}
            lines.append(cast("Wear", where | means))
    return lines


def cautions(lines: Iterable[Wear]) -> list[str]:
    """Why lines of `endurance` do not say how long drives live that were written."""
    steps = [
        str(line["outstanding"] or "open")
        for line in lines
        if line["waf"] is not None and line["life_years"] is None
    ]
    if not steps:
        return []
    return [
        f"{', '.join(dict.fromkeys(steps))} outstanding: how long the drives live is not given, as"
        f" more than {GATHERED:.0%} of what they have to write still waited in the controller's"
        " cache; a longer run.duration shows it."
    ]


def _waits(caches: Iterable[CacheReport], drives: Iterable[list[Figures]]) -> bool:
    """Whether caches hold much of what flash drives have to write."""
    waiting = sum(cache["waiting_bytes"] for cache in caches)
    given = sum(figures["host_bytes_written"] for own in drives for figures in own)
    return waiting > GATHERED * (waiting + given)


def _faster(row: Row, recorded_bytes: int, drives: list[Figures]) -> float:
    """Rate at which drives were written while a run was recorded, over that of all of it."""
    whole_bytes = sum(figures["host_bytes_written"] for figures in drives)
    if not recorded_bytes or not whole_bytes:
        return 1.0
    share = row["duration_s"] / (row["warm_up_s"] + row["duration_s"])
    return recorded_bytes / (share * whole_bytes)


def _of_drives(drives: list[Figures], faster: float) -> dict[str, float | None]:
    def of(key: str, by: Callable[[Iterable[float]], float]) -> float | None:
        known = [figures[key] for figures in drives if key in figures]
        return by(known) if known else None

    nand = of("nand_bytes_written", sum) or 0.0
    host = of("host_bytes_written", sum) or 0.0
    rated = [bytes for figures in drives if (bytes := _rated_host_bytes(figures)) is not None]
    by_cycles = of("life_years", min)
    by_rating = of("life_years_by_rating", min)
    found = {
        "host_gb": host / 1e9,
        "waf": nand / host if host else None,
        # A drive that was not written, such as one that has failed, takes as much as the others.
        "rated_tb": len(drives) * statistics.fmean(rated) / 1e12 if rated else None,
        "drive_writes_per_day": of("drive_writes_per_day", statistics.fmean),
        "rated_drive_writes_per_day": of("rated_drive_writes_per_day", statistics.fmean),
        "life_years": by_cycles if by_rating is None else by_rating,
        "life_by_cycles_years": by_cycles,
        "temperature_c_max": of("temperature_c_max", max),
        "throttled_s": of("throttled_s", max),
    }
    for key, exponent in _OF_TIME.items():
        value = found[key]
        found[key] = None if value is None else value * faster**exponent
    return found


def _rated_host_bytes(figures: Figures) -> float | None:
    """What the host may write to a drive; None if the run wrote nothing to it.

    Where the data sheet rates the drive, lives by its rating and by cycles are as the bytes.
    """
    worn = figures.get("host_bytes_until_worn")
    if worn is None or "life_years_by_rating" not in figures:
        return worn
    return worn * figures["life_years_by_rating"] / figures["life_years"]


def _mean(runs: list[dict[str, float | None]]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for key in runs[0]:
        known = [value for run in runs if (value := run[key]) is not None]
        means[key] = statistics.fmean(known) if known else None
    return means
