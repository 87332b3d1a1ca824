"""A tier over time, for hot spots of several sizes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import read_toml
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.studies.hot_spots import answer, picture, report, settled
from raidlab.scenarios.studies import hot_spots
from raidlab.scenarios.studies.hot_spots import Warming, disks_alone, ssds_alone, warmings


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Ten seconds of disks and of SSDs alone are 6,900 and 47,000 I/Os."""
    steady = hot_spots._STEADY_RUN | {"duration": "10 s"}
    monkeypatch.setattr(hot_spots, "_STEADY_RUN", steady)


LIBRARY = Path(__file__).parents[3] / "scenarios" / "library"


def changed(tmp_path, **replaced):
    """The library's scenario, shortened, with texts replaced."""
    text = (LIBRARY / "cache-tier.toml").read_text()
    replaced = {'"2 h"': '"10 min"', '"3 min"': '"1 min"', '"60 s"': '"30 s"'} | replaced
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "tier.toml"
    path.write_text(text)
    return path


def test_small_hot_spots_pay_sooner(tmp_path):
    found = warmings(changed(tmp_path), ("4 GB", "32 GB"))
    small, large = found.warmings
    assert found.breaches == found.warnings == ()
    assert found.tier_bytes == 200 * 10**9
    half_way = [(each.disks_iops + each.ssds_iops) / 2 for each in found.warmings]
    soon = small.reaches(half_way[0])
    assert soon is not None
    assert soon < 300
    assert large.reaches(half_way[1]) is None
    assert small.iops[-1] == pytest.approx(small.ssds_iops, rel=0.1)
    assert "for 4 GB" in answer(found) and "does not pay for 32 GB" in answer(found)
    assert "pays (a fifth above the disks)" in report(found).html()
    drawn = picture(found)
    # Lines are named at their ends, without a legend.
    assert not drawn.layout.showlegend
    assert {"4 GB", "32 GB"} <= {note.text for note in drawn.layout.annotations}


def test_what_the_2013_report_says_of_three_hot_spots(tmp_path):
    """32 GB: minutes to nearly the SSDs' rate. 64 GB: clearly above the disks, below what the SSDs
    gave the smaller one. 128 GB: for long at the disks' rate or below."""
    faster = {"time_lapse = 60": "time_lapse = 120"}
    found = warmings(changed(tmp_path, **{'"2 h"': '"1 h"', '"3 min"': '"4 min"'}, **faster))
    small, middle, large = found.warmings
    assert small.iops[-1] > 0.9 * small.ssds_iops
    reached = small.reaches(0.9 * small.ssds_iops)
    assert reached is not None
    assert reached < 30 * 60
    assert 2 * middle.disks_iops < middle.iops[-1] < 0.8 * small.ssds_iops
    first_half = [iops for t, iops in zip(large.t_s, large.iops, strict=True) if t <= 30 * 60]
    assert max(first_half) < 1.15 * large.disks_iops
    assert large.iops[-1] < 0.5 * small.ssds_iops
    assert large.reaches(0.9 * small.ssds_iops) is None


@pytest.mark.parametrize(
    ("replaced", "said"),
    [
        ({"outstanding = 64": "outstanding = [1, 64]"}, "one number"),
        ({"cache_tier = {": "# {", "time_lapse = 60": ""}, "one array with a `cache_tier`"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path, replaced, said):
    with pytest.raises(SpecError, match=said):
        warmings(changed(tmp_path, **replaced), ("4 GB",))


def test_the_command_gives_json_and_refuses_nonsense(tmp_path):
    path = str(changed(tmp_path))
    reported = CliRunner().invoke(app, ["ssd-cache", path, "--hot-spots", "2 GB", "--json"])
    assert reported.exit_code == 0, reported.output
    document = json.loads(reported.stdout)
    assert document["warmings"][0]["hot_spot_bytes"] == 2_000_000_000
    for nonsense, said in (("2", "a size"), ("0 GB", "above 0 B")):
        refused = CliRunner().invoke(app, ["ssd-cache", path, "--hot-spots", nonsense])
        assert refused.exit_code == 2
        assert f'--hot-spots = "{nonsense}"' in refused.stderr
        assert said in refused.stderr


def test_the_disks_and_the_ssds_alone_have_no_events_of_a_tier():
    tree = read_toml(LIBRARY / "cache-tier.toml")
    tree["workload"][0]["hot_spot"] = "8 GB"
    tree["event"] = [
        {"at": "30 s", "action": "slow-drive", "array": "data-tier", "drive": 1},
        {"at": "30 s", "action": "move-hot-spot", "start": "1 GB"},
        {"at": "40 s", "action": "slow-drive", "array": "data", "drive": 3},
    ]
    left = [event["action"] for event in disks_alone(tree, "4 GB")["event"]]
    assert left == ["move-hot-spot", "slow-drive"]
    for alone in (disks_alone, ssds_alone):
        build_scenario(alone(tree, "4 GB"))


def test_a_burst_into_memory_is_no_rate_at_which_a_cache_settles():
    steps = [100.0] * 36 + [1000.0, 3000.0, 1000.0, 850.0]
    each = Warming(10**9, 100.0, 1100.0, tuple(range(40)), tuple(steps), 0.5)
    assert settled(each) == 950.0
    assert settled(Warming(10**9, 100.0, 1100.0, (1, 2), (2000.0, 3000.0), 0.5)) == 3000.0
