"""A drive-managed shingled disk in SimPy: one write after the other, into a log that fills up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import simpy

from tests.reference.models import Process

US = 1_000


@dataclass
class Record:
    """A write in the log."""

    sectors: range
    at: int
    dead: bool = False


@dataclass
class ShingledDisk:
    """Two heads, one zone; the log's sectors first, then the bands. Times in nanoseconds."""

    env: simpy.Environment
    track: int
    """Sectors of a track."""
    skew: int
    revolution: int
    log_sectors: int
    band: int
    most_records: int
    overhead: int
    here: int = 0
    """The track under the head."""
    log: deque[Record] = field(default_factory=deque)
    head: int = 0
    """Sectors appended so far."""
    merges: int = 0

    def angle(self, at: int) -> float:
        track, sector = divmod(at, self.track)
        return (sector + track * self.skew) % self.track / self.track

    def move(self, track: int) -> int:
        """Nanoseconds to another track: 900 us and 1 us a cylinder."""
        cylinders = abs(track // 2 - self.here // 2)
        return 0 if track == self.here else (900 + cylinders) * US

    def pass_over(self, at: int, sectors: int) -> Process:
        """The head gets to sector `at` and passes over this many, track by track."""
        while sectors:
            track = at // self.track
            yield self.env.timeout(self.move(track))
            self.here = track
            now = self.env.now % self.revolution / self.revolution
            wait = (self.angle(at) - now) % 1.0
            # What is reached just now needs no revolution.
            wait = 0.0 if wait > 1 - 1e-6 else wait
            part = min(sectors, self.track - at % self.track)
            yield self.env.timeout(round((wait + part / self.track) * self.revolution))
            at, sectors = at + part, sectors - part

    def is_full(self, sectors: int) -> bool:
        tail = self.log[0].at if self.log else self.head
        used = sum(not record.dead for record in self.log)
        return used == self.most_records or self.head + sectors - tail > self.log_sectors

    def free(self) -> None:
        """Frees the log up to its oldest record in use."""
        while self.log and self.log[0].dead:
            self.log.popleft()

    def merge(self) -> Process:
        number = self.log[0].sectors.start // self.band
        own = [it for it in self.log if not it.dead and it.sectors.start // self.band == number]
        first = self.log_sectors + number * self.band
        yield from self.pass_over(first, self.band)
        for record in sorted(own, key=lambda it: it.at % self.log_sectors):
            yield from self.pass_over(record.at % self.log_sectors, len(record.sectors))
        yield from self.pass_over(first, self.band)
        for record in own:
            record.dead = True
        self.free()
        self.merges += 1

    def writes(self, sectors: Iterable[range], took: list[int]) -> Process:
        """Each write once the one before it is done."""
        for each in sectors:
            start = self.env.now
            yield self.env.timeout(self.overhead)
            while self.is_full(len(each)):
                yield from self.merge()
            for record in self.log:
                record.dead |= set(record.sectors) <= set(each)
            self.free()
            # No record is cut by the end of the region.
            rest = -self.head % self.log_sectors
            self.head += rest if rest < len(each) else 0
            self.log.append(Record(each, self.head))
            yield from self.pass_over(self.head % self.log_sectors, len(each))
            self.head += len(each)
            took.append(int(self.env.now) - int(start))
