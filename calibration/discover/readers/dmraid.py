"""`dmraid -s` and `dmraid -r`: sets of firmware RAID that the host computes, and their members.

Sizes and strides are sectors of 512 B. Source: dmraid 1.0.0, lib/format and lib/display.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, pairs_of
from raidlab.calibration.discover.facts import Array, Drive, Facts
from raidlab.calibration.discover.quantities import binary, raid_level, state, whole

_SET = re.compile(r"^\W*(?:Active|Inactive|Broken|\w+)?\s*(?:Sub|Super)?set\s*$", re.I | re.M)
_MEMBER = re.compile(
    r'^/dev/(?P<device>\S+): (?P<format>\w+), "(?P<set>[^"]+)", (?P<type>\w+), (?P<state>\w+),'
    r" (?P<sectors>\d+) sectors, data@ \d+",
    re.MULTILINE,
)
_NO_DISKS = re.compile(r"\s*no (raid disks|block devices found)\b")
_TYPES = {"mirror": "raid1", "raid01": "raid10", "raid10": "raid10", "linear": "linear"}


def claims(capture: Capture) -> bool:
    """True for what dmraid prints, also where it finds nothing."""
    text = capture.text
    sets = re.search(r"^stride\s*: \d+\ntype\s*: \w+\nstatus\s*: ", text, re.MULTILINE)
    return bool(sets or _MEMBER.search(text) or _NO_DISKS.match(text))


def read(capture: Capture) -> Facts:
    """Sets, and drives that are members."""
    facts = Facts("dmraid")
    for part in _SET.split(capture.text)[1:]:
        have = pairs_of(part.splitlines())
        sectors, stride = whole(have.find("size")), whole(have.find("stride"))
        level = _level((have.find("type") or "").lower())
        word = state(have.find("status"))
        facts.arrays.append(
            Array(
                name=have.find("name"), level=level, members=whole(have.find("devs")),
                bytes=None if sectors is None else sectors * 512,
                stripe_unit=None if stride is None or level == "raid1" else binary(stride * 512),
                state="optimal" if word == "ok" else word,
            )
        )  # fmt: skip
    sets: dict[str, Array] = {}
    for match in _MEMBER.finditer(capture.text):
        facts.drives.append(Drive(name=match["device"]))
        kind = match["type"].lower()
        if kind in ("group", "spare"):
            continue
        array = sets.setdefault(
            match["set"], Array(name=match["set"], level=_level(kind), drives=[])
        )
        array.drives = [*(array.drives or []), match["device"]]
        array.members = len(array.drives)
    facts.arrays += sets.values()
    return facts


def _level(kind: str) -> str | None:
    """The level of a set's type, of which dmraid adds a layout behind `_`."""
    return _TYPES.get(kind) or raid_level(re.sub(r"_\w+$", "", kind))
