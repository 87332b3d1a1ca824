"""Data sheets with something wrong in them: a device that works or faults, nothing else."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidlab.devices.catalogue import SPECS, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario

SHEETS = sorted(SPECS.rglob("*.toml"))
VALUE = re.compile(r'"[^"\n]*"|\b\d+(?:\.\d+)?\b|\btrue\b|\bfalse\b')

WRITTEN = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.sampled_from(
        ["0", "1", "-1", "1e309", "nan", "inf", "true", "[]", "{}", '""', "1979-05-27"]
    ),
    st.sampled_from(['"0 B"', '"1 ms"', '"-1 ms"', '"1e15 s"', '"9 EB"', '"sas-6g"', '"{x}"']),
    st.text(max_size=6).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


@st.composite
def mutated(draw):
    """A data sheet of the catalogue with up to three values or lines changed."""
    path = draw(st.sampled_from(SHEETS))
    text = path.read_text(encoding="utf-8")
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            places = [match.span() for match in VALUE.finditer(text)]
            start, end = draw(st.sampled_from(places))
            text = text[:start] + draw(WRITTEN) + text[end:]
        else:
            lines = text.splitlines()
            at = draw(st.integers(0, len(lines) - 1))
            # Left out, twice, or moved to the end, where it lands in another table.
            line = lines.pop(at)
            lines += draw(st.sampled_from([[], [line], [line, line]]))
            text = "\n".join(lines) + "\n"
            if not VALUE.search(text):
                break
    return path, text


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sheet=mutated())
def test_a_mutated_data_sheet_is_a_device_or_a_list_of_faults(tmp_path, sheet):
    original, text = sheet
    path = tmp_path / original.name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        device = load_device(path)
        if isinstance(device.spec, DriveSpec):
            run(path)
    except SpecError as error:
        assert error.faults
        assert str(error)


def run(path):
    """What the checks let pass, the engine takes."""
    tree = {
        "array": [{"drives": [{"model": str(path)}]}],
        "workload": [{"rw": "randrw", "block_size": "512 B", "outstanding": 4}],
        "run": {"warm_up": "0 s", "duration": "10 ms", "max_ios": 50},
    }
    plan = build_scenario(tree).plan(0, 0)
    if plan["drives"] and plan["devices"][0].get("capacity_bytes", 0) < 2**44:
        try:
            _engine.run(json.dumps(plan))
        except _engine.PlanError as error:
            # The native models check once more and name what they find.
            for key, _, allowed, _ in error.args[0]:
                assert key.startswith("devices.0")
                assert allowed


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_every_drive_of_the_catalogue_runs(path):
    if isinstance(load_device(path).spec, DriveSpec):
        run(path)
