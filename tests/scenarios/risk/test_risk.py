"""Risks against Markov chains, textbook formulas and integrals that can be done by hand."""

import math

import numpy as np
import pytest

from raidlab.devices.catalogue import find
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import read_toml
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.risk import answer, report
from raidlab.scenarios.results.goals import goals_of
from raidlab.scenarios.risk.assess import Question, assess
from raidlab.scenarios.risk.histories import Batch, Model, estimate
from raidlab.scenarios.risk.lifetime import HOURS_OF_YEAR, bathtub, of_rate
from raidlab.scenarios.risk.markov import loss_probability, mean_time_to_loss
from raidlab.scenarios.risk.redundancy import of_level
from raidlab.scenarios.risk.unreadable import unreadable_rate

YEARS5 = 5 * HOURS_OF_YEAR
SURE = 3.5
"""Standard errors; of forty comparisons by chance one is beyond in one of fifty seeds."""


def near(found, wanted):
    return abs(found.loss - wanted) <= SURE * found.error + 1e-9 * wanted


@pytest.mark.parametrize(
    ("level", "drives"),
    [
        ("raid0", 4), ("raid1", 2), ("raid1", 3), ("raid10", 8), ("raid5", 8), ("raid6", 12),
        ("raid50", 12), ("raid60", 12),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("afr", "rebuild_h"), [(0.02, 24.0), (0.05, 48.0)])
def test_histories_agree_with_the_markov_chain(level, drives, afr, rebuild_h):
    array, life = of_level(level, drives), of_rate(afr)
    model = Model(array, life, rebuild_h, YEARS5, exponential_rebuild=True)
    found = estimate(model, seed=5)
    assert near(found, loss_probability(array, life.constant, 1 / rebuild_h, YEARS5))
    assert found.error <= 0.02 * found.loss


def test_a_loss_of_one_in_a_billion_to_ten_percent():
    array, life = of_level("raid60", 8), of_rate(0.01)
    wanted = loss_probability(array, life.constant, 1 / 24, YEARS5)
    assert 3e-10 < wanted < 3e-9
    found = estimate(Model(array, life, 24.0, YEARS5, exponential_rebuild=True), error=0.05)
    assert near(found, wanted) and found.error < 0.05 * wanted


def test_mean_times_to_loss_of_the_textbook():
    rate, repair = 1e-6, 1 / 20
    for drives in (2, 5, 12):
        exact = ((2 * drives - 1) * rate + repair) / (drives * (drives - 1) * rate**2)
        assert mean_time_to_loss(drives, 1, rate, repair) == pytest.approx(exact, rel=1e-9)
    # Two failures borne, repairs side by side: 2 u^2 / (n (n - 1) (n - 2) l^3) where u >> l.
    approximate = 2 * repair**2 / (12 * 11 * 10 * rate**3)
    assert mean_time_to_loss(12, 2, rate, repair) == pytest.approx(approximate, rel=2e-3)
    # And a short time is lost with the probability time / MTTDL.
    array = of_level("raid6", 12)
    assert loss_probability(array, rate, repair, 1e5) == pytest.approx(1e5 / approximate, rel=5e-3)


def test_a_repair_of_fixed_length_by_hand():
    """RAID 5 of n: failures at rate n l, each lost with 1 - exp(-(n - 1) l R); no repair overlaps
    the end but for a share R / T."""
    drives, afr, repair = 8, 0.02, 24.0
    life = of_rate(afr)
    rate = life.constant
    lost = -math.expm1(-(drives - 1) * rate * repair)
    wanted = drives * rate * (YEARS5 - repair / 2) * lost
    found = estimate(Model(of_level("raid5", drives), life, repair, YEARS5), error=0.005)
    # Of second order: a period of repairs passes in which no first failure can begin.
    assert found.loss == pytest.approx(wanted, rel=0.02)
    assert near(found, wanted * (1 - drives * rate * repair))


def test_weibull_lives_by_hand():
    """A mirror of two whose drives wear out: numeric integral over the first failure."""
    life = of_rate(0.003, 1.5)
    repair = 100.0
    ages = np.linspace(0.0, YEARS5, 200_001)
    first = 2 * life.hazard(ages) * np.exp(-2 * life.cumulative(ages))
    ends = np.minimum(ages + repair, YEARS5)
    second = -np.expm1(life.cumulative(ages) - life.cumulative(ends))
    wanted = float(np.trapezoid(first * second, ages))
    found = estimate(Model(of_level("raid1", 2), life, repair, YEARS5), error=0.005)
    # Further periods add what a second failure in one of 15 histories can.
    assert found.loss == pytest.approx(wanted, rel=0.05)
    used = estimate(Model(of_level("raid1", 2), life, repair, YEARS5, age_h=YEARS5), error=0.01)
    # Ages of 5 to 10 years: the hazard is that of 7.5 for 2.5 years, its square root of 3 larger.
    assert 2.2 < used.loss / found.loss < 4


def test_a_bathtub_adds_its_parts():
    life = bathtub(0.01, 0.02, 6.0)
    year = np.array([HOURS_OF_YEAR])
    parts = -math.log(0.98) - math.log(0.99) + (1 / 6) ** 4
    assert life.cumulative(year)[0] == pytest.approx(parts, rel=1e-9)
    slope = (life.cumulative(year + 0.5) - life.cumulative(year - 0.5))[0]
    assert life.hazard(year)[0] == pytest.approx(slope, rel=1e-6)


def test_a_bad_batch_is_a_mixture():
    """Rates of all drives ten-fold in one case of five: losses go with the square of rates."""
    array, life = of_level("raid1", 2), of_rate(0.005)
    model = Model(array, life, 10.0, YEARS5, exponential_rebuild=True)
    plain = estimate(model, error=0.005).loss
    mixed = estimate(
        Model(array, life, 10.0, YEARS5, exponential_rebuild=True, batch=Batch(0.2, 10.0)),
        error=0.01,
    ).loss
    # A bad pair that has had one failure has one bad drive: the first failure counts ten-fold and
    # the second ten-fold; from then on at most one of both.
    assert 0.8 + 0.2 * 80 < mixed / plain < 0.8 + 0.2 * 100


def test_unreadable_sectors_come_on_top():
    array, life = of_level("raid5", 8), of_rate(0.02)
    sure = estimate(Model(array, life, 24.0, YEARS5, unreadable=1.0))
    # Every failure of a drive is a loss.
    assert sure.loss == pytest.approx(-math.expm1(-8 * life.constant * YEARS5), rel=0.02)
    half = estimate(Model(array, life, 24.0, YEARS5, unreadable=0.5), error=0.005)
    assert half.loss == pytest.approx(-math.expm1(-4 * life.constant * YEARS5), rel=0.02)


def test_spares_save_the_time_until_a_person_comes():
    array, life = of_level("raid5", 8), of_rate(0.02)

    def loss(**more):
        return estimate(Model(array, life, 10.0, YEARS5, **more), error=0.01).loss

    at_once, none, one = loss(), loss(replace_h=90.0), loss(replace_h=90.0, spares=1)
    # Ten times as long without redundancy; with a spare as soon as it breaks, rarely both gone.
    assert none / at_once == pytest.approx(10, rel=0.08)
    assert one / at_once == pytest.approx(1, rel=0.08)


def test_levels_bear_what_they_bear():
    failed = np.zeros((1, 8), dtype=bool)
    failed[0, 2] = True
    assert np.flatnonzero(of_level("raid10", 8).fatal(failed)).tolist() == [3]
    assert np.flatnonzero(of_level("raid1e", 8).fatal(failed)).tolist() == [1, 3]
    assert np.flatnonzero(of_level("raid50", 8).fatal(failed)).tolist() == [0, 1, 3]
    assert not of_level("raid6", 8).fatal(failed).any()
    assert of_level("raid0", 8).fatal(failed).sum() == 7
    # A ring of three is a mirror without a place to hide: like RAID 5 of three.
    ring = estimate(Model(of_level("raid1e", 3), of_rate(0.1), 50.0, YEARS5), seed=2)
    five = estimate(Model(of_level("raid5", 3), of_rate(0.1), 50.0, YEARS5), seed=3)
    assert ring.loss == pytest.approx(five.loss, abs=SURE * math.hypot(ring.error, five.error))


def test_an_odd_raid_10_is_a_ring_of_neighbours():
    """md's copies in rows of five: 0 0 1 1 2 | 2 3 3 4 4. Drive 4 and drive 0 both have chunk 2."""
    array = of_level("raid10", 5)
    failed = np.zeros((1, 5), dtype=bool)
    failed[0, 4] = True
    assert array.fatal(failed)[0].tolist() == [True, False, False, True, False]


def test_the_same_seed_gives_the_same():
    model = Model(of_level("raid6", 8), of_rate(0.02), 24.0, YEARS5)
    assert estimate(model, seed=4) == estimate(model, seed=4) != estimate(model, seed=5)


def tree(drives, level="raid5"):
    return {
        "array": [
            {
                "level": level, "software_raid": "os",
                "drives": [{"model": str(drives / "sas.toml"), "count": 4}],
            }
        ],
    }  # fmt: skip


def test_a_scenario_has_a_risk_and_says_what_it_rests_on(drives):
    found = assess(tree(drives), None, Question(afr=0.02, rebuild_h=24.0, replace_h=0.0, uber=0.0))
    array = found.arrays[0]
    assert array.closed_form == pytest.approx(found.loss, rel=0.08)
    assert found.ci95[0] < found.loss < found.ci95[1]
    document = found.to_dict()
    assert document["rebuild_hours"] == 24.0 and document["histories"] >= 20_000
    assert {each["name"] for each in document["assumptions"]} >= {"rebuild", "law of lives"}
    assert "Data are lost within 5 years with probability" in answer(found)
    assert "What it rests on" in report(found).html()
    worse = assess(tree(drives), None, Question(afr=0.02, rebuild_h=24.0, uber=1e-13))
    # 3 drives of 100 GB are read: 1 - exp(-3 * 0.8e12 * 1e-13).
    assert worse.arrays[0].unreadable == pytest.approx(-math.expm1(-0.24), rel=1e-3)
    assert worse.loss > 10 * found.loss
    # Of a part of each drive that part is read: 1 - exp(-3 * 0.2e12 * 1e-13).
    part = tree(drives)
    part["array"][0]["used"] = "25 GB"
    read = assess(part, None, Question(rebuild_h=24.0, uber=1e-13)).arrays[0].unreadable
    assert read == pytest.approx(-math.expm1(-0.06), rel=1e-3)


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        ("generic-7200rpm", 1e-15), ("generic-15000rpm", 1e-16), ("red-plus-8t", 1e-14),
        ("s4610-480", 1e-17), ("p4800x-375", 1e-17), ("970-evo-plus-500", 1e-15),
    ],
)  # fmt: skip
def test_sectors_are_unreadable_as_often_as_makers_of_the_class_state(model, rate):
    assert unreadable_rate(find(model)).value == rate


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question(years=0), "--years"),
        (Question(afr=1.5), "--afr"),
        (Question(shape=-1), "--shape"),
        (Question(infant=0.1), "--wear-out"),
    ],
)
def test_what_cannot_be_is_refused(drives, question, said):
    with pytest.raises(SpecError, match=said):
        assess(tree(drives), None, question)


def test_without_a_load_the_rebuild_is_simulated_idle(drives):
    """It was refused: "with a load alone"."""
    found = assess(tree(drives), None, Question())
    assert found.rebuild.value > 0
    assert any("without a load" in str(each.values()) for each in found.assumptions)


def test_rebuilds_are_simulated_under_the_load_and_miss_goals(drives, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        f"""
[[array]]
level = "raid5"
software_raid = "os"
drives = [{{ model = "{drives / "small.toml"}", count = 4 }}]
[[workload]]
rw = "randread"
block_size = "4 KiB"
rate = "200 IO/s"
[run]
warm_up = "1 s"
duration = "2 s"
"""
    )
    question = Question(afr=0.5, goals=tuple(goals_of(["p99 < 100 us"])))
    found = assess(read_toml(path), path, question)
    assert found.rebuild.value is not None and 0 < found.rebuild.value < 1
    assert found.missed and found.missed_hours_per_year > 0
    # Not while a failed drive waits a day for its replacement: that is not simulated.
    failures = found.arrays[0].found.failures_per_year
    assert found.missed_hours_per_year == pytest.approx(failures * found.rebuild.value)
    assert found.missed_hours_per_year < 0.1 * found.arrays[0].found.degraded_h_per_year
    # 4 drives at 0.69 failures a year: 1 - exp(-2.8) of years have a rebuild.
    assert found.missed_probability_a_year == pytest.approx(1 - math.exp(-4 * math.log(2)), rel=0.1)


@pytest.mark.parametrize(
    ("goal", "level", "hours", "said"),
    [
        ("cost < 5", "raid5", None, "about p99"),
        ("p99.9 < 5 ms", "raid5", None, "about p99"),
        ("write p99 < 5 ms", "raid5", None, "about p99"),
        ("p99 < 5 ms", "raid5", 5.0, "left out beside --rebuild"),
        ("p99 < 5 ms", "raid0", None, "nothing is rebuilt"),
        ("web: p99 < 5 ms", "raid5", None, "workload-0"),
    ],
)
def test_goals_that_a_rebuild_says_nothing_of_are_refused(drives, goal, level, hours, said):
    load = {"rw": "randread", "block_size": "4 KiB", "rate": "100 IO/s"}
    question = Question(goals=tuple(goals_of([goal])), rebuild_h=hours)
    with pytest.raises(SpecError, match=said):
        assess(tree(drives, level) | {"workload": [load]}, None, question)


def test_of_goals_that_nobody_asked_for_nothing_is_said(drives):
    document = assess(tree(drives), None, Question(rebuild_h=5.0)).to_dict()
    assert document["missed_goals"] is None and document["missed_hours_per_year"] is None
    assert document["rebuild_hours_ci95"] is None


WIDE = {"stripe_width": 6, "spares": 2}
FIRST = WIDE | {"rebuild": "critical-first"}


@pytest.mark.parametrize(
    ("wide", "critical_h"),
    [
        # Both drives are missing until a pass of 20 h is done.
        (WIDE, 20.0),
        # On average half of the first drive is left, of which 5 / 23 share stripes with the second.
        (FIRST, 20.0 / 2 * 5 / 23),
    ],
)
def test_two_failures_of_a_declustered_array(wide, critical_h):
    """A third failure counts while stripes have lost two units.

    A drive of 24 fails; within its 20 h one of 23; then one of 22 within the critical hours. So in
    `t` hours `t n (n - 1) (n - 2) l^3 T C`, where failures are rare.
    """
    array, rate = of_level("raid6", 24, wide=wide), 1e-6
    model = Model(array, of_rate(1 - math.exp(-rate * HOURS_OF_YEAR)), 20.0, YEARS5, spares=2)
    wanted = YEARS5 * 24 * 23 * 22 * rate**3 * 20.0 * critical_h
    found = estimate(model, seed=3)
    assert abs(found.loss - wanted) <= SURE * found.error + 2e-3 * wanted


@pytest.mark.parametrize("wide", [WIDE, FIRST])
def test_declustered_histories_agree_with_their_chain(wide):
    array, life = of_level("raid6", 24, wide=wide), of_rate(0.02)
    model = Model(array, life, 24.0, YEARS5, spares=24, exponential_rebuild=True)
    found = estimate(model, seed=5)
    wanted = loss_probability(array, life.constant, 1 / 24, YEARS5)
    assert abs(found.loss - wanted) <= SURE * found.error + 0.02 * wanted


def test_one_parity_has_no_critical_stripes_to_rebuild_first():
    with pytest.raises(SpecError, match=r"declustered.rebuild = .critical-first.: left out"):
        build_scenario(
            {
                "controller": {"model": "lsi2208-1g-3.0"},
                "array": [
                    {
                        "level": "raid5", "declustered": FIRST,
                        "drives": [{"model": "generic-7200rpm", "count": 12}],
                    }
                ],
                "workload": [],
            }
        )  # fmt: skip
