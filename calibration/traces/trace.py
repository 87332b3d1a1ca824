"""A trace: requests with their times, and what was measured of each, in one checked form.

Readers of the formats are in `trace_formats`; `replay` puts a trace on a drive or a system.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from raidlab.devices.faults import Fault, SpecError

READ, WRITE, TRIM, FLUSH = range(4)
"""Operations as the engine numbers them."""
FAULTS_SHOWN = 20
_LARGEST = 2**40
LATEST_NS = 2**80
"""Below this a time may lie."""
_LONGEST_NS = 2**62
_ALIGNED = 1024 * 1024
Beyond = Literal["refuse", "wrap", "skip"]


@dataclass(frozen=True)
class Request:
    """A line of a trace."""

    op: int
    offset: int
    """Bytes."""
    size: int
    """Bytes; 0 for a flush."""
    time_ns: int
    """When it was issued; in a closed trace, the pause after the request before it."""
    measured_us: float | None = None
    line: int = 0
    unit: str = ""
    """The disk that it was for, where a trace holds several."""


@dataclass(frozen=True)
class Trace:
    """Requests in the order in which they were issued.

    Attributes:
        ops: 0 read, 1 write, 2 trim, 3 flush; shape (n,).
        offsets: Bytes.
        sizes: Bytes.
        times_ns: When each was issued, from the first one on; in a closed trace the pause between
            its completion and the next one.
        measured_us: Measured response times; NaN where none was.
        lines: Line of the file that each request stands in, from 1.
        closed: True if each request waited for the one before it.
        path: The file.
        notes: What was left out or changed, for the user.
    """

    ops: NDArray[np.uint8]
    offsets: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    times_ns: NDArray[np.uint64]
    measured_us: NDArray[np.float64]
    lines: NDArray[np.int64]
    closed: bool
    path: Path
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return int(self.offsets.size)

    @property
    def is_measured(self) -> bool:
        """True if the trace says how long every request took."""
        return len(self) > 0 and not bool(np.isnan(self.measured_us).any())

    def slowed(self, factor: float) -> Trace:
        """The same requests with `factor` times the time between them."""
        times = np.round(self.times_ns.astype(np.float64) * factor)
        return replace(self, times_ns=times.astype(np.uint64))

    def within(self, capacity: int, beyond: Beyond) -> Trace:
        """The trace on a device of `capacity` bytes.

        Args:
            capacity: Bytes that the device offers.
            beyond: What becomes of requests that end beyond them: an error, the remainder of
                their position, or nothing.

        Raises:
            SpecError: Some do and `beyond` is `refuse`, or none is left.
        """
        needed = self.ops != FLUSH
        outside = np.flatnonzero(needed & (self.offsets + self.sizes > np.uint64(capacity)))
        if not outside.size:
            return self
        if beyond == "refuse":
            first = int(outside[0])
            allowed = f"a request within the {capacity} bytes of the device"
            if outside.size > 1:
                allowed += f"; {outside.size - 1} requests more lie beyond them"
            allowed += "; --beyond wrap or --beyond skip goes on without them there"
            key = f"line {int(self.lines[first])}"
            raise SpecError([Fault(key, int(self.offsets[first]), allowed, (), str(self.path))])
        if beyond == "wrap":
            return self._wrapped(capacity, outside)
        remaining = np.setdiff1d(np.arange(len(self)), outside)
        note = f"{outside.size} of {len(self)} requests lie beyond the device and are left out"
        return self._only(remaining, note)

    def _wrapped(self, capacity: int, outside: NDArray[np.int64]) -> Trace:
        large = outside[self.sizes[outside] > np.uint64(capacity)]
        if large.size:
            key = f"line {int(self.lines[large[0]])}"
            allowed = f"at most the {capacity} bytes of the device"
            raise SpecError([Fault(key, int(self.sizes[large[0]]), allowed, (), str(self.path))])
        offsets = self.offsets.copy()
        places = np.uint64(capacity) - self.sizes[outside] + np.uint64(1)
        # On sectors, as every drive wants them.
        offsets[outside] = self.offsets[outside] % places // np.uint64(512) * np.uint64(512)
        note = (
            f"{outside.size} of {len(self)} requests lie beyond the device: taken modulo its size"
        )
        return replace(self, offsets=offsets, notes=(*self.notes, note))

    def _only(self, remaining: NDArray[np.int64], note: str) -> Trace:
        if not remaining.size:
            allowed = "at least one request on the device"
            raise SpecError([Fault("", None, allowed, (), str(self.path))])
        return replace(
            self,
            ops=self.ops[remaining],
            offsets=self.offsets[remaining],
            sizes=self.sizes[remaining],
            times_ns=self.times_ns[remaining],
            measured_us=self.measured_us[remaining],
            lines=self.lines[remaining],
            notes=(*self.notes, note),
        )


def trace_of(
    rows: Iterable[Request | Fault], path: Path, *, closed: bool = False, unit: str | None = None
) -> Trace:
    """The trace of a file's requests.

    Args:
        rows: Requests, and faults where a line is none.
        path: The file.
        closed: True if times are pauses after the request before.
        unit: The disk whose requests are wanted; None for all, one disk after the other.

    Raises:
        SpecError: Lines are at fault (all of them, up to twenty), none is a request, or `unit` is
            no disk of the file.
    """
    faults: list[Fault] = []
    found: list[Request] = []
    for row in rows:
        if isinstance(row, Fault):
            faults.append(row)
        elif (why := _impossible(row)) is not None:
            faults.append(Fault(f"line {row.line}", *why, (), str(path)))
        else:
            found.append(row)
    if len(faults) > FAULTS_SHOWN:
        more = f"and {len(faults) - FAULTS_SHOWN} lines more are at fault"
        faults = [*faults[:FAULTS_SHOWN], Fault("", None, more, (), str(path))]
    if not found and not faults:
        faults.append(Fault("", None, "at least one request", (), str(path)))
    if faults:
        raise SpecError(faults)
    found, notes = _of_unit(found, unit, path)
    if not closed:
        found.sort(key=lambda request: request.time_ns)
        begun = found[0].time_ns
        found = [replace(request, time_ns=request.time_ns - begun) for request in found]
    if found[-1].time_ns >= _LONGEST_NS:
        allowed = "at most 2^62 ns, 146 years, after the first request"
        key = f"line {found[-1].line}"
        raise SpecError([Fault(key, f"{found[-1].time_ns} ns", allowed, (), str(path))])
    return Trace(
        ops=np.array([request.op for request in found], dtype=np.uint8),
        offsets=np.array([request.offset for request in found], dtype=np.uint64),
        sizes=np.array([request.size for request in found], dtype=np.uint64),
        times_ns=np.array([request.time_ns for request in found], dtype=np.uint64),
        measured_us=np.array(
            [np.nan if r.measured_us is None else r.measured_us for r in found], dtype=np.float64
        ),
        lines=np.array([request.line for request in found], dtype=np.int64),
        closed=closed,
        path=path,
        notes=tuple(notes),
    )


def _impossible(request: Request) -> tuple[object, str] | None:
    if not 0 <= request.offset < 2**60:
        return request.offset, "an offset from 0 to below 2^60 bytes"
    if request.op != FLUSH and not 0 < request.size < _LARGEST:
        return request.size, "a size from 1 to below 2^40 bytes"
    if not 0 <= request.time_ns < LATEST_NS:
        return request.time_ns, "a time from 0 to below 2^80 ns"
    if request.measured_us is not None and not 0 <= request.measured_us < 1e12:
        return request.measured_us, "a response time from 0 to below 1e12 us"
    return None


def _of_unit(found: list[Request], unit: str | None, path: Path) -> tuple[list[Request], list[str]]:
    """The requests of one disk, or those of all with the disks' addresses one after the other."""
    ends: dict[str, int] = {}
    for request in found:
        ends[request.unit] = max(ends.get(request.unit, 0), request.offset + request.size)
    if unit is not None:
        if unit not in ends:
            allowed = f"one of {', '.join(sorted(ends))}"
            raise SpecError([Fault("--unit", unit, allowed, tuple(ends), str(path))])
        return [request for request in found if request.unit == unit], []
    if len(ends) == 1:
        return found, []
    begins, at = {}, 0
    for name in sorted(ends):
        begins[name] = at
        at += -(-ends[name] // _ALIGNED) * _ALIGNED
    note = (
        f"requests of {len(ends)} disks ({', '.join(sorted(ends)[:10])}): their addresses are laid"
        f" one after the other, {at} bytes in all; --unit chooses one"
    )
    moved = [replace(r, offset=r.offset + begins[r.unit]) for r in found]
    return moved, [note]
