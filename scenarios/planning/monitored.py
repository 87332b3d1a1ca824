"""A monitored load as workloads: what was read as one, what was written as the other.

An open load keeps the rate of each step of the file, in which I/Os arrive as a Poisson stream.
Steps shorten where the file is longer than the run; rates stay. A closed loop keeps the mean
number of requests in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raidlab.devices.faults import Fault, Faults, SpecError, faults_of
from raidlab.devices.units import Duration
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.monitored import MonitoredLoad, read_monitored
from raidlab.scenarios.spec.schema import WorkloadTable

KEYS = ("monitoring", "monitoring_from", "monitoring_for", "monitoring_scale",
        "monitoring_bursts")  # fmt: skip
_SETTLED = ("rw", "read_share", "block_size", "rate", "arrivals", "outstanding", "profile", "fio",
            "trace", "passes", "think_time", "buffered")  # fmt: skip
"""Keys of a workload that a monitored load settles; `rw` may say the order."""
_MOST_STEPS = 10_000
_SECTOR = 512
_DEFAULT_RUN_NS = 10_000_000_000
_ORDERS = {"read": "", "write": "", "rw": "", "readwrite": "", "randread": "rand",
           "randwrite": "rand", "randrw": "rand"}  # fmt: skip


class _Keys(BaseModel):
    """The keys of a monitored workload."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    monitoring: str = Field(min_length=1)
    monitoring_from: Duration = 0
    monitoring_for: Duration | None = Field(default=None, gt=0)
    monitoring_scale: float = Field(default=1.0, gt=0, le=1e6)
    monitoring_bursts: float = Field(default=1.0, ge=1, le=1000)
    rw: str = "randrw"


@dataclass(frozen=True)
class _Side:
    """What was read, or written, in the part of the file that is taken."""

    name: str
    word: str
    rates: tuple[float, ...]
    size: int
    outstanding: float

    @property
    def mean(self) -> float:
        """I/Os a second."""
        return sum(self.rates) / len(self.rates)


@dataclass
class Expanded:
    """A tree without monitored loads, and what a user should know."""

    tree: dict[str, Any]
    warnings: list[str]


def planned_elsewhere(workload: WorkloadTable) -> bool:
    """True for a job file's load, and for a monitored one of which no plain one was made."""
    return workload.job_file is not None or workload.monitoring is not None


def expanded(
    tree: Mapping[str, Any], path: Path | None, faults: Faults, *, key: str = "workload"
) -> Expanded:
    """As `expand`, for the file at `path`; left as it is, and noted, where it is at fault."""
    try:
        return expand(tree, None if path is None else path.parent, key=key)
    except SpecError as error:
        faults.extend(error.faults)
        return Expanded(dict(tree), [])


def expand(tree: Mapping[str, Any], folder: Path | None, *, key: str = "workload") -> Expanded:
    """The tree of a scenario or a question in which monitored loads are plain ones.

    The reads of a load stand in its place, its writes behind all others: places of other loads
    stay as they are.

    Args:
        tree: What the file holds.
        folder: Where paths begin.
        key: `workload`, or `load` of a question.

    Raises:
        SpecError: Every file that cannot be read, and every key that cannot be.
    """
    loads = tree.get(key)
    if not isinstance(loads, Sequence) or not any(
        isinstance(each, Mapping) and "monitoring" in each for each in loads
    ):
        return Expanded(dict(tree), [])
    run = tree.get("run")
    duration = _duration(run if isinstance(run, Mapping) else {})
    first: list[Any] = []
    behind: list[Any] = []
    faults: list[Fault] = []
    warnings: list[str] = []
    for at, each in enumerate(loads):
        if not (isinstance(each, Mapping) and "monitoring" in each):
            first.append(each)
            continue
        try:
            plain, notes = _plain(each, f"{key}.{at}", folder, duration)
        except SpecError as error:
            faults += error.faults
            continue
        first.append(plain[0])
        behind += plain[1:]
        warnings += notes
    if faults:
        raise SpecError(faults)
    return Expanded({**tree, key: [*first, *behind]}, warnings)


def _duration(run: Mapping[str, Any]) -> int:
    try:
        return _Run.model_validate(dict(run)).duration
    except ValidationError:
        # The scenario's own check says what is wrong with it.
        return _DEFAULT_RUN_NS


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    duration: Duration = _DEFAULT_RUN_NS


def _plain(
    table: Mapping[str, Any], key: str, folder: Path | None, duration: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Workloads of a monitored one, and what a user should know."""
    try:
        keys = _Keys.model_validate(dict(table))
    except ValidationError as error:
        raise SpecError(
            Fault(f"{key}.{fault.key}", fault.value, fault.allowed, fault.choices)
            for fault in faults_of(error, _Keys)
        ) from None
    faults = list(_beside(table, key, keys))
    path = (folder or Path()) / keys.monitoring
    try:
        load = read_monitored(path)
    except SpecError as error:
        raise SpecError([*faults, *error.faults]) from None
    begin, end = _part(load, keys, key, faults)
    if faults:
        raise SpecError(faults)
    sides = [side for side in _sides(load, keys, begin, end) if side.mean > 0]
    if not sides:
        allowed = "a part of the file in which there are I/Os"
        raise SpecError([Fault(f"{key}.monitoring_from", None, allowed)])
    name = str(table.get("name") or key.replace(".", "-").replace("load", "workload"))
    shared = {k: v for k, v in table.items() if k not in (*KEYS, *_SETTLED, "name")}
    plain = [
        shared
        | {"name": f"{name}-{side.name}" if len(sides) > 1 else name}
        | _workload(side, load, keys, duration)
        for side in sides
    ]
    return plain, _notes(name, load, keys, end - begin, duration)


def _beside(table: Mapping[str, Any], key: str, keys: _Keys) -> Iterator[Fault]:
    for settled in _SETTLED:
        if settled in table and settled != "rw":
            allowed = "left out: the monitored load says what is asked, and when"
            yield Fault(f"{key}.{settled}", None, allowed)
    if keys.rw not in _ORDERS:
        choices = ("randrw", "rw")
        yield Fault(f"{key}.rw", keys.rw, "randrw or rw: the order of the I/Os", choices)


def _part(load: MonitoredLoad, keys: _Keys, key: str, faults: list[Fault]) -> tuple[int, int]:
    """First and last step of the part that is taken."""
    begin = round(keys.monitoring_from / 1e9 / load.step_s)
    end = load.steps
    if keys.monitoring_for is not None:
        end = min(end, begin + max(1, round(keys.monitoring_for / 1e9 / load.step_s)))
    if begin >= load.steps:
        allowed = f"less than the {load.seconds:g} s that the file covers"
        faults.append(Fault(f"{key}.monitoring_from", f"{keys.monitoring_from / 1e9:g} s", allowed))
    return begin, end


def _sides(load: MonitoredLoad, keys: _Keys, begin: int, end: int) -> Iterator[_Side]:
    for word, rates, moved, waits in (
        ("read", load.read_iops, load.read_bytes_per_s, load.read_await_ms),
        ("write", load.write_iops, load.write_bytes_per_s, load.write_await_ms),
    ):
        known = [(r or 0.0, m) for r, m in zip(rates[begin:end], moved[begin:end], strict=True)]
        total = sum(r for r, m in known if m is not None)
        size = sum(m for _, m in known if m is not None) / total if total > 0 else 4096.0
        inside = 0.0
        if waits:
            pairs = zip(rates[begin:end], waits[begin:end], strict=True)
            inside = sum((r or 0.0) * (w or 0.0) for r, w in pairs) / 1000 / len(known)
        scaled = tuple(r * keys.monitoring_scale for r, _ in known)
        counts = load.read_sizes if word == "read" else load.write_sizes
        if not counts:
            yield _Side(f"{word}s", word, scaled, _whole(size), inside)
        for limit, count in sorted(counts.items()):
            share = count / sum(counts.values())
            rates_of = tuple(rate * share for rate in scaled)
            yield _Side(f"{word}s-{limit}", word, rates_of, _whole(limit), inside * share)


def _whole(size: float) -> int:
    """A size in whole sectors."""
    return max(_SECTOR, round(size / _SECTOR) * _SECTOR)


def _workload(side: _Side, load: MonitoredLoad, keys: _Keys, duration: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rw": f"{_ORDERS[keys.rw]}{side.word}",
        "block_size": f"{side.size} B",
    }
    if load.loop.kind == "closed" and keys.monitoring_scale == 1.0:
        return found | {"outstanding": max(1, round(side.outstanding))}
    shares = _merged(side.rates, keys.monitoring_bursts)
    found["rate"] = f"{side.mean:.9g} IO/s"
    if len(set(shares)) > 1:
        day = min(duration, round(len(side.rates) * load.step_s * 1e9))
        found["arrivals"] = {"kind": "daily", "shares": list(shares), "day": f"{day} ns"}
    return found


def _merged(rates: Sequence[float], bursts: float) -> tuple[float, ...]:
    """Steps as the engine takes them: at most 10,000, each with its burst and its pause."""
    parts = round(bursts)
    most = _MOST_STEPS // max(1, parts)
    every = -(-len(rates) // most)
    means = [
        sum(rates[at : at + every]) / len(rates[at : at + every])
        for at in range(0, len(rates), every)
    ]
    short = [float(f"{mean:.6g}") for mean in means]
    if parts <= 1:
        return tuple(short)
    return tuple(rate for mean in short for rate in (mean * parts, *([0.0] * (parts - 1))))


def _notes(name: str, load: MonitoredLoad, keys: _Keys, steps: int, duration: int) -> list[str]:
    """What a user should know of a monitored load, each with its code."""
    found = _assumed(load, keys, steps, duration)
    return [Coded(f"{name}: {text}", Code.MONITORING_NOTE, name) for text in found]


def _assumed(load: MonitoredLoad, keys: _Keys, steps: int, duration: int) -> Iterator[str]:
    yield from load.assumptions
    span = steps * load.step_s
    if load.loop.kind != "closed" and span * 1e9 > 1.01 * duration:
        factor = span * 1e9 / duration
        yield (
            f"{span:g} s of monitoring pass in a run of {duration / 1e9:g} s: rates are"
            f" those of the file, each lasts {factor:.3g} times as short"
        )
    if steps > _MOST_STEPS:
        yield f"{steps} steps were joined to {_MOST_STEPS}: peaks of single steps are lower"
    if load.loop.kind == "closed" and keys.monitoring_scale != 1.0:
        yield (
            "the file looks like a closed loop; with monitoring_scale it is played as an open load"
        )
    if keys.monitoring_bursts > 1:
        yield (
            f"the I/Os of each step arrive in 1/{round(keys.monitoring_bursts)} of it,"
            " which is assumed"
        )
