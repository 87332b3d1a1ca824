"""What commands leave behind where they are stopped or a disk is full: nothing is lost."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from raidlab.scenarios.running.store import Store
from tests import command_server
from tests.raidlab.test_cli import SCENARIO, STATION, command

FULL = Path("/dev/full")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fixed.toml").write_text(STATION)
    # A tenth of a second of work each, and more.
    points = SCENARIO.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]")
    (tmp_path / "six.toml").write_text(points % "200 s")
    (tmp_path / "long.toml").write_text(points.replace("One drive", "Long") % "200000 s")
    return tmp_path


def run(folder, *arguments, **settings):
    store = {"RAIDLAB_STORE": str(folder / "store.sqlite")}
    if not settings:
        done = command_server.run(*arguments, cwd=folder, env=store)
    else:
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
        line = command(*arguments)
        done = subprocess.run(line, cwd=folder, env=os.environ | store, text=True, **settings)
    assert "Traceback" not in (done.stderr or "") + (done.stdout or "")
    return done


def begun(folder, *arguments):
    environment = os.environ | {"RAIDLAB_STORE": str(folder / "store.sqlite")}
    return subprocess.Popen(
        command(*arguments), cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def stored(folder):
    with Store(folder / "store.sqlite") as store:
        return store.overview().entries


def test_ctrl_c_leaves_an_older_complete_result_as_it_was(folder):
    """`o/result.json` shrank to what was done so far, or to nothing."""
    wanted = "run", "six.toml", "--out", "o", "--html", "page.html"
    assert run(folder, *wanted).returncode == 0
    files = [*sorted((folder / "o").iterdir()), folder / "page.html"]
    before = [each.read_bytes() for each in files]
    (folder / "six.toml").write_text((folder / "long.toml").read_text())
    for wait_s in (0.0, 0.5):
        process = begun(folder, *wanted, "--workers", "1")
        assert "0 of 6" in process.stderr.readline()
        time.sleep(wait_s)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        assert [each.read_bytes() for each in files] == before


def test_what_is_partial_is_named_so_and_leaves_when_it_is_complete(folder):
    text = (folder / "six.toml").read_text().replace("[1, 2, 3, 4, 5, 6]", "[1, 2]")
    (folder / "two.toml").write_text(text.replace("200 s", "8000 s"))
    wanted = "run", "two.toml", "--out", "o", "--html", "page.html", "--workers", "1"
    process = begun(folder, *wanted)
    while "1 of 2" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    names = "report.partial.html", "result.partial.json", "table.partial.csv"
    assert sorted(each.name for each in (folder / "o").iterdir()) == list(names)
    assert (folder / "page.partial.html").exists() and not (folder / "page.html").exists()
    partial = json.loads((folder / "o/result.partial.json").read_text())
    assert partial["interrupted"] and len(partial["results"]) == 1
    assert "wrote o/result.partial.json" in err
    # Done at once: the finished run is found again.
    done = run(folder, *wanted)
    assert done.returncode == 0 and ": 1 of 2" in done.stderr and ": 0 of 2" not in done.stderr
    names = "report.html", "result.json", "table.csv"
    assert sorted(each.name for each in (folder / "o").iterdir()) == list(names)
    assert not (folder / "page.partial.html").exists()
    complete = json.loads((folder / "o/result.json").read_text())
    assert not complete["interrupted"] and complete["results"][:1] == partial["results"]


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("full", ["stdout", "html"])
def test_finished_runs_outlive_a_full_disk(folder, full):
    """Twelve finished runs were gone, and the rerun began at 0."""
    if full == "stdout":
        with FULL.open("w") as file:
            done = run(folder, "run", "six.toml", "--json", "--html", "p.html", stdout=file)
        # Standard output does not keep the page from being written.
        assert (folder / "p.html").exists()
        assert done.stderr.splitlines()[-1] == "error: standard output: No space left on device"
    else:
        done = run(folder, "run", "six.toml", "--json", "--html", "/dev/full", "--out", "o")
        assert len(json.loads(done.stdout)["results"]) == 6
        assert (folder / "o/result.json").exists()
        said = [line for line in done.stderr.splitlines() if line.startswith("error")]
        assert said == ["error: /dev/full: cannot be written: No space left on device"]
    assert done.returncode == 2
    again = run(folder, "run", "six.toml", "--json")
    assert "One drive: 6 of 6" in again.stderr and "0 of 6" not in again.stderr


def test_a_file_that_the_system_limits_costs_neither_run_nor_older_file(folder):
    wanted = "run", "six.toml", "--out", "o", "--json"
    first = run(folder, *wanted)
    before = (folder / "o/report.html").read_bytes()

    def limit():
        # Less than a page, more than a document.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_100_000, 1_100_000))

    done = run(folder, *wanted, preexec_fn=limit)
    assert done.returncode == 2 and done.stdout == first.stdout
    assert "o/report.html: cannot be written: File too large" in done.stderr
    assert (folder / "o/report.html").read_bytes() == before
    assert not [each for each in (folder / "o").iterdir() if each.name.startswith(".")]


def test_a_store_that_cannot_grow_costs_no_result(folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = run(folder, "run", "six.toml", "--json", preexec_fn=limit)
    assert done.returncode == 0 and len(json.loads(done.stdout)["results"]) == 6
    warned = [line for line in done.stderr.splitlines() if line.startswith("warning")]
    assert len(warned) == 1 and "store.sqlite: " in warned[0]
    assert run(folder, "run", "six.toml", "--json").stdout == done.stdout


@pytest.mark.parametrize("content", [b"noise" * 1000, b""])
def test_a_damaged_store_costs_no_result(folder, content):
    first = run(folder, "run", "six.toml", "--json").stdout
    (folder / "store.sqlite").write_bytes(content)
    done = run(folder, "run", "six.toml", "--json")
    assert done.returncode == 0 and done.stdout == first
    assert ("moved to store.sqlite.damaged-1" in done.stderr) == bool(content)
    assert stored(folder) == 6


def test_the_store_is_listed_and_cleared(folder):
    run(folder, "run", "six.toml", "--json")
    listed = json.loads(run(folder, "store", "list", "--json").stdout)
    assert listed["entries"] == 6 and listed["format"] == 2
    assert listed["store"].endswith("store.sqlite")
    assert 0 < listed["content_bytes"] < listed["file_bytes"] < listed["limit_bytes"] == 10**9
    (engine,) = listed["engines"]
    assert engine["current"] and engine["entries"] == 6 and len(engine["digest"]) == 64
    shown = run(folder, "store", "list").stdout
    assert "6 entries" in shown and "this one" in shown
    with sqlite3.connect(folder / "store.sqlite") as db:
        db.execute("INSERT INTO engine VALUES (99, '0.0.1', x'00')")
        db.execute("INSERT INTO entry VALUES (x'01', 99, 1, x'02')")
    assert "Cleared 1 entries. 6 entries" in run(folder, "store", "clear", "--others").stdout
    cleared = json.loads(run(folder, "store", "clear", "--json").stdout)
    assert cleared["cleared"] == 6 and cleared["entries"] == 0
    assert run(folder, "store", "list", "--others").returncode == 2


def test_a_store_that_cannot_be_used_is_named():
    environment = os.environ | {"RAIDLAB_STORE": "/dev/null"}
    line = command("store", "list")
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr == "error: /dev/null: no file\n"


def test_a_typo_in_the_path_of_an_output_is_said(folder):
    (folder / "results").mkdir()
    short = (folder / "six.toml").read_text().replace("200 s", "1 s")
    (folder / "short.toml").write_text(short)
    done = run(folder, "run", "short.toml", "--out", "resuts/today")
    assert done.returncode == 0
    said = 'note: the folder resuts does not exist: it is made (there is "results")'
    assert said in done.stderr.splitlines()[0]


def test_progress_goes_on_where_more_is_to_do_than_was_said(capsys):
    from raidlab.commands.common import progress

    with progress("it") as tell:
        for done, of in ((0, 2), (2, 2), (2, 4), (3, 4), (4, 4)):
            tell(done, of)
    lines = capsys.readouterr().err.split("\n")
    assert lines == ["it: 0 of 2", "it: 2 of 2", "it: 2 of 4", "it: 3 of 4", "it: 4 of 4", ""]


def test_steps_count_for_themselves_and_claim_no_end_that_nobody_knows(capsys):
    from raidlab.commands.common import progress

    with progress("it") as tell:
        tell.step("all of them")
        tell(0, 1)
        tell(1, 1)
        tell.step("a search")
        tell(0, 0)
        tell(1, 0)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["it, all of them: 0 of 1", "it, all of them: 1 of 1", "it, a search"]
