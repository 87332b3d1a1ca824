"""The links of `[[link]]` in a plan: each drive's way from its own port to the host."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.devices.faults import Faults
from raidlab.devices.host import HostSpec
from raidlab.devices.links import (
    Interface,
    connection_ns,
    packet_share,
    plan_link,
    wide_port,
)
from raidlab.devices.plan_types import LinkParams
from raidlab.scenarios.spec.links import LinkTable

_FRAME_BYTES = 256
"""Payload after which a link between sockets passes data on: as PCIe's."""


def unused_links(links: Sequence[LinkTable], used: Collection[str]) -> Iterator[str]:
    """Warnings of links on which nothing hangs.

    Args:
        links: As they were written.
        used: Names of those that drives hang on.
    """
    needed, parents = set(used), {link.name: link.parent for link in links}
    for name in used:
        while name in parents and parents[name] not in needed:
            name = parents[name]
            needed.add(name)
    for at, link in enumerate(links):
        if link.name not in needed:
            yield f"link.{at}: has no effect: no drive hangs on {link.name}"


@dataclass
class LinkTree:
    """Links of a scenario, by name."""

    tables: Mapping[str, LinkTable] = field(default_factory=dict)
    index: dict[str, int] = field(default_factory=dict)
    """Where each stands in the plan's list."""

    def path(self, name: str) -> list[int]:
        """The links from one to the host, as indices into the plan's list."""
        found = []
        while name in self.index:
            found.append(self.index[name])
            name = self.tables[name].parent
        return found

    def port(self, name: str) -> Interface | None:
        """What a drive finds at a link; None where the host's own ports say it."""
        while name in self.tables:
            table = self.tables[name]
            if table.ports is not None:
                return Interface.parse(table.ports)
            own = None if table.interface is None else Interface.parse(table.interface)
            if own is not None and own.family == "sas":
                return own.wide(1)
            name = table.parent
        return None


def build_tree(
    links: Sequence[LinkTable],
    host: HostSpec,
    drives: Mapping[str, Sequence[Interface]],
    faults: Faults,
    into: list[LinkParams],
) -> LinkTree:
    """Adds the links of a scenario to a plan.

    Args:
        links: As they were written, without faults of their own.
        host: Whose slot bounds what hangs on it.
        drives: By link: the interfaces of all drives at it or behind it.
        faults: Takes more lanes than the host's slot has.
        into: The plan's links.
    """
    tree = LinkTree({link.name: link for link in links})
    slot = Interface.parse(host.slot)
    for at, link in enumerate(links):
        own = None if link.interface is None else Interface.parse(link.interface)
        if own is not None and own.family == "pcie" and not link.parent and own.lanes > slot.lanes:
            allowed = f"at most x{slot.lanes}, as the widest slot of {host.name} has"
            faults.add(f"link.{at}.interface", own.name, allowed)
        tree.index[link.name] = len(into)
        into.append(_plan(link, own, drives.get(link.name, ())))
    return tree


def _plan(link: LinkTable, own: Interface | None, drives: Sequence[Interface]) -> LinkParams:
    if own is None:
        return {
            "name": link.name,
            "bytes_per_s": round(link.rate or 0),
            "full_duplex": True,
            "frame_bytes": _FRAME_BYTES,
            "latency_ns": link.latency,
        }
    payload = link.max_payload
    rate = None if payload is None else own.practical * packet_share(payload)
    plan = plan_link(f"{link.name} {own.title}", own, rate) | {"latency_ns": link.latency}
    if payload is not None:
        plan["frame_bytes"] = payload
    if own.family != "sas":
        return plan
    # A wide port: a connection holds a lane at the rate of its drive, in both directions.
    lane = own.wide(1)
    carried = [drive for drive in drives if drive.family in ("sas", "sata")]
    read, write = connection_ns(lane)
    return plan | {
        "bytes_per_s": int(wide_port(lane, own.lanes, carried)),
        "full_duplex": False,
        "read_command_ns": read // own.lanes,
        "write_command_ns": write // own.lanes,
    }
