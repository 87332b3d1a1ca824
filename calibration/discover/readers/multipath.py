"""`multipath -ll`, new and old: LUNs and their paths. Paths look like drives and are none."""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Facts, Volume
from raidlab.calibration.discover.quantities import size
from raidlab.calibration.discover.readers.md import natural

_MAP = re.compile(
    r"^(?:\w+: )?(?P<name>\S+)(?: \((?P<wwid>[^)]+)\))?\s+(?P<dm>dm-\d+)\s+(?P<product>\S.*?)\s*$"
)
_OLD = re.compile(r"^(?P<name>\S+)\s*\((?P<wwid>[0-9a-f]{16,})\)\s*(?P<product>.*)$")
_PATH = re.compile(
    r"[\s|`\\_+-]*(?P<hctl>[\d#]+:[\d#]+:[\d#]+:[\d#]+)\s+(?P<device>\S+)\s+[\d#]+:[\d#]+\s*"
    r"(?P<state>.*)$"
)


def claims(capture: Capture) -> bool:
    """True for maps of multipath."""
    text = capture.text
    return bool(re.search(r"(?<![/\w])dm-\d+\s+\S+,", text)) and "size=" in text


def read(capture: Capture) -> Facts:
    """A volume for each map; its paths are hidden drives."""
    facts = Facts("multipath")
    hidden: set[str] = set()
    volume: Volume | None = None
    preferred = False
    for line in capture.lines:
        if (match := _MAP.match(line) or _OLD.match(line)) is not None:
            volume = Volume(match["name"], kind="multipath", product=match["product"].strip())
            volume.dm = match.groupdict().get("dm")
            volume.paths = volume.paths_active = volume.paths_preferred_active = 0
            facts.volumes.append(volume)
        elif volume is None:
            continue
        elif (stated := re.search(r"size=\s*([\d.,]+\s*[KMGTP]?)", line)) is not None:
            volume.bytes = size(stated[1])
            volume.read_only = "wp=ro" in line or "[ro]" in line
        elif (path := _PATH.match(line)) is not None:
            _take(volume, path, preferred=preferred)
            if path["device"] != "-":
                hidden.add(path["device"])
        elif "status=" in line or re.search(r"prio[= ]", line):
            policy = re.search(r"policy='(\S+)", line) or re.search(r"_\s+(\S+) \d+ \[", line)
            volume.policy = volume.policy or (policy[1] if policy else None)
            preferred = "status=active" in line or "[active]" in line
    facts.drives_hidden = sorted(hidden, key=natural)
    return facts


def _take(volume: Volume, path: re.Match[str], *, preferred: bool) -> None:
    words = re.split(r"[\s\[\]]+", path["state"].lower())
    active = "active" in words and not {"faulty", "failed", "offline", "shaky"} & {*words}
    volume.paths = (volume.paths or 0) + 1
    volume.paths_active = (volume.paths_active or 0) + active
    best = (volume.paths_preferred_active or 0) + (active and preferred)
    volume.paths_preferred_active = best
