"""Files checked without a run: what they are, all their faults, nothing else."""

import json
from pathlib import Path

import pytest

from raidlab.scenarios import _engine
from raidlab.scenarios.files.checks import check_file, files_in
from raidlab.scenarios.files.kinds import WrittenKind, kind_of_tree

SCENARIO = """
[[array]]
level = "raid5"
software_raid = "os"
drives = [{ model = "generic-7200rpm", count = 4 }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = [1, 8]
[run]
replications = 3
"""
DEVICE = """
kind = "station"
name = "mine"
capacity = "1 TB"
service = { value = "5 ms", source = "assumed" }
distribution = "fixed"
[sources]
capacity = "assumed"
"""
SHEET = """
kind = "ssd"
name = "mine-960"
capacity = "960 GB"
interface = "sata-6g"
random_read = "90000 IO/s"
"""
QUESTION = """
goals = ["p99 < 20 ms"]
[[load]]
rw = "randread"
block_size = "4 KiB"
rate = "100 IO/s"
[[candidates]]
drives = ["generic-7200rpm"]
counts = [4, 6]
levels = ["raid5"]
"""
JOBS = "[a]\nrw=randread\nbs=4k\nsize=1g\n[b]\nrw=write\nbs=64k\nsize=1g\n"
FILES = {
    "s.toml": (SCENARIO, WrittenKind.SCENARIO, "4 drives, 6 runs"),
    "d.toml": (DEVICE, WrittenKind.DEVICE, "station mine"),
    "sheet.toml": (SHEET, WrittenKind.SHEET, "ssd mine-960"),
    "q.toml": (QUESTION, WrittenKind.QUESTION, "2 candidates, 2 of them can be built"),
    "j.fio": (JOBS, WrittenKind.JOBS, "2 jobs"),
}


@pytest.fixture
def folder(tmp_path):
    for name, (text, _, _) in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_file_shows_what_it_is(folder, name):
    found = check_file(folder / name)
    assert found.faults == ()
    assert (found.kind, found.holds) == FILES[name][1:]


def test_nothing_is_simulated(folder, monkeypatch):
    monkeypatch.delattr(_engine, "run")
    monkeypatch.delattr(_engine, "Simulation")
    assert all(not check_file(folder / name).faults for name in FILES)


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"arry": [], "workload": []}, WrittenKind.SCENARIO),
        ({"candidate": [], "goals": [], "load": []}, WrittenKind.QUESTION),
        ({"kind": "hdd", "name": "x", "speed": "7200 rpm", "seek": {}}, WrittenKind.DEVICE),
        ({"kind": "hdd", "name": "x", "rpm": "7200 rpm"}, WrittenKind.SHEET),
        ({"kind": "controller", "chip": "x", "cores": 2}, WrittenKind.SHEET),
        ({"kind": "nothing"}, WrittenKind.DEVICE),
        ({"like": "generic-7200rpm"}, WrittenKind.DEVICE),
        ({"x": 1}, None),
    ],
)
def test_slips_do_not_hide_what_a_file_is(tree, kind):
    assert kind_of_tree(tree) is kind


def test_a_folder_is_all_its_files(folder):
    (folder / "notes.md").write_text("none of them")
    assert [each.name for each in files_in([folder])] == sorted(FILES)


def test_the_command_says_all_faults_of_all_files(raidlab, folder):
    (folder / "s.toml").write_text(SCENARIO.replace("level =", "levle =").replace("7200", "7201"))
    (folder / "j.fio").write_text(JOBS.replace("randread", "ranread"))
    done = raidlab("check", str(folder))
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 3
    assert any('levle: unknown key; did you mean "level"?' in line for line in errors)
    assert any('did you mean "generic-7200rpm"?' in line for line in errors)
    assert any('j.fio:2: [a] rw = "ranread"' in line for line in errors)
    lines = done.stdout.splitlines()
    assert len(lines) == len(FILES)
    assert f"{folder / 's.toml'}: scenario, 2 faults" in lines
    assert f"{folder / 'd.toml'}: device, station mine" in lines


def test_the_document_has_the_faults(raidlab, folder):
    (folder / "d.toml").write_text(DEVICE.replace('"5 ms"', '"5 parsecs"'))
    done = raidlab("check", "--json", str(folder / "d.toml"), str(folder / "q.toml"))
    assert done.returncode == 2
    device, question = json.loads(done.stdout)["files"]
    fault = device["faults"][0]
    assert (fault["key"], fault["value"]) == ("service", "5 parsecs")
    assert fault["file"].endswith("d.toml")
    assert (question["kind"], question["faults"]) == ("question", [])


def test_what_is_none_of_them_is_said(raidlab, tmp_path):
    (tmp_path / "x.toml").write_text("x = 1\n")
    done = raidlab("check", str(tmp_path / "x.toml"), str(tmp_path / "none.toml"))
    assert done.returncode == 2
    assert "x.toml: a file of raidlab: a scenario has [[array]]" in done.stderr
    assert "none.toml: No such file" in done.stderr
    assert raidlab("check", "--as", "device", str(tmp_path / "x.toml")).returncode == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "a folder with .toml or .fio files" in raidlab("check", str(empty)).stderr


def test_the_library_is_right():
    root = Path(__file__).parents[3] / "scenarios" / "library"
    faults = [each.faults for path in files_in([root]) if path.suffix == ".toml"
              for each in [check_file(path)]]  # fmt: skip
    assert not any(faults)
