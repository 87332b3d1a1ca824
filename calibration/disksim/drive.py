"""DiskSim 4 disks become device files: what `raidlab import disksim` does.

Layout and mechanics (`dm_disk`), buffer, overheads and bus phases (`disksim_disk`) and the time
of a sector on the bus (`disksim_bus`) become one data sheet of `kind = "hdd"`. What a file holds
that has no counterpart is named in notes. See docs/reference/formats/disksim.md for the
correspondence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from raidlab.calibration.disksim.entries import Entries, Range, milliseconds, number_of
from raidlab.calibration.disksim.geometry import geometry_of
from raidlab.calibration.disksim.syntax import (
    Block,
    Parameters,
    Word,
    fault,
    read_parameters,
)
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_text
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import Tree, table_at

_SECTOR = 512
_SHORT_MS: Range = (0, 1000)
"""Of an overhead, a movement, a sector on the bus."""
_READ_AHEAD = {0: "none", 1: "track-end", 3: "fixed", 4: "next-track"}
_POLICY = {1: "first-come", 3: "c-look", 6: "c-look", 8: "shortest-access"}
"""By DiskSim's numbers (`disksim_ioqueue.h`): CYCLE of sectors and of cylinders, SPTF."""


@dataclass
class Imported:
    """A device made of a DiskSim parameter file."""

    values: Tree
    """The device file's tree, units and sources included."""
    notes: list[str] = field(default_factory=list)
    """What the file holds that is not supported or left out, for people."""

    def to_toml(self) -> str:
        """The device file."""
        head = [f"{self.values['title']}: made by `raidlab import disksim`."]
        tree = {key: value for key, value in self.values.items() if key != "sources"}
        return device_toml(tree, table_at(self.values, "sources"), head)


def import_disksim(path: Path) -> Imported:
    """Reads a `.parv` file, or a `.diskspecs` one, and all that it includes.

    Raises:
        SpecError: A file is missing, is not of this form, or holds a layout or a seek curve of a
            kind that raidlab does not have.
    """
    parameters = read_parameters(path)
    disk = Entries(_disk(parameters, path))
    notes: list[str] = []
    mechanics = disk.child("Model", "dm_disk")
    bus = _bus(parameters)
    geometry = geometry_of(mechanics, notes)
    values: Tree = {
        "kind": "hdd",
        "name": re.sub(r"[^a-z0-9.+-]+", "-", path.stem.lower()).strip("-") or "disk",
        "title": f"{disk.block.name.replace('_', ' ')}, from DiskSim's {path.name}",
        "queue_depth": max(1, disk.whole("Max queue length", 1, (0, 4096))),
    }
    mechanical = mechanics.child("Mechanical Model", "dm_mech_g1")
    speed = mechanical.number("Rotation speed (in rpms)", None, (300, 100_000))
    values["speed"] = f"{speed:.12g} rpm"
    # DiskSim's clock starts with sector 0 of cylinder 0 under its head.
    values["speed_tolerance"] = 0.0
    values["initial_angle"] = 0.0
    values["scheduler"] = _scheduler(disk, notes)
    values["buffer"] = _buffer(disk, notes)
    values["seek"] = _seek(mechanical)
    values["scsi_bus"] = _scsi_bus(disk, bus)
    values["geometry"] = geometry
    note = f"extracted from the drive itself by DIXtrac; DiskSim 4 parameters {path.name}"
    values["sources"] = {"all": {"source": "measured", "note": note}}
    _unsupported(disk, mechanical, notes)
    return Imported(values, notes)


def _disk(parameters: Parameters, path: Path) -> Block:
    disks = [block for block in parameters.blocks if block.type == "disksim_disk"]
    wanted = {
        block
        for instance, block in parameters.instances.items()
        if not parameters.topology or _follows(parameters.topology, "disksim_disk", instance)
    }
    chosen = [block for block in disks if block.name.lower() in wanted] or disks
    if len(chosen) != 1:
        names = ", ".join(block.name for block in chosen) or "none"
        allowed = "exactly one disksim_disk block, or an `instantiate` that picks one"
        raise SpecError([Fault("disksim_disk", names, allowed, (), str(path))])
    return chosen[0]


def _follows(words: list[str], kind: str, instance: str) -> bool:
    return any(word == kind and following == instance for word, following in pairwise(words))


def _bus(parameters: Parameters) -> Entries | None:
    """The bus that the disk hangs on: the last one before it in the topology."""
    topology = parameters.topology
    before = topology[: topology.index("disksim_disk")] if "disksim_disk" in topology else []
    instances = [following for word, following in pairwise(before) if word == "disksim_bus"]
    if not instances:
        return None
    name = parameters.instances.get(instances[-1], instances[-1])
    for block in parameters.blocks:
        if block.type == "disksim_bus" and block.name.lower() == name:
            return Entries(block)
    return None


def _seek(mechanical: Entries) -> Tree:
    return {
        "read": _curve(mechanical),
        "write_settle": milliseconds(
            mechanical.number("Add. write settling delay", 0.0, (-1000, 1000))
        ),
        "head_switch": milliseconds(mechanical.number("Head switch time", None, _SHORT_MS)),
    }


def _curve(mechanical: Entries) -> Tree:
    word = mechanical.word("Seek type")
    kind = word.text.lower()
    if kind == "extracted":
        return _read_seek(mechanical.word("Full seek curve"))
    if kind in ("hpl", "hplplus10"):
        hpl = mechanical.numbers("HPL seek equation values")
        if len(hpl) != 6:
            allowed = "six numbers"
            raise fault(word, "HPL seek equation values", f"{len(hpl)} numbers", allowed)
        first = mechanical.numbers("First ten seek times") if kind == "hplplus10" else []
        if kind == "hpl" and hpl[5] >= 0:
            first = [hpl[5]]
        return {
            "first": [milliseconds(time) for time in first],
            "line_from": int(hpl[0]),
            "root": [milliseconds(hpl[1]), milliseconds(hpl[2])],
            "line": [milliseconds(hpl[3]), milliseconds(hpl[4])],
        }
    single, full = "Single cylinder seek time", "Full strobe seek time"
    if kind == "curve":
        return {
            "single": milliseconds(mechanical.number(single)),
            "average": milliseconds(mechanical.number("Average seek time")),
            "full": milliseconds(mechanical.number(full)),
        }
    if kind == "constant":
        return {"distances": [1, 2], "times": [milliseconds(mechanical.number(single))] * 2}
    allowed = "not supported; what is: extracted, hplplus10, hpl, curve, constant"
    raise fault(word, "Seek type", word.text, allowed)


def _read_seek(name: Word) -> Tree:
    """A `.seek` file: a header with a count, then `distance, ms` and perhaps a deviation."""
    path = name.file.parent / name.text
    try:
        lines = read_text(path, 4 * MIB, "seek curve").splitlines()
    except SpecError as error:
        raise fault(name, "Full seek curve", name.text, error.faults[0].allowed) from None
    distances: list[int] = []
    times: list[str] = []
    for number, line in enumerate(lines[1:], 2):
        parts = line.replace(",", " ").split()
        if not parts:
            continue
        at = Word(line, path, number)
        if len(parts) not in (2, 3):
            raise fault(at, "", line.strip(), '"distance, milliseconds"')
        distance, time = (number_of(Word(part, path, number), "") for part in parts[:2])
        if distance < 1 or distance != int(distance) or time < 0:
            raise fault(at, "", line.strip(), "cylinders from 1 on and a time from 0 on")
        if distances and distance <= distances[-1]:
            raise fault(at, "", line.strip(), f"more than {distances[-1]} cylinders")
        distances.append(int(distance))
        times.append(milliseconds(time))
    if not distances:
        raise fault(name, "Full seek curve", name.text, "a file with at least one distance")
    return {"distances": distances, "times": times}


def _buffer(disk: Entries, notes: list[str]) -> Tree:
    sectors = disk.whole("Segment size (in blks)", None, (1, 2**24))
    ahead = disk.whole("Buffer continuous read", 0)
    if ahead not in _READ_AHEAD:
        notes.append(f"Buffer continuous read = {ahead}: not supported, taken as 3")
        ahead = 3
    if not disk.whole("Enable caching in buffer", 1):
        notes.append("Enable caching in buffer = 0: not supported, segments serve hits")
    if disk.whole("Never disconnect", 0) and disk.whole("Immediate buffer read", 0):
        notes.append(
            "Immediate buffer read = 1: without effect with Never disconnect = 1, as the bus takes "
            "each sector when it is read"
        )
    own = int(disk.whole("Use separate write segment", 0) != 0)
    policy = _READ_AHEAD[ahead]
    limit = min(disk.whole("Maximum read-ahead (blks)", 0, (0, 2**40)), sectors)
    if policy in ("fixed", "track-end") and limit == 0:
        policy = "none"
    values: Tree = {
        "segments": disk.whole("Number of buffer segments", None, (1 + own, 4096)),
        "segment": f"{sectors * _SECTOR} B",
        "read_ahead": policy,
    }
    if policy in ("fixed", "track-end"):
        values["read_ahead_limit"] = f"{limit * _SECTOR} B"
    for key, theirs, default in (
        ("read_ahead_on_idle_hit", "Read-ahead on idle hit", 0),
        ("stop_in_sector", "Stop prefetch in sector", 0),
        ("own_write_segment", "Use separate write segment", 0),
        ("read_hits_on_written", "Allow read hits on write data", 1),
        ("read_on_arrival", "Immediate buffer read", 0),
        ("write_on_arrival", "Immediate buffer write", 0),
        ("read_while_waiting", "Read any free blocks", 0),
    ):
        values[key] = bool(disk.whole(theirs, default))
    return values


def _scheduler(disk: Entries, notes: list[str]) -> Tree:
    if not disk.has("Scheduler"):
        return {"policy": "first-come"}
    scheduler = disk.child("Scheduler", "disksim_ioqueue")
    policy = scheduler.whole("Scheduling policy", 1)
    if policy not in _POLICY:
        notes.append(f"Scheduling policy = {policy}: not supported, taken as first come")
    return {"policy": _POLICY.get(policy, "first-come")}


def _scsi_bus(disk: Entries, bus: Entries | None) -> Tree:
    bulk = disk.number("Bulk sector transfer time", 0.0, _SHORT_MS)
    scale = disk.number("Time scale for overheads", 1.0, (0, 1000))

    def time(key: str) -> str:
        most = min(1000, 1000 / scale) if scale else 1000
        return milliseconds(disk.number(key, 0.0, (0, most)) * scale)

    def sector(key: str) -> str:
        return milliseconds(max(bulk, bus.number(key, 0.0, _SHORT_MS) if bus else 0.0))

    def after(read: str, write: str) -> dict[str, str]:
        return {"after_read": time(read), "after_write": time(write)}

    fast = disk.whole("Fast write level", 0) > 0
    # A drive with fast writes takes the "hit" pair whatever its buffer holds, one without the
    # other pair.
    write = "Write hit over." if fast else "Write miss over."
    values: Tree = {
        "read_sector": sector("Read block transfer time"),
        "write_sector": sector("Write block transfer time"),
        "read_hit": after("Read hit over. after read", "Read hit over. after write"),
        "read_miss": after("Read miss over. after read", "Read miss over. after write"),
        "write": after(f"{write} after read", f"{write} after write"),
        "read_completion": time("Read completion overhead"),
        "write_completion": time("Write completion overhead"),
        "data_preparation": time("Data preparation overhead"),
        "first_reselect": time("First reselect overhead"),
        "other_reselect": time("Other reselect overhead"),
        "read_disconnect": after("Read disconnect afterread", "Read disconnect afterwrite"),
        "write_disconnect": time("Write disconnect overhead"),
        "minimum_seek": milliseconds(disk.number("Minimum seek delay", 0.0, _SHORT_MS)),
        "read_water_mark": disk.number("High (read) water mark", 0.0, (0, 1)),
        "hold_bus": bool(disk.whole("Hold bus entire read xfer", 0)),
        "never_disconnect": bool(disk.whole("Never disconnect", 0)),
        "fast_write": fast,
    }
    if disk.whole("Extra write disconnect", 0):
        values["extra_disconnect"] = {
            "command": time("Extradisc command overhead"),
            "disconnect": time("Extradisc disconnect overhead"),
            "between": time("Extradisc inter-disconnect delay"),
            "second_disconnect": time("Extradisc 2nd disconnect overhead"),
            "seek_delta": time("Extradisc seek delta"),
        }
    return values


def _unsupported(disk: Entries, mechanical: Entries, notes: list[str]) -> None:
    """Notes what the file asks for that this model does not do."""
    for key, usual in (
        ("Per-request overhead time", 0),
        ("Allow almost read hits", 0),
        ("Allow sneaky full read hits", 0),
        ("Allow sneaky partial read hits", 0),
        ("Allow sneaky intermediate read hits", 0),
        ("Allow write prebuffering", 0),
        ("Preseeking level", 0),
        ("Set watermark by reqsize", 1),
        ("Minimum read-ahead (blks)", 0),
        ("Disconnect write if seek", 0),
        ("Read directly to buffer", 1),
        ("Immed transfer partial hit", 1),
    ):
        value = disk.number(key, usual)
        if value != usual:
            notes.append(f"{key} = {value:g}: not supported, as if {usual}")
    error = mechanical.number("Percent error in rpms", 0.0)
    if error:
        notes.append(f"Percent error in rpms = {error:g}: not supported, as if 0")
