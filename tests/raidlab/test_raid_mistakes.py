"""What a controller, its arrays and its events cannot do: `raidlab run` reports file, key, value
and what is allowed, exits with 2 and prints nothing on standard output. A setting without effect
is a warning.
"""

import json

import pytest
from typer.testing import CliRunner

from raidlab.cli import app

SCENARIO = """
title = "eight disks"
[controller]
model = "{controller}"
{settings}
[[array]]
name = "data"
level = "{level}"
drives = {drives}
{array}
[[workload]]
profile = "database"
outstanding = 4
area = "1 GB"
[run]
warm_up = "0 s"
duration = "50 ms"
{run}
{events}
"""
DISKS = '[{ model = "sas-6g-hdd", count = 8 }]'
FAST_PATH = 'fast_path = true\nwrite = "write-through"\nread_ahead = "none"'
FAILS = '[[event]]\nat = "10 ms"\naction = "fail-drive"\ndrive = {drive}'


def run(tmp_path, **changes):
    """`raidlab run` of a scenario with changes; gives the file too."""
    values = {
        "controller": "lsi2208-1g-3.0",
        "settings": "",
        "level": "raid5",
        "drives": DISKS,
        "array": "",
        "run": "",
        "events": "",
    } | changes
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.format(**values))
    return CliRunner().invoke(app, ["run", str(path), "--json"]), path


def tier(count, model="sas-6g-ssd"):
    drives = f'[{{ model = "{model}", count = {count} }}]'
    return f'cache_tier = {{ drives = {drives}, level = "raid0" }}'


@pytest.mark.parametrize(
    ("changes", "key", "value", "allowed"),
    [
        (
            {"drives": '[{ model = "sas-6g-hdd", count = 33 }]'},
            "array",
            "33 drives",
            "at most 32 drives behind expanders: lsi2208-1g-3.0 has 8 ports",
        ),
        (
            {"controller": "lsi1068", "level": "raid0", "drives": DISKS.replace("8", "123")},
            "array",
            "123 drives",
            "at most 122 drives behind expanders: lsi1068 has 8 ports",
        ),
        (
            {"drives": '[{ model = "sas-6g-hdd", count = 4 }, { model = "sata-6g-hdd" }]'},
            "array.0.drives",
            "sas-6g-hdd (SAS), sata-6g-hdd (SATA)",
            "drives of one interface in an array",
        ),
        (
            {"controller": "lsi2008"},
            "array.0.level",
            "raid5",
            "a level that lsi2008 has: jbod, raid0, raid1, raid1e, raid10",
        ),
        (
            {"controller": "lsi1064", "level": "raid10", "drives": DISKS.replace("8", "4")},
            "array.0.level",
            "raid10",
            "a level that lsi1064 has: jbod, raid0, raid1, raid1e",
        ),
        (
            {"array": tier(3)},
            "array.0.cache_tier.drives",
            "600.0 GB",
            "at most 512 GB of cache on lsi2208-1g-3.0",
        ),
        (
            {"array": tier(2), "settings": FAST_PATH},
            "array.0.cache_tier",
            "",
            "fast_path = false: a controller does either",
        ),
        (
            {"events": FAILS.format(drive=8)},
            "event.0.drive",
            "8",
            "a drive of data: 0 to 7, spares behind the others",
        ),
        (
            {"events": FAILS.format(drive=1) + '\narray = "dat"'},
            "event.0.array",
            "dat",
            "data",
        ),
        (
            {"level": "raid0", "array": "hot_spares = 1"},
            "array.0.hot_spares",
            "1",
            "0: raid0 has nothing to rebuild from",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, changes, key, value, allowed):
    reported, path = run(tmp_path, **changes)
    assert (reported.exit_code, reported.stdout) == (2, "")
    lines = [line for line in reported.stderr.splitlines() if line.startswith("error:")]
    assert len(lines) == len(reported.stderr.splitlines())
    line = next(line for line in lines if f" {key}" in line)
    assert str(path) in line
    assert value in line
    assert allowed in line


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"level": "raid0", "settings": FAST_PATH},
            "controller.fast_path: has no effect on data, an array of hard disks",
        ),
        (
            {"events": FAILS.format(drive=1)},
            "array data: no rebuild after drive 1 has failed: there is neither a hot spare",
        ),
        (
            {"level": "raid0", "events": FAILS.format(drive=1)},
            "array data: a failed drive takes its data with it, raid0 keeps no copy",
        ),
        (
            {
                "settings": 'backup = "none"',
                "events": '[[event]]\nat = "10 ms"\naction = "battery-learn"',
            },
            "event.0: battery-learn has no effect: write-back alone waits for the battery",
        ),
        (
            {"settings": FAST_PATH, "drives": DISKS.replace("hdd", "ssd")},
            "controller.fast_path: has no effect on data: the short path serves independent, jbod",
        ),
        (
            {"array": "rebuild_rate = 0.5"},
            "array.0.rebuild_rate: has no effect: no event has data rebuilt or checked",
        ),
        (
            {"run": 'after_rebuild = "1 s"'},
            "run.after_rebuild: has no effect: no event has data rebuilt",
        ),
    ],
)
def test_what_has_no_effect_is_warned_of(tmp_path, changes, said):
    reported, _ = run(tmp_path, **changes)
    assert reported.exit_code == 0, reported.stderr
    assert any(said in line for line in reported.stderr.splitlines() if line.startswith("warning:"))
    assert any(said in warning for warning in json.loads(reported.stdout)["warnings"])


def test_a_rebuild_without_a_spare_is_refused_where_it_is_asked_for(tmp_path):
    _, path = run(tmp_path, events=FAILS.format(drive=1))
    reported = CliRunner().invoke(app, ["rebuild", str(path)])
    assert reported.exit_code == 2
    assert (
        f"{path}: array.0.hot_spares = 0: 1 or more (or an event replace-drive)" in reported.stderr
    )


def test_what_cannot_be_read_is_reported_once_and_hides_nothing_else(tmp_path):
    reported, path = run(
        tmp_path,
        controller="lsi9999",
        level="raid55",
        array="hot_spares = 1\n" + tier(2),
        drives='[{ model = "sas-6g-hhd", count = "eight" }]',
        events='[[event]]\nat = "3"\naction = "fail-drvie"\ndrive = 99',
    )
    assert reported.exit_code == 2
    keys = [line.split(f"{path}: ")[1].split(" = ")[0] for line in reported.stderr.splitlines()]
    assert keys == [
        "array.0.level", "array.0.drives.0.count", "event.0.at", "event.0.action",
        "controller.model", "array.0.drives.0.model",
    ]  # fmt: skip


def test_an_event_of_an_array_that_cannot_be_read_is_no_fault_beside_it(tmp_path):
    for array in ("data", "data-tier"):
        events = FAILS.format(drive=1) + f'\narray = "{array}"'
        reported, _ = run(tmp_path, level="raid55", array=tier(2), events=events)
        assert [line.split(": ")[2].split(" = ")[0] for line in reported.stderr.splitlines()] == [
            "array.0.level"
        ]


def test_all_mistakes_are_reported_at_once(tmp_path):
    reported, _ = run(
        tmp_path,
        controller="lsi2008",
        drives='[{ model = "sas-6g-hdd", count = 256 }, { model = "sata-6g-hdd" }]',
        events=FAILS.format(drive=300),
    )
    assert reported.exit_code == 2
    for part in ("array.0.level", "array.0.drives", "event.0.drive", "at most 256 drives"):
        assert part in reported.stderr
