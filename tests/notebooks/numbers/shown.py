"""Numbers that a page shows, read from its words, and whether independent ones account for them.

Every number of a headline, a box and a picture's title must agree with one that was found another
way, and every one that was found must be on the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from raidlab.notebooks.frame import Answer

_NAMES = re.compile(r"RAID \d+|\bp\d+(\.\d+)?\b|M/M/1|host thread \d+")
_NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?(?:e-\d+)?)(?: (M ))?\s*([a-zA-Zµ%×/]*)")
_UNITS = {
    "ns": ("s", 1e-9), "µs": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0),
    "min": ("s", 60.0), "h": ("s", 3600.0), "IO/s": ("IO/s", 1.0), "%": ("%", 1.0),
    "kB/s": ("B/s", 1e3), "MB/s": ("B/s", 1e6), "GB/s": ("B/s", 1e9),
    "kB": ("B", 1e3), "MB": ("B", 1e6), "GB": ("B", 1e9), "KiB": ("B", 1024.0),
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """A number that was found without the room."""

    value: float
    """In seconds, bytes, IO/s, percent."""
    unit: str
    """`s`, `B`, `B/s`, `IO/s`, `%`, or nothing for a count or a ratio."""
    source: str
    off: float = 0.0
    """How far what is shown may be from it, as a share of it; 0: only rounded."""
    needed: bool = True
    """False for what may be shown and need not be."""
    box: int | None = None
    """The box that must show it; None for anywhere."""


@dataclass(frozen=True)
class Shown:
    """A number on the page."""

    text: str
    value: float
    unit: str
    half: float
    """Half of its last digit."""

    def fits(self, known: Known) -> bool:
        """Whether it is the known number, as far as both say."""
        apart = abs(self.value - known.value)
        room = self.half * (1 + 1e-6) + known.off * abs(known.value) + 1e-12
        return self.unit == known.unit and apart <= room


@dataclass
class Compared:
    """What the comparison of one setting found."""

    numbers: int = 0
    faults: list[str] = field(default_factory=list)
    furthest: dict[str, float] = field(default_factory=dict)
    """Largest deviation from each source that allows one, as a share."""


def numbers_of(text: str) -> list[Shown]:
    """The numbers of a text in base units; names like RAID 5 and p99 are none."""
    found = []
    for number, million, unit in _NUMBER.findall(_NAMES.sub("", text)):
        base, scale = _UNITS.get(unit, ("", 1.0))
        scale *= 1e6 if million else 1.0
        plain = number.replace(",", "")
        mantissa, _, power = plain.partition("e")
        digits = len(mantissa.partition(".")[2]) - int(power or 0)
        half = 0.5 * 10.0**-digits * scale
        found.append(Shown(f"{number} {unit}".strip(), float(plain) * scale, base, half))
    return found


def compare(answer: Answer, known: Sequence[Known], given: Sequence[float]) -> Compared:
    """Each number of the page beside those that were found without it.

    Args:
        answer: Of one setting.
        known: What was found another way.
        given: Numbers that the setting or the room itself states, in any unit.
    """
    texts = [answer.sentence, *(f"{box.value}; {box.text}" for box in answer.boxes)]
    texts += [picture.seen for picture in answer.pictures]
    shown = [number for text in texts for number in numbers_of(text)]
    found = Compared(numbers=len(shown))
    for number in shown:
        stated = any(
            math.isclose(float(number.text.split()[0].replace(",", "")), each) for each in given
        )
        if not stated and not any(number.fits(each) for each in known):
            found.faults.append(f"{number.text}: no independent number accounts for it")
    for each in known:
        places = shown if each.box is None else numbers_of(answer.boxes[each.box].value)
        alike = [number for number in places if number.fits(each)]
        if each.needed and not alike:
            found.faults.append(f"{each.source}: {each.value:.6g} {each.unit} is not on the page")
        if alike and each.off and each.value:
            nearest = min(abs(number.value / each.value - 1) for number in alike)
            before = found.furthest.get(each.source, 0.0)
            found.furthest[each.source] = max(before, nearest)
    return found
