"""Readers of traces: DiskSim's, MSR Cambridge, SPC, SYSTOR '17, Alibaba, blkparse, fio, CSV.

One function a format gives a file's requests line by line, and a fault for each line that is none.
Every format is described, with a line of each, in docs/files/traces.md.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from raidlab.calibration.trace import FLUSH, READ, TRIM, WRITE, Request, Trace, trace_of
from raidlab.devices.faults import Fault, SpecError

SECTOR = 512
_LABELS = ("hit", "miss", "doub", "trip")
_WORDS = {"r": READ, "read": READ, "rs": READ, "w": WRITE, "write": WRITE, "ws": WRITE}
_MORE_WORDS = {
    "trim": TRIM, "discard": TRIM, "d": TRIM, "unmap": TRIM,
    "flush": FLUSH, "sync": FLUSH, "datasync": FLUSH, "f": FLUSH,
}  # fmt: skip
_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "100ns": 100}

Lines = Iterable[tuple[int, str]]
Rows = Iterator[Request | Fault]


class _WrongError(ValueError):
    """What is allowed instead of what stands in a line."""


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _WrongError(f"{what}, a number") from None
    if not math.isfinite(value) or value < 0:
        raise _WrongError(f"{what}, a number from 0")
    return value


def _whole(text: str, what: str) -> int:
    if not text.strip().isdecimal():
        raise _WrongError(f"{what}, a whole number from 0")
    return int(text)


def _op(text: str) -> int:
    found = (_WORDS | _MORE_WORDS).get(text.strip().lower())
    if found is None:
        raise _WrongError("a read or a write: R, W, read, write, trim, flush")
    return found


def _ns(text: str, unit: str, what: str) -> int:
    whole, dot, part = text.strip().partition(".")
    scale = _NS[unit]
    if whole.isdecimal() and (not dot or part.isdecimal()):
        # Exact: seconds since 1970 with nanoseconds do not fit a float.
        return int(whole) * scale + round(float(f"0.{part or 0}") * scale)
    return round(_number(text, what) * scale)


def _each(lines: Lines, path: Path, of: Callable[[str, int], Request | None]) -> Rows:
    """The request of each line that is not empty."""
    for number, line in lines:
        if not line.strip():
            continue
        try:
            request = of(line, number)
        except _WrongError as wrong:
            yield Fault(f"line {number}", line.strip()[:80], str(wrong), (), str(path))
        else:
            if request is not None:
                yield request


def _fields(line: str, least: int, form: str) -> list[str]:
    parts = [part.strip() for part in line.split(",")]
    if len(parts) < least:
        raise _WrongError(f"{form}; here are {len(parts)}")
    return parts


def _is_header(number: int, parts: list[str], at: int) -> bool:
    """True for a first line of names."""
    return number == 1 and parts[at].strip().replace("_", "").replace(" ", "").isalpha()


def _disksim_validate(lines: Lines, path: Path) -> Rows:
    """`R|W label sector sectors measured_us gap_us`, closed loop."""

    def of(line: str, number: int) -> Request:
        parts = line.split()
        if len(parts) != 6:
            raise _WrongError(
                f"six words: R|W label sector sectors measured_us gap_us; here are {len(parts)}"
            )
        if parts[0] not in ("R", "W"):
            raise _WrongError("R or W first")
        if parts[1].lower() not in _LABELS:
            raise _WrongError(f"one of {', '.join(_LABELS)} second")
        if not (parts[2].isdecimal() and parts[3].isdecimal() and int(parts[2]) < 2**50):
            raise _WrongError("a sector and a number of sectors, whole numbers below 2^50")
        if not 0 < int(parts[3]) < 2**24:
            raise _WrongError("a number of sectors from 1 to below 2^24")
        try:
            measured, gap = float(parts[4]), float(parts[5])
        except ValueError:
            raise _WrongError("two times in microseconds at the end") from None
        if not (0 <= measured < 1e12 and 0 <= gap < 1e12):
            raise _WrongError("times from 0 to below 1e12 us")
        op = WRITE if parts[0] == "W" else READ
        offset, size = int(parts[2]) * SECTOR, int(parts[3]) * SECTOR
        return Request(op, offset, size, round(gap * 1000), measured, number)

    return _each(lines, path, of)


def _disksim_ascii(lines: Lines, path: Path) -> Rows:
    """`arrival_ms device sector sectors flags`; bit 0 of the flags (hexadecimal) is a read."""

    def of(line: str, number: int) -> Request:
        parts = line.split()
        if len(parts) != 5:
            raise _WrongError(
                f"five words: arrival_ms device sector sectors flags; here are {len(parts)}"
            )
        try:
            flags = int(parts[4], 16)
        except ValueError:
            raise _WrongError("flags in hexadecimal last; bit 0 set for a read") from None
        return Request(
            READ if flags & 1 else WRITE,
            _whole(parts[2], "a sector third") * SECTOR,
            _whole(parts[3], "a number of sectors fourth") * SECTOR,
            _ns(parts[0], "ms", "the arrival in milliseconds first"),
            None,
            number,
            f"device {parts[1]}",
        )

    return _each(lines, path, of)


def _msr(lines: Lines, path: Path) -> Rows:
    """`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; times in 100 ns."""

    def of(line: str, number: int) -> Request | None:
        form = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
        parts = _fields(line, 6, form)
        if _is_header(number, parts, 0):
            return None
        return Request(
            _op(parts[3]),
            _whole(parts[4], "an offset in bytes fifth"),
            _whole(parts[5], "a size in bytes sixth"),
            _ns(parts[0], "100ns", "a time in 100 ns first"),
            _number(parts[6], "a response time in 100 ns") / 10
            if len(parts) > 6 and parts[6]
            else None,
            number,
            f"{parts[1]}.{parts[2]}",
        )

    return _each(lines, path, of)


def _spc(lines: Lines, path: Path) -> Rows:
    """`ASU,LBA,Size,Opcode,Timestamp`; sectors of 512 B, bytes, seconds."""

    def of(line: str, number: int) -> Request | None:
        parts = _fields(line, 5, "ASU,LBA,Size,Opcode,Timestamp")
        if _is_header(number, parts, 0):
            return None
        return Request(
            _op(parts[3]),
            _whole(parts[1], "a sector second") * SECTOR,
            _whole(parts[2], "a size in bytes third"),
            _ns(parts[4], "s", "a time in seconds fifth"),
            None,
            number,
            f"ASU {parts[0]}",
        )

    return _each(lines, path, of)


def _systor17(lines: Lines, path: Path) -> Rows:
    """`Timestamp,Response,IOType,LUN,Offset,Size`; seconds, bytes; some have no response."""

    def of(line: str, number: int) -> Request | None:
        parts = _fields(line, 6, "Timestamp,Response,IOType,LUN,Offset,Size")
        if _is_header(number, parts, 0):
            return None
        if not parts[2]:
            return None  # A row that records no I/O.
        response = _number(parts[1], "a response time in seconds second") if parts[1] else None
        return Request(
            _op(parts[2]),
            _whole(parts[4], "an offset in bytes fifth"),
            _whole(parts[5], "a size in bytes sixth"),
            _ns(parts[0], "s", "a time in seconds first"),
            None if response is None else response * 1e6,
            number,
            f"LUN {parts[3]}",
        )

    return _each(lines, path, of)


def _alibaba(lines: Lines, path: Path) -> Rows:
    """`device_id,opcode,offset,length,timestamp`; bytes, microseconds."""

    def of(line: str, number: int) -> Request | None:
        parts = _fields(line, 5, "device_id,opcode,offset,length,timestamp")
        if _is_header(number, parts, 0):
            return None
        return Request(
            _op(parts[1]),
            _whole(parts[2], "an offset in bytes third"),
            _whole(parts[3], "a length in bytes fourth"),
            _ns(parts[4], "us", "a time in microseconds fifth"),
            None,
            number,
            f"device {parts[0]}",
        )

    return _each(lines, path, of)


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
        except _WrongError as wrong:
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
    time = _ns(parts[3], "s", "a time in seconds fourth")
    sized = len(parts) >= 10 and parts[8] == "+"
    count = _whole(parts[9], "a number of sectors tenth") if sized else 0
    if count == 0:
        return Request(FLUSH, 0, 0, time, None, number, parts[0]) if "F" in kind else None
    op = TRIM if "D" in kind else WRITE if "W" in kind else READ if "R" in kind else None
    if op is None:
        return None
    sector = _whole(parts[7], "a sector eighth")
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
                time_ns, parts = _ns(parts[0], "us", "a time in us first"), parts[1:]
            else:
                time_ns = waited_ns
            if len(parts) < 2:
                raise _WrongError("a file, an action, an offset and a length")
            name, action = parts[0], parts[1].lower()
            if action in ("add", "open", "close"):
                continue
            if action == "wait":
                waited_ns += _ns(parts[2] if len(parts) > 2 else "", "us", "microseconds to wait")
                continue
            op = _op(action)
            if op == FLUSH:
                yield Request(op, 0, 0, time_ns, None, number, name)
                continue
            if len(parts) < 4:
                raise _WrongError("a file, an action, an offset and a length")
            offset, size = _whole(parts[2], "an offset"), _whole(parts[3], "a length")
            yield Request(op, offset, size, time_ns, None, number, name)
        except _WrongError as wrong:
            yield Fault(f"line {number}", line.strip()[:80], str(wrong), (), str(path))


COLUMNS = ("op", "offset", "size", "time", "response", "unit")
_UNITS: Mapping[str, tuple[str, ...]] = {
    "offset": ("B", "sector"),
    "size": ("B", "sector"),
    "time": tuple(_NS),
    "response": tuple(_NS),
}


def columns_of(given: str) -> dict[str, tuple[str, str]]:
    """What `--columns "time=ts:s op=type offset=lba:sector size=len:B response=rt:us"` says.

    Returns:
        For each meaning, the column's name and its unit.

    Raises:
        SpecError: A meaning, a name or a unit that does not exist.
    """
    found: dict[str, tuple[str, str]] = {}
    for word in given.replace(",", " ").split():
        meaning, equals, rest = word.partition("=")
        name, _, unit = rest.partition(":")
        if meaning not in COLUMNS or not equals or not name:
            allowed = f"words such as time=ts:s; before = is one of {', '.join(COLUMNS)}"
            raise SpecError([Fault("--columns", word, allowed, COLUMNS)])
        units = _UNITS.get(meaning, ("",))
        unit = unit or {"offset": "B", "size": "B"}.get(meaning, "")
        if unit not in units:
            allowed = f"{meaning}={name}:UNIT with one of {', '.join(units)}"
            raise SpecError([Fault("--columns", word, allowed, units)])
        found[meaning] = (name, unit)
    for needed in ("op", "offset", "size", "time"):
        if needed not in found:
            allowed = f"a column for {needed}: {needed}=NAME"
            raise SpecError([Fault("--columns", given or None, allowed)])
    return found


def _csv(lines: Lines, path: Path, columns: Mapping[str, tuple[str, str]]) -> Rows:
    """A table with names in its first line; `columns` says which means what."""
    rows = iter(lines)
    header = next(rows, (1, ""))[1]
    names = [name.strip() for name in next(csv.reader([header]), [])]
    absent = [name for name, _ in columns.values() if name not in names]
    if absent:
        for name in absent:
            allowed = f"a column of the first line: {', '.join(names)}"
            yield Fault("--columns", name, allowed, tuple(names), str(path))
        return
    at = {meaning: (names.index(name), unit) for meaning, (name, unit) in columns.items()}

    def of(line: str, number: int) -> Request:
        parts = next(csv.reader([line]), [])
        if len(parts) < len(names):
            raise _WrongError(f"{len(names)} columns; here are {len(parts)}")

        def text(meaning: str) -> str:
            return parts[at[meaning][0]].strip()

        def many(meaning: str) -> int:
            scale = SECTOR if at[meaning][1] == "sector" else 1
            return _whole(text(meaning), f"{meaning} in the column {columns[meaning][0]}") * scale

        op = _op(text("op"))
        response = None
        if "response" in at and text("response"):
            response = _ns(text("response"), at["response"][1], "a response time") / 1000
        return Request(
            op,
            many("offset") if op != FLUSH else 0,
            many("size") if op != FLUSH else 0,
            _ns(text("time"), at["time"][1], "a time"),
            response,
            number,
            text("unit") if "unit" in at else "",
        )

    yield from _each(rows, path, of)


_READERS: Mapping[str, Callable[[Lines, Path], Rows]] = {
    "disksim-validate": _disksim_validate,
    "disksim-ascii": _disksim_ascii,
    "msr": _msr,
    "spc": _spc,
    "systor17": _systor17,
    "alibaba": _alibaba,
    "blkparse": _blkparse,
    "fio-iolog": _fio_iolog,
}
FORMATS = (*_READERS, "csv")


def read_trace(path: Path, form: str, *, columns: str = "", unit: str | None = None) -> Trace:
    """Reads a trace.

    Args:
        path: The file.
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
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not text"
        raise SpecError([Fault("", None, why, (), str(path))]) from None
    lines = enumerate(text.splitlines(), 1)
    rows = _csv(lines, path, columns_of(columns)) if form == "csv" else _READERS[form](lines, path)
    return trace_of(rows, path, closed=form == "disksim-validate", unit=unit)
