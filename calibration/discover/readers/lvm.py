"""`lvs`: JSON reports and tables.

Stripes of raid5 count all members, of striped the data members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from raidlab.calibration.discover.captures import Capture, documents, plain_key, table
from raidlab.calibration.discover.facts import Facts, Volume, VolumeCache
from raidlab.calibration.discover.quantities import binary_size, raid_level, size, whole

_PARITIES = {"raid4": 1, "raid5": 1, "raid6": 2}
_PREFIXED = re.compile(r"LVM2_(\w+)='([^']*)'")
"""A cell of `lvs --nameprefixes`."""
Row = Mapping[str, str]


def claims(capture: Capture) -> bool:
    """True for reports of logical volumes."""
    text = capture.text
    return '"lv_name"' in text or bool(
        re.search(r"^\s*LV\s+VG\s+Attr\b", text, re.MULTILINE) or _PREFIXED.search(text)
    )


def read(capture: Capture) -> Facts:
    """Logical volumes, hidden parts aside."""
    facts = Facts("lvm")
    rows = list(_rows(capture, facts))
    hidden = {_bare(row.get("lvname", "")): row for row in rows if _is_hidden(row)}
    every = {_bare(row.get("lvname", "")): row for row in rows}
    seen: dict[str, Volume] = {}
    for row in rows:
        if _is_hidden(row) or not row.get("lvname"):
            # Segments of a full report name no volume.
            continue
        name = f"{row.get('vgname', '')}/{row.get('lvname', '')}".strip("/")
        name = row.get("lvfullname", name) if "vgname" not in row else name
        # A line for each segment: what they lie on adds up.
        if name in seen:
            seen[name].on = sorted({*(seen[name].on or []), *_below(row)}) or None
            continue
        seen[name] = _volume(name, row, hidden | every)
    facts.volumes.extend(seen.values())
    return facts


def _rows(capture: Capture, facts: Facts) -> Iterator[Row]:
    found = documents(capture.text) if '"lv_name"' in capture.text else None
    if found is not None:
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            for report in value.get("report", []):
                for row in report.get("lv", []) + report.get("seg", []):
                    yield {plain_key(key): _text(each) for key, each in row.items()}
        return
    lines = [line for line in capture.lines if line.strip() and "WARNING" not in line]
    if _PREFIXED.search(capture.text):
        for line in lines:
            cells = {plain_key(key): value.strip() for key, value in _PREFIXED.findall(line)}
            if "lvname" in cells:
                yield cells
        return
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*LV\s+VG\s+Attr", line)), None)
    short = {"lv": "lvname", "vg": "vgname", "attr": "lvattr", "lsize": "lvsize",
             "type": "segtype", "str": "stripes", "stripe": "stripesize", "pool": "poollv",
             "cachemode": "cachemode", "chunk": "chunksize", "devices": "devices"}  # fmt: skip
    for row in table(lines[start], lines[start + 1 :]) if start is not None else []:
        plain = {plain_key(re.sub("#", "", key)): value for key, value in row.items()}
        yield {short.get(key, key): value for key, value in plain.items()}


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)


def _bare(name: str) -> str:
    return name.strip("[] ")


def _is_hidden(row: Row) -> bool:
    return row.get("lvname", "").startswith("[")


def _below(row: Row) -> list[str]:
    """Devices that a segment lies on."""
    names = re.findall(r"(/dev/[^(,]+|[^(,]+)\(\d+\)", row.get("devices", ""))
    return [name for name in names if name.startswith("/dev/")]


def _segment(row: Row) -> str:
    """The segment's type; the first letter of the attributes where it is not listed."""
    stated = row.get("segtype", "")
    letter = row.get("lvattr", " ")[:1]
    guess = {"V": "thin", "t": "thin-pool", "C": "cache", "-": "linear", "m": "mirror"}
    return stated or guess.get(letter, "")


def _volume(name: str, row: Row, parts: Mapping[str, Row]) -> Volume:
    kind = _segment(row)
    volume = Volume(name, bytes=_bytes(row.get("lvsize")))
    if kind == "thin":
        volume.kind, volume.pool = "thin", _bare(row.get("poollv", "")) or None
        return volume
    if kind in ("cache", "writecache"):
        volume.kind = "cached"
        pool = parts.get(_bare(row.get("poollv", "")), {})
        mode = row.get("cachemode") or pool.get("cachemode") or ""
        volume.cache = VolumeCache(
            _bytes(pool.get("lvsize")),
            "write-back" if kind == "writecache" else _mode(mode),
            binary_size(_bytes(row.get("chunksize") or pool.get("chunksize"))),
        )
        row = parts.get(_bare(row.get("origin", "")), {})
        kind = _segment(row)
    elif kind in ("thin-pool", "cache-pool", "snapshot", "vdo", "vdo-pool"):
        volume.kind = kind
    _layout(volume, kind, row)
    return volume


def _mode(text: str) -> str | None:
    known = {"writethrough": "write-through", "writeback": "write-back"}
    return known.get(text, text or None)


def _layout(volume: Volume, kind: str, row: Row) -> None:
    stripes = whole(row.get("stripes"))
    unit = binary_size(_bytes(row.get("stripesize")))
    level = raid_level(kind)
    striped = kind == "striped" or (kind == "linear" and (stripes or 1) > 1)
    if striped and (stripes or 0) > 1:
        volume.level, volume.members, volume.stripe_unit = "raid0", stripes, unit
    elif kind in ("linear", "striped"):
        volume.level = "linear"
        volume.on = _below(row) or None
    elif level is not None:
        volume.level = level
        images = re.findall(r"_(?:rimage|mimage)_\d+", row.get("devices", ""))
        volume.members = stripes if stripes and stripes > 1 else len(set(images)) or None
        volume.stripe_unit = None if level == "raid1" else unit
        if volume.members and level in _PARITIES:
            volume.data_members = volume.members - _PARITIES[level]
        elif volume.members and level == "raid10":
            volume.data_members = volume.members // 2


def _bytes(text: str | None) -> int | None:
    """A size of LVM: small letters are powers of 1,024, capitals powers of 1,000."""
    match = re.match(r"<?\s*[\d.,]+\s*([A-Za-z])?", text or "")
    if match is None:
        return None
    return size(text, decimal=(match[1] or "b").isupper())
