"""Cache policies of volumes: one for all on the controller, others on their arrays."""

from __future__ import annotations

import tomllib

import pytest

from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft

STORCLI = """CLI Version = 007.1
Controller = 0
Status = Success

Model = AVAGO MegaRAID SAS 9361-8i
On Board Memory Size = 1024MB

VD LIST :
=======

-----------------------------------------------------------------
DG/VD TYPE   State Access Consist Cache Cac sCC       Size Name
-----------------------------------------------------------------
0/0   RAID1  Optl  RW     Yes     RWBD  -   ON  446.625 GB data
1/1   RAID1  Optl  RW     Yes     NRWTD -   OFF 446.625 GB logs
-----------------------------------------------------------------

PD LIST :
=======

---------------------------------------------------------------------------
EID:Slt DID State DG       Size Intf Med SED PI SeSz Model          Sp Type
---------------------------------------------------------------------------
8:0       0 Onln   0 446.625 GB SATA SSD N   N  512B XYZ480         U  -
8:1       1 Onln   0 446.625 GB SATA SSD N   N  512B XYZ480         U  -
8:2       2 Onln   1 446.625 GB SATA SSD N   N  512B XYZ480         U  -
8:3       3 Onln   1 446.625 GB SATA SSD N   N  512B XYZ480         U  -
---------------------------------------------------------------------------
"""
JSON = (
    '{"Controllers": [{"Command Status": {"CLI Version": "007.1", "Controller": 0, "Status":'
    ' "Success"}, "Response Data": {"Model": "AVAGO MegaRAID SAS 9361-8i", "On Board Memory Size":'
    ' "1024MB", "VD LIST": ['
    '{"DG/VD": "0/0", "TYPE": "RAID1", "State": "Optl", "Cache": "RWBD", "Size": "446.625 GB",'
    ' "Name": "data"},'
    '{"DG/VD": "1/1", "TYPE": "RAID1", "State": "Optl", "Cache": "NRWTD", "Size": "446.625 GB",'
    ' "Name": "logs"}], "PD LIST": ['
    + ", ".join(
        f'{{"EID:Slt": "8:{at}", "State": "Onln", "DG": {at // 2}, "Size": "446.625 GB", "Intf":'
        ' "SATA", "Med": "SSD", "Model": "XYZ480"}'
        for at in range(4)
    )
    + "]}}]}"
)
MEGACLI = """Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
Size                : 446.625 GB
Number Of Drives    : 2
Default Cache Policy: WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU
Virtual Drive: 1 (Target Id: 1)
Name                :logs
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
Size                : 446.625 GB
Number Of Drives    : 2
Default Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU
"""
SSACLI = """Smart Array P440ar in Slot 0 (Embedded)
   Total Cache Size: 2.0
   Cache Status: OK
   Cache Backup Power Source: Batteries
   Battery/Capacitor Status: OK

   Array: A
      Logical Drive: 1
         Size: 446.6 GB
         Fault Tolerance: 1
         Status: OK
         Caching: Enabled
         Logical Drive Label: data
      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SATA SSD, 480 GB, OK)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SATA SSD, 480 GB, OK)

   Array: B
      Logical Drive: 2
         Size: 446.6 GB
         Fault Tolerance: 1
         Status: OK
         Caching: Disabled
         Logical Drive Label: logs
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SATA SSD, 480 GB, OK)
      physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SATA SSD, 480 GB, OK)
"""
ARCCONF = """Controllers found: 1
Controller information
   Controller Status : Optimal
   Controller Model : Adaptec ASR8805
   Installed memory : 1024 MB
Logical device information
Logical Device number 0
   Logical Device name : data
   RAID level : 1
   Size : 457340 MB
   Write-cache setting : Enabled (write-back)
   Write-cache status : On
   Segment 0 : Present (457862MB, SATA, SSD, Connector:0, Device:0) SN1
   Segment 1 : Present (457862MB, SATA, SSD, Connector:0, Device:1) SN2
Logical Device number 1
   Logical Device name : logs
   RAID level : 1
   Size : 457340 MB
   Write-cache setting : Disabled (write-through)
   Write-cache status : Off
   Segment 0 : Present (457862MB, SATA, SSD, Connector:0, Device:2) SN3
   Segment 1 : Present (457862MB, SATA, SSD, Connector:0, Device:3) SN4
Physical Device information
"""


@pytest.mark.parametrize(
    ("text", "read_ahead"),
    [(STORCLI, True), (JSON, True), (MEGACLI, True), (SSACLI, False), (ARCCONF, False)],
    ids=["storcli", "storcli-json", "megacli", "ssacli", "arcconf"],
)
def test_volumes_that_differ_have_policies_of_their_own(text: str, read_ahead: bool) -> None:
    facts = read_text("show", text).facts
    assert facts is not None
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    found = tomllib.loads(made.text)
    assert "write" not in found["controller"] and "read_ahead" not in found["controller"]
    got = {each["name"]: (each.get("write"), each.get("read_ahead")) for each in found["array"]}
    ahead = ("always", "none") if read_ahead else (None, None)
    assert got == {"data": ("write-back", ahead[0]), "logs": ("write-through", ahead[1])}
    if read_ahead:
        assert found["controller"]["io_cache"] == "direct"
    assert not any("one for all" in each for each in made.left_out)


def test_volumes_that_agree_leave_it_to_the_controller() -> None:
    drives = [Drive(slot=f"8:{at}", controller=0, kind="hdd", interface="sas-12g", bytes=10**12)
              for at in range(4)]  # fmt: skip
    arrays = [
        Array(name=name, level="raid1", members=2, controller=0, drives=slots, bytes=10**12,
              write_policy="write-back", write_policy_now=now, drive_cache=cache, read_from="s")
        for name, slots, now, cache in (("a", ["8:0", "8:1"], "write-through", "off"),
                                        ("b", ["8:2", "8:3"], "write-through", "on"))
    ]  # fmt: skip
    card = Controller(index=0, role="raid", cache="1 GiB")
    made = draft(Facts(controllers=[card], arrays=arrays, drives=drives), "S")
    assert made is not None and made.faults == []
    found = tomllib.loads(made.text)
    assert found["controller"]["write"] == "write-through"
    assert 'write = "write-through"  # read from s; set is write-back' in made.text
    assert [each.get("write") for each in found["array"]] == [None, None]
    assert [each["disk_cache"] for each in found["array"]] == [False, True]
