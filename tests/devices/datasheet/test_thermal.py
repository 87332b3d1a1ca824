"""Temperature of client drives that come from sheets."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab.devices.catalogue import find
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def _figures(cooling: str, rw: str = "read") -> tuple[float, dict[str, Any]]:
    """MB/s and figures of a drive that has long been in use."""
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": "970-evo-plus-1000", "cooling": cooling}]}],
        "workload": [{"rw": rw, "block_size": "128 KiB", "outstanding": [32]}],
        "run": {"precondition": "filled", "warm_up": "3 s", "duration": "500 ms", "seed": 1},
    }
    row: Any = simulate(build_scenario(tree), workers=1).results[0]
    return row["mb_per_s"], next(c for c in row["components"] if c["kind"] == "drive")["figures"]


def test_a_heatsink_keeps_a_stream_of_reads_cool() -> None:
    """5.5 W over 5 K/W in air of 35 degC: 62.5 degC."""
    rate, figures = _figures("heatsink")
    assert figures["temperature_c_max"] == pytest.approx(62.5, abs=0.5)
    assert rate == pytest.approx(3500, rel=0.01)
    assert not figures["throttled_s"]


def test_a_bare_card_is_held_below_where_it_would_be() -> None:
    """At 12 K/W it would be 101 degC; the last step holds it near 85 degC."""
    rate, figures = _figures("bare")
    assert 75 < figures["temperature_c_max"] < 87
    assert rate < 0.9 * 3500


def test_drives_for_servers_have_the_air_that_they_ask_for() -> None:
    for name, has in (("pm9a3-960", False), ("860-evo-1000", False), ("980-1000", True)):
        spec = find(name).spec
        assert isinstance(spec, SsdSpec)
        assert (spec.thermal is not None) == has
