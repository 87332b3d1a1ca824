"""A run that is too short for its arrivals, or for the precision that it asks for, says so."""

import re

import pytest

from raidlab.scenarios.running.simulate import simulate


def warnings(arrivals="poisson", **run):
    load = {"name": "w", "rw": "randread", "block_size": "4 KiB", "area": "1 GB"}
    tree = {
        "array": [{"drives": [{"model": "p4800x-375"}]}],
        "workload": [load | {"rate": "100 IO/s", "arrivals": arrivals}],
        "run": {"warm_up": "0 s"} | run,
    }
    return [each for each in simulate(tree).warnings if each.startswith("w: ")]


@pytest.mark.parametrize(
    ("arrivals", "begin", "remedy"),
    [
        (
            {"kind": "on-off", "on": "20 s", "off": "20 s"},
            "w: 0.25 of its periods of 40 s (on and off) were recorded",
            'run.duration = "400 s" has 10',
        ),
        (
            {"kind": "self-similar", "hurst": 0.8, "on": "1 s", "off": "3 s"},
            "w: 2.5 of its periods of 4 s (on and off) were recorded",
            'run.duration = "40 s" has 10',
        ),
        (
            {"kind": "daily", "shares": [1, 2]},
            "w: 0.00012 of its days of 24 h were recorded",
            'run.duration = "24 h", or a shorter arrivals.day',
        ),
        (
            {"kind": "daily", "shares": [1, 2], "day": "4 s"},
            "w: 2.5 of its days of 4 s were recorded",
            'run.duration = "4 s"',
        ),
    ],
)
def test_phases_that_a_run_hardly_sees_are_named_with_the_figure(arrivals, begin, remedy):
    (said,) = warnings(arrivals, duration="10 s")
    assert said.startswith(begin)
    assert remedy in said
    assert "IO/s for a mean of 100 IO/s" in said


@pytest.mark.parametrize(
    "arrivals",
    [
        "constant",
        {"kind": "on-off", "on": "500 ms", "off": "500 ms"},
        {"kind": "daily", "shares": [1, 2], "day": "5 s"},
    ],
)
def test_ten_periods_or_whole_days_are_enough(arrivals):
    assert warnings(arrivals, duration="10 s") == []


def test_a_precision_that_is_not_reached_is_named_with_what_would_do():
    """Poisson arrivals: 1.96 / sqrt(n) of a rate is known; for 1 % n = 38,416, at 100/s 384 s."""
    (said,) = warnings(duration="40 s", precision=0.01)
    assert said.startswith("w: run.precision, 1 %, was not reached in 40.0 s: the rate is known to")
    would_do = float(said.split("about ")[1].split(" s ")[0])
    assert 384 / 2 < would_do < 384 * 2
    assert warnings(duration="2000 s", precision=0.1) == []


@pytest.mark.parametrize(
    ("read_share", "run", "said"),
    [
        (0.0, {}, 1),
        (0.0, {"replications": 2}, 0),
        (1.0, {}, 0),
        (0.0, {"precondition": "filled"}, 0),
    ],
)
def test_a_precision_reached_in_a_small_part_of_a_drive_s_life_says_so(read_share, run, said):
    load = {"rw": "randrw", "read_share": read_share, "block_size": "4 KiB", "outstanding": 16}
    tree = {
        "array": [{"drives": [{"model": "p3700-800"}]}],
        "workload": [{"name": "w"} | load],
        "run": {"precision": 0.005, "precondition": "steady-state"} | run,
    }
    found = [each for each in simulate(tree).warnings if "precision" in each]
    assert len(found) == said
    # 90,000 writes a second of 4 KiB are 369 MB/s: a second is 0.0005 of 800 GB.
    assert all("was reached when 0.00" in each for each in found)
    for each in found:
        apart = re.search(r"another past.* by ([\d.]+) % \(run\.replications = (\d+) ", each)
        assert apart
        half, replications = float(apart[1]), int(apart[2])
        assert replications == pytest.approx((half / 0.5) ** 2, abs=1)
