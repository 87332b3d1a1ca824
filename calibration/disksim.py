"""DiskSim 4 disks become device files: what `raidlab import disksim` does.

Layout and mechanics (`dm_disk`), buffer, overheads and bus phases (`disksim_disk`) and the time
of a sector on the bus (`disksim_bus`) become one data sheet of `kind = "hdd"`. What a file holds
that has no counterpart is told in notes. See docs/files/disksim.md for the correspondence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from raidlab.calibration.disksim_syntax import (
    Block,
    Parameters,
    Value,
    Word,
    fault,
    read_parameters,
)
from raidlab.devices.faults import Fault, SpecError

_SECTOR = 512
_SPARING = {1: "track", 3: "track-end", 7: "slip-only", 8: "range", 9: "zone"}
_ORDER = {0: "cylinder", 1: "serpentine"}
_READ_AHEAD = {0: "none", 1: "track-end", 3: "fixed", 4: "next-track"}
_POLICY = {1: "first-come", 3: "c-look", 4: "c-look", 6: "shortest-access"}


@dataclass
class Imported:
    """A device made of a DiskSim parameter file."""

    values: dict[str, Any]
    """The device file's tree, units and sources included."""
    notes: list[str] = field(default_factory=list)
    """What the file holds that is not supported or left out, for people."""

    def to_toml(self) -> str:
        """The device file."""
        return f"# {self.values['title']}: made by `raidlab import disksim`.\n{_toml(self.values)}"


class _Entries:
    """Typed access to a block's entries, with faults that name file, line, key and value."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def _at(self, value: Value | None) -> Word:
        if isinstance(value, Word):
            return value
        if isinstance(value, Block):
            return value.at
        return self.block.at

    def has(self, key: str) -> bool:
        return key.lower() in self.block.entries

    def get(self, key: str) -> Value:
        value = self.block.entries.get(key.lower())
        if value is None:
            name = f"{self.block.type} {self.block.name}".strip()
            raise fault(self.block.at, name, None, f'misses the key "{key}"')
        return value

    def word(self, key: str) -> Word:
        value = self.get(key)
        if not isinstance(value, Word):
            raise fault(self._at(value), key, None, "a single value")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        if default is not None and not self.has(key):
            return default
        word = self.word(key)
        return _number(word, key)

    def whole(self, key: str, default: int | None = None) -> int:
        number = self.number(key, default)
        if number != int(number):
            raise fault(self.word(key), key, self.word(key).text, "a whole number")
        return int(number)

    def items(self, key: str) -> list[Value]:
        if not self.has(key):
            return []
        value = self.get(key)
        if not isinstance(value, list):
            raise fault(self._at(value), key, None, "a list: [ ... ]")
        return value

    def numbers(self, key: str) -> list[float]:
        return [
            _number(item, key) if isinstance(item, Word) else self._no_number(item, key)
            for item in self.items(key)
        ]

    def _no_number(self, item: Value, key: str) -> float:
        raise fault(self._at(item), key, None, "a list of numbers")

    def child(self, key: str, kind: str) -> _Entries:
        value = self.get(key)
        if not isinstance(value, Block) or value.type != kind:
            found = value.type if isinstance(value, Block) else self._at(value).text
            raise fault(self._at(value), key, found, f"a block of type {kind}: no other is known")
        return _Entries(value)


def _number(word: Word, key: str) -> float:
    try:
        number = float(word.text)
    except ValueError:
        raise fault(word, key, word.text, "a number") from None
    if not abs(number) < 1e15:
        raise fault(word, key, word.text, "a number below 1e15")
    return number


def import_disksim(path: Path) -> Imported:
    """Reads a `.parv` file, or a `.diskspecs` one, and all that it includes.

    Raises:
        SpecError: A file is missing, is not of this form, or holds a layout or a seek curve of a
            kind that raidlab does not have.
    """
    parameters = read_parameters(path)
    disk = _Entries(_disk(parameters, path))
    notes: list[str] = []
    mechanics = disk.child("Model", "dm_disk")
    bus = _bus(parameters)
    geometry = _geometry(mechanics, notes)
    values: dict[str, Any] = {
        "kind": "hdd",
        "name": re.sub(r"[^a-z0-9.+-]+", "-", path.stem.lower()).strip("-") or "disk",
        "title": f"{disk.block.name.replace('_', ' ')}, from DiskSim's {path.name}",
        "queue_depth": max(1, disk.whole("Max queue length", 1)),
    }
    mechanical = mechanics.child("Mechanical Model", "dm_mech_g1")
    values["speed"] = f"{mechanical.number('Rotation speed (in rpms)'):g} rpm"
    # DiskSim's clock starts with sector 0 of cylinder 0 under its head.
    values["initial_turn"] = 0.0
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


def _bus(parameters: Parameters) -> _Entries | None:
    """The bus that the disk hangs on: the last one before it in the topology."""
    topology = parameters.topology
    before = topology[: topology.index("disksim_disk")] if "disksim_disk" in topology else []
    instances = [following for word, following in pairwise(before) if word == "disksim_bus"]
    if not instances:
        return None
    name = parameters.instances.get(instances[-1], instances[-1])
    for block in parameters.blocks:
        if block.type == "disksim_bus" and block.name.lower() == name:
            return _Entries(block)
    return None


def _geometry(mechanics: _Entries, notes: list[str]) -> dict[str, Any]:
    layout = mechanics.child("Layout Model", "dm_layout_g1")
    sparing = _one_of(layout, "Sparing scheme used", _SPARING)
    geometry: dict[str, Any] = {
        "heads": mechanics.whole("Number of data surfaces"),
        "head_order": _one_of(layout, "LBN-to-PBN mapping scheme", _ORDER, 0),
        "sparing": sparing,
    }
    if sparing == "range":
        geometry["range_cylinders"] = layout.whole("Rangesize for sparing")
    if layout.has("Skew units"):
        units = layout.word("Skew units")
        raise fault(units, "Skew units", units.text, "nothing: skews are read as sectors")
    zones = []
    for number, item in enumerate(layout.items("Zones")):
        if not isinstance(item, Block):
            raise fault(layout.block.at, "Zones", None, "blocks of type dm_layout_g1_zone")
        zones.append(_zone(_Entries(item), number, geometry, notes))
    geometry["zones"] = zones
    return geometry


def _zone(
    zone: _Entries, number: int, geometry: dict[str, Any], notes: list[str]
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "first_cylinder": zone.whole("First cylinder number"),
        "last_cylinder": zone.whole("Last cylinder number"),
        "sectors_per_track": zone.whole("Blocks per track"),
    }
    per_track = max(1, values["sectors_per_track"])
    for key, theirs in (
        ("offset", "Offset of first block"),
        ("track_skew", "Skew for track switch"),
        ("cylinder_skew", "Skew for cylinder switch"),
    ):
        # A turn more or less is the same angle.
        values[key] = zone.whole(theirs, 0) % per_track
    values["empty"] = zone.whole("Empty space at zone front", 0)
    spares = zone.whole("Number of spares", 0)
    values["spares"] = 0 if geometry["sparing"] == "slip-only" else spares
    slips = [int(slip) for slip in zone.numbers("slips")]
    values["slips"] = _fitting(slips, values, geometry, number, notes)
    values["defects"] = _defects(zone)
    return values


def _fitting(
    slips: list[int],
    zone: dict[str, Any],
    geometry: dict[str, Any],
    number: int,
    notes: list[str],
) -> list[int]:
    """The slips that the spares of their track, range or zone make up for."""
    left: Callable[[int], tuple[int, int]]
    if geometry["sparing"] == "range":
        span = geometry["range_cylinders"] * geometry["heads"] * zone["sectors_per_track"]
        cylinders = zone["last_cylinder"] - zone["first_cylinder"] + 1
        whole = cylinders // max(1, geometry["range_cylinders"])

        def left(slip: int) -> tuple[int, int]:
            lot = slip // max(1, span)
            return lot, zone["spares"] if lot < whole else 0

    elif geometry["sparing"] == "slip-only":
        return slips
    else:
        # Spares at each track's end know no slips.
        spares_in_all = 0 if geometry["sparing"] == "track-end" else zone["spares"]

        def left(slip: int) -> tuple[int, int]:
            return 0, spares_in_all

    used: dict[int, int] = {}
    kept = []
    for slip in slips:
        lot, spares = left(slip)
        if used.get(lot, 0) < spares:
            used[lot] = used.get(lot, 0) + 1
            kept.append(slip)
    if len(kept) < len(slips):
        lost = len(slips) - len(kept)
        notes.append(f"zone {number}: {lost} slips beyond what its spares make up for, left out")
    return kept


def _defects(zone: _Entries) -> list[list[int]]:
    """Pairs of bad sector and replacement; one that is its own replacement has no effect."""
    numbers: list[int] = []
    for item in zone.items("defects"):
        for part in item if isinstance(item, list) else [item]:
            if not isinstance(part, Word):
                raise fault(zone.block.at, "defects", None, "pairs of numbers")
            numbers.append(int(_number(part, "defects")))
    if len(numbers) % 2:
        raise fault(zone.block.at, "defects", f"{len(numbers)} numbers", "pairs of numbers")
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [[bad, replacement] for bad, replacement in pairs if bad != replacement]


def _one_of(entries: _Entries, key: str, known: dict[int, str], default: int | None = None) -> str:
    number = entries.whole(key, default)
    if number not in known:
        allowed = ", ".join(f"{value} ({name})" for value, name in known.items())
        raise fault(entries.word(key), key, str(number), f"not supported; what is: {allowed}")
    return known[number]


def _seek(mechanical: _Entries) -> dict[str, Any]:
    return {
        "read": _curve(mechanical),
        "write_settle": _ms(mechanical.number("Add. write settling delay", 0.0)),
        "head_switch": _ms(mechanical.number("Head switch time")),
    }


def _curve(mechanical: _Entries) -> dict[str, Any]:
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
            "first": [_ms(time) for time in first],
            "line_from": int(hpl[0]),
            "root": [_ms(hpl[1]), _ms(hpl[2])],
            "line": [_ms(hpl[3]), _ms(hpl[4])],
        }
    single, full = "Single cylinder seek time", "Full strobe seek time"
    if kind == "curve":
        return {
            "single": _ms(mechanical.number(single)),
            "average": _ms(mechanical.number("Average seek time")),
            "full": _ms(mechanical.number(full)),
        }
    if kind == "constant":
        return {"distances": [1, 2], "times": [_ms(mechanical.number(single))] * 2}
    allowed = "not supported; what is: extracted, hplplus10, hpl, curve, constant"
    raise fault(word, "Seek type", word.text, allowed)


def _read_seek(name: Word) -> dict[str, Any]:
    """A `.seek` file: a header with a count, then `distance, ms` and perhaps a deviation."""
    path = name.file.parent / name.text
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "cannot be read"
        raise fault(name, "Full seek curve", name.text, why) from None
    distances: list[int] = []
    times: list[str] = []
    for number, line in enumerate(lines[1:], 2):
        parts = line.replace(",", " ").split()
        if not parts:
            continue
        at = Word(line, path, number)
        if len(parts) not in (2, 3):
            raise fault(at, "", line.strip(), '"distance, milliseconds"')
        distance, time = (_number(Word(part, path, number), "") for part in parts[:2])
        if distance < 1 or distance != int(distance) or time < 0:
            raise fault(at, "", line.strip(), "cylinders from 1 on and a time from 0 on")
        if distances and distance <= distances[-1]:
            raise fault(at, "", line.strip(), f"more than {distances[-1]} cylinders")
        distances.append(int(distance))
        times.append(_ms(time))
    if not distances:
        raise fault(name, "Full seek curve", name.text, "a file with at least one distance")
    return {"distances": distances, "times": times}


def _buffer(disk: _Entries, notes: list[str]) -> dict[str, Any]:
    sectors = disk.whole("Segment size (in blks)")
    ahead = disk.whole("Buffer continuous read", 0)
    if ahead not in _READ_AHEAD:
        notes.append(f"Buffer continuous read = {ahead}: not supported, taken as 3")
        ahead = 3
    if not disk.whole("Enable caching in buffer", 1):
        notes.append("Enable caching in buffer = 0: not supported, segments serve hits")
    policy = _READ_AHEAD[ahead]
    limit = min(disk.whole("Maximum read-ahead (blks)", 0), sectors)
    if policy in ("fixed", "track-end") and limit == 0:
        policy = "none"
    values: dict[str, Any] = {
        "segments": disk.whole("Number of buffer segments"),
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


def _scheduler(disk: _Entries, notes: list[str]) -> dict[str, Any]:
    if not disk.has("Scheduler"):
        return {"policy": "first-come"}
    scheduler = disk.child("Scheduler", "disksim_ioqueue")
    policy = scheduler.whole("Scheduling policy", 1)
    if policy not in _POLICY:
        notes.append(f"Scheduling policy = {policy}: not supported, taken as first come")
    return {"policy": _POLICY.get(policy, "first-come")}


def _scsi_bus(disk: _Entries, bus: _Entries | None) -> dict[str, Any]:
    bulk = disk.number("Bulk sector transfer time", 0.0)
    scale = disk.number("Time scale for overheads", 1.0)

    def time(key: str) -> str:
        return _ms(disk.number(key, 0.0) * scale)

    def after(read: str, write: str) -> dict[str, str]:
        return {"after_read": time(read), "after_write": time(write)}

    fast = disk.whole("Fast write level", 0) > 0
    # A drive with fast writes takes the "hit" pair whatever its buffer holds, one without the
    # other pair.
    write = "Write hit over." if fast else "Write miss over."
    values: dict[str, Any] = {
        "read_sector": _ms(max(bulk, bus.number("Read block transfer time", 0.0) if bus else 0.0)),
        "write_sector": _ms(
            max(bulk, bus.number("Write block transfer time", 0.0) if bus else 0.0)
        ),
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
        "minimum_seek": _ms(disk.number("Minimum seek delay", 0.0)),
        "read_water_mark": disk.number("High (read) water mark", 0.0),
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


def _unsupported(disk: _Entries, mechanical: _Entries, notes: list[str]) -> None:
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


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.6f}".rstrip("0").rstrip(".") + " ms"


def _toml(values: dict[str, Any]) -> str:
    """A tree of tables, lists of tables and plain values as TOML."""
    lines: list[str] = []
    _write_table(values, (), lines)
    return "\n".join(lines).strip() + "\n"


def _write_table(table: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    nested = []
    for key, value in table.items():
        many = isinstance(value, list) and value and isinstance(value[0], dict)
        small = (
            isinstance(value, dict)
            and path
            and not any(isinstance(item, dict | list) for item in value.values())
        )
        if many or (isinstance(value, dict) and not small and "source" not in value):
            nested.append((key, value))
        elif value != []:
            lines.append(f"{key} = {_plain(value)}")
    for key, value in nested:
        inner = (*path, key)
        for item in value if isinstance(value, list) else [value]:
            mark = f"[[{'.'.join(inner)}]]" if isinstance(value, list) else f"[{'.'.join(inner)}]"
            lines.extend(("", mark))
            _write_table(item, inner, lines)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_plain(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)
