"""Where the files of jobs lie: whole arrays, or parts of one, one behind the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_MIB = 1 << 20


@dataclass(frozen=True)
class Target:
    """An array that jobs can load."""

    index: int
    """Its index in the plan."""
    size_bytes: int
    takes_trim: bool = True
    """True if its drives have the command."""


@dataclass(frozen=True)
class Place:
    """A file's place."""

    target: Target
    start: int
    size: int


@dataclass
class Places:
    """The files of all jobs."""

    targets: Mapping[str, Target]
    """Arrays by their names."""
    default: Target
    """The array that stands for any device."""
    _files: dict[str, int] = field(default_factory=dict)
    """Bytes of each file, in their order."""
    _starts: dict[str, int] = field(default_factory=dict)

    def device(self, name: str) -> Target | None:
        """The array that a file's name stands for; None if it is a file of its own."""
        if name in self.targets:
            return self.targets[name]
        return self.default if name.startswith("/dev/") else None

    def stand_ins(self, names: Iterable[str]) -> list[str]:
        """Names of devices for which the array that is no name of the scenario's stands in."""
        own = {name for name in names if name not in self.targets}
        return sorted(name for name in own if self.device(name) is not None)

    def takes_trim(self, array: int) -> bool:
        """True if an array takes trims."""
        return all(each.takes_trim for each in self.targets.values() if each.index == array)

    def need(self, name: str, size: int) -> None:
        """A job uses this many bytes of a file."""
        self._files[name] = max(self._files.get(name, 0), size)
        self._starts = {}

    @property
    def total(self) -> int:
        """Bytes of all files, each in whole MiB."""
        return sum(-(-size // _MIB) * _MIB for size in self._files.values())

    def place(self, name: str) -> Place:
        """Where a file lies."""
        if not self._starts:
            start = 0
            for each, size in self._files.items():
                self._starts[each] = start
                start += -(-size // _MIB) * _MIB
        return Place(self.default, self._starts[name], self._files[name])


def name_hash(name: str) -> int:
    """Jenkins' hash of a file's name, from which fio seeds skewed distributions.

    Source: B. Jenkins, lookup3; fio 3.33 takes one byte for four in all but the last block.
    """
    mask = 0xFFFFFFFF
    data = name.encode()
    a = b = c = (0x61C88647 + len(data)) & mask

    def rotated(word: int, by: int) -> int:
        return ((word << by) | (word >> (32 - by))) & mask

    while len(data) > 12:
        a, b, c = (a + data[0]) & mask, (b + data[4]) & mask, (c + data[8]) & mask
        a = ((a - c) & mask) ^ rotated(c, 4)
        c = (c + b) & mask
        b = ((b - a) & mask) ^ rotated(a, 6)
        a = (a + c) & mask
        c = ((c - b) & mask) ^ rotated(b, 8)
        b = (b + a) & mask
        a = ((a - c) & mask) ^ rotated(c, 16)
        c = (c + b) & mask
        b = ((b - a) & mask) ^ rotated(a, 19)
        a = (a + c) & mask
        c = ((c - b) & mask) ^ rotated(b, 4)
        b = (b + a) & mask
        data = data[12:]
    if not data:
        return c
    words = [int.from_bytes(data[at : at + 4], "little") for at in (0, 4, 8)]
    a, b, c = (a + words[0]) & mask, (b + words[1]) & mask, (c + words[2]) & mask
    c = ((c ^ b) - rotated(b, 14)) & mask
    a = ((a ^ c) - rotated(c, 11)) & mask
    b = ((b ^ a) - rotated(a, 25)) & mask
    c = ((c ^ b) - rotated(b, 16)) & mask
    a = ((a ^ c) - rotated(c, 4)) & mask
    b = ((b ^ a) - rotated(a, 14)) & mask
    return ((c ^ b) - rotated(b, 24)) & mask
