"""What a run with events says of them and of its data, in its table and on its page."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.scenarios.report.runs.event_summary import integrity_summary, logged, whose
from raidlab.scenarios.report.runs.report import html_report
from raidlab.scenarios.running.simulate import simulate

MIRROR = """
[controller]
model = "lsi2008"
[[array]]
name = "data"
level = "raid1"
drives = [{{ model = "{drive}", count = 2 }}]
[[workload]]
name = "w"
profile = "database"
rate = "100 IO/s"
area = "1 MiB"
[run]
warm_up = "1 s"
duration = "2 s"
"""
BOTH_FAIL = """
[[event]]
at = "2 s"
action = "fail-drive"
drive = 0
[[event]]
at = "2 s"
action = "fail-drive"
drive = 1
"""


@pytest.fixture
def mirror(drives, tmp_path):
    def written(events=BOTH_FAIL):
        path = tmp_path / "mirror.toml"
        path.write_text(MIRROR.format(drive=drives / "sas.toml") + events)
        return path

    return written


def test_events_and_what_they_cost_stand_below_the_table(mirror):
    reported = CliRunner().invoke(app, ["run", str(mirror())])
    assert reported.exit_code == 0, reported.output
    lost = simulate(mirror()).data
    assert "drive data/sas.1 failed" in reported.stdout
    assert f"{lost['lost_writes']} were lost" in reported.stdout
    assert f"{lost['refused_reads']} were refused" in reported.stdout
    assert "refused or cut off" in reported.stdout
    quiet = CliRunner().invoke(app, ["run", str(mirror(events=""))])
    assert "What happened" not in quiet.stdout
    assert "acknowledged" not in quiet.stdout


def test_of_several_runs_the_last_is_shown_and_named(mirror):
    path = mirror()
    path.write_text(path.read_text().replace("[run]", "[run]\nreplications = 2"))
    result = simulate(path)
    assert whose(result) == "w, open load, replication 1"
    assert whose(result) in html_report(result)
    assert integrity_summary(result)[0].startswith("In all 2 runs together, of ")
    assert len(logged(result)) == 2


def test_data_that_stood_there_before_are_reported_from_writes_of_the_run(mirror):
    result = simulate(mirror())
    before = "had been there before the run"
    assert result.data["lost_writes"] > 0
    assert before not in " ".join(integrity_summary(result))
    kept = replace(result, data=dict(result.data) | {"lost_writes": 0})
    assert before in " ".join(integrity_summary(kept))
    assert before in html_report(kept)


def test_loads_put_together_have_events_without_a_rate(mirror):
    result = simulate(mirror())
    merged = replace(result, results=tuple(row | {"periods": []} for row in result.results))
    whats = [period.what for period in logged(merged)]
    assert whats[:2] == ["drive data/sas.0 failed", "drive data/sas.1 failed"]
    assert "drive data/sas.0 failed" in html_report(merged)
