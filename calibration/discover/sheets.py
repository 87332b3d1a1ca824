"""Device files of a machine: a like device of the catalogue with what captures state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from raidlab.calibration.discover.facts import Controller, Drive, Host
from raidlab.calibration.discover.matching import Match
from raidlab.calibration.discover.part_numbers import stated_capacity
from raidlab.calibration.discover.quantities import bytes_of
from raidlab.devices.catalogue import find
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.hdd import HddSpec
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.trees import Tree, Value, table_at
from raidlab.devices.units import format_size, is_quantity

NCQ_DEPTH: Final = 32
"""Commands that a SATA drive queues at most (Serial ATA, native command queuing)."""


@dataclass
class Sheet:
    """A device file to write beside a scenario."""

    name: str
    values: Tree
    sources: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Of numbers; those without a note were read from `files`."""
    remarks: list[str] = field(default_factory=list)
    texts: dict[str, bool] = field(default_factory=dict)
    """Keys of texts of its own, and whether they were read from `files` or assumed."""
    files: list[str] = field(default_factory=list)
    """What it was read from."""

    def put(
        self, key: str, value: Value, file: str | None, source: str = "measured",
        note: str = "as the machine's size needs",
    ) -> None:  # fmt: skip
        """Sets a value, `cache.size` too, with the file that it was read from."""
        table, _, name = key.rpartition(".")
        changed = {**table_at(self.values, table), name: value} if table else value
        self.values = {**self.values, table or name: changed}
        if file is not None and file not in self.files:
            self.files.append(file)
        if not isinstance(value, int) and not is_quantity(str(value)):
            # Texts have no source in device files: a remark says where they come from.
            self.texts[key] = file is not None
            return
        if source == "measured" and file is not None:
            self.sources[key] = {"source": source}
            return
        if source == "measured":
            source, note = "assumed", "no capture names the drives: by the array's size"
        self.sources[key] = {"source": source, "note": note}

    @property
    def text(self) -> str:
        """The file."""
        where = read_from(self.files)
        sources = {
            key: {**each, "note": each.get("note", where)} for key, each in self.sources.items()
        }
        texts = [f"{key}: {where if read else 'assumed'}." for key, read in self.texts.items()]
        return device_toml(self.values, sources, [*self.remarks, *texts])

    def is_like(self, other: Sheet) -> bool:
        """True of the same device, whatever files say it."""
        one, two = ((each.values, each.sources, each.remarks, each.texts) for each in (self, other))
        return one == two

    def join(self, other: Sheet) -> None:
        """Takes over the files of a like device."""
        self.files += [file for file in other.files if file not in self.files]


_FILES_SHOWN: Final = 3


def read_from(files: Sequence[str]) -> str:
    """Where something was read, the first files by name."""
    unlike = list(dict.fromkeys(files))
    more = len(unlike) - _FILES_SHOWN
    others = f" and {more} more" if more > 0 else ""
    return f"read from {', '.join(unlike[:_FILES_SHOWN])}{others}"


def slug(text: str) -> str:
    """A name for a device file: small letters, digits, dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "unknown"


def drive_sheet(drive: Drive, match: Match) -> Sheet | None:
    """The drive as the machine states it; None where the catalogue's device is the same."""
    base = match.device or match.stand_in
    if base is None:
        return None
    device = find(base, kind=DriveSpec)
    spec = device.spec
    if not isinstance(spec, HddSpec | SsdSpec):
        return None
    file = drive.read_from
    name = slug(f"own-{drive.model or base}")
    size = f" of {format_size(drive.bytes)}" if drive.bytes else ""
    title = drive.model or drive.family or f"{(drive.kind or 'drive').upper()}{size}"
    sheet = Sheet(
        name, {"kind": spec.kind, "name": name, "title": f"{title}, as discovered", "like": base}
    )
    sheet.remarks = [f"{title}: {match.reason}.", f"What is not here is {base}'s."]
    own = drive.bytes or (None if match.device else stated_capacity(drive.model or ""))
    if own and abs(own / spec.capacity_bytes(DriveOptions()) - 1) > 0.025:
        unit = 512 if isinstance(spec, HddSpec) else spec.mapping_unit
        capacity = f"{own // unit * unit} B"
        if drive.bytes:
            sheet.put("capacity", capacity, file)
        else:
            sheet.put("capacity", capacity, None, "derived", "by its part number")
        if isinstance(spec, SsdSpec):
            ratio = own / spec.capacity_bytes(DriveOptions())
            blocks = max(8, -(-spec.nand.blocks_per_plane * ratio // 1))
            sheet.put("nand.blocks_per_plane", int(blocks), file, "derived")
    depth = drive.queue_depth
    family = (drive.interface or "").partition("-")[0]
    if depth is None and family == "sata" and spec.queue_depth > NCQ_DEPTH:
        sheet.put("queue_depth", NCQ_DEPTH, None, "derived", "native command queuing's most")
    elif depth is not None and 1 <= depth <= 256 and depth != spec.queue_depth:
        sheet.put("queue_depth", depth, file)
    if isinstance(spec, HddSpec) and drive.rpm and drive.rpm != round(spec.speed):
        sheet.put("speed", f"{drive.rpm} rpm", file)
    interface = _interface(drive) or _assumed_interface(family, spec.interface)
    if interface is not None and interface != spec.interface:
        sheet.put("interface", interface, file)
    return sheet if sheet.sources or sheet.texts else None


def _assumed_interface(family: str, base: str | None) -> str | None:
    """The usual generation, where a capture says SATA or SAS alone and the stand-in is neither."""
    usual = {"sata": "sata-6g", "sas": "sas-12g"}.get(family)
    return None if (base or "").startswith(f"{family}-") else usual


def _interface(drive: Drive) -> str | None:
    """The interface to simulate: what has been negotiated, as a drive cannot be faster today."""
    text = drive.link_now or drive.interface or ""
    if re.fullmatch(r"(sata|sas)-[\d.]+g", text):
        return text
    if drive.interface == "nvme" and drive.link is not None and drive.link.gen and drive.link.width:
        return f"pcie-{drive.link.gen}.0-x{drive.link.width}"
    return None


_BACKUPS = {"bbu": "bbu", "battery": "bbu", "cachevault": "fbu", "capacitor": "fbu",
            "supercap flash": "fbu", "energy pack": "fbu", "none": "none"}  # fmt: skip


def backup_of(controller: Controller) -> str | None:
    """`bbu`, `fbu` or `none` of what a capture calls the backup; None if it does not say."""
    return _BACKUPS.get(controller.backup or "")


def controller_sheet(controller: Controller, match: Match, levels: Sequence[str]) -> Sheet | None:
    """The controller with its own cache, backup, link; None where the catalogue's is the same."""
    base = match.device or match.stand_in
    if base is None:
        return None
    spec = find(base, kind=ControllerSpec).spec
    if not isinstance(spec, ControllerSpec):
        return None
    file = controller.read_from
    name = slug(f"own-{controller.model or base}")
    title = f"{controller.model or base}, as discovered"
    sheet = Sheet(name, {"kind": "controller", "name": name, "title": title, "like": base})
    sheet.remarks = [f"{controller.model}: {match.reason}.", f"What is not here is {base}'s."]
    size = bytes_of(controller.cache)
    if spec.cache is not None and size and size != spec.cache.size:
        sheet.put("cache.size", controller.cache, file)
    backup = backup_of(controller)
    if spec.cache is not None and backup is not None and backup not in spec.cache.backup:
        sheet.put("cache.backup", ["none", backup], file)
    link = controller.link
    if link is not None and link.gen and link.width:
        trained = f"pcie-{link.gen}.0-x{link.width}"
        if trained != spec.link:
            sheet.put("link", trained, file)
    lacking = [level for level in levels if level not in spec.levels]
    if lacking:
        sheet.put("levels", [*spec.levels, *lacking], file)
    return sheet if sheet.sources or sheet.texts else None


def host_sheet(host: Host, drives: Sequence[Drive], base: str) -> Sheet | None:
    """The host with its own threads, clock is the model's; the drives' scheduler and requests."""
    spec = find(base, kind=HostSpec).spec
    sheet = Sheet("own-host", {"kind": "host", "name": "own-host", "like": base})
    sheet.values["title"] = f"{host.cpu or host.name or 'Host'}, as discovered"
    sheet.remarks = [f"What is not here is {base}'s."]
    if host.threads and isinstance(spec, HostSpec) and host.threads != spec.threads:
        sheet.put("threads", min(host.threads, 1024), host.read_from)
    names = {"mq-deadline": "deadline", "deadline": "deadline", "none": "none", "noop": "none",
             "cfq": "fair", "bfq": "fair"}  # fmt: skip
    stated = {names[d.scheduler] for d in drives if d.scheduler in names}
    requests = {each.requests for each in drives if each.requests}
    file = next((each.read_from for each in drives if each.scheduler), None)
    if len(stated) == 1:
        sheet.put("block_layer.scheduler", stated.pop(), file)
        if len(requests) == 1:
            sheet.put("block_layer.requests", requests.pop(), file)
    return sheet if sheet.sources or sheet.texts else None
