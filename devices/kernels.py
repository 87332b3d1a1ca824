"""What Linux md costs load threads by kernel: cache lines that all of them write.

A counter or a lock that every I/O of an array changes lies in one cache line. The line moves from
core to core, and while it moves nobody else has it: so it is a server of one place, whatever
the number of cores. Each era says how often an I/O moves the busiest line. How long a move takes is
the machine's.
docs/explanation/md.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from raidlab.devices.plan_types import FlushOrder

Version = tuple[int, int]

LINE_NS: Final[Mapping[int, int]] = {1: 60, 2: 125}
"""Nanoseconds for which a cache line moves to another core, by sockets; more than two count as two.

Two sockets: 4.0 million reads a second of RAID 6 on RAM disks move one line twice each, 96 threads
on two sockets (G. Ofri, linux-raid, 7 June 2021). One socket: assumed, 40 to 80 ns between cores of
one die.
"""
COUNTER: Final = 2
"""Moves for a counter that goes up and down again with each I/O."""
LOCK: Final = 3
"""Moves for a section under a contended spin lock: it is taken, handed over, and released."""


@dataclass(frozen=True)
class Era:
    """Kernels between two changes of md."""

    first: Version
    moves: Mapping[str, tuple[int, int]]
    """By level: moves of the busiest line for a read and for a write."""
    stripe_cache: int = 0
    """Stripes of a page of each member that levels with parity hold; 0 where their number grows."""
    dm_moves: int = 0
    """Moves for device mapper's own counter above the array."""
    flushes: FlushOrder = "one_by_one"
    """How flushes of an array pass: each by itself, one after the other, or one at a time with all
    that came before it went out."""
    hands_flushes: bool = True
    """Whether a flush passes two workers of md, one before the members' and one behind them."""


def _moves(
    raid0: int, raid1: int, raid10: int, parity: tuple[int, int]
) -> dict[str, tuple[int, int]]:
    return {
        "raid0": (raid0, raid0),
        "raid1": (raid1, raid1),
        "raid10": (raid10, raid10),
        "parity": parity,
    }


_READ_UNDER_LOCK: Final = LOCK + 1
"""A read of RAID 5 that bypasses the stripe cache takes `device_lock` and counts itself there."""
_BARRIER: Final = 2 * LOCK
"""A mirror takes `resync_lock` when an I/O begins and when it ends."""

ERAS: Final[tuple[Era, ...]] = (
    Era(
        (2, 6),
        _moves(COUNTER, _BARRIER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        stripe_cache=256,
        dm_moves=COUNTER,
    ),
    # The stripe cache grows on demand (edbe83ab4c27).
    Era(
        (4, 1),
        _moves(COUNTER, _BARRIER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        dm_moves=COUNTER,
    ),
    # Barriers of RAID 1 by buckets, without locks (fd76863e37fe, 824e47daddbf).
    Era(
        (4, 11),
        _moves(COUNTER, COUNTER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        dm_moves=COUNTER,
    ),
    # Each flush has its own record (5a409b4f56d5).
    Era(
        (4, 18),
        _moves(COUNTER, COUNTER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        dm_moves=COUNTER,
        flushes="together",
    ),
    # Counters of device mapper and of disks for each CPU (6f75723190d8, 1226b8dd0e91).
    Era(
        (5, 0),
        _moves(COUNTER, COUNTER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        flushes="together",
    ),
    # One record of flushes again, and what waits shares the next one (4bc034d35377, 2bc13b83e629).
    Era(
        (5, 2),
        _moves(COUNTER, COUNTER, _BARRIER, (_READ_UNDER_LOCK, COUNTER)),
        flushes="batches",
    ),
    # Reads of RAID 5 without the lock (97ae27252f49).
    Era((5, 14), _moves(COUNTER, COUNTER, _BARRIER, (COUNTER, COUNTER)), flushes="batches"),
    # RAID 10 reads its barrier under a sequence lock (b9b083f9044c).
    Era((6, 1), _moves(COUNTER, COUNTER, COUNTER, (COUNTER, COUNTER)), flushes="batches"),
    # `active_io` for each CPU (72adae23a72c); RAID 10 and reads of RAID 5 still count.
    Era((6, 3), _moves(0, 0, COUNTER, (COUNTER, COUNTER)), flushes="batches"),
    # The caller's thread sends the members' flushes (b75197e86e6d).
    Era(
        (6, 12),
        _moves(0, 0, COUNTER, (COUNTER, COUNTER)),
        flushes="together",
        hands_flushes=False,
    ),
)
"""In order of their first kernel."""
NEWEST_CHECKED: Final[Version] = (6, 12)
"""The newest kernel whose md was looked at."""
_KIND: Final[Mapping[str, str]] = {
    "raid0": "raid0",
    "raid1": "raid1",
    "raid1e": "raid10",
    "raid10": "raid10",
    "raid5": "parity",
    "raid6": "parity",
    "raid50": "parity",
    "raid60": "parity",
}
_RED_HAT: Final = re.compile(r"\.(el|fc)\d")
_VERSION: Final = re.compile(r"v?(\d{1,2})\.(\d{1,3})(?:[.+~_-].*)?")


def parse_version(text: str) -> Version | None:
    """The first two numbers of a kernel's version, as `uname -r` prints it; None if it is none."""
    match = _VERSION.fullmatch(text.strip())
    return None if match is None else (int(match[1]), int(match[2]))


def tick_hz(text: str) -> int:
    """Ticks a second of a kernel by its release name: file times and timers go by them.

    `CONFIG_HZ` is 1000 in Red Hat's and Fedora's kernels for x86 (`.el9`, `.fc40`), 250 in those of
    Debian and Ubuntu, and here in all others.
    """
    return 1000 if _RED_HAT.search(text) else 250


def era_of(version: Version) -> Era:
    """The era that a kernel belongs to; the first one for older kernels."""
    return next((era for era in reversed(ERAS) if era.first <= version), ERAS[0])


def unknown_version(version: Version) -> str:
    """What an unknown kernel counts as; empty for those that are known."""
    first, last = ERAS[0].first, NEWEST_CHECKED
    if first <= version <= last:
        return ""
    nearest = first if version < first else last
    return f"{nearest[0]}.{nearest[1]}"


def shared_ns(era: Era, level: str, sockets: int, *, dm: bool) -> tuple[int, int]:
    """How long a read and a write have the cache line that all load threads of an array share.

    Args:
        era: Of the kernel.
        level: Of the array.
        sockets: Of the machine.
        dm: Whether device mapper stands above the array, as with LVM's RAID.

    Returns:
        Nanoseconds. md's line and device mapper's are different ones: the longer one counts.
    """
    line = LINE_NS[min(sockets, max(LINE_NS))]
    moves = era.moves.get(_KIND.get(level, ""), (0, 0))
    read, write = (max(own, era.dm_moves if dm else 0) for own in moves)
    return read * line, write * line
