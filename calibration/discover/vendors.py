"""Names of vendors before a model, and products that are no drives: volumes, LUNs, virtual disks.

Linux prints a SCSI vendor (8 characters) and a product (16); SATA drives have the vendor `ATA`.
"""

from __future__ import annotations

import re

VENDORS = (
    "ATA", "SEAGATE", "HITACHI", "HGST", "TOSHIBA", "FUJITSU", "WDC", "WD", "SAMSUNG", "INTEL",
    "MICRON", "KIOXIA", "SANDISK", "HP", "HPE", "DELL", "IBM", "IBM-ESXS", "LENOVO",
    "LENOVO-X", "NETAPP", "STEC", "OCZ", "PLIANT", "SMART", "MAXTOR", "QUANTUM", "NVME", "CISCO",
    "SK hynix", "SKHYNIX", "SOLIDIGM", "CRUCIAL", "KINGSTON", "LSI", "PHISON",
)  # fmt: skip
"""Vendors of drives as SCSI inquiries have them."""

SAS_VENDORS = frozenset(each.upper() for each in VENDORS if each != "ATA" and len(each) <= 8)
"""What stands in the first eight characters of a SAS drive's inquiry."""

_VENDOR = re.compile(
    r"^(?P<vendor>" + "|".join(re.escape(each) for each in sorted(VENDORS, key=len, reverse=True))
    + r")(?P<gap>\s+)(?P<model>\S.*)$",
    re.IGNORECASE,
)  # fmt: skip

_VIRTUAL = re.compile(
    r"vmware|qemu|vbox|virtualbox|virtual[ _-]?disk|msft|xen|virtio|persistentdisk|"
    r"amazon elastic block|amazon ec2|nutanix|bhyve|google|blockvolume|cloud|aliyun|"
    r"nvme virtual|openstack|parallels|proxmox|microsoft nvme direct|lio-org|scst|\biet\b",
    re.IGNORECASE,
)
_LUN_VENDOR = re.compile(
    r"^(netapp|dgc|emc|pure|3pardata|nimble|datacore|hitachi open|xiotech|compelnt|eqlogic|"
    r"huawei|infinidat|freenas|truenas|synology|qnap|equallogic|purestorage|sun)\b",
    re.IGNORECASE,
)
_LUN_MODEL = re.compile(
    r"^(?:(lun|open-\w+|2145|vraid|raid 5|universal xport|me4|me5|"
    r"flasharray|symmetrix|vv|compellent vol|100e-00|iscsi ?disk|powerstore|xtremapp|invista|"
    r"virtual-disk|iscsi storage|fcdisk|infinibox|inf-01-00|de_series|disk array|"
    r"17(22|24|26|42|46)|18(13|14|15|18)|1750\d*|2105\w*|2107\w*|2810xiv|hsv\d{3}|"
    r"df\d{3}f|flashsystem\S*|ramsan\S*|eternus\S*|vdasd|axiom|s2a|sfa|hi-sds|comstar|"
    r"k2|tp9\d{3}|csm[12]00_r|lcsm100_\w|storedge 3\w*)(?=\s|$)"
    r"|msa ?(\d|volume)|msa[12]\d{3}|p[24]000\b|p2000|md3\d|storedge )",
    re.IGNORECASE,
)
"""Products of disk arrays, as their inquiries have them (hardware table of multipath-tools)."""
_VOLUME = re.compile(
    r"\bperc\b|megaraid|\bmr\s?-?\d{4}|\bmr93|\bmr94|\bmr95|logical volume|serveraid|"
    r"\braid (\d+|ctlr|array)\b|raid ctlr|raid \d{3}|\basr\d{4}|praid|\brs[23]\w+|smc\d{4}|"
    r"ucsc-|ucs-?\d+|virtual drive|arc-\d{4}|\b9\d{3}-\d+i\b|\bsas\d{4}raid\b|backplane volume|"
    r"\bp4[0-9]{2}i?\b volume|\bboss\b",
    re.IGNORECASE,
)
_VOLUME_VENDOR = re.compile(
    r"^(lsi|avago|broadcom|adaptec|areca|asr\d{4}|microsemi|mscc|smrtpqi|amcc|3ware|lsilogic)\b",
    re.I,
)


def vendor_and_model(text: str | None) -> tuple[str | None, str | None]:
    """Vendor and model of a text such as `HP      EG1200JEMDA`; the vendor None if not stated."""
    plain = (text or "").strip()
    match = _VENDOR.match(plain)
    if match is None:
        return None, " ".join(plain.split()) or None
    return match["vendor"], " ".join(match["model"].split())


def joined_model(vendor: str | None, model: str | None) -> tuple[str | None, str | None]:
    """Vendor and model of an inquiry, a model that runs through both fields put together.

    Some firmware cuts a SATA drive's model at the 8 characters of the vendor: `ST310003`, `40NS`.
    """
    if vendor is None or vendor.upper() == "ATA":
        return None, model
    if model and len(vendor) == 8 and sum(map(str.isdigit, vendor)) > 2:
        return None, vendor + model
    return vendor, model


def is_virtual(vendor: str | None, model: str | None, name: str | None = None) -> bool:
    """True for disks of hypervisors and clouds and for LUNs: the drives are out of sight."""
    device = (name or "").rpartition("/")[2]
    if re.match(r"(xvd|vd[a-z]|rbd|nbd|drbd|vda)", device):
        return True
    text = f"{vendor or ''} {model or ''}".strip()
    if _VIRTUAL.search(text):
        return True
    return bool(_LUN_VENDOR.match(text) or _LUN_MODEL.match((model or "").strip()))


def transport_of(text: str | None, name: str | None = None) -> str | None:
    """`usb` or `mmc` of what a tool says of a bus, or of a device's name; None of all others."""
    word = (text or "").lower()
    if re.search(r"\busb|\buas\b", word):
        return "usb"
    card = re.match(r"mmcblk\d", (name or "").rpartition("/")[2])
    return "mmc" if card or re.search(r"\b(mmc|sdio)\b", word) else None


def virtual_bus(vendor: str | None, model: str | None, name: str | None) -> str | None:
    """What a virtual disk hangs on, by its name and vendor: `virtio`, `Xen`, `VMware`..."""
    device = (name or "").rpartition("/")[2]
    if device.startswith("vd") or (vendor or "").lower() == "0x1af4":
        return "virtio"
    if device.startswith("xvd"):
        return "Xen"
    return vendor or model


def is_controller_volume(vendor: str | None, model: str | None) -> bool:
    """True for a volume of a RAID controller, which the operating system shows as a disk."""
    vendor, model = (vendor or "").strip(), (model or "").strip()
    if _VOLUME.search(model):
        return True
    return _VOLUME_VENDOR.match(vendor) is not None and not re.match(r"(ata|nvme)", vendor, re.I)
