"""The files that fio itself writes on this machine: logs of a job, and its output.

A simulated run may write them and nothing else. What stands at their place must be a file that may
be replaced: a device would be written over.
"""

from __future__ import annotations

import glob
import stat
from collections.abc import Iterator
from pathlib import Path

from raidlab.devices.faults import Fault
from raidlab.scenarios.fio.jobfile import Section

_LOGS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")
_IOLOG = b"fio version "
"""How a log of I/Os begins."""
_SYSTEM = ("/dev", "/proc", "/sys")


def output_faults(job: Section, file: str) -> list[Fault]:
    """Logs of a job that would go where no log may be.

    Args:
        job: A job with its global options.
        file: Where it was read, for messages.
    """
    return [
        Fault(f"[{job.name}] {key}", job.get(key), allowed, (), file)
        for key, allowed in _wrong(job)
    ]


def why_no_output(path: Path) -> str | None:
    """Why fio may not write its output there: what is there is a device of this machine."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return "a file: a block device is there" if stat.S_ISBLK(mode) else None


def _wrong(job: Section) -> Iterator[tuple[str, str]]:
    for key in _LOGS:
        prefix = job.get(key)
        if prefix is None:
            continue
        prefix = job.name if prefix in ("", "1") else prefix
        folder = str(Path(prefix).parent.resolve())
        if folder.startswith(_SYSTEM):
            yield key, f"a prefix outside {', '.join(_SYSTEM)}"
            continue
        at = Path(prefix)
        beside = at.parent.glob(f"{glob.escape(at.name)}_*.log")
        odd = [path for path in beside if path.exists() and not path.is_file()]
        if odd:
            yield key, f"a prefix of files: {odd[0]} is none"
    iolog = job.get("write_iolog")
    if iolog is not None and not _is_iolog(Path(iolog)):
        yield "write_iolog", "a new file, or a log of I/Os of an earlier run"


def _is_iolog(path: Path) -> bool:
    """True if nothing is there, or a log of fio's."""
    try:
        if not path.exists():
            return not str(path.parent.resolve()).startswith(_SYSTEM)
        if not path.is_file():
            return False
        with path.open("rb") as text:
            start = text.read(len(_IOLOG))
    except OSError:
        return False
    return start in (b"", _IOLOG)
