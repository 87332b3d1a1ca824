"""Scenario files with mistakes: each named by key, value and what is allowed, all at once."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario


def tree(drives, **changes):
    """A scenario without faults, with changes by dotted key."""
    scenario = {
        "title": "four drives",
        "controller": {"model": "lsi2008"},
        "array": [
            {
                "name": "data",
                "level": "raid0",
                "drives": [{"model": str(drives / "sas.toml"), "count": 4}],
                "stripe_unit": "64 KiB",
            }
        ],
        "workload": [{"profile": "database", "outstanding": 8, "area": "32 GB"}],
        "run": {"warm_up": "0 s", "duration": "100 ms"},
    }
    for key, value in changes.items():
        *path, last = key.split("__")
        at = scenario
        for part in path:
            at = at[int(part)] if part.isdigit() else at[part]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return scenario


def faults_of(scenario):
    with pytest.raises(SpecError) as caught:
        build_scenario(scenario)
    return {fault.key: fault for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"run__speed": 1}, "run.speed", "unknown key"),
        ({"array__0__stripe_units": "64 KiB"}, "array.0.stripe_units", "unknown key"),
        ({"run__duration": "5 MB"}, "run.duration", "a duration"),
        ({"run__duration": 5}, "run.duration", "a unit is missing"),
        ({"workload__0__think_time": 32}, "workload.0.think_time", "a unit is missing"),
        ({"workload__0__think": "exponential"}, "workload.0.think", "without `think_time`"),
        ({"workload__0__area": "0 B"}, "workload.0.area", "above 0 B"),
        ({"array__0__stripe_unit": "0 B"}, "array.0.stripe_unit", "multiple of 512 B"),
        ({"array__0__stripe_unit": "1000 B"}, "array.0.stripe_unit", "multiple of 512 B"),
        (
            {"array__0__stripe_unit": "100 KiB", "array__0__level": "raid5"},
            "array.0.stripe_unit",
            "a power of two",
        ),
        ({"workload__0__buffered": True}, "workload.0.buffered", "no [page_cache]"),
        ({"workload__0__compressible": "120 %"}, "workload.0.compressible", "a share from 0 to 1"),
        ({"workload__0__area": "401 GB"}, "workload.0.area", "at most"),
        ({"workload__0__area_start": "390 GB"}, "workload.0.area", "at most"),
        ({"workload__0__area": "4 kB"}, "workload.0.area", "at least a block"),
        ({"workload__0__profile": "databse"}, "workload.0.profile", "one of"),
        ({"workload__0__profile": None}, "workload.0.rw", "`profile`, or `rw`"),
        ({"workload__0__rw": "randread"}, "workload.0.rw", "settled by `profile`"),
        ({"workload__0__outstanding": 0}, "workload.0.outstanding", "1 to"),
        ({"workload__0__outstanding": []}, "workload.0.outstanding", "1 to"),
        ({"workload__0__outstanding": "most"}, "workload.0.outstanding", "max"),
        ({"workload__0__align": "0 B"}, "workload.0.align", "at least 1 B"),
        ({"workload__0__align": "64 GB"}, "workload.0.align", "at most the area of 32000000000 B"),
        ({"workload__0__target": "dat"}, "workload.0.target", "the name of an array"),
        ({"workload__0__distribution": "zipf"}, "workload.0.distribution", "not modelled yet"),
        ({"workload__0__hot_share": "0 %"}, "workload.0.hot_share", "without `hot_spot`"),
        ({"controller__model": "lsi20008"}, "controller.model", "a controller of the catalogue"),
        ({"controller__model": "generic"}, "controller.model", "a controller; this is a host"),
        ({"controller__model": "no.toml"}, "controller.model", "no.toml: No such file"),
        ({"host": {"model": "/"}}, "host.model", "a file that can be read; /: Is a directory"),
        ({"controller__write": "write-back"}, "controller.write", "lsi2008 has no cache"),
        ({"controller": None}, "array.0.level", "software_raid"),
        ({"array__0__level": "raid5"}, "array.0.level", "jbod, raid0, raid1, raid1e, raid10"),
        ({"array__0__level": "raid7"}, "array.0.level", "one of"),
        ({"array__0__drives__0__count": 257}, "array", "at most 256"),
        ({"array__0__drives__0__count": 0}, "array.0.drives.0.count", "greater than or equal to 1"),
        ({"array__0__drives__0__format": "big"}, "array.0.drives.0.format", "has no effect"),
        ({"array__0__drives": []}, "array.0.drives", "at least 1"),
        ({"array": []}, "array", "at least 1"),
        ({"array": None}, "array", "missing"),
        ({"run__seed": -1}, "run.seed", "greater than or equal to 0"),
        ({"run__replications": 1.5}, "run.replications", "integer"),
        ({"run__duration": "1 ns"}, "run.duration", "at least 100 ns"),
        ({"run__filled": "1 GB"}, "run.filled", "no effect without `precondition`"),
        ({"run__filled": "0 B"}, "run.filled", "above 0 B"),
        ({"host": {"clock": "0 GHz"}}, "host.clock", "0.1 GHz to 10 GHz"),
        ({"host": {"clock": "99 MHz"}}, "host.clock", "0.1 GHz to 10 GHz"),
        ({"host": {"clock": "290 GHz"}}, "host.clock", "0.1 GHz to 10 GHz"),
        ({"array": {"level": "raid0"}}, "array", "a list of tables: [[array]]"),
        ({"array__0__drives": 4}, "array.0.drives", "a list of tables"),
        ({"controller": "lsi2008"}, "controller", "a table: [controller]"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(drives, changes, key, said):
    fault = faults_of(tree(drives, **changes))[key]
    assert said in fault.allowed


@pytest.mark.parametrize(
    ("level", "count", "wanted"),
    [("raid1e", 2, "3 drives or more"), ("raid10", 5, "an even number"), ("raid1", 1, "2 drives")],
)
def test_a_level_wants_its_drives(drives, level, count, wanted):
    changes = {"array__0__level": level, "array__0__drives__0__count": count}
    fault = faults_of(tree(drives, **changes))["array.0.drives"]
    assert wanted in fault.allowed
    assert fault.value == f"{count} drives"


def test_a_misspelt_distribution_suggests_what_is_modelled(drives):
    """`zipfi` suggested `zipf`, which is refused."""
    key = "workload.0.distribution"
    for written, nearest in (("zipfi", None), ("unifrom", "uniform")):
        assert faults_of(tree(drives, workload__0__distribution=written))[key].nearest == nearest


def test_a_hot_spot_has_a_share(drives):
    changes = {"workload__0__hot_spot": "1 GB", "workload__0__hot_share": "0 %"}
    fault = faults_of(tree(drives, **changes))["workload.0.hot_share"]
    assert "above 0" in fault.allowed
    assert fault.value == "0 %"


def test_only_drives_that_compress_are_given_compressible_data(drives):
    def alone(model):
        scenario = tree(drives, controller=None, workload__0__compressible=0.5)
        scenario["workload"][0]["area"] = "1 GB"
        return scenario | {"array": [{"name": "data", "drives": [{"model": model}]}]}

    reported = faults_of(alone("p3700-800"))
    assert reported["workload.0.compressible"].allowed == "has no effect on p3700-800"
    build_scenario(alone("sandforce-1222-64gb"))


def test_a_sas_drive_cannot_hang_on_sata(drives):
    fault = faults_of(tree(drives, controller__model="patsburg-a"))["array.0.drives.0.model"]
    assert fault.value == str(drives / "sas.toml")
    assert "SATA 3G ports of patsburg-a" in fault.allowed


def test_a_card_cannot_hang_on_sas(drives):
    changes = {"array__0__drives": [{"model": str(drives / "card.toml"), "count": 4}]}
    assert "array.0.drives.0.model" in faults_of(tree(drives, **changes))


def test_many_mistakes_are_reported_at_once(drives):
    scenario = tree(
        drives,
        controller__model="patsburg-a",
        array__0__level="raid1e",
        array__0__stripe_unit="0 B",
        run__duration=5,
        run__spede=1,
        workload__0__profile="databse",
    )
    faults = faults_of(scenario)
    assert set(faults) >= {
        "array.0.level",
        "array.0.stripe_unit",
        "array.0.drives.0.model",
        "run.duration",
        "run.spede",
        "workload.0.profile",
    }
    assert faults["run.spede"].nearest is None or faults["run.spede"].nearest == "seed"
    assert faults["workload.0.profile"].nearest == "database"


def test_words_of_fio_are_answered_with_ours(drives):
    """`bs` is most like `burst`, and nothing is like `iodepth`."""
    words = {"bs": "4k", "iodepth": 8, "rwmixread": 70, "numjobs": 4, "runtime": 10}
    scenario = tree(drives, run__runtime=10)
    scenario["workload"][0] |= words
    faults = faults_of(scenario)
    assert faults["workload.0.bs"].allowed == "is named block_size here"
    assert faults["workload.0.iodepth"].allowed == "is named outstanding here"
    assert faults["workload.0.rwmixread"].allowed == "is named read_share, from 0 to 1, here"
    assert faults["workload.0.runtime"].allowed == "is named run.duration here"
    assert faults["run.runtime"].allowed == "is named duration here"


def test_lists_of_outstanding_go_in_step(drives):
    scenario = tree(drives)
    scenario["workload"] = [
        {"name": "a", "profile": "database", "outstanding": [1, 2, 3]},
        {"name": "b", "profile": "streaming", "outstanding": [1, 2]},
    ]
    assert "a list of 3" in faults_of(scenario)["workload.1.outstanding"].allowed


NASTY = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["0 B", "64 KiB", "5 ms", "9e99 s", "max", "whole", "raid6", "null", "{}"]),
    st.lists(st.integers(-5, 5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


def paths(value, at=()):
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*at, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from paths(inner, (*at, position))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_mutation_breaks_the_checks(drives, data):
    """Whatever stands in a scenario, it is a plan that the engine takes or a list of faults."""
    scenario = copy.deepcopy(tree(drives))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in paths(scenario) if path]))
        at = scenario
        for part in path[:-1]:
            at = at[part]
        value = data.draw(NASTY)
        if value is None and isinstance(at, dict):
            del at[path[-1]]
        elif data.draw(st.booleans()) and isinstance(at, dict):
            at[data.draw(st.text(max_size=8))] = value
        else:
            at[path[-1]] = value
    try:
        built = build_scenario(scenario)
    except SpecError as error:
        assert error.faults
        assert all(fault.allowed for fault in error.faults)
        assert str(error)
    else:
        # Raises PlanError if the engine finds a fault that the checks let pass.
        _engine.Simulation(json.dumps(built.plan(0, 0)))


@pytest.mark.parametrize(
    ("changes", "key", "value", "said"),
    [
        ({"workload__0__area": "32 TB"}, "workload.0.area", "32 TB", "what the array holds"),
        ({"workload__0__area_start": "9 TB"}, "workload.0.area_start", "9 TB", "below"),
        ({"array__0__stripe_unit": "1 TB"}, "array.0.stripe_unit", "1 TB", "nothing is used"),
        ({"array__0__used": "9 TB"}, "array.0.used", "9 TB", "the smallest drive holds"),
    ],
)
def test_a_size_that_does_not_fit_is_reported_as_it_was_written(drives, changes, key, value, said):
    found = faults_of(tree(drives, **changes))
    assert list(found) == [key]
    assert found[key].value == value
    assert said in found[key].allowed


def test_a_spare_of_another_interface_is_reported_by_its_model(drives):
    changes = {"hot_spares": 1, "hot_spare_model": "sata-6g-hdd", "level": "raid10"}
    scenario = tree(drives, **{f"array__0__{key}": value for key, value in changes.items()})
    fault = faults_of(scenario)["array.0.hot_spare_model"]
    assert fault.value == "sata-6g-hdd"
    assert fault.allowed == "a drive of the array's interface, SAS; this one has SATA"


def test_drives_of_one_entry_are_one_fault(drives):
    with pytest.raises(SpecError) as caught:
        build_scenario(tree(drives, controller__model="patsburg-a"))
    assert len(caught.value.faults) == 1


def test_blocks_that_are_no_whole_sectors_are_warned_of_and_the_nearest_are_named(drives):
    load = {"rw": "randread", "block_size": "4 kB"}
    (warning,) = build_scenario(tree(drives, workload=[load])).warnings
    assert warning == (
        "workload.0.block_size: 4 kB is no multiple of 512 B, and direct I/O moves whole sectors;"
        ' did you mean "4 KiB"?'
    )


def test_no_array_is_called_like_another_one_s_tier():
    disks = [{"model": "sas-6g-hdd", "count": 2}]
    tiered = {"name": "a", "level": "raid0", "drives": disks}
    tiered["cache_tier"] = {"drives": [{"model": "sas-6g-ssd", "count": 2}], "level": "raid1"}
    scenario = {
        "controller": {"model": "lsi2208-1g"},
        "array": [tiered, {"name": "a-tier", "level": "raid0", "drives": disks}],
        "workload": [{"profile": "database", "target": "a"}],
    }
    fault = faults_of(scenario)["array.1.name"]
    assert fault.allowed == "a name that no other array has: the tier of array.0 is called so"


def test_keys_of_a_table_are_listed_once_and_not_beside_the_nearest() -> None:
    drives = [{"model": "generic-7200rpm"}]
    tree = {"array": [{"drives": drives, "foo": 1, "qux": 2, "stripe_units": "64 KiB"}]}
    with pytest.raises(SpecError) as refused:
        build_scenario(tree)
    first, second, third = map(str, refused.value.faults)
    assert first.startswith("array.0.foo: unknown key; known are bitmap, ")
    assert second == "array.0.qux: unknown key"
    assert third == 'array.0.stripe_units: unknown key; did you mean "stripe_unit"?'
