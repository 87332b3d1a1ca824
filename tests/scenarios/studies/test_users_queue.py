"""How long a recording must be for a queue to say what it is in the long run."""

from dataclasses import replace

import pytest

from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.report.studies.rebuild import report
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies import rebuild_samples as sampling
from raidlab.scenarios.studies.rebuild import Rebuild, Rebuilds
from raidlab.scenarios.studies.users_queue import UsersQueue

QUIET = UsersQueue(overloaded=False, relaxes_s=1.0, loads=((1000, 990),))
SAMPLE = sampling.Sample(0.5, 1e6, None, None, None, None, QUIET)
USUAL = sampling.ARMS
"""4 + 20 s: at 1 MB/s 24 MB."""


def test_a_queue_forgets_in_4_n_squared_over_its_arrivals():
    """Mean latency times rate are N, by Little; of a closed loop the queue never changes."""
    tree = {
        "array": [{"drives": [{"model": "five"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": "50 IO/s"}],
        "run": {"warm_up": "0 s", "duration": "20 s"},
    }
    rows = simulate(scenario_of({"title": "x", **tree}), workers=1).results
    inside = rows[0]["iops"] * rows[0]["latency_us"]["mean"] / 1e6
    found = UsersQueue.of(rows)
    assert found.relaxes_s == pytest.approx(4 * inside**2 / rows[0]["iops"])
    assert found.is_short(0.9 * found.relaxes_s) and not found.is_short(1.1 * found.relaxes_s)
    # Who waits for an answer before he asks again keeps his queue as it is.
    tree["workload"] = [{"rw": "randread", "block_size": "4 KiB", "outstanding": 64}]
    rows = simulate(scenario_of({"title": "x", **tree}), workers=1).results
    assert UsersQueue.of(rows).relaxes_s == 0


@pytest.mark.parametrize(
    ("change", "steps", "stretch", "longer"),
    [
        ({}, 0, 1e12, False),
        ({"rate": 0.0}, 1, 1e12, True),
        ({"rate": 0.0}, 2, 1e12, False),
        ({"queue": replace(QUIET, relaxes_s=21.0)}, 0, 1e12, True),
        # 4 · 24 s at 1 MB/s are 96 MB.
        ({"queue": replace(QUIET, relaxes_s=21.0)}, 0, 97e6, True),
        ({"queue": replace(QUIET, relaxes_s=21.0)}, 0, 95e6, False),
        # A queue that may only fill is looked at twice, one that grows by more once.
        ({"queue": replace(QUIET, overloaded=True)}, 0, 1e12, True),
        ({"queue": replace(QUIET, overloaded=True)}, 1, 1e12, False),
        ({"queue": replace(QUIET, overloaded=True, loads=((1000, 890),))}, 0, 1e12, False),
    ],
)
def test_which_samples_are_taken_once_more(change, steps, stretch, longer):
    assert replace(SAMPLE, **change).wants_longer(USUAL, steps, stretch) == longer


def test_a_sample_that_had_room_for_a_part_becomes_four_times_as_long():
    """8 GB at 300 MB/s are 2.2 s a stretch, of 24: at 40 MB/s four times as much has room."""
    lengths = sampling.lengths_for(USUAL, 8 * 10**9, 50.0)
    assert lengths.part == pytest.approx(8e9 / 300e6 / 12 / 24)
    slow = replace(SAMPLE, rate=40e6)
    assert slow.wants_longer(lengths, 0, 8e9 / 12)
    longer = lengths.longer(1)
    assert longer.settles + longer.during == pytest.approx(4 * 8e9 / 300e6 / 12)
    assert not slow.wants_longer(longer, 1, 8e9 / 12)


@pytest.mark.parametrize("is_short", [True, False])
def test_a_p99_of_too_short_a_sample_is_a_least_value(is_short):
    """What users feel of it is said with "or more", and a note says why."""
    hours = {"rate": 0.3, "hours": 9.0, "hours_ci95": None, "mb_per_s": 200.0, "limit": None}
    felt = {"p99_us_before": 2e4, "p99_us_during": 3e4, "p99_9_us_during": 4e4}
    rates = {"iops_before": 400.0, "iops_during": 400.0, "samples": 4}
    rebuild = Rebuild(**hours, **felt, **rates, p99_at_least=is_short)
    size = 8 * 10**12
    found = Rebuilds("x", size, size, (rebuild,), (), (), 1)
    shown = report(found)
    said = "20.0 to 30.0 ms or more." if is_short else "20.0 to 30.0 ms, no more than twice."
    assert shown.answer.endswith(said)
    assert ("p99 is at least what stands here" in shown.html()) == is_short
