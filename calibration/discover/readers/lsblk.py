"""lsblk: JSON of all versions, `-P` pairs, and the table with or without a tree.

Before util-linux 2.33 every value is a text: `"rota": "0"` is false. Sizes without `-b` are rounded
powers of 1,024.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from raidlab.calibration.discover.captures import Capture, documents, plain_key, table
from raidlab.calibration.discover.facts import Array, Drive, Facts, Volume
from raidlab.calibration.discover.quantities import (
    flag,
    interface,
    known_text,
    raid_level,
    size,
    whole,
    zones,
)
from raidlab.calibration.discover.readers.md import natural
from raidlab.calibration.discover.vendors import is_controller_volume, is_virtual, transport_of

_NO_DRIVE = re.compile(r"^(loop|zram|ram|sr|fd|bcache|nbd|drbd|rbd|md|dm-)")
_MD = re.compile(r"^(raid\d+|linear|md)$")


_PAIRS = re.compile(
    r'^(?=.*\bK?NAME=")[A-Z][A-Z:_-]*="[^"]*" .*\b(TYPE|SIZE|ROTA|MODEL)="', re.MULTILINE
)
"""A line of `-P`: columns come in any order."""
_COLUMNS = re.compile(r"\b(TYPE|ROTA|SIZE|FSTYPE|MODEL|SERIAL|TRAN|SCHED)\b")


@dataclass
class _Node:
    """A line of lsblk."""

    values: Mapping[str, object]
    parents: list[_Node] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)

    def get(self, *keys: str) -> str | None:
        for key in keys:
            value = self.values.get(plain_key(key))
            if value is not None and str(value).strip() not in ("", "-"):
                return str(value).strip()
        return None

    @property
    def name(self) -> str:
        return re.sub(r"^/dev/(mapper/)?", "", self.get("name", "kname") or "")

    @property
    def type(self) -> str:
        return (self.get("type") or "").lower()


def claims(capture: Capture) -> bool:
    """True for what lsblk prints."""
    text = capture.text
    return bool(
        '"blockdevices"' in capture.head
        or _PAIRS.search(text)
        or any(
            _COLUMNS.search(line) and not re.search(r"\bALLOC\b", line)
            for line in re.findall(r"^NAME\s.*$", text, re.MULTILINE)
        )
    )


def read(capture: Capture) -> Facts:
    """Drives, arrays and what lies on what."""
    facts = Facts("lsblk")
    nodes = list(_nodes(capture, facts))
    by_name: dict[str, _Node] = {}
    for node in nodes:
        first = by_name.setdefault(node.name, node)
        if first is not node:
            first.parents += node.parents
    unique = list(by_name.values())
    typed = any(node.type for node in unique)
    for node in unique:
        if _MD.match(node.type):
            facts.arrays.append(_array(node, unique))
        elif node.type == "mpath":
            facts.volumes.append(Volume(node.name, kind="multipath", bytes=size(node.get("size"))))
            facts.drives_hidden += [each.name for each in _of_name(node, unique)]
    for node in unique:
        top = node.type == "disk" or (not typed and not node.parents)
        if top and not _NO_DRIVE.match(node.name) and node.name not in facts.drives_hidden:
            facts.drives.append(_drive(node))
    _stack(unique, facts)
    if typed:
        facts.encrypted = any(node.type == "crypt" for node in unique)
    return facts


def _nodes(capture: Capture, facts: Facts) -> Iterator[_Node]:
    found = documents(capture.text) if '"blockdevices"' in capture.text else None
    if found is not None:
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            devices = value.get("blockdevices", []) if isinstance(value, dict) else []
            for device in devices:
                yield from _tree(device, None)
    elif _PAIRS.search(capture.text):
        yield from _pairs(capture, facts)
    else:
        yield from _drawn(capture)


def _tree(device: Mapping[str, object], parent: _Node | None) -> Iterator[_Node]:
    values = {plain_key(key): value for key, value in device.items() if key != "children"}
    node = _Node(values, [parent] if parent else [])
    yield node
    children = device.get("children")
    for child in children if isinstance(children, list) else []:
        for each in _tree(child, node):
            if each.parents == [node]:
                node.children.append(each)
            yield each


def _pairs(capture: Capture, facts: Facts) -> Iterator[_Node]:
    found: dict[str, _Node] = {}
    for line in capture.lines:
        if 'NAME="' not in line:
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            facts.warn("cut", f"{capture.name} ends early: {line.strip()[:40]}... is no whole line")
            continue
        values = {plain_key(k): v for k, _, v in (word.partition("=") for word in words)}
        node = _Node(values)
        parent = found.get(str(values.get("pkname", "")).rpartition("/")[2])
        if parent is not None:
            node.parents.append(parent)
            parent.children.append(node)
        found.setdefault(str(values.get("kname") or values.get("name")), node)
        yield node


_BRANCH = re.compile(r"^(?P<tree>[\s│├└─|`+\-]*)(?P<name>\S+)")


def _drawn(capture: Capture) -> Iterator[_Node]:
    """A table, whose first column may be a tree."""
    lines = [line for line in capture.lines if line.strip()]
    start = next((at for at, line in enumerate(lines) if line.startswith("NAME ")), None)
    if start is None:
        return
    above: list[tuple[int, _Node]] = []
    rows = lines[start + 1 :]
    for line, row in zip(rows, table(lines[start], rows), strict=True):
        match = _BRANCH.match(line)
        if match is None:
            continue
        depth = len(match["tree"])
        values: dict[str, object] = {plain_key(key): value for key, value in row.items()}
        values["name"] = match["name"]
        while above and above[-1][0] >= depth:
            above.pop()
        node = _Node(values)
        if above:
            node.parents.append(above[-1][1])
            above[-1][1].children.append(node)
        above.append((depth, node))
        yield node


def _of_name(node: _Node, nodes: list[_Node]) -> list[_Node]:
    """What lies directly below a node (its parents in the tree)."""
    named = {each.name for each in node.parents}
    return [each for each in nodes if each.name in named]


def _array(node: _Node, nodes: list[_Node]) -> Array:
    members = sorted({each.name for each in _of_name(node, nodes)}, key=natural)
    level = raid_level(node.type if node.type != "md" else None)
    return Array(
        name=node.name,
        os_name=node.get("path") or f"/dev/{node.name}",
        level=level,
        members=len(members) or None,
        drives=members or None,
        bytes=size(node.get("size")),
    )


def _drive(node: _Node) -> Drive:
    vendor, model = known_text(node.get("vendor")), known_text(node.get("model"))
    text = node.get("size")
    name = node.get("kname") or node.name
    found = Drive(
        name=name.rpartition("/")[2],
        model=model,
        vendor=None if vendor == "ATA" else vendor,
        serial=known_text(node.get("serial")),
        bytes=size(text),
        sector=whole(node.get("log-sec")),
        physical_sector=whole(node.get("phy-sec")),
        scheduler=known_text(node.get("sched")),
        requests=whole(node.get("rq-size")),
        zoned=zones(node.get("zoned")),
    )
    if node.get("sched") == "none":
        found.scheduler = "none"
    if text is not None and re.search(r"[A-Za-z]", text):
        found.approximate = True
    transport = (node.get("tran") or "").lower()
    found.removable = flag(node.get("rm")) or None
    found.transport = transport_of(transport, found.name)
    if is_controller_volume(vendor, model):
        found.volume_of_controller = True
    elif transport in ("fc", "iscsi", "fcoe", "virtio") or is_virtual(vendor, model, found.name):
        found.virtual = True
    else:
        rotates = flag(node.get("rota"))
        found.kind = None if rotates is None else "hdd" if rotates else "ssd"
        nvme = (found.name or "").startswith("nvme")
        family = transport if transport != "ata" else "sata"
        found.interface = interface("nvme" if nvme else family)
        if nvme:
            found.kind = "ssd"
        if found.removable and found.outside:
            # Linux takes each medium as turning until it says otherwise.
            found.kind = None
        if found.interface is None and vendor == "ATA":
            found.interface = "sata"
    return found


def _stack(nodes: list[_Node], facts: Facts) -> None:
    """What each topmost volume lies on, down to arrays."""
    kinds = ("lvm", "crypt", "dm", "vdo", "stratis")
    below = {parent.name for node in nodes if node.type in kinds for parent in node.parents}
    for node in nodes:
        if node.type not in kinds or node.name in below:
            continue
        chain: list[str] = []
        at = _of_name(node, nodes)
        while at:
            if at[0].type not in ("disk", "part") and at[0].name not in chain:
                chain.append(at[0].name)
            at = _of_name(at[0], nodes)
        if chain:
            facts.stack[node.name] = chain
