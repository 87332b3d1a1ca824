"""Which links lie between each drive and the host, and what does not fit on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Faults
from raidlab.devices.host import ADAPTER_PORTS, HostSpec
from raidlab.devices.links import Interface, connection_ns, negotiate, plan_link, wide_port
from raidlab.devices.plan_types import LinkParams
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.planning.link_tree import build_tree
from raidlab.scenarios.spec.links import LinkTable, link_faults

_REQUEST_BYTES = 128
"""A request that a controller fetches from the host, along the path of write data: the frame of
Fusion-MPT, the LSI controllers' interface."""
_REPLY_BYTES = 64
"""A reply and an interrupt, along the path of read data: two small packets with their headers."""


def family_of(spec: DriveSpec) -> str:
    """SAS, SATA or PCIe: what a drive hangs on."""
    own = spec.link()
    return "no interface" if own is None else {"pcie": "PCIe"}.get(own.family, own.family.upper())


@dataclass(frozen=True)
class Attached:
    """A drive of the system: what it is, what it is called, where it was written."""

    spec: DriveSpec
    name: str
    key: str
    link: str = ""
    """The scenario's link that it hangs on; the host's or the controller's own ports if empty."""
    ncq: bool = True
    """False if it gets one command at a time, as ports in IDE mode give them."""
    controller: int | None = None
    """Which of the plan's controllers it is behind; none on the host itself."""

    @property
    def queue_depth(self) -> int:
        """Commands that are sent to it at once."""
        return self.spec.queue_depth if self.ncq else 1


@dataclass
class Topology:
    """The links of a system, and each drive's path to the host as indices into them."""

    links: list[LinkParams] = field(default_factory=list)
    paths: list[list[int]] = field(default_factory=list)
    to_host: list[int] = field(default_factory=list)
    """Each controller's link to the host."""

    def add(self, link: LinkParams) -> int:
        """Adds a link; gives its index."""
        self.links.append(link)
        return len(self.links) - 1


def connect(
    host: HostSpec,
    controllers: Sequence[tuple[str, ControllerSpec]],
    drives: Sequence[Attached],
    faults: Faults,
    links: Sequence[LinkTable] = (),
) -> Topology:
    """Lays the links from every drive to the host.

    A drive's own link runs at the highest rate that it and its port have in common; a drive may
    have none, and then its data cross the controller's link to the host alone. Where drives
    outnumber ports they hang on an expander, which shares all ports as one wide port. The
    controller's link to the host is shared by all behind it.

    Args:
        host: Its ports and slots.
        controllers: Each with the name that reports have for it.
        drives: All, each with its place.
        faults: Takes what does not fit.
        links: The scenario's tree, on which drives hang that are behind no controller.
    """
    topology = Topology(paths=[[] for _ in drives])
    if any(link_faults(tuple(links))):
        # They are reported, and no way along them need end.
        links = ()
    at_host = [(at, drive) for at, drive in enumerate(drives) if drive.controller is None]
    if at_host:
        tree = build_tree(
            links, host, _behind(links, [drive for _, drive in at_host]), faults, topology.links
        )
        for at, drive in at_host:
            path = _host_link(topology, host, drive, tree.port(drive.link), faults)
            topology.paths[at] = [*path, *tree.path(drive.link)]
    for index, controller in enumerate(controllers):
        own = [(at, drive) for at, drive in enumerate(drives) if drive.controller == index]
        paths = _behind_controller(topology, host, controller, [each for _, each in own], faults)
        for (at, _), path in zip(own, paths, strict=True):
            topology.paths[at] = path
    return _over_network(topology, host)


def _behind_controller(
    topology: Topology,
    host: HostSpec,
    named: tuple[str, ControllerSpec],
    drives: Sequence[Attached],
    faults: Faults,
) -> list[list[int]]:
    """The path of each drive of a controller, over its own link and what all share."""
    name, controller = named
    for drive in drives:
        if drive.link:
            allowed = f"left out: {name} stands before its drives"
            faults.add(f"{drive.key}.link", drive.link, allowed)
    _check_count(controller, drives, faults)
    paths: list[list[int]] = []
    shared: list[int] = []
    port = Interface.parse(controller.port)
    nvme = [drive for drive in drives if controller.nvme and _is_pcie(drive)]
    others = len(drives) - len(nvme)
    slot, switch = _nvme_ports(topology, named, len(nvme), others)
    if others > controller.ports:
        others_alone = [drive for drive in drives if drive not in nvme]
        shared.append(topology.add(_expander(named, port, others_alone)))
    to_host = negotiate(Interface.parse(controller.link), Interface.parse(host.slot))
    link = plan_link(f"{name} {to_host.title}", to_host)
    link["read_command_ns"], link["write_command_ns"] = _message_times(link["bytes_per_s"])
    up = topology.add(link)
    topology.to_host.append(up)
    shared.append(up)
    for drive in drives:
        own = drive.spec.link()
        if own is None:
            # It stands for the medium alone: data are at the controller in no time.
            paths.append([up])
            continue
        if slot is not None and own.family == "pcie":
            path = _own_link(topology, drive, own, slot, name, faults)
            paths.append([*path, *switch, up])
            continue
        path = _own_link(topology, drive, own, port, name, faults)
        paths.append(path + shared)
    return paths


def _behind(links: Sequence[LinkTable], drives: Sequence[Attached]) -> dict[str, list[Interface]]:
    """By link: the interfaces of the drives at it or behind it."""
    parents = {link.name: link.parent for link in links}
    found: dict[str, list[Interface]] = {}
    for drive in drives:
        own, name = drive.spec.link(), drive.link
        while own is not None and name in parents:
            found.setdefault(name, []).append(own)
            name = parents[name]
    return found


def _host_link(
    topology: Topology, host: HostSpec, drive: Attached, port: Interface | None, faults: Faults
) -> list[int]:
    """A drive's own link to a port of the host, or to what an adapter has in its place.

    A command of a SATA drive holds the port for a while besides its data: the host's own as the
    host says, an adapter's as its family does.
    """
    own = drive.spec.link()
    costs = host.port if port is None else ADAPTER_PORTS.get(port.family)
    if own is not None and port is None:
        port = _host_port(host, own)
    path = _own_link(topology, drive, own, port, drive.link or host.name, faults)
    if costs is not None and own is not None and own.family == "sata":
        for index in path:
            topology.links[index] |= {
                "read_command_ns": costs.read,
                "write_command_ns": costs.write,
                "latency_ns": costs.latency,
            }
    return path


def _over_network(topology: Topology, host: HostSpec) -> Topology:
    """These links with the host's network, if it has one, at the end of every path."""
    if host.network is not None:
        network = topology.add(host.network.to_link(host.name))
        topology.paths = [[*path, network] for path in topology.paths]
        # What a controller's memory answers crosses the slower of both links alone.
        topology.to_host = [network for _ in topology.to_host]
    return topology


def _is_pcie(drive: Attached) -> bool:
    own = drive.spec.link()
    return own is not None and own.family == "pcie"


def _nvme_ports(
    topology: Topology, named: tuple[str, ControllerSpec], nvme: int, others: int
) -> tuple[Interface | None, list[int]]:
    """The link that each NVMe drive finds on a tri-mode controller, and what they share.

    A port is a lane. The drives have as many lanes each as the ports allow beside the other
    drives, at most those of `nvme`. With less than one lane for each, a PCIe switch gives each its
    full link and shares the lanes.
    """
    name, controller = named
    if controller.nvme is None or not nvme:
        return None, []
    widest = Interface.parse(controller.nvme)
    left = max(1, controller.ports - others)
    widths = [lanes for lanes in (16, 8, 4, 2, 1) if lanes <= widest.lanes]
    for lanes in widths:
        if nvme * lanes <= left:
            return widest.wide(lanes), []
    up = widest.wide(max(lanes for lanes in (16, 8, 4, 2, 1) if lanes <= left))
    return widest, [topology.add(plan_link(f"{name} switch, {up.title}", up))]


def _message_times(bytes_per_s: int) -> tuple[int, int]:
    """What messages about a read and a write take of a controller's link besides the data, ns."""
    return _REPLY_BYTES * 10**9 // bytes_per_s, _REQUEST_BYTES * 10**9 // bytes_per_s


def _host_port(host: HostSpec, own: Interface) -> Interface:
    return Interface.parse({"pcie": host.slot, "sas": host.sas, "sata": host.sata}[own.family])


def _own_link(
    topology: Topology,
    drive: Attached,
    own: Interface | None,
    port: Interface | None,
    at: str,
    faults: Faults,
) -> list[int]:
    if own is None or port is None:
        return []
    try:
        common = negotiate(own, port)
    except ValueError:
        allowed = f"a drive that the {port.title} ports of {at} carry; this one has {own.title}"
        faults.add(f"{drive.key}.model", drive.spec.name, allowed)
        return []
    share = drive.spec.link_payload
    # A slower port takes the same share of its own rate.
    rate = None if share is None else common.theoretical * Fraction(share)
    return [topology.add(plan_link(f"{drive.name} {common.title}", common, rate))]


def _check_count(controller: ControllerSpec, drives: Sequence[Attached], faults: Faults) -> None:
    if len(drives) > controller.drives_max:
        expanders = " behind expanders" if controller.drives_max > controller.ports else ""
        allowed = (
            f"at most {controller.drives_max} drives{expanders}: {controller.name} has"
            f" {controller.ports} ports"
        )
        faults.add("array", f"{len(drives)} drives", allowed)


def _expander(
    named: tuple[str, ControllerSpec], port: Interface, drives: Sequence[Attached]
) -> LinkParams:
    label, controller = named
    rates = []
    for drive in drives:
        own = drive.spec.link()
        # Drives that cannot hang there are reported elsewhere.
        if own is not None and own.family in ("sata", port.family):
            rates.append(own)
    name = f"{label} expander, {controller.ports} ports {port.title}"
    link = plan_link(name, port, wide_port(port, controller.ports, rates))
    read, write = connection_ns(port)
    # A connection holds a lane in both directions, and one drive alone can use it meanwhile.
    return link | {
        "full_duplex": False,
        "read_command_ns": read // controller.ports,
        "write_command_ns": write // controller.ports,
    }
