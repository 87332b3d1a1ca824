"""A back end that sleeps: what a device file says of it, and what reads of a whole system take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidlab.calibration.fitting.parameters.kinds import TEMPLATES
from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveOptions
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

TEMPLATE = TEMPLATES / "ssd.toml"


def drive(tmp_path: Path, **firmware: str) -> Path:
    """The template of a SATA drive with one page type, and these keys of its firmware."""
    text = TEMPLATE.read_text().replace(
        '["50 us", "60 us", "80 us"]', '["50 us", "50 us", "50 us"]'
    )
    text = re.sub(r"wake = .*\n", "", text)
    keys = "".join(f'{key} = "{value}"\n' for key, value in firmware.items())
    path = tmp_path / f"{'-'.join(firmware.values()).replace(' ', '') or 'awake'}.toml"
    path.write_text(text.replace("[firmware]\n", f"[firmware]\n{keys}"))
    return path


def rate(path: Path, outstanding: int, rw: str = "randread") -> float:
    tree = {
        "title": "one drive",
        "host": {"model": "ahci", "threads": 1},
        "array": [{"drives": [{"model": str(path)}]}],
        "workload": [{"rw": rw, "block_size": "4 KiB", "outstanding": outstanding}],
        "run": {"warm_up": "20 ms", "duration": "0.3 s", "precondition": "filled"},
    }
    return float(simulate(build_scenario(tree)).results[0]["iops"])


def test_a_read_alone_takes_longer_by_the_wake_and_reads_beside_others_do_not(
    tmp_path: Path,
) -> None:
    """1 / X grows by 50 us at depth 1; at depth 8 some read is always outstanding."""
    awake, sleeps = drive(tmp_path), drive(tmp_path, wake="50 us")
    longer_us = 1e6 / rate(sleeps, 1) - 1e6 / rate(awake, 1)
    assert longer_us == pytest.approx(50.0, abs=0.5)
    assert rate(sleeps, 8) == pytest.approx(rate(awake, 8), rel=0.003)
    assert rate(sleeps, 2) > 2.1 * rate(sleeps, 1)


def test_a_buffered_write_does_not_wait(tmp_path: Path) -> None:
    awake, sleeps = drive(tmp_path), drive(tmp_path, wake="50 us")
    assert rate(sleeps, 1, "randwrite") == pytest.approx(rate(awake, 1, "randwrite"), rel=0.002)


def test_it_stays_awake_for_so_long_after_a_command(tmp_path: Path) -> None:
    """The host takes less than 1 ms from one read to the next."""
    awake, sleeps = drive(tmp_path), drive(tmp_path, wake="50 us", sleep_after="1 ms")
    assert rate(sleeps, 1) == pytest.approx(rate(awake, 1), rel=1e-3)


def test_a_drive_that_never_sleeps_has_the_plan_that_it_had(tmp_path: Path) -> None:
    def plan(path: Path) -> dict[str, object]:
        spec = load_device(path).spec
        assert isinstance(spec, SsdSpec)
        return spec.to_plan(DriveOptions())

    assert "back_end" not in plan(drive(tmp_path))
    found = plan(drive(tmp_path, wake="50 us", sleep_after="10 us"))["back_end"]
    assert found == {"wake_ns": 50_000, "sleep_after_ns": 10_000}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"sleep_after": "1 ms"}, "0 without `wake`"),
        ({"wake": "50 us", "host_clock": "2 GHz"}, "the map is on the host"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path, keys: dict[str, str], said: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(said)):
        load_device(drive(tmp_path, **keys))
