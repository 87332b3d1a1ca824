"""Drives at ports in IDE mode, `ncq = false`: a mode of onboard SATA ports, drive by drive."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault
from raidlab.devices.levels import facts
from raidlab.scenarios.planning.link_tree import LinkTree
from raidlab.scenarios.spec.links import LinkTable, link_faults
from raidlab.scenarios.spec.schema import ArrayTable, DrivesTable

_WHERE = (
    "IDE mode is for onboard SATA ports, the host's or an onboard controller's, and drives one by"
    ' one: level jbod or independent, or software_raid = "os"'
)


def ide_faults(
    key: str, table: ArrayTable, controller: ControllerSpec | None, links: tuple[LinkTable, ...]
) -> Iterator[Fault]:
    """Drives of an array that cannot be at ports in IDE mode.

    Args:
        key: Of the array, such as `array.0`.
        table: It has the drives.
        controller: What it is behind; None on the host itself, or if it was not found.
        links: Of the scenario.
    """
    for at, entry in enumerate(table.drives):
        why = _wrong(table, entry, controller, links) if entry.ncq is False else ""
        if why:
            allowed = f"left out: {why}; {_WHERE}"
            yield Fault(f"{key}.drives.{at}.ncq", entry.ncq, allowed)


def _wrong(
    table: ArrayTable,
    entry: DrivesTable,
    controller: ControllerSpec | None,
    links: tuple[LinkTable, ...],
) -> str:
    """Why drives cannot be at ports in IDE mode; empty if they can."""
    if controller is not None and not controller.has_ide_mode:
        return f"{controller.name} has no IDE mode"
    if controller is not None and facts(table.level).striped and not table.in_host:
        return f"{table.level} of {controller.name} is its RAID mode, which has NCQ"
    name = entry.link or table.link
    if name and not any(link_faults(links)):
        port = LinkTree({link.name: link for link in links}).port(name)
        if port is not None and port.family == "sas":
            return f"link {name} has an adapter's ports, {port.title}"
    return ""
