"""The one form in which measurements are stored: checked, with units, with what was left out.

A measurement is a list of points: a load, and what was measured under it. Points come from fio's
JSON (`fio_json`) or from a collector's bundle; the file is described in
docs/reference/formats/measurement.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from raidlab.calibration.measurements.results import LARGEST_FILE, reader_of
from raidlab.calibration.measurements.state import State
from raidlab.devices.faults import Fault, SpecError, faults_of
from raidlab.devices.reading import MIB, read_json, read_text

FORMAT = "raidlab-measurement-1"
Rw = Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
DIRECTIONS = ("read", "write")
WINDOWS = 12
"""Parts of a measurement's time in which rates are compared, where they change with it."""


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Count = Annotated[int, Field(ge=0, lt=2**63)]


class Latency(_Checked):
    """A distribution of latencies in microseconds."""

    mean_us: Annotated[float, Field(ge=0)]
    stddev_us: Annotated[float, Field(ge=0)] = 0.0
    min_us: Annotated[float, Field(ge=0)] = 0.0
    max_us: Annotated[float, Field(ge=0)] = 0.0
    percentiles_us: dict[str, float] = {}
    """By percent, as "99.9"."""
    bins_ns: tuple[tuple[_Count, _Count], ...] = ()
    """Non-empty buckets of fio's histogram: nanoseconds that stand for the bucket, count."""

    @field_validator("percentiles_us")
    @classmethod
    def _rise(cls, given: dict[str, float]) -> dict[str, float]:
        """Percentiles are percents, and latencies that do not fall with them."""
        try:
            known = sorted((float(percent), value) for percent, value in given.items())
        except ValueError:
            raise ValueError("percents as keys") from None
        if any(not 0.0 <= percent <= 100.0 for percent, _ in known):
            raise ValueError("percents from 0 to 100 as keys")
        latencies = [value for _, value in known]
        if any(value < 0.0 for value in latencies) or latencies != sorted(latencies):
            raise ValueError("latencies of at least 0 that rise with the percent")
        return given

    def percentile(self, percent: float) -> float | None:
        """The percentile if it was measured, in microseconds."""
        for key, value in self.percentiles_us.items():
            if abs(float(key) - percent) < SAME_PERCENT:
                return value
        return None


SAME_PERCENT: Final = 1e-9
"""Difference of two percents that are the same."""


class Side(_Checked):
    """What was measured of reads, or of writes."""

    iops: Annotated[float, Field(gt=0)]
    ios: Annotated[int, Field(ge=0)]
    bytes_per_s: Annotated[float, Field(ge=0)] = 0.0
    latency_mean_us: Annotated[float, Field(gt=0)]
    """From the thread's first work on the I/O to its completion, submission included."""
    submission_mean_us: Annotated[float, Field(ge=0)] = 0.0
    completion: Latency
    """From the end of the submission to the completion: fio's clat."""
    spread: Annotated[float, Field(ge=0)] = 0.0
    """Standard deviation of the rate from sample to sample, as a share of its mean."""


class Step(_Checked):
    """A second of the run."""

    t_s: float
    iops: float | None = None
    latency_us: float | None = None


class Before(_Checked):
    """What the points before one had written to the drive (`measurements.campaign`)."""

    random_bytes: Annotated[int, Field(ge=0)] = 0
    sequential_bytes: Annotated[int, Field(ge=0)] = 0
    """From the beginning of the area on, at most."""


class Point(_Checked):
    """One load and what was measured under it."""

    name: str
    rw: Rw
    read_share: Annotated[float, Field(ge=0, le=1)]
    bs: Annotated[int, Field(ge=1)]
    """Bytes of an I/O."""
    iodepth: Annotated[int, Field(ge=1)]
    """I/Os that each job keeps outstanding."""
    numjobs: Annotated[int, Field(ge=1)] = 1
    area_bytes: Annotated[int | None, Field(ge=1)] = None
    """Part of the device that was loaded; None for all of it, or if it is not known."""
    area_start_bytes: Annotated[int, Field(ge=0)] = 0
    """Where that part begins."""
    state: State | None = None
    """The drive before the run, where it is known."""
    runtime_s: Annotated[float, Field(ge=0)] = 0.0
    ended_s: Annotated[float | None, Field(ge=0)] = None
    """When the run ended, in seconds since 1970."""
    before: Before | None = None
    """None if the order of the points is not known."""
    read: Side | None = None
    write: Side | None = None
    buffered: bool = False
    """True if the host's page cache stood between: fio without `direct=1`."""
    cpu_share: Annotated[float | None, Field(ge=0)] = None
    """CPU time of each job as a share of the run, user and system together."""
    noisy: tuple[str, ...] = ()
    """What else the machine did meanwhile, in words, where the collector found it too much."""
    timeline: tuple[Step, ...] = ()
    file: str = ""

    @model_validator(mode="after")
    def _moves_data(self) -> Point:
        """Something was measured of reads, or of writes."""
        if self.read is None and self.write is None:
            raise ValueError("a rate: neither read nor write has one")
        return self

    @property
    def outstanding(self) -> int:
        """I/Os in flight, all jobs together."""
        return self.iodepth * self.numjobs

    @property
    def load(self) -> tuple[str, int, float]:
        """What points of one load at any depth have in common: direction, blocks, reads' share.

        The share is rounded: it is what was counted, not what was asked for.
        """
        return self.rw, self.bs, round(self.read_share, 2)

    @property
    def iops(self) -> float:
        """I/Os a second, both directions."""
        return sum(side.iops for _, side in self.sides())

    @property
    def latency_mean_us(self) -> float:
        """Mean latency over both directions."""
        return sum(side.iops * side.latency_mean_us for _, side in self.sides()) / self.iops

    @property
    def unseen_us(self) -> float:
        """Mean time of an I/O that fio counts to no latency, in microseconds.

        By Little's law an I/O in a closed loop takes `outstanding / iops` from one issue to the
        next. What fio's latency lacks of it is CPU time after the completion was seen: counting,
        drawing the next offset, filling its data. A simulated latency includes it.
        """
        return max(0.0, 1e6 * self.outstanding / self.iops - self.latency_mean_us)

    def sides(self) -> Iterator[tuple[str, Side]]:
        """The directions that moved data."""
        for name in DIRECTIONS:
            side = getattr(self, name)
            if side is not None:
                yield name, side

    def label(self) -> str:
        """For people: `randread 4k, 8 x 2`."""
        size = f"{self.bs // 1024}k" if self.bs % 1024 == 0 else f"{self.bs} B"
        mix = f" {self.read_share:.0%} reads" if self.rw in ("rw", "randrw") else ""
        return f"{self.rw} {size}{mix}, {self.iodepth} x {self.numjobs}"

    def in_words(self) -> str:
        """For sentences: `randread 4k, depth 8, 2 jobs`."""
        jobs = "1 job" if self.numjobs == 1 else f"{self.numjobs} jobs"
        return f"{self.label().rpartition(',')[0]}, depth {self.iodepth}, {jobs}"


def seconds_of(point: Point) -> float:
    """How long the timeline of a point is; 0 if it has none."""
    if len(point.timeline) < 2:
        return 0.0
    first, last = point.timeline[0].t_s, point.timeline[-1].t_s
    return (last - first) * len(point.timeline) / (len(point.timeline) - 1)


def rates_of(point: Point) -> tuple[float, ...]:
    """The mean rate in each of the `WINDOWS` parts of a point's time; empty without a timeline."""
    known = [step for step in point.timeline if step.iops is not None]
    length = seconds_of(point) / WINDOWS
    if len(known) < WINDOWS:
        return ()
    parts: list[list[float]] = [[] for _ in range(WINDOWS)]
    for step in known:
        at = int((step.t_s - point.timeline[0].t_s) / length + 1e-9)
        parts[min(at, WINDOWS - 1)].append(step.iops or 0.0)
    return tuple(sum(part) / len(part) if part else 0.0 for part in parts)


class File(_Checked):
    """A file that points came from."""

    path: str
    sha256: str
    tool: str = ""
    time: str = ""


class Skipped(_Checked):
    """A file, or a part of one, that gave no point."""

    path: str
    reason: str


class MovedBy(Enum):
    """Who moves the bytes of an I/O."""

    DEVICE = "device"
    KERNEL = "kernel"
    """A thread of the machine's own, as a loop device has one: nobody caps it."""
    ISSUER = "issuer"
    """The thread that issues the I/O, as memory does: the device takes hardly any time besides."""


class Machine(_Checked):
    """What a collector read of the machine and of the target; None where it does not say it."""

    cpus: Annotated[int | None, Field(ge=1)] = None
    """Hardware threads."""
    rotational: bool | None = None
    """As the kernel says; virtual disks often say it and do not turn."""
    model: str | None = None
    """Of the target."""
    device: str | None = None
    """The kernel's name of it: `vda`, `nvme0n1`."""
    capacity_bytes: Annotated[int | None, Field(ge=1)] = None
    """Of the device, not of a file on it."""

    @property
    def moved_by(self) -> MovedBy:
        """Who moves the bytes, by the driver: the device's name without its number."""
        driver = re.split(r"\d", self.device or "", maxsplit=1)[0]
        if driver in _MEMORY:
            return MovedBy.ISSUER
        return MovedBy.KERNEL if driver in _COPIED else MovedBy.DEVICE


_MEMORY: Final = frozenset({"zram", "ram", "pmem"})
"""Names of Linux drivers that copy within `submit_bio` (zram_drv.c, brd.c, pmem.c)."""
_COPIED: Final = frozenset({"loop", "nullb"})
"""Names of Linux drivers that otherwise copy by CPU (Documentation/admin-guide/devices.txt)."""


class Measurement(_Checked):
    """Points, where they came from, and what could not be read."""

    format: Literal["raidlab-measurement-1"] = "raidlab-measurement-1"
    name: str
    points: tuple[Point, ...]
    machine: Machine | None = None
    """None if no collector measured them, or several machines did."""
    files: tuple[File, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def to_json(self) -> str:
        """The file's text."""
        return self.model_dump_json(indent=1, exclude_defaults=False) + "\n"


_LARGEST_FILE = 1024 * MIB


class NotAMeasurementError(SpecError):
    """A file that cannot be read as JSON, or says nothing of its format."""


def _refuse_result(path: Path) -> None:
    """Refuses what a load generator wrote, of which no measurement was made yet.

    Raises:
        SpecError: It is such a file: whose, and what reads it.
    """
    if not path.is_file():
        return  # What a pipe held has been read.
    try:
        whose = reader_of(read_text(path, LARGEST_FILE, "measurement"))
    except SpecError:
        return
    if whose is not None:
        raise SpecError([Fault("", None, whose, (), str(path))])


def load_measurement(path: str | Path) -> Measurement:
    """Reads a measurement file.

    Raises:
        SpecError: Everything that is wrong with it, by key.
    """
    path = Path(path)
    try:
        tree = read_json(path, _LARGEST_FILE, "measurement")
    except SpecError as error:
        _refuse_result(path)
        raise NotAMeasurementError(error.faults) from None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        _refuse_result(path)
        found = tree.get("format") if isinstance(tree, dict) else None
        allowed = f'"{FORMAT}": a measurement, as `raidlab import fio PATH --out M.json` makes it'
        fault = Fault("format", found, allowed, (), str(path))
        raise (NotAMeasurementError if found is None else SpecError)([fault])
    try:
        measurement = Measurement.model_validate(tree)
    except ValidationError as error:
        faults = [
            Fault(fault.key, fault.value, fault.allowed, fault.choices, str(path))
            for fault in faults_of(error, Measurement)
        ]
        raise SpecError(faults) from None
    if not measurement.points:
        raise SpecError([Fault("points", "none", "at least one point", (), str(path))])
    return measurement
