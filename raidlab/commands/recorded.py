"""Counters of this machine's disks recorded for a command, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from raidlab.commands.common import INTERRUPTED, progress, say

if TYPE_CHECKING:
    from raidlab.calibration.monitoring.importing import Imported


@contextmanager
def recorded(
    out: Path, seconds: float, step: float, option: str, devices: Sequence[str]
) -> Iterator[Imported]:
    """What was recorded; once the block has written the load, its journal goes.

    Args:
        out: The load file; its journal stands beside it.
        seconds: Of recording altogether.
        step: Seconds between samples.
        option: That names devices.
        devices: That the block takes of them.

    Raises:
        SpecError: The counters cannot be read, or have no such device: that is said before
            anything is recorded.
        Exit: It was interrupted; the journal stays, so that the same command goes on from there.
    """
    from raidlab.calibration.monitoring import record as recording
    from raidlab.calibration.monitoring.importing import must_be_known

    journal, interrupted = recording.journal_of(out), False
    if not journal.exists():
        must_be_known(option, devices, list(recording.snapshot(recording.DISKSTATS, 0.0)))
    with progress("samples") as tell:
        try:
            recording.record(out, seconds, step, path=recording.DISKSTATS, progress=tell)
        except KeyboardInterrupt:
            interrupted = True
    yield recording.imported(journal)
    if interrupted:
        say("interrupted: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
    journal.unlink(missing_ok=True)
