"""Faults that the engine finds in a plan."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from raidlab import scenarios
from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.engine_faults import plan_faults
from raidlab.scenarios.running.simulate import rows_of, simulate


def refused(plan):
    with pytest.raises(_engine.PlanError) as raised:
        _engine.run(json.dumps(plan))
    return plan_faults(raised.value)


def test_an_engine_that_does_not_know_a_value_says_what_to_do():
    array = {"name": "a", "level": "raid7", "stripe_unit_bytes": 65536, "drives": [0]}
    (fault,) = refused({"arrays": [array]})
    text = str(fault)
    assert "run make setup: the engine is of version" in text
    assert _engine.version() in text
    assert "unknown variant `raid7`" in text


def test_other_faults_keep_their_key():
    error = _engine.PlanError([("arrays.0", "a", "2 drives or more", "value")])
    (fault,) = plan_faults(error)
    assert (fault.key, fault.value, fault.allowed) == ("arrays.0", "a", "2 drives or more")


def small():
    array = {"drives": [{"model": "sas-6g-hdd", "count": 1}]}
    return build_scenario(
        {"array": [array], "workload": [{"rw": "randread", "block_size": "4 KiB"}]}
    )


def test_an_engine_whose_results_lack_a_key_says_what_to_do():
    with pytest.raises(SpecError, match=r"run make setup: the engine .* has no 'workloads'"):
        rows_of(small(), 0, 0, {})


def test_an_engine_that_stops_although_nobody_asked_is_no_interruption(monkeypatch):
    """One that calls `watch` in another form than this code has ends as if it were stopped."""

    def run(plan, watch):
        raise KeyboardInterrupt

    monkeypatch.setattr(_engine, "run", run)
    with pytest.raises(SpecError, match=r"run make setup: the engine is of version"):
        simulate(small(), workers=1)


def test_an_engine_that_lacks_a_name_is_refused_before_anything_is_begun(monkeypatch):
    monkeypatch.delattr(_engine, "synthesize_trace")
    with pytest.raises(ImportError, match=r"run make setup \(it has no synthesize_trace\)"):
        scenarios._check_engine()


def test_names_that_an_engine_must_have_are_those_of_its_interface():
    stub = ast.parse(Path(scenarios.__file__).with_name("_engine.pyi").read_text())
    kinds = (ast.ClassDef, ast.FunctionDef)
    assert {each.name for each in stub.body if isinstance(each, kinds)} == scenarios._OFFERS


def test_the_command_line_says_in_a_line_that_the_engine_is_not_built():
    code = """
import sys
sys.modules["raidlab.scenarios._engine"] = None
sys.argv = ["raidlab", "run", "s.toml"]
from raidlab.__main__ import main
main()
"""
    line = [sys.executable, "-c", code]
    found = subprocess.run(line, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith("error: the engine cannot be loaded: run make setup")
    assert len(found.stderr.splitlines()) == 1


_LARGE = """
import json, resource, sys
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario

plan = json.dumps(build_scenario(json.loads(sys.argv[1])).plan(0, 0))
limit = getattr(resource, sys.argv[2])
resource.setrlimit(limit, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    _engine.run(plan)
except _engine.PlanError as error:
    print(json.dumps(error.args[0]))
"""


@pytest.mark.parametrize(("limit", "gigabytes"), [("RLIMIT_AS", 8), ("RLIMIT_DATA", 8)])
def test_a_drive_whose_tables_take_more_addresses_than_there_are_is_refused(limit, gigabytes):
    """61.44 TB in units of 16 KiB: 3.75e9 units and the slots behind them, four bytes each."""
    system = {
        "array": [{"drives": [{"model": "p5336-61440"}]}],
        "workload": [{"rw": "randread", "block_size": "16 KiB"}],
        "run": {"warm_up": "1 ms", "duration": "1 ms"},
    }
    made = [sys.executable, "-c", _LARGE, json.dumps(system), limit, str(gigabytes * 10**9)]
    done = subprocess.run(made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ((key, value, allowed, _),) = json.loads(done.stdout)
    assert key == "address space"
    assert float(value.removesuffix(" GB")) > 15
    assert "ulimit -v" in allowed
    assert "the largest part is drive" in allowed
