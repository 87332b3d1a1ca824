"""Straight lines between training points, by hand, and the skill of a model beside them."""

import pytest

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.fitting.comparison.baseline import against_lines, interpolated, skill
from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.recovery import load


def point(depth, iops, jobs=1, rw="randread", bs=4096):
    found = load(rw, depth, jobs, bs)
    side = "read" if found.read is not None else "write"
    return found.model_copy(update={side: getattr(found, side).model_copy(update={"iops": iops})})


def row(of, simulated, part):
    run = Simulated(simulated, 1.0, None, None, (None, None), {}, 1.0, "")
    return Compared(of, run, part)


TRAINING = [point(1, 100.0), point(16, 400.0), point(64, 500.0)]


@pytest.mark.parametrize(
    ("unseen", "rate"),
    [
        (point(4, 1.0), 200.0),  # half of the way from 1 to 16, and from 100 to 400, in logarithms
        (point(2, 1.0, jobs=2), 200.0),  # jobs times depth
        (point(64, 1.0, jobs=4), 500.0),  # beyond the end it stays
        (point(4, 1.0, bs=65536), None),
        (point(4, 1.0, rw="randwrite"), None),
    ],
)
def test_lines_by_hand(unseen, rate):
    found = interpolated(TRAINING, unseen)
    assert found is None if rate is None else found == pytest.approx(rate)


def test_points_of_one_depth_count_by_their_geometric_mean():
    assert interpolated([point(8, 100.0), point(1, 400.0, 8)], point(3, 1.0)) == pytest.approx(200)


def test_skill_is_over_the_points_that_both_predict():
    rows = [row(each, each.iops, "train") for each in TRAINING]
    rows += [
        row(point(4, 250.0), 240.0, "test"),  # 4 % off, the lines 20 %
        row(point(4, 200.0, rw="randwrite"), 400.0, "test"),  # no writes were seen
    ]
    found = against_lines(rows)
    assert found["points"] == 1
    assert found["median_abs_error_pct"] == pytest.approx(20.0)
    assert found["model_median_abs_error_pct"] == pytest.approx(4.0)
    assert found["skill"] == found["skill_p90"] == pytest.approx(0.8)
    assert against_lines(rows[:3])["skill"] is None
    assert skill(5.0, 0.0) is None and skill(10.0, 5.0) == -1.0
