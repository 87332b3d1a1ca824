"""Intervals over draws of what data sheets leave open."""

import pytest

from raidlab.devices.datasheet.tail_spread import TailSpread, learned
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.draws import _quantile, check_draws, draws


def scenario(model: str):
    return build_scenario(
        {
            "array": [{"drives": [{"model": model}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1}],
            "run": {"precondition": "filled", "warm_up": "5 ms", "duration": "20 ms"},
        }
    )


def test_a_quantile_lies_between_neighbours() -> None:
    assert [_quantile([1.0, 2.0, 4.0], share) for share in (0, 0.25, 0.5, 0.75, 1)] == [
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
    ]


def test_rows_have_intervals_that_any_number_of_workers_gives() -> None:
    """No latency is stated of the 9200: its page takes 35 to 90 us."""
    checked = scenario("micron-9200-max-6400")
    result = simulate(checked)
    first, second = (draws(checked, result, 12, workers=workers) for workers in (1, 2))
    assert first.to_json() == second.to_json()
    (row,) = first.results
    low, high = row["iops_draws95"]
    assert low < high
    assert low < row["iops"] * 1.1
    assert row["read"]["latency_us_draws95"]["mean"] == row["latency_us_draws95"]["mean"]
    assert 1e6 / high == pytest.approx(row["latency_us_draws95"]["mean"][0], rel=0.05)


def test_tails_of_a_sheet_have_the_spread_between_drives_and_means_do_not() -> None:
    """Ten factors e^(s z) with z from -1.64 to 1.64; 95 % lie between those next to the ends."""
    checked = scenario("micron-9200-max-6400")
    result = simulate(checked)
    alone, wide = (
        draws(checked, result, 10, tails=TailSpread(read, 1.0)).results[0]["latency_us_draws95"]
        for read in (0.0, 1.0)
    )
    assert wide["mean"] == alone["mean"]
    assert wide["p50"] == alone["p50"]
    for name in ("p99", "p99_9"):
        assert wide[name][1] > 3 * alone[name][1] / 1.3
        assert wide[name][0] < alone[name][0] / 2
    usual = draws(checked, result, 10).results[0]["latency_us_draws95"]
    assert alone["p99"][1] < usual["p99"][1] < wide["p99"][1]


def test_a_load_of_both_kinds_has_the_wider_spread() -> None:
    spread = TailSpread(read=0.4, write=1.1)
    assert spread.of(reads=True, writes=False) == 0.4
    assert spread.of(reads=True, writes=True) == 1.1


def test_a_drive_with_many_tails_counts_as_one() -> None:
    """By hand: ln 2 of one drive and 0 of the other: sqrt((0.48 + 0) / 2) = 0.49."""
    assert learned({"a": [2.0, 0.5, 2.0, 2.0], "b": [1.0]}) == pytest.approx(0.4901, abs=1e-4)


def test_without_bounds_draws_are_refused() -> None:
    with pytest.raises(SpecError, match="--draws: a scenario with a device whose"):
        check_draws(scenario("generic-15000rpm"))
