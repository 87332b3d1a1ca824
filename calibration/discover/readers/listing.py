"""A list of the files of a sosreport or another captured folder: which reader would take which.

In names of sosreports `/` of a command became `.` and blanks became `_`.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Facts

_ROOT = re.compile(r"^(?:\./)?(?:[^/\s]*(?:sosreport|sos-)[^/\s]*/)?")
_SINGLE = {
    "mdstat": r"(^|/)proc/mdstat$",
    "diskstats": r"(^|/)proc/diskstats$",
    "cpuinfo": r"(^|/)proc/cpuinfo$",
    "meminfo": r"(^|/)proc/meminfo$",
    "hostname": r"(^|/)hostname$",
    "uname": r"(^|/)uname(_-a)?$",
}
_STORAGE = re.compile(r"sys/|sos_commands/(ata|block|devices|lvm2|md|multipath|nvme|scsi|vdo)/")
_COMMANDS = {
    "lsblk": r"^lsblk(_|$)",
    "mdadm": r"^mdadm_(-D|--detail|-E|--examine)",
    "lvs": r"^lvs(_|$)",
    "lspci": r"^lspci(_|$)",
    "lscpu": r"^lscpu(_|$)",
    "nvme": r"^nvme_(list|id-ctrl|smart-log)",
    "smartctl": r"^smartctl_",
    "megacli": r"megacli",
    "storcli": r"storcli",
    "perccli": r"perccli",
    "ssacli": r"(ssacli|hpssacli|hpacucli)",
    "arcconf": r"arcconf",
    "sas3ircu": r"sas[23]ircu",
    "hdparm": r"^hdparm_(-I_)?",
    "dmidecode": r"^dmidecode",
    "lshw": r"^lshw(_|$)",
    "lsscsi": r"^(lsscsi(_|$)|proc\.scsi\.scsi)",
    "multipath": r"^multipath_(-v\d_)?-ll",
    "sar": r"^(sar\d\d|sa\d\d\.xml|sadf_)",
}


def claims(capture: Capture) -> bool:
    """True for a list of paths."""
    lines = [line for line in capture.lines if line.strip()]
    paths = [
        line for line in lines if re.match(r"^(\./)?[\w.@+-]+(/[^/]+)+( -> .*)?$", line.strip())
    ]
    return len(lines) > 3 and len(paths) == len(lines)


def read(capture: Capture) -> Facts:
    """Files by reader, and those that no reader takes."""
    facts = Facts("sos")
    for line in capture.lines:
        path = _ROOT.sub("", line.strip().split(" -> ")[0])
        if not path:
            continue
        reader = reader_of(path)
        if reader is None and _STORAGE.match(path):
            facts.warn("no-reader", f"{path}: about storage, but no reader takes it")
        elif reader is None:
            facts.ignored.append(path)
        elif reader in _SINGLE:
            facts.reads[reader] = path
        else:
            listed = facts.reads.setdefault(reader, [])
            if isinstance(listed, list):
                listed.append(path)
        if re.search(r"(^|/)var/log/(sa|sysstat)/sa\d\d$", path):
            facts.warn("binary", f"{path} is binary: turn it into text with `sadf -j {path}`")
    return facts


def reader_of(path: str) -> str | None:
    """The reader that takes a file by its name; None if none does."""
    for reader, pattern in _SINGLE.items():
        if re.search(pattern, path):
            return reader
    name = path.rpartition("/")[2]
    if "/" in path and path.startswith("var/log/"):
        return None
    return next(
        (each for each, pattern in _COMMANDS.items() if re.search(pattern, name, re.I)), None
    )
