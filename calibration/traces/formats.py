"""Readers of traces: DiskSim's, blkparse, fio; those that are tables are in `trace_tables`.

One function a format gives a file's requests line by line, and a fault for each line that is none.
Every format is described, with a line of each, in docs/reference/formats/traces.md.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from raidlab.calibration.traces.fields import (
    SECTOR,
    Lines,
    Rows,
    WrongError,
    each,
    ns_of,
    op_of,
    whole,
)
from raidlab.calibration.traces.tables import LAYOUTS, columns_of, read_csv, read_table
from raidlab.calibration.traces.trace import FLUSH, READ, TRIM, WRITE, Request, Trace, trace_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_bytes, unreadable

_GZIP = b"\x1f\x8b"
_LARGEST_FILE = 2048 * MIB
_LABELS = ("hit", "miss", "doub", "trip")


def _disksim_validate(lines: Lines, path: Path) -> Rows:
    """`R|W label sector sectors measured_us gap_us`, closed loop."""

    def of(line: str, number: int) -> Request:
        parts = line.split()
        if len(parts) != 6:
            raise WrongError(
                f"six words: R|W label sector sectors measured_us gap_us; here are {len(parts)}"
            )
        if parts[0] not in ("R", "W"):
            raise WrongError("R or W first")
        if parts[1].lower() not in _LABELS:
            raise WrongError(f"one of {', '.join(_LABELS)} second")
        sector, count = whole(parts[2], "a sector third"), whole(parts[3], "sectors fourth")
        if not sector < 2**50:
            raise WrongError("a sector and a number of sectors, whole numbers below 2^50")
        if not 0 < count < 2**24:
            raise WrongError("a number of sectors from 1 to below 2^24")
        try:
            measured, gap = float(parts[4]), float(parts[5])
        except ValueError:
            raise WrongError("two times in microseconds at the end") from None
        if not (0 <= measured < 1e12 and 0 <= gap < 1e12):
            raise WrongError("times from 0 to below 1e12 us")
        op = WRITE if parts[0] == "W" else READ
        return Request(op, sector * SECTOR, count * SECTOR, round(gap * 1000), measured, number)

    return each(lines, path, of)


def _disksim_ascii(lines: Lines, path: Path) -> Rows:
    """`arrival_ms device sector sectors flags`; bit 0 of the flags (hexadecimal) is a read."""

    def of(line: str, number: int) -> Request:
        parts = line.split()
        if len(parts) != 5:
            raise WrongError(
                f"five words: arrival_ms device sector sectors flags; here are {len(parts)}"
            )
        try:
            flags = int(parts[4], 16)
        except ValueError:
            raise WrongError("flags in hexadecimal last; bit 0 set for a read") from None
        return Request(
            READ if flags & 1 else WRITE,
            whole(parts[2], "a sector third") * SECTOR,
            whole(parts[3], "a number of sectors fourth") * SECTOR,
            ns_of(parts[0], "ms", "the arrival in milliseconds first"),
            None,
            number,
            f"device {parts[1]}",
        )

    return each(lines, path, of)


def _blkparse(lines: Lines, path: Path) -> Rows:
    """Lines of blkparse: issues (D; queued, Q, where none is) with their completions (C)."""
    events: list[tuple[str, Request]] = []
    for number, line in lines:
        parts = line.split()
        # 8,0 3 1 0.000000000 697 D W 223490 + 8 [kjournald]
        if len(parts) < 7 or "," not in parts[0] or not parts[1].isdecimal():
            continue  # Summaries, messages.
        if parts[5] not in ("Q", "D", "C"):
            continue  # Plugs, merges, remaps.
        try:
            request = _of_blkparse(parts, parts[6], number)
        except WrongError as wrong:
            yield Fault(f"line {number}", line.strip()[:80], str(wrong), (), str(path))
            continue
        if request is not None:
            events.append((parts[5], request))
    yield from _completed(events, "D" if any(action == "D" for action, _ in events) else "Q")


def _completed(events: Iterable[tuple[str, Request]], begin: str) -> Iterator[Request]:
    """Requests from the action `begin` on, with the time to their completion."""
    found: list[Request] = []
    waiting: dict[tuple[str, int, int, int], list[int]] = {}
    for action, request in events:
        key = (request.unit, request.op, request.offset, request.size)
        if action == begin:
            waiting.setdefault(key, []).append(len(found))
            found.append(request)
        elif action == "C" and waiting.get(key):
            index = waiting[key].pop(0)
            took = (request.time_ns - found[index].time_ns) / 1000
            found[index] = replace(found[index], measured_us=max(0.0, took))
    return iter(found)


def _of_blkparse(parts: list[str], kind: str, number: int) -> Request | None:
    time = ns_of(parts[3], "s", "a time in seconds fourth")
    sized = len(parts) >= 10 and parts[8] == "+"
    count = whole(parts[9], "a number of sectors tenth") if sized else 0
    if count == 0:
        return Request(FLUSH, 0, 0, time, None, number, parts[0]) if "F" in kind else None
    op = TRIM if "D" in kind else WRITE if "W" in kind else READ if "R" in kind else None
    if op is None:
        return None
    sector = whole(parts[7], "a sector eighth")
    return Request(op, sector * SECTOR, count * SECTOR, time, None, number, parts[0])


def _fio_iolog(lines: Lines, path: Path) -> Rows:
    """Fio's `write_iolog`: version 3 with microseconds before each action, version 2 with waits."""
    version, waited_ns = 0, 0
    for number, line in lines:
        parts = line.split()
        if not parts:
            continue
        if version == 0:
            version = {"2": 2, "3": 3}.get(parts[2] if len(parts) > 2 else "", 0)
            if line.split()[:2] != ["fio", "version"] or version == 0:
                allowed = '"fio version 2 iolog" or "fio version 3 iolog"'
                yield Fault(f"line {number}", line.strip()[:80], allowed, (), str(path))
                return
            continue
        try:
            if version == 3:
                time_ns, parts = ns_of(parts[0], "us", "a time in us first"), parts[1:]
            else:
                time_ns = waited_ns
            if len(parts) < 2:
                raise WrongError("a file, an action, an offset and a length")
            name, action = parts[0], parts[1].lower()
            if action in ("add", "open", "close"):
                continue
            if action == "wait":
                waited_ns += ns_of(parts[2] if len(parts) > 2 else "", "us", "microseconds to wait")
                continue
            op = op_of(action)
            if op == FLUSH:
                yield Request(op, 0, 0, time_ns, None, number, name)
                continue
            if len(parts) < 4:
                raise WrongError("a file, an action, an offset and a length")
            offset, size = whole(parts[2], "an offset"), whole(parts[3], "a length")
            yield Request(op, offset, size, time_ns, None, number, name)
        except WrongError as wrong:
            yield Fault(f"line {number}", line.strip()[:80], str(wrong), (), str(path))


_READERS: Mapping[str, Callable[[Lines, Path], Rows]] = {
    "disksim-validate": _disksim_validate,
    "disksim-ascii": _disksim_ascii,
    "blkparse": _blkparse,
    "fio-iolog": _fio_iolog,
}
FORMATS = (*_READERS, *LAYOUTS, "csv")


def _text_of(path: Path) -> str:
    raw = read_bytes(path, _LARGEST_FILE, "trace that is read whole")
    try:
        if raw.startswith(_GZIP):
            with gzip.open(io.BytesIO(raw)) as file:
                raw = file.read(_LARGEST_FILE + 1)
            if len(raw) > _LARGEST_FILE:
                raise unreadable(path, f"larger than {_LARGEST_FILE // MIB} MiB without gzip")
        return raw.decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        why = f"breaks off or is no gzip: {error}"
    except UnicodeDecodeError:
        why = "not text, as it is or compressed by gzip"
    raise SpecError([Fault("", None, why, (), str(path))])


def read_trace(path: Path, form: str, *, columns: str = "", unit: str | None = None) -> Trace:
    """Reads a trace.

    Args:
        path: The file, as it is or compressed by gzip.
        form: One of `FORMATS`.
        columns: For `csv`: which column means what (see `columns_of`).
        unit: The disk whose requests are wanted, where the file has several.

    Raises:
        SpecError: The file cannot be read, or lines are at fault: all of them, up to twenty.
    """
    if form not in FORMATS:
        raise SpecError([Fault("--format", form, f"one of {', '.join(FORMATS)}", FORMATS)])
    if columns and form != "csv":
        raise SpecError([Fault("--columns", columns, f"nothing for {form}: it has no names")])
    lines = enumerate(_text_of(path).splitlines(), 1)
    if form == "csv":
        rows = read_csv(lines, path, columns_of(columns))
    elif form in LAYOUTS:
        rows = read_table(lines, path, LAYOUTS[form])
    else:
        rows = _READERS[form](lines, path)
    return trace_of(rows, path, closed=form == "disksim-validate", unit=unit)
