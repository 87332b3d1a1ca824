"""What is bought: provisioned volumes and their prices, published durability, now or later."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.later import total
from raidlab.scenarios.capacity.load import bill_of
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.planner.migration import copies, moving
from raidlab.scenarios.report.planner.report import answer
from raidlab.scenarios.risk.assess import Question, assess
from raidlab.scenarios.running.simulate import simulate

CLOUD = {
    "goals": ["usable >= 1 TB"],
    "horizon": "5 years",
    "load": [{"rw": "randread", "block_size": "16 KiB", "rate": "1000 IO/s"}],
    "price": [{
        "device": "aws-gp3", "per_gib_month": 0.08, "per_iops_month": 0.005,
        "included_iops": 3000, "per_mib_s_month": 0.04, "included_mib_s": 125,
    }],
}  # fmt: skip
GP3 = {"drives": ["aws-gp3"], "counts": [4], "levels": ["raid0"]}


def test_a_volume_costs_its_size_its_rate_and_its_throughput():
    """1024 GiB at 0.08, 13,000 IO/s at 0.005, 875 MiB/s at 0.04: 181.92 a month, four of them."""
    group = GP3 | {"iops": [16000], "throughput": ["1000 MiB/s"]}
    (found,) = expand(question_of(CLOUD | {"candidates": [group]}))
    assert found.name == "4 x aws-gp3 with 16000 IO/s and 1000 MiB/s, raid0"
    assert found.cost == pytest.approx(60 * 4 * (81.92 + 65 + 35))


def test_the_bill_of_volumes_adds_up():
    """81.92 + 65 + 35 a month each for 60 months, four times, is all that it costs."""
    group = GP3 | {"iops": [16000], "throughput": ["1000 MiB/s"]}
    question = question_of(CLOUD | {"candidates": [group], "currency": "USD"})
    (found,) = expand(question)
    first, *_ = bill_of(question, found)
    assert first == ("4 x aws-gp3: 181.9 USD each a month for what is provisioned, 43,661 USD.")


def test_what_is_owned_is_not_bought_again():
    """Of 4 and a spare four are owned: one at 190, and 60 months of 1 for each of the five."""
    price = {"device": "dc600m-960", "cost": 190, "per_month": 1, "owned": 4}
    group = {"drives": ["dc600m-960"], "counts": [4, 3], "levels": ["raid5"], "spares": [1]}
    more, fewer = expand(question_of(CLOUD | {"price": [price], "candidates": [group]}))
    assert more.cost == pytest.approx(190 + 5 * 60)
    assert fewer.cost == pytest.approx(4 * 60)


def test_what_is_not_sold_is_no_candidate():
    """16 GiB allow 8,000 IO/s, and 3,000 IO/s allow 3,000 x 256 KiB/s."""
    group = GP3 | {"sizes": ["16 GiB"], "iops": [9000, 3000], "throughput": ["800 MiB/s"]}
    with pytest.raises(SpecError) as caught:
        expand(question_of(CLOUD | {"candidates": [group]}))
    text = str(caught.value)
    assert "3,000 to 8,000" in text
    assert "131.072 MB/s to 786.432 MB/s" in text


def test_a_volume_serves_what_was_bought():
    drives = [{"model": "aws-gp3", "iops": 5000, "size": "2 TiB"}]
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 64}
    scenario = build_scenario({
        "array": [{"drives": drives}],
        "workload": [load],
        "run": {"warm_up": "1 s", "duration": "4 s"},
    })  # fmt: skip
    assert scenario.usable_bytes == 2 << 40
    assert simulate(scenario).results[0]["iops"] == pytest.approx(5000, rel=0.01)


@pytest.mark.parametrize("model", ["azure-p30", "generic-7200rpm"])
def test_other_drives_are_sold_as_they_are(model):
    tree = {"array": [{"drives": [{"model": model, "iops": 5000}]}]}
    with pytest.raises(SpecError, match=r"array\.0\.drives\.0\.iops"):
        build_scenario(tree)


@pytest.mark.parametrize(("model", "share"), [("aws-io2-64000", 1e-5), ("aws-gp3", 2e-3)])
def test_volumes_are_lost_as_their_provider_states(model, share):
    """One volume for a year: the share that is lost, whatever drives do."""
    tree = {"array": [{"drives": [{"model": model}]}]}
    found = assess(tree, None, Question(years=1.0))
    assert found.loss == pytest.approx(share, rel=1e-6)


@pytest.fixture
def growing(tmp_path, queue):
    """A queue of 1 ms today; two of them cost 1000 each, a fifth less every year."""
    (tmp_path / "today.toml").write_text(
        f'title = "today"\n[[array]]\ndrives = [{{ model = "{queue}" }}]\n'
    )
    load = {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": "400 IO/s"}
    return {
        "goals": ["mean < 5 ms"],
        "horizon": "2 years",
        "load": [load],
        "growth": {"rate": 0.4},
        "run": {"warm_up": "1 s", "duration": "20 s", "precondition": "fresh"},
        "candidates": [{"drives": [queue], "counts": [2], "levels": ["raid0"]}],
        "price": [{"device": queue, "cost": 1000, "trend": "-20 %"}],
        "present": {"scenario": str(tmp_path / "today.toml")},
    }


def test_a_purchase_waits_until_the_present_system_misses_a_goal(growing):
    """One M/M/1 has a mean below 5 ms up to 800 of 1000 a second: twice today's 400.

    Doubling takes 12 ln 2 / ln 1.4 = 24.7 months, a little less with what the host adds. Two
    drives then cost 2000 · 0.8 ^ (m / 12).
    """
    found = plan(question_of(growing))
    later = found.later
    assert later is not None
    assert later.lasts is None or 21 <= later.lasts <= 26
    best = later.best
    assert best.month == min(24, int(later.lasts or 24))
    assert best.total == pytest.approx(2000 * 0.8 ** (best.month / 12))
    assert "less than now; today meets the goals for" in answer(found)


def test_a_present_system_that_is_dear_to_run_is_replaced_now(growing):
    """100 a month for the old one are more than what a month of waiting saves, at most 37."""
    question = question_of(growing | {"present": growing["present"] | {"per_month": 100}})
    (candidate,) = expand(question)
    sums = [total(question, candidate, month) for month in range(25)]
    assert sums == sorted(sums)
    assert sums[12] == pytest.approx(1200 + 2000 * 0.8)


def test_a_trend_needs_a_present_system(growing):
    del growing["present"]
    growing["price"][0]["trend"] = "cheaper"
    with pytest.raises(SpecError, match=r"a change in a year, such as -0\.2"):
        question_of(growing)
    growing["price"][0]["trend"] = -0.2
    with pytest.raises(SpecError, match="until a later purchase that system serves"):
        question_of(growing)


def test_moving_the_data_takes_its_bytes_over_the_copiers_rate(growing):
    """One M/M/1 of 1 ms gives all that users leave, 600 MiB/s, to a copier that is always there.

    An eighth of it are 75 more I/Os a second: users' mean lies between M/M/1 at 400 and at 475.
    """
    question = question_of(growing | {"present": growing["present"] | {"moves": "50 GB"}})
    found = plan(question).migration
    assert found is not None and not found.limited_by_new
    full, *throttled = found.copies
    assert full.bytes_per_s == pytest.approx(600 * 2**20, rel=0.05)
    assert [each.part for each in throttled] == [0.5, 0.25, 0.125]
    for each in found.copies:
        assert each.bytes_per_s == pytest.approx(each.part * full.bytes_per_s, rel=0.05)
        assert 3600 * each.hours * each.bytes_per_s == pytest.approx(50e9)
        assert each.iops == pytest.approx(400, rel=0.05)
    p99s = [each.p99_us for each in found.copies]
    assert p99s == sorted(p99s, reverse=True) and p99s[-1] > found.p99_us_before
    # ln 100 / (1000 - 400) = 7.7 ms before; ln 100 / (1000 - 475) = 8.8 ms at an eighth.
    assert found.p99_us_before == pytest.approx(7700, rel=0.1)
    assert p99s[-1] == pytest.approx(8800, rel=0.15)
    (row, *_) = copies(found).rows
    assert row[0] == "none" and "Moving 50.0 GB takes" in moving(found)


def test_nothing_is_said_of_moving_where_nothing_moves(growing):
    del growing["price"][0]["trend"]
    assert plan(question_of(growing)).migration is None
    with pytest.raises(SpecError, match=r"present\.moves"):
        question_of(growing | {"present": growing["present"] | {"moves": "much"}})
