"""Classes of drives and controllers: what a planner who knows no model yet asks for.

A class is read off a device's own file: interface and generation, cell or speed of rotation, and
whether its maker states bursts, as makers do of drives for clients.
"""

from __future__ import annotations

from raidlab.devices.catalogue import Device
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.hdd import HddSpec
from raidlab.devices.links import Interface
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.xpoint import XpointSpec

_FIRST_NVME = 3
"""Generation of PCIe since which its SSDs speak NVMe: older ones had drivers of their makers."""
_SLOWEST_10K, _SLOWEST_15K = 9_000, 12_500


def ssd_class(interface: str, cell: str, *, client: bool) -> str:
    """Of an SSD: `nvme-gen4-tlc`, `sata-mlc-client`, `sas-tlc`."""
    if interface == "none":
        return cell
    link = Interface.parse(interface)
    family = str(link.family)
    if family == "pcie":
        generation = int(link.generation[0])
        family = f"{'nvme' if generation >= _FIRST_NVME else 'pcie'}-gen{generation}"
    return f"{family}-{cell}{'-client' if client else ''}"


def hdd_class(interface: str, rpm: float, *, shingled: bool = False) -> str:
    """Of a disk: `nl-sas`, `sata-hdd`, `sas-10k`, `sata-smr`; `scsi-hdd` without such a link."""
    family = "scsi" if interface == "none" else Interface.parse(interface).family
    if shingled:
        return f"{family}-smr"
    if rpm >= _SLOWEST_15K:
        return f"{family}-15k"
    if rpm >= _SLOWEST_10K:
        return f"{family}-10k"
    return "nl-sas" if family == "sas" else f"{family}-hdd"


def class_of(device: Device) -> str:
    """The class of a device; empty for kinds that have none."""
    spec = device.spec
    if isinstance(spec, SsdSpec):
        client = spec.data_sheet.get("burst") is True
        return ssd_class(spec.interface, spec.nand.cell, client=client)
    if isinstance(spec, XpointSpec):
        return "nvme-3d-xpoint"
    if isinstance(spec, HddSpec):
        shingled = spec.shingled is not None
        return hdd_class(spec.interface, spec.speed, shingled=shingled)
    if isinstance(spec, ControllerSpec):
        return "raid-cache" if spec.cache else "raid" if "raid5" in spec.levels else "hba"
    return ""


def year_of(device: Device) -> int | None:
    """When it was announced, if its file says so."""
    year = device.spec.data_sheet.get("year")
    return int(year) if isinstance(year, int | float) and not isinstance(year, bool) else None
