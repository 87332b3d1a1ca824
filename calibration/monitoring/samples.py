"""What every reader gives: samples of each device in base units, and notes about the file.

Rates are per second, sizes are bytes, latencies are milliseconds. NaN stands for what a sample
does not hold. Times are seconds since 1970 by the clock of the file: `Capture.zone` says how far
that clock is from UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Quantity(Enum):
    """What a column holds, in base units."""

    READS = "reads/s"
    WRITES = "writes/s"
    IOS = "reads and writes/s"
    READ_BYTES = "read bytes/s"
    WRITE_BYTES = "written bytes/s"
    BYTES = "bytes/s"
    READ_SIZE = "bytes per read"
    WRITE_SIZE = "bytes per write"
    SIZE = "bytes per request"
    R_AWAIT = "ms per read"
    W_AWAIT = "ms per write"
    AWAIT = "ms per request"
    QUEUE = "mean queue"
    UTIL = "busy percent"
    DISCARDS = "discards/s"
    DISCARD_BYTES = "discarded bytes/s"
    D_AWAIT = "ms per discard"
    FLUSHES = "flushes/s"
    F_AWAIT = "ms per flush"
    GUEST_AWAIT = "ms per request, seen by the guest"
    QUEUE_LIMIT = "queue depth of the device"


class Layer(Enum):
    """Where a device stands; only `DISK` is taken unless asked otherwise."""

    DISK = "disk"
    PARTITION = "partition"
    ABOVE = "above other devices"
    SUM = "sum"
    ADAPTER = "adapter"
    MEMORY = "loop, RAM or CD-ROM"


@dataclass(frozen=True)
class Note:
    """A thing that a user should know."""

    code: str
    subject: str
    """Device, column or file."""
    text: str

    def __str__(self) -> str:
        """One sentence."""
        return f"{self.subject}: {self.text}" if self.subject else self.text


@dataclass
class Series:
    """Samples of a device, in the order of time."""

    at: Array
    """Seconds; NaN where the file has no times."""
    length: Array
    """Seconds that a sample covers; NaN where the file does not say."""
    columns: dict[Quantity, Array]
    step: dict[Quantity, float] = field(default_factory=dict)
    """The unit of a column's last printed digit."""
    gaps: int = 0
    layer: Layer | None = None
    """None: the name decides."""

    def column(self, quantity: Quantity) -> Array | None:
        """A column, or None if no sample holds it."""
        found = self.columns.get(quantity)
        return None if found is None or bool(np.isnan(found).all()) else found

    def kept(self, mask: NDArray[np.bool_]) -> Series:
        """The samples for which `mask` is true."""
        columns = {quantity: column[mask] for quantity, column in self.columns.items()}
        return Series(
            self.at[mask], self.length[mask], columns, dict(self.step), self.gaps, self.layer
        )

    def __len__(self) -> int:
        return len(self.at)


class Boot(Enum):
    """Whether the first sample covers the time since boot."""

    NEVER = "the tool has no such sample"
    DROPPED = "the reader has left it out"
    OPEN = "the first report of each run of the tool may be one"


@dataclass(frozen=True)
class Histogram:
    """A count of requests by upper limit of a bucket."""

    buckets: Mapping[int, int]
    mean: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def count(self) -> int:
        """Requests in all buckets."""
        return sum(self.buckets.values())


@dataclass(frozen=True)
class DiskHistograms:
    """What vscsiStats counts of a virtual disk since its collection began."""

    read_sizes: Histogram | None = None
    write_sizes: Histogram | None = None
    sizes: Histogram | None = None
    distance: Histogram | None = None
    latency_us: Histogram | None = None
    outstanding: Histogram | None = None
    gap_us: Histogram | None = None


@dataclass(frozen=True)
class Unnamed:
    """A series of which the file does not say what it measures."""

    samples: int
    mean: float | None
    nan_dropped: int = 0
    inf_dropped: int = 0
    gap: bool = False


@dataclass
class Capture:
    """What a reader got of its files."""

    source: str
    series: dict[str, Series] = field(default_factory=dict)
    histograms: dict[str, DiskHistograms] = field(default_factory=dict)
    host: str | None = None
    version: str | None = None
    """Of the tool, as far as its output shows it."""
    zone: str | None = None
    """`Z`, `+01:00`; None where the file does not say."""
    first: float | None = None
    last: float | None = None
    """Times in the file, those of dropped samples too."""
    boot: Boot = Boot.NEVER
    runs: Sequence[Mapping[str, int]] = ()
    """Where each run of the tool begins in each series, if `boot` is open."""
    first_is_longer: bool = False
    """True if the first report's own amounts show that it lasted longer than those after it."""
    interval_from: str | None = None
    statistic_assumed: str | None = None
    repaired: bool = False
    gaps: int = 0
    notes: list[Note] = field(default_factory=list)

    def note(self, code: str, subject: str, text: str) -> None:
        """Adds a note, once."""
        added = Note(code, subject, text)
        if added not in self.notes:
            self.notes.append(added)

    def saw(self, times: Iterable[float]) -> None:
        """Widens the time that the file covers."""
        for time in times:
            if not np.isnan(time):
                self.first = time if self.first is None else min(self.first, time)
                self.last = time if self.last is None else max(self.last, time)


class RefusedError(Exception):
    """A file that cannot be read as monitoring; nothing is invented."""

    def __init__(
        self,
        fact: str,
        *,
        remedy: str = "",
        needs: str | None = None,
        source: str | None = None,
        unnamed: Mapping[str, Unnamed] | None = None,
    ) -> None:
        super().__init__(fact)
        self.fact = fact
        """What is wrong with it."""
        self.remedy = remedy
        """The option that says what is missing, in words; empty where none does."""
        self.needs = needs
        """What a user would have to say: an option's name."""
        self.source = source
        self.unnamed = dict(unnamed or {})

    @property
    def reason(self) -> str:
        """What is wrong, and the option that helps."""
        return f"{self.fact}; {self.remedy}" if self.remedy else self.fact


@dataclass
class Recorder:
    """Collects samples row by row and makes series of them."""

    rows: dict[str, list[tuple[float, float, dict[Quantity, float]]]] = field(default_factory=dict)
    step: dict[str, dict[Quantity, float]] = field(default_factory=dict)
    layers: dict[str, Layer] = field(default_factory=dict)

    def add(self, device: str, at: float, length: float, values: Mapping[Quantity, float]) -> None:
        """A sample; values of the same device and time are joined."""
        rows = self.rows.setdefault(device, [])
        if rows and rows[-1][0] == at and not (rows[-1][2].keys() & values.keys()):
            rows[-1][2].update(values)
        else:
            rows.append((at, length, dict(values)))

    def coarse(self, device: str, quantity: Quantity, step: float) -> None:
        """Notes the last digit's unit of a column; the coarsest counts."""
        steps = self.step.setdefault(device, {})
        steps[quantity] = max(step, steps.get(quantity, 0.0))

    def series(self) -> dict[str, Series]:
        """What was collected."""
        return {
            name: series_of(rows, self.step.get(name, {}), self.layers.get(name))
            for name, rows in self.rows.items()
        }


def series_of(
    rows: Sequence[tuple[float, float, Mapping[Quantity, float]]],
    step: Mapping[Quantity, float],
    layer: Layer | None = None,
) -> Series:
    """A series of rows: time, length and values each."""
    present = {quantity for _, _, values in rows for quantity in values}
    return Series(
        np.array([at for at, _, _ in rows], dtype=np.float64),
        np.array([length for _, length, _ in rows], dtype=np.float64),
        {
            quantity: np.array(
                [values.get(quantity, np.nan) for _, _, values in rows], dtype=np.float64
            )
            for quantity in Quantity
            if quantity in present
        },
        dict(step),
        0,
        layer,
    )
