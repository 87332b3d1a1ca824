"""Drives whose failure is predicted are named."""

from __future__ import annotations

import pytest

from raidlab.calibration.discover.machine import found_of
from raidlab.calibration.discover.reading import read_text

MEGACLI = """Adapter #0
Enclosure Device ID: 32
Slot Number: 0
Predictive Failure Count: 3
Firmware state: Online, Spun Up
Inquiry Data: SEAGATE ST3600057SS     LS096SL7ABCD
Drive has flagged a S.M.A.R.T alert : Yes
Exit Code: 0x00
"""
STORCLI = """CLI Version = 007.1
Controller = 0
Status = Success

Drive /c0/e8/s1 State :
=====================
Predictive Failure Count = 2
S.M.A.R.T alert flagged by drive = No

Drive /c0/e8/s1 Device attributes :
=================================
Model Number = XYZ4
"""
SSACLI = """Smart Array P440ar in Slot 0 (Embedded)
   Array: A
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS HDD, 600 GB, Predictive Failure)
"""
ARCCONF = """Controllers found: 1
Controller information
   Controller Status : Optimal
Physical Device information
   Device #0
      Device is a Hard drive
      State : Online
      Reported Channel,Device(T:L) : 0,0(0:0)
      Model : XYZ4
      S.M.A.R.T. : No
      S.M.A.R.T. warnings : 4
Command completed successfully.
"""
SMART = """smartctl 7.2 2020-12-30 r5155 [x86_64-linux] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     XYZ4
{health}
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MEGACLI, "32:0: its failure is predicted (Predictive Failure Count: 3, a S.M.A.R.T. ale"),
        (STORCLI, "8:1: its failure is predicted (Predictive Failure Count: 2)"),
        (SSACLI, "1I:1:3: its failure is predicted (predictive failure)"),
        (ARCCONF, "0,0: its failure is predicted (a S.M.A.R.T. warning)"),
        (SMART.format(health="SMART overall-health self-assessment test result: FAILED!"),
         "its failure is predicted (SMART health: FAILED!)"),
        ('{"smartctl": {}, "model_name": "X", "smart_status": {"passed": false}}', "SMART health"),
        ('{"critical_warning": 4, "data_units_written": 9, "percentage_used": 9}',
         "(critical_warning: 4)"),
    ],
)  # fmt: skip
def test_what_predicts_a_failure_is_said(text: str, said: str) -> None:
    found = found_of([read_text("capture", text)])
    (warning,) = [each.text for each in found.facts.warnings if each.code == "failing"]
    assert said in warning and warning.endswith("it is taken as sound")


@pytest.mark.parametrize(
    "text",
    [
        MEGACLI.replace("Count: 3", "Count: 0").replace(": Yes", ": No"),
        STORCLI.replace("= 2", "= 0"),
        SSACLI.replace("Predictive Failure", "OK"),
        ARCCONF.replace(": 4", ": 0"),
        SMART.format(health="SMART overall-health self-assessment test result: PASSED"),
        SMART.format(health="SMART Health Status: OK"),
    ],
)
def test_sound_drives_are_not_named(text: str) -> None:
    found = found_of([read_text("capture", text)])
    assert found.facts.drives
    assert "failing" not in {each.code for each in found.facts.warnings}
