"""Mutated plans and traces in Rust: a result whose self-checks hold, or faults; never a panic."""

from __future__ import annotations

import subprocess

from tests.fuzz.mutations import SECONDS, SEED, plans
from tests.project.sources import ROOT

MEMORY_KIB = 16 * 2**20
"""Address space; the tables of SSDs reserve much more than they use."""


def test_mutated_plans_run_or_name_their_faults(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_text("\n".join(plans()) + "\n", encoding="utf-8")
    build = ["cargo", "build", "--quiet", "--package", "raidlab-engine", "--example", "fuzz_plans"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "debug" / "examples" / "fuzz_plans"
    command = f'ulimit -v {MEMORY_KIB}; exec "{program}" "{path}" {SECONDS:.0f} {SEED}'
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=SECONDS + 120
    )
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)


def test_mutated_traces_are_read_or_name_their_faults(tmp_path):
    build = ["cargo", "build", "--quiet", "--package", "raidlab-traces", "--example", "fuzz_traces"]
    subprocess.run(build, cwd=ROOT, check=True)
    # Reading is fast: in the test suite two seconds are thousands of inputs.
    seconds = SECONDS if SECONDS > 60 else 2
    program = ROOT / "target" / "debug" / "examples" / "fuzz_traces"
    command = [program, tmp_path / "changed.trace", f"{seconds:.0f}", str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)
