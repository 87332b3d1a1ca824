"""Sizes against queues of closed form, and searches whose answer is known."""

import math

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.report.studies.size import answer, notes, report, warnings
from raidlab.scenarios.results.goals import Goal, Judged, Measured, goals_of, judged
from raidlab.scenarios.studies import size as module
from raidlab.scenarios.studies.size import Find, Tried, size
from raidlab.scenarios.studies.vary import axes_of


def queue(drive, rate="700 IO/s", duration="60 s"):
    """Poisson arrivals at stations of exponential service of 1 ms, in a RAID 0."""
    return {
        "array": [
            {
                "level": "raid0",
                "software_raid": "os",
                "drives": [{"model": str(drive), "count": 1}],
            }
        ],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": rate}],
        "run": {"warm_up": "5 s", "duration": duration},
    }


@pytest.fixture
def drive(tmp_path):
    path = tmp_path / "drive.toml"
    path.write_text(
        """
kind = "station"
name = "exponential"
capacity = "100 GB"
service = "1 ms"
distribution = "exponential"
[sources]
all = "assumed"
"""
    )
    return path


def test_the_highest_rate_of_one_queue(drive):
    """M/M/1: p99 = ln 100 / (mu - lambda), so 20 ms are reached at 1000 - 230 = 770 a second."""
    tree = queue(drive)
    (axis,) = axes_of(["workload.0.rate=500:1000:10 IO/s"])
    found = size(tree, None, axis, goals_of(["p99 < 20 ms"]))
    number = found.to_dict()["answer"]
    assert found.unit == "IO/s" and found.find is Find.MOST
    assert number == pytest.approx(1000 - math.log(100) / 20e-3, abs=20)
    assert found.neighbour == f"{number + 10:g} IO/s"
    # Beyond the rate of the station nothing settles, whatever the goal.
    assert found.at("1000 IO/s").falls_behind or not found.at("1000 IO/s").holds
    # Its values are measured as often as it takes, others once.
    assert max(each.replications for each in found.tried) > min(
        each.replications for each in found.tried
    )


def test_the_least_drives_of_queues_side_by_side(drive):
    """Random I/Os over n stations are n M/M/1 queues: 3300 / 770 a second each take 5."""
    tree = queue(drive, "3300 IO/s", "20 s")
    (axis,) = axes_of(["array.0.drives.0.count=1:16"])
    found = size(tree, None, axis, goals_of(["p99 < 20 ms", "usable >= 200 GB"]))
    assert (found.answer, found.neighbour, found.unit) == (5, 4, "drives")
    assert found.confidence > 0.95 and not found.not_monotone
    assert answer(found).startswith("5 drives hold p99 < 20 ms (")
    page = report(found).html()
    assert "Plotly.newPlot" in page
    # Ticks over a decade have all their digits: not 2, 5, 100, 2, 5.
    assert '"ticktext":["' in page


def test_no_value_meets_the_goals(drive):
    (axis,) = axes_of(["array.0.drives.0.count=1:3"])
    found = size(queue(drive), None, axis, goals_of(["p99 < 1 ms"]))
    assert found.answer is None and found.confidence > 0.95
    assert answer(found).startswith("No drives.count that was tried meets every goal. The nearest")


class Known:
    """A search whose values hold or not as they are written."""

    def __init__(self, text, sure=1.0):
        self.values = list(range(len(text)))
        self.tried = {}
        self.looks = 0
        self._text = text
        self._sure = sure

    def look(self, places, replications=1):
        goal = Goal("x", "p99", True, 1.0)
        for at in places:
            self.looks += 1
            holds = self._text[at] == "+"
            self.tried[at] = Tried(at, (Judged(goal, Measured(1.0), holds, self._sure),), 1)

    def clear(self, places):
        pass


@pytest.mark.parametrize("size_of", [1, 2, 3, 7, 100])
def test_bisection_finds_every_step(size_of):
    for first in range(size_of + 1):
        search = Known("-" * first + "+" * (size_of - first))
        found, beyond = module.searched(search, range(size_of))
        assert found == (first if first < size_of else None)
        assert beyond == (first - 1 if 0 < first < size_of else None)
        assert search.looks <= 5 + math.log2(size_of) + 1


def test_what_lies_on_the_wrong_side_is_seen():
    # Place 2 of 9 is one of the five that are tried first.
    search = Known("--+---+++")
    found, beyond = module.searched(search, range(9))
    assert (found, beyond) == (6, 5) and search.tried[2].holds


@pytest.mark.parametrize(
    ("goal", "measured", "holds", "confidence"),
    [
        # The bound is 1.96 standard errors away: one side of a 95 % interval.
        ("p99 < 20 ms", Measured(18_000.0, 16_000.0, 20_000.0), True, 0.975),
        ("p99 < 20 ms", Measured(22_000.0, 20_000.0, 26_000.0), False, 0.975),
        ("p99 < 20 ms", Measured(19_000.0), True, 0.5),
        ("p99 < 20 ms", Measured(20_000.0, 19_000.0, 21_000.0), False, 0.5),
        ("usable >= 1 TB", Measured(1e12, certain=True), True, 1.0),
        ("usable > 1 TB", Measured(1e12, certain=True), False, 1.0),
        ("rate > 100 IO/s", Measured(None), False, 0.5),
    ],
)
def test_how_sure_a_goal_is(goal, measured, holds, confidence):
    found = judged(goals_of([goal])[0], measured)
    assert (found.holds, found.confidence) == (holds, pytest.approx(confidence, abs=1e-4))


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "at least one goal"),
        (["fast"], "QUANTITY < BOUND"),
        (["p9 < 20 ms"], 'did you mean "p90"'),
        (["p99 < 20"], 'a bound as in "p99 < 20 ms"'),
        (["read usable > 1 TB"], "usable without read"),
        (["p99 < 20 ms", "p99 > 30 ms"], "nothing can be both"),
        (["p99 < 20 ms", "p99 < 30 ms"], 'one of it and "p99 < 20 ms"'),
    ],
)
def test_wrong_goals(texts, said):
    with pytest.raises(SpecError, match=said):
        goals_of(texts)


def test_goals_in_their_units():
    texts = ["write p99.9 <= 500 us", "mail: rate >= 5000", "rebuild < 1 d", "loss < 0.01 %"]
    write, mail, rebuilt, loss = goals_of(texts)
    assert (write.side, write.quantity, write.bound) == ("write", "p99.9", 500.0)
    assert (mail.workload, mail.at_most, mail.bound) == ("mail", False, 5000.0)
    assert rebuilt.bound == 24.0 and loss.bound == pytest.approx(1e-4)


def test_where_the_end_fails_the_last_value_that_holds_takes_its_place():
    search = Known("--+++--")
    assert module.searched(search, range(7)) == (2, 1)


def test_values_beyond_the_answer_that_fail_and_those_that_cannot_be_built_are_named(drive):
    tree = queue(drive, duration="2 s")
    (axis,) = axes_of(["workload.0.rate=-1 IO/s,100 IO/s,500 IO/s,5000 IO/s"])
    found = size(tree, None, axis, goals_of(["p99 < 20 ms"]), find=Find.LEAST)
    assert found.answer == "100 IO/s" and found.not_monotone == ("5000 IO/s",)
    (said,) = warnings(found)
    assert "5000 IO/s does not meet the goals, though it lies beyond the answer" in said
    (note,) = notes(found)
    assert note.startswith("Not tried, as it cannot be built: -1 IO/s (")
    assert [each["value"] for each in found.to_dict()["unbuilt"]] == ["-1 IO/s"]


def test_drives_that_do_not_wear_have_no_life_in_years(drive):
    (axis,) = axes_of(["array.0.drives.0.count=1,2"])
    found = size(queue(drive, duration="1 s"), None, axis, goals_of(["life > 5 years"]))
    assert answer(found).startswith("1 drive holds life > 5 years (no wear)")
    assert "1,000" not in report(found).html()
