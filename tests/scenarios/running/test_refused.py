"""Faults that the engine finds in a plan."""

import json

import pytest

from raidlab.scenarios import _engine
from raidlab.scenarios.running.refused import engine_faults


def refused(plan):
    with pytest.raises(_engine.PlanError) as raised:
        _engine.run(json.dumps(plan))
    return engine_faults(raised.value, "x.toml")


def test_an_engine_that_does_not_know_a_value_says_what_to_do():
    array = {"name": "a", "level": "raid7", "stripe_unit_bytes": 65536, "drives": [0]}
    (fault,) = refused({"arrays": [array]})
    text = str(fault)
    assert "run make setup: the engine is of version" in text
    assert _engine.version() in text
    assert "unknown variant `raid7`" in text
    assert fault.file == "x.toml"


def test_other_faults_keep_their_key():
    error = _engine.PlanError([("arrays.0", "a", "2 drives or more")])
    (fault,) = engine_faults(error)
    assert (fault.key, fault.value, fault.allowed) == ("arrays.0", "a", "2 drives or more")
