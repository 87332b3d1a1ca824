"""A replay of requests on a disk of DiskSim 4's files, one at a time: an oracle of the engine.

Written from the rules alone, without a look at the importer or the engine: the buffer's segments,
read-ahead, the bus and the controller's overheads. Times in ms. What the medium does is not stepped
sector by sector: a track's blocks pass at equal distances, so what is in the buffer at any time is
arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from raidlab.calibration.disksim.syntax import Block
from tests.reference.disk_layout import ALMOST, Drive, Files, inner, number


class Request(NamedTuple):
    """One line of a trace."""

    operation: str
    block: int
    count: int
    gap_ms: float
    """From the completion of this request to the next one's arrival."""


class Run(NamedTuple):
    """Blocks of a track that pass one after the other."""

    first: int
    end: int
    seek_ms: float
    """When the seek to the track begins."""
    arrived_ms: float
    """When the arm is on the track."""
    begin_ms: float
    each_ms: float


class Reading:
    """A head that reads on from a block until a limit."""

    def __init__(self, drive: Drive, arm: tuple[int, int], at_ms: float, block: int) -> None:
        self.drive, self.limit = drive, block
        self.runs: list[Run] = []
        self._arm, self._from_ms, self._next = arm, at_ms, block
        self._first_arm = arm

    def _further(self) -> None:
        drive, place = self.drive, self.drive.place(self._next)
        arrived = self._from_ms + drive.seek(self._arm, place, writes=False)
        begin = arrived + drive.latency(arrived, place.angle)
        each = place.sector_share * drive.period_ms
        end = drive.run(self._next)
        self.runs.append(Run(self._next, end, self._from_ms, arrived, begin, each))
        self._arm, self._from_ms = place[:2], begin + (end - self._next) * each
        self._next = end

    def end_of(self, block: int) -> float:
        """When a block is in the buffer."""
        while self._next <= block:
            self._further()
        run = next(run for run in reversed(self.runs) if run.first <= block)
        return run.begin_ms + (block + 1 - run.first) * run.each_ms

    def reached(self, at_ms: float) -> int:
        """The first block that is not in the buffer."""
        while self._next < self.limit and self._from_ms <= at_ms:
            self._further()
        found = self.runs[0].first if self.runs else self._next
        for run in self.runs:
            done = int(max(0.0, (at_ms - run.begin_ms) / run.each_ms + ALMOST))
            found = max(found, min(run.first + done, run.end)) if done else found
        return min(found, self.limit)

    def active(self, at_ms: float) -> bool:
        return self.reached(at_ms) < self.limit

    def stop(self, at_ms: float, *, in_sector: bool) -> tuple[float, tuple[int, int]]:
        """Ends it: what must be waited for before the arm can move, in ms, and where it stands."""
        active, reached = self.active(at_ms), self.reached(at_ms)
        begun = [r for r in self.runs if r.seek_ms <= at_ms and (active or r.first < reached)]
        if not begun:
            self.limit = reached
            return 0.0, self._first_arm
        run, rest = begun[-1], 0.0
        if active and at_ms < run.arrived_ms:
            rest = run.arrived_ms - at_ms
        elif active and at_ms > run.begin_ms and not in_sector:
            rest, reached = self.end_of(reached) - at_ms, reached + 1
        self.limit = reached
        return rest, self.drive.place(run.first)[:2]


@dataclass(eq=False)
class Segment:
    """Blocks that follow each other, in the buffer."""

    start: int = 0
    end: int = 0
    reading: Reading | None = None
    wrote: bool = False
    """Whether a write used it last."""


class Settings:
    """What the controller's keys say: times, numbers, switches."""

    def __init__(self, disk: Block) -> None:
        self._values = {key: number(disk, key) for key in disk.entries}

    def ms(self, key: str) -> float:
        return self._values.get(key, 0.0)

    def on(self, key: str) -> bool:
        return self.ms(key) > 0


class Replay:
    """A drive that serves one request after the other."""

    def __init__(self, parv: Path, *, as_drives: bool = False) -> None:
        """A drive at rest.

        Args:
            parv: Its files.
            as_drives: Whether what is an accident of DiskSim's code is left out, as the table in
                docs/explanation/hard-disk.md says.
        """
        self.as_drives = as_drives
        files = Files.read(parv)
        surfaces = int(number(inner(files.disk, "model"), "number of data surfaces"))
        self.drive, self.bus_ms = Drive(files, surfaces, slips_pass=as_drives), files.bus_ms
        self.keys = Settings(files.disk)
        self.size = int(self.keys.ms("segment size (in blks)"))
        self.lru = [Segment() for _ in range(int(self.keys.ms("number of buffer segments")))]
        self.own = self.lru[0] if self.keys.on("use separate write segment") else None
        self.arm = (0, 0)
        self.after = "read"
        self.reader: Segment | None = None
        """The segment that is read into."""
        self.writer: Segment | None = None
        """The segment of the last write, and when it is on the medium."""
        self.written_ms = 0.0
        self.last: Segment | None = None
        never = self.keys.on("never disconnect")
        self.never = never
        self.holds = never or self.keys.on("hold bus entire read xfer")

    def all(self, requests: list[Request]) -> list[float]:
        """Response times in ms; each request arrives when the one before is done, and its gap."""
        found, now = [], 0.0
        for request in requests:
            serve = self._read if request.operation == "R" else self._write
            done = serve(now, request.block, request.count)
            self.after = "read" if request.operation == "R" else "write"
            found.append(done - now)
            now = done + request.gap_ms
        return found

    # Segments.

    def _held(self, segment: Segment, now: float) -> tuple[int, int]:
        """The blocks of a segment at a time."""
        if segment.reading is not None:
            segment.end = segment.reading.reached(now)
            segment.start = max(segment.start, segment.end - self.size)
        return segment.start, segment.end

    def _prefetches(self, segment: Segment, now: float) -> bool:
        return (
            segment is self.reader and segment.reading is not None and segment.reading.active(now)
        )

    def _for_read(self, now: float, block: int, count: int) -> tuple[Segment, bool]:
        """The segment of a read, and whether its first block is in it."""
        best: tuple[int, int] | None = None
        for order, segment in enumerate(self.lru):
            if segment is self.own:
                continue
            start, end = self._held(segment, now)
            prefetches = self._prefetches(segment, now)
            # A drive whose head is about to pass the first block goes on.
            if start <= block < end + (self.as_drives and prefetches):
                rank = (0 if block + count <= end else 2) + (not prefetches)
            else:
                rank = 4 if start == end and not prefetches else 6 if prefetches else 5
            if best is None or (rank, order) < best:
                best = (rank, order)
        assert best is not None
        return self.lru[best[1]], best[0] < 4

    def _for_write(self, now: float, block: int, count: int) -> Segment:
        if self.own is not None:
            return self.own
        ranks = []
        for order, segment in enumerate(self.lru):
            start, end = self._held(segment, now)
            prefetches = self._prefetches(segment, now)
            overlaps = max(start, block) < min(end, block + count)
            rank = 3 if prefetches else 0 if overlaps else 1 if start == end else 2
            ranks.append((rank, order))
        return self.lru[min(ranks)[1]]

    def _used(self, segment: Segment, *, wrote: bool) -> None:
        self.lru.remove(segment)
        self.lru.append(segment)
        segment.wrote, self.last = wrote, segment

    def _stop(self, now: float) -> float:
        """Ends reading ahead."""
        if self.reader is None or self.reader.reading is None:
            return 0.0
        reading = self.reader.reading
        in_sector = self.keys.on("stop prefetch in sector")
        rest, self.arm = reading.stop(now, in_sector=in_sector)
        self._held(self.reader, now + rest + ALMOST)
        self.reader.reading = self.reader = None
        return rest

    def _free(self, now: float, wanted: float, rest: float) -> float:
        """When the arm can move, of a command that comes `now` while it has a `rest` to do."""
        return max(wanted, now + rest) if self.as_drives else wanted + rest

    # Reads.

    def _limit(self, segment: Segment, end: int) -> int:
        kind = int(self.keys.ms("buffer continuous read"))
        ahead = end + int(self.keys.ms("maximum read-ahead (blks)"))
        reading = segment.reading
        if kind == 0:
            limit = end
        elif kind == 1:
            limit = min(ahead, self.drive.track(end - 1).end)
        elif kind == 3:
            limit = ahead
        else:
            track = self.drive.track(min(end, self.drive.capacity - 1))
            start = max(segment.start, end - self.size)
            limit = track.end + (track.sectors if start < track.first else 0)
        return min(max(limit, reading.limit if reading else 0, end), self.drive.capacity)

    def _start_reading(self, segment: Segment, begin: float, block: int) -> None:
        segment.reading = Reading(self.drive, self.arm, begin, block)
        self.reader = segment

    def _read(self, now: float, block: int, count: int) -> float:
        keys, end = self.keys, block + count
        miss = keys.ms(f"read miss over. after {self.after}")
        busy = self.writer is not None and self.written_ms > now
        start = max(now + miss, self.written_ms) if busy else now
        segment, hit = self._for_read(start, block, count)
        whole = hit and end <= segment.end
        if hit and self._prefetches(segment, start):
            assert segment.reading is not None
            segment.reading.limit = self._limit(segment, end)
        elif not whole or (
            keys.on("read-ahead on idle hit") and self._limit(segment, end) > segment.end
        ):
            rest = self._stop(start)
            if not hit:
                segment.start = segment.end = block
                segment.reading = None
            begin = self._free(start, start if busy else now + miss, rest)
            self._start_reading(segment, begin, segment.end)
            assert segment.reading is not None
            segment.reading.limit = self._limit(segment, end)
        self._used(segment, wrote=False)
        reading = segment.reading
        b, ready = self.bus_ms["R"], keys.ms("data preparation overhead")
        left = now + miss + keys.ms(f"read disconnect after{self.after}")
        if busy and self.never:
            at = start + ready
        elif hit and busy:
            at = max(left, start) + keys.ms("first reselect overhead") + ready
        elif hit or self.never:
            at = now + (keys.ms(f"read hit over. after {self.after}") if hit else miss) + ready
        else:
            assert reading is not None
            at = self._reconnected(left, reading, block, block, end)
        if whole:
            return at + count * b + keys.ms("read completion overhead")
        assert reading is not None
        sent = block
        while sent < end:
            there = min(end, reading.reached(at))
            if there > sent:
                at, sent = at + (there - sent) * b, there
            elif self.holds:
                at = reading.end_of(sent)
            else:
                at = self._reconnected(at, reading, block, sent, end)
        return at + keys.ms("read completion overhead")

    def _reconnected(self, left: float, reading: Reading, block: int, sent: int, end: int) -> float:
        """When the bus is ready for data again, of a drive that has left it."""
        keys = self.keys
        mark = int(min(end - block, self.size) * keys.ms("high (read) water mark"))
        wanted = min(end, sent + max(1, mark))
        ready = max(left, reading.end_of(wanted - 1))
        return ready + keys.ms("first reselect overhead") + keys.ms("data preparation overhead")

    # Writes.

    def _write(self, now: float, block: int, count: int) -> float:
        keys, b = self.keys, self.bus_ms["W"]
        fast = keys.on("fast write level")
        overhead = keys.ms(f"write {'hit' if fast else 'miss'} over. after {self.after}")
        reselect, ready = keys.ms("first reselect overhead"), keys.ms("data preparation overhead")
        busy = self.writer is not None and self.written_ms > now
        sequel = self.writer is not None and self.writer.end == block
        if busy and sequel:
            data = now + overhead + ready
            self._to_medium(self.written_ms, block, count, data, least_ms=0.0)
            self._overwrite(self.writer, block, count)
            self._hold(self.writer, self.writer.start, block + count)
            return data + count * b + keys.ms("write completion overhead")
        mechanical, data = now + overhead, now + overhead + ready
        start = now
        if busy:
            leaves, comes = keys.ms("write disconnect overhead"), reselect
            if self.never:
                leaves = comes = 0.0
            start = max(now + overhead + leaves, self.written_ms)
            mechanical, data = start, start + comes + ready
        segment = self._for_write(start, block, count)
        again = segment.wrote and segment is self.last and segment.end != block
        extra = not fast and keys.on("extra write disconnect") and again
        rest = self._stop(start)
        self._overwrite(segment, block, count)
        self._used(segment, wrote=True)
        segment.reading, self.writer = None, segment
        self._hold(segment, block, block + count)
        if extra:
            command = now + keys.ms("extradisc command overhead")
            mechanical = command + keys.ms("extradisc seek delta")
            left = command + keys.ms("extradisc disconnect overhead")
            data = left + keys.ms("extradisc inter-disconnect delay") + reselect + ready
        least_ms = keys.ms("minimum seek delay")
        mechanical = self._free(start, mechanical, rest)
        self._to_medium(mechanical, block, count, data, least_ms=least_ms)
        sent = data + count * b
        if fast:
            return sent + keys.ms("write completion overhead")
        if not self.never:
            sent += keys.ms(f"{'extradisc 2nd' if extra else 'write'} disconnect overhead")
        done = max(sent, self.written_ms)
        if not self.never:
            done += keys.ms("other reselect overhead") if extra else reselect
        return done + keys.ms("write completion overhead")

    def _overwrite(self, segment: Segment, block: int, count: int) -> None:
        """A write into a segment empties others that hold any of its blocks."""
        for other in self.lru:
            if other is not segment and other.start < block + count and block < other.end:
                other.start = other.end = 0

    def _hold(self, segment: Segment, start: int, end: int) -> None:
        """What a segment holds of written blocks, once they are on the medium."""
        hits = self.keys.on("allow read hits on write data")
        segment.start, segment.end = max(start, end - self.size) if hits else end, end

    def _to_medium(
        self, begin: float, block: int, count: int, data: float, *, least_ms: float
    ) -> None:
        """Writes blocks whose first leaves for the buffer at `data`."""
        drive, b, at, end = self.drive, self.bus_ms["W"], begin, block + count
        first = 1
        if self.keys.on("extra write disconnect"):
            first = 15 if count >= 45 else min(count, 10)
        run = block
        while run < end:
            place, stop = drive.place(run), min(end, drive.run(run))
            at += max(least_ms, drive.seek(self.arm, place, writes=True))
            self.arm, least_ms = place[:2], 0.0
            at += drive.latency(at, place.angle)
            for each in range(run, stop):
                needed = first if each == block else each + 1 - block
                while at + ALMOST < data + needed * b:
                    at += drive.period_ms
                at += place.sector_share * drive.period_ms
            run = stop
        self.written_ms = at


def read_validate(trace: Path) -> tuple[list[Request], list[float]]:
    """The requests of a validation trace, and the response times that it gives, in ms."""
    lines = [line.split() for line in trace.read_text().splitlines()]
    requests = [Request(w[0], int(w[2]), int(w[3]), float(w[5]) / 1000) for w in lines]
    return requests, [float(words[4]) / 1000 for words in lines]
