"""Intervals of single runs cover the true value; benchmarks/intervals.py has more seeds."""

import random
from collections import Counter
from statistics import NormalDist

import pytest

from raidlab.scenarios.results.intervals import of_replications, quantile
from raidlab.scenarios.running.simulate import simulate
from tests.project.sources import load_script


@pytest.fixture(scope="module")
def intervals():
    return load_script("intervals")


@pytest.mark.parametrize(
    ("system", "tails"), [("station", ()), ("short/small-10s", ("p90", "p99"))]
)
def test_intervals_cover_the_true_value(intervals, system, tails):
    """Binomial with p = 0.95 and n = 40: fewer than 33 has a probability below 0.3 %.

    The SSD's tails tell whether its past is heeded: without it 30 and 28 of these are covered.
    """
    rows = {row["figure"]: row for row in intervals.coverage(system, range(1001, 1041), 2)}
    for figure in ("iops", "mean", "p50", *tails):
        assert rows[figure]["intervals"] == 40
        assert rows[figure]["covered_pct"] >= 100 * 33 / 40, rows[figure]


def test_quantiles_lie_evenly_within_a_bucket():
    # fio's bucket of 1024 to 1039 ns is printed as 1032.
    assert quantile([(1032, 16), (5056, 16)], 0.125) == pytest.approx(1.028)
    assert quantile([(100, 10)], 0.5) == pytest.approx(0.1005)
    assert quantile([], 0.5) is None


def test_replications_that_share_a_bucket_have_an_interval_all_the_same():
    """Of 8 runs of 400 latencies, normal around 1 ms with 2 us: all medians have one bucket.

    Binomial with p = 0.95 and n = 60: fewer than 51 has a probability below 0.1 %.
    """
    # Within its bucket, 999,424 to 1,007,616 ns, latencies count as even.
    below = NormalDist(1e6, 2e3).cdf(999_424)
    original = 999.424 + 8.192 * (0.5 - below) / (1 - below)
    draws, covered = random.Random(1), 0
    for _ in range(60):
        runs = [sorted(draws.gauss(1e6, 2e3) for _ in range(400)) for _ in range(8)]
        buckets = [Counter(int(ns) // 8192 * 8192 + 4096 for ns in run) for run in runs]
        counted = [sorted(each.items()) for each in buckets]
        latencies = [{"p50": sorted(each.elements())[199] / 1e3} for each in buckets]
        low, high = of_replications(latencies, counted)["p50"]
        assert low < high and low <= latencies[0]["p50"] <= high
        covered += low <= original <= high
    assert covered >= 51


def test_replications_know_of_a_jump_at_their_median():
    """Four runs of 1000 I/Os, of 10 us or of 5 ms: 470, 499, 480 and 499 are fast.

    All medians are 5 ms. The shares of fast I/Os scatter by 0.0145, so the median's rank is known
    to 3.18 * 0.0145 / 2 = 0.023, and of all I/Os 0.487 are fast: the true median may be 10 us.
    """
    counted = [[(10_048, n), (5_013_504, 1000 - n)] for n in (470, 499, 480, 499)]
    low, high = of_replications([{"p50": 5013.504}] * 4, counted)["p50"]
    assert low == pytest.approx(10.05, rel=0.01)
    assert high == pytest.approx(5013.504, rel=0.01)


def test_a_tail_of_few_bursts_asks_for_replications():
    """M/M/1 at 80 %, 80 s: its queue fills a few times, so that no run bounds its p99."""
    scenario = {
        "title": "t",
        "array": [{"drives": [{"model": "fivex"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": "160 IO/s"}],
        "run": {"warm_up": "2 s", "duration": "80 s"},
    }
    result = simulate(scenario, seed=4)
    low, high = result.rows[0].latency_ci95_us["p99"]
    assert low is not None and high is None
    assert any("no upper bound of p99 follows from one run" in each for each in result.warnings)
    four = simulate(scenario | {"run": scenario["run"] | {"replications": 4}}, seed=4)
    low, high = four.summary()[0]["latency_ci95_us"]["p99"]
    assert low < 115e3 < high  # 25 ms ln 100
    assert not any("no upper bound" in each for each in four.warnings)


def _disk(rate, **run):
    return {
        "title": "t",
        "array": [{"drives": [{"model": "generic-7200rpm"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": rate}],
        "run": run,
    }


def test_an_explicit_warm_up_is_kept():
    found = simulate(_disk("60 IO/s", warm_up="3 s", duration="20 s"))
    assert (found.results[0]["warm_up_s"], found.results[0]["duration_s"]) == (3.0, 20.0)


def test_a_steady_load_is_recorded_after_two_seconds():
    found = simulate(_disk("20 IO/s", duration="20 s"))
    assert (found.results[0]["warm_up_s"], found.results[0]["steady"]) == (2.0, True)


def test_few_steady_loads_look_unsteady():
    """Of 40 runs by chance alone four of 5 %; nine and more have a probability below 0.1 %."""
    runs = [simulate(_disk("60 IO/s", duration="20 s", seed=seed)) for seed in range(1, 41)]
    assert sum(run.results[0]["warm_up_s"] > 2.0 for run in runs) <= 8


def test_a_queue_that_grows_for_ever_has_no_steady_state():
    found = simulate(_disk("400 IO/s", duration="5 s"))
    row = found.results[0]
    # 2 s and one recording: in the second one the queue grows as in the first.
    assert (row["warm_up_s"], row["duration_s"], row["steady"]) == (7.0, 5.0, False)
