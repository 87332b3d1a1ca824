"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError


def make_folder(path: Path) -> None:
    """Makes the folder of a file that is to be written.

    Raises:
        SpecError: It cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> SpecError:
    return SpecError([Fault("", None, f"cannot be written: {error.strerror}", (), str(path))])


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all, making its folder.

    Raises:
        SpecError: It cannot be written.
    """
    make_folder(path)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        # A full disk leaves what was there before.
        path = path.resolve()
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None
