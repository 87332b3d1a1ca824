"""What is refused or doubted of a calibration, what it stores and draws."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.bench.bench import Bench, Effort, Simulated
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.certainty.uncertainty import Estimate, doubts
from raidlab.calibration.fitting.comparison.compare import Compared, summary
from raidlab.calibration.fitting.estimation.decision import Decision, Found
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.estimation.start import host_of
from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.calibration.fitting.parameters.parameter import Choice, Mode, Option, Parameter
from raidlab.calibration.fitting.recovery import SYSTEMS, load, measure
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.fitting.report.posterior import device_files, intervals, places, rivals
from raidlab.calibration.fitting.search.loss import measured_cpu_us
from raidlab.calibration.measurements.measurement import (
    Latency,
    Measurement,
    Point,
    Side,
    load_measurement,
)
from raidlab.calibration.measurements.sanity import possible, too_little
from raidlab.cli import app
from raidlab.devices.catalogue import find, load_device
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.host import HostSpec
from raidlab.scenarios.running.store import Key, Store
from tests.calibration.fitting.known_drives import station

DEPTHS = (1, 2, 4, 8, 16, 32)


@cache
def measured(depths: tuple[int, ...] = DEPTHS, service_us: float = 200.0) -> Measurement:
    host = find("generic", Path()).spec
    assert isinstance(host, HostSpec)
    loads = [load("randread", depth, 1) for depth in depths]
    effort = Effort(ios=15_000, seed=11)
    return measure(Bench.of(station(service_us, 8), host), loads, "synthetic", effort)


def settings(**more: object) -> Settings:
    given: dict[str, object] = {"kind": "station", "host": "generic", "leave_out": False}
    return Settings(**{**given, **more})  # type: ignore[arg-type]


STEPS: list[tuple[int, int]] = []
"""What the fit of `plain` has said of its progress."""


@cache
def plain() -> Calibration:
    """The fit that most tests look at."""
    return calibrate(measured(), settings(), progress=lambda *step: STEPS.append(step))


def with_latency(point: Point, factor: float) -> Point:
    assert point.read is not None
    read = point.read.model_copy(update={"latency_mean_us": point.read.latency_mean_us * factor})
    return point.model_copy(update={"read": read})


def test_units_that_contradict_each_other_are_refused_with_what_they_would_mean() -> None:
    good = measured(DEPTHS[:3])
    wrong = good.model_copy(
        update={"points": tuple(with_latency(point, 1000.0) for point in good.points)}
    )
    with pytest.raises(SpecError, match="milliseconds written as microseconds") as error:
        calibrate(wrong, settings())
    assert len(error.value.faults) == 3
    one = good.model_copy(
        update={"points": (with_latency(good.points[0], 1000.0), *good.points[1:])}
    )
    kept, notes = possible(one)
    assert len(kept) == 2 and "left out" in notes[0]
    # What is outstanding and 30 % more: no other unit, and no rounding.
    full = 1.3 * good.points[0].outstanding * 1e6
    full /= good.points[0].iops * good.points[0].latency_mean_us
    long = good.model_copy(
        update={"points": (with_latency(good.points[0], full), *good.points[1:])}
    )
    assert "1 point has latencies beyond" in possible(long)[1][0]
    assert "30 % beyond" in possible(long)[1][0]
    slow = good.model_copy(
        update={"points": tuple(with_latency(point, 0.01) for point in good.points)}
    )
    assert "was the load limited" in possible(slow)[1][0]


def test_too_few_points_say_what_to_measure() -> None:
    point = measured((4,)).points[0]
    assert point.read is not None
    bare = point.read.completion.model_copy(update={"percentiles_us": {}, "bins_ns": ()})
    read = point.read.model_copy(update={"completion": bare})
    alone = point.model_copy(update={"read": read, "cpu_share": None})
    result = calibrate(Measurement(name="m", points=(alone,)), settings())
    said = " ".join(result.warnings)
    assert "1 measured values for 2 parameters" in said
    assert "raidlab-collect --plan quick" in said
    assert "no percentiles" in said and "no writes were measured" in said
    assert "all points have 4 outstanding" in said


def test_several_drives_in_one_set_are_noticed() -> None:
    """One load, 1000 and 2100 IO/s: more than twice apart."""
    slow, other = load("randread", 1), load("randread", 8)
    assert slow.read is not None
    fast = slow.model_copy(update={"read": slow.read.model_copy(update={"iops": 2100.0})})
    said = [
        [note for note in possible(Measurement(name="m", points=points))[1] if "apart" in note]
        for points in ((slow, other), (slow, slow), (slow, other, fast))
    ]
    assert said[:2] == [[], []]
    assert "1 load has rates up to 2.1 times apart, randread 4k, 1 x 1" in said[2][0]


def test_a_counted_share_of_reads_does_not_make_another_load() -> None:
    """Of 70 % reads one run counted 69.96 %, another 70.04 %: one load, 1000 and 2500 IO/s."""
    one = load("randread", 1)
    assert one.read is not None
    points = tuple(
        one.model_copy(update={"rw": "randrw", "read_share": share, "read": read})
        for share, read in (
            (0.6996, one.read),
            (0.7004, one.read.model_copy(update={"iops": 2500.0})),
        )
    )
    assert points[0].load == points[1].load == ("randrw", 4096, 0.7)
    _, notes = possible(Measurement(name="m", points=points))
    assert any("1 load has rates up to 2.5 times apart" in note for note in notes)


def test_a_point_without_a_rate_is_named(tmp_path: Path) -> None:
    tree = json.loads(Measurement(name="m", points=(load("randread", 1),)).to_json())
    tree["points"][0]["read"] = None
    path = tmp_path / "m.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(SpecError, match=r"points\.0.*neither read nor write has one"):
        load_measurement(path)


def test_a_host_that_there_is_none_of_is_named_with_those_there_are() -> None:
    with pytest.raises(SpecError, match=r"--host.*ahci, .*sata-3g.*or the path of a file"):
        host_of(kind_of("ssd"), Settings(kind="ssd", host="none-such"), None)


def test_a_file_cut_in_the_middle_is_named(tmp_path: Path) -> None:
    whole = measured((1, 8)).to_json()
    cut = tmp_path / "m.json"
    cut.write_text(whole[: len(whole) // 2])
    result = CliRunner().invoke(app, ["calibrate", str(cut), "--kind", "station"])
    assert result.exit_code == 2 and "cut off?" in result.output


def test_all_points_at_one_depth_are_reported_what_to_measure() -> None:
    loads = measured((4,)).points
    twice = Measurement(name="m", points=(*loads, loads[0].model_copy(update={"name": "again"})))
    said = [text for text in too_little(twice.points) if "outstanding" in text]
    assert len(said) == 1
    assert "depth 1 and a deep queue" in said[0] and "raidlab-collect --plan quick" in said[0]
    assert not [text for text in too_little(measured((1, 4)).points) if "outstanding" in text]


def test_a_measurement_of_another_kind_is_reported_with_how_far_it_is_off() -> None:
    """Two microseconds an I/O are no disk's."""
    found = calibrate(measured((1, 2), 2.0), settings(kind="hdd", host="ahci", budget=100))
    doubts = [text for text in found.warnings if "another kind of device than hdd" in text]
    # The error of the table and of the document.
    error = summary(found.part("train"))["median_abs_error_pct"]
    assert len(doubts) == 1 and f"still {error:.0f} % off in the median" in doubts[0]


def test_options_that_cannot_be_are_named(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(measured((1, 8)).to_json())
    runner = CliRunner()
    for words, reported in [
        (["--kind", "statoin"], "station"),
        (["--kind", "station", "--time-limit", "soon"], "--time-limit"),
        (["--kind", "station", "--fix", "servers"], "KEY=VALUE"),
        (["--kind", "station", "--fix", "servers=many"], "a number"),
        (["--kind", "station", "--free", "host.cores"], "host.submit"),
        (["--kind", "station", "--tie", "service=sevrice"], "service"),
        (["--kind", "station", "--fix", "servers=4", "--free", "servers"], "--fix and --free"),
        (["--kind", "station", "--tie", "service=servers"], "the same unit"),
        (["--kind", "station", "--set", "servers=4", "--fix", "servers=8"], "--set and --fix"),
        (["--kind", "station", "--train", "iodepth=77"], "iodepth"),
        (["--kind", "station", "--draws", str(tmp_path)], "--posterior"),
        (["--kind", "station", "--host", "nowhere"], "--host"),
        (["--kind", "station", "--like", "null-"], "--like"),
    ]:
        result = runner.invoke(app, ["calibrate", str(path), *words])
        assert result.exit_code == 2, (words, result.output)
        assert reported in result.output, (words, result.output)


def test_how_far_a_fit_is_can_be_reported() -> None:
    """A station has one search, for reads; then all together, then the comparison."""
    plain()
    assert STEPS == [(0, 3), (1, 3), (2, 3)]


def test_a_decision_is_reported_as_a_device_file_would_have_it() -> None:
    with_cache, without = (Option({"write_cache.enabled": on}) for on in (True, False))
    way = Mode("write_cache.enabled", "write", (with_cache, without))
    said = Decision(way, with_cache, (Found(without, {}, 1.0),)).said()
    assert said.startswith("write_cache.enabled = true: fits best of 2")
    assert "hardly distinguish it from write_cache.enabled = false" in said


def test_parameters_are_fixed_freed_and_tied() -> None:
    choice = Choice({"servers": 8}, frozenset({"host.port.latency"}), {})
    result = calibrate(measured(), settings(choice=choice))
    keys = [estimate.parameter.key for estimate in result.fit.estimates]
    assert keys == ["service", "host.port.latency"]
    assert result.tree["servers"] == 8
    tied = Choice({}, frozenset({"host.submit"}), {"host.complete": "host.submit"})
    result = calibrate(measured(), settings(choice=tied))
    found = {e.parameter.key: e.value for e in result.fit.estimates}
    assert "host.complete" not in found
    number = float(str(result.host["complete"]).split()[0])
    assert number == pytest.approx(found["host.submit"], rel=1e-3)


def test_an_interrupted_fit_goes_on_where_it_stopped(tmp_path: Path) -> None:
    measurement = measured()
    before: set[Key] = set()
    after: set[Key] = set()

    class Stops(Store):
        def put(self, key: Key, result: str) -> None:
            super().put(key, result)
            before.add(key)
            if len(before) == 60:
                raise KeyboardInterrupt

    path = tmp_path / "store.sqlite"
    with Stops(path) as store, pytest.raises(KeyboardInterrupt):
        calibrate(measurement, settings(), store)

    class Counts(Store):
        def put(self, key: Key, result: str) -> None:
            super().put(key, result)
            after.add(key)

    with Counts(path) as store:
        again = calibrate(measurement, settings(), store)
    # What was computed before was not computed again.
    assert after and not before & after
    assert again.to_toml() == plain().to_toml()


def test_devices_drawn_from_the_posterior_have_the_errors_of_the_fit() -> None:
    result = plain()
    drawn = places(result, 4000)
    assert np.allclose(drawn.std(axis=0), result.fit.errors, rtol=0.1)
    texts = device_files(result, 3)
    assert len(set(texts)) == 3
    points = result.measurement.points[:2]
    low, high = intervals(result, points, 20)[0]
    assert low < result.rows[0].simulated.iops < high
    assert high / low < 1.2


def test_a_rival_option_has_its_share_of_the_drawn_devices() -> None:
    """Loss 2 ln 2 higher: weight 1/2 beside 1, a third of the devices; they are half as fast."""
    result = plain()
    points = result.measurement.points[:1]
    low, _ = intervals(result, points, 40)[0]
    at = next(e for e in result.fit.estimates if e.parameter.key == "service")
    options = [Option({"distribution": name}) for name in ("exponential", "fixed")]
    slower = {"service": at.parameter.place(2.0 * at.value)}
    ended = Found(options[1], slower, 2.0 * math.log(2.0))
    mode = Mode("distribution", "read", tuple(options))
    decision = Decision(mode, options[0], (ended,))
    open_ = replace(result, decisions=(decision,))
    (rival,) = rivals(open_)
    assert rival.weight == pytest.approx(0.5)
    texts = device_files(open_, 60)
    assert 10 <= sum('distribution = "fixed"' in text for text in texts) <= 30
    assert intervals(open_, points, 40)[0][0] < 0.6 * low


def test_what_a_rival_option_sets_itself_is_not_drawn() -> None:
    result = plain()
    options = [Option({"service": text}) for text in ("200 us", "400 us")]
    decision = Decision(Mode("service", "read", tuple(options)), options[0], _as_well(options[1]))
    open_ = replace(result, decisions=(decision,))
    (rival,) = rivals(open_)
    assert [p.key for p in rival.model.parameters] == ["servers"] and len(rival.place) == 1
    assert 1 <= sum('service = "400 us"' in text for text in device_files(open_, 8)) <= 7


def _as_well(option: Option) -> tuple[Found, ...]:
    return (Found(option, {}, -1.0),)


def test_the_command_draws_devices_that_scenarios_take(tmp_path: Path) -> None:
    given = tmp_path / "m.json"
    given.write_text(measured((1, 4, 16)).to_json())
    options = ["--kind", "station", "--host", "generic", "--budget", "500", "--json"]
    words = ["calibrate", str(given), *options, "--posterior", "4", "--draws", str(tmp_path)]
    page = tmp_path / "page.html"
    words += ["--report", str(page)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["posterior"]
    assert found["draws"] == 4 and len(found["points"]) == 3
    assert found["points"][0]["iops_low"] <= found["points"][0]["iops_high"]
    files = sorted(tmp_path.glob("*.toml"))
    assert len(files) == 4
    assert load_device(files[0]).sources["service"].source == "fitted"
    text = page.read_text()
    assert "tonexty" in text and "2.5 % of drawn devices" in text
    assert "Chi-square " in text


def test_a_system_of_quite_another_size_is_not_fitted() -> None:
    """Ten I/Os a second are nothing of a controller with SSDs."""
    of_ssds = settings(kind="controller", host="", system=str(SYSTEMS / "controller.toml"))
    with pytest.raises(SpecError, match=r"gave 9\.\d+ IO/s, this one \d+ before"):
        calibrate(measured((1,), 100_000.0), of_ssds)


def test_a_budget_in_evaluations_gives_the_same_fit_on_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cut() -> Calibration:
        return calibrate(measured(), settings(budget=40))

    fast = cut()
    assert [text for text in fast.warnings if "budget of 40 evaluations ended" in text]
    clock = iter(range(10**9))
    # Every look at the clock takes ten minutes.
    monkeypatch.setattr("time.monotonic", lambda: 600.0 * next(clock))
    slow = cut()
    assert slow.to_toml() == fast.to_toml()
    assert slow.fit.evaluations == fast.fit.evaluations


def test_what_ended_a_search_early_is_said_with_what_was_given() -> None:
    assert not any("ended" in text for text in plain().warnings)
    cut = calibrate(measured(), settings(kind="ssd", host="ahci", time_limit_s=0.5))
    (said,) = [text for text in cut.warnings if "ended" in text]
    assert said.startswith("the time limit of 0.5 s ended the search of parts, which has half of")


def test_draws_that_make_no_device_are_drawn_anew_and_if_none_does_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = plain()
    known, calls = Bench.run, iter(range(10_000))

    def run(self: Bench, point: Point, effort: Effort) -> Simulated:
        if next(calls) % 3:
            raise SpecError([Fault("seek", 1, "a curve that rises")])
        return known(self, point, effort)

    monkeypatch.setattr(Bench, "run", run)
    assert len(device_files(result, 5)) == 5
    calls = iter([1] * 1000)
    with pytest.raises(SpecError, match="0 of 80 that were drawn make a device"):
        device_files(result, 5)


@pytest.mark.parametrize(
    ("percentiles", "reported"),
    [
        ({"50": 10.0, "99": 9.0}, "rise with the percent"),
        ({"50": -1.0}, "at least 0"),
        ({"101": 1.0}, "from 0 to 100"),
        ({"median": 1.0}, "percents as keys"),
    ],
)
def test_percentiles_that_cannot_be_are_refused(
    percentiles: dict[str, float], reported: str
) -> None:
    with pytest.raises(ValueError, match=reported):
        Latency(mean_us=10.0, percentiles_us=percentiles)


def test_the_cause_is_not_the_cpu_where_fio_saw_no_more_of_it() -> None:
    point = measured((8,)).points[0].model_copy(update={"cpu_share": 0.5})
    seen = measured_cpu_us(point)
    assert seen is not None

    def cause(rate: float, cpu_us: float) -> str:
        run = Simulated(rate * point.iops, 1.0, None, None, (0, 0), {}, cpu_us, "host thread", 0.99)
        return Compared(point, run).cause()

    assert "CPU time" in cause(1.2, 0.8 * seen)
    assert "waiting at the drive" in cause(1.2, seen)
    assert "another kind" in cause(5.0, 0.8 * seen)


@pytest.mark.parametrize(
    ("rate", "cpu_us", "cores", "reported"),
    [
        (64.0, None, 2, "waiting at the drive"),
        (400.0, 160.0, 2, "waiting at the drive"),
        (18_000.0, None, 4, "CPU time"),
        (18_000.0, 160.0, 4, "CPU time"),
        (18_000.0, 124.0, 4, "waiting at the drive"),
        (18_000.0, 124.0, 2, "CPU time"),
    ],
)
def test_cpu_time_is_the_cause_only_of_what_it_can_explain(
    rate: float, cpu_us: float | None, cores: int, reported: str
) -> None:
    """Four jobs with one I/O each, 9 % too fast: 5 ms of 62 are missing on a disk with 64 IO/s.

    The simulated CPU time is 120 us; of 18 us that are missing, 4 us more are too little for one
    job a core, and enough for two.
    """
    side = Side(iops=rate, ios=1, latency_mean_us=1.0, completion=Latency(mean_us=1.0))
    share = None if cpu_us is None else rate * cpu_us / 4e6
    point = load("randread", 1, 4).model_copy(update={"read": side, "cpu_share": share})
    run = Simulated(1.09 * rate, 1, None, None, (0, 0), {}, 120.0, "drive", 0.99, cores=cores)
    assert reported in Compared(point, run).cause()


@pytest.mark.parametrize(
    ("error", "tail", "busy", "reported"),
    [
        (6.0, 1.05, 0.5, "nearly agrees: 6 % too fast"),
        (-6.0, None, 0.5, "nearly agrees: 6 % too slow"),
        (6.0, 0.5, 0.5, "the tail: some jobs or requests waited far longer"),
        (2.0, 1.5, 0.5, "the tail is shorter than simulated"),
        (-20.0, 1.0, 0.4, "no component is busy for 80 % of the time"),
        (-20.0, 1.0, 0.9, "limited by link in the simulation"),
        (20.0, 1.0, 0.4, "waiting at the drive"),
        (20.0, 1.0, 0.9, "the port or the drive's command processing limits"),
    ],
)
def test_a_likely_cause_does_not_contradict_its_row(
    error: float, tail: float | None, busy: float, reported: str
) -> None:
    def with_p99(us: float) -> Latency:
        return Latency(mean_us=10.0, percentiles_us={"99": us})

    measured_tail = Latency(mean_us=10.0) if tail is None else with_p99(100.0)
    side = Side(iops=1000.0, ios=1, latency_mean_us=8000.0, completion=measured_tail)
    point = load("randread", 8).model_copy(update={"read": side})
    read = None if tail is None else with_p99(100.0 * tail)
    rate = 1000.0 * (1 + error / 100)
    run = Simulated(rate, 1.0, read, None, (0, 0), {}, 1.0, "link", busy)
    assert reported in Compared(point, run).cause()


def test_random_writes_that_are_too_fast_point_to_garbage_collection() -> None:
    """A worn drive beside a fresh one was said to be limited by its port."""
    side = Side(iops=1000.0, ios=1, latency_mean_us=8000.0, completion=Latency(mean_us=10.0))
    point = load("randwrite", 8).model_copy(update={"write": side, "read_share": 0.0})
    run = Simulated(3000.0, 1.0, None, None, (0, 0), {}, 1.0, "link", 0.99)
    assert "garbage collection" in Compared(point, run).cause()


_SETTLE = Parameter("seek.settle", "ms", 0.5, 4.0, "log", "random writes")
_AGEING = Parameter("scheduler.ageing", "", 0.0, 1.0, "linear", "p99 at depth")


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        (_SETTLE, 0.5, "0.5 ms lies at the least of what was looked at, 0.5 ms to 4 ms"),
        (_SETTLE, 0.51, "0.51 ms lies next to the least of what was looked at, 0.5 ms to 4 ms"),
        (_AGEING, 0.003, "0.003 lies next to the least of what was looked at, 0 to 1"),
        (_AGEING, 1.0, "1 lies at the most of what was looked at, 0 to 1"),
    ],
)
def test_what_lies_at_a_bound_or_next_to_it_is_reported_with_both(
    parameter: Parameter, value: float, said: str
) -> None:
    found = Estimate(parameter, value, 0.1, 0.0, 0.1, at_bound=True, identifiable=False)
    assert doubts([found], 5) == [f"{parameter.key} = {said}"]
