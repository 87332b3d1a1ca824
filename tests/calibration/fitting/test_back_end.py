"""A back end that sleeps is found where reads were alone and beside others; an awake one too."""

from __future__ import annotations

import pytest

from raidlab.calibration.fitting.bench.bench import Effort
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import Settings, Task
from raidlab.calibration.fitting.estimation.start import base_of, host_of
from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.calibration.fitting.parameters.parameter import Choice
from raidlab.calibration.fitting.recovery import load, measure
from raidlab.calibration.measurements.measurement import Measurement

DEPTHS = (1, 2, 4, 8, 16, 64)
SEEN = "iodepth=1,8,64"


def model(settings: Settings, measured: Measurement | None = None) -> FitModel:
    kind = kind_of("ssd")
    tree, _ = base_of(kind, settings, "truth", None)
    points = measured.points if measured else tuple(load("randread", depth) for depth in DEPTHS)
    return Task(kind, host_of(kind, settings, None), tuple(points), settings).model(
        tree, frozenset()
    )


def drive_that(**overrides: str) -> Measurement:
    """Reads of a drive that spends 40 us of each beside its dies."""
    given = {f"firmware.{key}": value for key, value in overrides.items()}
    keys = {"firmware.read_latency": "40 us"} | given
    original = model(Settings("ssd", "sas2008", overrides=keys))
    loads = [load("randread", depth) for depth in DEPTHS]
    bench = original.bench(original.start)
    return measure(bench, loads, "known", Effort(ios=20_000, seed=5))


def keys_of(measured: Measurement, choice: Choice = Choice({}, frozenset(), {})) -> list[str]:  # noqa: B008
    settings = Settings("ssd", "sas2008", choice=choice)
    return [parameter.key for parameter in model(settings, measured).parameters]


def test_a_wake_is_given_back_and_depths_between_are_met() -> None:
    measured = drive_that(wake="80 us")
    found = calibrate(measured, Settings("ssd", "sas2008", train=SEEN, leave_out=False))
    wake = {each.parameter.key: each for each in found.fit.estimates}["firmware.wake"]
    assert wake.low <= 80 <= wake.high
    assert wake.value == pytest.approx(80, rel=0.2)
    unseen = {row.point.iodepth: row.error_pct for row in found.rows if row.part == "test"}
    assert max(map(abs, unseen.values())) < 4, unseen


def test_a_drive_that_never_sleeps_comes_out_awake() -> None:
    """40 us of each read beside its dies are no wake: eight at once would gain by that."""
    settings = Settings("ssd", "sas2008", train=SEEN, leave_out=False, budget=250)
    found = calibrate(drive_that(), settings)
    wake = {each.parameter.key: each for each in found.fit.estimates}["firmware.wake"]
    assert wake.value < 8
    assert not any("lies" in said for said in found.warnings if "firmware.wake" in said)
    unseen = {row.point.iodepth: row.error_pct for row in found.rows if row.part == "test"}
    assert max(map(abs, unseen.values())) < 4, unseen


def test_it_is_varied_where_points_could_show_it() -> None:
    measured = drive_that()
    assert "firmware.wake" in keys_of(measured)
    beside = [point for point in measured.points if point.outstanding > 1]
    beside_others = measured.model_copy(update={"points": tuple(beside)})
    assert "firmware.wake" not in keys_of(beside_others)
    freed = keys_of(beside_others, Choice({}, frozenset({"firmware.wake"}), {}))
    assert freed.count("firmware.wake") == 1
