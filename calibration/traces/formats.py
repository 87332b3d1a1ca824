"""Traces in memory, and how far a reader of one is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from raidlab.calibration.traces.trace import Trace
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.trace_files import TraceFile, Watch, faults_of, notes, opened
from raidlab.scenarios.running.simulate import Progress


def watching(progress: Progress | None) -> Watch:
    """Tells progress as soon as the number of requests is known, and never stops the work."""

    def watch(so_far: int, requests: int) -> bool:
        if progress is not None and requests:
            progress(so_far, requests)
        return False

    return watch


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
