"""fio's command line comes apart as fio itself takes it apart."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fio import command_line
from raidlab.calibration.fio.command_line import split, words
from raidlab.calibration.fio.native import run_line
from raidlab.cli import app
from raidlab.devices.faults import SpecError


def options(line):
    return [(section.name, section.options) for section in line.sections]


def test_options_before_the_first_name_hold_for_all_jobs_those_of_files_too():
    given = ["--bs=4k", "--name=a", "--rw=read", "--name", "b", "job.fio", "--output-format=json"]
    line = split(given)
    assert options(line) == [
        ("global", [("bs", "4k")]),
        ("a", [("rw", "read")]),
        ("b", []),
    ]
    assert (line.program, line.files) == (["--output-format=json"], ["job.fio"])


def test_a_value_may_follow_as_the_next_word_but_not_that_of_a_flag():
    line = split(["--name", "t", "--rw", "randread", "--thread", "job.fio", "--minimal"])
    assert options(line) == [("t", [("rw", "randread"), ("thread", None)])]
    assert (line.program, line.files) == (["--minimal"], ["job.fio"])


def test_options_of_the_program_may_have_their_value_apart():
    line = split(["--output-format", "json", "-output=x", "a"])
    assert line.program == ["--output-format=json", "--output=x"]
    assert line.value("output") == "x" and line.value("eta") is None


def test_what_was_taken_apart_makes_the_same_line():
    line = ["--bs=4k", "--name=a", "--rw=read", "--name=global", "--exec_prerun=a;b", "--name=b"]
    assert words(split(line).sections) == line


def test_standard_input_and_what_follows_two_dashes_are_job_files():
    assert split(["-", "--", "--odd.fio"]).files == ["-", "--odd.fio"]


def test_a_name_may_be_cut_short_where_it_is_clear():
    known = frozenset({"runtime", "ramp_time", "rw"})
    line = split(["--runt=3", "--r=1"], known)
    assert options(line) == [("global", [("runtime", "3"), ("r", "1")])]


@pytest.mark.parametrize("word", ["--version", "--enghelp=libaio", "--cmdhelp", "--showcmd"])
def test_what_does_no_io_is_known(word):
    assert split([word]).alone == word.lstrip("-").partition("=")[0]


def test_what_no_simulated_system_can_serve_is_refused_all_at_once():
    with pytest.raises(SpecError) as caught:
        split(["--server", "--client=host", "--profile", "act", "--idle-prof=system"])
    keys = [fault.key for fault in caught.value.faults]
    assert keys == ["--server", "--client", "--profile", "--idle-prof"]


def test_what_would_act_on_this_machine_is_left_out_and_named():
    line = split(["--trigger=reboot", "--trigger-file", "/tmp/go", "--aux-path=/srv", "job.fio"])
    assert (line.program, line.files) == ([], ["job.fio"])
    assert [each.partition(" ")[0] for each in line.left_out] == [
        "--trigger",
        "--trigger-file",
        "--aux-path",
    ]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_every_option_of_the_installed_program_is_known():
    done = subprocess.run(["fio", "--help"], capture_output=True, text=True, check=True)
    names = set(re.findall(r"^  --([a-z-]+)", done.stdout, re.MULTILINE))
    assert len(names) > 30
    tables = (
        command_line.PROGRAM,
        command_line.LONE_OPTIONS,
        command_line.LEFT_OUT,
        command_line.REFUSED,
    )
    assert names <= set().union(*tables)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_the_installed_fio_says_which_job_options_it_has():
    known = command_line.job_options(shutil.which("fio"))
    assert {"rw", "readwrite", "iodepth", "write_bw_log", "verify_async"} <= known


def test_options_beside_a_job_file_hold_for_jobs_without_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They stand in no line of the file, the options of its `[global]` do."""
    job = tmp_path / "x.fio"
    job.write_text("[global]\nrw=randread\n[a]\nsize=1m\n[b]\nsize=1m\nnumber_ios=7\n")
    run_line([str(job), "--number_ios=5", "--stonewall"], device="fivex")
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert [each["read"]["total_ios"] for each in jobs] == [5, 7]
    with pytest.raises(SpecError, match="iodeph"):
        run_line([str(job), "--iodeph=5"], device="fivex")


def test_only_the_named_sections_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "x.fio"
    job.write_text("[global]\nrw=randread\nnumber_ios=5\nsize=1m\n[a]\n[b]\n[net]\nioengine=net\n")
    run_line([str(job), "--section=b", "--section", "a"], device="fivex")
    assert [each["jobname"] for each in json.loads(capsys.readouterr().out)["jobs"]] == ["a", "b"]
    with pytest.raises(SpecError, match=r'--section = "nett": one of a, b, net') as caught:
        run_line([str(job), "--section=nett"], device="fivex")
    assert 'did you mean "net"?' in str(caught.value)


def test_the_slowest_ios_have_their_job_and_what_they_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "x.fio"
    job.write_text("[global]\nrw=randread\nbs=4k\nnumber_ios=60\nsize=40g\n[near]\n[far]\n")
    run_line([str(job), "--output-format=json"], device="generic-7200rpm")
    document = json.loads(capsys.readouterr().out)
    slowest = document["raidlab"]["slowest"]
    assert len(slowest) == 100 and {slow["job"] for slow in slowest} == {"near", "far"}
    latencies = [slow["latency_us"] for slow in slowest]
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] * 1e3 == max(job["read"]["lat_ns"]["max"] for job in document["jobs"])
    assert any("the platter" in slow["waited_for"] for slow in slowest)


@pytest.mark.parametrize("native", [(), ("--native",)])
def test_a_scenario_in_the_place_of_a_job_says_how_it_is_given(tmp_path, monkeypatch, native):
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text('[host]\nmodel = "nvme"\n')
    done = CliRunner().invoke(app, ["fio", *native, "s.toml", "job.fio"])
    assert done.exit_code == 2
    assert "--scenario FILE" in done.output and "s.toml" in done.output
