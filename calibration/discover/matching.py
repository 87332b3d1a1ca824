"""Drives and controllers of a machine beside the catalogue: which device, how alike, why.

Qualities: `exact` is the same product and size; `family` the same line in another size or with
another interface; `near` a neighbouring line, said so; `class` a generic device of the same kind;
`ask` where not even the kind is known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from raidlab.calibration.discover.facts import Controller, Drive, Facts, StatedDrive
from raidlab.calibration.discover.part_numbers import (
    CUT,
    is_qlc,
    rule_of,
    stated_capacity,
    stated_kind,
    stated_speed,
    without_vendor,
)
from raidlab.calibration.discover.segments import Segment, segment_of
from raidlab.calibration.discover.shingled import is_host_managed, shingled
from raidlab.devices.catalogue import catalogue
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.hdd import HddSpec
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.units import format_size

Quality = Literal["exact", "family", "near", "class", "ask"]

_SAME_SIZE = 0.025
"""Sizes of one product differ by at most this share: decimal names, spare sectors."""


@dataclass(frozen=True)
class Match:
    """A part of a machine and the device of the catalogue that is most like it."""

    part: str
    """Slot or name of the drive, index or slot of the controller."""
    text: str
    """The model as printed."""
    device: str | None
    """A device that is the same product, its family or its neighbour."""
    quality: Quality
    reason: str
    stand_in: str | None = None
    """A generic device of its kind, where `device` is None."""
    candidates: tuple[str, ...] = ()
    doubt: str = ""
    """What nothing decides, or what the stand-in cannot show, and what that changes."""


@dataclass(frozen=True)
class _Known:
    """A drive of the catalogue."""

    name: str
    title: str
    family: str
    """`sata`, `sas`, `nvme`."""
    bytes: int
    rpm: int | None
    generation: int | None = None
    """Of PCI Express."""
    client: bool = False
    """True of an SSD whose buffer a loss of power empties."""
    cell: str | None = None
    shingled: bool = False


@cache
def _drives() -> tuple[_Known, ...]:
    found = []
    for device in catalogue():
        spec = device.spec
        if not isinstance(spec, DriveSpec) or spec.kind not in ("hdd", "ssd", "xpoint"):
            continue
        link = spec.link()
        if link is None:
            continue
        family = {"pcie": "nvme"}.get(link.family, link.family)
        rpm = None
        if spec.kind == "hdd":
            stated = re.match(r"[\d.]+", str(device.written.get("speed", "")))
            rpm = round(float(stated[0])) if stated else None
        capacity = spec.capacity_bytes(DriveOptions())
        pcie = re.match(r"pcie-(\d)", str(device.written.get("interface", "")))
        generation = int(pcie[1]) if pcie else None
        found.append(
            _Known(
                spec.name, spec.title, family, capacity, rpm, generation,
                client=isinstance(spec, SsdSpec) and not spec.buffer.protected,
                cell=spec.nand.cell if isinstance(spec, SsdSpec) else None,
                shingled=isinstance(spec, HddSpec) and spec.shingled is not None,
            )
        )  # fmt: skip
    return tuple(found)


@cache
def _controllers() -> Mapping[str, str]:
    """Controllers of the catalogue with their titles."""
    found = {}
    for device in catalogue():
        if isinstance(device.spec, ControllerSpec):
            found[device.spec.name] = device.spec.title
    return found


def match_facts(facts: Facts) -> list[Match]:
    """A match for each controller and each drive whose make can be known."""
    found = [
        match_controller(each, str(_first(each.index, each.slot, each.address, "controller")))
        for each in facts.controllers
        if each.model or each.chip
    ]
    for drive in facts.drives:
        if not (drive.virtual or drive.volume_of_controller or drive.outside):
            found.append(match_drive(_completed(drive, facts.drives)))
    return [*found, *match_stated(facts.stated)]


def doubts(matches: Sequence[Match]) -> Iterator[str]:
    """What is in doubt of drives, alike ones together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for match in matches:
        if match.doubt:
            alike.setdefault((match.text or "no model", match.doubt), []).append(match.part)
    for (text, doubt), parts in alike.items():
        yield f"{' '.join(parts)}: {text}: {doubt}"


def _completed(drive: Drive, drives: Sequence[Drive]) -> Drive:
    """A drive that does not answer, with kind, interface and size of others of its model."""
    for other in drives:
        if drive.model and other.model == drive.model and other is not drive:
            drive = replace(
                drive,
                kind=drive.kind or other.kind,
                interface=drive.interface or other.interface,
                bytes=drive.bytes or other.bytes,
            )
    return drive


def _first(*values: object) -> object:
    return next(each for each in values if each is not None)


def match_stated(stated: Iterable[StatedDrive]) -> list[Match]:
    """Matches of a list of models."""
    found = []
    for each in stated:
        if each.part == "controller":
            found.append(match_controller(Controller(model=each.text), each.text))
        else:
            drive = Drive(
                name=each.text, model=each.text, interface=each.interface, bytes=each.bytes,
                rpm=each.rpm,
            )  # fmt: skip
            if each.rpm is not None:
                drive.kind = "hdd" if each.rpm else "ssd"
            found.append(match_drive(drive))
    return found


def match_drive(drive: Drive) -> Match:
    """The drive of the catalogue that is most like one of the machine."""
    part = str(_first(drive.slot, drive.name, drive.address, drive.model, "drive"))
    text = drive.model or drive.family or ""
    size = drive.bytes or (stated_capacity(text) if text else None)
    family = re.split(r"-", drive.interface or "")[0] or None
    titled = [each for each in _drives() if _in_title(without_vendor(text), each.title)]
    if titled:
        reason = "the catalogue's title has its part number"
        return Match(part, text, titled[0].name, "exact", reason)
    ruled = rule_of(text) if text else None
    if ruled is not None:
        rule, stems = ruled
        line = _of_line(stems, family, size)
        if line is not None:
            quality, why = _quality(line, rule.neighbour, family, size)
            return Match(part, text, line.name, quality, why)
    names, may_be = _cut(text)
    like = _likeness(drive, family, size)
    stand_in = _stand_in(drive, family, size, like)
    if stand_in is None:
        return Match(part, text, None, "ask", "neither kind nor interface is known")
    if _kind(drive, family) is None:
        stated = [each.upper() for each in (family,) if each]
        stated += [format_size(size)] if size else []
        differs = _differs(_Likeness(), stand_in)
        reason = f"{', '.join(stated)}, but not whether disk or SSD; {differs}"
        return Match(part, text, None, "ask", reason, stand_in.name, names)
    if names:
        why = f"the model is cut: it may be {may_be}"
    elif text:
        why = "not in the catalogue"
    else:
        why = "no model is stated"
    reason = f"{why}; {_differs(like, stand_in)}"
    doubt = _doubt(drive, like, stand_in)
    return Match(part, text, None, "class", reason, stand_in.name, names, doubt)


@dataclass(frozen=True)
class _Likeness:
    """What a stand-in must have beside speed, size and interface."""

    segment: Segment | None = None
    """Of an SSD."""
    qlc: bool = False
    shingled: str | None = None
    """Why a disk is shingled."""


def _likeness(drive: Drive, family: str | None, size: int | None) -> _Likeness:
    if _kind(drive, family) == "hdd":
        return _Likeness(shingled=shingled(drive))
    return _Likeness(segment_of(drive, family, size), is_qlc(drive.model or ""))


def _differs(like: _Likeness, stand_in: _Known) -> str:
    """Which generic drives were asked, why those, and which of them it is."""
    nearest = f"nearest in speed, size and interface stands in: {stand_in.title}"
    if stand_in.shingled:
        return f"its tracks are shingled ({like.shingled}): {stand_in.title} stands in"
    if like.segment is None or stand_in.rpm is not None:
        return f"the generic drive {nearest}"
    which = f"a {like.segment.name} SSD, {like.segment.why}"
    return f"{which}; of the generic {like.segment.name} SSDs the one {nearest}"


def _doubt(drive: Drive, like: _Likeness, stand_in: _Known) -> str:
    """What a user must know of a stand-in."""
    said = []
    if like.segment is not None and not like.segment.decided:
        said.append(
            "no capture says whether it is a client or a server SSD, it is taken as a server's,"
            " which answers sync writes (fsync) from a protected buffer; a client SSD makes some"
            " 20 times fewer: capture smartctl -x, nvme id-ctrl (vwc)"
        )
    elif like.segment is not None and like.segment.name == "client":
        if not stand_in.client:
            said.append("it is a client SSD, the stand-in a server's: its sync writes are slower")
        else:
            said.append(
                f"a client SSD, {like.segment.why}: a sync write (fsync) waits until its cells"
                " are programmed, which a server SSD's does not"
            )
    if like.qlc and stand_in.cell != "qlc":
        said.append("its cells are QLC, the stand-in's TLC: long writes are slower than here")
    if like.shingled is not None:
        more = "its media cache and bands are assumed" if stand_in.shingled else (
            "the stand-in is not: random writes that last are slower than here")  # fmt: skip
        said.append(f"its tracks are shingled ({like.shingled}): {more}")
        if is_host_managed(drive):
            said.append("it takes writes in the order of its zones alone, which is not simulated")
    return "; ".join(said)


def _in_title(text: str, title: str) -> bool:
    return len(text) >= 8 and re.search(rf"\b{re.escape(text)}\b", title) is not None


def _of_line(stems: Sequence[str], family: str | None, size: int | None) -> _Known | None:
    """The drive of a line with the interface and, of those, the nearest size."""

    def distance(each: _Known) -> tuple[bool, float, str]:
        wrong = family is not None and each.family != family
        return wrong, 0.0 if size is None else abs(math.log(each.bytes / size)), each.name

    for stem in stems:
        own = [each for each in _drives() if _is_of(each.name, stem, stems[0])]
        if own:
            best = min(own, key=distance)
            others = [each for each in own if size and abs(each.bytes / size - 1) <= _SAME_SIZE]
            return (
                best if stem == stems[-1] or others else _of_line(stems[1:], family, size) or best
            )
    return None


_FORMS = frozenset({"m2", "e1s", "hhhl"})
"""Forms that a device's name may have; one without is a drive of 2.5 inch."""
_SIZE_OR_PLUG = re.compile(r"\d+(\.\d+)?(t|g|tb|gb)?|sas|sata|u2")


def _is_of(name: str, stem: str, wanted: str) -> bool:
    """True for a device of a line: behind the line's name are its size, plug and form alone.

    Args:
        name: Of the device.
        stem: The line.
        wanted: The line with the form that the part number states.
    """
    if name == stem:
        return True
    if not name.startswith(f"{stem}-"):
        return False
    parts = name.removeprefix(f"{stem}-").split("-")
    forms = [part for part in (*stem.split("-"), *parts) if part in _FORMS]
    asked = [part for part in wanted.split("-") if part in _FORMS]
    plain = all(_SIZE_OR_PLUG.fullmatch(part) for part in parts if part not in _FORMS)
    return plain and (not forms or forms == asked)


def _quality(
    known: _Known, neighbour: str | None, family: str | None, size: int | None
) -> tuple[Quality, str]:
    if neighbour is not None:
        return (
            "near",
            f"it is a {neighbour}, which the catalogue lacks; {known.title} is its neighbour",
        )
    if size is None:
        line = f"it is of the line of {known.title}"
        return "family", f"{line}; no capture says its size: this one is assumed"
    differs = []
    if abs(known.bytes / size - 1.0) > _SAME_SIZE:
        differs.append("size")
    if family is not None and known.family != family:
        differs.append("interface")
    if differs:
        what = " and ".join(differs)
        return "family", f"the same line as {known.title}, another {what}: the machine's own counts"
    return "exact", f"its part number is that of {known.title}"


def _cut(text: str) -> tuple[tuple[str, ...], str]:
    """Candidates of a model that ends too early, and what it may be."""
    plain = without_vendor(text)
    for pattern, stems, may_be in CUT:
        if re.match(pattern, plain):
            names = [k.name for k in _drives() if any(k.name.startswith(f"{s}-") for s in stems)]
            return tuple(names), may_be
    return (), ""


def _kind(drive: Drive, family: str | None) -> str | None:
    """`hdd` or `ssd`: as stated, or by interface or speed, which a part number may state."""
    if drive.kind is not None:
        return drive.kind
    if family == "nvme" or drive.rpm == 0:
        return "ssd"
    return "hdd" if drive.rpm else stated_kind(drive.model or "")


_OTHER_INTERFACE = 0.5
"""What another interface costs beside the logarithm of the sizes' ratio: a device file of the
machine states the interface, but caches and overheads stay the stand-in's."""
_SATA_RPM = 7200
"""SATA disks turn no faster, but for a few whose part numbers say so."""


def _stand_in(drive: Drive, family: str | None, size: int | None, like: _Likeness) -> _Known | None:
    """The generic drive of the same kind and speed that is nearest in size and interface.

    Speed decides first: what a seek or a generation of PCI Express costs, no size makes up for.
    Flash of another interface is another SSD; a disk's mechanics do not depend on its plug.
    Where the kind is unknown, interface and size say which is nearest. Of a shingled disk any
    shingled one of the catalogue is nearer than a generic one that is not.
    """
    kind = _kind(drive, family)
    if kind is None and (family is None or size is None):
        return None
    rpm = drive.rpm or stated_speed(drive.model or "")
    link = drive.link_possible or drive.link
    generation = link.gen if link is not None else None
    fastest = _SATA_RPM if family == "sata" else max(each.rpm or 0 for each in _drives())
    client = like.segment is not None and like.segment.name == "client"
    generic = [
        each
        for each in _drives()
        if each.name.startswith("generic-")
        and (kind is None or (each.rpm is not None) == (kind == "hdd"))
        and (each.rpm or 0) <= max(fastest, rpm or 0)
        and (each.family == "nvme") == (family == "nvme")
        and (each.rpm is not None or family in (None, each.family))
    ]  # fmt: skip
    generic = [each for each in generic if each.rpm is not None or each.client == client] or generic
    if like.shingled is not None:
        own = [each for each in _drives() if each.shingled]
        generic = [each for each in own if each in generic] or own or generic

    def distance(each: _Known) -> tuple[bool, float, float, int]:
        speed = abs((each.rpm or 0) - (rpm or each.rpm or 0))
        if generation is not None and each.generation is not None:
            speed = abs(each.generation - generation)
        away = 0.0 if not size else abs(math.log(each.bytes / size))
        other = family is not None and each.family != family
        away += _OTHER_INTERFACE if other else 0.0
        wrong = like.qlc and each.cell != "qlc"
        return wrong, float(speed), away, each.bytes if each.rpm is None else 0

    return min(generic, key=distance, default=None)


_PRODUCT = re.compile(
    r"\b(\d{4}W?-\d+[ie](?:\d?[ie])?|[HS]\d{3}[A-Z]?|[PE]\d{3,4}[ie]?(?:-[a-z])?)\b", re.IGNORECASE
)
_CHIP = re.compile(r"\bSAS-?(\d{4}W?)", re.IGNORECASE)
_SAME_CHIP = {
    "9211-8i": "2008", "9240-8i": "2008", "9240-4i": "2008", "H310": "2008", "H200": "2008",
    "M1015": "2008", "9260-8i": "2108", "9260-4i": "2108", "9261-8i": "2108", "H700": "2108",
    "9265-8i": "2208", "9266-8i": "2208", "9271-8i": "2208", "9271-4i": "2208", "9270-8i": "2208",
    "H710": "2208", "H710P": "2208", "H810": "2208", "9217-8i": "2308", "H330": "3008",
    "9341-8i": "3008", "9363-4i": "3108", "9380-8e": "3108", "H730P": "3108", "H830": "3108",
    "9311-8i": "3008", "HBA330": "3008", "9305-16i": "3224", "9364-8i": "3108",
}  # fmt: skip
"""Chips of cards that the catalogue lacks, by the makers' guides."""


def match_controller(controller: Controller, part: str) -> Match:
    """The controller of the catalogue that is most like one of the machine."""
    text = controller.model or controller.chip or ""
    if controller.is_of_host:
        ports = "NVMe" if controller.role == "vmd" else "SATA"
        return Match(part, text, None, "class", f"{ports} ports of the host itself, no card")
    wanted = _PRODUCT.search(re.sub(r"\bGen\d+\+?|\bSR\b", "", text))
    titles = {name: re.split(r"[:(]", title)[0] for name, title in _controllers().items()}
    if wanted is not None:
        product = wanted[1].lower()
        products = {
            name: found[1] for name, title in titles.items() if (found := _PRODUCT.search(title))
        }
        for name, own in products.items():
            if own.lower() == product:
                return Match(part, text, name, "exact", f"the product {wanted[1]}")
        for name, own in products.items():
            if own.lower().rstrip("pn") == product.rstrip("pn"):
                reason = f"{wanted[1]} and {own} are one line; its own cache counts"
                return Match(part, text, name, "family", reason)
    named = _SAME_CHIP.get(wanted[1].upper().replace("I", "i")) if wanted else None
    chip = _CHIP.search(controller.model or "") or _CHIP.search(controller.chip or "")
    number = named or (chip[1] if chip and wanted is None else None)
    alike = None if number is None else _of_chip(number, controller)
    if alike is not None:
        reason = f"only the chip SAS{number} is known to be the same"
        return Match(part, text, alike, "family", reason)
    reason = "not in the catalogue: its cache and link come from the capture"
    return Match(part, text, None, "class", reason, _generic_controller(controller))


def _of_chip(number: str, controller: Controller) -> str | None:
    """A controller of the catalogue with a chip, with as much cache if that is known."""
    own = [n for n, title in _controllers().items() if re.search(rf"\bSAS{number}\b", title)]
    own.sort(reverse=True)
    gib = {"512 MiB": "512", "1 GiB": "1g"}.get(controller.cache or "")
    better = [name for name in own if gib is not None and gib in name]
    return next(iter(better or own), None)


def _generic_controller(controller: Controller) -> str:
    """A card that stands in for an unknown one: with a cache if it has one, or plain."""
    if not controller.cache:
        return "hba-9400-8i" if (controller.device_interface or "") != "sas-6g" else "hba-9207-8i"
    six = controller.device_interface == "sas-6g"
    return "lsi2208-1g-3.0" if six else "megaraid-9361-8i"
