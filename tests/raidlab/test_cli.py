"""The command line as a user has it: exit codes, JSON alone on standard output, no traceback."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from raidlab import cli, words
from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.calibration.traces import replay as trace_replay
from raidlab.commands import common, replay
from raidlab.commands import validate as validating
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import write_file
from raidlab.scenarios.planning import trace_files as trace_formats
from raidlab.scenarios.planning.scenario import load_scenario
from tests import command_server

STATION = """
kind = "station"
name = "fixed"
capacity = "100 GB"
service = { value = "1 ms", source = "assumed", note = "for tests" }
[sources]
capacity = "assumed"
"""
SCENARIO = """
title = "One drive"
[[array]]
drives = [{ model = "fixed.toml" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = [1, 2]
[run]
warm_up = "10 ms"
duration = "%s"
"""


def command(*arguments):
    return [sys.executable, "-m", "raidlab", *map(str, arguments)]


@pytest.fixture
def raidlab(tmp_path):
    (tmp_path / "fixed.toml").write_text(STATION)
    (tmp_path / "one.toml").write_text(SCENARIO % "1 s")

    def run(*arguments):
        store = {"RAIDLAB_STORE": str(tmp_path / "store.sqlite")}
        done = command_server.run(*arguments, cwd=tmp_path, env=store)
        assert "Traceback" not in done.stderr + done.stdout
        return done

    return run


def test_run_prints_one_json_document(raidlab):
    done = raidlab("run", "one.toml", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["title"] == "One drive"
    assert [row["outstanding"] for row in document["results"]] == [1, 2]
    assert "One drive: 2 of 2" in done.stderr


def test_run_is_the_same_to_the_byte(raidlab):
    first = raidlab("run", "one.toml", "--json", "--workers", "1").stdout
    assert first == raidlab("run", "one.toml", "--json", "--workers", "2").stdout
    assert first != raidlab("run", "one.toml", "--json", "--seed", "2").stdout


def test_run_writes_everything_it_is_asked_for(raidlab, tmp_path):
    done = raidlab("run", "one.toml", "--out", "made/here", "--html", "page.html")
    assert done.returncode == 0
    assert "queue" in done.stdout and "p99" in done.stdout and "99 %" not in done.stdout
    assert len((tmp_path / "made/here/table.csv").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "made/here/result.json").read_text())["seed"] == 1
    page = (tmp_path / "page.html").read_text()
    # On a narrow screen its tables scroll, not the page.
    assert ".scroll { overflow-x: auto;" in page
    # One page that needs no network.
    assert "One drive" in page and "Plotly.newPlot" in page
    assert 'src="' not in page.split("</script>")[-1] and "<link" not in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nowhere.toml"], "nowhere.toml: No such file"),
        (["run", "."], "."),
        (["devices", "lsi20008"], 'did you mean "lsi2008"?'),
        (["validate", "iodriv"], 'did you mean "iodrive"?'),
        (["validate", "iodrive-148"], 'did you mean "iodrive-147"?'),
        (["validate", "r5-12-db"], 'SOURCE = "r5-12-db": the claim r5-12-DB: with --claims'),
        (["validate", "--claims", "p320h-003"], "the figure p320h-003: without --claims"),
        (["validate", "--figures", "one.toml"], "columns that must be there"),
        (["run", "one.toml", "--html", "fixed.toml/page.html"], "cannot be written"),
        (["run", "one.toml", "--save-state", "fixed.toml/s"], "cannot be written"),
        (["devices", "lsi2008", "--kind", "ssd"], "--kind: has no effect on one device"),
        (["devices", "lsi2008", "--markdown"], "--markdown: has no effect on one device"),
        (["devices", "--json", "--markdown"], "--markdown: has no effect beside --json"),
        (["run"], "Missing argument"),
        (["rum"], "No such command"),
    ],
)
def test_bad_input_is_reported_and_exits_with_2(raidlab, arguments, said):
    done = raidlab(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_one_figure_of_the_pages_runs_alone(raidlab):
    """The p320h's stream, which the page of advice names: the link's 3,600 MB/s, so exit code 1."""
    done = raidlab("validate", "p320h-003", "--json")
    (row,) = json.loads(done.stdout)["rows"]
    assert done.returncode == 1
    assert (row["id"], row["published"], round(row["simulated"])) == ("p320h-003", 1817, 3600)


def test_every_fault_has_a_line(raidlab, tmp_path):
    (tmp_path / "bad.toml").write_text(SCENARIO.replace("randread", "randred") % "5")
    done = raidlab("run", "bad.toml", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: bad.toml: ") for line in lines)


def test_devices_shows_sizes_of_a_file_in_units(tmp_path):
    file = tmp_path / "fixed.toml"
    file.write_text(STATION.replace("100 GB", "100000000512 B").replace("fixed", "mine"))
    text = CliRunner().invoke(cli.app, ["devices", str(file)]).stdout
    assert "100 GB" in text
    assert "100000000512" not in text


def test_devices_shows_sources(raidlab):
    listed = json.loads(raidlab("devices", "--json").stdout)["devices"]
    assert {"null", "lsi2008", "generic"} <= {device["name"] for device in listed}
    shown = json.loads(raidlab("devices", "fixed.toml", "--json").stdout)
    assert shown["sources"]["service"]["note"] == "for tests"
    assert shown["parameters"]["service"] == "1 ms"
    assert "assumed: for tests" in raidlab("devices", "fixed.toml").stdout


def test_version(raidlab):
    assert raidlab("--version").stdout.strip() == "0.2.0"


def test_ctrl_c_keeps_what_is_done(tmp_path):
    (tmp_path / "fixed.toml").write_text(STATION)
    text = SCENARIO.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]")
    (tmp_path / "long.toml").write_text(text % "200000 s")
    environment = os.environ | {"RAIDLAB_STORE": str(tmp_path / "store.sqlite")}
    process = subprocess.Popen(
        command("run", "long.toml", "--json", "--workers", "1"),
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "0 of 6" in process.stderr.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    document = json.loads(out)
    assert document["interrupted"]
    assert (tmp_path / "store.sqlite").exists()


def test_ctrl_c_while_the_program_loads_ends_it_quietly():
    code = """
import sys

class CtrlC:
    def find_spec(self, name, path, target=None):
        if name == "raidlab.commands.run":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from raidlab.__main__ import main
main()
"""
    called = [sys.executable, "-c", code, "run", "s.toml"]
    done = subprocess.run(called, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_library_is_in_order():
    """Every scenario opens with its question and is free of faults."""
    for file in sorted(Path("scenarios/library").glob("*.toml")):
        assert "?" in "".join(file.read_text().splitlines()[:2]), file
        load_scenario(file)


def test_the_command_line_starts_without_what_only_some_commands_need():
    heavy = (
        "numpy", "scipy", "plotly", "polars", "jinja2", "simpy", "rich.progress",
        "raidlab.commands.run", "raidlab.scenarios._engine",
    )  # fmt: skip
    code = f"""
import sys
from raidlab.__main__ import main
sys.argv = ["raidlab", *sys.argv[1:]]
try:
    main()
finally:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    for arguments in (["--help"], ["import", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "[]"
    # A table in a terminal needs no drawing either, nor jobs of fio, nor drives of other kinds.
    other = (
        "plotly", "jinja2", "scipy", "polars", "numpy", "rich.console", "raidlab.devices.ssd",
        "raidlab.devices.volume", "raidlab.scenarios.fio.resolve", "raidlab.scenarios.results.rows",
    )  # fmt: skip
    code = "import sys, raidlab.commands.run as _;"
    code += f" print([name for name in {other} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_of_commands_says_what_each_says_itself():
    for lazy in (*cli.COMMANDS.values(), *cli.IMPORTS.values(), *cli.TRACES.values()):
        module = importlib.import_module(f"raidlab.commands.{lazy.module}")
        own = " ".join((getattr(module, lazy.function).__doc__ or "").split("\n\n")[0].split())
        assert own == lazy.help


def test_a_mistyped_command_is_answered_with_the_nearest(raidlab):
    assert "Did you mean 'run'" in raidlab("rum").stderr
    assert "Did you mean 'disksim'" in raidlab("import", "disksin").stderr


def test_the_help_of_replay_names_what_the_readers_take():
    assert common.TRACE_FORMATS == trace_formats.FORMATS
    assert get_args(trace_formats.Beyond) == replay.BEYOND
    assert get_args(trace_replay.Precondition) == replay.PRECONDITIONS


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [("run", "one.toml"), ("run", "one.toml", "--json"), ("devices",), ("--version",)]
)
def test_a_full_disk_under_standard_output_is_reported(raidlab, tmp_path, arguments):
    raidlab("run", "one.toml")
    with FULL.open("w") as full:
        done = subprocess.run(
            command(*arguments), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: standard output: No space left on device"


@pytest.mark.parametrize(
    "arguments", [("run", "one.toml"), ("devices",), ("devices", "sas-6g-hdd"), ("--version",)]
)
def test_a_closed_pipe_ends_a_command_in_silence(raidlab, tmp_path, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(*arguments), cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_what_cannot_be_written_is_found_before_the_work(raidlab, tmp_path):
    (tmp_path / "folder").mkdir()
    done = raidlab("run", "one.toml", "--html", "folder", "--out", "one.toml")
    assert done.returncode == 2
    assert "error: folder: cannot be written: it is a folder" in done.stderr
    assert "one.toml/result.json: cannot be written" in done.stderr and "no folder" in done.stderr
    assert "One drive: 0 of 2" not in done.stderr and done.stdout == ""
    # Where permissions allow everything and the file system nothing.
    done = raidlab("run", "one.toml", "--save-state", "/proc/drives.state")
    assert done.returncode == 2 and done.stdout == ""
    assert "error: /proc/drives.state: cannot be written: No such file" in done.stderr
    assert "One drive: 0 of 2" not in done.stderr


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SpecError, match="No space left"):
        write_file(page, "after")
    assert page.read_text() == "before" and [each.name for each in tmp_path.iterdir()] == [
        "page.html"
    ]


@pytest.mark.parametrize("option", ["--html", "--out", "--save-state"])
def test_an_empty_path_is_reported_by_its_option(raidlab, option):
    """It was the present folder."""
    done = raidlab("run", "one.toml", option, "")
    assert done.returncode == 2
    assert f"'{option}'" in done.stderr and "it is empty" in done.stderr


def test_an_empty_path_of_a_scenario_is_reported(raidlab):
    done = raidlab("run", "")
    assert done.returncode == 2
    assert "'scenario'" in done.stderr and "it is empty" in done.stderr


def test_a_seed_beyond_what_the_engine_counts_is_refused_as_such(raidlab):
    done = raidlab("run", "one.toml", "--seed", str(2**63))
    assert done.returncode == 2
    assert "--seed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("devices", "lsi2009"), 'NAME = "lsi2009"'),
        (("devices", "--kind", "sdd"), 'did you mean "ssd"?'),
        (("replay", "x", "--format", "csv", "--device", "p3700-80"), "x: No such file"),
    ],
)
def test_a_name_that_does_not_exist_is_reported_with_the_nearest(raidlab, arguments, reported):
    done = raidlab(*arguments)
    assert done.returncode == 2
    assert reported in done.stderr


@pytest.fixture
def measured(tmp_path):
    """A drive that was measured at 900 and at 1900 reads a second."""
    points = [
        Point(
            name=f"depth {depth}", rw="randread", read_share=1.0, bs=4096, iodepth=depth,
            read=Side(
                iops=iops, ios=1000, latency_mean_us=1e6 * depth / iops,
                completion=Latency(mean_us=1e6 * depth / iops), spread=0.2,
            ),
        )
        for depth, iops in ((1, 900.0), (2, 1900.0))
    ]  # fmt: skip
    path = tmp_path / "m.json"
    path.write_text(Measurement(name="m", points=tuple(points)).to_json())
    return path


def test_compare_loads_a_scenario_as_it_loads_a_device(raidlab, measured):
    by_device = json.loads(raidlab("compare", "m.json", "--device", "fixed.toml", "--json").stdout)
    done = raidlab("compare", "m.json", "--scenario", "one.toml", "--json", "--html", "c.html")
    by_scenario = json.loads(done.stdout)
    # A millisecond a read and one server: 1000 a second whatever the depth.
    for document in (by_device, by_scenario):
        assert [row["simulated_iops"] for row in document["points"]] == pytest.approx(
            [1000, 1000], rel=0.02
        )
        assert document["points"][1]["error_pct"] == pytest.approx(100 * (1000 / 1900 - 1), abs=1)
        assert document["summary"]["points"] == 2
    assert "m and one.toml" in (measured.parent / "c.html").read_text()
    assert "measured points: 2 of 2" in done.stderr


@pytest.mark.parametrize(
    ("system", "what"),
    [
        (("--device", "fixed.toml"), "the drive"),
        (("--scenario", "one.toml"), "the scenario's load"),
    ],
)
def test_compare_says_of_which_points_there_is_not_enough(raidlab, measured, system, what):
    first, second = Measurement.model_validate_json(measured.read_text()).points
    areas = (
        first.model_copy(update={"area_bytes": 10**9}),
        second.model_copy(update={"area_bytes": 10**12}),
    )
    measured.write_text(Measurement(name="m", points=areas).to_json())
    done = raidlab("compare", "m.json", *system)
    assert f"note: 1 of the points loaded more than {what} has: it is loaded wholly" in done.stderr


def test_compare_says_that_writes_meet_no_collection_where_no_state_is_stated(raidlab, measured):
    """A drive that was never overwritten takes random writes several times faster."""
    (first, _) = Measurement.model_validate_json(measured.read_text()).points
    wrote = {"name": "w", "rw": "randwrite", "read_share": 0.0, "read": None, "write": first.read}
    for state, said in ((None, True), ("steady-state", False)):
        point = first.model_copy(update={**wrote, "state": state})
        measured.write_text(Measurement(name="m", points=(point,)).to_json())
        done = raidlab("compare", "m.json", "--device", "teaching-ssd")
        assert ("--state steady-state" in done.stderr) is said, done.stderr


def test_compare_refuses_a_scenario_in_which_something_happens(raidlab, measured):
    text = (measured.parent / "one.toml").read_text()
    event = '[[event]]\nat = "1 s"\naction = "power-fail"\n'
    (measured.parent / "fails.toml").write_text(text + event)
    done = raidlab("compare", "m.json", "--scenario", "fails.toml")
    assert done.returncode == 2
    assert 'fails.toml: event = "1 of them": none' in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--scenario", "one.toml", "--host", "ahci"), '--host = "ahci": only with --device'),
        (("--scenario", "one.toml", "--mapped", "0.5"), "--mapped = 0.5: only with an SSD"),
        (("--device", "fixed.toml", "--mapped", "0.5"), "--mapped = 0.5: only with an SSD"),
        (("--device", "fixed.toml", "--only", "iodepth=9"), '--only = "iodepth=9"'),
        (("--device", "fixed.toml", "--host", "lsi2008"), '--host = "lsi2008": a host'),
        (("--device", "fixed.toml", "--html", "a", "--report", "b"), '--report = "b": the same'),
    ],
)
def test_compare_reports_what_would_have_no_effect(raidlab, measured, arguments, reported):
    done = raidlab("compare", "m.json", *arguments)
    assert done.returncode == 2
    assert reported in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--host", "lsi2008"), '--host = "lsi2008": a host; this is a controller'),
        (("--fix", "servants=2"), '--fix = "servants"'),
        (("--free", "host.wait"), '--free = "host.wait"'),
        (("--tie", "service=service"), '--tie = "service=service"'),
        (("--train", "iodepth=9"), '--train = "iodepth=9"'),
        (("--name", "Bad_Name"), '--name = "Bad_Name": text of the form'),
        (("--set", "capacity=5"), "--set: capacity = 5: a unit is missing"),
        (("--set", "severs=2"), "--set: severs: unknown key"),
        (("--set", "severs=2"), 'did you mean "servers"?'),
        (("--set", "capacity.x.y=2"), "--set: capacity.x.y = 2: capacity is a value and no table"),
        (("--set", "name=other"), '--set: name = "other": left out: --name says it'),
    ],
)
def test_calibrate_names_the_option_that_is_wrong(raidlab, measured, arguments, reported):
    done = raidlab("calibrate", "m.json", "--kind", "station", *arguments)
    assert done.returncode == 2
    assert reported in done.stderr
    assert "steps of the fit" not in done.stderr


def test_a_fault_of_no_key_begins_with_what_is_wrong():
    assert str(Fault("", "somewhere", "holds no file")) == '"somewhere": holds no file'


def test_an_interrupted_validation_says_how_to_go_on(raidlab, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("RAIDLAB_STORE", str(tmp_path / "store.sqlite"))

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(validating, "compare", stop)
    with pytest.raises(typer.Exit) as ended:
        validating.validate(source="p320h")
    assert ended.value.exit_code == 130
    assert "interrupted: the same command goes on from here" in capsys.readouterr().err


def test_the_page_of_a_comparison_says_the_seed_that_it_had(raidlab, measured, tmp_path):
    raidlab("compare", "m.json", "--device", "fixed.toml", "--seed", "7", "--html", "c.html")
    assert "seed 7." in (tmp_path / "c.html").read_text()


def test_a_command_of_an_earlier_version_is_reported_with_its_name_now(raidlab):
    done = raidlab("tier", "one.toml")
    assert done.returncode == 2 and "'tier' is named 'ssd-cache' now" in done.stderr


@pytest.mark.parametrize(("word", "meant"), words.COMMANDS.items())
def test_a_command_by_another_name_leads_to_ours(word, meant):
    known = {*cli.COMMANDS, *cli.IMPORTS, *cli.TRACES, "import", "trace", "--help", "--version"}
    first = [part.split()[0].removesuffix(",") for part in meant.replace(", or ", "\n").split("\n")]
    assert set(first) <= known and (word not in known or word in cli.RENAMED)
    done = CliRunner().invoke(cli.app, [word])
    said = " ".join(done.output.replace("│", " ").split())
    assert done.exit_code == 2 and (meant in said or word in cli.RENAMED)


@pytest.mark.parametrize("word", words.OPTIONS)
def test_an_option_that_a_command_does_not_have_leads_to_what_is_meant(word):
    done = CliRunner().invoke(cli.app, ["validate", word])
    said = " ".join(done.output.replace("│", " ").split())
    assert done.exit_code == 2
    assert words.OPTIONS[word] in said and "Possible options" not in said
