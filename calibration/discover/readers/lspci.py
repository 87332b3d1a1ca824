"""`lspci -vv`, also with `-nn` and `-k`: storage controllers, NVMe drives, trained links.

`LnkSta` is the link that runs, `LnkCap` the widest possible; both are numbers to compare. The
driver in use says what a controller is, as AHCI and VMD have the class of RAID controllers too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Controller, Drive, Facts, Link
from raidlab.calibration.discover.quantities import pcie_generation

_HEAD = re.compile(
    r"^(?P<address>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+"
    r"(?P<class>[^:]+?)(?:\s*\[(?P<code>[0-9a-f]{4})\])?:\s*(?P<device>.*)$",
    re.IGNORECASE,
)
_STORAGE = re.compile(
    r"raid|sas|serial attached scsi|sata|scsi storage|non-volatile memory|nvm|mass storage", re.I
)
ROLES = {
    "megaraid_sas": "raid", "smartpqi": "raid", "hpsa": "raid", "cciss": "raid",
    "aacraid": "raid", "mpi3mr": "raid", "arcmsr": "raid", "3w-9xxx": "raid", "3w-sas": "raid",
    "mpt3sas": "hba", "mpt2sas": "hba", "mptsas": "hba", "pm80xx": "hba", "isci": "hba",
    "mvsas": "hba", "ahci": "ahci", "vmd": "vmd",
}  # fmt: skip
_VENDORS = (
    "Broadcom / LSI", "LSI Logic / Symbios Logic", "LSI Logic", "Broadcom Limited", "Broadcom Inc.",
    "Intel Corporation", "Samsung Electronics Co Ltd", "KIOXIA Corporation", "Toshiba Corporation",
    "Toshiba America Info Systems", "Micron Technology Inc", "Micron/Crucial Technology",
    "Hewlett-Packard Company", "Hewlett Packard Enterprise", "Dell", "Adaptec", "Microsemi",
    "PMC-Sierra Inc.", "Microchip Technology", "Sandisk Corp", "Western Digital", "SK hynix",
    "Solidigm", "Super Micro Computer Inc", "Fujitsu Technology Solutions", "Lenovo",
    "Marvell Technology Group Ltd.", "Advanced Micro Devices, Inc. [AMD]",
    "Advanced Micro Devices, Inc.", "AMD", "HGST, Inc.", "Phison Electronics Corporation",
    "Seagate Technology PLC", "Cisco Systems Inc", "IBM", "Kingston Technology Company, Inc.",
    "Silicon Motion, Inc.", "ASMedia Technology Inc.", "Huawei Technologies Co., Ltd.",
    "Inspur Electronic Information Industry Co., Ltd.", "Beijing Memblaze Technology Co. Ltd.",
    "Shenzhen Longsys Electronics Co., Ltd.", "Amazon.com, Inc.",
)  # fmt: skip


def claims(capture: Capture) -> bool:
    """True for what lspci prints."""
    return any(_HEAD.match(line) for line in capture.lines[:200])


def read(capture: Capture) -> Facts:
    """Controllers and NVMe drives with their links."""
    facts = Facts("lspci")
    for head, body in _devices(capture):
        if _STORAGE.search(head["class"]) is None or "switch" in head["device"].lower():
            continue
        if re.search(r"management endpoint", body, re.IGNORECASE):
            continue
        address = head["address"].lower()
        address = address if address.count(":") == 2 else f"0000:{address}"
        now = _link(re.search(r"LnkSta:\s*(.*)", body))
        most = _link(re.search(r"LnkCap:\s*(.*)", body))
        if now is None and "access denied" in body:
            facts.warn(
                "unreadable",
                f"{address}: capabilities were not readable (not run as root): link unknown",
            )
        node = re.search(r"NUMA node:\s*(\d+)", body)
        numa = int(node[1]) if node else None
        driver = re.search(r"Kernel driver in use:\s*(\S+)", body)
        device, system = _plain(head["device"]), _system(body)
        if _is_nvme(head):
            chip, cloud = _nvme_chip(device), "Amazon" in head["device"]
            facts.drives.append(
                Drive(
                    address=address, chip=chip, family=_family(chip, system), link=now,
                    link_possible=most, numa=numa,
                    virtual=True if cloud else None, interface=None if cloud else "nvme",
                    kind=None if cloud else "ssd",
                )
            )  # fmt: skip
            continue
        name = driver[1] if driver else None
        role = ROLES.get(name or "") or _by_class(head)
        facts.controllers.append(
            Controller(
                address=address, pci=address, model=_model(system, device, role), driver=name,
                chip=_chip(device), role=role, link=now, link_possible=most, numa=numa,
            )
        )  # fmt: skip
    return facts


def _devices(capture: Capture) -> Iterator[tuple[re.Match[str], str]]:
    head, body = None, list[str]()
    for line in capture.lines:
        match = _HEAD.match(line)
        if match is not None:
            if head is not None:
                yield head, "\n".join(body)
            head, body = match, []
        else:
            body.append(line)
    if head is not None:
        yield head, "\n".join(body)


def _is_nvme(head: re.Match[str]) -> bool:
    return head["code"] == "0108" or "non-volatile" in head["class"].lower()


def _by_class(head: re.Match[str]) -> str | None:
    """The role that a class alone leaves no doubt of."""
    text = head["class"].lower()
    if "sata" in text and "raid" not in text:
        return "ahci"
    return "ahci" if "[AHCI" in head["device"] else None


def _link(match: re.Match[str] | None) -> Link | None:
    if match is None:
        return None
    speed = re.search(r"Speed ([\d.]+ ?GT/s)", match[1])
    width = re.search(r"Width x(\d+)", match[1])
    if speed is None or width is None or width[1] == "0":
        return None
    return Link(pcie_generation(speed[1]), int(width[1]), speed[1])


def _plain(text: str) -> str:
    """A device without vendor, numbers, revision and interface."""
    text = re.sub(r"\s*\((rev|prog-if)[^)]*\)", "", text)
    text = re.sub(r"\s*\[[0-9a-f]{4}:[0-9a-f]{4}\]", "", text).strip()
    for vendor in sorted(_VENDORS, key=len, reverse=True):
        if text.lower().startswith(vendor.lower() + " "):
            return text[len(vendor) :].strip()
    return text


def _system(body: str) -> str | None:
    """The subsystem, or the board's name of the slot where the subsystem is a number or missing."""
    stated = {
        key: _plain(found[1])
        for key in ("Subsystem", "DeviceName")
        if (found := re.search(rf"^\s*{key}:\s*(.*)$", body, re.MULTILINE))
    }
    subsystem = stated.get("Subsystem")
    if subsystem is None or re.match(r"Device [0-9a-f]{4}\b", subsystem):
        return stated.get("DeviceName", subsystem)
    return subsystem


def _model(system: str | None, device: str, role: str | None) -> str | None:
    """The product by its subsystem; nothing where that is a number alone."""
    if system is None or role == "ahci" or re.match(r"Device [0-9a-f]{4}\b", system):
        return None
    return None if system == device and not re.search(r"\d", system) else system


def _chip(device: str) -> str:
    found = re.search(r"\bSAS-?\s?(\d{4}\w*)", device)
    return f"SAS{found[1]}" if found else re.sub(r"\s*\[[^\]]*\]", "", device).strip()


def _nvme_chip(device: str) -> str:
    text = re.sub(
        r"^(?:NVMe )?SSD Controller\s+", "", re.sub(r"^NVMe SSD Controller\s+", "", device)
    )
    return text.strip()


def _family(chip: str, system: str | None) -> str | None:
    """The product line that the subsystem names, in brackets or as its last word."""
    if system is None or re.match(r"Device [0-9a-f]{4}\b", system):
        return None
    bracket = re.search(r"\(([A-Z]+\w*\d\w*)\)", system)
    if bracket is not None:
        return bracket[1]
    names = [each for each in re.split(r"[/\s]+", chip) if re.search(r"\d", each)]
    words = system.split()
    for word in reversed(words):
        if word in names:
            return word
    last = [word for word in words if re.fullmatch(r"[A-Z]{1,3}\d{1,4}\w{0,3}|\d{4}", word)]
    return last[-1] if last else None
