"""fio's logs of latency and rate over time, put beside the JSON that names them.

A line holds `time_ms, value, direction, block size[, offset[, priority]]`; latencies are in ns
from fio 3 on. A rate's log has a line for each I/O with the value 1, or with `log_avg_msec` the
mean rate of each direction. A thread of fio writes `PREFIX_iops.N.log`, where N counts threads
from 1, so one prefix may serve several jobs; without `per_job_logs` all write one file. A later
run with the same prefix writes over all of them: so a log counts only if its rate is that of the
JSON.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from raidlab.calibration.measurements.measurement import Point, Step
from raidlab.calibration.measurements.results import CUT

_KINDS = ("lat", "clat", "slat", "iops", "bw")
_OPTIONS = (("iops", "write_iops_log"), ("lat", "write_lat_log"))
_MOST_STEPS = 3600
_RATE_TOLERANCE = 0.15
"""Share by which a log's mean may differ from that of the JSON; the last window is not whole."""
_SLACK_S = 2.0
"""Seconds by which a log may be longer than its run."""


@dataclass(frozen=True)
class Naming:
    """The job whose logs are looked for."""

    jobname: str
    threads: range | None
    """The numbers of its threads in its run of fio, from 1; None if they are not known."""


@dataclass
class Timeline:
    """A job's logs."""

    used: list[Path] = field(default_factory=list)
    """Those whose steps are given."""
    steps: tuple[Step, ...] = ()
    refused: list[tuple[Path, str]] = field(default_factory=list)
    """Those that are not of this run, and why."""


def is_log(path: Path) -> bool:
    """True for the name of a log: `x_lat.1.log`, `x_bw.log`."""
    return path.suffix == ".log" and _kind(path) in _KINDS


def why_unused(path: Path) -> str:
    """Why a log of which no job's timeline was made says nothing."""
    if _kind(path) not in (kind for kind, _ in _OPTIONS):
        return "not read: a run over time is read from logs of IOPS (_iops) and latency (_lat)"
    return "a log alone does not say its load: no JSON beside it names it and gave a point"


def _kind(path: Path) -> str:
    stem = path.stem.rpartition(".")[0] if path.stem.rpartition(".")[2].isdigit() else path.stem
    return stem.rpartition("_")[2]


def timeline_of(
    point: Point, options: Mapping[str, str], naming: Naming, logs: Sequence[Path]
) -> Timeline:
    """Rate and latency by second from the logs that a job's options name.

    Args:
        point: What the JSON says of the job.
        options: The job's.
        naming: Whose logs are meant.
        logs: All logs that were found.
    """
    found: dict[str, list[Path]] = {}
    for kind, option in _OPTIONS:
        if option in options:
            prefix = options[option] or naming.jobname
            found[kind] = _named(prefix, kind, naming, Path(point.file).parent, logs)
    paths = [path for paths in found.values() for path in paths]
    for path in paths:
        if not _ends_with_a_line(path):
            cut = f"{path.name} ends within a line; {CUT}"
            return Timeline(refused=[(each, cut) for each in paths])
    rates = _added(found.get("iops", ()))
    latencies = _averaged(found.get("lat", ()))
    why = _not_of(point, rates, latencies)
    if why is not None:
        return Timeline(refused=[(path, why) for path in paths])
    steps = [
        Step(
            t_s=float(second),
            iops=rates.get(second),
            latency_us=latencies[second] / 1e3 if second in latencies else None,
        )
        for second in sorted({*rates, *latencies})[:_MOST_STEPS]
    ]
    return Timeline(paths, tuple(steps))


def _ends_with_a_line(path: Path) -> bool:
    """As fio ends every log; one that is empty has no line."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read(1) in (b"", b"\n")


def _named(
    prefix: str, kind: str, naming: Naming, folder: Path, logs: Sequence[Path]
) -> list[Path]:
    """The logs of a prefix, which may have a path: seen from where fio ran, which is not known."""
    wanted = PurePath(prefix)
    names = None
    if naming.threads is not None:
        names = {f"{wanted.name}_{kind}.{number}.log" for number in naming.threads}
        names.add(f"{wanted.name}_{kind}.log")
    tail = tuple(part for part in wanted.parent.parts if part not in (".", ".."))

    def fits(path: Path) -> bool:
        if names is not None and path.name not in names:
            return False
        if not path.name.startswith(f"{wanted.name}_{kind}."):
            return False
        if path.parent == folder:
            return True
        return bool(tail) and path.absolute().parent.parts[-len(tail) :] == tail

    return [path for path in logs if fits(path)]


def _not_of(point: Point, rates: Mapping[int, float], latencies: Mapping[int, float]) -> str | None:
    """Why logs are not of the run that a point is about; None if they may be."""
    checks = (
        ("rate", " IO/s", rates, 1.0, point.iops),
        ("latency", " us", latencies, 1e-3, point.latency_mean_us),
    )
    for what, unit, by_second, scale, said in checks:
        if not by_second:
            continue
        values = list(by_second.values())
        # The first and the last second need not be whole.
        inner = values[1:-1] if len(values) > 3 else values
        logged = scale * sum(inner) / len(inner)
        if abs(logged / said - 1.0) > _RATE_TOLERANCE:
            return (
                f"its {what} is {logged:.6g}{unit}, that of {Path(point.file).name} is"
                f" {said:.6g}{unit}: the log of another run or job"
            )
        if point.runtime_s and max(by_second) > point.runtime_s + _SLACK_S:
            return f"it goes on for {max(by_second)} s, the run for {point.runtime_s:.6g} s"
    return None


@dataclass
class _Second:
    """What a log has of one direction in one second."""

    total: float = 0.0
    count: int = 0


def _read(path: Path) -> tuple[dict[tuple[int, int], _Second], bool]:
    """A log by second and direction, and true if it has a line for each I/O.

    Lines that are none are passed over.
    """
    sums: dict[tuple[int, int], _Second] = {}
    single = True
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for row in csv.reader(file):
            try:
                second, value = int(float(row[0])) // 1000, float(row[1])
                direction = int(row[2])
            except (ValueError, IndexError, OverflowError):
                continue
            if not math.isfinite(value):
                continue
            here = sums.setdefault((second, direction), _Second())
            here.total += value
            here.count += 1
            single = single and value == 1.0
    return sums, single


def _added(paths: Sequence[Path]) -> dict[int, float]:
    """Rates by second, those of threads and directions added."""
    rates: dict[int, float] = {}
    for path in paths:
        sums, single = _read(path)
        for (second, _), here in sums.items():
            rate = here.count if single else here.total / here.count
            rates[second] = rates.get(second, 0.0) + rate
    return dict(sorted(rates.items()))


def _averaged(paths: Sequence[Path]) -> dict[int, float]:
    """Means by second over all lines."""
    sums: dict[int, _Second] = {}
    for path in paths:
        for (second, _), here in _read(path)[0].items():
            whole = sums.setdefault(second, _Second())
            whole.total += here.total
            whole.count += here.count
    return {second: here.total / here.count for second, here in sorted(sums.items())}
