"""Faults that the engine finds in a plan."""

import json

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.engine_faults import plan_faults
from raidlab.scenarios.running.simulate import rows_of


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
    error = _engine.PlanError([("arrays.0", "a", "2 drives or more")])
    (fault,) = plan_faults(error)
    assert (fault.key, fault.value, fault.allowed) == ("arrays.0", "a", "2 drives or more")


def test_an_engine_whose_results_lack_a_key_says_what_to_do():
    array = {"drives": [{"model": "sas-6g-hdd", "count": 1}]}
    scenario = build_scenario({"array": [array], "workload": [{"rw": "randread"}]})
    with pytest.raises(SpecError, match=r"run make setup: the engine .* has no 'workloads'"):
        rows_of(scenario, 0, 0, {})
