"""Numbers in words: a quantity has one unit and number of digits everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NAMES = {
    "nand_read": "NAND read",
    "nand_program": "NAND program",
    "overhead": "drive overhead",
    "limit_wait": "waiting for the limit",
    "share_wait": "waiting for other tenants",
    "host_wait": "waiting for the host",
    "link_wait": "waiting for a link",
    "controller_wait": "waiting for the controller",
    "cache_wait": "waiting for the cache",
    "queue": "waiting in the queue",
}


def part_name(part: str) -> str:
    """A part of an I/O's time in words."""
    return _NAMES.get(part, part.replace("_", " "))


_SCALES: dict[str, Sequence[tuple[float, str]]] = {
    "us": ((1e6, "s"), (1e3, "ms"), (1.0, "us")),
    "ms": ((1e3, "s"), (1.0, "ms"), (1e-3, "us")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "MB/s": ((1e3, "GB/s"), (1.0, "MB/s")),
    "h": ((1.0, "h"), (1 / 60, "min")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
_MILLION = 999_999.5


def digits(value: float | None) -> str:
    """Three significant digits; from 1,000 on whole, with thousands set apart; - for none."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    size = abs(value)
    if size >= 999.5:
        return f"{value:,.0f}"
    rounded = float(f"{value:.3g}")
    if size < 1e-4:
        return f"{rounded:g}"
    return f"{rounded:.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def figure(value: float | None, unit: str = "") -> str:
    """A number with its unit for a sentence or a box: `4,107 IO/s`, `1.24 M IO/s`, `870 us`."""
    if value is None:
        return "–"
    scale, unit = shown_unit(value, unit)
    return f"{_number(value, scale)} {unit}".rstrip()


def _number(value: float, scale: float) -> str:
    """A number in a unit of which one is `scale`; whole ones stay whole."""
    value = value if scale == 1 else value / scale
    return f"{value:,}" if isinstance(value, int) else digits(value)


def shown_unit(value: float, unit: str = "") -> tuple[float, str]:
    """How many of `unit` the unit has in which `figure` shows a value, and its name."""
    found, name = 1.0, unit
    for scale, other in _SCALES.get(unit, ()) if value else ():
        if abs(value) >= 0.9995 * scale or scale == _SCALES[unit][-1][0]:
            found, name = scale, other
            break
    if abs(value / found) >= _MILLION:
        found, name = found * 1e6, f"M {name}".rstrip()
    return found, name


def between(first: float, last: float, unit: str = "") -> str:
    """Two numbers with their unit: `49.6 to 167 ms`, `870 us to 1.20 ms`."""
    scale, name = shown_unit(first, unit)
    one = _number(first, scale) if name == shown_unit(last, unit)[1] else figure(first, unit)
    return f"{one} to {figure(last, unit)}"


def percent(share: float) -> str:
    """A share of one in percent: `87 %`."""
    return f"{100 * share:.3g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def rounded_down(value: float) -> float:
    """A positive value to two digits, never upwards: for what is promised."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1) if value > 0 else 1.0
    # What is a whole number of units but for its last bit stays so.
    return math.floor(value / unit * (1 + 1e-12)) * unit


def times(factor: float) -> str:
    """A factor in words: `2.4 times`, `138 times`."""
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.2g} times"


def spread(value: float, low: float | None, high: float | None) -> str:
    """What stands behind a value for its 95 % interval: ` ± 11`.

    Nothing if the interval is not known, or smaller than the value's last digit.
    """
    if low is None or high is None:
        return ""
    places = len(digits(value).partition(".")[2])
    text = f"{(high - low) / 2:,.{places}f}"
    return f" ± {text}" if float(text.replace(",", "")) else ""


def with_spread(value: float, low: float | None, high: float | None, unit: str) -> str:
    """A value, its 95 % interval as of `spread`, and the unit of both: `1.24 ± 0.02 M IO/s`."""
    scale, name = shown_unit(value, unit)
    ends = [None if end is None else end / scale for end in (low, high)]
    return f"{_number(value, scale)}{spread(value / scale, ends[0], ends[1])} {name}"


_UNITS = re.compile(
    r"(?<=\d) (?=(?:%|[num]?s|h|min|(?:[kMGT]|[KMGT]i)?B(?:/s)?|IO/s|outstanding)(?![\w]))"
    r"|(?<=\bRAID) (?=\d)"
)


def joined(text: str) -> str:
    """A sentence whose numbers stay in one line with their units, and RAID with its level."""
    return _UNITS.sub("\u00a0", text).replace("± ", "±\u00a0")


def hours_text(hours: float) -> str:
    """Hours in the unit that fits: `35.2 s`, `12.4 min`, `5.50 h`, `3.20 days`."""
    for least, factor, unit in ((72.0, 1 / 24, "days"), (1.0, 1, "h"), (1 / 30, 60, "min")):
        if hours >= least:
            return f"{digits(hours * factor)} {unit}"
    return f"{digits(hours * 3600)} s"
