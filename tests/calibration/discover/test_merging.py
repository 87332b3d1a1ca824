"""Which parts of several captures are one."""

from __future__ import annotations

from raidlab.calibration.discover.facts import Array, Drive, Facts
from raidlab.calibration.discover.merging import merged
from raidlab.calibration.discover.reading import read_text


def drives(*both: Drive) -> int:
    return len(merged([Facts(drives=[each]) for each in both]).drives)


def test_one_serial_number_is_one_drive_unless_model_and_size_contradict() -> None:
    seen = Drive(serial="A1", model="HGST HUS726040ALE610", bytes=4 * 10**12)
    assert drives(seen, Drive(serial="A1", model="HUS726040ALE610", bytes=4 * 10**12)) == 1
    # An OEM's name for it, and a tool that counts in units of 1024.
    assert drives(seen, Drive(serial="A1", model="MB4000GDUPB", bytes=3638 * 2**30)) == 1
    assert drives(seen, Drive(serial="A1", model="ST16000NM001G", bytes=16 * 10**12)) == 2


def test_units_and_drives_of_two_captures_belong_together_by_their_group() -> None:
    units = (
        "Unit  UnitType  Status  %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy\n"
        "u0    RAID-1    OK      -       -       -       931.312   RiW    ON\n"
        "u1    RAID-1    OK      -       -       -       465.651   RiW    ON\n"
    )
    drives = "VPort Status  Unit Size       Type  Phy Encl-Slot  Model\n" + "".join(
        f"p{at}    OK      {unit}   931.51 GB  SATA  {at}   -          ST1000NM0033-9ZM\n"
        for at, unit in enumerate(("u0", "u0", "u1", "u1"))
    )
    parts = [read_text(name, text).facts for name, text in (("units", units), ("ports", drives))]
    whole = merged([each for each in parts if each is not None])
    found = [(each.name, each.members, each.drives) for each in whole.arrays]
    assert found == [("u0", 2, ["p0", "p1"]), ("u1", 2, ["p2", "p3"])]


def test_a_member_in_a_place_that_mdadm_calls_empty_is_a_contradiction() -> None:
    """`lsblk` shows a partition below md0 that `mdadm --detail` has removed."""
    detail = Array(
        name="md0", members=4, missing=1, lacking=[3], read_from="mdadm.txt",
        drives=["/dev/sda2", "/dev/sdb2", "/dev/sdc2"],
    )  # fmt: skip
    tree = Array(name="md0", read_from="lsblk.txt", drives=["sda2", "sdb2", "sdc2", "sdd2"])

    def said(tree: Array) -> list[str]:
        one, other = Facts("mdadm", arrays=[detail]), Facts("lsblk", arrays=[tree])
        warned = merged([other, one]).warnings
        return [each.text for each in warned if each.code == "contradiction"]

    (text,) = said(tree)
    assert text.startswith("sdd2: in md0 by lsblk.txt, but mdadm.txt has a place without a drive")
    detail.failed = ["/dev/sdd2"]
    assert not said(tree)
    detail.failed = None
    tree.drives = ["sda2", "sdb2", "sdc2"]
    assert not said(tree)
