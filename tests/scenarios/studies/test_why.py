"""`why`: a planted cause comes first, a healthy system has none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Tree
from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.report.studies.why import report
from raidlab.scenarios.studies.why import why
from tests.project.sources import ROOT
from tests.scenarios.studies.planted import HEALTHY, PLANTED, RANDOM, SHORT, diagnosed, drives


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_cause_comes_first(name: str) -> None:
    found = diagnosed(PLANTED[name])
    assert found.causes, found
    first = found.causes[0]
    assert first.code == name.split()[0]
    low, high = first.gain_pct_ci95
    assert 0 < low <= first.gain_pct <= high
    assert first.remedy and first.check and "without it" in first.proof


def test_a_drive_that_sleeps_is_a_cause(tmp_path: Path) -> None:
    sleepy = tmp_path / "sleepy.toml"
    sleepy.write_text(
        'kind = "ssd"\nname = "sleepy"\ntitle = "x"\nlike = "generic-nvme-gen4-tlc-client"\n'
        '[firmware]\nwake = "2 ms"\n[sources]\n'
        '"firmware.wake" = { source = "assumed", note = "a deep power state" }\n'
    )
    load = {"rw": "randread", "block_size": "4 KiB", "rate": "50 IO/s"}
    tree = {"array": [{"drives": drives(str(sleepy))}], "workload": [load], "run": SHORT}
    assert diagnosed(tree).causes[0].code == "power-state"


@pytest.mark.parametrize(
    ("load", "of", "said"),
    [
        ({"outstanding": 16}, "rate", r"Without it \+{gain} % rate\."),
        ({"rate": "50 IO/s"}, "latency", r"With it the latency is {gain} % longer, at the same r"),
    ],
)
def test_a_gain_says_whether_it_is_of_the_rate_or_the_latency(
    load: Tree, of: str, said: str
) -> None:
    """Writes one by one are as many more as they are faster; those at a rate are as many."""
    array = {"level": "raid10", "software_raid": "os", "bitmap": "internal",
             "drives": drives("generic-7200rpm", 4)}  # fmt: skip
    load = {"rw": "randwrite", "block_size": "8 KiB"} | load
    found = diagnosed({"array": [array], "workload": [load], "run": SHORT})
    first = found.causes[0]
    assert (first.code, first.gain_of) == ("bitmap", of) and first.gain_pct > 10
    assert re.search(said.format(gain=f"{first.gain_pct:.0f}"), found.sentence)
    before, after = (
        float(each.replace(",", "")) for each in re.findall(r"at ([\d,]+) us", first.proof)
    )
    assert first.gain_pct == pytest.approx(100 * (before / after - 1), rel=0.2)
    shown = report(found).tables[0]
    assert [column.name for column in shown.columns][1:3] == ["gain", "of"]
    assert shown.rows[0][2] == of == found.to_dict()["causes"][0]["gain_of"]


FAILED = {"at": "0 s", "action": "fail-drive", "drive": 2}


def test_a_failed_drive_is_a_defect_though_its_cost_is_small() -> None:
    """Small writes on RAID 5 keep nearly their rate without a drive; nothing is well with it."""
    array = {"level": "raid5", "software_raid": "os", "bitmap": "none",
             "drives": drives("generic-7200rpm", 6)}  # fmt: skip
    load = {"rw": "randwrite", "block_size": "8 KiB", "outstanding": 16}
    tree = {"array": [array], "workload": [load], "event": [FAILED], "run": SHORT}
    found = diagnosed(tree)
    (cause,) = found.causes
    assert not found.healthy and cause.code == "degraded" and cause.gain_pct < 10
    assert cause.subject == "array-0/generic-7200rpm.2 failed, and no drive takes its place"
    assert "hot spare" in cause.remedy
    assert found.limits[0] in found.sentence
    tried = [each.rsplit(":", 1) for each in found.tried]
    assert len({name for name, _ in tried}) == len(tried) == 2
    assert all(gain.endswith(" %") for _, gain in tried)
    spared = diagnosed(tree | {"array": [array | {"hot_spares": 1}]})
    assert spared.causes[0].subject == "array-0/generic-7200rpm.2 failed"
    late = FAILED | {"at": "1 h"}
    assert diagnosed(tree | {"event": [late]}).healthy


def test_an_array_that_serves_nothing_is_not_healthy() -> None:
    array = {"level": "raid0", "software_raid": "os", "drives": drives("generic-7200rpm", 4)}
    found = diagnosed({"array": [array], "workload": [RANDOM], "event": [FAILED], "run": SHORT})
    assert [each.code for each in found.causes] == ["degraded"]
    assert "with it none" in found.sentence and "no I/O ended" in found.causes[0].proof
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["causes"][0]["gain_pct"] is None
    assert "with it none" in report(found).html()


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_system_has_no_cause(name: str) -> None:
    found = diagnosed(HEALTHY[name])
    assert found.healthy and not found.causes
    assert found.limits and found.limits[0] in found.sentence


def test_loads_without_names_keep_the_rates_that_are_theirs() -> None:
    """An SSD is no faster without a disk that it shares nothing with."""
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 4}
    tree = {
        "array": [
            {"name": "slow", "drives": drives("generic-7200rpm")},
            {"name": "fast", "drives": drives("s4610-480")},
        ],
        "workload": [{"target": "slow"} | load, {"target": "fast"} | load],
        "run": SHORT,
    }
    found = diagnosed(tree)
    assert not found.causes
    assert sum("neighbour" in each for each in found.tried) == len(tree["workload"])
    assert found.limits[0].endswith(" (workload-0, 4 outstanding)")


def test_a_cause_that_is_removed_by_hand_is_gone() -> None:
    tree = PLANTED["bitmap"]
    array = tree["array"][0] | {"bitmap": "none"}
    codes = {each.code for each in diagnosed(tree | {"array": [array]}).causes}
    assert "bitmap" not in codes


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_workers() -> None:
    scenario = scenario_of({"title": "planted", **PLANTED["queue-depth"]})
    one, two = (json.dumps(why(scenario, workers=workers).to_dict()) for workers in (1, 2))
    assert one == two


def test_every_code_has_its_line_in_the_docs() -> None:
    source = (ROOT / "scenarios" / "studies" / "suspects.py").read_text()
    page = (ROOT / "docs" / "reference" / "causes.md").read_text()
    codes = {line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")}
    assert len(codes) == 19
    missing = {code for code in codes if f'"{code}"' not in source}
    assert not missing


def test_the_command_prints_causes_and_writes_a_page(tmp_path: Path) -> None:
    path, page = tmp_path / "s.toml", tmp_path / "why.html"
    path.write_text(
        'title = "eight disks"\ncontroller.model = "lsi2008"\n[[array]]\nlevel = "raid0"\n'
        'drives = [{ model = "generic-15000rpm", count = 8 }]\n[[workload]]\nrw = "randread"\n'
        'block_size = "8 KiB"\noutstanding = 1\n[run]\nwarm_up = "1 s"\nduration = "2 s"\n'
    )
    result = CliRunner().invoke(app, ["why", str(path), "--json", "--html", str(page)])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["healthy"] is False
    assert document["causes"][0]["code"] == "queue-depth"
    assert "Why is it slow?" in page.read_text()
    text = CliRunner().invoke(app, ["why", str(path)])
    assert "queue-depth" in text.stdout


def test_without_a_load_nothing_is_slow() -> None:
    tree = {"title": "idle", "array": [{"drives": drives("generic-7200rpm")}]}
    with pytest.raises(SpecError, match="without a load nothing is slow"):
        why(scenario_of(tree))
