"""A component looked for in a known system: controller, cache, tier, RAID in the host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.bench.system import System
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.estimation.stages import BUDGET, Settings
from raidlab.calibration.fitting.estimation.start import system_of
from raidlab.calibration.fitting.parameters.kinds import kind_of, start_of
from raidlab.calibration.fitting.parameters.parameter import Choice, Parameter
from raidlab.calibration.fitting.recovery import SYSTEMS, load, measure
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.fitting.search.minimise import looser
from raidlab.calibration.measurements.measurement import Measurement, Point, Step, rates_of
from raidlab.calibration.report.fit import calibration_report
from raidlab.cli import app
from raidlab.devices.catalogue import KINDS, load_device
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec, check, read_toml
from raidlab.devices.trees import put
from raidlab.scenarios.planning.scenario import build_scenario

_EFFORT = Effort(ios=8000, seed=77)


def system(name: str, kind: str) -> System:
    return System.of(SYSTEMS / name, kind_of(kind))


def measured_with(around: System, values: dict[str, object], loads: list[Point]) -> Measurement:
    """What fio would have measured if the component had these values."""
    tree = dict(around.device.written)
    for key, value in values.items():
        put(tree, key, value)
    spec = check(KINDS[str(tree["kind"])], tree, Faults())
    assert spec is not None and isinstance(around.host.spec, HostSpec)
    return measure(around.bench(spec, around.host.spec, 1.0), loads, "synthetic", _EFFORT)


def fitted(measurement: Measurement, kind: str, file: str, **settings: object) -> Calibration:
    given = {"system": str(SYSTEMS / file), "leave_out": False, "workers": 2, "budget": 200}
    return calibrate(measurement, Settings(kind, **{**given, **settings}))  # type: ignore[arg-type]


def found(result: Calibration, key: str) -> tuple[float, float, float]:
    estimate = next(e for e in result.fit.estimates if e.parameter.key == key)
    return estimate.low, estimate.value, estimate.high


def test_unknown_disks_of_an_array_work_together() -> None:
    """Of 32 outstanding each of eight disks has four on average."""
    around = system("disks.toml", "hdd")
    spec = around.device.spec
    assert isinstance(around.host.spec, HostSpec) and isinstance(spec, DriveSpec)
    deep = load("randread", 32)
    effort = Effort(ios=2000, ios_of_slow=2000)
    together = around.bench(spec, around.host.spec, 1.0).run(deep, effort).iops
    alone = Bench.of(spec, around.host.spec).run(load("randread", 4), effort).iops
    assert together / alone == pytest.approx(8.0, rel=0.15)


def test_a_core_of_the_controller_ends_the_rate_as_its_times_say() -> None:
    """Two cores, 8 us a request, 2 us a command: 200,000 reads a second, 166,667 writes."""
    around = system("controller.toml", "controller")
    loads = [load(rw, 64, 4) for rw in ("randread", "randwrite")]
    times: dict[str, object] = {"firmware.request": "8 us", "firmware.command": "2 us"}
    reads, writes = measured_with(around, times, loads).points
    assert reads.iops == pytest.approx(2 / 10e-6, rel=0.01)
    assert writes.iops == pytest.approx(2 / 12e-6, rel=0.01)


def test_a_controller_is_found_before_known_drives(tmp_path: Path) -> None:
    loads = [load(rw, d, 4) for rw in ("randread", "randwrite") for d in (1, 8, 64)]
    times: dict[str, object] = {"firmware.request": "9 us", "firmware.command": "3 us"}
    measurement = measured_with(system("controller.toml", "controller"), times, loads)
    choice = Choice({"queue_depth": 512, "firmware.latency": 15.0}, frozenset(), {})
    result = fitted(
        measurement, "controller", "controller.toml", choice=choice, name="mine", budget=100
    )
    for key, original in (("firmware.request", 9.0), ("firmware.command", 3.0)):
        low, value, high = found(result, key)
        assert low <= original <= high and value == pytest.approx(original, rel=0.1)
    path = tmp_path / "mine.toml"
    path.write_text(result.to_toml())
    device = load_device(path)
    source = device.sources["firmware.request"]
    assert (source.source, source.measurement) == ("fitted", "synthetic") and source.stderr
    assert device.sources["firmware.cached"].source == "assumed"
    # The file stands in a scenario at once.
    tree = read_toml(SYSTEMS / "controller.toml")
    tree["controller"]["model"] = str(path)
    scenario = build_scenario(tree, SYSTEMS / "controller.toml")
    assert scenario.base["controllers"][0]["request_ns"] == round(
        1e3 * float(device.written["firmware"]["request"].split()[0])
    )
    assert "measured in controller.toml" in calibration_report(result).html()


def test_drives_and_their_controller_are_found_from_one_set(tmp_path: Path) -> None:
    """Few outstanding show the drives' time, many that of the controller's two cores."""
    file = "drives-and-controller.toml"
    around = system(file, "station")
    drive, controller = (
        dict(known.written) for known in (around.device, around.own["unknown-controller"])
    )
    drive |= {"service": "300 us", "servers": 4}
    put(controller, "firmware.request", "120 us")
    spec = check(KINDS["station"], drive, Faults())
    beside = check(KINDS["controller"], controller, Faults())
    assert spec is not None and isinstance(around.host.spec, HostSpec)
    assert isinstance(beside, ControllerSpec)
    loads = [load(rw, d, 4) for rw in ("randread", "randwrite") for d in (1, 2, 8, 64)]
    bench = around.bench(spec, around.host.spec, 1.0, beside)
    measurement = measure(bench, loads, "synthetic", _EFFORT)
    result = fitted(measurement, "station", file, train="iodepth=1,2,64", budget=BUDGET)
    assert found(result, "controller.firmware.request")[1] == pytest.approx(120, rel=0.1)
    assert found(result, "service")[1] == pytest.approx(300, rel=0.1)
    unseen = result.part("test")
    assert len(unseen) == 2 and all(abs(row.error_pct) < 5 for row in unseen)
    # Each has a file of its own, and both stand in a scenario at once.
    tree = read_toml(SYSTEMS / file)
    for name, text in (("drive", result.to_toml()), ("card", result.controller_toml())):
        (tmp_path / f"{name}.toml").write_text(text)
    assert "controller" not in load_device(tmp_path / "drive.toml").written
    tree["controller"]["model"] = str(tmp_path / "card.toml")
    tree["array"][0]["drives"][0]["model"] = str(tmp_path / "drive.toml")
    request = build_scenario(tree, SYSTEMS / file).base["controllers"][0]["request_ns"]
    assert request == pytest.approx(120_000, rel=0.1)


def test_a_controller_is_found_together_with_drives_alone() -> None:
    file = SYSTEMS / "drives-and-controller.toml"
    tree = read_toml(file)
    tree["array"][0]["drives"][0]["model"] = "known-drive.toml"
    with pytest.raises(SpecError, match="drives alone are fitted"):
        System.of(file, kind_of("host"), tree=tree)
    assert system("disks.toml", "hdd").controller is None


def test_raid_in_the_host_is_found_by_its_cpu_time() -> None:
    loads = [
        load(rw, d, 1, bs) for rw, bs in (("randread", 4096), ("randwrite", 65536)) for d in (1, 32)
    ]
    values: dict[str, object] = {"raid_command": "3 us", "parity": "2 GB/s"}
    measurement = measured_with(system("os-raid.toml", "os-raid"), values, loads)
    result = fitted(measurement, "os-raid", "os-raid.toml")
    for key, original in (("raid_command", 3.0), ("parity", 2.0)):
        low, value, high = found(result, key)
        assert low <= original <= high and value == pytest.approx(original, rel=0.1)
    assert result.tree["kind"] == "host"
    assert result.to_toml().count('measurement = "synthetic"') == 2


def test_an_empty_cache_takes_in_what_may_be_dirty_at_once() -> None:
    """64 MiB, of which half may be dirty: 512 blocks of 64 KiB, and what went out meanwhile."""
    around = system("write-cache.toml", "write-cache")
    values: dict[str, object] = {"cache.size": "64 MiB", "cache.dirty": 0.5}
    loads = [load("randwrite", 16, 1, 65536, 12.0)]
    (point,) = measured_with(around, values, loads).points
    rates = rates_of(point)
    burst = rates[0] - sum(rates[2:]) / 10
    assert 512 * 0.8 < burst < 512 * 1.2
    measurement = measured_with(around, values, [*loads, load("randwrite", 1, 1, 65536, 12.0)])
    only = Choice({"cache.destages": 4, "cache.bandwidth": 10.0}, frozenset(), {})
    given = {"cache.size": "64 MiB", "cache.low": 0.5, "cache.flush": "4 s"}
    result = fitted(
        measurement, "write-cache", "write-cache.toml", choice=only, overrides=given, budget=80
    )
    low, value, high = found(result, "cache.dirty")
    assert low <= 0.5 <= high and value == pytest.approx(0.5, abs=0.05)
    assert "the rate over time" in calibration_report(result).html()


def test_a_cache_that_takes_far_more_than_was_measured_is_not_filled_to_the_end() -> None:
    """1,000 writes a second over 12 s are 12,000; a cache of 64 GiB takes 40 times as many."""
    around = system("write-cache.toml", "write-cache")
    steps = tuple(Step(t_s=float(t), iops=1000.0) for t in range(12))
    point = load("randwrite", 1, 1, 4096, 12.0).model_copy(update={"timeline": steps})
    spec, host = around.device.spec, around.host.spec
    assert isinstance(spec, ControllerSpec) and isinstance(host, HostSpec) and spec.cache
    size = spec.model_copy(update={"cache": spec.cache.model_copy(update={"size": 1 << 36})})
    bench = around.bench(size, host, 1.0)
    assert bench.plan(point, _EFFORT)["max_ios"] == 36_000
    found = bench.run(point, _EFFORT)
    assert len(found.rates) == 12 and min(found.rates) > 20_000
    # Nothing is known of a load that is about to be measured.
    assert bench.plan(load("randwrite", 1, 1, 4096, 12.0), _EFFORT)["max_ios"] == 0


def test_a_tier_is_simulated_for_as_long_as_it_was_measured() -> None:
    around = system("tier.toml", "tier")
    spec, host = around.device.spec, around.host.spec
    assert isinstance(host, HostSpec)
    bench = around.bench(spec, host, 1.0)
    plan = bench.plan(load("randread", 32, 1, 65536, 3600.0), _EFFORT)
    assert plan["duration_ns"] * plan["time_lapse"] == pytest.approx(3600e9)
    assert plan["warm_up_ns"] % plan["timeline_step_ns"] == 0 and plan["warm_up_ns"] >= 2e9
    assert plan["arrays"][0]["tier"]["promote_after"] == 3
    # Once it was loaded for long enough the load is read from SSDs.
    slow = load("randread", 32, 1, 65536, 1200.0)
    rates = bench.run(slow, _EFFORT).rates
    assert len(rates) == 12 and rates[-1] > 3 * rates[0]


def test_rates_over_time_are_means_of_twelve_parts() -> None:
    steps = tuple(Step(t_s=float(t), iops=100.0 * (t // 2)) for t in range(24))
    point = load("randread", 1).model_copy(update={"timeline": steps})
    assert rates_of(point) == tuple(100.0 * part for part in range(12))
    assert rates_of(load("randread", 1)) == ()


def test_only_what_the_system_can_show_is_varied() -> None:
    has = system("controller.toml", "controller").has
    assert has == {"host", "controller", "straight"}
    assert system("controller-parity.toml", "controller").has >= {"parity", "memory"}
    assert system("os-raid.toml", "os-raid").has >= {"os-raid", "one-parity"}
    assert system("tier.toml", "tier").has >= {"tier", "write-back", "memory"}


def test_what_a_file_leaves_to_the_model_is_where_the_fit_begins() -> None:
    kind = kind_of("write-cache")
    around = System.of(SYSTEMS / "write-cache.toml", kind, like="lsi2208-1g-3.0")
    assert around.left_out() == {
        "cache.dirty": 0.75,
        "cache.low": 0.5,
        "cache.flush": "4 s",
        "cache.destages": 4,
    }
    # A file's own unit is as good as the parameter's.
    parity = Parameter("parity", "GB/s", 0.1, 50.0, "log", "")
    assert start_of(parity, around.device.written, {}) == pytest.approx(2.307)


def test_the_drives_of_a_system_can_be_looked_for_too() -> None:
    around = system_of(kind_of("station"), Settings("station", system=str(SYSTEMS / "host.toml")))
    assert around is not None and around.component == "known-drive.toml"


def test_a_bottleneck_is_out_of_the_way_at_its_looser_end() -> None:
    time = Parameter("a", "us", 1.0, 10.0, "log", "", limits=True)
    places = Parameter("b", "", 1, 10, "log", "", whole=True, limits=True)
    assert (time.tight, places.tight) == (1.0, 0.0)
    assert looser(time, 0.2, 0.6) == 0.2 and looser(places, 0.2, 0.6) == 0.6


def test_systems_that_cannot_be_are_named(tmp_path: Path) -> None:
    measurement = tmp_path / "m.json"
    points = [load("randread", depth) for depth in (1, 8)]
    measurement.write_text(Measurement(name="m", points=tuple(points)).to_json())
    controller = str(SYSTEMS / "controller.toml")
    runner = CliRunner()
    for words, reported in [
        (["--kind", "controller"], "--system"),
        (["--kind", "controler", "--system", controller], "controller"),
        (["--kind", "controller", "--system", "nowhere.toml"], "nowhere.toml"),
        (["--kind", "controller", "--system", str(SYSTEMS / "host.toml")], "one controller"),
        (["--kind", "controller", "--system", controller, "--host", "ahci"], "--host"),
        (["--kind", "controller", "--system", controller, "--like", "ahci"], "--like"),
        (["--kind", "controller", "--system", controller, "--free", "core"], 'mean "cores"'),
        (["--kind", "tier", "--system", controller], "cache_tier"),
        (["--kind", "os-raid", "--system", str(SYSTEMS / "host.toml")], "software_raid"),
        (["--kind", "hdd", "--system", str(SYSTEMS / "host.toml")], "one hdd"),
        (
            ["--kind", "write-cache", "--system", str(SYSTEMS / "write-cache.toml")],
            "writes among the points",
        ),
    ]:
        result = runner.invoke(app, ["calibrate", str(measurement), *words])
        assert result.exit_code == 2, (words, result.output)
        assert reported in result.output, (words, result.output)


def test_a_tier_without_rates_over_time_is_said_to_tell_little(tmp_path: Path) -> None:
    point = load("randread", 4, 1, 65536)
    measurement = Measurement(name="m", points=(point,))
    choice = Choice(
        {"tier.promote_after": 3, "tier.copies": 256, "tier.half_life": 60, "tier.dirty": 0.5},
        frozenset(),
        {},
    )
    result = fitted(measurement, "tier", "tier.toml", choice=choice, budget=60)
    assert any("over time" in warning for warning in result.warnings)
    assert json.loads(json.dumps(result.to_dict()))["system"].endswith("tier.toml")


def test_two_unknown_drives_must_be_reported_apart() -> None:
    tree = read_toml(SYSTEMS / "host.toml")
    tree["array"][0]["drives"].append({"model": "null"})
    with pytest.raises(SpecError, match='"unknown"'):
        System.of(SYSTEMS / "host.toml", kind_of("station"), tree=tree)
    tree["array"][0]["drives"][1]["model"] = "unknown"
    assert System.of(SYSTEMS / "host.toml", kind_of("station"), tree=tree).component == "unknown"
