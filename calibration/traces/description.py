"""What a trace is like: `raidlab trace describe`.

The engine reads the trace line by line and follows at most 131,072 blocks of 4 KiB, chosen by a
hash of their address where there are more; docs/explanation/trace-statistics.md has the methods.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from raidlab.calibration.traces.formats import watching
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.trace_files import TraceFile, faults_of, notes, opened
from raidlab.scenarios.running.simulate import Progress
from raidlab.scenarios.spec.run_result import Latency, Scan, Unit

_SHARES = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Shares of the hits that any cache can have at which sizes are given."""


class _Mix(TypedDict):
    """By kind: read, write, trim, flush."""

    requests: list[int]
    bytes: list[int]


class _OverTime(TypedDict):
    """Rates in steps, which end at these seconds."""

    t_s: list[float]
    iops: list[float]
    mb_per_s: list[float]


class _Arrivals(_OverTime):
    """Arrivals over time."""

    seconds: float
    rate_per_s: float
    peak_per_s: float
    gap_cv2: float | None
    dispersion: float | None
    dispersion_by_window: list[list[float]]
    hurst: float | None


class _Statistics(TypedDict):
    """What the engine says, and the document besides."""

    requests: int
    read_share: float | None
    sizes: list[tuple[int, int, int]]
    sequential_share: float
    sampled_share: float
    hot_spot: list[list[float]]
    miss_ratio: list[list[float]]
    first_access_share: float
    measured_latency_us: Latency | None


class _Described(_Statistics):
    """What the engine says of a trace."""

    scan: Scan
    mix: _Mix
    footprint_bytes: float
    written_footprint_bytes: float
    arrivals: _Arrivals | None


class CacheSize(TypedDict):
    """A size of a cache, with its share of all possible hits."""

    of_hits: float
    bytes: float
    miss_ratio: float


class DescriptionData(_Statistics):
    """The document of `raidlab trace describe --json`; no rates of a closed trace."""

    trace: str
    format: str
    columns: str
    reads: int
    writes: int
    trims: int
    flushes: int
    read_bytes: int
    written_bytes: int
    units: list[Unit]
    extent_bytes: int
    footprint_bytes: int
    written_footprint_bytes: int
    seconds: float | None
    rate_per_s: float | None
    peak_per_s: float | None
    gap_cv2: float | None
    dispersion: float | None
    dispersion_by_window: list[list[float]]
    hurst: float | None
    over_time: _OverTime
    cache_sizes: list[CacheSize]
    warnings: list[str]


_CLOSED: Final[_OverTime] = {"t_s": [], "iops": [], "mb_per_s": []}


@dataclass(frozen=True)
class Description:
    """Statistics of a trace."""

    name: str
    form: str
    columns: str
    """What its columns mean, as `--columns` has it; empty where the format settles it."""
    found: _Described
    """What the engine gives."""

    def to_dict(self) -> DescriptionData:
        """The document of `raidlab trace describe --json`."""
        found, arrivals = self.found, self.found["arrivals"]
        times = _CLOSED if arrivals is None else arrivals
        reads, writes, trims, flushes = found["mix"]["requests"]
        return {
            "trace": self.name,
            "format": self.form,
            "columns": self.columns,
            "requests": found["requests"],
            "reads": reads,
            "writes": writes,
            "trims": trims,
            "flushes": flushes,
            "read_share": found["read_share"],
            "read_bytes": found["mix"]["bytes"][0],
            "written_bytes": found["mix"]["bytes"][1],
            "sizes": found["sizes"],
            "sequential_share": found["sequential_share"],
            "units": found["scan"]["units"],
            "extent_bytes": found["scan"]["extent"],
            "footprint_bytes": round(found["footprint_bytes"]),
            "written_footprint_bytes": round(found["written_footprint_bytes"]),
            "sampled_share": found["sampled_share"],
            "seconds": None if arrivals is None else arrivals["seconds"],
            "rate_per_s": None if arrivals is None else arrivals["rate_per_s"],
            "peak_per_s": None if arrivals is None else arrivals["peak_per_s"],
            "gap_cv2": None if arrivals is None else arrivals["gap_cv2"],
            "dispersion": None if arrivals is None else arrivals["dispersion"],
            "dispersion_by_window": [] if arrivals is None else arrivals["dispersion_by_window"],
            "hurst": None if arrivals is None else arrivals["hurst"],
            "over_time": {
                "t_s": times["t_s"],
                "iops": times["iops"],
                "mb_per_s": times["mb_per_s"],
            },
            "hot_spot": found["hot_spot"],
            "miss_ratio": found["miss_ratio"],
            "first_access_share": found["first_access_share"],
            "cache_sizes": cache_sizes(found["miss_ratio"], found["first_access_share"]),
            "measured_latency_us": found["measured_latency_us"],
            "warnings": list(self.warnings),
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know."""
        return notes(self.found["scan"])


def cache_sizes(
    miss_ratio: Sequence[Sequence[float]], first_access_share: float
) -> list[CacheSize]:
    """The least sizes that have given shares of the hits that any cache can have.

    Args:
        miss_ratio: Bytes of a cache and share of the accesses that miss it, ascending in bytes.
        first_access_share: Share of the accesses that every cache misses.
    """
    possible = 1 - first_access_share
    found: list[CacheSize] = []
    for share in _SHARES if possible > 0 else ():
        least = share * possible * (1 - 1e-9)
        first = next(((size, ratio) for size, ratio in miss_ratio if 1 - ratio >= least), None)
        if first is not None:
            found.append({"of_hits": share, "bytes": first[0], "miss_ratio": first[1]})
    return found


def describe(trace: TraceFile, *, progress: Progress | None = None) -> Description:
    """Reads a trace and says what it is like.

    Raises:
        SpecError: Lines are at fault: all of them, up to twenty; or none is a request.
        KeyboardInterrupt: Ctrl-C.
    """
    with opened(trace) as file, faults_of(trace):
        text = _engine.describe_trace(json.dumps(file.options()), watching(progress))
    return Description(trace.path.name, file.form, file.columns, json.loads(text))
