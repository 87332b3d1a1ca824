"""`raidlab import monitoring`: files of a monitoring tool become samples of devices."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from raidlab.calibration.monitoring import boot, clock, figures, layers, physics
from raidlab.calibration.monitoring.boot import SinceBoot
from raidlab.calibration.monitoring.readers import READERS
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Array, Capture, Quantity, RefusedError, Series
from raidlab.calibration.monitoring.source import Source
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import unreadable
from raidlab.devices.trees import Document

_HOLE = 1.5
"""Intervals between two samples from which on something lacks."""
_FIRST_YEARS = 366 * clock.DAY
"""Seconds from 1970 on, below which a time is one without a year."""
_VMSTAT = re.compile(r"^procs\b.*\bmemory\b.*\bswap\b", re.MULTILINE)
_SURE_SCORE = 0.15
"""How sure a reader has to be."""
_LISTED = 20
"""Devices that a message lists."""


@dataclass
class Imported:
    """What files of monitoring hold."""

    files: tuple[Path, ...]
    capture: Capture
    since_boot_dropped: bool = False
    default_devices: list[str] = field(default_factory=list)
    refused: RefusedError | None = None

    @property
    def interval_s(self) -> float | None:
        """Seconds between samples; None where the file does not say."""
        return interval(list(self.capture.series.values()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know."""
        return tuple(str(note) for note in self.capture.notes)

    def take(self, option: str, devices: Sequence[str]) -> None:
        """Takes the devices that an option names instead of the usual ones; none change nothing.

        Raises:
            SpecError: All that were not seen.
        """
        must_be_known(option, devices, [*self.capture.series, *self.capture.histograms])
        if devices:
            self.default_devices = list(dict.fromkeys(devices))

    def to_dict(self) -> Document:
        """The document of `raidlab import monitoring --json`."""
        capture = self.capture
        devices: dict[str, object] = {
            name: figures.figures(each).to_dict() for name, each in capture.series.items()
        }
        devices |= {
            name: figures.histogram_figures(each) for name, each in capture.histograms.items()
        }
        document: dict[str, object] = {
            "files": [str(path) for path in self.files],
            "format": capture.source,
            "source": capture.source,
            "host": capture.host,
            "sysstat": capture.version,
            "interval_s": self.interval_s,
            "interval_from": capture.interval_from,
            "statistic_assumed": capture.statistic_assumed,
            "start": clock.written(capture.first, capture.zone),
            "end": clock.written(capture.last, capture.zone),
            "since_boot_dropped": self.since_boot_dropped,
            "repaired": capture.repaired,
            "gaps": max([capture.gaps, *(each.gaps for each in capture.series.values())]),
            "devices": devices,
            "default_devices": self.default_devices,
            "warnings": list(self.warnings),
            "warnings_typed": [dict(vars(note)) for note in capture.notes],
        }
        if self.refused is not None:
            document |= {
                "refused": True,
                "reason": self.refused.reason,
                "needs": self.refused.needs,
                "series": {name: dict(vars(each)) for name, each in self.refused.unnamed.items()},
            }
        return document


def must_be_known(option: str, devices: Sequence[str], known: Sequence[str]) -> None:
    """Refuses devices that were not seen.

    Raises:
        SpecError: All of them.
    """
    allowed = f"one of {', '.join(known[:_LISTED])}"
    faults = [Fault(option, name, allowed, known) for name in devices if name not in known]
    if faults:
        raise SpecError(faults)


def interval(series: Sequence[Series]) -> float | None:
    """The usual distance of samples in seconds; whole seconds where it is near to them."""
    lengths = [each.length[~np.isnan(each.length)] for each in series]
    every = np.concatenate([np.zeros(0), *lengths])
    every = every[every > 0]
    if not len(every):
        return None
    usual = float(np.median(every))
    near = round(usual)
    return near if near and abs(usual - near) < 0.02 * usual else usual


def without_gaps(series: Series) -> Series:
    """The samples that hold anything; `gaps` counts the holes between them."""
    seen = figures.present(series) > 0
    kept = series if seen.all() else series.kept(seen)
    at, length = kept.at, figures.weights(kept)
    known = ~np.isnan(at)
    if known.all() and len(at) > 1:
        length = length if not np.isnan(kept.length).all() else np.full(len(at), _usual(at))
        holes = int((np.diff(at) > _HOLE * length[1:]).sum())
    else:
        empty = figures.present(series) == 0
        holes = int((empty[1:] & ~empty[:-1]).sum()) - int(empty[-1:].sum())
    kept.gaps = max(series.gaps, holes)
    return kept


def _usual(at: Array) -> float:
    return float(np.median(np.diff(at)))


def recognised(source: Source) -> Reader:
    """The reader for a file, by its content.

    Raises:
        RefusedError: No reader knows it.
    """
    head = source.head.lstrip("\ufeff")
    sure = [(reader.recognises(head), -at, reader) for at, reader in enumerate(READERS)]
    best = max(sure, key=lambda each: each[:2])
    if best[0] < _SURE_SCORE:
        names = ", ".join(reader.name for reader in READERS)
        first = next((line.strip() for line in head.splitlines() if line.strip()), "")
        if _VMSTAT.search(head):
            raise RefusedError(
                "vmstat's totals of all devices", remedy="iostat -x 1 and vmstat -d 1 name devices"
            )
        raise RefusedError(
            f"no known output of a monitoring tool; it begins with {first[:60]!r}",
            remedy=f"if it is one of these, --format says which: {names}",
        )
    return best[2]


def _why_no_file(path: Path) -> str:
    return "a folder: its files are wanted" if path.is_dir() else "no such file"


def reader_named(name: str) -> Reader:
    """The reader of a format.

    Raises:
        SpecError: There is none of that name.
    """
    names = {reader.name: reader for reader in READERS}
    if name not in names:
        known = sorted(names)
        raise SpecError([Fault("--format", name, f"one of {', '.join(known)}", known)])
    return names[name]


def import_monitoring(
    paths: Sequence[Path],
    *,
    format: str = "",
    since_boot: SinceBoot = SinceBoot.AUTO,
    options: Options | None = None,
) -> Imported:
    """Reads what a monitoring tool printed.

    Args:
        paths: Files of one tool and one time: parts, or one metric each.
        format: The reader's name; recognised by content if empty.
        since_boot: What is done with reports that cover the time since boot.
        options: What the files do not say.

    Returns:
        The samples. Where the files cannot be read as monitoring, `refused` says why.

    Raises:
        SpecError: A file cannot be opened, or `format` is unknown.
    """
    wanted = reader_named(format) if format else None
    missing = [path for path in paths if not path.is_file() and not path.is_fifo()]
    if missing or not paths:
        raise SpecError(
            [f for path in missing for f in unreadable(path, _why_no_file(path)).faults]
            or [Fault("", None, "a file that a monitoring tool printed")]
        )
    sources = [Source(path) for path in paths]
    capture = Capture("")
    try:
        readers = {wanted or recognised(source) for source in sources}
        if len(readers) > 1:
            names = " and ".join(sorted(reader.name for reader in readers))
            raise RefusedError(f"the files are of several tools ({names}): import them apart")
        reader = next(iter(readers))
        capture.source = reader.name
        capture = _read(reader, sources, options or Options())
        return _finished(tuple(paths), capture, since_boot, options or Options())
    except RefusedError as error:
        capture.source = error.source or capture.source
        return Imported(tuple(paths), capture, refused=error)


def _read(reader: Reader, sources: Sequence[Source], options: Options) -> Capture:
    """What a reader gets; damage that it does not know is a refusal.

    Raises:
        RefusedError: The files cannot be read.
    """
    try:
        return reader.read(sources, options)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, csv.Error) as error:
        if isinstance(error, SpecError):
            raise
        why = f"looks like {reader.what}, but is damaged: {error}"
        raise RefusedError(why, source=reader.name) from error


def _finished(
    paths: tuple[Path, ...], capture: Capture, since_boot: SinceBoot, options: Options
) -> Imported:
    dropped = boot.drop_since_boot(capture, since_boot)
    for name, series in capture.series.items():
        if options.interval_s is not None:
            series.length = np.where(np.isnan(series.length), options.interval_s, series.length)
        physics.complete(name, series, capture)
        capture.series[name] = without_gaps(series)
    _note_missing(capture)
    if not capture.histograms and not any(
        figures.present(each).any() for each in capture.series.values()
    ):
        raise RefusedError(
            "one sample only, and it covers the time since boot: at least two are needed"
            if dropped
            else "no sample of any device is in it",
            source=capture.source,
        )
    chosen = layers.default_devices(capture) or list(capture.histograms)
    return Imported(paths, capture, dropped, chosen)


def _note_missing(capture: Capture) -> None:
    """What the file cannot say about its devices."""
    taken = capture.series
    if not taken:
        return
    unsplit = [n for n, e in taken.items() if e.column(Quantity.READS) is None]
    if unsplit and len(unsplit) == len(taken):
        waits = any(
            e.column(q) is not None
            for e in taken.values()
            for q in (Quantity.AWAIT, Quantity.R_AWAIT, Quantity.W_AWAIT)
        )
        if any(e.column(Quantity.IOS) is not None for e in taken.values()):
            text = "requests are not split into reads and writes"
            capture.note("not-split", "", text + ("" if waits else ", and there is no latency"))
    elif all(
        e.column(q) is None
        for e in taken.values()
        for q in (Quantity.AWAIT, Quantity.R_AWAIT, Quantity.W_AWAIT)
    ):
        capture.note("no-latency", "", "no latency is in the file")
    if all(
        e.column(q) is None
        for e in taken.values()
        for q in (Quantity.BYTES, Quantity.READ_BYTES, Quantity.WRITE_BYTES)
    ):
        capture.note("no-bytes", "", "no bytes are in the file: sizes are unknown")
    if interval(list(taken.values())) is None:
        capture.note("no-interval", "", "the interval is not in the file: --interval says it")
    elif math.isnan(capture.first or math.nan):
        capture.note("no-times", "", "no times are in the file")
    elif capture.first is not None and capture.first < _FIRST_YEARS:
        capture.note(
            "no-date", "", "its times have no year, or no date: they are counted from 1970-01-01"
        )
