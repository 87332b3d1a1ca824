"""Points alone, in the knee and at the ceiling, by hand; what a fit's headline makes of them."""

from __future__ import annotations

import pytest

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.comparison.regions import Region, by_region, regions_of
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.calibration.report.fit import calibration_answer
from raidlab.devices.faults import SpecError


def curve(*rates: float) -> list[Point]:
    """4 KiB reads at 1, 2, 4, ... outstanding."""
    found = []
    for at, rate in enumerate(rates):
        point = load("randread", 2**at)
        side = point.read.model_copy(update={"iops": rate})
        found.append(point.model_copy(update={"read": side}))
    return found


def simulated(rate: float) -> Simulated:
    return Simulated(rate, 100.0, None, None, (None, None), {}, 0.0, "")


def test_a_curve_by_hand() -> None:
    found = regions_of(curve(10.0, 19.0, 20.0, 20.0))
    assert found == [Region.ALONE, Region.KNEE, Region.CEILING, Region.CEILING]


def test_a_peak_by_itself_is_no_ceiling_and_a_flat_curve_is_one() -> None:
    assert Region.CEILING not in regions_of(curve(10.0, 20.0, 15.0, 12.0))
    assert set(regions_of(curve(20.0, 20.0, 20.0))) == {Region.CEILING}


def test_errors_are_stated_apart_of_unseen_points() -> None:
    """Perfect at the ceiling, a tenth off alone."""
    points = curve(10.0, 19.0, 20.0, 20.0)
    rows = [
        Compared(point, simulated(rate), part)
        for point, rate, part in zip(
            points, (11.0, 19.0, 20.0, 20.0), ("test", "train", "test", "test"), strict=True
        )
    ]
    found = by_region(rows)
    assert found["alone"]["median_abs_error_pct"] == pytest.approx(10.0)
    assert found["ceiling"]["median_abs_error_pct"] == pytest.approx(0.0)
    assert found["ceiling"]["points"] == 2 and "knee" not in found
    assert list(found) == ["alone", "ceiling"]


def fitted(slower: float) -> Calibration:
    """Without a kind: a server of 10 us and 90 us outside, this many times slower."""
    points = []
    for depth, rate in {1: 1e4, 4: 4e4, 32: 1e5, 64: 1e5}.items():
        point = load("randread", depth)
        update = {"iops": rate / slower, "latency_mean_us": 1e6 * depth * slower / rate}
        side = point.read.model_copy(update=update)
        points.append(point.model_copy(update={"read": side, "cpu_share": None}))
    return calibrate(Measurement(name="m", points=tuple(points)), Settings(kind=""))


def test_without_a_kind_a_law_says_it() -> None:
    found = fitted(1.0)
    assert found.settings.kind == "virtual-disk"
    assert not any("--kind hdd" in text for text in found.warnings)
    assert " Apart: one outstanding " in calibration_answer(found)


def test_reads_as_of_a_disk_are_said() -> None:
    """50 times slower: 5 ms alone."""
    assert any("takes 5.0 ms, as of a disk" in text for text in fitted(50.0).warnings)


def test_options_that_a_law_has_no_use_for_are_refused_without_a_kind() -> None:
    with pytest.raises(SpecError, match="without --kind"):
        calibrate(
            Measurement(name="m", points=tuple(curve(10.0, 20.0))),
            Settings(kind="", like="s4610-480"),
        )
