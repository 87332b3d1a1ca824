"""fio's command line, taken apart as fio itself does it.

Three kinds of options stand there: those of the program, those of a job, and those of an engine
of I/O. Job files are read after the whole line.

Source: `init.c`, `parse_cmd_line`, and `options.c` of fio 3.33; `fio --cmdhelp=all`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.fio.jobfile import ALIASES, Section

Argument = Literal["none", "optional", "required"]

PROGRAM: Mapping[str, Argument] = {
    "output": "required",
    "output-format": "required",
    "minimal": "none",
    "append-terse": "optional",
    "terse-version": "required",
    "bandwidth-log": "none",
    "readonly": "none",
    "eta": "required",
    "eta-interval": "required",
    "eta-newline": "required",
    "status-interval": "required",
    "debug": "required",
    "section": "required",
    "alloc-size": "required",
    "warnings-fatal": "none",
    "max-jobs": "required",
    "latency-log": "required",
}
"""Options of the program that hold for simulated runs too."""

LONE_OPTIONS: Mapping[str, Argument] = {
    "version": "none",
    "help": "none",
    "cmdhelp": "optional",
    "enghelp": "optional",
    "showcmd": "none",
    "parse-only": "none",
    "inflate-log": "required",
    "crctest": "optional",
    "memcpytest": "optional",
    "cpuclock-test": "none",
}
"""With one of them fio does no I/O: it is run as it is."""

LEFT_OUT: Mapping[str, str] = {
    "trigger-file": "no command is run when a file appears",
    "trigger-timeout": "no command is run; a job ends by its own limits",
    "trigger": "no command is run",
    "aux-path": "no file of fio's state is written",
}
"""Options with a value that would act on this machine: why they are left out."""

REFUSED: Mapping[str, tuple[Argument, str]] = {
    "merge-blktrace-only": ("none", "left out: fio itself merges traces, without a system"),
    "server-internal": ("required", "no other host's fio: the simulated system is here"),
    "server": ("optional", "no other host's fio: the simulated system is here"),
    "client": ("required", "no other host's fio: the simulated system is here"),
    "remote-config": ("required", "no other host's fio: the simulated system is here"),
    "trigger-remote": ("required", "no other host's fio: the simulated system is here"),
    "daemonize": ("required", "a run in the foreground: it ends soon enough"),
    "profile": ("required", "a job file: a profile makes its jobs inside fio, files and all"),
    "idle-prof": ("required", "no profile of this host's CPU: its time is not the simulated one"),
}
"""Options that no simulated system can serve: whether they take a value, what is allowed."""

FLAGS = frozenset(
    [
        "bs_unaligned",
        "blocksize_unaligned",
        "norandommap",
        "time_based",
        "verify_only",
        "exitall",
        "exitall_on_error",
        "stonewall",
        "wait_for_previous",
        "new_group",
        "thread",
        "group_reporting",
        "zero_buffers",
        "refill_buffers",
        "hipri",
        "fixedbufs",
        "registerfiles",
        "sqthread_poll",
        "userspace_reap",
    ]
)
"""Options of jobs and engines that may stand without a value; with one only after `=`."""

_OF_HELP = re.compile(r"^\s*([\w-]+)\s*:", re.MULTILINE)


@dataclass
class CommandLine:
    """What stands on fio's command line."""

    program: list[str] = field(default_factory=list)
    """Options of the program, each one word."""
    alone: str | None = None
    """The option with which fio does no I/O, if there is one."""
    sections: list[Section] = field(default_factory=list)
    """`global` for options that stand before any `--name`, then the jobs."""
    files: list[str] = field(default_factory=list)
    """Job files; `-` is standard input."""
    left_out: list[str] = field(default_factory=list)
    """Options of the program that have no effect, each with the reason."""

    def value(self, name: str) -> str | None:
        """The last value of an option of the program."""
        return next(reversed(self.values(name)), None)

    def values(self, name: str) -> list[str]:
        """All values of an option of the program."""
        words = [word.lstrip("-").partition("=") for word in self.program]
        return [value for key, equals, value in words if key == name and equals]


def job_options(fio: str) -> frozenset[str]:
    """The names of the job options that an installed fio knows, other names included."""
    done = subprocess.run([fio, "--cmdhelp=all"], capture_output=True, text=True, check=False)
    return frozenset(_OF_HELP.findall(done.stdout)) | ALIASES.keys()


def split(words: Sequence[str], known: frozenset[str] = frozenset()) -> CommandLine:
    """Takes fio's command line apart.

    Args:
        words: The arguments, without the program's name.
        known: Names of job options: with them names may be cut short, as fio allows.

    Raises:
        SpecError: Options that no simulated system can serve.
    """
    found = CommandLine()
    sections = [Section("global")]
    faults: list[Fault] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.files += rest
            break
        if word == "-" or not word.startswith("-"):
            found.files.append(word)
            continue
        given, equals, text = word.lstrip("-").partition("=")
        name, takes = _known(given, known)
        value = text if equals else rest.pop(0) if takes == "required" and rest else None
        if name in REFUSED:
            faults.append(Fault(f"--{name}", value, REFUSED[name][1]))
        elif name in LEFT_OUT:
            found.left_out.append(f"--{name} left out: {LEFT_OUT[name]}")
        elif name in PROGRAM or name in LONE_OPTIONS:
            found.program.append(f"--{name}" if value is None else f"--{name}={value}")
            if name in LONE_OPTIONS:
                found.alone = found.alone or name
        elif name == "name":
            sections.append(Section(value or ""))
        else:
            sections[-1].options.append((name, value))
    if faults:
        raise SpecError(faults)
    found.sections = [section for section in sections if section.options or not section.is_global]
    return found


def words(sections: Sequence[Section]) -> list[str]:
    """Sections as they are on fio's command line."""
    found: list[str] = []
    for number, section in enumerate(sections):
        if number > 0 or not section.is_global:
            found.append(f"--name={section.name}")
        for key, value in section.options:
            found.append(f"--{key}" if value is None else f"--{key}={value}")
    return found


def _known(given: str, known: frozenset[str]) -> tuple[str, Argument]:
    """An option's whole name, and whether it takes a value."""
    refused = {name: takes for name, (takes, _) in REFUSED.items()}
    left_out: dict[str, Argument] = dict.fromkeys(LEFT_OUT, "required")
    of_program = {**PROGRAM, **LONE_OPTIONS, **left_out, **refused}
    name = given
    if given not in of_program and given not in known and given not in FLAGS:
        longer = [each for each in {*of_program, *known} if each.startswith(given)]
        name = longer[0] if len(longer) == 1 else given
    if name in of_program:
        return name, of_program[name]
    return name, "optional" if name in FLAGS else "required"
