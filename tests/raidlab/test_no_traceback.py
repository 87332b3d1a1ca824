"""What ended in a traceback, or was wrong in silence: a line each, with file, key and value."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from raidlab.devices.files import why_unwritable
from raidlab.scenarios.running.store import default_path
from raidlab.scenarios.studies.vary import axes_of
from tests import command_server
from tests.raidlab.test_cli import SCENARIO, STATION, command

SHEET = """name = "x1"
kind = "{kind}"
capacity = "960 GB"
interface = "sata-6g"
{more}
"""
QUESTION = """currency = "EUR"
goals = ["p99 < 20 ms"]
[[load]]
rw = "randread"
block_size = "8 KiB"
rate = "200 IO/s"
[[candidates]]
drives = ["dc600m-960"]
counts = [4]
levels = ["raid5"]
[[price]]
device = "dc600m-960"
cost = {cost}
{more}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fixed.toml").write_text(STATION)
    (tmp_path / "s.toml").write_text(SCENARIO % "1 s")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "nowhere").symlink_to("absent")
    ssd = 'random_read = "50000 IO/s"\nread_latency = "1 s"'
    (tmp_path / "sheet.toml").write_text(SHEET.format(kind="ssd", more=ssd))
    hdd = "rpm = 7200\nheads = 3\nplatters = 9"
    (tmp_path / "heads.toml").write_text(SHEET.format(kind="hdd", more=hdd))
    again = '[[price]]\ndevice = "dc600m-960"\ncost = 3'
    (tmp_path / "twice.toml").write_text(QUESTION.format(cost=190, more=again))
    (tmp_path / "large.toml").write_text(QUESTION.format(cost=1e308, more=""))
    two = '\n[[workload]]\nname = "j"\nfio = "no.fio"\n[[workload]]\nname = "t"\ntrace = "no.csv"\n'
    (tmp_path / "absent.toml").write_text(SCENARIO % "1 s" + two)
    return tmp_path


def run(folder: Path, *words: str, **settings):
    store = {"RAIDLAB_STORE": str(folder / "runs.sqlite")}
    if not settings:
        done = command_server.run(*words, cwd=folder, env=store)
    else:
        environment = os.environ | store | settings.pop("env", {})
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
        done = subprocess.run(command(*words), cwd=folder, env=environment, text=True, **settings)
    assert "Traceback" not in (done.stderr or "") + (done.stdout or "")
    return done


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("risk s.toml --shape 1e-9 --rebuild 10", "--shape = 1e-09: from 0.1 to 20"),
        ("risk s.toml --afr 1e-12 --shape 0.1 --rebuild 10", "--afr"),
        ("import datasheet sheet.toml --out d.toml", 'read_latency = "1 s": at most 10 ms'),
        ("import datasheet heads.toml --out d.toml", "heads = 3: at least 9"),
        ("run s.toml --html a", "a: cannot be written: Too many levels of symbolic links"),
        ("run s.toml --html a/x", "a/x: cannot be written"),
        ("run s.toml --html nowhere/x", "nowhere is a link to nothing"),
        ("plan twice.toml", 'twice.toml: price.1.device = "dc600m-960": a device that has no'),
        ("plan large.toml", "large.toml: price.0.cost = 1e+308"),
        ("run absent.toml", 'absent.toml: workload.1.fio = "no.fio": a job file that can be read'),
        ("run absent.toml", 'absent.toml: workload.2.trace = "no.csv": a trace that can be read'),
        ("sweep s.toml --vary workload.-1.outstanding=1,2", "lists by index from 0"),
        ("lab --list --site x", "--list: left out beside --site"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(folder, words, said):
    done = run(folder, *words.split())
    assert done.returncode == 2 and done.stderr.startswith("error: ") and said in done.stderr


def test_a_byte_order_mark_is_no_fault(folder):
    (folder / "s.toml").write_bytes(b"\xef\xbb\xbf" + (folder / "s.toml").read_bytes())
    assert run(folder, "run", "s.toml").returncode == 0


def test_closed_streams_and_narrow_encodings_end_nothing(folder):
    done = run(folder, "devices", preexec_fn=lambda: os.close(1))
    assert done.returncode == 0 and not done.stderr
    closed = run(folder, "run", "s.toml", "--html", "p.html", preexec_fn=lambda: os.close(1))
    assert closed.returncode == 0 and "<html" in (folder / "p.html").read_text()
    (folder / "s.toml").write_text((folder / "s.toml").read_text().replace("One drive", "Größe"))
    done = run(folder, "run", "s.toml", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and r"Gr\xf6\xdfe" in done.stdout


def test_the_last_unit_of_a_list_holds_for_all():
    (axis,) = axes_of(["array.0.stripe_unit=16,64,1024 KiB"])
    assert axis.values == ("16 KiB", "64 KiB", "1024 KiB")
    (axis,) = axes_of(["workload.0.rate=100 IO/s,2 kIO/s"])
    assert axis.values == ("100 IO/s", "2 kIO/s")
    (axis,) = axes_of(["workload.0.block_size=4,8 KiB,16 KiB"])
    assert axis.values == (4, "8 KiB", "16 KiB")


def test_a_relative_cache_folder_is_ignored(monkeypatch):
    monkeypatch.delenv("RAIDLAB_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert default_path() == Path.home() / ".cache/raidlab/runs.sqlite"
    monkeypatch.setenv("XDG_CACHE_HOME", "/there")
    assert default_path() == Path("/there/raidlab/runs.sqlite")


def test_a_new_file_can_be_written(tmp_path):
    assert why_unwritable(tmp_path / "new/folder/file") is None
