"""JSON Schema of files: what it says of a key, and that it takes and refuses what the checks do."""

import copy
import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from raidlab.devices.spec_writer import DEVICE_SCHEMA, SHEET_SCHEMA, with_schema
from raidlab.scenarios.files.json_schema import json_schema, schema_text
from raidlab.scenarios.files.kinds import SchemaOf, kind_of
from tests.project.sources import ROOT

SCHEMAS = ROOT / "scenarios" / "schemas"
FILES = {
    SchemaOf.DEVICE: DEVICE_SCHEMA,
    SchemaOf.SHEET: SHEET_SCHEMA,
    SchemaOf.SCENARIO: SCHEMAS / "scenario.json",
    SchemaOf.QUESTION: SCHEMAS / "question.json",
}
PATTERNS = ("devices/specs/*.toml", "devices/datasheets/*.toml", "scenarios/library/*.toml")


def library():
    called = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS]
    found = subprocess.run(called, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in found.stdout.split()]


@pytest.fixture(scope="module")
def validators():
    # What has its own packages only, such as a wheel that is tried, has no validator.
    jsonschema = pytest.importorskip("jsonschema")
    return {of: jsonschema.Draft7Validator(json_schema(of)) for of in SchemaOf}


def test_a_quantity_says_its_unit_its_bounds_and_its_default():
    """By hand: `stripe_unit: Size = 64 * 1024`, `used: Size | None, gt=0`."""
    keys = json_schema(SchemaOf.SCENARIO)["definitions"]["ArrayTable"]["properties"]
    unit = keys["stripe_unit"]
    assert unit["type"] == "string"
    assert unit["default"] == "64 KiB"
    assert 'A size such as "64 KiB" (units: B, kB, MB' in unit["description"]
    assert keys["used"]["description"].startswith("What the array uses of each drive")
    assert keys["used"]["description"].endswith("More than 0 KiB.")
    assert "default" not in keys["used"]
    number, text = keys["rebuild_rate"]["anyOf"]
    assert number == {"type": "number", "minimum": 0, "maximum": 1}
    assert text["type"] == "string"
    assert keys["rebuild_rate"]["default"] == 0.3


def test_the_files_beside_the_library_are_those_of_the_tables():
    """`make schema` makes them."""
    stale = [str(file) for of, file in FILES.items() if file.read_text() != schema_text(of)]
    assert stale == []


def test_a_table_is_a_line_of_the_text():
    text = schema_text(SchemaOf.SHEET)
    assert json.loads(text) == json_schema(SchemaOf.SHEET)
    assert sum(line.startswith('  "Sheet": {') for line in text.splitlines()) == 1


def test_every_file_of_the_library_names_its_schema():
    for path in library():
        first, _, rest = path.read_text().partition("\n")
        named = (path.parent / first.removeprefix("#:schema ")).resolve()
        assert named == FILES[SchemaOf(kind_of(path))].resolve(), path
        assert with_schema(rest, path, named) == path.read_text()


def test_it_takes_every_file_of_the_library(validators):
    for path in library():
        tree = tomllib.loads(path.read_text())
        found = [each.message for each in validators[SchemaOf(kind_of(path))].iter_errors(tree)]
        assert found == [], path


SCENARIO = """
[[array]]
level = "raid5"
drives = [{ model = "generic-7200rpm", count = 4 }]
file_system = "ext4"

[[workload]]
rw = "randrw"
block_size = "4 KiB"
outstanding = [1, 8]
goal = "p99 < 20 ms"

[run]
warm_up = "auto"
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("array", 0, "levle"), "raid5"),
        (("array", 0, "level"), "raid7"),
        (("array", 0, "drives"), []),
        (("array", 0, "drives", 0, "count"), 0),
        (("array", 0, "stripe_unit"), 65536),
        (("array", 0, "stripe_unit"), "64 kib"),
        (("array", 0, "rebuild_rate"), 1.5),
        (("array", 0, "file_system"), "zfs"),
        (("workload", 0, "outstanding"), "all"),
        (("workload", 0, "outstanding"), [0]),
        (("workload", 0, "area"), "half"),
        (("workload", 0, "limit"), "5000 ops"),
        (("run", "warm_up"), "automatic"),
        (("run", "replications"), "3"),
    ],
)
def test_it_refuses_what_the_checks_refuse(validators, path, value):
    tree = tomllib.loads(SCENARIO)
    validator = validators[SchemaOf.SCENARIO]
    assert validator.is_valid(tree)
    wrong = copy.deepcopy(tree)
    at = wrong
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    assert not validator.is_valid(wrong)


def test_a_device_that_is_like_another_states_what_differs(validators):
    device = validators[SchemaOf.DEVICE]
    assert device.is_valid({"kind": "hdd", "name": "x", "like": "generic-7200rpm"})
    assert not device.is_valid({"kind": "hdd", "name": "x"})
    assert not device.is_valid({"kind": "hdd", "name": "x", "like": "y", "sped": "9 rpm"})


def test_a_number_may_stand_beside_its_source(validators):
    station = {"kind": "station", "name": "x", "capacity": "1 TB"}
    sourced = {"value": "5 ms", "source": "assumed", "note": "by hand"}
    assert validators[SchemaOf.DEVICE].is_valid(station | {"service": sourced})
    assert not validators[SchemaOf.DEVICE].is_valid(station | {"service": {"value": "5 ms"}})


@pytest.mark.parametrize("kind", SchemaOf)
def test_the_command_prints_it(raidlab, kind):
    done = raidlab("schema", kind)
    assert (done.returncode, done.stdout) == (0, schema_text(kind))


def test_a_kind_that_has_none_is_refused(raidlab):
    done = raidlab("schema", "jobs")
    assert done.returncode == 2
    assert "scenario" in done.stderr


def test_python_has_it_without_a_command():
    assert json_schema(SchemaOf.QUESTION)["$schema"].startswith("http://json-schema.org/")
    assert Path(FILES[SchemaOf.QUESTION]).is_file()
