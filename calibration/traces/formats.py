"""Trace files: which format, which columns, which disk; read by the engine, line by line.

Every format is described, with a line of each, in docs/reference/formats/traces.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from raidlab.calibration.traces.trace import Trace
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_bytes
from raidlab.scenarios import _engine
from raidlab.scenarios.running.simulate import Progress
from raidlab.scenarios.spec.trace_columns import columns_of

FORMATS = (
    "disksim-validate", "disksim-ascii", "blkparse", "fio-iolog", "msr", "spc", "systor17",
    "alibaba", "tencent", "vscsi", "csv",
)  # fmt: skip
Beyond = Literal["refuse", "wrap", "skip", "scale"]
_LARGEST = 64 * MIB
"""Of what comes from a pipe."""
Watch = Callable[[int, int], bool]
"""Called now and then with requests so far and all of them; true stops the work."""


@dataclass(frozen=True)
class TraceFile:
    """A trace and how it is read."""

    path: Path
    form: str = ""
    """One of `FORMATS`; empty for the one that its first lines show."""
    columns: str = ""
    """For `csv`: which column means what (see `columns_of`)."""
    unit: str | None = None
    """The disk whose requests are wanted; None for all, one disk after the other."""

    def options(self, **placement: Any) -> dict[str, Any]:
        """What the engine is asked for, with where requests are placed.

        Raises:
            SpecError: The format or the columns cannot be.
        """
        if self.form not in FORMATS:
            allowed = f"one of {', '.join(FORMATS)}"
            raise SpecError([Fault("--format", self.form, allowed, FORMATS)])
        if self.columns and self.form != "csv":
            allowed = f"nothing for {self.form}: it has no names"
            raise SpecError([Fault("--columns", self.columns, allowed)])
        columns = None
        if self.form == "csv":
            columns = {
                meaning: {"name": name, "unit": unit}
                for meaning, (name, unit) in columns_of(self.columns).items()
            }
        asked = {"path": str(self.path), "format": self.form, "columns": columns}
        return asked | {"unit": self.unit} | placement

    @property
    def is_pipe(self) -> bool:
        """True for what is no file and no folder."""
        try:
            there, path = self.path.exists(), self.path
            return there and not path.is_file() and not path.is_dir()
        except ValueError:
            return False

    def known(self) -> TraceFile:
        """The same with its format, as its first lines show it where none is given.

        What comes from a pipe can be read once: its format is known when it is `opened`.

        Raises:
            SpecError: The file cannot be read, or is of no format that is known.
        """
        if not self.form and self.columns:
            return replace(self, form="csv")
        if self.form or self.is_pipe:
            return self
        with faults_of(self):
            return replace(self, form=_engine.recognise_trace(self.path))


def watching(progress: Progress | None) -> Watch:
    """Tells progress as soon as the number of requests is known, and never stops the work."""

    def watch(so_far: int, requests: int) -> bool:
        if progress is not None and requests:
            progress(so_far, requests)
        return False

    return watch


@contextmanager
def faults_of(trace: TraceFile) -> Iterator[None]:
    """Turns what the engine finds wrong with a trace into faults of its file."""
    try:
        yield
    except _engine.TraceError as error:
        raise SpecError(_fault(trace.path, each) for each in json.loads(error.args[0])) from None


def _fault(path: Path, found: Mapping[str, Any]) -> Fault:
    return Fault(found["key"], found["value"], found["allowed"], found["choices"], str(path))


@contextmanager
def opened(trace: TraceFile) -> Iterator[TraceFile]:
    """The trace, with its format, as a file that can be read twice.

    What comes from a pipe is kept meanwhile.

    Raises:
        SpecError: It comes from a pipe and is larger than 64 MiB.
    """
    if not trace.is_pipe:
        yield trace.known()
        return
    with tempfile.NamedTemporaryFile() as kept:
        kept.write(read_bytes(trace.path, _LARGEST, "trace"))
        kept.flush()
        file = replace(trace, path=Path(kept.name))
        try:
            file = file.known()
        except SpecError as error:
            faults = [replace(each, file=str(trace.path)) for each in error.faults]
            raise SpecError(faults) from None
        yield file


def scan(trace: TraceFile, watch: Watch | None = None, **placement: Any) -> dict[str, Any]:
    """What a trace holds: requests, disks, first and last time; every line is checked.

    Raises:
        SpecError: Lines are at fault: all of them, up to twenty; or none is a request.
    """
    with faults_of(trace):
        return dict(json.loads(_engine.scan_trace(json.dumps(trace.options(**placement)), watch)))


def read_trace(path: Path, form: str, *, columns: str = "", unit: str | None = None) -> Trace:
    """Reads a trace into memory.

    Args:
        path: The file, as it is or compressed by gzip or Zstandard.
        form: One of `FORMATS`.
        columns: For `csv`: which column means what (see `columns_of`).
        unit: The disk whose requests are wanted, where the file has several.

    Raises:
        SpecError: The file cannot be read, or lines are at fault: all of them, up to twenty.
    """
    asked = TraceFile(path, form, columns, unit)
    with opened(asked) as trace, faults_of(asked):
        text, columns_read = _engine.trace_columns(json.dumps(trace.options()))
    held = json.loads(text)
    ops, *numbers, measured = columns_read
    offsets, sizes, times, lines = (np.frombuffer(each, dtype="<u8") for each in numbers)
    return Trace(
        ops=np.frombuffer(ops, dtype="u1"),
        offsets=offsets,
        sizes=sizes,
        times_ns=times,
        measured_us=np.frombuffer(measured, dtype="<f8"),
        lines=lines.astype(np.int64),
        closed=held["closed"],
        path=path,
        notes=notes(held),
    )


def notes(held: Mapping[str, Any]) -> tuple[str, ...]:
    """What a user should know of how a trace was laid out.

    Args:
        held: What `scan` gives.
    """
    found = []
    units = [each["name"] for each in held["units"]]
    if len(units) > 1:
        found.append(
            f"requests of {len(units)} disks ({', '.join(units[:10])}): their addresses are laid"
            f" one after the other, {held['extent']} bytes in all; --unit chooses one"
        )
    return tuple(found)
