"""`bcache-super-show`: the mode of a cache on flash, and how large it is.

Sectors are 512 B. Source: bcache-tools, bcache-super-show.c.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Facts, Volume, VolumeCache
from raidlab.calibration.discover.quantities import binary

_VALUE = re.compile(r"^(?P<key>[a-z]+\.[\w.]+)\s+(?P<value>.*)$", re.MULTILINE)
_SECTOR = 512


def claims(capture: Capture) -> bool:
    """True for a super block of bcache."""
    return re.search(r"^sb\.version\s+\d+ \[\w+ device\]", capture.text, re.MULTILINE) is not None


def read(capture: Capture) -> Facts:
    """A volume for each set of a cache and what lies behind it."""
    facts, found = Facts("bcache"), dict[str, VolumeCache]()
    for part in re.split(r"(?m)^(?=sb\.magic)", capture.text):
        have = {match["key"]: match["value"].strip() for match in _VALUE.finditer(part)}
        if "sb.version" not in have:
            continue
        # The super block of a backing device without a cache names no set.
        name = have.get("cset.uuid") or have.get("dev.uuid", "")
        cache = found.setdefault(name, VolumeCache(None, None, None))
        mode = re.search(r"\[(\w+)\]", have.get("dev.data.cache_mode", ""))
        if mode is not None:
            cache.mode = mode[1]
        if (sectors := have.get("dev.cache.cache_sectors", "")).isdigit():
            cache.bytes = int(sectors) * _SECTOR
            bucket = have.get("dev.sectors_per_bucket", "")
            cache.chunk = binary(int(bucket) * _SECTOR) if bucket.isdigit() else None
    facts.volumes = [Volume(name, kind="bcache", cache=cache) for name, cache in found.items()]
    return facts
