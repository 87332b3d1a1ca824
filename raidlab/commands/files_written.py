"""The one place that decides which files a command may write, before it does anything else.

An output may not take the place of a file that the command reads, whatever its name (a link, a
hard link, a file that a scenario names), nor that of another output. A file that is there already
is replaced if it is of the output's own kind, or with `--force`.

A command marks its parameters: `Reads` for what is read, `Writes` for what is written. `command`
of `common.py` gives what writes the option `--force`, and asks `deciding` before the command runs.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import typer.models

from raidlab.commands.file_kinds import FileKind, device_name, kind_of
from raidlab.commands.files_read import FilesRead, Identity, identity
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import new_folders, partial_name, unwritable, why_unwritable
from raidlab.scenarios.running.store import default_path

STANDARD_OUTPUT = Path("-")
"""What some options have for it."""


@dataclass(frozen=True)
class Reads:
    """Marks a parameter that names what the command reads."""

    separator: str = ""
    """Between names, where one text has several."""


@dataclass(frozen=True)
class Writes:
    """Marks a parameter that names what the command writes."""

    kind: FileKind
    inside: Mapping[str, FileKind] = field(default_factory=dict)
    """Of a folder: the files in it."""
    dash: bool = False
    """True if `-` stands for standard output."""
    later: bool = False
    """True if the command itself says which files it writes there, by `also_writes`."""


@dataclass(frozen=True)
class Port:
    """A marked parameter of a command."""

    name: str
    option: str
    """As the user writes it."""
    mark: Reads | Writes


def ports_of(hints: Mapping[str, object]) -> list[Port]:
    """The marked parameters, by the annotations of a command's function."""
    found = []
    for name, hint in hints.items():
        marks = [each for each in get_args(hint)[1:] if isinstance(each, Reads | Writes)]
        abouts = [each for each in get_args(hint)[1:] if isinstance(each, _ABOUT)]
        found += [Port(name, _option(name, about), mark) for mark in marks for about in abouts]
    return found


_ABOUT = (typer.models.ArgumentInfo, typer.models.OptionInfo)


def _option(name: str, about: typer.models.ParameterInfo) -> str:
    """As `--out`; of an argument its name in capitals, as the help has it."""
    if isinstance(about, typer.models.ArgumentInfo):
        return name.upper()
    # typer keeps the first name in Annotated as a default.
    names = [about.default, *(about.param_decls or ())]
    said = (each for each in names if isinstance(each, str) and each.startswith("--"))
    return next(said, f"--{name.replace('_', '-')}")


@dataclass
class Decision:
    """What a command reads and writes."""

    force: bool = False
    read: Sequence[tuple[str, str]] = ()
    """Option and name of everything that it reads."""
    written: dict[str, str] = field(default_factory=dict)
    """Option by the real path of everything that may be written."""
    _inputs: FilesRead | None = None

    def writes(self, option: str, path: Path, kind: FileKind) -> Iterator[Fault]:
        """Takes an output; the faults that forbid it."""
        why = why_unwritable(path)
        if why is not None:
            yield from unwritable(path, why).faults
            return
        real = os.path.realpath(path)
        other = self.written.get(real)
        if other is not None and not _is_special(path):
            yield Fault(option, str(path), f"another file: {other} is written there")
            return
        self.written[real] = option
        yield from self._replaces(option, path, kind)
        partial = partial_name(path)
        if partial != path and kind is not FileKind.STORE:
            yield from self._replaces(option, partial, kind)

    def _replaces(self, option: str, path: Path, kind: FileKind) -> Iterator[Fault]:
        """Faults of what is there already."""
        own = identity(path)
        if own is None:
            return
        if own == _standard_output():
            yield Fault(option, str(path), "another file: standard output is written there")
            return
        why = self.inputs.get(own)
        if why is not None and kind is not FileKind.STORE:
            yield Fault(option, str(path), f"another file: {why}")
            return
        try:
            fits = kind.fits(path)
        except OSError:
            fits = False
        if fits or (self.force and kind is not FileKind.STORE):
            return
        there = kind_of(path)
        what = "a file of another kind" if there is None else there.words
        allowed = f"a new file, or {kind.words} to replace; {path} is {what}"
        if kind is FileKind.TRACE:
            allowed = f"a new file: a trace may be the only copy of a recording, and {path} exists"
        if kind is not FileKind.STORE:
            allowed += " (--force replaces it)"
        yield Fault(option, str(path), allowed)

    @property
    def inputs(self) -> Mapping[Identity, str]:
        """Everything that the command reads, and why; found out when an output is there already."""
        if self._inputs is None:
            self._inputs = FilesRead()
            for option, name in self.read:
                with suppress(OSError, ValueError):
                    self._inputs.add(Path(name), f"{option} of this command reads it")
            self._inputs.add(default_path(), "finished runs are stored in it")
        return self._inputs.found


_DECISION: ContextVar[Decision | None] = ContextVar("decision", default=None)


@contextmanager
def deciding(
    ports: Iterable[Port],
    given: Mapping[str, object],
    say: Callable[[str], None],
    *,
    force: bool = False,
) -> Iterator[None]:
    """While a command runs: what it may write is decided, its new folders are announced.

    Args:
        ports: Its marked parameters.
        given: Its arguments by parameter.
        say: Prints a line for the user.
        force: True to replace files of other kinds.

    Raises:
        SpecError: Everything that forbids an output.
    """
    ports = list(ports)
    read = [
        (port.option, name)
        for port in ports
        if isinstance(port.mark, Reads)
        for name in _names(given.get(port.name), port.mark.separator)
    ]
    decision = Decision(force=force, read=read)
    outputs: list[tuple[str, Path, FileKind]] = []
    for port in ports:
        value = given.get(port.name)
        if isinstance(port.mark, Writes) and isinstance(value, Path) and not port.mark.later:
            if port.mark.dash and value == STANDARD_OUTPUT:
                continue
            inside = port.mark.inside
            found = {value / name: kind for name, kind in inside.items()} or {value: port.mark.kind}
            outputs += [(port.option, path, kind) for path, kind in found.items()]
    with decided(decision, outputs, say):
        yield


@contextmanager
def decided(
    decision: Decision, outputs: Iterable[tuple[str, Path, FileKind]], say: Callable[[str], None]
) -> Iterator[None]:
    """As `deciding`, for outputs that are known one by one: option, path and kind of each."""
    _take(decision, list(outputs), say)
    token = _DECISION.set(decision)
    try:
        yield
    finally:
        _DECISION.reset(token)


def also_writes(option: str, files: Mapping[Path, FileKind], say: Callable[[str], None]) -> None:
    """Decides on outputs whose names the command alone knows; called before its work.

    Raises:
        SpecError: Everything that forbids one.
    """
    decision = _DECISION.get()
    if decision is not None:
        _take(decision, [(option, path, kind) for path, kind in files.items()], say)


def _take(
    decision: Decision,
    outputs: Sequence[tuple[str, Path, FileKind]],
    say: Callable[[str], None],
) -> None:
    faults = [fault for each in outputs for fault in decision.writes(*each)]
    if faults:
        raise SpecError(faults)
    for note in new_folders(path for _, path, _ in outputs):
        say(f"note: {note}")


def own_device(option: str, path: Path | None, name: str, others: Collection[str] = ()) -> None:
    """Refuses to replace a device file by that of another device.

    Args:
        option: For the message.
        path: The file to write, if one is wanted.
        name: Of the device that will be written.
        others: Further names that it may have.

    Raises:
        SpecError: The file has another device.
    """
    decision = _DECISION.get()
    if path is None or decision is None or decision.force:
        return
    there = device_name(path)
    if there is not None and there != name and there not in others:
        allowed = f"a new file, or that of {name}; {path} has {there} (--force replaces it)"
        raise SpecError([Fault(option, str(path), allowed)])


def check_decided(paths: Iterable[Path]) -> None:
    """Asserts that what a command writes was decided on.

    Raises:
        AssertionError: The command has a parameter without `Writes`.
    """
    decision = _DECISION.get()
    if decision is None:
        return
    for path in paths:
        if os.path.realpath(path) not in decision.written:
            raise AssertionError(f"{path} is written, and nothing has decided that it may be")


def _names(value: Any, separator: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [name for each in value for name in _names(each, separator)]
    text = str(value)
    parts = [part.strip() for part in text.split(separator)] if separator else [text]
    # An option that was left out names nothing: as a path it would be the working folder.
    return [part for part in parts if part]


def _is_special(path: Path) -> bool:
    """A device or a pipe takes whatever it is given."""
    return path.exists() and not path.is_file()


def _standard_output() -> Identity | None:
    """The file that standard output goes to, if it is one."""
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(sys.stdout.fileno())
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
    return None
