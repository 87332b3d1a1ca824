"""What all readers of traces share: numbers, times, kinds of I/O, and lines that are none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from raidlab.calibration.traces.trace import FLUSH, LATEST_NS, READ, TRIM, WRITE, Request
from raidlab.devices.faults import Fault

SECTOR = 512
_DIGITS = 40
"""Of a number of a trace; the largest that has a meaning has 25."""
_WORDS = {"r": READ, "read": READ, "rs": READ, "w": WRITE, "write": WRITE, "ws": WRITE}
_MORE_WORDS = {
    "trim": TRIM, "discard": TRIM, "d": TRIM, "unmap": TRIM,
    "flush": FLUSH, "sync": FLUSH, "datasync": FLUSH, "f": FLUSH,
}  # fmt: skip
NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "100ns": 100}

Lines = Iterable[tuple[int, str]]
Rows = Iterator[Request | Fault]


class WrongError(ValueError):
    """What is allowed instead of what stands in a line."""


def number_of(text: str, what: str) -> float:
    """A number from 0; `what` it is for the message.

    Raises:
        WrongError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        raise WrongError(f"{what}, a number") from None
    if not math.isfinite(value) or value < 0:
        raise WrongError(f"{what}, a number from 0")
    return value


def whole(text: str, what: str) -> int:
    """A whole number from 0.

    Raises:
        WrongError: It is none.
    """
    if not text.strip().isdecimal() or len(text) > _DIGITS:
        raise WrongError(f"{what}, a whole number from 0")
    return int(text)


def op_of(text: str) -> int:
    """The kind of I/O that a word says.

    Raises:
        WrongError: It says none.
    """
    found = (_WORDS | _MORE_WORDS).get(text.strip().lower())
    if found is None:
        raise WrongError("a read or a write: R, W, read, write, trim, flush")
    return found


def ns_of(text: str, unit: str, what: str) -> int:
    """A time of one of the units of `NS`, in nanoseconds; exact for decimals.

    Raises:
        WrongError: It is no number from 0.
    """
    whole, dot, part = text.strip().partition(".")
    scale = NS[unit]
    if whole.isdecimal() and len(whole) <= _DIGITS and (not dot or part.isdecimal()):
        # Exact: seconds since 1970 with nanoseconds do not fit a float.
        return int(whole) * scale + round(float(f"0.{part or 0}") * scale)
    number = number_of(text, what) * scale
    if number > LATEST_NS:
        raise WrongError(f"{what}, below 2^80 ns")
    return round(number)


def each(lines: Lines, path: Path, of: Callable[[str, int], Request | None]) -> Rows:
    """The request of each line that is not empty."""
    for number, line in lines:
        if not line.strip():
            continue
        try:
            request = of(line, number)
        except WrongError as wrong:
            yield Fault(f"line {number}", line.strip()[:80], str(wrong), (), str(path))
        else:
            if request is not None:
                yield request
