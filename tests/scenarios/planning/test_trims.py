"""Trims of an array with hard disks: refused where a job asks for them, left out of traces."""

import json

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.live import LiveSystem
from raidlab.sim.environment import Environment

DISK, FLASH = "generic-7200rpm", "p3700-800"
TRACE = "t,op,at,size\n0.001,write,0,4096\n0.002,trim,8192,4096\n0.003,read,0,4096\n"
COLUMNS = "time=t:s op=op offset=at:B size=size:B"


def system(model, load):
    return {"array": [{"name": "data", "drives": [{"model": model}]}], "workload": [load]}


@pytest.mark.parametrize("rw", ["trim", "randtrim", "trimwrite", "randtrimwrite"])
def test_a_job_that_trims_a_disk_is_refused(tmp_path, rw):
    (tmp_path / "job.fio").write_text(f"[a]\nrw={rw}\nbs=4k\nsize=1m\n")
    load = {"fio": "job.fio"}
    with pytest.raises(SpecError, match=rf'job.fio:2: \[a\] rw = "{rw}".*no TRIM'):
        build_scenario(system(DISK, load), tmp_path / "s.toml")
    assert build_scenario(system(FLASH, load), tmp_path / "s.toml").jobs


@pytest.mark.parametrize(("model", "requests"), [(DISK, 2), (FLASH, 3)])
def test_trims_of_a_trace_are_left_out_of_a_disk_and_counted(tmp_path, model, requests):
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    load = {"trace": str(trace), "trace_format": "csv", "trace_columns": COLUMNS}
    built = build_scenario(system(model, load))
    said = [warning for warning in built.warnings if "left out" in warning]
    left_out = "1 of 3 requests are left out: trims, which the array's hard disks do not have"
    assert said == ([f"workload.0.trace: {left_out}"] if model == DISK else [])

    command = ["replay", str(trace), "--format", "csv", "--columns", COLUMNS, "--json"]
    done = CliRunner().invoke(app, [*command, "--device", model])
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["requests"] == requests
    assert any(left_out in each for each in document["warnings"]) is (model == DISK)


def test_trims_alone_are_no_load_of_a_disk(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("t,op,at,size\n0.002,trim,8192,4096\n")
    load = {"trace": str(trace), "trace_format": "csv", "trace_columns": COLUMNS}
    with pytest.raises(SpecError, match="at least one request"):
        build_scenario(system(DISK, load))


def test_a_process_cannot_trim_a_disk():
    with pytest.raises(ValueError, match="trim; the array has hard disks"):
        LiveSystem(Environment(), system(DISK, {"profile": "database"})).trim(0, 4096)
    LiveSystem(Environment(), system(FLASH, {"profile": "database"})).trim(0, 4096)
