"""fio's job files, rewritten so that their jobs run on a simulated system.

Only what the simulated system stands in for is changed: the file, the engine of I/O, threads
and clock. Everything else is the job's own.

Source: fio's HOWTO, "Job file format"; behaviour of fio 3.33.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidlab.calibration.fio.options import OptionError, is_buffered, size
from raidlab.devices.faults import Fault, SpecError

ARRAY_FILE = "/proc/self/fd/999"
"""Where the preloaded library shows the array to fio."""

REPLACED = frozenset(
    [
        "filename",
        "directory",
        "filename_format",
        "opendir",
        "ioengine",
        "thread",
        "clocksource",
        "unlink",
        "create_serialize",
        "fallocate",
        "nrfiles",
        "openfiles",
        "file_service_type",
    ]
)
"""Options that name what the simulated system stands in for."""

FORCED = (
    ("filename", ARRAY_FILE),
    ("ioengine", "libaio"),
    ("thread", "1"),
    ("clocksource", "clock_gettime"),
)

SYNCHRONOUS = frozenset(
    [
        "sync",
        "psync",
        "vsync",
        "pvsync",
        "pvsync2",
        "mmap",
    ]
)
"""Engines of fio that have one I/O under way whatever `iodepth` says; psync is the default."""

UNSIMULATED: Mapping[str, str] = {
    "verify": "left out: no data are stored, so none can be verified",
    "do_verify": "left out: no data are stored, so none can be verified",
    "zonemode": "left out: no zoned device is simulated",
}

_SECTOR = 512
"""Bytes of which all direct I/O is a multiple."""

_BLOCKS = "bs", "blocksize", "bsrange", "blocksize_range", "bssplit", "ba", "blockalign"
"""Options that name sizes of blocks."""

_OF_BLOCKS = re.compile(r"(?:^|[,:-])([^,:/-]+)")
"""The sizes in `4k,8k`, `4k-64k` and `4k/10:64k/90`."""

RUN_OPTIONS = frozenset(
    [
        "output",
        "output-format",
        "eta",
        "eta-newline",
        "eta-interval",
        "status-interval",
        "readonly",
        "section",
        "terse-version",
        "minimal",
        "append-terse",
        "debug",
        "parse-only",
        "showcmd",
        "bandwidth-log",
        "max-jobs",
        "warnings-fatal",
        "aux-path",
        "alloc-size",
        "merge-blktrace-only",
    ]
)
"""Options of the program, not of a job."""


RUN_OPTIONS_WITH_VALUE = RUN_OPTIONS - {
    "append-terse",
    "bandwidth-log",
    "merge-blktrace-only",
    "minimal",
    "parse-only",
    "readonly",
    "showcmd",
    "warnings-fatal",
}
"""Of those, the ones whose value may also follow as the next word."""


@dataclass
class Section:
    """A section of a job file: a job, or `global` for the jobs that follow."""

    name: str
    options: list[tuple[str, str | None]] = field(default_factory=list)
    """In order; a flag without a value has None."""

    def get(self, name: str) -> str | None:
        """The last value of an option; `1` for a flag without one; None if it is not there."""
        for key, value in reversed(self.options):
            if key == name:
                return "1" if value is None else value
        return None


def parse(text: str, file: str = "", folder: Path | None = None) -> list[Section]:
    """The sections of a job file; `include` lines are followed.

    Raises:
        SpecError: A line that is no option and no section, or a file that cannot be read.
    """
    sections: list[Section] = []
    faults: list[Fault] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and "]" in line:
            sections.append(Section(line[1 : line.index("]")]))
        elif line.startswith("include "):
            path = (folder or Path()) / line.removeprefix("include ").strip()
            sections += read(path)
        elif not sections:
            faults.append(
                Fault(f"line {number}", line, "a section such as [global] first", (), file)
            )
        else:
            key, equals, value = line.partition("=")
            sections[-1].options.append((key.strip(), value.strip() if equals else None))
    if faults:
        raise SpecError(faults)
    return sections


def read(path: Path) -> list[Section]:
    """The sections of the job file at `path`.

    Raises:
        SpecError: It cannot be read, or is no job file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise SpecError([Fault("", None, f"cannot be read: {why}", (), str(path))]) from None
    return parse(text, str(path), path.parent)


def split_command_line(words: Sequence[str]) -> tuple[list[str], list[Path], list[Section]]:
    """Fio's arguments apart: options of the program, job files, jobs given by options.

    Options before the first `--name` count for all jobs given by options, as with fio.
    """
    program: list[str] = []
    files: list[Path] = []
    sections = [Section("global")]
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            files.append(Path(word))
            continue
        key, equals, value = word.lstrip("-").partition("=")
        if key in RUN_OPTIONS:
            apart = not equals and key in RUN_OPTIONS_WITH_VALUE and rest
            program.append(f"{word}={rest.pop(0)}" if apart else word)
        elif key == "name":
            sections.append(Section(value if equals else rest.pop(0) if rest else ""))
        else:
            sections[-1].options.append((key, value if equals else None))
    return program, files, sections if len(sections) > 1 else []


def simulate(
    sections: Iterable[Section], file: str = "", size_bytes: int | None = None
) -> tuple[list[Section], list[str]]:
    """The sections for a simulated system, and what was changed that a reader should know.

    Args:
        sections: As they were read.
        file: Where they were read, for messages.
        size_bytes: Of the array.

    Raises:
        SpecError: Options that no simulated system can serve.
    """
    inherited = Section("global")
    changed: list[Section] = []
    notes: list[str] = []
    buffered: list[str] = []
    faults: list[Fault] = []
    for section in sections:
        whole = Section(section.name, [*inherited.options, *section.options])
        _refuse(section, file, faults)
        remaining = [(key, value) for key, value in section.options if key not in REPLACED]
        if section.name == "global":
            inherited = whole
            changed.append(Section("global", remaining))
            continue
        if size_bytes is not None:
            _refuse_beyond(whole, size_bytes, file, faults)
        if is_buffered({key: "1" if value is None else value for key, value in whole.options}):
            buffered.append(f"[{section.name}]")
        engine = whole.get("ioengine") or "psync"
        if engine in SYNCHRONOUS and (whole.get("iodepth") or "1") != "1":
            remaining.append(("iodepth", "1"))
            notes.append(f"[{section.name}]: {engine} has one I/O under way: iodepth is 1")
        changed.append(Section(section.name, [*remaining, *FORCED]))
    if not any(section.name != "global" for section in changed):
        allowed = "at least one: a job file, or --name=NAME and options of fio"
        faults.append(Fault("job", None, allowed, (), file))
    if faults:
        raise SpecError(faults)
    if buffered:
        notes.append(f"{', '.join(buffered)}: no page cache is here, I/O is as with direct=1")
    return changed, notes


def _refuse(section: Section, file: str, faults: list[Fault]) -> None:
    for key, value in section.options:
        if key in UNSIMULATED and value not in ("0", "none"):
            faults.append(Fault(f"[{section.name}] {key}", value, UNSIMULATED[key], (), file))
        if key in ("rw", "readwrite") and "trim" in (value or ""):
            allowed = "reads and writes: fio trims block devices only"
            faults.append(Fault(f"[{section.name}] {key}", value, allowed, (), file))
        if key in _BLOCKS and any(each % _SECTOR for each in _sizes(value or "")):
            allowed = f"multiples of {_SECTOR} B: I/O is direct"
            faults.append(Fault(f"[{section.name}] {key}", value, allowed, (), file))


def _refuse_beyond(job: Section, size_bytes: int, file: str, faults: list[Fault]) -> None:
    """What fio would lay out anew, as with a file that is too short."""
    if job.get("kb_base") is not None:
        # Its units are others.
        return
    start = next(iter(_sizes(job.get("offset") or "0")), 0)
    for key, first in ("size", start), ("filesize", 0):
        text = job.get(key)
        if text is not None and any(first + each > size_bytes for each in _sizes(text)):
            beyond = f" after offset={job.get('offset')}" if first else ""
            allowed = f"at most {size_bytes - first} B{beyond}: the array has {size_bytes} B"
            faults.append(Fault(f"[{job.name}] {key}", text, allowed, (), file))


def _sizes(text: str) -> list[int]:
    """The sizes of an option's value; those that only fio understands are left to it."""
    found = []
    for part in _OF_BLOCKS.findall(text):
        with contextlib.suppress(OptionError):
            found.append(size(part))
    return found


def groups(sections: Iterable[Section]) -> list[int]:
    """How many jobs start at once, group after group; empty if it is unknown.

    Jobs wait for those before a `stonewall`. With them all there, jobs run in the same order in
    every run.
    """
    inherited: list[tuple[str, str | None]] = []
    sizes: list[int] = []
    for section in sections:
        whole = Section(section.name, [*inherited, *section.options])
        if section.name == "global":
            inherited = whole.options
            continue
        jobs = whole.get("numjobs") or "1"
        walls = whole.get("stonewall"), whole.get("wait_for_previous")
        known = jobs.isdigit() and int(jobs) > 0
        if not known or whole.get("wait_for") or whole.get("startdelay") or whole.get("delay"):
            return []
        # Of several jobs of one section, only the first waits at the wall.
        wall = any(value is not None and value != "0" for value in walls)
        if wall or not sizes:
            sizes.append(0)
        sizes[-1] += int(jobs)
    return sizes


def write(sections: Iterable[Section]) -> str:
    """A job file of these sections."""
    lines: list[str] = []
    for section in sections:
        lines.append(f"[{section.name}]")
        lines += [key if value is None else f"{key}={value}" for key, value in section.options]
    return "\n".join(lines) + "\n"
