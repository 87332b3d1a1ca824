"""Facts of several captures become those of one machine.

A part is one part though several tools show it: drives by serial number, by name, by the
controller's device number; controllers by address, by index, by model; arrays by name. What a
better source says stays: exact sizes before rounded ones, /sys for queues and caches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Final, TypeVar

from raidlab.calibration.discover.facts import (
    UNNAMED,
    Array,
    Controller,
    Drive,
    Facts,
    Host,
    Volume,
    VolumeCache,
)
from raidlab.calibration.discover.members import name_members

Part = TypeVar("Part", Array, Controller, Drive, Volume)

_RANK = (
    "sysfs", "smartctl", "nvme-id-ctrl", "nvme-list", "nvme-smart-log", "storcli", "storcli2",
    "perccli", "perccli2", "megacli", "ssacli", "hpssacli", "hpacucli", "arcconf", "sas3ircu",
    "sas2ircu", "tw_cli", "areca", "mdadm", "mdstat", "lvm", "multipath", "lspci", "hdparm",
    "host", "lsblk", "lsscsi", "lshw", "hwinfo", "dmidecode",
)  # fmt: skip
"""Sources, the best first: what an earlier one says is not replaced."""


def merged(parts: Sequence[Facts]) -> Facts:
    """The facts of all captures; contradictions and what was refused become warnings."""
    if len(parts) == 1:
        return parts[0]
    whole = Facts(", ".join(dict.fromkeys(each.source for each in parts if each.source)))
    ranks = {name: place for place, name in enumerate(_RANK)}
    order = sorted(parts, key=lambda each: ranks.get(each.source, len(ranks)))
    for each in order:
        for controller in each.controllers:
            _add(whole.controllers, controller, _same_controller)
        for drive in each.drives:
            _add(whole.drives, drive, _same_drive)
        for array in each.arrays:
            _check_places(whole, array)
            _add(whole.arrays, array, _same_array)
        for volume in each.volumes:
            _add(whole.volumes, volume, lambda a, b: a.name == b.name)
        whole.links += [link for link in each.links if link not in whole.links]
        whole.stated += each.stated
        whole.stack |= each.stack
        whole.reads |= each.reads
        whole.drives_hidden += [n for n in each.drives_hidden if n not in whole.drives_hidden]
        whole.repaired |= each.repaired
        if each.encrypted is not None:
            whole.encrypted = bool(whole.encrypted) or each.encrypted
        for name in (each.name for each in fields(whole.host)):
            value = getattr(each.host, name)
            if getattr(whole.host, name) in (None, UNNAMED) and value is not None:
                setattr(whole.host, name, value)
        for warning in each.warnings:
            whole.warn(warning.code, warning.text)
    files = dict.fromkeys(e.host.read_from for e in order if e.host.read_from is not None)
    whole.host.read_from = ", ".join(files) or None
    _drop_paths(whole)
    _without_identity(whole)
    name_members(whole)
    _check_members(whole)
    _check_names(whole)
    _check_hosts(whole, [each.host for each in order])
    return whole


def _add(known: list[Part], part: Part, same: Callable[[Part, Part], bool]) -> None:
    """Adds a part, or completes the one that it is."""
    for other in known:
        if same(other, part):
            complete(other, part)
            return
    known.append(part)


def complete(part: Part, other: Part) -> None:
    """Takes over what `part` does not know; an exact size replaces a rounded one."""
    if isinstance(part, Drive) and isinstance(other, Drive):
        rounded = part.approximate or part.slot is not None
        if other.bytes and not other.approximate and rounded and part.bytes != other.bytes:
            part.bytes, part.approximate = other.bytes, None
        if part.model and other.model and other.model.startswith(part.model):
            part.model = other.model
        if part.interface in ("sas", "sata") and (other.interface or "").startswith(part.interface):
            part.interface = other.interface
    if isinstance(part, Volume) and isinstance(other, Volume) and part.cache and other.cache:
        _fill(part.cache, other.cache)
    _fill(part, other)


def _fill(part: Part | VolumeCache, other: Part | VolumeCache) -> None:
    for each in fields(part):
        if getattr(part, each.name) is None:
            setattr(part, each.name, getattr(other, each.name))


_ROUNDED: Final = 1.1
"""Sizes of one drive in two tools, one of them rounded or in units of 1024, over each other."""


def last_part(path: str | None) -> str:
    """`sda` of `/dev/sda`; empty without a path."""
    return (path or "").rpartition("/")[2]


def device_name(name: str | None) -> str | None:
    """`sda` of `/dev/sda`, `nvme0` of `nvme0n1`; None behind a controller."""
    if not name or " " in name or "/bus/" in name:
        return None
    plain = last_part(name)
    return re.sub(r"^(nvme\d+)n\d+$", r"\1", plain)


def _same_drive(one: Drive, other: Drive) -> bool:
    if one.serial and other.serial:
        return one.serial == other.serial and not _contradict(one, other)
    if one.did is not None and other.did is not None:
        behind = (one.behind == "megaraid") != (other.behind == "megaraid")
        return one.did == other.did and behind
    names = device_name(one.name), device_name(other.name)
    if None not in names:
        return names[0] == names[1] and _alike(one.model, other.model)
    if one.slot and other.slot:
        return one.slot == other.slot and one.controller == other.controller
    return bool(one.address and one.address == other.address)


def _contradict(one: Drive, other: Drive) -> bool:
    """True of drives of another model and another size: a serial number that is no drive's own.

    Captures whose serial numbers were blanked out have the same word in all of them.
    """
    if not one.model or not other.model or not one.bytes or not other.bytes:
        return False
    larger, smaller = max(one.bytes, other.bytes), min(one.bytes, other.bytes)
    return not _alike(one.model, other.model) and larger > _ROUNDED * smaller


def _alike(one: str | None, other: str | None) -> bool:
    """True if two models may be one: some tools cut them, some put the vendor before."""
    first, second = (re.sub(r"\W+", "", each or "").lower() for each in (one, other))
    return first in second or second in first


def _same_controller(one: Controller, other: Controller) -> bool:
    one_at, other_at = one.pci or one.address, other.pci or other.address
    if one_at and other_at:
        return one_at == other_at
    if one.index is not None and other.index is not None and one.index == other.index:
        return one.model is None or other.model is None or one.model == other.model
    if one.index is None and other.index is None and one.slot is not None:
        return one.slot == other.slot
    models = _words(one.model), _words(other.model)
    return bool(models[0] and models[1] and (models[0] <= models[1] or models[1] <= models[0]))


def _words(model: str | None) -> set[str]:
    return {word for word in re.split(r"\W+", (model or "").lower()) if re.search(r"\d", word)}


def _same_array(one: Array, other: Array) -> bool:
    if one.os_name and other.os_name and one.os_name == other.os_name:
        return True
    names = last_part(one.name), last_part(other.name)
    if names[0] and names[0] == names[1]:
        return one.controller == other.controller or None in (one.controller, other.controller)
    md = [each for each in (one, other) if each.controller is None]
    return len(md) == 2 and bool(one.drives) and _members(one) == _members(other)


def _members(array: Array) -> set[str]:
    return {last_part(each) for each in array.drives or []}


def _drop_paths(whole: Facts) -> None:
    """Paths of a LUN and volumes of a controller are no drives of their own."""
    hidden = set(whole.drives_hidden)
    whole.drives = [each for each in whole.drives if device_name(each.name) not in hidden]


def _without_identity(whole: Facts) -> None:
    """A capture of totals alone goes to the only NVMe drive that lacks them."""
    orphans = [
        d for d in whole.drives if not (d.name or d.slot or d.serial or d.address or d.model)
    ]
    for orphan in orphans:
        open_to = [d for d in whole.drives if d is not orphan and d.interface == "nvme"
                   and d.written_bytes_total is None]  # fmt: skip
        if len(open_to) == 1:
            complete(open_to[0], orphan)
            whole.drives.remove(orphan)


def base_drive(name: str, names: Iterable[str]) -> str | None:
    """The drive of a member such as `/dev/sdb1` or `nvme0n1p3`, of those that are known."""
    plain, known = last_part(name), set(names)
    for each in (plain, re.sub(r"(?<=\d)p\d+$", "", plain), re.sub(r"(?<=[a-z])\d+$", "", plain)):
        if each in known:
            return each
        if (named := device_name(each)) in known:
            return named
    return None


def _check_places(whole: Facts, other: Array) -> None:
    """A member in one capture of an array whose place is empty in a better one."""
    array = next((each for each in whole.arrays if _same_array(each, other)), None)
    if array is None or not (array.lacking or array.missing) or not array.drives:
        return
    known = {last_part(each) for each in (*array.drives, *(array.spares or []),
             *(array.failed or []), array.journal or "")}  # fmt: skip
    more = sorted(_members(other) - known)
    if more and _members(array) <= _members(other):
        text = (
            f"{', '.join(more)}: in {array.name} by {other.read_from}, but {array.read_from} has a"
            " place without a drive there: a drive just failed, or captures of two times"
        )
        whole.warn("contradiction", text)


def _check_names(whole: Facts) -> None:
    """Two models under one name: the captures are of two machines, or of two times."""
    models: dict[str, str] = {}
    for drive in whole.drives:
        name = device_name(drive.name)
        if name is not None and drive.model is not None:
            first = models.setdefault(name, drive.model)
            if not _alike(first, drive.model):
                text = (
                    f"{name} is a {first} in one capture and a {drive.model} in another:"
                    " they are of two machines, or of two times"
                )
                whole.warn("contradiction", text)


def _check_hosts(whole: Facts, hosts: Sequence[Host]) -> None:
    """Host names or processors that differ: captures of several machines were given together."""
    names: dict[str, str] = {}
    cpus: dict[str, str] = {}
    for host in hosts:
        file = str(host.read_from)
        if host.name:
            names.setdefault(host.name.split(".")[0].lower(), f"{host.name} ({file})")
        if host.cpu:
            words = re.sub(r"@.*$", "", host.cpu.lower()).replace(",", " ").split()
            marks = sorted(w for w in words if re.search(r"\d", w) and not w.endswith("-core"))
            cpus.setdefault(" ".join(marks), f"{host.cpu} ({file})")
    for what, found in (("hosts", names), ("processors", cpus)):
        if len(found) > 1:
            listed = ", ".join(found.values())
            text = f"captures of several machines are mixed: {what} {listed}; give one machine's"
            whole.warn("mixed", text)


def _check_members(whole: Facts) -> None:
    """A drive that two arrays claim whole: one capture is old, or wrong."""
    owners: dict[str, str] = {}
    for array in whole.arrays:
        if array.controller is not None:
            continue
        for member in array.drives or []:
            plain = last_part(member)
            owner = owners.setdefault(plain, array.name or "?")
            if owner != (array.name or "?"):
                whole.warn("contradiction", f"{plain} is a member of {owner} and of {array.name}")
