"""A trace on a device: what `raidlab replay` does.

The format `disksim-validate` is the one of DiskSim's validation traces: one request a line,
`R|W label sector sectors measured_us gap_us`. Replay is a closed loop with one request
outstanding: the next one arrives a gap after the *simulated* completion of the one before.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raidlab.calibration.cdf import rms_distance_ms
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.scenarios import _engine

_SECTOR = 512
_LABELS = ("hit", "miss", "doub", "trip")
_FAULTS_SHOWN = 20


@dataclass(frozen=True)
class Trace:
    """Requests with measured response times, one outstanding."""

    writes: NDArray[np.bool_]
    offsets: NDArray[np.uint64]
    """Bytes, shape (n,)."""
    sizes: NDArray[np.uint64]
    """Bytes, shape (n,)."""
    measured_us: NDArray[np.float64]
    gaps_ns: NDArray[np.uint64]
    """From each completion to the next arrival."""
    lines: NDArray[np.int64]
    """Line of the file that each request stands in, from 1."""
    path: Path

    def __len__(self) -> int:
        return int(self.offsets.size)


@dataclass(frozen=True)
class Replayed:
    """Simulated beside measured."""

    simulated_us: NDArray[np.float64]
    measured_us: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """The document of `raidlab replay --json`."""
        rms = rms_distance_ms(self.simulated_us, self.measured_us)
        measured = float(self.measured_us.mean())
        return {
            "requests": int(self.simulated_us.size),
            "measured_mean_us": measured,
            "simulated_mean_us": float(self.simulated_us.mean()),
            "rms_ms": rms,
            "rms_pct_of_mean": 100 * rms * 1000 / measured if measured > 0 else None,
            "latency_us": _latency(self.simulated_us),
            "measured_latency_us": _latency(self.measured_us),
            "errors": [],
        }


def read_disksim_validate(path: Path) -> Trace:
    """Reads a trace of the format `disksim-validate`.

    Raises:
        SpecError: The file cannot be read, or lines are at fault: all of them, up to twenty.
    """
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not text of one byte a letter"
        raise SpecError([Fault("", None, why, (), str(path))]) from None
    faults: list[Fault] = []
    rows: list[tuple[bool, int, int, float, float, int]] = []
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts:
            continue
        row = _row(parts, number)
        if isinstance(row, str):
            faults.append(Fault(f"line {number}", line.strip(), row, (), str(path)))
        else:
            rows.append(row)
    if not rows and not faults:
        faults.append(Fault("", None, "at least one request", (), str(path)))
    if len(faults) > _FAULTS_SHOWN:
        more = f"and {len(faults) - _FAULTS_SHOWN} lines more are at fault"
        faults = [*faults[:_FAULTS_SHOWN], Fault("", None, more, (), str(path))]
    if faults:
        raise SpecError(faults)
    writes, sectors, counts, measured, gaps, numbers = zip(*rows, strict=True)
    return Trace(
        writes=np.array(writes),
        offsets=np.array(sectors, dtype=np.uint64) * np.uint64(_SECTOR),
        sizes=np.array(counts, dtype=np.uint64) * np.uint64(_SECTOR),
        measured_us=np.array(measured),
        gaps_ns=np.round(np.array(gaps) * 1000).astype(np.uint64),
        lines=np.array(numbers),
        path=path,
    )


def _row(parts: list[str], number: int) -> tuple[bool, int, int, float, float, int] | str:
    """A line's values, or what is allowed instead."""
    if len(parts) != 6:
        return f"six words: R|W label sector sectors measured_us gap_us; here are {len(parts)}"
    if parts[0] not in ("R", "W"):
        return "R or W first"
    if parts[1].lower() not in _LABELS:
        return f"one of {', '.join(_LABELS)} second"
    if not (parts[2].isdecimal() and parts[3].isdecimal() and int(parts[2]) < 2**50):
        return "a sector and a number of sectors, whole numbers below 2^50"
    if not 0 < int(parts[3]) < 2**24:
        return "a number of sectors from 1 to below 2^24"
    try:
        measured, gap = float(parts[4]), float(parts[5])
    except ValueError:
        return "two times in microseconds at the end"
    if not (0 <= measured < 1e12 and 0 <= gap < 1e12):
        return "times from 0 to below 1e12 us"
    return parts[0] == "W", int(parts[2]), int(parts[3]), measured, gap, number


def replay(
    trace: Trace,
    spec: DriveSpec,
    seed: int = 1,
    should_stop: Callable[[], bool] | None = None,
) -> Replayed:
    """Replays a trace on one drive, with nothing before it: no host, no link.

    Args:
        trace: The requests.
        spec: The drive.
        seed: Of the drive's random streams.
        should_stop: Asked now and then; True ends the replay with `KeyboardInterrupt`.

    Raises:
        SpecError: A request lies beyond the drive's end; names its line.
    """
    options = DriveOptions()
    capacity = spec.capacity_bytes(options)
    ends = trace.offsets + trace.sizes
    beyond = np.flatnonzero(ends > np.uint64(capacity))
    if beyond.size:
        first = int(beyond[0])
        allowed = f"a request within the drive's {capacity // _SECTOR} sectors"
        if beyond.size > 1:
            allowed += f"; {beyond.size - 1} requests more lie beyond them"
        sector = int(trace.offsets[first]) // _SECTOR
        key = f"line {int(trace.lines[first])}"
        raise SpecError([Fault(key, f"sector {sector}", allowed, (), str(trace.path))])
    responses = _engine.replay(
        json.dumps(_plan(spec, options, seed)),
        0,
        trace.writes.astype("u1").tobytes(),
        trace.offsets.astype("<u8").tobytes(),
        trace.sizes.astype("<u8").tobytes(),
        trace.gaps_ns.astype("<u8").tobytes(),
        False,
        should_stop,
    )
    return Replayed(np.frombuffer(responses, dtype="<u8") / 1000.0, trace.measured_us)


def _plan(spec: DriveSpec, options: DriveOptions, seed: int) -> dict[str, Any]:
    """One drive and nothing else."""
    return {
        "seed": seed,
        "warm_up_ns": 0,
        "duration_ns": 0,
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "links": [],
        "controllers": [],
        "devices": [spec.to_plan(options)],
        "drives": [{"name": spec.name, "device": 0, "queue_depth": spec.queue_depth, "path": []}],
        "arrays": [
            {
                "name": spec.name,
                "level": "jbod",
                "stripe_unit_bytes": 65536,
                "drives": [0],
                "controller": None,
                "software": False,
            }
        ],
        "workloads": [],
    }


def _latency(sample_us: NDArray[np.float64]) -> dict[str, float]:
    names = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99_9": 99.9, "p99_99": 99.99}
    found = {"min": float(sample_us.min()), "mean": float(sample_us.mean())}
    found |= {name: float(np.percentile(sample_us, rank)) for name, rank in names.items()}
    return found | {"max": float(sample_us.max())}
