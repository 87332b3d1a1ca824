"""Words that all tools for MegaRAID and PERC controllers share: states, cache policies, drives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from raidlab.calibration.discover.captures import Pairs, text_of
from raidlab.calibration.discover.facts import Array, Drive
from raidlab.calibration.discover.quantities import (
    binary_size,
    flag,
    interface,
    known_text,
    line_rate,
    on_off,
    raid_level,
    size,
    state,
    whole,
)

Row = Mapping[str, object]

_DRIVE_STATES = {
    "onln": "online", "online": "online", "conf": "online", "offln": "offline",
    "ugood": "unassigned", "uconf": "unassigned", "unconf": "unassigned", "good": "unassigned",
    "ubad": "unconfigured bad", "bad": "unconfigured bad", "ugunsp": "unassigned",
    "jbod": "jbod", "dhs": "spare", "ghs": "spare", "hotspare": "spare", "hot spare": "spare",
    "rbld": "rebuilding", "rebuild": "rebuilding", "rebuilding": "rebuilding",
    "failed": "failed", "fail": "failed", "msng": "missing", "missing": "missing",
    "cpybck": "copyback", "cpybk": "copyback", "copyback": "copyback", "cfshld": "shielded",
    "ugshld": "shielded", "hspshld": "shielded", "ugsp": "unassigned", "f": "foreign",
    "frgn": "foreign", "foreign": "foreign", "sed lock": "locked", "ubunsp": "unconfigured bad",
}  # fmt: skip
AWAY: Final = ("missing", "failed", "offline", "rebuilding", "unconfigured bad")
"""States of a drive in whose place an array lacks data."""
_ARRAY_STATES = {
    "optl": "optimal", "dgrd": "degraded", "pdgd": "partially degraded", "ofln": "offline",
    "rec": "recovery",
}  # fmt: skip
_LETTERS = re.compile(r"^(NORA|NR|ADRA|RA(?!WB)|R)?,?(AWB|FWB|WB|WT)?,?([DC])?$")


@dataclass(frozen=True)
class Letters:
    """What the letters of a cache policy mean."""

    read_ahead: bool | str | None = None
    write: str | None = None
    io: str | None = None


def letters(text: str | None) -> Letters:
    """Cache letters such as `RWBD`, `NRAWBC` or `NR,WB`: read ahead, write policy, I/O policy."""
    match = _LETTERS.match((text or "").replace(" ", "").upper())
    if match is None:
        return Letters()
    read: dict[str, bool | str] = {
        "R": True,
        "RA": True,
        "NR": False,
        "NORA": False,
        "ADRA": "adaptive",
    }
    write = {"WB": "write-back", "WT": "write-through", "AWB": "always-write-back",
             "FWB": "always-write-back"}  # fmt: skip
    direct = {"D": "direct", "C": "cached"}
    return Letters(read.get(match[1] or ""), write.get(match[2] or ""), direct.get(match[3] or ""))


def write_policy(text: str | None) -> str | None:
    """A write policy from `WriteBack`, `Write Through`, `WB`, `AWB` and the like."""
    word = re.sub(r"[^a-z]", "", (text or "").lower())
    if word in ("awb", "fwb") or "always" in word or "force" in word:
        return "always-write-back"
    if word == "wb" or "writeback" in word:
        return "write-back"
    return "write-through" if word == "wt" or "writethrough" in word else None


def drive_state(text: str | None, group: str | None = None) -> str | None:
    """A drive's state in one word; `foreign` where its group is another controller's."""
    if (group or "").upper() == "F":
        return "foreign"
    word = (state(re.split(r",", text or "")[0]) or "").strip()
    return _DRIVE_STATES.get(word, word or None)


def array_state(text: str | None) -> str | None:
    """A volume's state: `optimal`, `degraded`, `partially degraded`, `offline`."""
    word = state(text) or ""
    return _ARRAY_STATES.get(word, word or None)


def backup_kind(model: str | None) -> str | None:
    """What kind of backup a part is, by its maker's numbers: CVPM capacitors, BBU batteries."""
    word = (model or "").upper()
    if word.startswith(("CVPM", "TMM", "LSICVM", "CVFM")):
        return "cachevault"
    return "bbu" if "BBU" in word or word in ("BAT", "BATTERY") else None


def overview_backup(text: str | None) -> str | None:
    """The state of the backup in a line of `show`."""
    known = {"opt": "optimal", "dgd": "degraded", "fail": "failed", "msng": "missing"}
    return known.get((text or "").lower(), state(text))


def overview_health(text: str | None) -> str | None:
    """The state of a controller in a line of `show`."""
    known = {"opt": "optimal", "dgd": "degraded", "needattn": "needs attention", "fail": "failed"}
    return known.get((text or "").lower(), state(text))


def medium(text: str | None) -> str | None:
    """`hdd` or `ssd` of a column `Med` or a line `Media Type`."""
    word = (text or "").lower()
    if "solid" in word or "ssd" in word or "flash" in word:
        return "ssd"
    return "hdd" if "hdd" in word or "hard disk" in word else None


def drive_of(row: Row, slot: str) -> Drive:
    """A drive of a row of a table of drives."""
    group = text_of(row, "DG")
    status = text_of(row, "Status")
    stated = text_of(row, "State")
    if status is not None and (stated or "").lower() in ("conf", "uconf", "unconf"):
        # The second generation has two columns: whether it is configured, and how it is.
        named = drive_state(status, group)
        unused = (stated or "").lower() != "conf" and named in ("online", "unassigned")
        stated = "ugood" if unused else status
    sector = size(text_of(row, "SeSz"))
    found = Drive(
        slot=slot,
        did=whole(text_of(row, "DID", "PID")),
        model=known_text(text_of(row, "Model")),
        bytes=size(text_of(row, "Size")) or None,
        kind=medium(text_of(row, "Med")),
        interface=interface(text_of(row, "Intf")),
        state=drive_state(stated, group),
        group=group,
        sector=sector,
    )
    if found.interface == "nvme":
        found.kind = found.kind or "ssd"
    return found


_RAW = re.compile(r"(?P<size>.*?)\[(?P<sectors>0x[0-9a-fA-F]+)\s*Sectors?\]", re.IGNORECASE)


def exact_bytes(text: str | None) -> int | None:
    """Bytes of `3.638 TB [0x1d1c0beb0 Sectors]`.

    The count is in sectors of 512 or of 4,096 bytes: the one that fits the rounded size.
    """
    match = _RAW.search(text or "")
    if match is None:
        return size(text)
    sectors, rounded = int(match["sectors"], 16), size(match["size"])
    if not rounded:
        return sectors * 512
    return min((sectors * 512, sectors * 4096), key=lambda each: abs(each - rounded))


def failing(have: Pairs) -> str | None:
    """What predicts a drive's failure: the controller's count, the drive's own alert."""
    count = whole(have.find("Predictive Failure Count"))
    alert = have.find("Drive has flagged a S.M.A.R.T alert", "S.M.A.R.T alert flagged by drive")
    said = [f"Predictive Failure Count: {count}"] if count else []
    said += ["a S.M.A.R.T. alert"] if flag(alert) else []
    return ", ".join(said) or None


def refine(drive: Drive, have: Pairs) -> None:
    """What the pairs about one drive add: exact size, serial number, link, sectors."""
    if (raw := have.find("Raw size", "Raw Size")) is not None:
        drive.bytes = exact_bytes(raw) or drive.bytes
    drive.model = drive.model or known_text(have.find("Model Number"))
    drive.vendor = drive.vendor or _vendor(
        have.find("Manufacturer Id", "Manufacturer Identification")
    )
    drive.serial = drive.serial or known_text(have.find("SN", "Serial Number"))
    family = drive.interface or have.find("Interface", "Drive Interface") or ""
    if line_rate(have.find("Device Speed", "Capable Speed")) and "nvme" not in family.lower():
        drive.interface = interface(family, have.find("Device Speed", "Capable Speed"))
        drive.link_now = interface(family, have.find("Link Speed", "Negotiated Link Speed"))
    drive.drive_cache = drive.drive_cache or on_off(have.find("Write Cache"))
    drive.failing = failing(have) or drive.failing
    drive.sector = size(have.find("Logical Sector Size")) or drive.sector
    drive.physical_sector = size(have.find("Physical Sector Size")) or drive.physical_sector


def _vendor(text: str | None) -> str | None:
    word = known_text(text)
    return None if word in (None, "ATA", "NVMe") else word


def array_of(row: Row, have: Pairs) -> Array:
    """A volume of its row in the list and of its properties."""
    blocks, sector = whole(have.find("Number of Blocks")), size(have.find("Sector Size")) or 512
    rounded = size(text_of(row, "Size")) or None
    counted = None if blocks is None else blocks * 512
    if blocks is not None and rounded is not None and sector != 512:
        counted = min((blocks * 512, blocks * sector), key=lambda each: abs(each - rounded))
    spans = whole(have.find("Span Depth"))
    return Array(
        name=str(row.get("Name") or "").strip(),
        os_name=known_text(have.find("OS Drive Name")),
        level=raid_level(text_of(row, "TYPE"), spans),
        spans=spans,
        members_per_span=whole(have.find("Number of Drives Per Span")),
        state=array_state(text_of(row, "State")),
        stripe_unit=binary_size(have.find("Strip Size", "Stripe Size")),
        bytes=counted or rounded,
    )
