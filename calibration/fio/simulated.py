"""fio's jobs, changed so that they run on a simulated system.

Only what the simulated system stands in for is changed: the file, the engine of I/O, threads
and clock. Everything else is the job's own. What is changed is said, what cannot be served is
refused by name.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from raidlab.calibration.fio.options import OptionError, is_buffered, size
from raidlab.calibration.fio.outputs import output_faults
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.fio import engines, options, values
from raidlab.scenarios.fio.jobfile import ALIASES, Section
from raidlab.scenarios.fio.option_table import OPTIONS, Handling
from raidlab.scenarios.fio.places import Target
from raidlab.scenarios.fio.reader import Findings
from raidlab.scenarios.fio.resolve import resolve

ARRAY_FILE = "/proc/self/fd/999"
"""Where the preloaded library shows the array to fio."""

FORCED = (
    ("filename", ARRAY_FILE),
    ("thread", "1"),
    ("clocksource", "clock_gettime"),
    ("disk_util", "0"),
)
"""What every job has instead of its own (`Handling.SILENT`)."""

_SYNCS = "fsync", "fdatasync", "sync_file_range"
"""Options that let a job flush between its I/Os."""

_FLUSHES_OF_LIBAIO = (
    "with libaio fio counts a flush's latency from an earlier I/O, as on a real device;"
    " raidlab fio --native has its own"
)
"""Said of jobs whose flushes run through libaio."""

_OF_OFFSETS = "offset", "offset_increment", "offset_align", "fileoffset"
"""Options that say where a job begins in its file."""

_SECTOR = 512
"""Bytes of which all direct I/O is a multiple."""

_BLOCKS = "bs", "bsrange", "bssplit", "ba"
"""Options that name sizes of blocks."""

_PLACES = "offset", "offset_increment", "offset_align", "zonesize", "zoneskip", "rw"
"""Options that say where an I/O begins: fio adds them to places of blocks."""

_OF_BLOCKS = re.compile(r"(?:^|[,:-])([^,:/-]+)")
"""The sizes in `4k,8k`, `4k-64k` and `4k/10:64k/90`."""


def _refuse(found: Findings, section: Section, key: str, value: str | None, allowed: str) -> None:
    found.once(Fault(f"[{section.name}] {key}", value, allowed, (), found.file))


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
    sections = list(sections)
    inherited = Section("global")
    changed: list[Section] = []
    found = Findings(file)
    for section in sections:
        whole = Section(section.name, [*inherited.options, *section.options])
        _check(section, found, whole)
        if section.is_global:
            inherited = whole
            changed.append(Section(section.name, _kept(section, found)))
            continue
        changed.append(_job(section, whole, found, size_bytes))
    if size_bytes is not None and not found.found:
        changed = _laid(sections, changed, found, size_bytes)
    if not any(not section.is_global for section in changed):
        allowed = "at least one: a job file, or --name=NAME and options of fio"
        found.found.append(Fault("job", None, allowed, (), file))
    found.raise_if_any()
    return changed, list(found.lines())


def _laid(
    sections: Sequence[Section], changed: Sequence[Section], found: Findings, size_bytes: int
) -> list[Section]:
    """The jobs with their own files one behind the other on the array, as `--native` has them.

    A job without `filename`, or with one of a file, has a file for each clone. Jobs that `--native`
    does not run stay as they are.
    """
    target = Target(0, size_bytes)
    try:
        threads = resolve(sections, found.file, {"": target}, "").threads
    except SpecError:
        return list(changed)
    laid, number = [], 0
    for section in changed:
        if section.is_global:
            laid.append(section)
            continue
        own = [thread["files"] for thread in threads if thread["load"] == number]
        number += 1
        begins = [files[0]["start_bytes"] + files[0]["offset_bytes"] for files in own]
        moved = any(files[0]["start_bytes"] for files in own) and all(len(f) == 1 for f in own)
        steps = {after - before for before, after in pairwise(begins)}
        if not moved or len(steps) > 1 or min(steps, default=0) < 0:
            laid.append(section)
            continue
        kept = [each for each in section.options if each[0] not in _OF_OFFSETS]
        kept.append(("offset", str(begins[0])))
        kept.append(("offset_increment", str(min(steps, default=0))))
        laid.append(Section(section.name, kept))
        found.note(section.name, "its files lie behind those of other jobs on the array")
    return laid


def _kept(section: Section, found: Findings) -> list[tuple[str, str | None]]:
    """The options of a section that fio gets, without what the system stands in for."""
    kept: list[tuple[str, str | None]] = []
    replaced = sorted({key for key, _ in section.options if _handling(key) is Handling.REPLACED})
    if replaced:
        found.note(section.name, f"{', '.join(replaced)}: the simulated array stands in")
    left_out: dict[str, dict[str, None]] = {}
    for key, value in section.options:
        name = ALIASES.get(key, key)
        match _handling(key):
            case Handling.IDLE:
                if _is_on(name, value):
                    left_out.setdefault(OPTIONS[name].why_bridge, {})[name] = None
            case Handling.NOTED:
                found.note(section.name, f"{name} has no effect: {OPTIONS[name].why_bridge}")
                kept.append((key, value))
            case Handling.REPLACED | Handling.SILENT:
                pass
            case Handling.APPLIED | Handling.REFUSED | Handling.FOREIGN:
                kept.append((key, value))
    for why, names in left_out.items():
        found.note(section.name, f"{', '.join(names)} left out: {why}")
    return kept


def _handling(key: str) -> Handling:
    """What becomes of an option; one that no table has is left to fio."""
    option = OPTIONS.get(ALIASES.get(key, key))
    return Handling.APPLIED if option is None else option.bridge


def _is_on(name: str, value: str | None) -> bool:
    """True if an option without effect asks for something."""
    return name in options.OF_THIS_MACHINE or value not in options.OFF


def _job(section: Section, whole: Section, found: Findings, size_bytes: int | None) -> Section:
    """A job as it runs; `whole` has the global options too."""
    kept = _kept(section, found)
    asked = whole.get("ioengine") or "psync"
    engine = engines.SIMULATED_AS.get(engines.name_of(asked))
    if engine is None:
        _refuse_engine(section, asked, found)
        engine = ""
    elif any(whole.get(key) not in (None, "0") for key in _SYNCS):
        engine = engines.flushing(engines.name_of(asked), whole.get("iodepth"))
        if engine == "libaio":
            found.note(section.name, _FLUSHES_OF_LIBAIO)
    if engine and engine != asked:
        found.note(section.name, f"{asked} is simulated as {engine}")
    if size_bytes is not None:
        _refuse_beyond(whole, size_bytes, found)
    if is_buffered({key: "1" if value is None else value for key, value in whole.options}):
        found.note(section.name, "no page cache is here, I/O is as with direct=1")
    if whole.get("read_iolog"):
        kept.append(("replay_redirect", ARRAY_FILE))
    if needs_content(whole):
        # fio would write a file of what it has verified.
        kept.append(("verify_state_save", "0"))
    for fault in output_faults(whole, found.file):
        found.once(fault)
    return Section(section.name, [*kept, ("ioengine", engine), *FORCED])


def _refuse_engine(section: Section, asked: str, found: Findings) -> None:
    why = engines.REFUSED.get(engines.name_of(asked), "is not an engine that is simulated")
    _refuse(found, section, "ioengine", asked, f"{engines.simulated()}; {asked} {why}")


def _check(section: Section, found: Findings, whole: Section) -> None:
    """Values that cannot be; `whole` has the options before the section too."""
    base = _kb_base(whole)
    for key, value in section.options:
        name = ALIASES.get(key, key)
        if _handling(key) is Handling.REFUSED and value not in options.OFF:
            _refuse(found, section, name, value, OPTIONS[name].why_bridge)
        if name in options.OF_THIS_MACHINE and value is not None:
            _check_value(section, name, value, found)
        if name == "zonemode" and value == "zbd":
            _refuse(found, section, name, value, "none or strided: no zoned device is simulated")
        if name in _BLOCKS and any(each % _SECTOR for each in _sizes(value or "", base)):
            _refuse(found, section, key, value, f"multiples of {_SECTOR} B: I/O is direct")
        if name in _PLACES and _parts(name, value or "", base):
            _refuse(found, section, key, value, f"a multiple of {_SECTOR} B: I/O is direct")
        if name == "bs_unaligned" and value not in options.OFF:
            _refuse(found, section, key, value, f"left out: blocks are multiples of {_SECTOR} B")
        if name in values.TIMES and value is not None:
            _check_time(section, name, value, found)


def _check_value(section: Section, name: str, value: str, found: Findings) -> None:
    """The value of an option that fio does not see: it would look for it on this machine."""
    try:
        options.OF_THIS_MACHINE[name](values.expand(value))
    except values.OptionValueError as fault:
        _refuse(found, section, name, value, str(fault))


def _check_time(section: Section, name: str, value: str, found: Findings) -> None:
    """A fraction, of which fio itself says nothing: without a `runtime` a job may never end."""
    with contextlib.suppress(values.OptionValueError):
        # What is not set is fio's to refuse.
        value = values.expand(value)
    try:
        taken = values.cut(value, values.TIMES[name])
    except values.OptionValueError as fault:
        _refuse(found, section, name, value, str(fault))
        return
    if taken is not None:
        found.note(section.name, f"{name}: {taken}")


def _refuse_beyond(job: Section, size_bytes: int, found: Findings) -> None:
    """What fio would lay out anew, as with a file that is too short."""
    base = _kb_base(job)
    start = next(iter(_sizes(job.get("offset") or "0", base)), 0)
    for key, first in ("size", start), ("filesize", 0):
        text = job.get(key)
        if text is not None and any(first + each > size_bytes for each in _sizes(text, base)):
            beyond = f" after offset={job.get('offset')}" if first else ""
            allowed = f"at most {size_bytes - first} B{beyond}: the array has {size_bytes} B"
            _refuse(found, job, key, text, allowed)


def needs_content(section: Section) -> bool:
    """True if fio compares what it reads with what was written."""
    return section.get("verify") not in (None, "0", "none")


def _parts(name: str, text: str, kb_base: int) -> bool:
    """True if a place, or a step from one to the next, is no whole sector."""
    if name == "rw":
        text = text.partition(":")[2].lstrip("-") if not text.startswith("rand") else ""
    return any(each % _SECTOR for each in _sizes(text, kb_base))


def _kb_base(job: Section) -> int:
    return 1000 if job.get("kb_base") == "1000" else 1024


def _sizes(text: str, kb_base: int = 1024) -> list[int]:
    """The sizes of an option's value; those that only fio understands are left to it."""
    sizes = []
    for part in _OF_BLOCKS.findall(text):
        with contextlib.suppress(OptionError):
            sizes.append(size(part, kb_base))
    return sizes
