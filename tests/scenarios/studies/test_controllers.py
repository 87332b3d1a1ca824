"""Controllers side by side: what the 2013 report says of their curves."""

import json
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.studies.controllers import (
    answer,
    highest,
    lines,
    report,
)
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.controllers import (
    Curve,
    Setup,
    chosen_controllers,
    compare_controllers,
)
from raidlab.scenarios.studies.levels import IOS_PER_WRITE


@pytest.fixture(scope="module")
def disks():
    """Eight disks behind three controllers, random loads; and what levels cost on one of them."""
    return compare_controllers(
        chosen_controllers(["lsi1068", "lsi2008", "lsi2108"]),
        ["database", "file-server"],
        Setup(kinds=["hdd"], outstanding=(16, 32, 64, 256)),
    )


def rate(found, controller, profile, outstanding):
    curve = next(c for c in found.curves if (c.controller, c.profile) == (controller, profile))
    return curve.iops[curve.outstanding.index(outstanding)]


@pytest.mark.parametrize("profile", ["database", "file-server"])
@pytest.mark.parametrize(("controller", "queue"), [("lsi1068", 64), ("lsi2008", 32)])
def test_a_command_queue_leaves_the_others_once_it_is_full(disks, controller, queue, profile):
    for outstanding in (16, 32, 64, 256):
        share = rate(disks, controller, profile, outstanding) / rate(
            disks, "lsi2108", profile, outstanding
        )
        if outstanding <= queue:
            assert share == pytest.approx(1, abs=0.03)
        else:
            assert share < 0.93
    # Flat: no more than what a run's own noise gives.
    assert rate(disks, controller, profile, 256) == pytest.approx(
        rate(disks, controller, profile, queue), rel=0.02
    )


def test_64_kib_at_random_gives_half_of_8_kib(disks):
    for controller in ("lsi1068", "lsi2008", "lsi2108"):
        large = rate(disks, controller, "file-server", 256)
        assert large / rate(disks, controller, "database", 256) == pytest.approx(0.5, abs=0.075)


def test_eight_ssds_behind_an_lsi2208_give_eight_times_one():
    found = compare_controllers(
        chosen_controllers(["lsi2208-1g-3.0"]),
        ["database", "file-server", "file-copy"],
        Setup(kinds=["ssd"], outstanding=(64, 512), small_writes=False),
    )
    for curve, alone in zip(found.curves, found.alone, strict=True):
        assert curve.iops[-1] / max(alone.iops) == pytest.approx(8, rel=0.1)


def test_two_mirrors_stream_at_the_rate_of_both_their_links():
    """Twice the practical 243 MiB/s of SAS 3G, though each sees every other unit of the stream."""
    result = simulate(
        build_scenario(
            {
                "controller": {"model": "patsburg-b"},
                "array": [{"level": "raid1", "drives": [{"model": "sas-6g-ssd", "count": 2}]}],
                "workload": [{"profile": "streaming", "area": "32 GB", "outstanding": 32}],
                "run": {"warm_up": "100 ms", "duration": "300 ms", "precondition": "filled"},
            }
        )
    )
    assert result.results[0]["mib_per_s"] == pytest.approx(2 * 243, rel=0.02)


def test_the_answer_names_the_next_controller_with_as_many_drives(disks):
    assert "above lsi1068 (its limit: queue, drives)" in answer(disks)


def test_no_warning_says_what_only_the_study_has_asked_for(disks):
    assert not [warning for warning in disks.warnings if "precision" in warning]


def test_small_writes_cost_two_four_six_and_less_with_a_cache(disks):
    costs = {(each.level, each.cached): each.ios_per_write for each in disks.small_writes}
    assert costs["raid10", False] == pytest.approx(2, rel=0.03)
    for level in ("raid5", "raid6"):
        # Less than the rule: a write back to what was just read waits for the platter, not the arm.
        assert 0.85 * IOS_PER_WRITE[level] < costs[level, False] < IOS_PER_WRITE[level]
    for level in IOS_PER_WRITE:
        assert costs[level, True] < 0.95 * costs[level, False]
    assert {each.controller for each in disks.small_writes} == {"lsi2108"}


def test_controllers_that_are_alike_share_a_line():
    found = compare_controllers(
        chosen_controllers(["lsi1068", "lsi2208-1g-3.0", "lsi2208-512-3.0"]),
        ["streaming"],
        Setup(kinds=["hdd"], outstanding=(64,), small_writes=False),
    )
    drawn = [line.names for line in lines(found.curves)]
    assert sorted(drawn) == [("lsi1068",), ("lsi2208-1g-3.0", "lsi2208-512-3.0")]
    assert "lsi2208-1g-3.0, lsi2208-512-3.0" in report(found).html()


def test_every_controller_of_the_catalogue_has_curves():
    found = compare_controllers(
        chosen_controllers(), ["streaming"], Setup(outstanding=(1,), small_writes=False)
    )
    assert len(found.curves) == 2 * len(chosen_controllers()) > 0
    counts = {curve.controller: (curve.count, curve.drive) for curve in found.curves}
    # Four ports, and SATA ones alone on the older chipset.
    assert counts["cougar-point"] == (4, "sata-ssd-64gb")
    assert counts["lsi2108"] == (8, "sas-6g-ssd")


def test_the_command_prints_one_document_and_refuses_what_is_no_controller(tmp_path):
    page = tmp_path / "controllers.html"
    asked = ["controllers", "--only", "lsi1064", "--profiles", "streaming", "--json"]
    reported = CliRunner().invoke(app, [*asked, "--html", str(page)])
    assert reported.exit_code == 0, reported.output
    document = json.loads(reported.stdout)
    assert [curve["count"] for curve in document["curves"]] == [4, 4]
    assert document["small_writes"] == []
    own = re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL)
    assert "http" not in own and "lsi1064" in own
    for asked, said in (
        (["--only", "sas-6g-hdd"], "a controller; this is a hdd"),
        (["--only", "lsi1068x"], "lsi1068"),
        (["--only", "hba-9300-8i"], "a controller with RAID 0; it has jbod"),
        (["--profiles", "databse"], "database"),
        (["--drives", "0"], "--drives"),
    ):
        refused = CliRunner().invoke(app, ["controllers", *asked])
        assert refused.exit_code == 2
        assert said in refused.stderr


def test_a_point_that_its_warnings_disqualify_is_not_the_best():
    """The first point is that of a cache which still fills: 5,000 IO/s that no drive gives."""
    curve = Curve(
        controller="card", kind="hdd", drive="disk", count=4, profile="database",
        outstanding=(1, 4, 8, 16), iops=(5000.0, 800.0, 990.0, 1000.0), mib_per_s=(0.0,) * 4,
        bottleneck=(None,) * 4, carries=(False, True, True, True),
    )  # fmt: skip
    assert (curve.best, curve.flat_from, highest(curve)) == (3, 8, 1000.0)
    assert replace(curve, carries=(False,) * 4).best == 0
