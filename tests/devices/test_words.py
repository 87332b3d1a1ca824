"""The table of words, row by row: what people call things leads to the right key or device."""

import re

import pytest

from raidlab.devices import words, words_of_keys
from raidlab.devices.catalogue import find
from raidlab.devices.faults import SpecError
from raidlab.devices.levels import LEVELS
from raidlab.devices.schema import DriveSpec, read_toml
from raidlab.scenarios.planning.scenario import build_scenario, load_scenario
from raidlab.scenarios.spec import schema

TABLES = {
    schema.ArrayTable: words.ARRAY_KEYS,
    schema.ControllerTable: words.CONTROLLER_KEYS,
    schema.DrivesTable: words.DRIVE_KEYS,
    schema.WorkloadTable: words.LOAD_KEYS,
    schema.ScenarioTable: words.SCENARIO_KEYS,
    schema.RunTable: words_of_keys.RUN_KEYS,
    schema.HostTable: words.HOST_KEYS,
}


BY_NAME = {
    "array": schema.ArrayTable,
    "controller": schema.ControllerTable,
    "host": schema.HostTable,
    "run": schema.RunTable,
    "workload": schema.WorkloadTable,
}


def faults(**changes):
    tree = {"array": [{"drives": [{"model": "generic-7200rpm"}]}], "workload": []} | changes
    with pytest.raises(SpecError) as caught:
        build_scenario(tree)
    return str(caught.value)


@pytest.mark.parametrize(
    ("table", "word", "ours"),
    [(table, word, ours) for table, each in TABLES.items() for word, ours in each.items()],
)
def test_a_key_of_others_is_not_ours_and_leads_to_one_that_is(table, word, ours):
    assert word not in table.model_fields
    key, dot, inner = ours.split()[0].rstrip(",").partition(".")
    assert key in {*table.model_fields, *schema.ScenarioTable.model_fields}
    assert not dot or inner in BY_NAME[key].model_fields


def test_a_key_is_answered_with_ours():
    drives = [{"model": "generic-7200rpm"}]
    assert "array.0.chunk: is named stripe_unit here" in faults(
        array=[{"chunk": "64 KiB", "drives": drives}]
    )
    assert "hba: is named controller here" in faults(hba={"model": "x"})


def test_settings_of_a_bios_are_answered_with_what_they_change():
    """The report of the P3700 has them: which clock and idle states follow is what counts."""
    keys = ["energy_performance", "utilization_profile", "virtualisation", "virtualization"]
    said = faults(host=dict.fromkeys(keys, "performance"))
    assert "host.energy_performance: is named c_states and clock" in said
    assert "host.utilization_profile: is named clock" in said
    assert "host.virtualisation: is named model" in said
    assert "host.virtualization: is named model" in said
    slot = faults(controller={"model": "lsi2008", "slot": "x4"})
    assert "controller.slot: is named host.model" in slot


@pytest.mark.parametrize(("word", "ours"), words.LEVELS.items())
def test_a_level_of_others_leads_to_ours(word, ours):
    assert ours in LEVELS
    drives = [{"model": "generic-7200rpm", "count": 4}]
    assert ours in faults(array=[{"level": word, "drives": drives}]).rpartition(";")[2]


@pytest.mark.parametrize(("word", "nearest"), words.NEAREST.items())
def test_what_is_not_modelled_says_what_comes_nearest(word, nearest):
    drives = [{"model": "generic-7200rpm", "count": 4}]
    assert nearest in faults(array=[{"level": word.upper(), "drives": drives}])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("samsung 870 evo 1tb", "870-evo-1000"),
        ("Samsung SSD 870 EVO 1TB", "870-evo-1000"),
        ("870_EVO 1.0 TB", "870-evo-1000"),
        ("intel p3700 800gb", "p3700-800"),
    ],
)
def test_a_drive_in_a_makers_words_is_found(written, meant):
    with pytest.raises(SpecError, match=f'did you mean "{meant}"'):
        find(written)


@pytest.mark.parametrize(("written", "ours"), words.GENERIC.items())
def test_a_drive_of_no_maker_is_one_of_the_catalogue(written, ours):
    assert find(ours).spec.name == ours
    with pytest.raises(SpecError, match=f'did you mean "{ours}"'):
        find(written, kind=DriveSpec)


@pytest.mark.parametrize("written", ["zzz", "1 TB", "samsung 9999 evo 1tb"])
def test_no_drive_is_guessed(written):
    with pytest.raises(SpecError) as caught:
        find(written)
    assert "; did you mean" not in caught.value.faults[0].allowed


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ST18000NM000J", None),
        ("p5800x", None),
        ("s4610-960", "s4610-480"),
        ("p3700-8000", "p3700-800"),
        ("generc-7200rpm", "generic-7200rpm"),
    ],
)
def test_a_slip_is_corrected_and_the_number_of_another_model_is_none(written, meant):
    with pytest.raises(SpecError) as caught:
        find(written, kind=DriveSpec)
    said = str(caught.value)
    if meant is None:
        assert "did you mean" not in said and "import datasheet" in said
    else:
        assert f'did you mean "{meant}"' in said


def test_a_table_that_stands_twice_says_how_several_are_written(tmp_path):
    file = tmp_path / "s.toml"
    for name, said in (("host", "one [host]"), ("array", "written [[array]]")):
        file.write_text(f'[{name}]\nmodel = "a"\n\n[{name}]\nmodel = "b"\n')
        with pytest.raises(SpecError, match="line 4") as caught:
            read_toml(file)
        assert f"[{name}] stands twice" in str(caught.value) and said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[controller]\nmodel = "a"\n\n[[controller]]\n', "line 4: [controller] stands twice"),
        ("[array]\n\n[run]\n\n[[array]]\n", "line 5: [array] stands twice: several"),
        ("[[array]]\n[array.x]\n[[array]]\n[array.x]\n[run]\nseed =\n", "not TOML: Invalid value"),
        ("[[array]]\n[array.x]\n[array.x]\n", "line 3: [array.x] stands twice"),
    ],
)
def test_a_table_beside_one_of_several_is_named_and_tables_of_several_are_not(tmp_path, text, said):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(SpecError) as caught:
        read_toml(file)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        ({"file_system": "zfs"}, "ZFS is not modelled"),
        ({"type": "zfs"}, "is named level here; ZFS is not modelled"),
        ({"fs": "btrfs"}, "is named file_system here; btrfs is not modelled"),
        ({"dedup": True}, "unknown key; deduplication is not modelled"),
        ({"software_raid": "zfs"}, "; ZFS is not modelled"),
    ],
)
def test_what_is_not_modelled_is_said_whatever_the_key(array, said):
    drives = {"drives": [{"model": "generic-7200rpm"}]}
    with pytest.raises(SpecError) as raised:
        build_scenario({"array": [drives | array]})
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("key", "word", "ours"),
    [(key, word, ours) for key, each in words.VALUES.items() for word, ours in each.items()],
)
def test_a_value_of_others_leads_to_one_that_a_key_has(key, word, ours):
    tables = (
        schema.ControllerTable, schema.RunTable, schema.WorkloadTable, schema.ArrayTable,
        schema.EventTable,
    )  # fmt: skip
    of_key = [
        repr(table.model_fields[key].annotation) for table in tables if key in table.model_fields
    ]
    known = {name for text in of_key for name in re.findall(r"'([\w-]+)'", text)}
    assert ours in known and word not in known
    assert word == words.folded(word)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"run": {"precondition": "Worn"}}, '"Worn" is "steady-state" here'),
        ({"run": {"Ramp-Time": "1 s"}}, "run.Ramp-Time: is named warm_up here"),
        ({"event": [{"at": "1 s", "action": "disk failure"}]}, '"disk failure" is "fail-drive"'),
        ({"controller": {"model": "lsi2108", "read_ahead": "on"}}, '"on" is "always" here'),
        ({"workload": [{"Working_Set": "1 GB"}]}, "workload.0.Working_Set: is named area, or"),
        ({"cloud": {}}, "cloud: is named host.instance here"),
    ],
)
def test_values_and_keys_of_others_are_known_in_any_spelling(changes, said):
    assert said in faults(**changes)


def test_a_drive_that_is_no_table_is_written_as_one(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[[array]]\ndrives = ["generic-7200rpm"]\n')
    with pytest.raises(SpecError) as caught:
        load_scenario(file)
    said = 'array.0.drives.0 = "generic-7200rpm": a table: { model = "generic-7200rpm" }'
    assert said in str(caught.value)
