"""Changed files of every kind: used or refused by name; never a traceback, a crash or a hang."""

from __future__ import annotations

import os
import resource
import shutil
import time
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.corpus import KINDS, REFUSED, Kind
from tests.fuzz.mutations import SECONDS, SEED, changed_bytes

FILES = 100
"""Inputs of each kind in the test suite."""
LONGEST_S = 20.0
"""Wall seconds that one input may take."""
MEMORY_KIB = 2 * 2**20
"""Resident memory that the inputs may take in all."""


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_file_is_used_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAIDLAB_STORE", str(tmp_path / "store.sqlite"))
    sound = tmp_path / "sound"
    sound.mkdir()
    files = [path.relative_to(sound) for path in KINDS[name].make(sound)]
    assert files
    shutil.copytree(sound, tmp_path / "changed")
    end = time.monotonic() + SECONDS / len(KINDS)
    only = os.environ.get("RAIDLAB_FUZZ_ONLY")
    number = 0
    while not only and (time.monotonic() < end if SECONDS else number < FILES):
        _try(KINDS[name], sound, files, number)
        number += 1
    if only:
        _try(KINDS[name], sound, files, int(only))
    print(f"{name}: {number} files")


def _try(kind: Kind, sound: Path, files: list[Path], number: int) -> None:
    """One input: it follows from the seed and its number alone."""
    draws = Random(f"{SEED}-{number}")
    file = draws.choice(files)
    target = sound.parent / "changed" / file
    target.write_bytes(changed_bytes((sound / file).read_bytes(), draws))
    begun = time.monotonic()
    try:
        kind.use(target)
    except REFUSED as error:
        assert str(error), f"input {number}: refused without a word"
    except Exception as error:
        raise AssertionError(f"input {number}: {target.name}") from error
    took = time.monotonic() - begun
    assert took < LONGEST_S, f"input {number}: {target.name}: {took:.0f} s"
    shutil.copy(sound / file, target)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resident < MEMORY_KIB, f"input {number}: {target.name}: {resident} KiB"
