"""Mistakes of users that were tracebacks, or messages without file, key and value."""

import json

import pytest

from raidlab.calibration.traces.formats import read_trace
from raidlab.devices.faults import SpecError
from tests.raidlab.test_cli import SCENARIO, STATION, measured, raidlab  # noqa: F401

DISK = """
title = "x"
%s
[[array]]
%s
drives = [{ model = "%s" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
[run]
warm_up = "10 ms"
duration = "100 ms"
"""


def refused(raidlab, *arguments):  # noqa: F811
    done = raidlab(*arguments)
    assert done.returncode == 2, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("error: ")]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\ncapacity = "147 PB"',
            'capacity = "147 PB": less: heads and sectors of a track would need more than 2^24',
        ),
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\n[geometry]\ntrack_skew = "1 h"',
            'geometry.track_skew = "1 h": a few revolutions at most',
        ),
        (
            'kind = "ssd"\nlike = "sas-6g-ssd"\nqueue_depth = 4294967296',
            "queue_depth = 4294967296: less than or equal to 16777216",
        ),
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\n[seek.read]\n'
            'single = "0.9 ms"\naverage = "0.95 ms"\nfull = "0.950001 ms"',
            'seek.read.average = "0.95 ms": an average that a rising curve can have between single'
            " and full",
        ),
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\nspeed = "1 rpm"',
            'speed = "1 rpm": greater than or equal to 300 rpm',
        ),
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\n[buffer]\nsegment = "1 PB"',
            'buffer.segment = "1 PB": less than or equal to 8 GiB',
        ),
        (
            'kind = "hdd"\nlike = "generic-15000rpm"\nqueue_depth = { a = [true, "x"] }',
            'queue_depth = { a = [true, "x"] }: a valid integer',
        ),
        (
            'kind = "ssd"\nlike = "sas-6g-ssd"\n[buffer]\nsize = "4 KiB"',
            'buffer.size = "4 KiB": at least two pages of every plane',
        ),
    ],
)
def test_a_device_that_cannot_be_is_named_with_its_file(raidlab, tmp_path, keys, said):  # noqa: F811
    """By the file, the key and the value of the user: `seek.read.average_ns = 950000` was none."""
    (tmp_path / "own.toml").write_text(keys.replace("like", 'name = "own"\nlike', 1))
    (tmp_path / "s.toml").write_text(DISK % ("", "", "own.toml"))
    lines = refused(raidlab, "run", "s.toml")
    assert len(lines) == 1 and lines[0].startswith(f"error: own.toml: {said}"), lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[array]]\ndrives = [[[1]]]\n", "array.0.drives.0 = [[1]]: a table"),
        ("run = [1]\n", "run = [1]: a table: [run]"),
    ],
)
def test_lists_in_the_place_of_tables_are_shown(raidlab, tmp_path, text, said):  # noqa: F811
    """The key stood there alone."""
    (tmp_path / "s.toml").write_text(text)
    assert f"error: s.toml: {said}" in refused(raidlab, "run", "s.toml")


@pytest.mark.parametrize("unit", ["0 B", "1 TB"])
def test_stripe_units_of_an_ssd_cache_are_checked(raidlab, tmp_path, unit):  # noqa: F811
    text = DISK % (
        '[controller]\nmodel = "lsi2208-1g-3.0"',
        f'level = "raid0"\nstripe_unit = "{unit}"\n'
        'cache_tier = { drives = [{ model = "sas-6g-ssd", count = 2 }], level = "raid1" }',
        "sata-6g-hdd",
    )
    (tmp_path / "s.toml").write_text(text)
    lines = refused(raidlab, "run", "s.toml")
    assert lines and all(f'array.0.stripe_unit = "{unit}": ' in line for line in lines), lines


def test_an_open_load_whose_power_fails_for_longer_than_is_recorded(raidlab, tmp_path):  # noqa: F811
    """The warning of a queue that grows took the root of a negative number."""
    event = '[[event]]\nat = "20 ms"\naction = "power-fail"\nlasts = "2 ms"\n'
    text = SCENARIO.replace("outstanding = [1, 2]", 'rate = "500 IO/s"') % "100 ms"
    (tmp_path / "s.toml").write_text(text + "max_ios = 1\n" + event)
    assert raidlab("run", "s.toml").returncode == 0


@pytest.mark.parametrize("bad", ["nan", "inf", "1e300", "1e400", "-1", "9" * 5000])
@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("msr", "1,hm,0,Read,0,4096,1\n%s,hm,0,Read,383496192,4096,113736"),
        ("msr", "128166372003061629,hm,0,Read,0,4096,%s"),
        ("disksim-validate", "R Hit 1 1 %s 1.0"),
        ("disksim-validate", "R Hit %s 1 1.0 1.0"),
        ("disksim-ascii", "%s 0 1 1 1"),
        ("blkparse", "8,0 3 1 %s 697 D W 223490 + 8 [k]"),
        ("fio-iolog", "fio version 3 iolog\n%s f read 0 4096"),
        ("fio-iolog", "fio version 2 iolog\nf wait %s\nf read 0 4096"),
    ],
)
def test_numbers_of_a_trace_that_are_none(tmp_path, form, line, bad):
    path = tmp_path / "t"
    path.write_text(line % bad + "\n")
    with pytest.raises(SpecError) as caught:
        read_trace(path, form)
    assert all(str(fault).startswith(f"{path}: line ") for fault in caught.value.faults)


def result(**changes):
    side = {
        "iops": 1000.0, "total_ios": 1000, "runtime": 1000,
        "clat_ns": {"mean": 1e6, "stddev": 1, "min": 1, "max": 2e6, "bins": {"1000": 5}},
    }  # fmt: skip
    job = {
        "jobname": "x", "groupid": 0, "error": 0, "read": side, "write": {"iops": 0.0},
        "job options": {"rw": "randread", "bs": "4k", "ioengine": "libaio", "direct": "1"},
    }  # fmt: skip
    return json.dumps({"fio version": "fio-3.33", "global options": {}, "jobs": [job]})


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ('{"1000": 5}', '{"1000": 1e400}', "1000 = inf: a finite number"),
        ('{"1000": 5}', '{"1000": [[]]}', "1000 = [[]]: a finite number"),
        ('"total_ios": 1000', '"total_ios": "many"', "total_ios = many: a finite number"),
        ('{"1000": 5}', '{"1000": %s}' % ("9" * 4000), "1000 = 9999"),
        ('"total_ios": 1000', '"total_ios": -1', "ios = -1: "),
        ('"iops": 1000.0', '"iops": 1e400', "iops = inf: "),
    ],
)
def test_numbers_of_fio_that_are_none(raidlab, tmp_path, was, now, said):  # noqa: F811
    """A count of 1e400 was a traceback, others a text of several lines with a link."""
    assert was in result()
    (tmp_path / "f.json").write_text(result().replace(was, now))
    lines = refused(raidlab, "import", "fio", "f.json", "--out", "m.json")
    assert lines[0].startswith("error: f.json: not in fio's form: ") and said in lines[0]
    assert "http" not in lines[0] and len(lines) == 1


def test_a_manifest_that_nests_too_deeply(raidlab, tmp_path):  # noqa: F811
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "manifest.json").write_text("[" * 100_000 + "]" * 100_000)
    (line,) = refused(raidlab, "import", "fio", "b", "--out", "m.json")
    assert line.startswith("error: b/manifest.json: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "/dev/zero"),
        ("devices", "/dev/zero"),
        ("rebuild", "/dev/zero"),
        ("compare", "/dev/zero", "--device", "fixed.toml"),
        ("calibrate", "/dev/zero", "--kind", "hdd"),
        ("validate", "--figures", "/dev/zero"),
        ("replay", "/dev/zero", "--format", "msr", "--device", "fixed.toml"),
        ("import", "fio", "/dev/zero", "--out", "m.json"),
        ("import", "disksim", "/dev/zero", "--out", "m.toml"),
        ("fio", "/dev/zero"),
    ],
)
def test_an_endless_file_is_refused_by_every_command(raidlab, arguments):  # noqa: F811
    (line,) = refused(raidlab, *arguments)
    assert line.startswith("error: /dev/zero: larger than ")


@pytest.mark.usefixtures("measured")
def test_calibrate_refuses_a_system_without_a_load(raidlab, tmp_path):  # noqa: F811
    text = (DISK % ('[controller]\nmodel = "lsi2208-1g-3.0"', "", "fixed.toml")).split("[[work")[0]
    (tmp_path / "s.toml").write_text(text)
    (line,) = refused(raidlab, "calibrate", "m.json", "--kind", "controller", "--system", "s.toml")
    assert line == 'error: s.toml: workload = "0 loads": exactly one: measured loads take its place'


def test_what_the_engine_refuses_in_a_study_is_reported(raidlab, tmp_path):  # noqa: F811
    """`rebuild` ended with the engine's exception."""
    own = 'kind = "hdd"\nname = "own"\nlike = "generic-15000rpm"\n[seek.read]\n'
    own += 'single = "0.9 ms"\naverage = "0.95 ms"\nfull = "0.950001 ms"'
    (tmp_path / "own.toml").write_text(own)
    (tmp_path / "fixed.toml").write_text(STATION)
    text = DISK % (
        '[controller]\nmodel = "lsi2208-1g-3.0"',
        'level = "raid1"\nhot_spares = 1',
        "own.toml",
    )
    text = text.replace('model = "own.toml"', 'model = "own.toml", count = 2')
    event = '[[event]]\nat = "20 ms"\naction = "fail-drive"\narray = "array-0"\ndrive = 0\n'
    (tmp_path / "s.toml").write_text(text + event)
    lines = refused(raidlab, "rebuild", "s.toml", "--rates", "50")
    assert lines[0].startswith('error: own.toml: seek.read.average = "0.95 ms": ')
