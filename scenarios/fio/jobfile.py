"""fio's job files: read into sections, and written again.

Source: fio's HOWTO, "Job file format"; `__parse_jobs_ini` of fio 3.33.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_text

ALIASES: Mapping[str, str] = {
    "readwrite": "rw",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "mem_align": "iomem_align",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "threads": "thread",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
}
"""Other names of job options."""


_COMMENT = re.compile("[#;]")


@dataclass
class Section:
    """A section of a job file: a job, or `global` for the jobs that follow."""

    name: str
    options: list[tuple[str, str | None]] = field(default_factory=list)
    """In order; a flag without a value has None."""
    where: list[str] = field(default_factory=list)
    """File and line of each option, where they are known."""

    def places(self, file: str) -> list[str]:
        """Where each option stands; in `file` where that is all that is known."""
        return self.where or [file] * len(self.options)

    def get(self, name: str) -> str | None:
        """The last value of an option; `1` for a flag without one; None if it is not there.

        Args:
            name: The option's first name; its other names count as well.
        """
        for key, value in reversed(self.options):
            if ALIASES.get(key, key) == name:
                return "1" if value is None else value
        return None

    @property
    def is_global(self) -> bool:
        """True for options of all jobs that follow."""
        return self.name.startswith("global")


def jobs_of(sections: Iterable[Section], file: str) -> Iterator[tuple[Section, Section]]:
    """Each job's section, behind what all global sections before it say; `file` is their file."""
    inherited = Section("global")
    for section in sections:
        if section.is_global:
            inherited = Section(
                "global",
                [*inherited.options, *section.options],
                [*inherited.places(file), *section.places(file)],
            )
        else:
            yield inherited, section


_INCLUDES = 16
"""Files that include one another, at most."""


def parse(text: str, file: str = "", folder: Path | None = None, depth: int = 0) -> list[Section]:
    """The sections of a job file; options of `include` files count where the line stands.

    Args:
        text: What the file holds.
        file: Its name, for messages.
        folder: Where files that it includes are looked for, after the present one.
        depth: How many files include it, one the other.

    Raises:
        SpecError: A line that is no option and no section, or a file that cannot be read.
    """
    sections: list[Section] = []
    faults: list[Fault] = []
    for number, raw in enumerate(text.splitlines(), 1):
        # fio drops comments wherever they begin, within a value too.
        line = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if line.startswith("[") and "]" in line:
            sections.append(Section(line[1 : line.rindex("]")]))
        elif not sections:
            allowed = "a section such as [global] first"
            faults.append(Fault(f"line {number}", line, allowed, (), file))
        elif line.startswith("include "):
            inside = _included(line.removeprefix("include ").strip(), folder, depth + 1)
            sections[-1].options += inside.options
            sections[-1].where += inside.where
        else:
            sections[-1].options.append(_option(line))
            sections[-1].where.append(f"{file}:{number - (depth > 0)}")
    if faults:
        raise SpecError(faults)
    return sections


def _option(line: str) -> tuple[str, str | None]:
    key, equals, value = line.partition("=")
    return key.strip(), value.strip() if equals else None


def _included(name: str, folder: Path | None, depth: int) -> Section:
    """The options of a file that a job file includes; fio looks here first, then beside it."""
    path = Path(name)
    if not path.exists() and folder is not None:
        path = folder / name
    if depth > _INCLUDES:
        raise SpecError([Fault("include", name, "files that do not include each other")])
    inside = parse(f"[included]\n{_text(path)}", str(path), path.parent, depth)
    if len(inside) > 1:
        allowed = "options only: fio knows no sections in included files"
        raise SpecError([Fault("section", inside[1].name, allowed, (), str(path))])
    return inside[0]


def read(name: str | Path) -> list[Section]:
    """The sections of a job file; `-` is standard input.

    Raises:
        SpecError: It cannot be read, or is no job file.
    """
    if str(name) == "-":
        return parse(sys.stdin.read(16 * MIB), "standard input")
    path = Path(name)
    return parse(_text(path), str(path), path.parent)


def _text(path: Path) -> str:
    return read_text(path, 16 * MIB, "job file")


def selected(sections: Sequence[Section], names: Sequence[str]) -> list[Section]:
    """The sections that fio runs with `--section=NAME`, once for each name; all without a name."""
    return [
        section for section in sections if not names or section.is_global or section.name in names
    ]


def unknown_sections(sections: Iterable[Section], names: Iterable[str]) -> list[Fault]:
    """Names of `--section` that no section has."""
    known = tuple(dict.fromkeys(each.name for each in sections if not each.is_global))
    allowed = f"one of {', '.join(known[:20])}" if known else "left out: there is no section"
    return [Fault("--section", name, allowed, known) for name in names if name not in known]


def write(sections: Iterable[Section]) -> str:
    """A job file of these sections."""
    lines: list[str] = []
    for section in sections:
        lines.append(f"[{section.name}]")
        lines += [key if value is None else f"{key}={value}" for key, value in section.options]
    return "\n".join(lines) + "\n"
