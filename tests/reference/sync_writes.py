"""Journals of ext4 and XFS on a drive that takes one time for any command: callers and commits.

After fs/ext4/fsync.c, fs/jbd2/commit.c and fs/xfs/xfs_file.c: a transaction runs, one is committed,
callers wait for theirs. Times in whole nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import simpy

from tests.reference.models import Process

COMMANDS = {
    "ext4": ("blocks", "barrier", "commit block", "flush"),
    "xfs": ("barrier", "record", "flush"),
}


@dataclass
class File:
    """Transactions of a file's last changes; 0 for none."""

    tick: int = -1
    times: int = 0
    data: int = 0


@dataclass
class Journal:
    """A journal, and the transaction that runs."""

    env: simpy.Environment
    kind: str
    service_ns: int
    tick_ns: int
    running: int = 1
    committing: int = 0
    barrier_sent: bool = False
    waiting: list[simpy.Event] = field(default_factory=list)
    served: list[simpy.Event] = field(default_factory=list)

    def command(self) -> simpy.Event:
        """A command to the drive, beside all others."""
        return self.env.timeout(self.service_ns)

    def change(self, file: File, number: int, tick: int, *, allocates: bool) -> None:
        """A file is changed in a transaction."""
        if tick != file.tick or allocates:
            file.tick, file.times = tick, max(file.times, number)
        if allocates:
            file.data = max(file.data, number)

    def sync(self, file: File, *, times: bool) -> Process:
        """A caller waits for a file's changes, or for a flush."""
        number = max(file.times, file.data) if times else file.data
        if number == self.running:
            done = self.env.event()
            self.waiting.append(done)
            if not self.committing:
                self.env.process(self._commits())
            yield done
            return
        if number and number == self.committing:
            late = self.barrier_sent
            done = self.env.event()
            self.served.append(done)
            yield done
            if not late:
                return
        yield self.command()

    def _commits(self) -> Process:
        while self.waiting:
            self.served, self.waiting = self.waiting, []
            self.committing, self.running = self.running, self.running + 1
            for name in COMMANDS[self.kind]:
                self.barrier_sent = self.kind == "xfs" or name != "blocks"
                yield self.command()
            served, self.served = self.served, []
            self.committing = 0
            for done in served:
                done.succeed()


@dataclass
class Caller:
    """Writes, syncs, thinks, over and over; its file is its own."""

    journal: Journal
    think_ns: int
    times: bool
    allocates: bool
    latencies: list[int] = field(default_factory=list)

    def run(self) -> Process:
        """For ever."""
        journal, env, file = self.journal, self.journal.env, File()
        while True:
            begin, number = env.now, journal.running
            yield journal.command()
            if self.allocates:
                # Blocks are allocated and sizes changed when the data are there.
                begun, number = env.now, journal.running
            else:
                begun = begin
            tick = int(begun) // journal.tick_ns
            journal.change(file, number, tick, allocates=self.allocates)
            yield env.process(journal.sync(file, times=self.times))
            self.latencies.append(int(env.now - begin))
            yield env.timeout(self.think_ns)


def callers(
    kind: str, thinks_ns: list[int], until_ns: int, *, times: bool, allocates: bool
) -> list[list[int]]:
    """Latencies in nanoseconds of each caller's writes that are durable before `until_ns`."""
    env = simpy.Environment()
    journal = Journal(env, kind, 100_000, 4_000_000)
    all_of_them = [Caller(journal, think, times, allocates) for think in thinks_ns]
    for caller in all_of_them:
        env.process(caller.run())
    env.run(until_ns)
    return [caller.latencies for caller in all_of_them]
