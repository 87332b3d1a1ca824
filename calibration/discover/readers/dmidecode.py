"""`dmidecode`: processors and memory as the firmware states them.

Sizes are powers of 1,024. Source: System Management BIOS Reference Specification (DMTF DSP0134),
structures 1, 4 and 17.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, Pairs, pairs_of
from raidlab.calibration.discover.facts import Facts
from raidlab.calibration.discover.quantities import known_text, number, size, whole
from raidlab.calibration.discover.vendors import is_virtual

_HANDLE = re.compile(r"^Handle 0x[0-9A-Fa-f]+, DMI type (\d+), \d+ bytes\.?$", re.MULTILINE)
_SYSTEM, _PROCESSOR, _MEMORY = 1, 4, 17
_BRAND = re.compile(r"intel|amd|xeon|epyc|opteron|ampere|neoverse|power\d", re.IGNORECASE)


def claims(capture: Capture) -> bool:
    """True for structures of dmidecode."""
    return _HANDLE.search(capture.text) is not None


def read(capture: Capture) -> Facts:
    """Processors, memory and hypervisor of the host."""
    facts = Facts("dmidecode")
    host, parts = facts.host, _HANDLE.split(capture.text)
    blocks = [(int(sort), pairs_of(text.splitlines()))
              for sort, text in zip(parts[1::2], parts[2::2], strict=True)]  # fmt: skip
    cpus = [have for sort, have in blocks if sort == _PROCESSOR
            and "unpopulated" not in (have.find("Status") or "").lower()]  # fmt: skip
    host.sockets = len(cpus) or None
    host.cores, host.threads = _sum(cpus, "Core Count"), _sum(cpus, "Thread Count")
    brand = known_text(cpus[0].find("Version")) if cpus else None
    if brand and _BRAND.search(brand):
        host.cpu = brand
        host.clock_mhz = number(cpus[0].find("Current Speed") or "")
    modules = [size(have.find("Size")) for sort, have in blocks if sort == _MEMORY]
    host.memory_bytes = sum(each or 0 for each in modules) or None
    for sort, have in blocks:
        maker, product = have.find("Manufacturer"), have.find("Product Name")
        if sort == _SYSTEM and is_virtual(maker, product):
            host.hypervisor = maker
    return facts


def _sum(blocks: list[Pairs], key: str) -> int | None:
    counts = [whole(have.find(key)) for have in blocks]
    return None if None in counts else sum(each or 0 for each in counts) or None
