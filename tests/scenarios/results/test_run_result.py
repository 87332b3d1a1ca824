"""The types of what the engine gives are those that the engine itself states."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from tests.project.sources import ROOT

MADE = ROOT / "scenarios" / "spec" / "run_result.py"
TREE = {
    "array": [
        {
            "name": "data",
            "level": "raid5",
            "software_raid": "os",
            "drives": [{"model": "generic-sas-ssd", "count": 3}],
        }
    ],
    "workload": [
        {"name": "db", "target": "data", "rw": "randrw", "block_size": "4 KiB", "outstanding": [4]}
    ],
    "run": {"duration": "200 ms", "seed": 1},
}


def test_the_types_are_those_that_make_schema_makes(tmp_path):
    pytest.importorskip("datamodel_code_generator")
    schema, made = tmp_path / "result.json", tmp_path / "run_result.py"
    schema.write_text(_engine.result_schema())
    called = ["-m", "datamodel_code_generator", "--input", str(schema), "--output", str(made)]
    subprocess.run([sys.executable, *called], cwd=ROOT, check=True)
    assert made.read_text() == MADE.read_text(), "the types are stale: make schema"


def test_a_run_is_as_its_schema_says():
    """Each key of each object is one of the schema's, and each that must be there is."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(_engine.result_schema())
    for each in (schema, *schema["$defs"].values()):
        each["additionalProperties"] = False
    plan = build_scenario(TREE, Path("parity.toml")).plan(0, 0)
    found = json.loads(_engine.run(json.dumps(plan)))
    jsonschema.Draft202012Validator(schema).validate(found)
    found["workloads"][0]["iopps"] = found["workloads"][0].pop("iops")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(found)
