"""The planner's page: what can be chosen, with the look of the lab."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, get_args

import raidlab
from raidlab.devices.catalogue import catalogue
from raidlab.devices.classes import class_of
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.levels import LEVELS
from raidlab.devices.schema import DriveSpec
from raidlab.notebooks.frame import pages
from raidlab.notebooks.planner.form import takes_rate
from raidlab.scenarios.spec.loads import AnyProfile

_LEVELS_SHOWN: Final = ("raid0", "raid1", "raid10", "raid5", "raid6", "raid50", "raid60")
_LEVELS_CHOSEN: Final = ("raid10", "raid5", "raid6")
_CLASS_WORDS: Final = {
    "client": "for clients",
    "hdd": "disk",
    "nvme": "NVMe",
    "pcie": "PCIe",
    "sas": "SAS",
    "sata": "SATA",
    "scsi": "SCSI",
    "nl": "nearline",
    "smr": "shingled disk",
    "10k": "disk, 10,000 rpm",
    "15k": "disk, 15,000 rpm",
    "3d": "3D",
    "xpoint": "XPoint",
    "gen1": "PCIe 1.0",
    "gen2": "PCIe 2.0",
    "gen3": "PCIe 3.0",
    "gen4": "PCIe 4.0",
    "gen5": "PCIe 5.0",
    "slc": "SLC",
    "mlc": "MLC",
    "tlc": "TLC",
    "qlc": "QLC",
    "cache": "with a cache",
    "raid": "RAID controller",
    "hba": "HBA, no RAID of its own",
}
_DEFAULT_DRIVE: Final = "dc600m-960"
_SHEET: Final = """\
# What a drive's data sheet states; lines that it does not state are left out.
kind = "ssd"
name = "my-drive"
title = "Maker, model, 7.68 TB"
capacity = "7.68 TB"
interface = "pcie-4.0-x4"  # or sata-6g, sas-12g
cell = "tlc"
sequential_read = "7000 MB/s"
sequential_write = "5500 MB/s"
random_read = "1000000 IO/s"  # 4 KiB
random_write = "180000 IO/s"  # 4 KiB, in steady state
dwpd = 1
"""
"""To be filled in and uploaded: docs/how-to/from-a-data-sheet.md."""
_PROFILE_WORDS: Final = {
    "database": "database (random 8 KiB, 67 % reads)",
    "file-server": "file server (random 64 KiB, 67 % reads)",
    "file-copy": "file copy (random 64 KiB, half reads)",
    "streaming": "streaming (sequential reads)",
    "restore": "restore (sequential writes)",
    "oltp": "on-line transactions with a log",
    "mail": "mail server",
    "vdi-boot": "virtual desktops that boot",
    "vdi-steady": "virtual desktops at work",
    "file": "file server, mixed sizes",
    "web": "web server",
    "backup": "backup, four streams",
    "video": "video, 48 readers and a writer",
    "log": "message log, twelve partitions",
    "object-store": "object store",
    "ai-training": "training of a model: readers of samples",
    "ai-checkpoint": "training of a model: checkpoints",
    "spc-1-like": "like SPC-1",
}


@dataclass(frozen=True)
class Offered:
    """A device that can be chosen."""

    name: str
    family: str
    words: str


def _words(family: str) -> str:
    return " ".join(_CLASS_WORDS.get(part, part) for part in family.split("-"))


@cache
def drives() -> tuple[Offered, ...]:
    """Drives of the catalogue that can form an array, by class and name."""
    found = []
    for device in catalogue():
        spec, family = device.spec, class_of(device)
        if isinstance(spec, DriveSpec) and family:
            found.append(Offered(spec.name, _words(family), spec.title or spec.name))
    return tuple(sorted(found, key=lambda each: (each.family, each.words)))


@cache
def controllers() -> tuple[Offered, ...]:
    """Controllers of the catalogue, by class and name."""
    found = [
        Offered(device.spec.name, _words(class_of(device)), device.spec.title or device.spec.name)
        for device in catalogue()
        if isinstance(device.spec, ControllerSpec)
    ]
    return tuple(sorted(found, key=lambda each: (each.family, each.words)))


def page() -> str:
    """The page, whole."""
    own = {
        each.name: each.read_text("utf-8")
        for each in files("raidlab.notebooks.planner").joinpath("templates").iterdir()
    }
    offered = {
        "drives": [vars(each) for each in drives()],
        "controllers": [vars(each) for each in controllers()],
        "drive": _DEFAULT_DRIVE,
        "sheet": _SHEET,
        "rates": [name for name in get_args(AnyProfile) if takes_rate(name)],
    }
    return pages.rendered(
        own["planner.html.j2"],
        style=f"{pages.style()}\n{own['planner.css']}",
        script="\n".join([pages.drawing(), own["planner.js"]]),
        offered=json.dumps(offered).replace("</", "<\\/"),
        profiles=_PROFILE_WORDS,
        levels={name: LEVELS[name] for name in _LEVELS_SHOWN},
        chosen_levels=_LEVELS_CHOSEN,
        version=raidlab.__version__,
    )
