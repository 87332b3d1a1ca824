"""The write-intent bitmap of an array in the host, as mdadm makes it."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.faults import Faults
from raidlab.devices.levels import facts
from raidlab.devices.plan_types import BitmapPlan
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import ArrayTable

CHUNK = 64 << 20
"""Bytes that a bit stands for unless said otherwise or too few: mdadm(8), --bitmap-chunk."""
LEAST_CHUNK = 4096
_LVM_REGION = 2 << 20
_MOST_REGIONS = 1 << 21
"""Regions of device mapper's RAID at most."""
HEADER = 256
"""Bytes before the bits, within the room for them."""
ROOM = ((200 << 30, 128 << 10), (8 << 30, 64 << 10), (0, 4 << 10))
"""Size of a member, and bytes that mdadm keeps there for a bitmap: super1.c, choose_bm_space."""
MADE_FROM = 100 * 10**9
"""mdadm makes a bitmap by itself where members are so large: mdadm(8), --bitmap."""
BITMAP_LEVELS = ("raid1", "raid10", "raid5", "raid6")
"""Levels of md that have one."""


def least_chunk(member: int, marked: int) -> int:
    """Bytes that a bit stands for at least: 4 KiB, doubled until all bits have room.

    Args:
        member: Bytes that the array uses of a drive.
        marked: Bytes that the bits stand for together.
    """
    room = next(room for size, room in ROOM if member >= size)
    chunk = LEAST_CHUNK
    while marked // chunk + 1 > 8 * (room - HEADER):
        chunk *= 2
    return chunk


def least_region(marked: int) -> int:
    """Bytes of a region of device mapper's RAID at least: a power of two, 2 MiB as LVM asks for.

    At most 2^21 regions are marked: drivers/md/dm-raid.c, validate_region_size; 2 MiB are
    `raid_region_size` of lvm.conf.

    Args:
        marked: Bytes that the regions stand for together.
    """
    least = -(-marked // _MOST_REGIONS)
    return max(_LVM_REGION, 1 << (least - 1).bit_length() if least else 0)


def bitmap_plan(
    key: str,
    name: str,
    table: ArrayTable,
    capacities: Sequence[int],
    faults: Faults,
    warnings: list[str],
    *,
    volatile: bool,
) -> BitmapPlan | None:
    """The bitmap of an array, for its plan; none if it has none.

    Args:
        key: Of the array, for faults.
        name: Of the array, for warnings.
        table: The array.
        capacities: Bytes of its drives that it uses.
        faults: Takes a chunk that is no power of two, too small for the room that mdadm keeps for
            bits, or no multiple of the stripe unit.
        warnings: Takes settings without effect, and that none is stated where mdadm makes one.
        volatile: Whether any of its drives has a volatile write cache.
    """
    in_host = table.in_host and table.level in BITMAP_LEVELS
    has_bitmap = table.bitmap or ("internal" if table.software_raid == "lvm" else None)
    if not in_host or has_bitmap != "internal":
        asked = "bitmap" if table.bitmap == "internal" else "bitmap_chunk"
        if table.bitmap_chunk is not None or (table.bitmap == "internal" and not in_host):
            levels = ", ".join(BITMAP_LEVELS)
            of = f'bitmap = "internal", software_raid = "os" and one of {levels} have one'
            warnings.append(no_effect(f"{key}.{asked}", f" on {name}: only arrays with {of}"))
        elif in_host and table.bitmap is None and min(capacities, default=0) >= MADE_FROM:
            text = (
                f"array {name}: no bitmap is simulated, though mdadm makes one by itself for"
                f" members of {format_size(MADE_FROM)} and more, and small writes wait for it"
                ' (bitmap = "internal", or "none" if there is none)'
            )
            warnings.append(Coded(text, Code.BITMAP_NOT_STATED, name))
        return None
    member = min(capacities, default=0)
    marked = member
    if capacities and table.stripe_unit and not facts(table.level).parities:
        marked = usable_bytes(table.shape, table.stripe_unit, capacities)
    if table.software_raid == "lvm":
        least = least_region(marked)
        chunk = least if table.bitmap_chunk is None else table.bitmap_chunk
    else:
        least = least_chunk(member, marked)
        chunk = max(CHUNK, least) if table.bitmap_chunk is None else table.bitmap_chunk
    if chunk < least or chunk.bit_count() != 1:
        allowed = f"a power of two, for this array at least {format_size(least)}"
        faults.add(f"{key}.bitmap_chunk", format_size(chunk), allowed)
    elif table.stripe_unit and chunk % table.stripe_unit:
        allowed = f"a multiple of the stripe unit, {format_size(table.stripe_unit)}"
        faults.add(f"{key}.bitmap_chunk", format_size(chunk), allowed)
    return {"chunk_bytes": chunk, "flushes": volatile}
