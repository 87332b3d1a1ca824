"""The collector, `raidlab-collect`: where it is and how to run it."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from raidlab.devices.faults import Fault, SpecError

PROGRAM = "raidlab-collect"


def program() -> Path:
    """The program, which installing raidlab puts beside Python's own scripts.

    A virtual environment need not be activated, so that folder is looked at first.

    Raises:
        SpecError: It is not installed.
    """
    schemes = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"))
    for folder in schemes:
        candidate = Path(folder, PROGRAM)
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which(PROGRAM)
    if found is None:
        where = ", ".join(schemes)
        raise SpecError([Fault(PROGRAM, None, f"not found in {where}; install raidlab again")])
    return Path(found)


def collect(words: Sequence[str]) -> NoReturn:
    """Becomes the collector with these arguments.

    Raises:
        SpecError: It is not installed.
    """
    path = program()
    os.execv(path, [str(path), *words])
