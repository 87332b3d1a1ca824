"""Fits recover what made the data, say what they cannot know, and predict what they did not see."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.certainty.fitted_file import with_others
from raidlab.calibration.fitting.comparison.baseline import against_lines
from raidlab.calibration.fitting.comparison.compare import (
    Compared,
    compare,
    estimate_mapped,
    summary,
)
from raidlab.calibration.fitting.estimation.fit import Residuals, Schedule, fit
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import Settings, Task, depends
from raidlab.calibration.fitting.estimation.start import base_of, host_of
from raidlab.calibration.fitting.parameters.kinds import TEMPLATES, kind_of
from raidlab.calibration.fitting.parameters.parameter import Choice, Parameter
from raidlab.calibration.fitting.points.training_split import split
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.fitting.recovery import measure as measure_on
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.fitting.search.loss import residuals
from raidlab.calibration.fitting.search.minimise import ENDLESS, Budget, Search, Stage
from raidlab.calibration.measurements.distribution import kolmogorov, percentile
from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.calibration.report.fit import calibration_report
from raidlab.calibration.report.fit_pictures import curves, distribution, most_different
from raidlab.cli import app
from raidlab.devices.catalogue import find, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec
from raidlab.devices.ssd import SsdSpec
from tests.calibration.fitting.known_drives import station


def measure(drive: DriveSpec, host: HostSpec, loads: list[Point], seed: int) -> Measurement:
    """What fio would have measured on a simulated drive."""
    return measure_on(Bench.of(drive, host), loads, "synthetic", Effort(ios=20_000, seed=seed))


def host(name: str = "generic") -> HostSpec:
    spec = find(name, Path()).spec
    assert isinstance(spec, HostSpec)
    return spec


READS = [load("randread", depth) for depth in (1, 2, 4, 8, 16, 32, 64)]


def fitted(measurement: Measurement, **settings: object) -> Calibration:
    given = {"kind": "station", "host": "generic", "budget": 150, "leave_out": False}
    return calibrate(measurement, Settings(**{**given, **settings}))  # type: ignore[arg-type]


def test_a_station_is_recovered_with_an_interval_that_holds_its_true_value() -> None:
    held, draws = 0, np.random.default_rng(7)
    for trial in range(3):
        service, servers = float(draws.uniform(40, 900)), int(draws.integers(2, 40))
        result = fitted(measure(station(service, servers), host(), READS, seed=trial + 10))
        found = {estimate.parameter.key: estimate for estimate in result.fit.estimates}
        assert found["service"].value == pytest.approx(service, rel=0.1)
        # It lies in the interval, which is wide where the host's CPU time ends the curve
        # before the servers do.
        assert found["servers"].low - 1 <= servers <= found["servers"].high + 1
        held += found["service"].low <= service <= found["service"].high
        assert summary(result.rows)["median_abs_error_pct"] < 3
    assert held >= 2


def test_the_fitted_file_is_a_device_with_errors(tmp_path: Path) -> None:
    result = fitted(measure(station(200, 8), host(), READS, seed=3), name="mine")
    path = tmp_path / "mine.toml"
    path.write_text(result.to_toml())
    device = load_device(path)
    assert device.spec.name == "mine"
    assert device.sources["service"].source == "fitted"
    assert device.sources["service"].measurement == "synthetic"
    assert device.sources["service"].stderr is not None
    # How the errors of both go together is in the file, as draws of the fit have it.
    keys = [estimate.parameter.key for estimate in result.fit.estimates]
    rho = result.fit.correlations[keys.index("servers")][keys.index("service")]
    stated = device.sources["servers"].correlations | device.sources["service"].correlations
    assert list(stated.values()) == pytest.approx([rho] if abs(rho) >= 0.05 else [], abs=0.005)
    assert isinstance(device.spec, DriveSpec)
    rows = compare(Bench.of(device.spec, host()), result.measurement.points, Effort())
    assert summary(rows)["median_abs_error_pct"] < 5


def test_correlations_are_stated_once_and_not_with_what_is_not_the_drive_s() -> None:
    keys = ["host.cpu", "nand.read", "nand.program", "firmware.read"]
    matrix = [[1, 0.5, 0.5, 0.5], [0.5, 1, -0.734, 0.01], [0.5, -0.734, 1, 0.2],
              [0.5, 0.01, 0.2, 1]]  # fmt: skip
    assert with_others(keys, matrix) == {
        "nand.read": {},
        "nand.program": {"nand.read": -0.73},
        "firmware.read": {"nand.program": 0.2},
    }


def test_one_depth_cannot_tell_work_from_waiting() -> None:
    measurement = measure(station(200, 8), host(), [load("randread", 4)], seed=3)
    result = fitted(measurement)
    assert any("all points have 4 outstanding" in warning for warning in result.warnings)
    servers = next(e for e in result.fit.estimates if e.parameter.key == "servers")
    # Four outstanding never fill eight servers: any number from four on would do.
    assert servers.high > 20


def test_a_measurement_of_another_kind_is_doubted() -> None:
    measurement = measure(station(2, 64), host(), READS[:4], seed=3)
    options: dict[str, object] = {"kind": "hdd", "budget": 100}
    result = fitted(measurement, **options)
    assert any("another kind of device than hdd" in warning for warning in result.warnings)


def test_times_of_a_disk_in_an_ssd_are_doubted() -> None:
    """An I/O of 15 ms is no SSD's, though one so slow could be made up."""
    measurement = measure(station(15_000, 1), host(), READS[:2], seed=3)
    result = fitted(measurement, kind="ssd", host="ahci", budget=300)
    said = [text for text in result.warnings if "longer than ssd devices usually take" in text]
    assert len(said) == 1 and "firmware.read" in said[0]
    assert "longer than ssd devices usually take" in calibration_report(result).html()


def test_unseen_points_far_off_put_the_kind_in_doubt() -> None:
    """One outstanding says nothing of sixteen servers, of which the template has eight."""
    loads = [load("randread", depth) for depth in (1, 64)]
    measurement = measure(station(2000, 16), host(), loads, seed=3)
    result = fitted(measurement, train="iodepth=1")
    said = [text for text in result.warnings if "points that the fit has not seen" in text]
    assert len(said) == 1 and "--system" in said[0]


def test_percentiles_tell_a_shape_and_rates_the_scale() -> None:
    drive = station(200, 1)
    point = measure(drive, host(), [load("randread", 8)], seed=3).points[0]
    assert point.read is not None
    slower = point.model_copy(update={"read": at_rate(point.read, 0.5)})
    simulated = Bench.of(drive, host()).run(point, Effort(ios=20_000, seed=3))
    found = {residual.quantity: residual for residual in residuals([slower], [simulated])}
    assert found["rate"].simulated == pytest.approx(2 * found["rate"].measured, rel=0.01)
    for percent in (50, 99):
        assert found[f"read p{percent}"].log_ratio == pytest.approx(0.0, abs=0.03)


def at_rate(side: Side, rate: float) -> Side:
    """One shape at `rate` times the rate."""
    was = side.completion
    return side.model_copy(
        update={
            "iops": side.iops * rate,
            "latency_mean_us": side.latency_mean_us / rate,
            "submission_mean_us": side.submission_mean_us / rate,
            "completion": was.model_copy(
                update={
                    "percentiles_us": {k: v / rate for k, v in was.percentiles_us.items()},
                    "bins_ns": tuple((round(at / rate), count) for at, count in was.bins_ns),
                }
            ),
        }
    )


@pytest.mark.parametrize(("write_us", "longest_us"), [(31_000.0, 31_000.0), (80.0, 400.0)])
def test_a_slow_device_has_room_within_the_bounds(write_us: float, longest_us: float) -> None:
    side = Side(iops=1e6 / write_us, ios=1, latency_mean_us=write_us, completion=Latency(mean_us=1))
    point = load("randwrite", 1).model_copy(update={"write": side})
    kind = kind_of("ssd")
    task = Task(kind, {}, (point,), Settings("ssd"))
    parameter = next(p for p in kind.declared if p.key == "firmware.write")
    assert task.wide(parameter).high == pytest.approx(longest_us)


def test_fixed_parameters_stay_and_unknown_ones_are_named() -> None:
    measurement = measure(station(200, 8), host(), READS[:3], seed=3)
    result = fitted(measurement, choice=Choice({"servers": 5}, frozenset(), {}))
    assert result.tree["servers"] == 5
    assert [estimate.parameter.key for estimate in result.fit.estimates] == ["service"]
    with pytest.raises(SpecError, match="servers"):
        fitted(measurement, choice=Choice({"server": 5}, frozenset(), {}))


def test_the_fitted_file_says_how_full_the_drive_was() -> None:
    result = fitted(measure(station(250, 6), host(), READS[:4], seed=2))
    first = result.fit.estimates[0]
    state = replace(first, parameter=replace(first.parameter, key="state.mapped"), value=0.905)
    result = replace(result, fit=replace(result.fit, estimates=(*result.fit.estimates, state)))
    assert "# While it was measured 90.5% of it had contained data" in result.to_toml()
    assert "--mapped 0.905" in result.to_toml()


def test_the_same_seed_gives_the_same_file() -> None:
    measurement = measure(station(300, 4), host(), READS[:4], seed=5)
    assert fitted(measurement).to_toml() == fitted(measurement, workers=2).to_toml()


def test_points_are_chosen_by_words() -> None:
    points = [load("randread", 1), load("randread", 8, 2), load("randwrite", 8)]
    assert split(points, "iodepth=8 numjobs=1,2") == ([1, 2], [0])
    assert split(points, "rw=randread bs=4k iodepth=8") == ([1], [0, 2])
    for wrong in ("depth=1", "iodepth", "iodepth=77"):
        with pytest.raises(SpecError):
            split(points, wrong)


def linear(name: str) -> Parameter:
    return Parameter(name, "us", 0.0, 10.0, "linear", "everything")


def test_errors_of_a_linear_problem_are_those_of_the_textbook() -> None:
    """y = a + b x with noise of one tolerance: deviations from the inverse normal matrix."""
    x = np.linspace(0, 1, 40)
    noise = np.random.default_rng(3).normal(size=40)
    data = 2.0 + 5.0 * x + 0.1 * noise

    def evaluate(at: np.ndarray, points: object, rough: bool) -> np.ndarray:
        chosen = np.asarray(points, dtype=int)
        return np.asarray(((10 * at[0] + 10 * at[1] * x - data) / 0.1)[chosen])

    groups = list(range(40))
    found = fit(
        [linear("a"), linear("b")],
        np.array([0.5, 0.5]),
        Residuals(evaluate, groups),
        Schedule([Stage((0, 1), tuple(groups))], Budget(2000)),
    )
    design = np.stack([np.ones(40), x], axis=1) / 0.1
    expected = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    for estimate, true_value, error in zip(found.estimates, (2.0, 5.0), expected, strict=True):
        assert estimate.value == pytest.approx(true_value, abs=4 * error)
        assert 0.7 * error < estimate.stderr < 2.0 * error
        assert estimate.identifiable and not estimate.at_bound


def test_what_the_data_cannot_tell_apart_is_said_to_be_so() -> None:
    def evaluate(at: np.ndarray, points: object, rough: bool) -> np.ndarray:
        return np.asarray([20 * (at[0] + at[1] - 1.0)] * len(list(points)))  # type: ignore[call-overload]

    parameters = [linear("a"), linear("b"), linear("unused")]
    found = fit(
        parameters,
        np.array([0.2, 0.3, 0.4]),
        Residuals(evaluate, [0, 1, 2, 3]),
        Schedule([Stage((0, 1, 2), (0, 1))], Budget(2000)),
    )
    a, b, unused = found.estimates
    assert a.like == "b" and b.like == "a"
    assert not a.identifiable and not unused.identifiable
    assert unused.value == pytest.approx(4.0, abs=0.5)
    assert any("cannot be distinguished from" in warning for warning in found.warnings)


def test_what_is_known_to_one_side_only_is_not_identifiable() -> None:
    """A bottleneck that ends at the place found: less would show, more would not."""

    def evaluate(at: np.ndarray, points: object, rough: bool) -> np.ndarray:
        missing = max(0.0, 0.5 - float(at[0]))
        return np.asarray([100.0 * missing] * len(list(points)))  # type: ignore[call-overload]

    found = fit(
        [linear("a")],
        np.array([0.5]),
        Residuals(evaluate, [0, 1, 2]),
        Schedule([Stage((0,), (0, 1))], Budget(2000)),
    )
    assert not found.estimates[0].identifiable
    assert found.estimates[0].high == 10.0


def test_distances_between_distributions() -> None:
    one = Latency(mean_us=1.0, bins_ns=((1000, 50), (2000, 50)))
    other = Latency(mean_us=1.0, bins_ns=((1000, 80), (2000, 20)))
    assert kolmogorov(one, one) == 0.0
    assert kolmogorov(one, other) == pytest.approx(0.3)
    assert percentile(one, 50) == 1.0 and percentile(one, 51) == 2.0
    assert kolmogorov(one, Latency(mean_us=1.0)) is None


def test_measured_is_black_simulated_blue_and_writes_are_dashed_in_every_distribution() -> None:
    latency = Latency(mean_us=1.0, bins_ns=((1000, 50), (2000, 50)))
    side = Side(iops=1.0, ios=1, latency_mean_us=1.0, completion=latency)
    rows = [
        Compared(
            Point(
                name=rw,
                rw=rw,
                read_share=0.5,
                bs=4096,
                iodepth=1,
                read=read,
                write=write,
            ),
            Simulated(1.0, 1.0, latency, latency, (1.0, 1.0), {}, 0.0, ""),
        )
        for rw, read, write in (
            ("randwrite", None, side),
            ("randread", side, None),
            ("randrw", side, side),
        )
    ]
    traces = [trace for row in most_different(rows) for trace in distribution(row).data]
    assert len(traces) == 8
    looks = {(trace.name, trace.line.color, trace.line.dash) for trace in traces}
    assert len(looks) == 4 == len({trace.name for trace in traces})
    assert len({look[1:] for look in looks}) == 4
    assert {trace.line.color for trace in traces if "measured" in trace.name} == {"#000000"}
    # What takes longer than the shortest latency, down to one in 10,000.
    assert max(trace.y[0] for trace in traces) <= 1 and min(traces[0].y) == 1e-4


def test_a_picture_has_a_panel_for_p99_where_it_was_measured() -> None:
    known = Latency(mean_us=1.0, bins_ns=((1000, 50), (2000, 50)))
    for completion, axes in ((known, 2), (Latency(mean_us=1.0), 1)):
        side = Side(iops=1.0, ios=1, latency_mean_us=1.0, completion=completion)
        point = Point(name="reads", rw="randread", read_share=1.0, bs=4096, iodepth=1, read=side)
        row = Compared(point, Simulated(1.0, 1.0, known, None, (1.0, 1.0), {}, 0.0, ""))
        drawn = curves([row])
        assert sum(name.startswith("yaxis") for name in drawn.to_dict()["layout"]) == axes


def measurement_of(folder: str) -> Measurement:
    root = os.environ.get("RAIDLAB_MEASUREMENTS")
    if not root or not Path(root, "fio-plot", folder).is_dir():
        pytest.skip("RAIDLAB_MEASUREMENTS names no folder with fio-plot results")
    return import_fio([Path(root, "fio-plot", folder)])


def test_a_real_hard_disk_is_predicted_from_three_depths_of_one_job() -> None:
    measurement = measurement_of("ahci-hgst-hts72101-100gb-7200rpm")
    settings = Settings(
        kind="hdd",
        host="ahci",
        train="iodepth=1,8,32 numjobs=1",
        overrides={"capacity": "100 GB"},
        leave_out=False,
        workers=2,
    )
    result = calibrate(measurement, settings)
    test = summary(result.part("test"))
    assert test["points"] == 66
    assert test["median_abs_error_pct"] <= 5
    assert test["p90_abs_error_pct"] <= 10
    # Its writes gain nothing from a queue.
    values = dict(result.decisions[-1].option.values)
    assert values["write_cache.order"] == "first-come"
    assert against_lines(result.rows)["skill_p90"] > 0.3


def test_a_real_ssd_is_predicted_from_three_depths_of_one_job() -> None:
    measurement = measurement_of("sata-3g-intel-d3-s4610")
    settings = Settings(
        kind="ssd",
        host="sata-3g",
        train="iodepth=1,8,64 numjobs=1",
        leave_out=False,
        budget=60,
        workers=2,
    )
    test = summary(calibrate(measurement, settings).part("test"))
    assert test["points"] == 92
    assert test["median_abs_error_pct"] <= 7
    assert test["p90_abs_error_pct"] <= 20
    assert test["p99_latency_median_abs_error_pct"] <= 30


def test_the_state_of_an_ssd_is_read_off_depth_one() -> None:
    """Half of the reads come back without NAND: half of the drive contained data.

    By itself the point decides nothing: what other shallow reads say is the next test.
    """
    device = load_device(TEMPLATES / "ssd.toml").spec
    assert isinstance(device, DriveSpec)
    original = Bench.of(device, host("ahci"), mapped=0.5)
    found = original.run(load("randread", 1), Effort(ios=20_000, seed=9))
    assert found.read is not None
    side = Side(
        iops=found.iops, ios=1, latency_mean_us=found.latency_mean_us, completion=found.read
    )
    point = load("randread", 1).model_copy(update={"read": side})
    estimated = estimate_mapped(Bench.of(device, host("ahci")), [point], Effort())
    assert estimated is not None and estimated.alone == pytest.approx(0.5, abs=0.07)
    assert estimated.share == 1.0
    full = Bench.of(device, host("ahci"))
    known = point.model_copy(update={"state": "filled"})
    assert estimate_mapped(full, [known], Effort()) is None


def test_one_odd_point_does_not_decide_the_state_of_an_ssd() -> None:
    """Depth 1 as of a half empty drive, depth 2 and 4 as of a full one: it was full."""
    device = load_device(TEMPLATES / "ssd.toml").spec
    assert isinstance(device, DriveSpec)
    full, half = (Bench.of(device, host("ahci"), mapped=share) for share in (1.0, 0.5))
    effort = Effort(ios=10_000, seed=9)
    odd = measure_on(half, [load("randread", 1)], "odd", effort).points
    others = measure_on(full, [load("randread", depth) for depth in (2, 4)], "full", effort).points
    agreeing = measure_on(half, [load("randread", d) for d in (2, 4)], "half", effort).points
    short = Effort(ios=4000)
    contradicted = estimate_mapped(full, [*odd, *others], short)
    assert contradicted is not None and contradicted.share == 1.0
    confirmed = estimate_mapped(full, [*odd, *agreeing], short)
    assert confirmed is not None and confirmed.share == pytest.approx(0.5, abs=0.07)


def test_the_state_of_a_drive_is_reported_by_all_points_whichever_are_compared(
    tmp_path: Path,
) -> None:
    loads = [load("randread", depth) for depth in (1, 8)]
    device = load_device(TEMPLATES / "ssd.toml").spec
    assert isinstance(device, SsdSpec)
    half = Bench.of(device, host("ahci"), mapped=0.5)
    given = tmp_path / "m.json"
    given.write_text(measure_on(half, loads, "half", Effort(ios=20_000, seed=3)).to_json())
    rates = []
    for only in ("iodepth=8", "iodepth=1,8"):
        words = ["compare", str(given), "--device", str(TEMPLATES / "ssd.toml"), "--host", "ahci"]
        result = CliRunner().invoke(app, [*words, "--only", only, "--json"])
        assert result.exit_code == 0, result.output
        rates.append(json.loads(result.stdout)["points"][-1]["simulated_iops"])
    assert rates[0] == rates[1]


def test_the_commands_make_files_that_the_next_one_takes(tmp_path: Path) -> None:
    measurement = measure(station(250, 6), host(), READS[:4], seed=2)
    given, device, page = tmp_path / "m.json", tmp_path / "d.toml", tmp_path / "r.html"
    given.write_text(measurement.to_json())
    runner = CliRunner()
    options = [
        "--kind",
        "station",
        "--host",
        "generic",
        "--train",
        "iodepth=1,8",
        "--budget",
        "500",
    ]
    result = runner.invoke(
        app,
        ["calibrate", str(given), *options, "--out", str(device), "--report", str(page), "--json"],
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert {"name", "value", "unit", "stderr", "low", "high", "at_bound", "identifiable"} <= set(
        document["parameters"][0]
    )
    assert (document["train"]["points"], document["test"]["points"]) == (2, 2)
    text = page.read_text()
    assert "Points whose rates differ most" in text and "src=" not in text[:2000]
    assert len(text) < 1_500_000 and "training points determine" in text
    result = runner.invoke(app, ["compare", str(given), "--device", str(device), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert any("was fitted to these measurements" in said for said in document["warnings"])
    assert document["summary"]["points"] == 4
    assert abs(document["points"][0]["error_pct"]) < 10
    result = runner.invoke(app, ["compare", str(given), "--device", "generic"])
    assert result.exit_code == 2
    result = runner.invoke(app, ["calibrate", str(given), "--kind", "tape"])
    assert result.exit_code == 2


@pytest.mark.parametrize("kind", ["ssd", "nvme"])
def test_reads_do_not_feel_what_takes_up_writes(kind: str) -> None:
    """What slopes leave out: not one I/O of the other direction changes."""
    loads = tuple(load(rw, 4) for rw in ("randread", "randwrite"))
    settings = Settings(kind)
    tree, _ = base_of(kind_of(kind), settings, "x", None)
    host = host_of(kind_of(kind), settings, None)
    task = Task(kind_of(kind), host, loads, settings)
    model = task.model(tree, frozenset())
    place = np.full(len(model.parameters), 0.4)
    here = model.bench(place).run_all(loads, Effort(ios=1000))
    felt = 0
    for index, parameter in enumerate(model.parameters):
        moved = place.copy()
        moved[index] = 0.7
        there = model.bench(moved).run_all(loads, Effort(ios=1000))
        for at, point in enumerate(loads):
            assert here[at] == there[at] or depends(kind_of(kind), parameter, point)
            felt += here[at] != there[at]
    assert felt >= 6
    steady = loads[1].model_copy(update={"state": "steady-state"})
    # Collection reads what it moves.
    assert depends(kind_of(kind), model.parameters[0], steady)


def test_a_step_of_one_parameter_simulates_the_points_that_feel_it_alone() -> None:
    asked: list[tuple[int, ...]] = []

    def evaluate(at: np.ndarray, points: object, rough: bool) -> np.ndarray:
        chosen = tuple(points)  # type: ignore[call-overload]
        asked.append(chosen)
        return np.array([10 * at[0] if point < 2 else 10 * at[1] for point in chosen])

    parameters = [linear("a"), linear("b")]
    search = Search(
        evaluate,
        np.zeros(2),
        (0, 1, 2),
        Budget(ENDLESS),
        parameters,
        (0, 1, 2),
        lambda parameter, point: (parameter.key == "a") == (point < 2),
    )
    here = search.full(np.array([0.2, 0.3]))
    there = search.stepped(np.array([0.2, 0.5]), 1, here)
    assert asked == [(0, 1, 2), (2,)]
    assert there == pytest.approx([2.0, 2.0, 5.0, 0.4, 1.0])


def test_a_bench_has_the_clock_of_its_host() -> None:
    """Behind a host of another clock the card's map costs what it costs in a scenario."""
    host = find("ahci").spec
    assert isinstance(host, HostSpec)
    card = find("iodrive-320").spec
    assert isinstance(card, SsdSpec)
    on_bench = Bench.of(card, host).device["firmware"]["write_unit_ns"]
    assert on_bench == round(card.firmware.write_unit * 2.93e9 / host.clock)


def nvme(settings: Settings, loads: list[Point]) -> FitModel:
    kind = kind_of("nvme")
    tree, _ = base_of(kind, settings, "truth", None)
    host = host_of(kind, settings, None)
    return Task(kind, host, tuple(loads), settings).model(tree, frozenset())


def test_large_blocks_beside_small_ones_tell_what_a_unit_costs() -> None:
    """Four cores that take 20 us for each 4 KiB pass 819 MB a second, however many ask."""
    loads = [load("randread", depth, bs=bs) for bs in (4096, 65536) for depth in (1, 32)]
    original = nvme(Settings("nvme", overrides={"firmware.read_unit": "20 us"}), loads)
    measured = measure_on(
        original.bench(original.start), loads, "limited", Effort(ios=20_000, seed=5)
    )
    assert measured.points[-1].iops * 65536 == pytest.approx(4 * 4096 / 20e-6, rel=0.02)
    result = calibrate(measured, Settings("nvme", leave_out=False, budget=250))
    found = {each.parameter.key: each for each in result.fit.estimates}["firmware.read_unit"]
    assert found.low <= 20 <= found.high
    assert found.value == pytest.approx(20, rel=0.1)
    assert abs(result.rows[-1].error_pct) < 5


def test_blocks_of_one_size_do_not_vary_what_a_unit_costs() -> None:
    reads = [load("randread", depth) for depth in (1, 32)]
    writes = [load("randwrite", 4, bs=bs) for bs in (4096, 65536)]
    keys = {each.key for each in nvme(Settings("nvme"), [*reads, *writes]).parameters}
    assert "firmware.read_unit" not in keys and "firmware.write_unit" in keys
