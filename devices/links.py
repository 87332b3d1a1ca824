"""The physics of links: PCIe, SAS and SATA as rates, and what two ends agree on.

A lane moves `transfers a second` symbols of one bit; the line code spends some of them (8b/10b
sends 10 bits for 8, 128b/130b 130 for 128); packets, primitives and flow control spend more, of
which only a practical share remains: 90 % of PCIe, 85 % of SAS and SATA, as the published
interface tables have it; a drive may state its own. Lanes of one link add up; an expander adds
nothing.
docs/explanation/links.md
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.plan_types import LinkParams

Family = Literal["pcie", "sas", "sata"]

_8B10B = Fraction(8, 10)
_128B130B = Fraction(128, 130)
_128B150B = Fraction(128, 150)
"""SAS 24G: 22.5 GT/s with forward error correction."""
_FLIT = Fraction(236, 256)
"""PCIe 6.0: what flits leave of 64 GT/s."""
_GIGA = 10**9

_PCIE: Mapping[str, tuple[Fraction, Fraction]] = {
    "1.0": (Fraction(5, 2), _8B10B),
    "2.0": (Fraction(5), _8B10B),
    "3.0": (Fraction(8), _128B130B),
    "4.0": (Fraction(16), _128B130B),
    "5.0": (Fraction(32), _128B130B),
    "6.0": (Fraction(64), _FLIT),
}
_SAS: Mapping[str, tuple[Fraction, Fraction]] = {
    "3g": (Fraction(3), _8B10B),
    "6g": (Fraction(6), _8B10B),
    "12g": (Fraction(12), _8B10B),
    "24g": (Fraction(45, 2), _128B150B),
}
_SATA: Mapping[str, tuple[Fraction, Fraction]] = {
    "1.5g": (Fraction(3, 2), _8B10B),
    "3g": (Fraction(3), _8B10B),
    "6g": (Fraction(6), _8B10B),
}
_GENERATIONS: Mapping[str, Mapping[str, tuple[Fraction, Fraction]]] = {
    "pcie": _PCIE,
    "sas": _SAS,
    "sata": _SATA,
}
"""Transfers a second of a lane in 10^9, and the share of bits that the line code leaves."""

_LANES = {"pcie": (1, 2, 4, 8, 16), "sas": tuple(range(1, 17)), "sata": (1,)}
_PRACTICAL = {"pcie": Fraction(90, 100), "sas": Fraction(85, 100), "sata": Fraction(85, 100)}
_FRAME_BYTES = {"pcie": 256, "sas": 1024, "sata": 8192}
"""Payload after which data can be passed on: a TLP of the usual maximum payload, a SAS frame, a
SATA data FIS."""

USUAL_PAYLOAD: Final = 256
"""Bytes of data in a packet of PCIe at most, where nothing else is said: the published tables'."""
PAYLOADS: Final = (128, 256, 512, 1024, 2048, 4096)
"""Sizes that `Max_Payload_Size` can have: PCI Express Base Specification 3.0, 7.8.4."""
_PACKET_BYTES: Final = 24
"""Of a packet besides data: framing and sequence number 4, header 16, check sum 4 (2.2, 3.6)."""

_NAME = re.compile(r"(pcie|sas|sata)-(\d+(?:\.\d+)?g?)(?:-x(\d+))?")


@dataclass(frozen=True)
class Interface:
    """A link, or one end of one: family, generation, lanes."""

    family: Family
    generation: str
    """`3.0` of PCIe, `6g` of SAS and SATA."""
    lanes: int = 1

    @staticmethod
    @functools.cache
    def parse(name: str) -> Interface:
        """An interface from its name: `pcie-3.0-x4`, `sas-6g`, `sas-6g-x4`, `sata-3g`.

        Raises:
            ValueError: There is no such interface; says what there is.
        """
        match = _NAME.fullmatch(name)
        families: dict[str, Family] = {"pcie": "pcie", "sas": "sas", "sata": "sata"}
        if match is None:
            raise ValueError("an interface such as pcie-3.0-x4, sas-6g, sas-6g-x4 or sata-6g")
        family, generation, lanes = families[match[1]], match[2], int(match[3] or 1)
        if generation not in _GENERATIONS[family]:
            known = ", ".join(f"{family}-{known}" for known in _GENERATIONS[family])
            raise ValueError(f"an interface that exists: {known}")
        if lanes not in _LANES[family]:
            known = ", ".join(f"x{lanes}" for lanes in _LANES[family])
            raise ValueError(f"a width that {family} has: {known}")
        return Interface(family, generation, lanes)

    @property
    def name(self) -> str:
        """As `parse` takes it."""
        width = f"-x{self.lanes}" if self.family == "pcie" or self.lanes > 1 else ""
        return f"{self.family}-{self.generation}{width}"

    @property
    def title(self) -> str:
        """For reports: `PCIe 2.0 x8`, `SAS 6G x4`."""
        family = "PCIe" if self.family == "pcie" else self.family.upper()
        width = f" x{self.lanes}" if self.family == "pcie" or self.lanes > 1 else ""
        return f"{family} {self.generation.upper()}{width}"

    @property
    def full_duplex(self) -> bool:
        """True if both directions run at once: PCIe and SAS do, SATA does not."""
        return self.family != "sata"

    @property
    def theoretical(self) -> Fraction:
        """Bytes a second in one direction after the line code."""
        transfers, coding = _GENERATIONS[self.family][self.generation]
        return self.lanes * transfers * _GIGA * coding / 8

    @property
    def practical(self) -> Fraction:
        """Bytes a second of payload in one direction."""
        return self.theoretical * _PRACTICAL[self.family]

    @property
    def frame_bytes(self) -> int:
        """Bytes after which a receiver can pass data on."""
        return _FRAME_BYTES[self.family]

    def wide(self, lanes: int) -> Interface:
        """A copy with `lanes` lanes: a wide port."""
        return replace(self, lanes=lanes)

    def _rank(self) -> int:
        return list(_GENERATIONS[self.family]).index(self.generation)


def faster(link: Interface, bytes_per_s: float) -> Interface | None:
    """The least link of a family that carries this much: a later generation, then more lanes.

    Args:
        link: To begin with.
        bytes_per_s: Payload of one direction, or of both where they share the link.

    Returns:
        None if no link of the family does.
    """
    later = list(_GENERATIONS[link.family])[link._rank() :]
    wider = [lanes for lanes in _LANES[link.family] if lanes >= link.lanes]
    known = (Interface(link.family, each, lanes) for lanes in wider for each in later)
    return next((each for each in known if each.practical >= bytes_per_s), None)


def negotiate(device: Interface, port: Interface) -> Interface:
    """What a device and the port that it hangs on agree on: highest common rate and width.

    A SATA drive on a SAS port is tunnelled (STP): it stays SATA, half duplex, at the highest
    common rate. A SAS drive on a SATA port, or PCIe on either, cannot talk.

    Raises:
        ValueError: The two cannot talk.
    """
    lanes = min(device.lanes, port.lanes)
    if device.family == port.family:
        return replace(min(device, port, key=Interface._rank), lanes=lanes)
    if device.family == "sata" and port.family == "sas":
        common = [name for name in _SATA if _SATA[name][0] <= _SAS[port.generation][0]]
        ceiling = Interface("sata", common[-1])
        return min(device, ceiling, key=Interface._rank)
    raise ValueError(f"{port.title} cannot carry {device.title}")


def wide_port(port: Interface, ports: int, drives: Iterable[Interface]) -> Fraction:
    """Bytes a second of `ports` ports between a controller and its expander, in one direction.

    An expander shares the ports' bandwidth among its drives. While a slower drive is connected it
    holds a lane at its own rate, so with equal traffic to all drives a lane moves the harmonic
    mean of the drives' negotiated rates.
    """
    rates = [negotiate(drive, port).wide(1).practical for drive in drives]
    if not rates:
        return port.wide(ports).practical
    return ports * len(rates) / sum((1 / rate for rate in rates), Fraction(0))


_CONNECTION_BYTES = 4 * (10 + 1 + 2 + 6)
"""Words of four bytes that open and close a connection: the address frame between its delimiters,
OPEN_ACCEPT, DONE of both ends, CLOSE of both ends, sent three times."""
_ANSWER_BYTES = 2700
"""What a lane could move while a connection waits for the answers of expander and drive, 4.5 us on
SAS 6G. Assumed: no document states it; chosen with loads of 4, 8 and 64 KiB on 24 SSDs in view."""
_COMMAND_BYTES, _XFER_RDY_BYTES, _RESPONSE_BYTES = (36 + unit for unit in (28, 12, 24))
"""Frames of SSP: delimiters, header and check sum of 36 bytes around an information unit."""


def connection_ns(port: Interface) -> tuple[int, int]:
    """How long a read and a write occupy a lane of SAS besides their data.

    A read takes two connections (command; data and response), a write four (command, XFER_RDY,
    data, response). Each also waits for the answers of expander and drive.
    """
    connection = _CONNECTION_BYTES + _ANSWER_BYTES
    read = 2 * connection + _COMMAND_BYTES + _RESPONSE_BYTES
    write = 4 * connection + _COMMAND_BYTES + _XFER_RDY_BYTES + _RESPONSE_BYTES
    lane = port.wide(1).theoretical
    return round(read * _GIGA / lane), round(write * _GIGA / lane)


def packet_share(payload: int) -> Fraction:
    """What packets of this much data pass of a link of PCIe, by the rate at the usual payload.

    A packet of n bytes has `_PACKET_BYTES` more, so a link passes n / (n + 24) of its bytes. What
    flow control takes besides is part of the practical share, which is that of the usual payload.

    Args:
        payload: Bytes of data in a packet at most, `Max_Payload_Size`.
    """
    usual = Fraction(USUAL_PAYLOAD, USUAL_PAYLOAD + _PACKET_BYTES)
    return Fraction(payload, payload + _PACKET_BYTES) / usual


def plan_link(name: str, interface: Interface, bytes_per_s: Fraction | None = None) -> LinkParams:
    """A link's entry in the plan: `LinkParams` of the native models."""
    return {
        "name": name,
        "bytes_per_s": int(interface.practical if bytes_per_s is None else bytes_per_s),
        "full_duplex": interface.full_duplex,
        "frame_bytes": interface.frame_bytes,
    }


def _interface_name(name: str) -> str:
    try:
        return Interface.parse(name).name
    except ValueError as error:
        raise PydanticCustomError("interface", "{allowed}", {"allowed": str(error)}) from None


_PATTERN = r"(pcie|sas|sata)-\d+(\.\d+)?g?(-x\d+)?"
InterfaceName = Annotated[
    str,
    AfterValidator(_interface_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_PATTERN}$", "examples": ["sas-12g"]}),
]
"""A field of a file that names an interface."""
InterfaceOrNone = Annotated[
    str,
    AfterValidator(lambda name: name if name == "none" else _interface_name(name)),
    WithJsonSchema({"type": "string", "pattern": f"^(none|{_PATTERN})$", "examples": ["sas-12g"]}),
]
"""The interface, or `none`."""
