"""fio's logs of latency, rate and bandwidth over time, put beside the JSON that names them.

A line holds `time_ms, value, direction, block size[, offset[, priority]]`; latencies are in ns
from fio 3 on, bandwidth in KiB/s. One log for each job (`name_lat.1.log`); several are combined.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from raidlab.calibration.measurements.measurement import Step

_KINDS = ("lat", "clat", "slat", "iops", "bw")
_MOST_STEPS = 3600


def is_log(path: Path) -> bool:
    """True for the name of a log: `x_lat.1.log`, `x_bw.log`."""
    if path.suffix != ".log":
        return False
    stem = path.stem.rpartition(".")[0] if path.stem.rpartition(".")[2].isdigit() else path.stem
    return stem.rpartition("_")[2] in _KINDS


def timeline_of(
    options: Mapping[str, str], folder: Path, logs: Sequence[Path]
) -> tuple[list[Path], tuple[Step, ...]]:
    """Rate and latency by second from the logs that a job's options name.

    Returns:
        The logs that were used, and the steps; both empty if there are none in `folder`.
    """
    used: list[Path] = []
    seconds: dict[int, dict[str, list[float]]] = {}
    for kind, option in (("iops", "write_iops_log"), ("lat", "write_lat_log")):
        prefix = options.get(option)
        if not prefix:
            continue
        for path in logs:
            if path.parent == folder and path.name.startswith(f"{prefix}_{kind}."):
                used.append(path)
                for second, value in _by_second(path).items():
                    seconds.setdefault(second, {}).setdefault(kind, []).append(value)
    steps = [
        Step(
            t_s=float(second),
            iops=sum(found["iops"]) if "iops" in found else None,
            latency_us=sum(found["lat"]) / len(found["lat"]) / 1e3 if "lat" in found else None,
        )
        for second, found in sorted(seconds.items())[:_MOST_STEPS]
    ]
    return used, tuple(steps)


def _by_second(path: Path) -> dict[int, float]:
    """The mean of a log's values in each second; lines that are none are passed over."""
    sums: dict[int, tuple[float, int]] = {}
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for row in csv.reader(file):
            try:
                second, value = int(float(row[0])) // 1000, float(row[1])
            except (ValueError, IndexError):
                continue
            total, count = sums.get(second, (0.0, 0))
            sums[second] = (total + value, count + 1)
    return {second: total / count for second, (total, count) in sums.items()}
