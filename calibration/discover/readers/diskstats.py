"""/proc/diskstats: counters of load, which say nothing of what a machine consists of."""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Facts

SOURCE = "diskstats"
_LINE = re.compile(r"\s*\d+\s+\d+\s+\S+(?:\s+\d+){11,17}\s*")


def claims(capture: Capture) -> bool:
    """True for /proc/diskstats: major, minor, name and at least eleven counters on each line."""
    lines = [line for line in capture.lines if line.strip()]
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


def read(capture: Capture) -> Facts:
    """No facts: `raidlab import monitoring` reads such counters as a load."""
    return Facts(SOURCE)
