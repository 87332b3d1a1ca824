"""Which independent numbers belong to which room, and the comparison of a setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from raidlab.notebooks.frame import Room, catalogue
from tests.notebooks.numbers import disks, flash
from tests.notebooks.numbers.disks import Setting
from tests.notebooks.numbers.shown import Compared, Known, compare


@dataclass(frozen=True)
class Checked:
    """A room and what it is compared with."""

    known: Callable[[Setting], list[Known]]
    given: Sequence[float] = ()
    """Numbers that the room's words state besides those of its setting."""


ROOMS = {
    "one-io": Checked(disks.of_one_io),
    "arm": Checked(disks.of_arm),
    "knee": Checked(disks.of_knee),
    "write-penalty": Checked(disks.of_write_penalty, (0,)),
    "battery": Checked(disks.of_battery, (0,)),
    "first-day": Checked(flash.of_first_day),
    "compression": Checked(flash.of_compression),
    "ssd-cache": Checked(flash.of_ssd_cache),
    "rebuild": Checked(disks.of_rebuild, (300,)),
    "own-disk": Checked(flash.of_own_disk),
    "plan": Checked(disks.of_plan, (60, 25, 2200)),
    "simpy-60": Checked(disks.of_simpy_60, (60,)),
    "tails": Checked(disks.of_tails),
    "levels": Checked(disks.of_levels, (8,)),
    "qlc": Checked(flash.of_qlc),
    "omission": Checked(disks.of_omission),
    "fsync": Checked(flash.of_fsync, (4,)),
    "outlive": Checked(flash.of_outlive, (5, 1000)),
    "write-cache": Checked(flash.of_write_cache, (0.75, 30)),
    "block-size": Checked(disks.of_block_size),
    "neighbour": Checked(disks.of_neighbour),
    "iostat": Checked(disks.of_iostat),
    "how-long": Checked(disks.of_how_long),
}


def settings(room: Room, most: int | None = None) -> list[Setting]:
    """The grid of a static page, or a few settings spread over all of it."""
    every = list(room.settings())
    if most is None or len(every) <= most:
        return list(every)
    return [every[at * (len(every) - 1) // (most - 1)] for at in range(most)]


def compared(name: str, values: Setting) -> Compared:
    """A setting of a room beside independent numbers."""
    checked = ROOMS[name]
    own = [value for value in values.values() if isinstance(value, int | float)]
    answer = catalogue.room(name).answer(values, 1)
    return compare(answer, checked.known(values), [*checked.given, *own])
