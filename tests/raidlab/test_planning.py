"""sweep, size, risk and plan on the command line: exit codes, JSON, stores that are named."""

import json
import sqlite3

import pytest

from tests import command_server

STATION = """
kind = "station"
name = "fixed"
capacity = "100 GB"
service = "1 ms"
[sources]
all = "assumed"
"""
SCENARIO = """
title = "One drive"
[[array]]
drives = [{ model = "fixed.toml" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
rate = "500 IO/s"
[run]
warm_up = "10 ms"
duration = "2 s"
"""
QUESTION = """
title = "Which?"
goals = ["p99 < %s"]
[[load]]
rw = "randread"
block_size = "4 KiB"
rate = "500 IO/s"
[run]
warm_up = "100 ms"
duration = "2 s"
[[candidates]]
drives = ["fixed.toml"]
counts = [1, 2]
levels = ["jbod"]
"""


@pytest.fixture
def raidlab(tmp_path):
    (tmp_path / "fixed.toml").write_text(STATION)
    (tmp_path / "one.toml").write_text(SCENARIO)
    (tmp_path / "hard.toml").write_text(QUESTION % "1 us")

    def run(*arguments):
        store = {"RAIDLAB_STORE": str(tmp_path / "store.sqlite")}
        done = command_server.run(*arguments, cwd=tmp_path, env=store)
        assert "Traceback" not in done.stderr + done.stdout
        return done

    return run


def test_a_sweep_writes_rows_and_a_named_store(raidlab, tmp_path):
    vary = ["--vary", "workload.0.rate=100:300:100 IO/s"]
    files = ["--csv", "rows.csv", "--parquet", "rows.parquet", "--html", "page.html"]
    done = raidlab("sweep", "one.toml", *vary, "--json", *files, "--store", "own.sqlite")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["workload.0.rate"] for row in document["rows"]] == [
        "100 IO/s", "200 IO/s", "300 IO/s",
    ]  # fmt: skip
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 4
    assert (tmp_path / "rows.parquet").read_bytes()[:4] == b"PAR1"
    assert "Plotly.newPlot" in (tmp_path / "page.html").read_text()
    with sqlite3.connect(tmp_path / "own.sqlite") as db:
        assert db.execute("SELECT count(*) FROM entry").fetchone()[0] == 3
        db.execute("PRAGMA user_version = 99")
    done = raidlab("sweep", "one.toml", *vary, "--store", "own.sqlite")
    assert done.returncode == 2 and "of a later raidlab" in done.stderr


def test_size_exits_with_1_where_nothing_meets_the_goal(raidlab):
    vary = ["--vary", "workload.0.rate=100:900:100 IO/s"]
    done = raidlab("size", "one.toml", *vary, "--goal", "p99 < 1 us", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["answer"] is None


def test_risk_prints_its_document(raidlab):
    done = raidlab("risk", "one.toml", "--years", "1", "--afr", "2", "--json")
    document = json.loads(done.stdout)
    # One drive without redundancy: the share that fails in a year.
    assert document["loss_probability"] == pytest.approx(0.02, rel=1e-6)
    assert document["rebuild_hours"] is None and document["method"]


def test_plan_exits_with_1_where_no_candidate_fits(raidlab, tmp_path):
    done = raidlab("plan", "hard.toml", "--json", "--html", "page.html")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["recommended"] is None
    assert document["nearest"] in [each["name"] for each in document["candidates"]]
    assert "The nearest is" in (tmp_path / "page.html").read_text()


def test_a_file_of_something_else_is_no_store_and_stays_where_it_is(raidlab, tmp_path):
    before = (tmp_path / "one.toml").read_bytes()
    done = raidlab("sweep", "one.toml", "--vary", "run.seed=1,2", "--store", "one.toml")
    assert done.returncode == 2 and "one.toml is a scenario" in done.stderr
    assert (tmp_path / "one.toml").read_bytes() == before


def test_risk_says_all_that_is_wrong_at_once(raidlab):
    wrong = ["--afr", "200", "--bad-batch", "x", "--goal", "p97 < 1 ms", "--years", "0"]
    done = raidlab("risk", "one.toml", *wrong)
    assert done.returncode == 2
    for option in wrong[::2]:
        assert f"error: {option}" in done.stderr


def test_the_page_of_a_risk_has_every_option_that_made_it(raidlab, tmp_path):
    given = [
        *("--afr", "2.5", "--shape", "1.2", "--bad-batch", "5:10", "--uber", "0", "--seed", "0"),
        *("--latent", "0.5", "--patrol", "7", "--replace", "3", "--age", "1"),
    ]
    done = raidlab("risk", "one.toml", *given, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert f"{option} {value}" in page


def test_the_help_shows_what_stands_in_brackets(raidlab):
    assert "`[sources]`" in raidlab("sensitivity", "--help").stdout
