"""Names of components: `data/s4610.3 SATA 6G` belongs to drive 3, an s4610, of the array `data`.

What all arrays share, such as a controller or a thread of the host, has a name without a slash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_DRIVE = re.compile(r"(?P<array>[^/]+)/(?P<model>[^ /]+)\.(?P<number>\d+)(?: (?P<part>.+))?")


@dataclass(frozen=True)
class DriveName:
    """The name of a drive, or of what a drive has of its own."""

    array: str
    """The array, or its SSD cache."""
    model: str
    number: int
    """Its place in the array, from 0."""
    part: str = ""
    """Its link, its firmware, its channels; empty for the drive itself."""

    def __str__(self) -> str:
        """The name as results have it."""
        return f"{self.array}/{self.in_array}"

    @property
    def in_array(self) -> str:
        """The name without the array: `s4610.3 SATA 6G`."""
        return f"{self.model}.{self.number}{self.part and ' '}{self.part}"


@lru_cache(maxsize=1 << 15)
def drive_name(component: str) -> DriveName | None:
    """The drive that a component belongs to; None for what drives share."""
    found = _DRIVE.fullmatch(component)
    if found is None:
        return None
    return DriveName(found["array"], found["model"], int(found["number"]), found["part"] or "")


def client_link(load: str) -> str:
    """The name of the link of a load's client."""
    return f"{load} client link"
