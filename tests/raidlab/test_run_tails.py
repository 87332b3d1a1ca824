"""`raidlab run`: single I/Os, tails and goals as a user has them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app

SCENARIO = """
title = "Two disks"
[controller]
model = "lsi2008"
[[array]]
level = "raid1"
drives = [{ model = "generic-15000rpm", count = 2 }]
[[workload]]
name = "mail"
rw = "randrw"
block_size = "4 KiB"
outstanding = 4
[run]
warm_up = "100 ms"
duration = "1 s"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO)
    return str(path)


def _run(*arguments: str):
    return CliRunner().invoke(app, ["run", *arguments], env={"COLUMNS": "120"})


def test_everything_is_there_that_was_asked_for(scenario: str, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    found = _run(scenario, "--json", "--trace-ios", "20", "--goal", "p99 < 60 ms",
                 "--html", str(page), "--trace-json", str(trace))  # fmt: skip
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert len(document["ios"]) == 20
    (goal,) = document["goals"]
    assert goal["workload"] == "mail" and 0 < goal["ios_within"] <= 1
    (row,) = document["results"]
    assert len(row["slowest"]) == 100
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event.get("cat") == "io" for event in events) == 20
    text = page.read_text()
    assert len(text) < 1_500_000
    for words in ("Latency of reads over time", "slowest I/Os waited longest", "Goals",
                  "Drag over a part to enlarge it"):  # fmt: skip
        assert words in text


def test_tables_list_the_slowest_and_the_goals(scenario: str) -> None:
    found = _run(scenario, "--slowest", "3", "--goal", "mail: write p95 < 1 us")
    assert found.exit_code == 0, found.output
    assert "The slowest I/Os" in found.stdout
    assert "within, %" in found.stdout
    plain = _run(scenario)
    assert "The slowest" not in plain.stdout and "within" not in plain.stdout


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--goal", "p98 < 1 ms", "p98"),
        ("--goal", "usable > 1 TB", "a latency or a rate"),
        ("--goal", "post: p99 < 1 ms", "mail"),
        ("--trace-from", "soon", "2 s"),
        ("--trace-ios", "10001", "10000"),
        ("--slowest", "-1", "0"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    scenario: str, option: str, value: str, said: str
) -> None:
    found = _run(scenario, option, value)
    assert found.exit_code == 2
    assert option in found.output and said in found.output
    assert "Traceback" not in found.output
