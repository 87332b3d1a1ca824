"""The stripe cache of Linux md, page by page: every page of every member is a request of its own.

After drivers/md/raid5.c (`raid5_make_request`, `handle_stripe_dirtying`, `raid5d`). Members take a
fixed time for any number of requests at once. Times in whole nanoseconds.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import simpy

from tests.reference.models import Process

PAGE = 4096


@dataclass
class Write:
    """A write of the load: it ends with the last of its pages."""

    end: simpy.Event
    pages: int
    """That are not on the members yet."""


@dataclass
class Stripe:
    """A page of each member at one offset."""

    new: dict[int, list[Write]] = field(default_factory=lambda: defaultdict(list))
    """Writes that have come, by column."""
    known: set[int] = field(default_factory=set)
    """What has been read of it: columns, and -1 for all parities."""
    reads: int = 0
    busy: bool = False
    """Whether it is with the thread or reads; `new` grows all the same."""
    writing: bool = False
    freed: list[simpy.Event] = field(default_factory=list)


@dataclass
class PagedArray:
    """An array with parity in the host."""

    env: simpy.Environment
    columns: int
    parities: int
    unit_pages: int
    member_ns: int
    page_ns: int
    stripes: dict[int, Stripe] = field(default_factory=lambda: defaultdict(Stripe))
    member_reads: int = 0
    member_writes: int = 0

    def __post_init__(self) -> None:
        self.turns: deque[Stripe] = deque()
        self.idle: simpy.Event | None = None
        """Of the thread, while no stripe waits for it."""
        self.env.process(self._thread())

    def write(self, offset: int, size: int) -> Process:
        """A write of whole pages: it ends with the last of them."""
        pages = range(offset // PAGE, (offset + size) // PAGE)
        write = Write(self.env.event(), len(pages))
        for page in pages:
            row, column = self._place(page)
            stripe = self.stripes[row]
            while column in stripe.new and not stripe.writing:
                freed = self.env.event()
                stripe.freed.append(freed)
                yield freed
            stripe.new[column].append(write)
            if not (stripe.busy or stripe.writing):
                stripe.busy = True
                self._queue(stripe)
        yield write.end

    def _queue(self, stripe: Stripe) -> None:
        self.turns.append(stripe)
        if self.idle is not None:
            self.idle.succeed()
            self.idle = None

    def _place(self, page: int) -> tuple[int, int]:
        unit, row = divmod(page, self.unit_pages)
        stripe, column = divmod(unit, self.columns)
        return stripe * self.unit_pages + row, column

    def _thread(self) -> Process:
        while True:
            if not self.turns:
                self.idle = self.env.event()
                yield self.idle
            stripe = self.turns.popleft()
            lacking = set(self._lacking(stripe))
            if lacking:
                self._read(stripe, lacking)
                continue
            written = len(stripe.new) + self.parities
            yield self.env.timeout(self.page_ns * (stripe.reads + written))
            self._write(stripe, written)

    def _lacking(self, stripe: Stripe) -> Iterator[int]:
        """What has to be read: the rest of the stripe, unless what is replaced is less."""
        modify = (set(stripe.new) | {-1}) - stripe.known
        rest = set(range(self.columns)) - set(stripe.new) - stripe.known
        requests = len(modify) + (self.parities - 1) * (-1 in modify)
        yield from modify if requests < len(rest) else rest

    def _read(self, stripe: Stripe, lacking: set[int]) -> None:
        requests = len(lacking) + (self.parities - 1) * (-1 in lacking)
        stripe.reads += requests
        self.member_reads += requests

        def known(_: simpy.Event) -> None:
            stripe.known |= lacking
            self._queue(stripe)

        self.env.timeout(self.member_ns).callbacks.append(known)

    def _write(self, stripe: Stripe, requests: int) -> None:
        written, stripe.new = stripe.new, defaultdict(list)
        stripe.known, stripe.reads = set(), 0
        stripe.busy, stripe.writing = False, True
        self.member_writes += requests
        for freed in stripe.freed:
            freed.succeed()
        stripe.freed = []

        def ended(_: simpy.Event) -> None:
            stripe.writing = False
            for write in (write for each in written.values() for write in each):
                write.pages -= 1
                if not write.pages:
                    write.end.succeed()
            if stripe.new:
                stripe.busy = True
                self._queue(stripe)

        self.env.timeout(self.member_ns).callbacks.append(ended)


def rate(array: PagedArray, block: int, outstanding: int, submit_ns: int, until_ns: int) -> float:
    """Writes a second of a load in order that takes one after the other time to submit.

    They are counted after a fifth of the time.
    """
    done = 0
    blocks = iter(range(1 << 40))
    thread = simpy.Resource(array.env)

    def job() -> Process:
        nonlocal done
        while True:
            with thread.request() as granted:
                yield granted
                offset = next(blocks) * block
                yield array.env.timeout(submit_ns)
            yield from array.write(offset, block)
            done += array.env.now > until_ns // 5

    for _ in range(outstanding):
        array.env.process(job())
    array.env.run(until=until_ns)
    return done / (until_ns - until_ns // 5) * 1e9
