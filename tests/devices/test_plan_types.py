"""The types of a plan are those that the engine itself states, and plans are of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from raidlab.devices import plan_types
from raidlab.devices.catalogue import catalogue
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario, load_scenario
from tests.project.sources import ROOT

MADE = ROOT / "devices" / "plan_types.py"
NAMED = ("use-title-as-name", "no-collapse-root-models", "no-use-closed-typed-dict")
HEADER = '"""A plan, as the engine takes it: made from its types by `make schema`."""'
SCHEMA = json.loads(_engine.plan_schema())
TREE = {
    "array": [{"name": "data", "level": "jbod", "drives": [{"model": "generic-sas-ssd"}]}],
    "workload": [{"target": "data", "rw": "randread", "block_size": "4 KiB", "outstanding": [4]}],
    "run": {"duration": "200 ms", "seed": 1},
}


def made_by(*called: str, of: str) -> str:
    """What a Python program makes of a text."""
    run = subprocess.run(
        [sys.executable, *called], input=of, cwd=ROOT, check=True, capture_output=True, text=True
    )
    return run.stdout


def test_the_types_are_those_that_make_schema_makes():
    pytest.importorskip("datamodel_code_generator")
    called = ["-m", "datamodel_code_generator", *(f"--{option}" for option in NAMED)]
    schema = made_by("tools/plan_bounds.py", "--types", of=_engine.plan_schema())
    made = made_by(*called, "--custom-file-header", HEADER, of=schema)
    assert made == MADE.read_text(), "the types are stale: make schema"


def test_the_bounds_are_those_that_make_schema_makes():
    made = made_by("tools/plan_bounds.py", of=_engine.plan_schema())
    bounds = (ROOT / "devices" / "plan_bounds.py").read_text()
    assert made == bounds, "the bounds are stale: make schema"


def test_a_plan_beyond_the_bounds_of_the_engine_is_none():
    jsonschema = pytest.importorskip("jsonschema")
    of_buffer = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/BufferParams"}
    validator = jsonschema.Draft202012Validator(of_buffer)
    buffer = {"segments": 4096, "segment_sectors": 1024, "read_ahead": {"policy": "none"}}
    validator.validate(buffer)
    for segments in (0, 4097):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**buffer, "segments": segments})


def test_variants_of_an_enum_are_named_by_their_tag():
    assert plan_types.ClosedArrival.__annotations__["kind"] == Literal["closed"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "scenarios" / "library").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_plan_of_a_scenario_is_as_the_schema_says(path):
    jsonschema = pytest.importorskip("jsonschema")
    plan = load_scenario(path).plan(0, 0)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(plan)))


def test_a_plan_with_another_key_is_refused():
    jsonschema = pytest.importorskip("jsonschema")
    plan = json.loads(json.dumps(build_scenario(TREE, Path("one.toml")).plan(0, 0)))
    plan["workloads"][0]["blok_bytes"] = plan["workloads"][0].pop("block_bytes")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(plan)


def test_every_drive_of_the_catalogue_is_as_the_schema_says():
    jsonschema = pytest.importorskip("jsonschema")
    of_device = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/DeviceParams"}
    validator = jsonschema.Draft202012Validator(of_device)
    for device in catalogue():
        if isinstance(device.spec, DriveSpec):
            validator.validate(json.loads(json.dumps(device.spec.to_plan(DriveOptions()))))
