"""`[[link]]`: what lies between drives and the host beyond their own ports, as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault
from raidlab.devices.links import PAYLOADS, Interface
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Rate

_SPEEDS: Final[Mapping[str, str]] = {
    "2.5": "1.0",
    "5": "2.0",
    "8": "3.0",
    "16": "4.0",
    "32": "5.0",
    "64": "6.0",
}
"""Gigatransfers a second as lspci prints them, and the generation of PCIe."""
_LSPCI: Final = re.compile(
    r".*?Speed\s+([\d.]+)\s*GT/s(?:\s*\([^)]*\))?,\s*Width\s+x(\d+).*", re.I | re.S
)
_DMI: Final[Mapping[str, str]] = {
    "dmi": "pcie-3.0-x4",
    "dmi-2.0": "pcie-2.0-x4",
    "dmi-3.0": "pcie-3.0-x4",
    "dmi-3.0-x4": "pcie-3.0-x4",
    "dmi-3.0-x8": "pcie-3.0-x8",
    "dmi-4.0-x4": "pcie-4.0-x4",
    "dmi-4.0-x8": "pcie-4.0-x8",
}
"""Links of chipsets: PCIe under another name (Intel's data sheets of chipset families)."""
_GENERATION: Final = re.compile(r"-(?:gen-?)?(\d)(?![\w.])")
"""A generation without its dot: `PCIe Gen3 x8`, `DMI 3`."""
_MAX_PAYLOAD: Final = re.compile(r"(?:.*?MaxPayload\s+)?(\d+)(?:\s*(?:bytes|B)\b.*)?", re.S)
_ALLOWED: Final = (
    "an interface such as pcie-3.0-x8, sas-12g-x4 or dmi-3.0, or lspci's words:"
    ' "Speed 8GT/s, Width x8"'
)


def _interface(value: Any) -> Any:
    """The name of an interface, of what lspci prints too."""
    if not isinstance(value, str):
        raise PydanticCustomError("interface", "{allowed}", {"allowed": _ALLOWED})
    text = value.strip()
    said = _LSPCI.fullmatch(text)
    if said is not None:
        generation = _SPEEDS.get(said[1].removesuffix(".0"))
        if generation is None:
            speeds = ", ".join(f"{speed}GT/s" for speed in _SPEEDS)
            raise PydanticCustomError("interface", "{allowed}", {"allowed": f"a speed of {speeds}"})
        text = f"pcie-{generation}-x{said[2]}"
    text = _GENERATION.sub(r"-\1.0", re.sub(r"[\s-]+", "-", text.lower()))
    try:
        return Interface.parse(_DMI.get(text, text)).name
    except ValueError as error:
        allowed = str(error) if re.match(r"(pcie|sas|sata)-", text) or said else _ALLOWED
        raise PydanticCustomError("interface", "{allowed}", {"allowed": allowed}) from None


def _payload(value: Any) -> Any:
    """Bytes of a packet, of what lspci prints too."""
    said = _MAX_PAYLOAD.fullmatch(value) if isinstance(value, str) else None
    if isinstance(value, bool) or (said is None and not isinstance(value, int)):
        allowed = f'{", ".join(map(str, PAYLOADS))}, or lspci\'s words: "MaxPayload 128 bytes"'
        raise PydanticCustomError("payload", "{allowed}", {"allowed": allowed})
    size = int(value if said is None else said[1])
    if size not in PAYLOADS:
        allowed = f"one of {', '.join(map(str, PAYLOADS))} bytes"
        raise PydanticCustomError("payload", "{allowed}", {"allowed": allowed})
    return size


class LinkTable(Table):
    """`[[link]]`: a slot, a switch, a chipset, an adapter, the cable to an enclosure."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        "lnksta": "interface",
        "lnkcap": "interface",
        "speed": 'interface = "Speed 8GT/s, Width x8"',
        "width": 'interface = "Speed 8GT/s, Width x8"',
        "lanes": 'interface, such as "pcie-3.0-x8"',
        "generation": 'interface, such as "pcie-3.0-x8"',
        "upstream": "parent",
        "behind": "parent",
        "mps": "max_payload",
        "maxpayload": "max_payload",
        "bandwidth": "rate",
    }

    name: str = Field(pattern=r"^[A-Za-z0-9_.+-]+$")
    interface: Annotated[str | None, BeforeValidator(_interface)] = None
    """What the link is: `pcie-3.0-x8`, `sas-12g-x4`, `dmi-3.0`, or as lspci prints it."""
    rate: Rate | None = Field(default=None, ge=10**6)
    """Bytes a second in each direction, of a link that is neither PCIe nor SAS: between sockets."""
    max_payload: Annotated[int | None, BeforeValidator(_payload)] = None
    """Bytes of data in a packet of PCIe at most, or lspci's words; 256 if left out."""
    latency: Duration = 0
    """What it takes to pass a command on, such as that of a switch."""
    ports: Annotated[str | None, BeforeValidator(_interface)] = None
    """What its drives find at it: `sas-12g` of an adapter; as on the host if left out."""
    parent: str = ""
    """The link that it hangs on, towards the host; on the host itself if left out."""

    def faults(self) -> Iterator[Fault]:
        """A link without a rate, or with two; packets of what is not PCIe."""
        if (self.interface is None) == (self.rate is None):
            allowed = "one of `interface` and `rate`"
            yield Fault("interface", self.interface, allowed)
        if self.max_payload is not None and not (self.interface or "").startswith("pcie"):
            yield Fault("max_payload", self.max_payload, "left out: PCIe alone has it")


def link_faults(links: tuple[LinkTable, ...]) -> Iterator[Fault]:
    """Names that are twice, parents that are not there, links that hang on themselves."""
    names = [link.name for link in links]
    parents = {link.name: link.parent for link in links}
    for at, link in enumerate(links):
        key = f"link.{at}"
        if link.name in names[:at]:
            yield Fault(f"{key}.name", link.name, "a name that no other link has")
        if link.parent and link.parent not in names:
            allowed = f"the name of a link: {', '.join(names)}; left out on the host itself"
            yield Fault(f"{key}.parent", link.parent, allowed, tuple(names))
        elif _is_own_ancestor(link.name, parents):
            allowed = "a link that does not hang on this one: the way to the host never ends"
            yield Fault(f"{key}.parent", link.parent, allowed)


def _is_own_ancestor(name: str, parents: Mapping[str, str]) -> bool:
    above, seen = parents[name], {name}
    while above in parents:
        if above == name:
            return True
        if above in seen:
            return False
        seen.add(above)
        above = parents[above]
    return False
