"""Pauses of a fitted drive: back from the histograms of a drive whose pauses are known."""

from __future__ import annotations

from dataclasses import asdict
from math import exp, sqrt
from typing import Any

import pytest

from raidlab.calibration.fitting.estimation.measured_pauses import measured_pauses
from raidlab.calibration.measurements.measurement import Latency, Point, Side
from raidlab.devices.catalogue import find, load_device
from raidlab.devices.draws import drawn
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

EVERY_US, LENGTH_US = 200_000.0, 2_000.0


def drive(tmp_path: Any, pauses: list[dict[str, str]]) -> str:
    """A file of a SATA drive with these pauses alone."""
    text = find("s4610-480").path.read_text("utf-8")
    assert "[[pause]]" not in text
    head, _, rest = text.partition("[nand]")
    own = "".join(f'[[pause]]\nevery = "{p["every"]}"\nlength = "{p["length"]}"\n' for p in pauses)
    file = tmp_path / "s4610-480.toml"
    file.write_text(f"{head}{own}[nand]{rest}")
    return str(file)


def measured(model: str, depth: int, seed: int) -> Point:
    tree = {
        "host": {"model": "ahci"},
        "run": {
            "duration": "30 s",
            "warm_up": "0.1 s",
            "precondition": "filled",
            "seed": seed,
        },
        "array": [{"drives": [{"model": model}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": depth}],
    }
    row = simulate(build_scenario(tree)).rows[0]
    of = row.read.latency_us
    latency = Latency(mean_us=of.mean, max_us=of.max, bins_ns=row.read.bins)
    side = Side(
        iops=row.iops, ios=round(row.iops * 30), latency_mean_us=of.mean, completion=latency
    )
    return Point(name="load", rw="randread", read_share=1, bs=4096, iodepth=depth, read=side)


def test_pauses_of_a_simulated_drive_come_back_from_its_histograms(tmp_path: Any) -> None:
    """A pause of 2 ms after 200 ms on average: 4.95 a second; loads of depth 1 and 2, 3 each."""
    model = drive(tmp_path, [{"every": "200 ms", "length": "2 ms"}])
    points = [measured(model, depth, seed) for depth in (1, 2) for seed in (1, 2, 3)]
    found = measured_pauses(points)
    assert found is not None
    assert found.loads == 6
    assert found.kind.length_us == pytest.approx(LENGTH_US, rel=0.35)
    assert found.kind.per_s == pytest.approx(1e6 / (EVERY_US + LENGTH_US), rel=0.35)


def test_a_drive_without_pauses_has_none(tmp_path: Any) -> None:
    model = drive(tmp_path, [])
    assert measured_pauses([measured(model, depth, 1) for depth in (1, 2)]) is None


def test_a_fitted_file_has_them_and_can_be_drawn(tmp_path: Any) -> None:
    """Errors of a factor of 3.7 are drawn as logarithms: every draw pauses."""
    found = measured_pauses([_known(1.0)])
    assert found is not None
    base = find("870-evo-1000")
    tree = dict(base.written) | {"name": "paused", "pause": [found.table()]}
    tree.pop("aliases", None)
    sources = found.sources({"all": {"source": "assumed", "note": "as 870-evo-1000"}}, "disk-a")
    file = tmp_path / "paused.toml"
    file.write_text(device_toml(tree, sources, ["Fitted."]))
    spec = load_device(file).spec
    assert isinstance(spec, SsdSpec)
    (pause,) = spec.pause
    assert pause.length == pytest.approx(found.kind.length_us * 1e3, rel=1e-3)
    draws = [drawn(load_device(file), number).spec for number in range(1, 9)]
    assert len({each.pause for each in draws if isinstance(each, SsdSpec)}) == 8


def test_errors_are_those_of_a_median() -> None:
    """Two loads a factor of e² apart: s = sqrt(2), so 1.2533 · sqrt(2) / sqrt(2) of the number."""
    points = [_known(1.0), _known(2.718281828**2)]
    found = measured_pauses(points)
    assert found is not None
    assert found.length_error == pytest.approx(1.2533 * sqrt(2) / sqrt(2), rel=1e-3)
    alone = measured_pauses(points[:1])
    assert alone is not None
    assert alone.length_error == pytest.approx(1.3)


def test_sources_name_the_measurement_and_replace_the_prior() -> None:
    found = measured_pauses([_known(1.0), _known(1.5)])
    assert found is not None
    prior = {"pause.0.every": {"source": "assumed"}, "pause.1.every": {"source": "assumed"}}
    sources = found.sources({"nand.read": {"source": "fitted"}, **prior}, "disk-a")
    assert set(sources) == {"nand.read", "pause.0.every", "pause.0.length"}
    assert sources["pause.0.length"]["measurement"] == "disk-a"
    assert "2 loads" in found.said()
    assert found.to_dict()["loads"] == 2
    assert asdict(found)["kind"]["length_us"] == found.kind.length_us


def test_bins_and_percentiles_by_hand() -> None:
    """60 of 600,000 I/Os beyond 1 ms: 59 wait 3 ms more, one 4 ms: l = 181/60 ms. H of 60 is 4.680.

    The load lasts 60 s, so 1 a second is beyond 1 ms: e^(1/3.017) = 1.393 a second in all.
    """
    bins = ((100_000, 599_000), (1_100_000, 940), (4_100_000, 59), (5_100_000, 1))
    of_bins = Latency(mean_us=100, max_us=5100, bins_ns=bins)
    stated = Latency(mean_us=100, max_us=5100, percentiles_us={"50": 100, "99.99": 1100})
    for latency, length in ((of_bins, 181e3 / 60), (stated, 4000 / 4.680)):
        side = Side(iops=10_000, ios=600_000, latency_mean_us=100, completion=latency)
        point = Point(name="a", rw="randread", read_share=1, bs=4096, iodepth=1, read=side)
        found = measured_pauses([point])
        assert found is not None
        assert found.kind.length_us == pytest.approx(length, rel=1e-3)
        assert found.kind.per_s == pytest.approx(exp(1000 / length), rel=1e-3)


def test_short_tails_say_nothing() -> None:
    short = Latency(mean_us=100, max_us=105, percentiles_us={"50": 100, "99.99": 104})
    side = Side(iops=10_000, ios=600_000, latency_mean_us=100, completion=short)
    point = Point(name="a", rw="randread", read_share=1, bs=4096, iodepth=1, read=side)
    assert measured_pauses([point]) is None


def _known(factor: float) -> Point:
    """p99.99 1 ms and a maximum of 4.9 ms above the mean, times a factor."""
    tail = {"50": 100.0, "99.99": 100 + 1000 * factor}
    latency = Latency(mean_us=100, max_us=100 + 4900 * factor, percentiles_us=tail)
    side = Side(iops=10_000, ios=600_000, latency_mean_us=100, completion=latency)
    return Point(name="load", rw="randread", read_share=1, bs=4096, iodepth=1, read=side)
