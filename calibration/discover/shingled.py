"""Disks with shingled tracks (SMR): what captures and makers' lists say.

No disk that manages its zones itself says so to Linux: the maker's own list does.
"""

from __future__ import annotations

import re
from typing import Final

from raidlab.calibration.discover.facts import Drive
from raidlab.calibration.discover.part_numbers import without_vendor

LISTED: Final = (
    # Seagate: its support page "CMR and SMR hard drives", and the manuals of the lines.
    (r"ST(2000DM00[58]|3000DM007|4000DM004|6000DM003|8000DM004)|ST\d+DMA\d\d",
     "Seagate's manual 100805918"),
    (r"ST[345]000LM024|ST5000LM000|ST2000LM0(07|15)|ST1000LM0(35|48)|ST500LM030|ST[12]000LX0",
     "Seagate's list: BarraCuda and FireCuda of 2.5 inch"),
    (r"ST\d+AS00", "Seagate's Archive HDD"),
    # WD: A in the third place of four letters, of 2 to 6 TB; from 8 TB on none is shingled.
    (r"WD[2-6]0E([DZ]AZ|FAX|ZAX)|WD20EZBX|WD[12]0SP[SZ]X", "WD's list of April 2020 and sheets"),
    # Toshiba: DT02 from 4 TB on, MQ04, and their retail names.
    (r"DT02ABA[4-9]|MQ04[UA]|HDWD(2[46]|32)0|HDWL1[12]0", "Toshiba's list of 28 April 2020"),
    # HGST, WD: S in the second place, where other Ultrastars have U.
    (r"[HW]SH72", "HGST, WD: Ultrastar Archive, host-managed"),
)  # fmt: skip
"""Models and the list that names them."""


def shingled(drive: Drive) -> str | None:
    """Why a disk has shingled tracks; None if nothing says so."""
    if drive.zoned is not None:
        return f"a capture says {drive.zoned} zones"
    if re.search(r"\bSMR\b", drive.family or ""):
        return f"smartmontools' drivedb.h: {drive.family}"
    plain = without_vendor(drive.model or "")
    return next((why for pattern, why in LISTED if re.match(pattern, plain, re.I)), None)


def is_host_managed(drive: Drive) -> bool:
    """True of a disk that takes writes in the order of its zones alone."""
    return drive.zoned == "host-managed" or re.match(
        r"[HW]SH72", without_vendor(drive.model or "")) is not None  # fmt: skip
