"""Files that are written whole or not at all.

What is to be written goes to a new file beside the one that it replaces: its name cannot be
guessed, it is made exclusively and no link is followed, so nobody can put another file in its way.
It has mode and owner of what it replaces, is on the disk before it takes that one's name, and is
taken away if anything fails. A name that is a link stays one: the file that it names is replaced.
"""

from __future__ import annotations

import difflib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import reason

_ODD = "backslashreplace"
"""How what is no Unicode, such as parts of some file names, is written."""


def unwritable(path: Path, why: str | None) -> SpecError:
    """That a file cannot be written, and why."""
    return SpecError([Fault("", None, f"cannot be written: {why}", (), str(path))])


def why_unwritable(path: Path) -> str | None:
    """Why a file could not be written whole, if that shows before there is anything to write."""
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            # A loop of links is no file that does not exist yet.
            path.stat()
        if dangling := next((each for each in path.absolute().parents if _dangles(each)), None):
            return f"{dangling} is a link to nothing"
        if path.is_dir():
            return "it is a folder"
        if path.exists() and not os.access(path, os.W_OK):
            return "no permission"
        if path.exists() and not path.is_file():
            return None
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        if not folder.is_dir():
            return f"{folder} is no folder"
        # Permissions do not say all: the folder may be one of a file system that takes no files.
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return reason(error)


def _dangles(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def new_folders(paths: Iterable[Path]) -> list[str]:
    """What a user should know of folders that do not exist, and are made for files in them.

    One line for the first missing folder of each path, with the nearest that exists beside it.
    """
    missing = {
        folder: None
        for path in paths
        for folder in [*reversed(path.parents)]
        if not folder.exists() and folder.parent.exists()
    }
    return [f"the folder {folder} does not exist: it is made{_near(folder)}" for folder in missing]


def _near(folder: Path) -> str:
    with suppress(OSError):
        beside = [each.name for each in folder.parent.iterdir() if each.is_dir()]
        close = difflib.get_close_matches(folder.name, beside, n=1, cutoff=0.75)
        return f' (there is "{close[0]}")' if close else ""
    return ""


@dataclass(frozen=True)
class _New:
    """A new file that is to take the place of another."""

    path: Path
    """Of the file that it is to be."""
    beside: Path
    """Where it is meanwhile."""
    descriptor: int
    mode: int
    """Of the file that it replaces, or of any new file."""

    def publish(self) -> None:
        """Gives it owner and mode of what it replaces, and its name."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        # Opened again: another program may have put a file of its own there.
        descriptor = os.open(self.beside, flags)
        try:
            with suppress(FileNotFoundError, PermissionError):
                was = self.path.stat()
                # Only root may give files away.
                os.fchown(descriptor, was.st_uid if os.geteuid() == 0 else -1, was.st_gid)
            os.fchmod(descriptor, self.mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.beside.replace(self.path)
        _sync_folder(self.path.parent)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place when it has been written; makes its folder.

    Another program may write it, or put one of its own in its place.

    Raises:
        SpecError: It cannot be written.
    """
    try:
        with _beside(path) as new:
            os.close(new.descriptor)
            yield new.beside
            new.publish()
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all, making its folder.

    Raises:
        SpecError: It cannot be written.
    """
    write_files({path: text})


def write_files(texts: Mapping[Path, str | bytes]) -> None:
    """Writes several files: all are complete before the first one takes its place.

    Raises:
        SpecError: One cannot be written; then all files are as they were.
    """
    path = Path()
    try:
        with ExitStack() as stack:
            complete: list[_New] = []
            for path, text in texts.items():
                if path.exists() and not path.is_file():
                    # A device or a pipe takes what it is given.
                    path.write_bytes(_encoded(text))
                    continue
                new = stack.enter_context(_beside(path))
                with os.fdopen(new.descriptor, "wb") as file:
                    file.write(_encoded(text))
                complete.append(new)
            for new in complete:
                path = new.path
                new.publish()
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", errors=_ODD)


def partial_name(path: Path) -> Path:
    """Where a result that is not complete stands: beside the complete one, named so."""
    if path.exists() and not path.is_file():
        return path
    return path.with_name(f"{path.stem}.partial{path.suffix}")


@contextmanager
def _beside(path: Path) -> Iterator[_New]:
    """A new, empty file in the folder of `path`; taken away at the end if it is still there.

    Raises:
        SpecError: There is something at `path` that is no file.
    """
    if path.exists() and not path.is_file():
        raise unwritable(path, "it is no file")
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.resolve()
    replaced = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    beside = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o666 if replaced is None else 0o600)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode) if replaced is None else replaced
        yield _New(path, beside, descriptor, mode)
    finally:
        beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Sees to it that a new name is on the disk, where the file system knows of such a thing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
