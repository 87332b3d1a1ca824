"""Arrays behind a cache: what tells them from one disk, and which array is found."""

from __future__ import annotations

import pytest

from raidlab.calibration.fitting.bench.bench import Effort
from raidlab.calibration.fitting.estimation import families
from raidlab.calibration.fitting.estimation.array_family import Candidate
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.measurements.measurement import Point
from raidlab.calibration.twin.asks import Ask
from raidlab.calibration.twin.targets import _point_of
from tests.calibration.fitting.test_calibrate_input import measured

LOADS = (
    (Ask(1.0, 4096, 1), 100.0),
    (Ask(1.0, 4096, 32), 1000.0),
    (Ask(0.0, 16384, 4), 500.0),
    (Ask(0.0, 65536, 8), 500.0),
    (Ask(0.7, 4096, 16), 500.0),
)


def points_of(array: Candidate) -> list[Point]:
    """What a measurement of the array gives."""
    effort = Effort(ios=1500, ios_of_slow=800, rounds=5.0, seed=9)
    found = []
    for ask, rate in LOADS:
        run = array.bench.run(ask.point(rate), effort)
        found.append(_point_of(ask.point(run.iops), run))
    return found


@pytest.mark.parametrize(
    "array", [Candidate("raid5", 5, 7200), Candidate("raid10", 8, 15_000)], ids=lambda of: of.level
)
def test_an_array_is_found_by_its_rates(array: Candidate) -> None:
    points = points_of(array)
    found = families._try_array(points, [[0, 3], [1, 4], [2]], Settings(kind=""))
    assert found.array is not None
    assert (found.array.level, found.array.rpm) == (array.level, array.rpm)
    assert abs(found.array.disks - array.disks) <= 1
    assert found.rate_pct < 15.0
    assert "behind a cache" in found.what


@pytest.mark.parametrize(
    ("alone_us", "deep", "words"),
    [
        (90.0, 200_000.0, "takes 90 us"),
        (8000.0, 300.0, "2.4 times as many reads"),  # 300 / s * 8 ms
        (8000.0, 1200.0, ""),  # 9.6 times
    ],
)
def test_one_disk_gains_little_from_a_queue(alone_us: float, deep: float, words: str) -> None:
    points = points_with_writes()
    said = families._no_array(points, alone_us, deep)
    assert words in said and bool(said) is bool(words)


def points_with_writes() -> list[Point]:
    (read,) = measured((1,)).points
    assert read.read is not None
    return [read, read.model_copy(update={"rw": "randwrite", "read": None, "write": read.read})]


def test_reads_alone_say_no_level() -> None:
    assert "say the level" in families._no_array(measured((1,)).points, 8000.0, 1200.0)
