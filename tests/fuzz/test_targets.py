"""Changed plans, states, traces and jobs in Rust, in one process: never a panic, hang or breach."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.fuzz.mutations import SECONDS, SEED, plans
from tests.project.sources import ROOT

MEMORY_KIB = 16 * 2**20
"""Address space; the tables of SSDs reserve much more than they use."""
INPUTS = {"plans": 600, "states": 600, "traces": 20_000, "jobs": 10_000}
"""Inputs in the test suite."""
LONGEST_S = 300 + SECONDS
"""Wall seconds, of a slow machine too."""
IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def program():
    """With the tests of Rust, which need it too: alone it would be compiled for a second time."""
    subprocess.run(["make", "--silent", "rust-tests"], cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "raidlab-fuzz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where inputs are written: in memory, where the system has files there."""
    above = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else tmp_path_factory.mktemp("fuzz")
    with tempfile.TemporaryDirectory(dir=above) as name:
        Path(name, "plans.jsonl").write_text("\n".join(plans()) + "\n", encoding="utf-8")
        yield name


@pytest.mark.parametrize("kind", INPUTS)
def test_changed_inputs_work_or_name_their_faults(kind, folder, program):
    end = f"{SECONDS:.0f}s" if SECONDS else str(INPUTS[kind])
    command = f'ulimit -v {MEMORY_KIB}; exec "{program}" {kind} {end} {SEED} "{folder}"'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=LONGEST_S)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)
