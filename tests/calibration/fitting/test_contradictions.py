"""What a measurement denies of a fit, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidlab.calibration.fitting.bench.bench import Simulated
from raidlab.calibration.fitting.certainty.contradictions import (
    left_at_start,
    moved_bytes,
    other_cpus,
    slow_links,
    unused_threads,
    with_fast_link,
)
from raidlab.calibration.fitting.comparison.compare import Compared
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.measurement import Machine, Point
from raidlab.devices.links import Interface, faster


def reads(iops: float, block: int = 65536, cpu_share: float | None = None) -> Point:
    point = load("randread", 16, 1, block)
    assert point.read is not None
    side = point.read.model_copy(update={"iops": iops})
    return point.model_copy(update={"read": side, "cpu_share": cpu_share})


def test_the_next_link_that_carries_what_was_measured() -> None:
    """PCIe 3.0 x4 carries 3.54 GB/s, 4.0 x4 7.09; SATA 6G 0.51."""
    found = faster(Interface.parse("pcie-3.0-x4"), 5.05e9)
    assert found is not None and found.name == "pcie-4.0-x4"
    wider = faster(Interface.parse("pcie-6.0-x4"), 40e9)
    assert wider is not None and wider.name == "pcie-6.0-x8"
    assert faster(Interface.parse("sata-6g"), 2e9) is None


def test_a_mix_moves_less_each_way_where_both_run_at_once() -> None:
    point = reads(10_000).model_copy(update={"rw": "randrw", "read_share": 0.75})
    assert moved_bytes([point], full_duplex=True)[0] == pytest.approx(0.75 * point.iops * 65536)
    assert moved_bytes([point], full_duplex=False)[0] == pytest.approx(point.iops * 65536)


def test_a_template_takes_a_faster_link_and_a_stated_one_stays() -> None:
    tree = {"interface": "pcie-3.0-x4"}
    points = [reads(10_000), reads(77_000)]
    found, said = with_fast_link(tree, points, known=False)
    assert found["interface"] == "pcie-4.0-x4" and "moved 5.05" in said[0]
    found, said = with_fast_link(tree, points, known=True)
    assert found == tree and "another link" in said[0]
    assert with_fast_link(tree, points[:1], known=False) == (tree, [])
    assert with_fast_link({"interface": "none"}, points, known=False)[1] == []


def test_other_cpus_are_said() -> None:
    (said,) = other_cpus(Machine(cpus=2), 32, "nvme")
    assert "has 2 hardware threads" in said and "nvme has 32" in said
    assert not list(other_cpus(Machine(cpus=32), 32, "nvme"))
    assert not list(other_cpus(None, 32, "nvme"))


def busy(name: str) -> Simulated:
    return Simulated(1.0, 100.0, None, None, (None, None), {}, 0.0, f"{name} 100 %", 1.0)


def test_a_busy_thread_that_fio_saw_idle_is_no_bottleneck() -> None:
    rows = [Compared(reads(1e5, 4096, 0.43), busy("host thread"), "train")]
    (said,) = unused_threads(rows)
    assert "1 of 1 points" in said and "0.43" in said
    assert not list(unused_threads([Compared(reads(1e5, 4096, 0.95), busy("host"), "train")]))
    assert not list(unused_threads([Compared(reads(1e5, 4096, 0.43), busy("drive"), "train")]))


def test_a_link_that_the_measurement_surpasses_or_that_hides_the_drive_is_named() -> None:
    """SATA 3G carries 64,000 reads of 4 KiB a second."""
    own = Interface.parse("sata-6g")
    ends = replace(busy("drive SATA 3G"), iops=64_000.0, link="drive SATA 3G")
    fast = [Compared(reads(92_160.0, 4096), ends)]
    (said,) = slow_links(fast, own)
    assert "1 of 1 points" in said and "44 % higher" in said and "link_payload" in said
    (said,) = slow_links([Compared(reads(63_000.0, 4096), ends)], own)
    assert "the drive has SATA 6G" in said
    # The drive's own link at its end is what it is, and so is one that has time left.
    assert not list(slow_links([Compared(reads(63_000.0, 4096), ends)], Interface.parse("sata-3g")))
    assert not list(slow_links([Compared(reads(92_160.0, 4096), replace(ends, busy=0.5))], own))


def test_parameters_that_were_not_moved_are_named() -> None:
    parameters = [Parameter(key, "us", 0.1, 10.0, "log", "reads") for key in ("one", "two")]
    (said,) = left_at_start(parameters, [0.5, 0.5], [0.5, 0.6])
    assert "one;" in said and "two" not in said
    assert not list(left_at_start(parameters, [0.5, 0.5], [0.4, 0.6]))
