"""Draws of assumed numbers: between their bounds, the same for the same seed."""

import pytest

from raidlab.devices.catalogue import find
from raidlab.devices.draws import drawn, open_numbers
from raidlab.devices.ssd import SsdSpec


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
