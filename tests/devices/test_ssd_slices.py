"""Drives of which a slice is mapped, against the same drive with its whole map."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab.devices import ssd
from raidlab.devices.catalogue import find
from raidlab.devices.schema import DriveOptions
from raidlab.devices.ssd import SsdSpec
from tests.figures import result_of


def _random_writes() -> Any:
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": "pm9a3-960"}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": [128]}],
        "run": {"precondition": "steady-state", "warm_up": "0.2 s", "duration": "0.4 s", "seed": 1},
    }
    (row,) = result_of(tree).results
    return row


def test_a_slice_writes_as_the_whole_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _random_writes()
    monkeypatch.setattr(ssd, "_MAP_UNITS", 150_000_000)
    spec = find("pm9a3-960").spec
    assert isinstance(spec, SsdSpec)
    assert spec.slices(DriveOptions()) == 2
    sliced = _random_writes()
    assert sliced["iops"] == pytest.approx(whole["iops"], rel=0.03)
    assert sliced["write_amplification"] == pytest.approx(whole["write_amplification"], rel=0.03)


def test_the_plan_has_a_share_of_capacity_and_blocks() -> None:
    """30.72 TB and their spare space of 4 KiB are more than 2^32 units and less than 2 * 2^32."""
    spec = find("cm6-r-30720").spec
    assert isinstance(spec, SsdSpec)
    plan = spec.to_plan(DriveOptions())
    assert plan["slices"] == 2
    assert plan["capacity_bytes"] == 15_360_000_000_000
    assert plan["nand"]["blocks_per_plane"] == (spec.nand.good_blocks - 4) // 2 + 4
    assert "slices" not in find("pm9a3-960").spec.to_plan(DriveOptions())
