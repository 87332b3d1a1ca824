"""Weights of points, statistics of a fit: by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.certainty.goodness_of_fit import goodness
from raidlab.calibration.fitting.comparison.compare import Compared, summary
from raidlab.calibration.fitting.recovery import load, measure
from raidlab.calibration.fitting.search.loss import rate_tolerance, residuals
from raidlab.calibration.report.residual_picture import residual_of, residual_pictures
from raidlab.cli import app
from raidlab.devices.catalogue import find
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec


def test_statistics_are_those_of_lmfit() -> None:
    """Residuals 1, -1, 2, 0: chi-square 6, three free, reduced 2; AIC 4 ln 1.5 + 2."""
    found = goodness([1.0, -1.0, 2.0, 0.0], 1)
    assert found["chi_square"] == pytest.approx(6.0)
    assert found["reduced_chi_square"] == pytest.approx(2.0)
    assert found["aic"] == pytest.approx(4 * math.log(1.5) + 2)
    assert found["bic"] == pytest.approx(4 * math.log(1.5) + math.log(4))


def test_a_rate_that_varied_weighs_less() -> None:
    """60 s are 12 samples of 5 s: a spread of 0.2 is known to 0.058, with 0.03 that is 0.065."""
    steady = load("randread", 4)
    side = steady.read
    assert side is not None
    assert rate_tolerance(steady) == pytest.approx(0.03)
    varied = side.model_copy(update={"spread": 0.2})
    point = steady.model_copy(update={"read": varied, "runtime_s": 60.0})
    assert rate_tolerance(point) == pytest.approx(math.hypot(0.03, 0.2 / math.sqrt(12)))
    # One that lasted a second is one sample.
    short = point.model_copy(update={"runtime_s": 1.0})
    assert rate_tolerance(short) == pytest.approx(math.hypot(0.03, 0.2))


def test_the_weight_reaches_the_fit_and_the_summary_has_mean_and_tail() -> None:
    drive, host = find("null").spec, find("generic").spec
    assert isinstance(drive, DriveSpec) and isinstance(host, HostSpec)
    bench = Bench.of(drive, host)
    point = measure(bench, [load("randread", 4)], "null", Effort(ios=3000)).points[0]
    assert point.read is not None
    varied = point.model_copy(
        update={"read": point.read.model_copy(update={"spread": 0.4}), "runtime_s": 60.0}
    )
    here = bench.run(point, Effort(ios=3000))
    steady, loose = (residuals([each], [here])[0] for each in (point, varied))
    assert loose.tolerance > 3 * steady.tolerance
    found = summary([Compared(point, here)])
    assert found["mean_latency_median_abs_error_pct"] < 2
    assert found["p99_9_latency_median_abs_error_pct"] is not None


def test_a_stated_tolerance_decides_the_exit_code(tmp_path: Path) -> None:
    """The null device behind its own host agrees with itself; behind a slower one it does not."""
    drive, host = find("null").spec, find("generic").spec
    assert isinstance(drive, DriveSpec) and isinstance(host, HostSpec)
    loads = [load("randread", depth) for depth in (1, 16)]
    measured = measure(Bench.of(drive, host), loads, "null", Effort(ios=3000))
    path = tmp_path / "m.json"
    path.write_text(measured.to_json())
    words = ["compare", str(path), "--device", "null", "--json", "--tolerance", "5"]
    done = CliRunner().invoke(app, [*words, "--host", "generic"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["agreement"] == {
        "tolerance_pct": 5.0,
        "points": 2,
        "within": 2,
        "holds": True,
    }
    assert "2 of 2 rates are within 5 %" in done.stderr
    done = CliRunner().invoke(app, [*words, "--host", "ahci"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["agreement"]["holds"] is False


def test_residuals_are_drawn_in_tolerances() -> None:
    drive, host = find("null").spec, find("generic").spec
    assert isinstance(drive, DriveSpec) and isinstance(host, HostSpec)
    bench, effort = Bench.of(drive, host), Effort(ios=2000)
    points = measure(bench, [load("randread", depth) for depth in (1, 4, 16)], "n", effort).points
    halved = points[0].model_copy(
        update={"read": points[0].read and points[0].read.model_copy(update={"iops": 1.0})}
    )
    rows = [Compared(point, bench.run(points[0], effort)) for point in (points[0], halved)]
    assert residual_of(rows[1]) == pytest.approx(
        math.log(rows[1].simulated.iops / 1.0) / 0.03, rel=1e-6
    )
    assert residual_pictures(rows) == []
    [picture] = residual_pictures([*rows, rows[0]])
    assert picture.seen == "2 of 3 rates are within a tolerance"
