"""`raidlab record`: /proc/diskstats at even times, as a load file.

Samples go to a journal beside the load file as they come: a line of differences each, only of
devices that did anything. A recording that was interrupted goes on where the journal ends; the
pause is a gap.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.monitoring import physics
from raidlab.calibration.monitoring.counters import Counter, Snapshot, deltas, rates
from raidlab.calibration.monitoring.importing import Imported, without_gaps
from raidlab.calibration.monitoring.layers import default_devices
from raidlab.calibration.monitoring.readers.diskstats import FIELDS, UNITS
from raidlab.calibration.monitoring.samples import Capture, Quantity, Series, series_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import reason, unreadable

DISKSTATS = Path("/proc/diskstats")
_HEAD = "raidlab-journal"


@dataclass(frozen=True)
class Clock:
    """Time as a recording sees it; replaced in tests."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def journal_of(out: Path) -> Path:
    """The journal beside a load file."""
    return out.with_name(f"{out.name}.journal")


def snapshot(path: Path, at: float) -> dict[str, Snapshot]:
    """The counters of every device.

    Raises:
        SpecError: The file cannot be read, or holds none.
    """
    try:
        text = path.read_text()
    except OSError as error:
        raise unreadable(path, reason(error)) from None
    found: dict[str, Snapshot] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 14:
            continue
        counts: dict[Counter, float] = {
            counter: float(word) * UNITS.get(counter, 1.0)
            for counter, word in zip(FIELDS, words[3:], strict=False)
            if counter is not None
        }
        found[words[2]] = Snapshot(at, counts, UNITS)
    if not found:
        raise SpecError([Fault("", None, "counters of disks, as Linux has them", (), str(path))])
    return found


def record(
    out: Path,
    seconds: float,
    interval_s: float,
    *,
    path: Path = DISKSTATS,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Records for `seconds`, or for what lacks of them if a journal is there.

    Args:
        out: The load file; its journal stands beside it.
        seconds: Of recording altogether, pauses aside.
        interval_s: Between samples.
        path: The counters.
        clock: The time.
        progress: Called with the samples so far and all of them.

    Returns:
        The journal.

    Raises:
        SpecError: The counters cannot be read, or the journal is of another interval.
        KeyboardInterrupt: Ctrl-C; the journal has everything up to then.
    """
    clock = clock or Clock()
    journal = journal_of(out)
    wanted = max(1, round(seconds / interval_s))
    done = _samples(journal, interval_s)
    before = snapshot(path, clock.now())
    with journal.open("a", encoding="utf-8") as file:
        if not _ends_whole(journal):
            file.write("\n")
        if done == 0:
            file.write(json.dumps({"kind": _HEAD, "interval_s": interval_s}) + "\n")
        due = clock.now()
        while done < wanted:
            due += interval_s
            clock.sleep(max(0.0, due - clock.now()))
            now = snapshot(path, clock.now())
            file.write(_line(before, now) + "\n")
            # A power failure costs a sample, not the recording.
            file.flush()
            before, done = now, done + 1
            due = max(due, clock.now() - interval_s)
            if progress is not None:
                progress(done, wanted)
    return journal


def _ends_whole(journal: Path) -> bool:
    """False if the last line of a journal was not finished."""
    with journal.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 1))
        return file.read(1) in (b"", b"\n")


def _line(before: Mapping[str, Snapshot], now: Mapping[str, Snapshot]) -> str:
    """A sample: its end, its length, and what each device did."""
    capture = Capture("record")
    moved: dict[str, list[float]] = {}
    end = next(iter(now.values())).at
    begin = next(iter(before.values())).at
    for name, each in now.items():
        if name not in before:
            continue
        rises = deltas(name, before[name], each, capture)
        if rises is None:
            continue
        values = [rises.get(counter, 0.0) for counter in FIELDS if counter is not None]
        if any(values):
            while values and values[-1] == 0:
                values.pop()
            moved[name] = [int(value) for value in values]
    sample = [round(end, 3), round(end - begin, 4), *([moved] if moved else [])]
    return json.dumps(sample, separators=(",", ":"))


def _samples(journal: Path, interval_s: float) -> int:
    """Samples that a journal has; 0 without one.

    Raises:
        SpecError: It is of another interval, or none.
    """
    if not journal.exists():
        return 0
    lines = journal.read_text(encoding="utf-8").splitlines()
    try:
        head = json.loads(lines[0]) if lines else {}
    except ValueError:
        head = {}
    if lines and (not isinstance(head, dict) or head.get("kind") != _HEAD):
        raise SpecError([Fault("", None, "a journal of raidlab record", (), str(journal))])
    if lines and head["interval_s"] != interval_s:
        allowed = f"{head['interval_s']:g} s, as the journal has; or remove the journal"
        raise SpecError([Fault("--interval", f"{interval_s:g} s", allowed, (), str(journal))])
    return sum(line.endswith("]") for line in lines[1:])


def imported(journal: Path) -> Imported:
    """What a journal holds, as the other readers give it.

    Raises:
        SpecError: It holds no sample in which a disk did anything.
    """
    capture = Capture("record", zone="Z")
    rows: dict[str, list[tuple[float, float, dict[Quantity, float]]]] = {}
    times: list[tuple[float, float]] = []
    counters = [counter for counter in FIELDS if counter is not None]
    for end, length, moved in _read(journal):
        times.append((end, length))
        for name, values in moved.items():
            rises = dict.fromkeys(counters, 0.0) | dict(zip(counters, values, strict=False))
            rows.setdefault(name, []).append((end, length, rates(rises, length)))
    for name, every in rows.items():
        capture.series[name] = _with_idle(every, times)
        physics.complete(name, capture.series[name], capture)
        capture.series[name] = without_gaps(capture.series[name])
    if not capture.series:
        why = "no disk did anything while it was recorded"
        raise SpecError([Fault("", None, why, (), str(journal))])
    for series in capture.series.values():
        capture.saw(series.at)
    return Imported((journal,), capture, False, default_devices(capture))


def _read(journal: Path) -> Iterator[tuple[float, float, dict[str, list[int]]]]:
    with journal.open(encoding="utf-8") as file:
        next(file, None)
        for line in file:
            try:
                sample = json.loads(line)
            except ValueError:
                # The last line of a recording that was killed.
                continue
            if len(sample) >= 2 and sample[1] > 0:
                yield float(sample[0]), float(sample[1]), sample[2] if len(sample) > 2 else {}


def _with_idle(
    rows: list[tuple[float, float, dict[Quantity, float]]], times: list[tuple[float, float]]
) -> Series:
    """A series with zeros where the device did nothing."""
    by_time = {end: values for end, _, values in rows}
    idle = {Quantity.READS: 0.0, Quantity.WRITES: 0.0, Quantity.READ_BYTES: 0.0,
            Quantity.WRITE_BYTES: 0.0, Quantity.QUEUE: 0.0, Quantity.UTIL: 0.0}  # fmt: skip
    return series_of([(end, length, by_time.get(end, idle)) for end, length in times], {})
