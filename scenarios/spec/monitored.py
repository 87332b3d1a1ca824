"""A monitored load as a file: rates, sizes and waits over equal steps, and what was assumed.

`raidlab import monitoring --out` and `raidlab record` write it; `monitoring` of a workload reads
it. Lists have an entry for each step; null is a gap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raidlab.devices.faults import Fault, SpecError, faults_of
from raidlab.devices.reading import MIB, read_json
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Share

_LARGEST_FILE = 256 * MIB
Steps = tuple[float | None, ...]


class LoopEvidence(BaseModel):
    """Whether arrivals wait for completions, and what says so."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: Literal["open", "closed", "unknown"]
    outstanding: float | None = None
    """Mean requests in flight, by Little's law."""
    queue_spread: float | None = None
    """Standard deviation of the queue over its mean: near 0 for a closed loop."""
    rate_against_wait: float | None = None
    """Correlation of the logarithms of rate and wait: near -1 for a closed loop."""


class Openness(BaseModel):
    """One choice of what monitoring leaves open of a load."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    sequential_read: float = Field(default=0.0, ge=0, le=1)
    """Share of the reads that follow the one before."""
    sequential_write: float = Field(default=0.0, ge=0, le=1)
    hot_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the random I/Os that go to the hot spot; the others go anywhere in what is used."""
    hot_bytes: int = Field(default=0, ge=0)
    """Size of the hot spot: what fits into a cache is found there."""
    used_bytes: int = Field(default=0, ge=0)
    """Part of the system, from its start, in which all I/Os lie; 0 for all of it."""
    bursts: float = Field(default=1.0, ge=1, le=1000)
    """Highest rate over the mean within a step; 1 where arrivals are independent."""
    error_pct: float = Field(default=0.0, ge=0)
    """Root mean square of the waits' errors on the present system."""


class Fit(BaseModel):
    """What was open, chosen such that the present system gives what was monitored."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    system: str
    """Title of the present system's scenario."""
    system_bytes: int = Field(default=0, ge=0)
    """What it holds: on a larger system the load goes no further. 0 if unknown."""
    seed: int
    tolerance_pct: float
    holds: bool
    """False where no choice gives the waits within the tolerance."""
    members: tuple[Openness, ...] = Field(min_length=1, max_length=64)
    """Choices that give the waits, the nearest first; the nearest alone if none does."""


class MonitoredLoad(BaseModel):
    """The load of some devices together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: Literal["raidlab-monitored-load"] = "raidlab-monitored-load"
    version: Literal[1] = 1
    source: str
    host: str | None = None
    devices: tuple[str, ...]
    start: str | None = None
    step_s: float = Field(gt=0)
    read_iops: Steps
    write_iops: Steps
    read_bytes_per_s: Steps
    write_bytes_per_s: Steps
    read_await_ms: Steps = ()
    write_await_ms: Steps = ()
    queue: Steps = ()
    busy: Steps = ()
    """Share of each step with at least one request in flight; of several devices the mean."""
    read_sizes: dict[int, int] = Field(default_factory=dict)
    """Reads by upper limit of their size in bytes, of a histogram."""
    write_sizes: dict[int, int] = Field(default_factory=dict)
    loop: LoopEvidence = LoopEvidence(kind="unknown")
    assumptions: tuple[str, ...] = ()
    fit: Fit | None = None
    """Of what the file leaves open; None if it was not compared with a system."""

    def to_json(self) -> str:
        """The file's text: six significant digits, one list a line."""
        tree = self.model_dump(mode="json")
        lines = []
        for key, value in tree.items():
            if key in ("fit", "busy") and not value:
                continue
            if isinstance(value, list) and value and not isinstance(value[0], str):
                value = [None if each is None else _short(each) for each in value]
            lines.append(f" {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.read_iops)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.step_s * self.steps


def _short(value: float) -> float | int:
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded == int(rounded) else rounded


def read_monitored(path: Path) -> MonitoredLoad:
    """A monitored load from its file.

    Raises:
        SpecError: It cannot be read, or is none.
    """
    tree = read_json(path, _LARGEST_FILE, "monitored load")
    try:
        load = MonitoredLoad.model_validate(tree)
    except ValidationError as error:
        raise SpecError(
            [replace(fault, file=str(path)) for fault in faults_of(error, MonitoredLoad)][:20]
        ) from None
    faults = list(_lengths(load, path))
    if faults:
        raise SpecError(faults)
    return load


def _lengths(load: MonitoredLoad, path: Path) -> Sequence[Fault]:
    if not load.read_iops:
        return [Fault("read_iops", None, "at least one step", (), str(path))]
    optional = ("read_await_ms", "write_await_ms", "queue", "busy")
    found = []
    for key in ("write_iops", "read_bytes_per_s", "write_bytes_per_s", *optional):
        count = len(getattr(load, key))
        if count != load.steps and not (key in optional and count == 0):
            allowed = f"{load.steps} steps, as read_iops has"
            found.append(Fault(key, f"{count} steps", allowed, (), str(path)))
    return found


class MonitoredKeys(Table):
    """Keys of `[[workload]]` for a monitored load."""

    monitoring: str | None = Field(default=None, min_length=1)
    """A monitored load (`raidlab import monitoring --out`); relative to the scenario's file."""
    monitoring_from: Duration = 0
    """Where in the file the load begins."""
    monitoring_for: Duration | None = Field(default=None, gt=0)
    """How much of the file is taken; all that follows if left out."""
    monitoring_scale: float = Field(default=1.0, gt=0, le=1e6)
    """What its rates are multiplied by."""
    monitoring_bursts: float | None = Field(default=None, ge=1, le=1000)
    """The I/Os of a step arrive in this part of it: 4 for a quarter; 1 for all of it. What the
    file was fitted to if left out, else 1."""
    monitoring_sequential: Share | None = None
    """Share of its reads and writes that follow the one before; as `monitoring_bursts`."""
    monitoring_member: int = Field(default=0, ge=0, le=63)
    """Which of the choices that the file was fitted with; 0 is the nearest."""

    def monitoring_faults(self) -> Iterator[Fault]:
        """Keys that mean something beside `monitoring` alone."""
        for key in sorted(self.model_fields_set):
            if key.startswith("monitoring_"):
                yield Fault(key, None, "left out: it has no effect without `monitoring`")
