"""Which drive stands in each place of an array as drives fail and are replaced."""

from __future__ import annotations

from collections.abc import Iterable

from raidlab.scenarios.spec.schema import EventTable

__all__ = ["left_failed"]


def left_failed(events: Iterable[EventTable], members: int, spares: int) -> list[int]:
    """Drives of an array that fail and in whose place no other stands in the end.

    Events of drives that are not there, which are faults, are passed over.
    """
    places = _Places(members, spares)
    for event in sorted(events, key=lambda event: event.at):
        if event.action == "fail-drive":
            places.fail(event.drive)
        elif event.action == "replace-drive":
            places.replace(event.drive)
    return places.failed_there()


class _Places:
    def __init__(self, members: int, spares: int) -> None:
        self.stands = [*range(members)]
        """For each place of the array its drive."""
        self.free = [*reversed(range(members, members + spares))]
        """Hot spares, the next one last."""
        self.failed: set[int] = set()

    def failed_there(self) -> list[int]:
        return [drive for drive in self.stands if drive in self.failed]

    def fail(self, drive: int) -> None:
        """A hot spare takes its place, if there is one."""
        if drive in self.failed:
            return
        self.failed.add(drive)
        if drive in self.free:
            self.free.remove(drive)
        elif self.free and drive in self.stands:
            self.stands[self.stands.index(drive)] = self.free.pop()

    def replace(self, drive: int) -> None:
        """A new drive: rebuilt where it stands, or copied back to, whose spare is then free."""
        self.failed.discard(drive)
        if drive in self.stands:
            return
        spare = drive
        if drive < len(self.stands):
            spare, self.stands[drive] = self.stands[drive], drive
        if spare not in self.failed and spare not in self.free:
            self._wait(spare)

    def _wait(self, spare: int) -> None:
        waiting = self.failed_there()
        if waiting:
            self.stands[self.stands.index(waiting[0])] = spare
        else:
            self.free.append(spare)
