"""A machine beside its twin: drift, drives unlike their sisters, logs of NVMe drives."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from raidlab.calibration.monitoring import record as recording
from raidlab.calibration.monitoring.drift import drift_of
from raidlab.calibration.monitoring.live import watched
from raidlab.calibration.monitoring.nvme_log import SmartLog, changes, read_logs
from raidlab.calibration.monitoring.record import Clock, imported, record
from raidlab.calibration.monitoring.samples import Quantity, Series
from raidlab.calibration.monitoring.sisters import compared, families
from raidlab.calibration.report.live import answer, report
from raidlab.cli import app
from raidlab.scenarios.studies.present import System
from raidlab.scenarios.studies.size import Running

TWIN = {
    "title": "Twin",
    "host": {"model": "generic"},
    "array": [
        {"level": "raid0", "software_raid": "os", "drives": [{"model": "twin.toml", "count": 3}]}
    ],
}
DRIVE = """
kind = "station"
name = "twin"
capacity = "100 GB"
service = "2 ms"
distribution = "fixed"
servers = 64
[sources]
all = "assumed"
"""


class Machine:
    """Three drives of 60 reads a second; `wait` gives the mean wait of each in ms by the time."""

    def __init__(self, folder: Path, wait) -> None:
        self.file, self.time, self.wait = folder / "diskstats", 0.0, wait
        self.count, self.spent = [0, 0, 0], [0.0, 0.0, 0.0]
        self.write()

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        for at in range(3):
            self.count[at] += round(60 * seconds)
            self.spent[at] += 60 * seconds * self.wait(at, self.time)
        self.write()

    def write(self) -> None:
        rows = [
            f"8 {16 * at} sd{'abc'[at]} {n} 0 {8 * n} {round(s)} 0 0 0 0 0 {n} {round(s)}\n"
            for at, (n, s) in enumerate(zip(self.count, self.spent, strict=True))
        ]
        self.file.write_text("".join(rows))

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: 1.7e9 + self.time, sleep=self.sleep)


def live(folder: Path, wait):
    machine = Machine(folder, wait)
    (folder / "twin.toml").write_text(DRIVE)
    out = folder / "live.json"
    journal = record(out, 120, 1, path=machine.file, clock=machine.clock)
    system = System(TWIN, folder / "twin-system.toml")
    return watched(system, imported(journal), (), Running(1), 1, sys_block=folder)


def test_a_machine_that_does_as_its_twin_does_not_drift(tmp_path: Path) -> None:
    found = live(tmp_path, lambda at, time: 2.0)
    assert found.present.error < 0.05
    assert found.drift is not None and not found.drift.sure
    assert found.unlike == [] and len(found.drives) == 3
    assert "No drive of 3 is unlike" in answer(found)
    assert found.to_dict()["drift"]["sure"] is False


def test_waits_that_grow_are_a_drift_and_a_slow_drive_is_named(tmp_path: Path) -> None:
    """Waits grow from 2 to 3 ms in all; the third drive waits twice as long throughout."""
    found = live(tmp_path, lambda at, time: (2.0 + time / 120) * (2.0 if at == 2 else 1.0))
    assert found.drift is not None and found.drift.sure
    assert found.drift.change == pytest.approx(0.47, abs=0.08)
    assert [each.name for each in found.unlike] == ["sdc"]
    (slow,) = found.unlike
    assert slow.wait_ratio == pytest.approx(2.0, rel=0.02)
    assert slow.rate_ratio == pytest.approx(1.0, rel=0.02)
    assert "look at the drive" in slow.said()
    text = report(found).html("raidlab compare --live")
    assert "sdc waits 2.00 times as long" in text and "drifts" in text


def test_a_drift_by_hand() -> None:
    """0.1 an hour over three hours and a fourth: e^0.4 - 1 = 49 %, without any doubt."""
    found = drift_of(range(5), [math.exp(0.1 * at) for at in range(5)], [1.0] * 5)
    assert found is not None and found.sure
    assert found.change == pytest.approx(math.expm1(0.4))
    assert drift_of(range(4), [1.0] * 4, [1.0] * 4) is None


def series(wait: float, rate: float) -> Series:
    at = np.arange(120.0)
    columns = {Quantity.READS: np.full(120, rate), Quantity.R_AWAIT: np.full(120, wait)}
    return Series(at, np.ones(120), columns)


def test_a_drive_beside_its_sisters_by_hand() -> None:
    found = compared({"a": series(2, 50), "b": series(2, 50), "c": series(3, 100)}, [list("abc")])
    ratios = {each.name: each.wait_ratio for each in found}
    assert ratios == pytest.approx({"a": 1.0, "b": 1.0, "c": 1.5})
    last = found[-1]
    assert last.stands_out and last.busier and "look at its load first" in last.said()
    # Of two drives the slower one is named.
    pair = compared({"a": series(2, 50), "b": series(4, 50)}, [["a", "b"]])
    assert [each.stands_out for each in pair] == [False, True]
    # Nothing is said of a drive of a few I/Os.
    assert compared({"a": series(2, 1), "b": series(9, 1)}, [["a", "b"]]) == []


def test_sisters_are_equal_drives(tmp_path: Path) -> None:
    for name, size, model in (("sda", 100, "X"), ("sdb", 100, "X"), ("sdc", 100, "Y")):
        (tmp_path / name / "device").mkdir(parents=True)
        (tmp_path / name / "size").write_text(f"{size}\n")
        (tmp_path / name / "device" / "model").write_text(f"{model}\n")
    assert families(["sda", "sdb", "sdc"], tmp_path) == [["sda", "sdb"]]
    # Without sysfs names decide.
    none = tmp_path / "none"
    assert families(["sda", "sdab", "nvme0n1", "nvme1n1"], none) == [
        ["sda", "sdab"],
        ["nvme0n1", "nvme1n1"],
    ]


def smart(**numbers: tuple[int, int, int]) -> SmartLog:
    page = bytearray(512)
    for at, length, value in numbers.values():
        page[at : at + length] = value.to_bytes(length, "little")
    return SmartLog.of(bytes(page))


def test_the_log_page_of_a_drive() -> None:
    """318 K are 45 C; 2 data units are 1,024,000 bytes."""
    before = smart(temperature=(1, 2, 318), used=(5, 1, 3), read=(32, 16, 2), reads=(64, 16, 250))
    assert (before.temperature_c, before.used_pct, before.read_bytes) == (45, 3, 1_024_000)
    after = smart(temperature=(1, 2, 350), used=(5, 1, 3), heavy=(228, 4, 12), error=(160, 16, 1))
    assert changes(before, after) == [
        "throttled for 12 s by its heat", "1 media errors more", "45 to 77 C",
    ]  # fmt: skip
    assert read_logs(["sda", "nvme99n1"]) == {}


def test_the_command_watches_and_writes_the_load(tmp_path: Path, monkeypatch) -> None:
    machine = Machine(tmp_path, lambda at, time: 2.0)
    monkeypatch.setattr(recording, "DISKSTATS", machine.file)
    monkeypatch.setattr(recording, "Clock", lambda: machine.clock)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twin.toml").write_text(DRIVE)
    (tmp_path / "s.toml").write_text(
        '[host]\nmodel = "generic"\n[[array]]\nlevel = "raid0"\nsoftware_raid = "os"\n'
        'drives = [{ model = "./twin.toml", count = 3 }]\n'
        '[[workload]]\nrw = "randread"\nblock_size = "4 KiB"\noutstanding = 1\n'
    )
    line = ["compare", "--live", "--scenario", "s.toml", "--for", "60 s", "--html", "p.html"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    assert "No drive of 3 is unlike" in " ".join(done.stdout.split())
    assert (tmp_path / "live.json").exists() and (tmp_path / "p.html").exists()
    assert not (tmp_path / "live.json.journal").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--live"], "--scenario"),
        (["--live", "--scenario", "s.toml", "--device", "x"], "left out with --live"),
        (["--live", "--scenario", "s.toml", "--for", "soon"], "--for"),
        ([], "MEASUREMENT"),
    ],
)
def test_what_is_refused(line: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["compare", *line])
    assert done.exit_code == 2 and said in done.output


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (["record", "--out", "o.json", "--device", "sdq"], "--device"),
        (["compare", "--live", "--scenario", "s.toml", "--watch", "sdq"], "--watch"),
    ],
)
def test_a_device_that_is_not_there_is_refused_before_anything_is_recorded(
    line: list[str], option: str, tmp_path: Path, monkeypatch
) -> None:
    machine = Machine(tmp_path, lambda at, time: 2.0)
    monkeypatch.setattr(recording, "DISKSTATS", machine.file)
    monkeypatch.setattr(recording, "Clock", lambda: pytest.fail("recorded"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twin.toml").write_text(DRIVE)
    (tmp_path / "s.toml").write_text('[[array]]\ndrives = [{ model = "./twin.toml" }]\n')
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 2 and f'{option} = "sdq": one of sda' in done.output, done.output
    assert not list(tmp_path.glob("*.journal"))
