"""`lshw`, as text or JSON, whole or by `-class`: drives, controllers, processors, memory.

JSON has exact sizes. Text has them rounded, to powers of 1,024 and, in brackets, of 1,000. A
namespace of NVMe has the size, the controller above it has model and serial number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from raidlab.calibration.discover.captures import Capture, documents, indent
from raidlab.calibration.discover.facts import Controller, Drive, Facts
from raidlab.calibration.discover.quantities import size
from raidlab.calibration.discover.readers.lspci import ROLES
from raidlab.calibration.discover.vendors import (
    is_controller_volume,
    is_virtual,
    joined_model,
    transport_of,
)

_NODE = re.compile(r"^\s*\*-(?P<id>[\w:.-]+)(?P<rest> .*)?$")
_JSON = re.compile(r'"class"\s*:\s*"(disk|storage|system|memory|processor)"')

Node = Mapping[str, Any]


def claims(capture: Capture) -> bool:
    """True for what lshw prints."""
    text = capture.text
    if re.search(r"^\s*\*-\w", text, re.MULTILINE):
        return re.search(r"^\s+(description|product|physical id): ", text, re.MULTILINE) is not None
    return _JSON.search(text[: 1 << 16]) is not None and '"id"' in text


def read(capture: Capture) -> Facts:
    """Drives, controllers and the host."""
    facts = Facts("lshw")
    found = documents(capture.text) if _JSON.search(capture.text[: 1 << 16]) else None
    if found is not None:
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            _walk(facts, value, {})
    else:
        for node, above in _nodes(capture):
            _take(facts, node, above)
    return facts


def _walk(facts: Facts, value: object, above: Node) -> None:
    """Every node of a document, each with the one above it."""
    if isinstance(value, list):
        for each in value:
            _walk(facts, each, above)
    elif isinstance(value, dict):
        _take(facts, value, above)
        _walk(facts, value.get("children"), value)


def _nodes(capture: Capture) -> Iterator[tuple[Node, Node]]:
    """Nodes of the text as JSON has them, each with the one above it."""
    open_nodes: list[tuple[int, dict[str, Any]]] = []
    every: list[tuple[Node, Node]] = []
    for line in capture.lines:
        if (head := _NODE.match(line)) is not None:
            deep = indent(line)
            while open_nodes and open_nodes[-1][0] >= deep:
                open_nodes.pop()
            node: dict[str, Any] = {"id": head["id"], "configuration": {}}
            every.append((node, open_nodes[-1][1] if open_nodes else {}))
            open_nodes.append((deep, node))
        elif open_nodes and (match := re.match(r"\s+([a-z][a-z ]*): (.*)", line)):
            _put(open_nodes[-1][1], match[1].replace(" ", ""), match[2].strip())
    yield from every


def _put(node: dict[str, Any], key: str, value: str) -> None:
    if key == "configuration":
        node[key] = dict(part.split("=", 1) for part in value.split(" ") if "=" in part)
    elif key == "size":
        decimal = re.search(r"\((.+?B)\)", value)
        node[key] = size(decimal[1], decimal=True) if decimal else size(value)
        node["rounded"] = True
    else:
        node.setdefault(key, value)


def _take(facts: Facts, node: Node, above: Node) -> None:
    """What a node says, if it is one of those that count."""
    sort = re.sub(r"[:.].*", "", str(node.get("id", "")))
    names = node.get("logicalname") or ""
    name = str(names[0] if isinstance(names, list) else names).removeprefix("/dev/")
    if sort in ("disk", "namespace", "virtio", "virtio-disk") and node.get("size"):
        if name and not re.match(r"ng\d|hwmon|sr\d|cdrom", name):
            facts.drives.append(_drive(node, above, name))
    elif sort in ("raid", "sas", "scsi", "storage", "sata", "sata-controller"):
        driver = str((node.get("configuration") or {}).get("driver") or "")
        if driver in ROLES:
            facts.controllers.append(_controller(node, driver))
    elif sort == "memory" and str(node.get("description", "")).lower() == "system memory":
        facts.host.memory_bytes = node.get("size")
    elif sort == "cpu" and node.get("product") and facts.host.cpu is None:
        facts.host.cpu = str(node["product"])


def _controller(node: Node, driver: str) -> Controller:
    address = str(node.get("businfo") or "").removeprefix("pci@")
    return Controller(
        model=node.get("product"), address=address or None, pci=address or None,
        driver=driver, role=ROLES[driver],
    )  # fmt: skip


def _is_removable(capabilities: object) -> bool | None:
    """True if a node's capabilities name it: words of a text, keys in JSON."""
    words = capabilities.split() if isinstance(capabilities, str) else capabilities
    return True if isinstance(words, list | dict) and "removable" in words else None


def _drive(node: Node, above: Node, name: str) -> Drive:
    nvme = name.startswith("nvme")
    own = above if nvme and not node.get("product") else node
    vendor, product = own.get("vendor"), own.get("product")
    configuration = node.get("configuration") or {}
    drive = Drive(
        name=name, serial=own.get("serial") or None, bytes=node["size"],
        approximate=True if node.get("rounded") else None,
    )  # fmt: skip
    sector = str(configuration.get("logicalsectorsize", ""))
    drive.sector = int(sector) if sector.isdigit() else None
    drive.model = product
    drive.transport = transport_of(f"{node.get('businfo', '')} {above.get('businfo', '')}", name)
    drive.removable = _is_removable(node.get("capabilities"))
    if is_virtual(vendor, product, name):
        drive.virtual = True
    elif is_controller_volume(vendor, product):
        drive.volume_of_controller = True
    elif nvme:
        drive.interface, drive.kind = "nvme", "ssd"
    else:
        ata = "ATA" in str(node.get("description", ""))
        drive.vendor, drive.model = joined_model("ATA" if ata else vendor, product)
        drive.interface = "sata" if ata else None
    return drive
