"""Recording from counters: what is written, interruptions, small files."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.monitoring.load import load_of
from raidlab.calibration.monitoring.record import Clock, imported, journal_of, record
from raidlab.devices.faults import SpecError


class Machine:
    """A disk that does 100 reads of 8 KiB and 50 writes of 4 KiB each second, 2 ms each."""

    def __init__(self, file: Path) -> None:
        self.file, self.time = file, 1_700_000_000.0
        self.stop_at: float | None = None
        self.write()

    def write(self) -> None:
        s = int(self.time - 1_700_000_000)
        r, w = 1000 + 100 * s, 500 + 50 * s
        row = f"{r} 0 {r * 16} {r * 2} {w} 0 {w * 8} {w * 2} 0 {s * 300} {(r + w) * 2}"
        self.file.write_text(
            f"   8       0 sda {row} 0 0 0 0 0 0\n   8       1 sda1 {row} 0 0 0 0 0 0\n"
            "   8      16 sdb 9 0 72 9 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
        )

    def sleep(self, seconds: float) -> None:
        if self.stop_at is not None and self.time >= self.stop_at:
            self.stop_at = None
            raise KeyboardInterrupt
        self.time += seconds
        self.write()

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self.sleep)


def test_a_recording_has_the_rates_of_the_counters(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "diskstats")
    journal = record(tmp_path / "l.json", 20, 1, path=machine.file, clock=machine.clock)
    load = load_of(imported(journal))
    assert load.devices == ("sda",) and load.steps == 20 and load.step_s == 1
    assert load.read_iops == pytest.approx([100] * 20)
    assert load.write_bytes_per_s == pytest.approx([50 * 4096] * 20)
    assert load.queue == pytest.approx([0.3] * 20)


def test_an_interrupted_recording_goes_on_and_the_pause_is_a_gap(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "diskstats")
    machine.stop_at = machine.time + 5
    out = tmp_path / "l.json"
    with pytest.raises(KeyboardInterrupt):
        record(out, 20, 1, path=machine.file, clock=machine.clock)
    machine.time += 100
    machine.write()
    record(out, 20, 1, path=machine.file, clock=machine.clock)
    load = load_of(imported(journal_of(out)))
    assert load.steps == 120
    assert sum(each is None for each in load.read_iops) == 100
    assert sum(each == pytest.approx(100) for each in load.read_iops if each is not None) == 20


def test_a_line_that_was_not_finished_costs_that_sample_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "diskstats")
    journal = record(tmp_path / "l.json", 5, 1, path=machine.file, clock=machine.clock)
    journal.write_text(journal.read_text()[:-20])
    assert load_of(imported(journal)).steps == 4
    record(tmp_path / "l.json", 6, 1, path=machine.file, clock=machine.clock)
    load = load_of(imported(journal))
    assert load.read_iops == pytest.approx([100, 100, 100, 100, None, 100, 100], nan_ok=True)


def test_another_interval_does_not_go_on_with_a_journal(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "diskstats")
    record(tmp_path / "l.json", 5, 1, path=machine.file, clock=machine.clock)
    with pytest.raises(SpecError, match="as the journal has"):
        record(tmp_path / "l.json", 5, 2, path=machine.file, clock=machine.clock)
