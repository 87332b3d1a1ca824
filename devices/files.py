"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError


def unwritable(path: Path, why: str | None) -> SpecError:
    """That a file cannot be written, and why."""
    return SpecError([Fault("", None, f"cannot be written: {why}", (), str(path))])


def why_unwritable(path: Path) -> str | None:
    """Why a file could not be written whole, if that shows before there is anything to write."""
    try:
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
        return error.strerror


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place when it has been written; makes its folder.

    Raises:
        SpecError: It cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            raise unwritable(path, "it is no file")
        path.parent.mkdir(parents=True, exist_ok=True)
        # A full disk leaves what was there before.
        path = path.resolve()
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.touch()
            mode = beside.stat().st_mode
            yield beside
            # Another program may have put a file of its own there.
            beside.chmod(mode)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error.strerror) from None


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all, making its folder.

    Raises:
        SpecError: It cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
    except OSError as error:
        raise unwritable(path, error.strerror) from None
    with whole(path) as beside:
        beside.write_text(text, encoding="utf-8")
