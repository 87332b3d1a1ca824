"""Linux md: `mdadm --detail`, its `--export`, `--examine`, and `/proc/mdstat`.

Sizes in blocks are KiB. `[n/m]` of mdstat is places and present; `sdx[10]` is a device number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from raidlab.calibration.discover.captures import Capture, Pairs, pair
from raidlab.calibration.discover.facts import Array, Facts
from raidlab.calibration.discover.quantities import binary_size, known_text, raid_level, whole

ALGORITHMS = {
    0: "left-asymmetric", 1: "right-asymmetric", 2: "left-symmetric", 3: "right-symmetric",
    4: "parity-first", 5: "parity-last", 8: "ddf-zero-restart", 9: "ddf-N-restart",
    10: "ddf-N-continue", 16: "left-asymmetric-6", 17: "right-asymmetric-6",
    18: "left-symmetric-6", 19: "right-symmetric-6", 20: "parity-first-6",
}  # fmt: skip
"""Layouts of parity by their number (Linux: drivers/md/raid5.h)."""

_SYNC = {"recovery": "rebuilding", "resync": "resyncing", "reshape": "reshaping",
         "check": "checking", "repair": "repairing"}  # fmt: skip
_HEAD = re.compile(
    r"^(?P<name>\S+)\s*:\s+(?P<word>active|inactive|broken|read-only)\b\s*(?P<rest>.*)$"
)
_MEMBER = re.compile(r"(?P<name>[\w!./-]+)\[(?P<number>\d+)\](?P<marks>(?:\([A-Z]\))*)")
_PROGRESS = re.compile(
    r"(?P<word>recovery|resync|reshape|check|repair)\s*=\s*(?P<done>[\d.,]+)\s*%"
)
_WAITING = re.compile(r"(?P<word>recovery|resync|reshape|check)\s*=\s*(PENDING|DELAYED)")


def claims_mdstat(capture: Capture) -> bool:
    """True for `/proc/mdstat`, also that of another driver."""
    return bool(
        re.search(r"^Personalities\s*:", capture.text, re.MULTILINE)
        or re.search(r"^md\w+ : (in)?active", capture.text, re.MULTILINE)
        or "mdResyncAction=" in capture.text
        or "mdNumDisks=" in capture.text
    )


def read_mdstat(capture: Capture) -> Facts:
    """Arrays of `/proc/mdstat`; refuses that of another md driver."""
    facts = Facts("mdstat")
    if re.search(r"^(mdNumDisks|sbNumDisks|mdState)=", capture.text, re.MULTILINE):
        facts.refused = (
            "this /proc/mdstat is of another md driver (key=value lines, as Unraid's),"
            " not of Linux md"
        )
        return facts
    lines = capture.lines
    starts = [at for at, line in enumerate(lines) if _HEAD.match(line)]
    if not starts:
        return facts
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = []
        for line in lines[begin + 1 : end]:
            if re.match(r"^(unused devices|Personalities)", line):
                break
            body.append(line.strip())
        match = _HEAD.match(lines[begin])
        if match is not None and (array := _of_mdstat(match, body)) is not None:
            facts.arrays.append(array)
        elif match is not None:
            text = f"{match['name']}: inactive, or a container: its members are no array"
            facts.warn("inactive", text)
    return facts


def _of_mdstat(head: re.Match[str], body: Sequence[str]) -> Array | None:
    rest = re.sub(r"^\((?:auto-)?read-only\)\s*", "", head["rest"])
    word = rest.split(" ", 1)[0] if rest else ""
    level = raid_level(word) if "[" not in word else None
    text = " ".join(body)
    if level is None and head["word"] != "active":
        return None
    devices = [(m["name"], int(m["number"]), m["marks"]) for m in _MEMBER.finditer(rest)]
    found = Array(name=head["name"], level=level)
    found.spares = sorted(name for name, _, marks in devices if "(S)" in marks) or None
    found.failed = sorted(name for name, _, marks in devices if "(F)" in marks) or None
    found.journal = next((name for name, _, marks in devices if "(J)" in marks), None)
    own = [name for name, _, marks in devices if not re.search(r"\((S|F|J)\)", marks)]
    found.drives = sorted(own, key=natural) or None
    blocks = re.search(r"(\d+) blocks", text)
    found.bytes = int(blocks[1]) * 1024 if blocks else None
    chunk = re.search(r"(\d+[kKmM]) (?:chunks?|rounding)\b", text)
    found.stripe_unit = binary_size(chunk[1]) if chunk and level != "raid1" else None
    metadata = re.search(r"super (\S+)", text)
    outside = metadata is not None and metadata[1].startswith("external:")
    found.metadata = metadata[1] if metadata and not outside else "external" if outside else "0.90"
    algorithm = re.search(r"algorithm (\d+)", text)
    if algorithm is not None:
        found.layout = ALGORITHMS.get(int(algorithm[1]))
    copies = re.search(r"(\d+) (near|far|offset)-copies", text)
    if copies is not None:
        found.copies, found.layout = int(copies[1]), copies[2]
    places = re.search(r"\[(\d+)/(\d+)\]", text)
    found.members = int(places[1]) if places else len(own) or None
    found.present = int(places[2]) if places else found.members
    present = re.search(r"\[([U_]+)\]", text)
    found.lacking = [at for at, mark in enumerate(present[1]) if mark == "_"] if present else None
    found.lacking = found.lacking or None
    bitmap = re.search(r"bitmap: .*?(\d+[KkMm]B?) chunk", text)
    found.bitmap = "bitmap:" in text
    found.bitmap_chunk = binary_size(bitmap[1]) if bitmap else None
    _progress(found, text, head["word"])
    return found


def _progress(found: Array, text: str, word: str) -> None:
    """The state: what goes on, else whether places are empty."""
    going, waiting = _PROGRESS.search(text), _WAITING.search(text)
    if going is not None:
        found.state = _SYNC[going["word"]]
        found.rebuild_percent = float(going["done"].replace(",", "."))
        speed = re.search(r"speed=(\d+)K/sec", text)
        found.rebuild_bytes_per_s = int(speed[1]) * 1024 if speed else None
    elif found.present is not None and found.members is not None and found.present < found.members:
        found.state = "degraded"
    elif waiting is not None:
        found.state = f"{waiting['word']} {waiting[2].lower()}"
    else:
        found.state = "clean" if word in ("active", "read-only") else word


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts `sdb2` before `sdb10`."""
    return [(int(each), "") if each.isdigit() else (-1, each) for each in re.split(r"(\d+)", name)]


def claims_mdadm(capture: Capture) -> bool:
    """True for `mdadm --detail`, `--examine` and `--detail --export`."""
    text = capture.text
    return bool(
        re.search(r"^\s*Raid Level\s*:", text, re.MULTILINE)
        or re.search(r"^\s*MD_LEVEL=", text, re.MULTILINE)
        or re.search(r"^ARRAY\s+\S+\s.*UUID=", text, re.MULTILINE)
    )


def read_mdadm(capture: Capture) -> Facts:
    """Arrays of mdadm's outputs."""
    facts = Facts("mdadm")
    own = re.search(r"\(local to host ([^\s)]+)\)", capture.text)
    facts.host.name = own[1] if own is not None else None
    if "MD_LEVEL=" in capture.text:
        for part in re.split(r"(?=^\s*MD_LEVEL=)", capture.text, flags=re.MULTILINE)[1:]:
            facts.arrays.append(_of_export(part.splitlines()))
        return facts
    if re.search(r"^ARRAY ", capture.text, re.MULTILINE) and "Raid Level" not in capture.text:
        facts.arrays += _of_scan(capture.lines)
        return facts
    seen: dict[str, Array] = {}
    for device, lines in _details(capture.lines):
        pairs = Pairs()
        for line in lines:
            if (each := pair(line)) is not None:
                pairs.put(*each)
        level = raid_level(pairs.find("Raid Level"))
        if level == "container" or level is None:
            continue
        array = _of_detail(device, lines, pairs)
        full, shown = array.present == array.members, len(array.drives or [])
        if full and "activedevices" in pairs and shown < (array.members or 0):
            facts.warn(
                "cut",
                f"{device or capture.name} ends early: {array.present} devices are active,"
                f" {shown} of them are listed",
            )
        identity = pairs.find("Array UUID", "UUID") or device
        if "arrayuuid" in pairs:
            _of_examine(array, device, pairs)
        if identity not in seen:
            seen[identity] = array
            facts.arrays.append(array)
        elif "arrayuuid" in pairs:
            _join(seen[identity], array)
    return facts


def _of_examine(array: Array, device: str, have: Pairs) -> None:
    """What one member's superblock says: of the array, not of a device of its name."""
    array.name = (have.find("Name") or "").split(" ")[0].rpartition(":")[2] or None
    array.os_name = None
    array.bitmap = have.find("Internal Bitmap") is not None
    array.member_bytes = _checked(have.find("Used Dev Size", "Avail Dev Size"))
    role = (have.find("Device Role") or "").lower()
    array.drives = [device] if role.startswith("active") else None
    array.spares = [device] if role.startswith("spare") else None
    array.journal = device if role.startswith("journal") else None
    places = (have.find("Array State") or "").split(" ")[0]
    if re.fullmatch(r"[AR.]+", places):
        array.present = len(places) - places.count(".")
        if array.present < len(places):
            array.state = "degraded"


def _join(array: Array, other: Array) -> None:
    """A further member's superblock: its place, nothing else."""
    array.drives = [*(array.drives or []), *(other.drives or [])] or None
    array.spares = [*(array.spares or []), *(other.spares or [])] or None
    array.journal = array.journal or other.journal


def _checked(text: str | None) -> int | None:
    """A count in sectors or KiB: the unit with which the gigabytes in brackets agree."""
    count = whole(text)
    stated = re.search(r"([\d.]+) GB\)", text or "")
    if count is None or stated is None:
        return _kib(text)
    return min((count * 512, count * 1024), key=lambda size: abs(size - float(stated[1]) * 1e9))


def _of_scan(lines: Sequence[str]) -> Iterator[Array]:
    """`mdadm --detail --scan`: names alone, and what else a line states."""
    for line in lines:
        match = re.match(r"^ARRAY\s+(\S+)\s+(.*)$", line)
        if match is None or "container" in match[2]:
            continue
        have = dict(each.split("=", 1) for each in match[2].split() if "=" in each)
        yield Array(
            name=re.sub(r"^/dev/(md/)?", "", match[1]),
            os_name=match[1],
            level=raid_level(have.get("level")),
            members=whole(have.get("num-devices")),
            metadata=have.get("metadata"),
        )


def _details(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    starts = [at for at, line in enumerate(lines) if re.match(r"^/\S+:\s*$", line)]
    if not starts:
        yield "", list(lines)
        return
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[begin].strip().rstrip(":"), list(lines[begin + 1 : end])


def _of_detail(device: str, lines: Sequence[str], have: Pairs) -> Array:
    level = raid_level(have.find("Raid Level"))
    found = Array(
        name=re.sub(r"^/dev/(md/)?", "", device) or None,
        os_name=device or None,
        level=level,
        members=whole(have.find("Raid Devices")),
        present=whole(have.find("Active Devices")),
        stripe_unit=binary_size(have.find("Chunk Size", "Rounding")) if level != "raid1" else None,
        metadata=(have.find("Version") or "").split(" ")[0].lstrip("0") or None,
        bytes=_kib(have.find("Array Size")),
        member_bytes=_kib(have.find("Used Dev Size", "Device Size")),
        bitmap=have.find("Intent Bitmap") not in (None, "none", "None"),
        consistency=known_text(have.find("Consistency Policy")),
    )
    version = have.find("Version") or ""
    found.metadata = version.split(" ")[0] or None
    if found.metadata == "00.90":
        found.metadata = "0.90"
    layout = have.find("Layout") or ""
    copies = [each for each in re.findall(r"(near|far|offset)=(\d+)", layout) if each[1] != "1"]
    if copies:
        found.layout, found.copies = copies[0][0], int(copies[0][1])
    else:
        found.layout = known_text(layout if "=" not in layout else None)
    if found.consistency == "none":
        found.consistency = None
    _detail_state(found, have)
    _table(found, lines)
    return found


def _kib(text: str | None) -> int | None:
    value = whole(text)
    return None if value is None else value * (512 if "sectors" in (text or "") else 1024)


def _detail_state(found: Array, have: Pairs) -> None:
    words = [each.strip().lower() for each in (have.find("State") or "").split(",")]
    for name, state in (("recovering", "rebuilding"), ("resyncing", "resyncing"),
                        ("reshaping", "reshaping"), ("checking", "checking"),
                        ("failed", "failed"), ("degraded", "degraded")):  # fmt: skip
        if any(word.startswith(name) for word in words):
            found.state = state
            break
    else:
        first = words[0].split(" ")[0] if words else ""
        found.state = "clean" if first in ("clean", "active", "readonly", "read-auto") else first
    done = have.find("Rebuild Status", "Resync Status", "Reshape Status", "Check Status")
    match = re.match(r"([\d.]+)\s*%", done or "")
    found.rebuild_percent = float(match[1]) if match else None
    if found.rebuild_percent is not None and found.rebuild_percent.is_integer():
        found.rebuild_percent = int(found.rebuild_percent)


def _table(found: Array, lines: Sequence[str]) -> None:
    """The table of devices: members in their places, spares, failed ones, a journal."""
    head = next((at for at, line in enumerate(lines) if re.match(r"\s*Number\s+Major", line)), None)
    drives, spares, failed, lacking = [], [], [], []
    for line in lines[head + 1 :] if head is not None else []:
        match = re.match(r"\s*(\d+|-)\s+(\d+)\s+(\d+)\s+(\d+|-)\s+(.*?)\s*(/dev/\S+)?\s*$", line)
        if match is None:
            continue
        place, words, name = match[4], match[5].lower(), match[6]
        if place.isdigit() and ("removed" in words or "rebuilding" in words):
            lacking.append(int(place))
        if name is None:
            continue
        if "journal" in words:
            found.journal = name
        elif "faulty" in words:
            failed.append(name)
        elif place == "-" and "spare" in words:
            spares.append(name)
        else:
            drives.append(name)
    found.drives, found.spares, found.failed = drives or None, spares or None, failed or None
    found.lacking = lacking or None
    # Where all places are active, drives that the table lacks were cut off.
    whole_array = found.present is not None and found.present == found.members
    if found.members is not None and 0 < len(drives) < found.members and not whole_array:
        found.missing = found.members - len(drives)


def _of_export(lines: Sequence[str]) -> Array:
    have = Pairs()
    devices: dict[str, str] = {}
    roles: dict[str, str] = {}
    for line in lines:
        key, _, value = line.strip().partition("=")
        have.put(key, value)
        if (match := re.match(r"MD_DEVICE_(\w+?)_(ROLE|DEV)$", key)) is not None:
            (roles if match[2] == "ROLE" else devices)[match[1]] = value
    placed = sorted(
        ((int(role), devices.get(name, name)) for name, role in roles.items() if role.isdigit())
    )
    spares = [devices.get(name, name) for name, role in roles.items() if role == "spare"]
    level = raid_level(have.find("MD_LEVEL"))
    taken, members = {place for place, _ in placed}, whole(have.find("MD_DEVICES"))
    return Array(
        name=have.find("MD_DEVNAME") or (have.find("MD_NAME") or "").rpartition(":")[2] or None,
        level=level,
        members=members,
        lacking=[at for at in range(members or 0) if taken and at not in taken] or None,
        metadata=have.find("MD_METADATA"),
        drives=[name for _, name in placed] or None,
        spares=spares or None,
        journal=next((devices.get(n) for n, role in roles.items() if role == "journal"), None),
    )
