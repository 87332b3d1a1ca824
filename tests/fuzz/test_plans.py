"""Mutated plans and traces in Rust: a result whose self-checks hold, or faults; never a panic."""

from __future__ import annotations

import subprocess

from tests.fuzz.mutations import SECONDS, SEED, plans
from tests.project.sources import ROOT

MEMORY_KIB = 16 * 2**20
"""Address space; the tables of SSDs reserve much more than they use."""
PLANS, TRACES = 5000, 40_000
"""Inputs in the test suite."""
LONGEST_S = 300 + SECONDS
"""Wall seconds, of a slow machine too."""


def test_mutated_plans_run_or_name_their_faults(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_text("\n".join(plans()) + "\n", encoding="utf-8")
    build = ["cargo", "build", "--quiet", "--package", "raidlab-engine", "--example", "fuzz_plans"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "debug" / "examples" / "fuzz_plans"
    command = f'ulimit -v {MEMORY_KIB}; exec "{program}" "{path}" {_end(PLANS)} {SEED}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=LONGEST_S)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)


def test_mutated_traces_are_read_or_name_their_faults(tmp_path):
    build = ["cargo", "build", "--quiet", "--package", "raidlab-traces", "--example", "fuzz_traces"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = ROOT / "target" / "debug" / "examples" / "fuzz_traces"
    command = [program, tmp_path / "changed.trace", _end(TRACES), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)


def _end(inputs):
    return f"{SECONDS:.0f}s" if SECONDS else str(inputs)
