"""A file that another command reads is named in one line, not key by key."""

import pytest

from raidlab.calibration.measurements.measurement import load_measurement
from raidlab.devices.catalogue import load_device
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.faults import SpecError
from raidlab.scenarios.capacity.question import load_question
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.spec.written import scenario_tree

SCENARIO = (
    '[[array]]\ndrives = [{ model = "generic-7200rpm" }]\n[[workload]]\nprofile = "database"\n'
)
QUESTION = 'goals = ["p99 < 20 ms"]\n[[load]]\n[[candidates]]\n'
DEVICE = 'kind = "station"\nname = "own"\n'

READERS = {
    "a scenario": (load_scenario, scenario_tree),
    "a question": (load_question,),
    "a device": (load_device,),
    "a data sheet": (read_sheet,),
}


@pytest.mark.parametrize(
    ("text", "kinds", "said"),
    [
        (SCENARIO, ["a scenario"], "is a scenario, which `raidlab run` simulates"),
        (QUESTION, ["a question"], "is a question, which `raidlab plan` answers"),
        (DEVICE, ["a device", "a data sheet"], "is a device or a data sheet, which `model`"),
    ],
)
def test_a_file_of_another_kind_is_one_fault(tmp_path, text, kinds, said):
    path = tmp_path / "own.toml"
    path.write_text(text)
    for wanted, readers in READERS.items():
        for reader in readers:
            if wanted in kinds:
                continue
            with pytest.raises(SpecError) as caught:
                reader(path)
            (fault,) = map(str, caught.value.faults)
            assert fault.startswith(f"{path}: {said}")
            assert f"; {wanted}, with " in fault


@pytest.mark.parametrize(
    ("name", "text", "reader", "said"),
    [
        ("own.fio", "[job]\nrw=read\n", load_scenario, "not TOML: these are jobs of fio, which"),
        ("own.json", "{}", load_scenario, "not TOML: its name says JSON"),
        ("own.toml", SCENARIO, load_measurement, "not JSON: its name says TOML"),
        ("own.md", "# Own\ntext\n", load_scenario, "not TOML: Expected"),
    ],
)
def test_a_file_of_another_form_is_called_by_it(tmp_path, name, text, reader, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        reader(path)
    (fault,) = map(str, caught.value.faults)
    assert said in fault
