"""Numbers as tools print them: decimal commas, unit suffixes, placeholders."""

from __future__ import annotations

import math
import re

KIB = 1024.0
MIB = KIB * KIB

_NUMBER = re.compile(
    r"([+-]?)(\d[\d\s_.,'\u00a0\u202f]*|[.,]\d+)(e[+-]?\d+)?\s*(.*)", re.IGNORECASE
)
_NO_VALUE = {"", "-", "--", "n/a", "na", "nan", "null", "none", "?", "...", "undefined", "inf"}
_BINARY = {"": 1.0, "k": KIB, "m": MIB, "g": KIB**3, "t": KIB**4, "p": KIB**5}
_DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3,
          "min": 6e4, "mins": 6e4}  # fmt: skip


def plain(text: str, *, comma: bool | None = None) -> float:
    """A number without a unit; NaN for a placeholder.

    Args:
        text: `1234.5`, `1.234,5`, `1,234.5`, `1e6`, `NaN`, `-`.
        comma: True if the decimal sign is a comma, False if a point, None to see for itself: the
            sign that stands last is the decimal one, and a sign that stands twice is none.

    Raises:
        ValueError: It is neither a number nor a placeholder.
    """
    value, rest = split(text, comma=comma)
    if rest and rest != "%":
        raise ValueError(f'"{text}" is no number')
    return value


def split(text: str, *, comma: bool | None = None) -> tuple[float, str]:
    """A number and what stands behind it; as `plain`."""
    text = text.strip().strip('"').strip()
    if text.lower().lstrip("+-") in _NO_VALUE or text.lower().lstrip("+-") == "infinity":
        return math.nan, ""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f'"{text}" is no number')
    sign, digits, exponent, rest = found.groups()
    digits = re.sub(r"[\s_'\u00a0\u202f]", "", digits)
    if comma is None:
        comma = _comma_is_decimal(digits)
    digits = digits.replace(".", "").replace(",", ".") if comma else digits.replace(",", "")
    return float(f"{sign}{digits}{exponent or ''}"), rest.strip()


def _comma_is_decimal(digits: str) -> bool:
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma < 0:
        return False
    if point >= 0:
        return comma > point
    return digits.count(",") == 1 and not re.fullmatch(r"[1-9]\d{0,2},000", digits)


def decimals(text: str) -> int:
    """Digits behind the decimal sign."""
    found = re.search(r"[.,](\d+)", text)
    return len(found[1]) if found else 0


def with_prefix(text: str, *, comma: bool | None = None, binary: bool = True) -> float:
    """A number that may end in k, M, G ...: powers of 1,024, or of 1,000 if not `binary`.

    Raises:
        ValueError: As `plain`, or the suffix is unknown.
    """
    value, rest = split(text, comma=comma)
    table = _BINARY if binary else _DECIMAL
    key = rest.rstrip("%").removesuffix("B").removesuffix("i").lower()
    if key not in table:
        raise ValueError(f'"{text}": unknown unit "{rest}"')
    return value * table[key]


def with_unit(text: str) -> tuple[float, str]:
    """A number in base units and what it measures: `B`, `B/s`, `ms`, `%`, `/s` or nothing.

    Reads what dashboards print: `6.75 MB/s`, `3.2 MiB/s`, `412 io/s`, `1.25 K`, `2.1 ms`.

    Raises:
        ValueError: As `plain`, or the unit is unknown.
    """
    value, rest = split(text)
    unit = rest.replace(" ", "")
    low = unit.lower()
    if low in ("", "%", "percent"):
        return value, "%" if low else ""
    if low in _TIMES:
        return value * _TIMES[low], "ms"
    found = re.fullmatch(r"([kmgtp]?)(i?)(b|bytes?)(/s|/sec|ps)?", low)
    if found:
        bits = unit.rstrip("/secp").endswith("b") and found[4] is not None and found[3] == "b"
        table = _BINARY if found[2] else _DECIMAL
        scale = table[found[1]] / (8 if bits else 1)
        return value * scale, "B/s" if found[4] else "B"
    found = re.fullmatch(
        r"([kmg]?)(io|iops|ios|ops|reads?|writes?|rd|wr|req|c|)(/s|/sec|ps|s)?", low
    )
    if found and (found[1] or found[2]):
        rate = found[3] or found[2] in ("iops", "io", "ops")
        return value * _DECIMAL[found[1]], "/s" if rate else ""
    raise ValueError(f'"{text}": unknown unit "{rest}"')
