"""Hosts of the catalogue against what was measured on them, and how their keys reach a plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.recovery import load
from raidlab.devices.catalogue import SPECS, find, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec
from tests.calibration.fitting.known_drives import station


def host(name: str) -> HostSpec:
    spec = find(name).spec
    assert isinstance(spec, HostSpec)
    return spec


def rate(name: str, depth: int, model: DriveSpec | None = None) -> float:
    """Random reads of one job on a drive, one that takes no time if none is given."""
    drive = model or find("null").spec
    assert isinstance(drive, DriveSpec)
    return Bench.of(drive, host(name)).run(load("randread", depth), Effort(ios=20_000)).iops


def test_one_process_ends_where_it_was_measured_to() -> None:
    """Samsung 980 PRO, one process: 383,287 reads a second through io_uring at depth 128, 783,333
    through SPDK, where the drive may end them."""
    assert rate("nvme-io-uring", 128) == pytest.approx(383_287, rel=0.03)
    assert rate("nvme-spdk", 256) > 783_333


def test_polling_saves_the_wake_at_depth_1() -> None:
    """68.3 us a read through io_uring, 60.0 through SPDK: 8.3 us; the sheets make it 8.6."""
    drive = station(59.0, 256)
    saved = 1e6 / rate("nvme-io-uring", 1, drive) - 1e6 / rate("nvme-spdk", 1, drive)
    assert saved == pytest.approx(8.3, abs=0.6)


def test_an_adapter_that_gathers_completions_is_in_the_plan() -> None:
    assert host("p420i").to_plan()["coalescing"] == {"delay_ns": 110_000, "above": 2}
    assert host("generic").to_plan()["coalescing"] is None


def s4610() -> DriveSpec:
    spec = find("s4610-480").spec
    assert isinstance(spec, DriveSpec)
    return spec


def test_the_card_in_raid_mode_puts_its_firmware_before_each_drive() -> None:
    """At depth 1 the difference is that of the latencies: 27.28 - 14 = 13.28 us."""
    by_itself, as_volume = rate("p420i", 1, s4610()), rate("p420i-raid", 1, s4610())
    assert 1e6 / as_volume - 1e6 / by_itself == pytest.approx(13.28, abs=0.5)
    assert host("p420i-raid").to_plan()["coalescing"] == host("p420i").to_plan()["coalescing"]


def test_gathered_completions_make_four_outstanding_wait_longer_than_two() -> None:
    """Measured: 110 us more with four outstanding than with two; some of them wait anyway."""
    times = {depth: depth * 1e6 / rate("p420i", depth, s4610()) for depth in (2, 4)}
    assert times[4] - times[2] == pytest.approx(110, abs=15)


def test_two_parities_never_cost_less_than_one() -> None:
    """P is made in the pass that makes P and Q: no host makes both at a higher rate."""
    hosts = [spec for path in (SPECS / "host").glob("*.toml") if (spec := load_device(path).spec)]
    assert len(hosts) > 10
    for spec in hosts:
        assert isinstance(spec, HostSpec)
        if spec.parity:
            assert 0 < spec.two_parities <= spec.parity, spec.name


def test_linux_figures_are_counted_in_what_is_read_and_made() -> None:
    """xor 11,860 MB/s of 1,024,000 B, one of three blocks; gen 20,230 MiB/s, 16 of 18 units."""
    assert host("nvme").parity == pytest.approx(3 * 1_024_000 * 11_860, rel=2e-3)
    assert host("nvme").two_parities == pytest.approx(18 / 16 * 2**20 * 20_230, rel=2e-3)


def test_a_host_with_cheaper_two_parities_is_refused(tmp_path: Path) -> None:
    text = (SPECS / "host" / "nvme.toml").read_text()
    changed = re.sub(r'two_parities = ".*GB/s"', 'two_parities = "40 GB/s"', text)
    (tmp_path / "nvme.toml").write_text(changed)
    with pytest.raises(SpecError, match=r"two_parities = .*40 GB/s.*at most `parity`, 36.4 GB/s"):
        load_device(tmp_path / "nvme.toml")


def test_the_onboard_ports_of_a_usual_server_have_a_name() -> None:
    assert host("onboard-sata") == host("generic")
    assert "slow PC of two cores" in host("ahci").title


def test_cpu_times_and_gathering_have_the_bounds_of_the_engine(tmp_path: Path) -> None:
    """The engine's least and most: 2^36 ns of CPU time, 1 to 2^20 commands for one interrupt."""
    text = (SPECS / "host" / "p420i.toml").read_text()
    changed = re.sub(r"above = 2\b", "above = 0", text)
    changed = re.sub(r'\nsubmit = (\{ value = )?"[^"]*"', r'\nsubmit = \1"70 s"', changed)
    (tmp_path / "p420i.toml").write_text(changed)
    with pytest.raises(SpecError) as caught:
        load_device(tmp_path / "p420i.toml")
    faults = {fault.key.rpartition(": ")[2]: fault.allowed for fault in caught.value.faults}
    assert {"submit", "coalescing.above"} <= set(faults), faults
