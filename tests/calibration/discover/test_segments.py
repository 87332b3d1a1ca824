"""Client and server SSDs, disks with shingled tracks: what decides, and which stand-in follows."""

from __future__ import annotations

import pytest

from raidlab.calibration.discover.facts import Drive
from raidlab.calibration.discover.matching import doubts, match_drive
from raidlab.calibration.discover.part_numbers import is_qlc
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft
from raidlab.calibration.discover.segments import by_model, by_size, segment_of
from raidlab.calibration.discover.shingled import shingled


@pytest.mark.parametrize(
    "model",
    [
        "CT2000T700SSD3", "M4-CT256M4SSD2", "KINGSTON OM8PDP3512B-A01", "SHFS37A120G",
        "Samsung SSD 990 PRO 2TB", "SAMSUNG MZVLB512HBJQ-000L7", "SAMSUNG MZ7LN512HCHP-000L1",
        "PM981 NVMe Samsung 512GB", "Micron_1100_MTFDDAV256TBN", "WDC WDS500G2B0A-00SM50",
        "WDC PC SN730 SDBPNTY-512G-1101", "WD_BLACK SN770 1TB", "SanDisk SDSSDH3 1T00",
        "INTEL SSDSC2KW512G8", "INTEL SSDSC2BW240A4", "INTEL SSDPEKNW010T8", "SHPP41-2000GM",
        "SK hynix PC711 NVMe 1TB", "KXG60ZNV512G TOSHIBA", "KBG40ZNS256G NVMe KIOXIA 256GB",
        "Seagate BarraCuda SSD ZA1000CM10002", "PNY CS900 480GB SSD", "TS256GSSD230S",
        "MTFDHBA512TDV-1AZ1AABHA", "HFS001TEJ9X115N", "HFS512GD9TNG-62A0A",
    ],
)  # fmt: skip
def test_a_makers_scheme_says_client(model: str) -> None:
    found = by_model(model)
    assert found is not None and found.name == "client"


@pytest.mark.parametrize(
    "model",
    [
        "SAMSUNG MZ7LH960HAJR-00005", "SAMSUNG MZ7KM480HAHP-00005", "MZQLB960HAJR", "MZ1LB1T9HALS",
        "Samsung SSD 883 DCT 960GB", "Micron_5100_MTFDDAK960TBY", "KINGSTON SEDC500M960G",
        "WDC WDS960G1D0D-00RGB0", "WUS4BB038D7P3E1", "INTEL SSDSC2BB480G6", "INTEL SSDSCKJB480G7",
        "TOSHIBA THNSN8960PCSE", "KIOXIA KCD61LUL960G", "XA960LE10063", "VK000480GWTHA",
        "Dell Ent NVMe AGN RI U.2 1.6TB", "MTFDDAK480TCC", "MTFDDAK1T9TBY", "HFS960G32FEH-BA10A",
    ],
)  # fmt: skip
def test_a_makers_scheme_says_server(model: str) -> None:
    found = by_model(model)
    assert found is not None and found.name == "server"


@pytest.mark.parametrize(
    ("size", "name"),
    [
        (512_110_190_592, "client"),
        (1_024_209_543_168, "client"),
        (250_059_350_016, "client"),
        (1_920_383_410_176, "server"),
        (400_088_457_216, "server"),
        # lsblk without -b: 1.7T and 1.8T are 1.92 and 2 TB.
        (int(1.7 * 2**40), "server"),
        (int(1.8 * 2**40), "client"),
        (480_103_981_056, None),
        (960_197_124_096, None),
        (42 * 10**12, None),
        (None, None),
    ],
)
def test_a_size_that_one_market_alone_has_says_which(size: int | None, name: str | None) -> None:
    found = by_size(size)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("drive", "name", "why"),
    [
        (Drive(model="XYZ", protected=True, volatile_write_cache=True), "server", "capacitor"),
        (Drive(model="XYZ", volatile_write_cache=False), "server", "no volatile"),
        (Drive(model="XYZ", drive_cache="no volatile cache"), "server", "no volatile"),
        (Drive(model="XYZ", volatile_write_cache=True), "client", "vwc"),
        (Drive(model="XYZ", drive_cache="on"), "client", "vwc"),
        (Drive(model="MZQL2960HCJR", volatile_write_cache=True), "server", "MZQ"),
        (Drive(model="XYZ", sleeps=True), "client", "apsta"),
        (Drive(model="XYZ", form="m.2"), "client", "M.2"),
    ],
)
def test_what_a_capture_states_goes_before_model_and_size(
    drive: Drive, name: str, why: str
) -> None:
    found = segment_of(drive, "nvme", 960 * 10**9)
    assert (found.name, found.decided) == (name, True)
    assert why in found.why


def test_a_size_of_servers_goes_before_a_reported_cache() -> None:
    found = segment_of(Drive(model="XYZ", volatile_write_cache=True), "nvme", 3_840_755_982_336)
    assert (found.name, "3,840 GB" in found.why) == ("server", True)


def test_a_sata_drives_own_cache_says_nothing() -> None:
    """Server drives over SATA have their write cache on, too."""
    found = segment_of(Drive(model="XYZ", drive_cache="on"), "sata", 960 * 10**9)
    assert (found.name, found.decided) == ("server", False)


@pytest.mark.parametrize(
    ("model", "interface", "size", "stand_in"),
    [
        ("INTEL SSDSC2KW512G8", "sata-6g", 512, "generic-sata-tlc-client"),
        ("SanDisk SD8SB8U256G1122", "sata-6g", 256, "generic-sata-tlc-client"),
        ("WD Blue SN570 1TB", "nvme", 1000, "generic-nvme-gen4-tlc-client"),
        ("KBG40ZNS256G NVMe KIOXIA 256GB", "nvme", 256, "generic-nvme-gen3-tlc-client"),
        ("INTEL SSDSC2BB480G6", "sata-6g", 480, "generic-sata-tlc"),
        ("WUS4BB038D7P3E1", "nvme", 3840, "generic-nvme-gen3-tlc"),
        ("INTEL SSDPF2NV153TZ", "nvme", 15_360, "generic-nvme-gen4-qlc"),
    ],
)
def test_the_stand_in_is_of_the_same_market(
    model: str, interface: str, size: int, stand_in: str
) -> None:
    match = match_drive(Drive(model=model, interface=interface, bytes=size * 10**9, kind="ssd"))
    assert match.stand_in == stand_in
    market = "client" if "client" in stand_in else "server"
    assert f"of the generic {market} SSDs the one nearest" in match.reason


def test_where_nothing_decides_sync_writes_are_named() -> None:
    shown = [Drive(name=n, model="XYZ", interface="sata", kind="ssd", bytes=480 * 10**9)
             for n in ("sda", "sdb")]  # fmt: skip
    (said,) = doubts([match_drive(each) for each in shown])
    assert said.startswith("sda sdb: XYZ: no capture says whether it is a client or a server SSD")
    assert "sync writes (fsync)" in said
    client = match_drive(Drive(name="sda", model="CT500MX500SSD1", interface="sata", kind="ssd"))
    assert "a sync write (fsync) waits until its cells are programmed" in client.doubt
    known = match_drive(
        Drive(name="sda", model="INTEL SSDSC2BB480G6", interface="sata", kind="ssd")
    )
    assert known.doubt == ""


def test_cells_of_four_bits_are_said() -> None:
    assert is_qlc("Samsung SSD 860 QVO 2TB") and is_qlc("CT1000P3SSD8") and is_qlc("SSDPEKNW010T8")
    assert not is_qlc("CT1000MX500SSD1") and not is_qlc("INTEL SSDPEKKW512G8")
    drive = Drive(model="CT1000P3SSD8", interface="nvme", bytes=10**12)
    assert "QLC, the stand-in's TLC" in match_drive(drive).doubt


SMART = """smartctl 7.2 2020-12-30 r5155 [x86_64-linux] (local build)
=== START OF INFORMATION SECTION ===
Device Model:     XYZ480
User Capacity:    480,103,981,056 bytes [480 GB]
Rotation Rate:    Solid State Device
Form Factor:      M.2
SATA Version is:  SATA 3.2, 6.0 Gb/s (current: 6.0 Gb/s)
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  9 Power_On_Hours          -O--CK   100   100   000    -    45
"""


def test_captures_state_capacitors_forms_zones_and_sleep() -> None:
    def one(name: str, text: str) -> Drive:
        facts = read_text(name, text).facts
        assert facts is not None
        return facts.drives[0]

    assert one("smart.txt", SMART).form == "m.2" and not one("smart.txt", SMART).protected
    test = "175 Power_Loss_Cap_Test     PO--CK   100   100   010    -    633 (237 447)\n"
    assert one("smart.txt", SMART + test).protected
    json = ('{"smartctl": {}, "device": {"name": "/dev/sda", "protocol": "ATA"}, "model_name": "X",'
            ' "form_factor": {"name": "M.2"}, "zoned_device": {"capabilities": "Device managed"},'
            ' "ata_smart_attributes": {"table": [{"name": "Power_Loss_Cap_Test"}]}}')  # fmt: skip
    found = one("smart.json", json)
    assert (found.form, found.zoned, found.protected) == ("m.2", "device-managed", True)
    assert one("id.txt", "mdts : 5\nvwc : 0x1\napsta : 0x1\nmn : X\n").sleeps
    row = 'NAME="sda" SIZE="1" TYPE="disk" ROTA="1" MODEL="X" ZONED="{zones}"\n'
    assert one("lsblk.txt", row.format(zones="host-aware")).zoned == "host-aware"
    assert one("lsblk.txt", row.format(zones="none")).zoned is None
    values = "/sys/block/sda/size:9\n/sys/block/sda/queue/zoned:host-managed\n"
    assert one("sys", values).zoned == "host-managed"


@pytest.mark.parametrize(
    "model",
    [
        "ST2000DM008-2FR102", "ST6000DM003-2CY186", "ST8000DM004-2CX188", "ST1000LM048-2E7172",
        "ST5000LM000-2AN170", "WDC WD40EFAX-68JH4N0", "WDC WD60EZAZ-00SF3B0",
        "WDC WD10SPZX-21Z10T0", "TOSHIBA DT02ABA400", "TOSHIBA MQ04ABF100", "TOSHIBA HDWD240",
        "HGST HSH721414ALE6M0",
    ],
)  # fmt: skip
def test_disks_that_their_makers_list_are_shingled(model: str) -> None:
    match = match_drive(Drive(name="sda", model=model, kind="hdd", interface="sata"))
    assert match.stand_in == "archive-8t"
    assert "shingled" in match.reason and "shingled" in match.doubt
    assert ("not simulated" in match.doubt) == model.startswith("HGST")


@pytest.mark.parametrize(
    "model",
    ["ST4000DM000-1F2168", "ST2000DM001-1CH164", "ST1000DM010-2EP102", "ST10000DM0004-1ZC101",
     "ST1000LM024 HN-M101MBB", "WDC WD80EFAX-68KNBN0", "WDC WD40EFRX-68N32N0",
     "WDC WD40EFPX-68C6CN0", "WDC WD10EZEX-08WN4A0", "TOSHIBA DT01ACA300", "TOSHIBA HDWD120",
     "TOSHIBA MQ01ABD100", "HGST HUH721212ALE600", "ST16000NM001G-2KK103"],
)  # fmt: skip
def test_other_disks_of_the_same_lines_are_not(model: str) -> None:
    assert shingled(Drive(model=model)) is None


def test_smartctls_family_says_what_the_model_does_not() -> None:
    """Families of smartmontools' database: `Seagate BarraCuda 3.5 (SMR)`, `... Client SSDs`."""
    assert shingled(Drive(model="ST3000XX007", family="Seagate BarraCuda 3.5 (SMR)"))
    assert not shingled(Drive(model="ST3000XX007", family="Seagate BarraCuda 3.5"))
    drive = Drive(model="XYZ480", family="Crucial/Micron Client SSDs")
    assert segment_of(drive, "sata", 480 * 10**9).name == "client"


def test_a_scenario_of_a_shingled_disk_loads_with_its_own_size() -> None:
    drive = Drive(name="sda", model="WDC WD40EFAX-68JH4N0", kind="hdd", interface="sata-6g",
                  bytes=4_000_787_030_016, rpm=5400, read_from="smart.json")  # fmt: skip
    facts = read_text("lsblk.txt", "").facts or read_text("sys", "/sys/block/sda/size:9\n").facts
    assert facts is not None
    facts.drives = [drive]
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    (sheet,) = made.sheets.values()
    assert sheet.values["like"] == "archive-8t" and sheet.values["capacity"] == "4000787030016 B"
