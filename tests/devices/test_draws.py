"""Draws of assumed numbers: between their bounds, the same for the same seed."""

from __future__ import annotations

import math
import os
import statistics
from pathlib import Path

import pytest

from raidlab.devices.catalogue import SPECS, Device, find, load_device
from raidlab.devices.draws import _part, _quantity, _unit, bounds, drawn, open_numbers, placed
from raidlab.devices.faults import SpecError
from raidlab.devices.plan_types import Plan
from raidlab.devices.schema import DriveSpec
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.station import StationSpec
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.running.engine_faults import capacities

DRAWS = int(os.environ.get("RAIDLAB_DRAWS", "2"))
"""Of each device of the catalogue, besides both ends of all numbers together."""
LOAD = {"rw": "randread", "block_size": "4 KiB"}


def test_draws_lie_between_the_bounds_and_differ() -> None:
    device = find("pe8110-960")
    low, high = 5_000, 600_000
    times = []
    for at in range(40):
        spec = drawn(device, at).spec
        assert isinstance(spec, SsdSpec)
        assert spec.nand.suspend is not None
        assert spec.capacity == 960 * 10**9
        times.append(spec.nand.suspend)
    assert low <= min(times) < 20_000 < max(times) <= high
    assert len(set(times)) == 40


def test_half_of_the_draws_lie_on_each_side_of_the_best_guess(tmp_path: Path) -> None:
    """Between 1 and 100 ms around 2 ms: the quarters are 2^(sqrt(1/2)) and 2 * 50^(1 - sqrt(1/2)).

    One triangle over the logarithms with its mode at 2 ms would have a median of 5.0 ms.
    """
    sheet = """
        kind = "station"
        name = "open"
        capacity = "1 GB"
        service = "2 ms"
        queue_depth = 32
        [sources]
        all = "assumed"
        service = { source = "assumed", note = "by hand", range = ["1 ms", "100 ms"] }
        """
    (tmp_path / "open.toml").write_text(sheet)
    device = load_device(tmp_path / "open.toml")

    def service_at(share: float) -> float:
        spec = placed(device, lambda key: share).spec
        assert isinstance(spec, StationSpec)
        return spec.service / 1e6

    quarters = [service_at(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    root = math.sqrt(0.5)
    assert quarters == pytest.approx([1, 2**root, 2, 2 * 50 ** (1 - root), 100], rel=1e-4)


def test_the_same_seed_draws_the_same_device() -> None:
    device = find("pe8110-960")
    assert drawn(device, 7).written == drawn(device, 7).written
    assert drawn(device, 7).written != drawn(device, 8).written


def test_of_several_times_the_mean_is_drawn() -> None:
    """Pages of a type keep their ratio."""
    device = find("micron-9200-max-6400")
    assert "nand.read" in open_numbers(device)
    spec = drawn(device, 1).spec
    assert isinstance(spec, SsdSpec)
    low, _, high = spec.nand.read
    assert high / low == pytest.approx(1.26 / 0.79, rel=1e-3)
    assert 35_000 <= sum(spec.nand.read) / 3 <= 90_000


def test_a_draw_depends_on_the_device_and_not_on_what_it_is_called_by() -> None:
    by_name = find("pe8110-960")
    by_path = find(str(by_name.path))
    assert drawn(by_name, 3).written == drawn(by_path, 3).written


def test_fitted_numbers_are_drawn_by_their_standard_errors(tmp_path: Path) -> None:
    """Of a service of 1 ms ± 0.1 ms, logarithms of draws have a standard deviation of 0.0993.

    ln((1 + sqrt(1 + 4 · 0.01)) / 2) = 0.00985, of which the root is 0.09926.
    """
    sheet = """
        kind = "station"
        name = "fitted"
        capacity = "1 GB"
        service = "1 ms"
        queue_depth = 32
        [sources]
        all = "assumed"
        service = { source = "fitted", stderr = "100 us", measurement = "m" }
        """
    (tmp_path / "fitted.toml").write_text(sheet)
    device = load_device(tmp_path / "fitted.toml")
    assert open_numbers(device) == ["service"]
    ends = [float(end.removesuffix(" ms")) for end in bounds(device, "service")]
    assert ends == pytest.approx([math.exp(-0.19454), math.exp(0.19454)], rel=1e-4)
    specs = [drawn(device, at).spec for at in range(400)]
    logs = [math.log(spec.service / 1e6) for spec in specs if isinstance(spec, StationSpec)]
    # Standard errors of 400 normal samples: 0.005 of the mean, 0.0035 of the deviation.
    assert abs(statistics.fmean(logs)) < 0.02
    assert abs(statistics.stdev(logs) - 0.1) < 0.014


TOGETHER = """
kind = "station"
name = "together"
capacity = "1 GB"
service = "1 ms"
settle = "50 us"
queue_depth = 1000
[sources]
all = "assumed"
service = { source = "fitted", stderr = "10 %%", measurement = "m" }
settle = { source = "fitted", stderr = "5 %%", measurement = "m", correlations = { %s } }
queue_depth = { source = "fitted", stderr = "5 %%", measurement = "m", correlations = { %s } }
"""


def logs_of(path: Path, count: int) -> list[list[float]]:
    """Logarithms of what is drawn over what is written: of services, settles, depths."""
    device = load_device(path)
    specs = [drawn(device, at).spec for at in range(count)]
    found = [spec for spec in specs if isinstance(spec, StationSpec)]
    return [
        [math.log(spec.service / 1e6) for spec in found],
        [math.log(spec.settle / 5e4) for spec in found],
        [math.log(spec.queue_depth / 1000) for spec in found],
    ]


def test_errors_of_one_fit_are_drawn_together(tmp_path: Path) -> None:
    """Of a correlation of -0.8 draws have one of -0.8, with an error of 0.36 / 20 for 400."""
    path = tmp_path / "together.toml"
    path.write_text(TOGETHER % ("service = -0.8", ""))
    service, settle, depth = logs_of(path, 400)
    assert statistics.correlation(service, settle) == pytest.approx(-0.8, abs=0.06)
    assert abs(statistics.correlation(service, depth)) < 0.15
    # What is drawn together has the error that it has alone.
    assert statistics.stdev(settle) == pytest.approx(0.05, rel=0.12)
    assert statistics.stdev(service) == pytest.approx(0.1, rel=0.12)


def test_correlations_that_rounding_makes_impossible_are_made_smaller(tmp_path: Path) -> None:
    path = tmp_path / "together.toml"
    path.write_text(TOGETHER % ("service = 0.9", "service = 0.9, settle = 0.6"))
    service, settle, depth = logs_of(path, 100)
    assert statistics.correlation(service, settle) > 0.8
    assert statistics.correlation(settle, depth) > 0.4


def test_assumed_numbers_are_drawn_together_too(tmp_path: Path) -> None:
    """One with a standard error, one with a range; 0.8 of normals are 0.79 of both shares."""
    path = tmp_path / "together.toml"
    text = TOGETHER % ("", "")
    ranged = (
        'settle = { source = "assumed", range = ["25 us", "100 us"],'
        " correlations = { service = 0.8 } }"
    )
    lines = [ranged if line.startswith("settle = {") else line for line in text.splitlines()]
    assert ranged in lines
    path.write_text("\n".join(lines))
    service, settle, _ = logs_of(path, 400)
    assert statistics.correlation(service, settle) == pytest.approx(0.79, abs=0.06)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("sevice = 0.5", 'did you mean "service"'),
        ("capacity = 0.5", "another number of this file, fitted or with a range"),
        ("settle = 0.5", "another number of this file, fitted or with a range"),
        ("service = 1.5", "less than or equal to 1"),
    ],
)
def test_correlations_are_with_other_fitted_numbers(tmp_path: Path, stated: str, said: str) -> None:
    path = tmp_path / "together.toml"
    path.write_text(TOGETHER % (stated, ""))
    with pytest.raises(SpecError, match=said):
        load_device(path)


def test_every_fitted_number_of_the_catalogue_is_drawn_or_has_no_size() -> None:
    """Errors in percent of numbers, and in units that need not be those of the number."""
    fitted = undrawn_keys = 0
    for path in SPECS.rglob("*.toml"):
        device = load_device(path)
        keys = [key for key, source in device.sources.items() if source.source == "fitted"]
        fitted += len(keys)
        undrawn_keys += len(set(keys) - set(open_numbers(device)))
        if keys:
            assert drawn(device, 1).written != device.written
    assert fitted > 50 and undrawn_keys == 0


def test_drawn_times_and_sizes_can_be(tmp_path: Path) -> None:
    """Whole blocks of 4 KiB; nothing between zero and a nanosecond; exponents are read."""
    assert _quantity(18.7418, "MiB") == f"{round(18.7418 * 256) * 4096} B"
    assert _quantity(3e-6, "us") == "0 ns" and _quantity(0.0006, "us") == "1 ns"
    assert _quantity(7.5, "us") == "7.5 us" and _quantity(2e3, "MB/s") == "2000 MB/s"
    assert _part("2.5e-3 us") == "2.5e-3" and _unit("2.5e-3 us") == "us"


def test_a_cell_with_one_bit_is_never_drawn_slower_than_one_with_several() -> None:
    """Both are drawn alone: the cache's program at its longest, the others at their shortest."""
    device = find("860-evo-1000")
    spec = placed(device, lambda key: 1.0 if "slc_cache" in key else 0.0).spec
    assert isinstance(spec, SsdSpec) and spec.nand.slc_cache is not None
    assert spec.nand.slc_cache.program == max(spec.nand.program)


def plan_of(device: Device) -> tuple[Scenario, Plan]:
    """A scenario's plan with that drive alone."""
    tree = {"array": [{"drives": [{"model": "drawn"}]}], "workload": [LOAD]}
    scenario = build_scenario(tree, None, {"drawn": device})
    return scenario, scenario.plan(0, 0)


@pytest.mark.parametrize("kind", sorted(path.name for path in SPECS.iterdir() if path.is_dir()))
def test_every_draw_of_the_catalogue_is_a_device(kind: str) -> None:
    """None is refused: neither by the file's schema nor by the engine."""
    for path in sorted((SPECS / kind).glob("*.toml")):
        device = load_device(path)
        if not open_numbers(device):
            continue
        ends = [placed(device, lambda _, end=end: end) for end in (0.0, 1.0)]
        for own in [*ends, *(drawn(device, at) for at in range(DRAWS))]:
            if isinstance(own.spec, DriveSpec):
                scenario, plan = plan_of(own)
                assert capacities(plan, scenario)


def test_a_number_that_a_fit_hardly_knows_stays_within_orders_of_magnitude() -> None:
    """4.25 us ± 48.7 us: r = 11.46, sigma = 1.5756; 2.5 % of draws lie above e^(1.96 sigma)."""
    low, high = bounds(find("s4610-480"), "firmware.write")
    assert float(_part(high)) == pytest.approx(4.25 * math.exp(1.959964 * 1.57556), rel=1e-3)
    assert float(_part(low)) == pytest.approx(4.25 / math.exp(1.959964 * 1.57556), rel=1e-3)
