"""Which parts of several captures are one."""

from __future__ import annotations

from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.merging import merged


def drives(*both: Drive) -> int:
    return len(merged([Facts(drives=[each]) for each in both]).drives)


def test_one_serial_number_is_one_drive_unless_model_and_size_contradict() -> None:
    seen = Drive(serial="A1", model="HGST HUS726040ALE610", bytes=4 * 10**12)
    assert drives(seen, Drive(serial="A1", model="HUS726040ALE610", bytes=4 * 10**12)) == 1
    # An OEM's name for it, and a tool that counts in units of 1024.
    assert drives(seen, Drive(serial="A1", model="MB4000GDUPB", bytes=3638 * 2**30)) == 1
    assert drives(seen, Drive(serial="A1", model="ST16000NM001G", bytes=16 * 10**12)) == 2
