"""The orders in which points are asked for (benchmarks/points_needed.py)."""

from raidlab.calibration.twin.asks import Ask
from tests.project.sources import load_script

POINTS = [Ask(s, 4096, d, j).point() for s in (1.0, 0.0) for d in (1, 4, 16) for j in (1, 2, 8)]


def test_a_grid_by_hand():
    """Two levels are the corners of each direction; three are all there are."""
    needed = load_script("points_needed")
    corners = [(POINTS[at].iodepth, POINTS[at].numjobs) for at in needed.grid(POINTS, 2)]
    assert corners == [(1, 1), (1, 8), (16, 1), (16, 8)] * 2
    assert needed.grid(POINTS, 3) == list(range(18))
