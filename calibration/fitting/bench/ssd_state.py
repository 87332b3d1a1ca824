"""Solid-state drives on the bench: what they have been through, and how much of them is simulated.

A measurement lasts far longer than a write buffer takes to fill. A simulated one does not, so the
buffer begins full of the load's own writes, and is small: from the first recorded I/O on, a load
that NAND cannot take waits for NAND.
"""

from __future__ import annotations

from typing import Final

from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.plan_types import DeviceParams, HistoryAccess, HistoryLoad, SsdDeviceParams

_SLICE_BLOCKS: Final = 64
"""Of each plane, for a load that writes."""
_SLICE_SPARE: Final = 8
"""Blocks of each plane that hold no data: those that collection keeps free, and an open one."""
_SLICE_PAGES: Final = 64
_SLICE_WRITTEN: Final = 0.1
"""Share of a slice that a run writes at most."""
_BUFFER_PAGE_SETS: Final = 4
"""Of each die: enough that no die waits for data while its last program goes on."""
_FILLING_BLOCK: Final = 128 * 1024


def prepared(
    device: DeviceParams, point: Point, mapped: float, ios: int
) -> tuple[DeviceParams, float]:
    """The device in the state before the measurement, and the share of it that is simulated.

    A solid-state drive whose state does not depend on its size is cut to some blocks of each die:
    as many dies, buses and cores, less to set up.

    Args:
        device: The drive's entry in the plan.
        point: The load.
        mapped: Share of the drive that contained data.
        ios: I/Os that are recorded.
    """
    if device["kind"] != "ssd":
        return device, 1.0
    cut, share = device, 1.0
    steady = point.state == "steady-state" and point.read_share < 1.0
    if not steady:
        cut = with_small_buffer(cut)
        written = int((1.2 * ios + ios_of_buffer(cut, point)) * point.bs * (1.0 - point.read_share))
        cut, share = _slice(cut, written)
    capacity, unit = cut["capacity_bytes"], cut["unit_bytes"]
    filled = 0 if point.state == "fresh" else int(capacity * min(1.0, mapped)) // unit * unit
    history = [_load("sequential", filled, _FILLING_BLOCK, filled)] if filled else []
    if steady:
        area = min(point.area_bytes or capacity, capacity)
        history.append({**_load("random", area, point.bs, 0), "ongoing": True})
    elif point.read_share < 1.0:
        area = min(int((point.area_bytes or device["capacity_bytes"]) * share), capacity)
        history.append(just_written(cut, point, 0, area))
    return {**cut, "history": history}, share


def just_written(device: SsdDeviceParams, point: Point, start: int, area: int) -> HistoryLoad:
    """A load before the run that leaves the buffer full of its writes, and nothing else."""
    unit = device["unit_bytes"]
    area = max(unit, area // unit * unit)
    block = min(max(unit, point.bs // unit * unit), area)
    access: HistoryAccess = "random" if point.rw.startswith("rand") else "sequential"
    return {**_load(access, area, block, block), "start_bytes": start, "ongoing": True}


def with_small_buffer(device: SsdDeviceParams) -> SsdDeviceParams:
    """The drive with a buffer of a few page sets for each die.

    What a buffer takes in once says nothing of a run that lasts.
    """
    few = _BUFFER_PAGE_SETS * _program_bytes(device)
    buffer = device["buffer"]
    return {**device, "buffer": {**buffer, "bytes": min(buffer["bytes"], few)}}


def ios_of_programs(device: DeviceParams, point: Point) -> float:
    """I/Os of a load that one program of every die takes in; 0 if it writes nothing to NAND."""
    if device["kind"] != "ssd" or point.read_share == 1.0:
        return 0.0
    return _program_bytes(device) / (point.bs * (1.0 - point.read_share))


def ios_of_buffer(device: DeviceParams, point: Point) -> float:
    """I/Os of a load whose writes fill the buffer once; 0 without a buffer or writes."""
    if device["kind"] != "ssd" or point.read_share == 1.0:
        return 0.0
    return float(device["buffer"]["bytes"] / (point.bs * (1.0 - point.read_share)))


def _program_bytes(device: SsdDeviceParams) -> int:
    """Bytes that all dies program at once."""
    nand = device["nand"]
    dies = nand["channels"] * nand["dies_per_channel"]
    return dies * nand["planes"] * nand["page_bytes"]


def _slice(device: SsdDeviceParams, written: int) -> tuple[SsdDeviceParams, float]:
    """Some blocks of every die: enough that what the run writes does not set off collection."""
    nand = device["nand"].copy()
    whole = nand["blocks_per_plane"] * nand["pages_per_block"]
    reserved = device.get("reserved_blocks_per_plane", 0) / nand["blocks_per_plane"]
    nand["pages_per_block"] = min(nand["pages_per_block"], _SLICE_PAGES)
    block = nand["pages_per_block"] * _program_bytes(device)
    data = device["capacity_bytes"] / (whole * _program_bytes(device))
    least = int(_SLICE_SPARE / max(1e-3, 1.0 - data - reserved)) + 1
    if written:
        least = max(least, _SLICE_BLOCKS, int(written / block / _SLICE_WRITTEN) + 1)
    nand["blocks_per_plane"] = min(whole // nand["pages_per_block"], least)
    share = nand["blocks_per_plane"] * nand["pages_per_block"] / whole
    unit = device["unit_bytes"]
    cut: SsdDeviceParams = {
        **device,
        "nand": nand,
        "capacity_bytes": max(1, int(device["capacity_bytes"] * share) // unit) * unit,
        "reserved_blocks_per_plane": int(reserved * nand["blocks_per_plane"]),
    }
    return cut, cut["capacity_bytes"] / device["capacity_bytes"]


def _load(access: HistoryAccess, area: int, block: int, written: int) -> HistoryLoad:
    return {
        "access": access,
        "start_bytes": 0,
        "area_bytes": area,
        "block_bytes": block,
        "written_bytes": written,
    }
