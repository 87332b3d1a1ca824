"""A trace of the same statistics as another, checked against it: `raidlab trace synthesize`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from raidlab.calibration.traces.description import Description, DescriptionData, describe
from raidlab.calibration.traces.formats import watching
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import whole
from raidlab.devices.trees import Document
from raidlab.devices.units import format_size
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.trace_files import TraceFile, faults_of, opened
from raidlab.scenarios.running.simulate import Progress

TOLERANCE = 0.1
"""Share by which a statistic of the synthetic trace may differ from the original's."""
FORM = "spc"
"""The format that is written."""


@dataclass(frozen=True)
class Statistic:
    """A figure of both traces."""

    name: str
    unit: str
    original: float | None
    synthetic: float | None
    share: bool = False
    """True for shares, whose difference counts as it is."""

    @property
    def difference(self) -> float | None:
        """Relative to the original; of shares the difference itself."""
        if self.original is None or self.synthetic is None:
            return None
        if self.share:
            return self.synthetic - self.original
        return self.synthetic / self.original - 1 if self.original else None

    @property
    def holds(self) -> bool:
        """True if the difference is within the tolerance, or cannot be said."""
        return self.difference is None or abs(self.difference) <= TOLERANCE


@dataclass(frozen=True)
class Synthesized:
    """A synthetic trace beside its original."""

    out: Path
    original: Description
    synthetic: Description

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the original."""
        return self.original.warnings

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is compared."""
        return tuple(_statistics(self.original.to_dict(), self.synthetic.to_dict()))

    def to_dict(self) -> Document:
        """The document of `raidlab trace synthesize --json`."""
        return {
            "out": str(self.out),
            "format": FORM,
            "requests": self.synthetic.found["requests"],
            "statistics": [
                {
                    "name": each.name,
                    "unit": each.unit,
                    "original": each.original,
                    "synthetic": each.synthetic,
                    "difference": each.difference,
                    "holds": each.holds,
                }
                for each in self.statistics
            ],
            "warnings": list(self.warnings),
        }


def synthesize(
    trace: TraceFile, out: Path, seed: int = 1, progress: Progress | None = None
) -> Synthesized:
    """Writes a trace of the same statistics, and reads both.

    Args:
        trace: The original.
        out: The file to write, in the format `spc`.
        seed: Seed of the random numbers.
        progress: Called now and then with the requests so far and all of them.

    Raises:
        SpecError: Lines are at fault, the trace is closed, or `out` cannot be written.
        KeyboardInterrupt: Ctrl-C.
    """
    asked = trace.known()
    if asked.is_pipe:
        allowed = "a file: it is read several times"
        raise SpecError([Fault("", None, allowed, (), str(asked.path))])
    if asked.form == "disksim-validate":
        allowed = "a format with times: this one has pauses after requests"
        raise SpecError([Fault("--format", asked.form, allowed, (), str(asked.path))])
    original = describe(asked, progress=progress)
    with whole(out) as file, opened(asked) as source, faults_of(asked):
        _engine.synthesize_trace(json.dumps(source.options()), Path(file), seed, watching(progress))
    return Synthesized(out, original, describe(TraceFile(out, FORM), progress=progress))


_Compared = Literal[
    "requests",
    "read_share",
    "sequential_share",
    "read_bytes",
    "written_bytes",
    "footprint_bytes",
    "rate_per_s",
    "peak_per_s",
    "hurst",
    "first_access_share",
]
"""Statistics that are compared as they are."""


def _statistics(original: DescriptionData, synthetic: DescriptionData) -> Iterator[Statistic]:
    def of(key: _Compared, name: str, unit: str, *, share: bool = False) -> Statistic:
        return Statistic(name, unit, original[key], synthetic[key], share)

    yield of("requests", "requests", "")
    yield of("read_share", "read share", "", share=True)
    yield of("sequential_share", "sequential share", "", share=True)
    yield of("read_bytes", "bytes read", "B")
    yield of("written_bytes", "bytes written", "B")
    yield of("footprint_bytes", "footprint", "B")
    yield of("rate_per_s", "mean rate", "IO/s")
    yield of("peak_per_s", "peak rate", "IO/s")
    yield of("hurst", "Hurst parameter", "", share=True)
    yield of("first_access_share", "first accesses", "", share=True)
    # Of a small trace both shares of hits can need the same size.
    ratios = {
        each["bytes"]: each["miss_ratio"]
        for each in original["cache_sizes"]
        if each["of_hits"] in (0.5, 0.9)
    }
    for size, ratio in ratios.items():
        yield Statistic(
            f"misses of a cache of {format_size(int(size))}",
            "",
            ratio,
            _misses(synthetic["miss_ratio"], size),
            share=True,
        )


def _misses(curve: list[list[float]], size: float) -> float:
    """The miss ratio of a cache of `size` bytes."""
    return next((ratio for bytes_of, ratio in reversed(curve) if bytes_of <= size), 1.0)
