"""What stands on top of a result is true of the run: events, overload, queues, shares."""

import pytest

from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.report.runs.report import html_report
from raidlab.scenarios.results.bottleneck import latency_bound, limits, longest_part
from raidlab.scenarios.running.simulate import simulate


def _disks(load, events=(), **run):
    area = {"profile": "database", "area": "10 GB", "name": "w"}
    return simulate(
        {
            "title": "t",
            "controller": {"model": "lsi2008"},
            "array": [{"level": "raid10", "drives": [{"model": "generic-15000rpm", "count": 4}]}],
            "workload": [area | load],
            "event": list(events),
            "run": {"warm_up": "1 s", "duration": "9 s"} | run,
        }
    )


_FAILS = {"at": "5 s", "action": "fail-drive", "drive": 0}
_STALLS = {"at": "5 s", "action": "slow-drive", "extra": "60 s", "drive": 0}
_SLOWS = {"at": "3 s", "action": "slow-drive", "extra": "2.5 ms", "drive": 1}


def test_an_event_parts_the_rate_in_two():
    found = _disks({"outstanding": 8}, [_STALLS])
    (row,) = found.results
    between = row["around_events"]
    assert between["events"] == 1
    assert between["first"] == between["last"]
    assert between["first"]["t_s"] == 5.0
    what = "drive array-0/generic-15000rpm.0 is slow: 60 s a command more"
    assert between["first"]["what"] == what
    before, after = (between[side]["iops"] for side in ("before", "after"))
    assert before > 1000 > 100 > after
    # Four seconds of the one, five of the other.
    assert row["iops"] == pytest.approx((4 * before + 5 * after) / 9, rel=1e-6)
    answer = answers.answer(found)
    assert f"before 5.00 s ({what})" in answer
    assert "is no steady rate" in answer
    assert "±" not in answer
    assert latency_bound(found.summary()) == []
    assert "is no steady rate" in html_report(found)
    assert found.rows[0].around_events.after.iops == after


def test_of_several_events_the_first_and_the_last_are_named():
    found = _disks({"outstanding": 8}, [_SLOWS, _FAILS], replications=2)
    answer = answers.answer(found)
    assert "before 3.00 s (drive array-0/generic-15000rpm.1 is slow: 2.5 ms a comm" in answer
    assert "failed, the last of 2 events)" in answer
    (table,) = answers.table(found).rows
    assert table[3] is None  # ± 95 %
    assert not any("run.replications" in each for each in found.warnings)
    one, other = (row["around_events"]["before"]["iops"] for row in found.results)
    (mean,) = found.summary()
    assert mean["around_events"]["before"]["iops"] == (one + other) / 2


def test_over_several_depths_the_rates_are_means_over_events():
    answer = answers.answer(_disks({"outstanding": [2, 8]}, [_FAILS]))
    assert "means over events at 5.00 s (drive array-0/generic-15000rpm.0 failed), no st" in answer


def test_an_event_before_the_recording_changes_nothing():
    found = _disks({"outstanding": 8}, [_FAILS | {"at": "500 ms"}])
    assert "around_events" not in found.results[0]
    assert "±" in answers.answer(found)


def test_an_overloaded_open_load_says_so():
    found = _disks({"rate": "9000 IO/s"})
    assert found.results[0]["overloaded"] is True
    answer = answers.answer(found)
    assert answer.startswith("Overloaded: 9,000 IO/s arrive, ")
    assert "latencies have no steady state" in answer
    assert "of 9,000 IO/s that arrive" in answers.boxes(found)[0].text
    served = _disks({"rate": "50 IO/s"})
    assert served.results[0]["overloaded"] is False
    assert answers.answer(served).startswith("An open load of ")
    bursts = {"rate": "50 IO/s", "arrivals": {"kind": "on-off", "on": "100 ms", "off": "100 ms"}}
    assert _disks(bursts).results[0]["overloaded"] is False


def test_equal_points_are_no_other_loads():
    answer = answers.answer(_disks({"outstanding": [4, 4]}))
    assert "at each of 2 equal points" in answer
    assert "other loads" not in answer


def test_a_few_ios_are_no_rate():
    answer = answers.answer(_disks({"outstanding": 1}, max_ios=1))
    assert answer.startswith("One I/O ended, after ")
    assert "limit:" not in answer


def test_the_limit_is_that_of_the_knee():
    """Up to 32 outstanding the drives limit; beyond, the controller's queue is full as well."""
    answer = answers.answer(_disks({"outstanding": [8, 32, 128]}))
    knee, _, beyond = answer.partition("The limit: ")[2].partition("; at queue depth 128 ")
    assert knee.startswith("drives ")
    assert "queue" not in knee
    assert beyond.startswith("lsi2008 queue 100 %, drives")


def test_most_of_a_time_is_more_than_half_of_it():
    parts = {"queue": 35.0, "overhead": 33.0, "link": 32.0}
    assert (
        longest_part({"breakdown_us": parts}) == "the longest part of it waiting in the queue, 35 %"
    )
    assert longest_part({"breakdown_us": parts | {"queue": 70.0}}).startswith("most of it")


def test_what_is_below_a_bound_is_shown_below_it():
    drive = {"name": "a/d.0", "kind": "drive", "utilization": 0.797}
    row = {"target": "a", "components": [drive], "breakdown_us": {"seek": 1.0}}
    assert limits(row) == "none (a/d.0 79 %)"


def test_what_makes_parity_holds_up_those_that_wait_for_a_stripe():
    parity = {"name": "c parity", "kind": "parity", "utilization": 1.0}
    row = {"target": "a", "components": [parity]}
    waits = {"raid": 377_517.0, "link": 504.0, "cache": 458.0, "nand_program": 222.0}
    assert limits(row | {"breakdown_us": waits}) == "c parity 100 %"
    # A cache takes all writes: none waits for the parity of what it sends to the drives.
    taken = {"host": 5.5, "controller": 51.1, "cache": 19.5}
    assert limits(row | {"breakdown_us": taken}) == "–"


def test_work_that_is_booked_ahead_of_a_longer_warm_up_counts_in_its_time():
    """600,000 a second on one thread: what completes in the recording is known before it begins.

    By hand: the drive's port ends at 91,650, so a second of arrivals is 600,000 · 2.5 us + 91,650
    · 2 us = 1.683 s of the thread's work: it completes 54,450 a second.
    """
    found = simulate(
        {
            "title": "t",
            "array": [{"level": "jbod", "drives": [{"model": "teaching-ssd"}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": "600000 IO/s"}],
            "run": {"duration": "50 ms"},
        }
    )
    (row,) = found.results
    assert row["warm_up_s"] == pytest.approx(2.05)
    assert row["timeline"]["iops"][-1] > 50_000
    assert row["iops"] == pytest.approx(54_450, rel=0.02)


@pytest.mark.parametrize(("rate", "warm_up_s"), [(400, 4.0), (100, 2.0)])
def test_an_overload_ends_its_warm_up_after_two_recordings(rate, warm_up_s):
    """200 are served a second. By hand: 400 add 400 to the backlog in each 2 s, against a chance of
    3 · √(2 · 400) = 85; a second such recording ends it. 100 a second are steady at once.
    """
    found = simulate(
        {
            "title": "t",
            "array": [{"level": "jbod", "drives": [{"model": "five"}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": f"{rate} IO/s"}],
            "run": {"duration": "2 s", "seed": 3},
        }
    )
    (row,) = found.results
    assert row["warm_up_s"] == pytest.approx(warm_up_s)
    assert row["iops"] == pytest.approx(min(rate, 200), rel=0.1)


def test_a_limit_that_changes_in_time_is_no_lack_of_one():
    """Credits are spent half way: the mean of both halves is that of no busy component."""
    (row,) = _disks({"outstanding": 1}).summary()
    assert len(latency_bound([row])) == 1
    end = row["warm_up_s"] + row["duration_s"]
    spent = {"kind": "burst-credits", "component": "v", "share": 1.0, "from_s": 5.0, "to_s": end}
    assert latency_bound([row | {"limits": [*row["limits"], spent]}]) == []


def test_a_full_media_cache_of_a_shingled_disk_is_named_with_its_time():
    """Its map has 250,000 records, one for each write: at 10,000 a second it is full after 25 s."""
    found = simulate(
        {
            "array": [{"drives": [{"model": "archive-8t", "count": 1}]}],
            "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 8}],
            "run": {"warm_up": "1 s", "duration": "29 s"},
        }
    )
    (row,) = found.results
    (full,) = [each for each in row["limits"] if each["kind"] == "media-cache-full"]
    assert full["from_s"] == pytest.approx(25.0, rel=0.01)
    assert full["to_s"] == pytest.approx(30.0)
    assert "the media cache is full from 25.0 s on" in answers.answer(found)
    assert row["steady"] is False
