"""A monitored load as workloads: what was read as one, what was written as the other.

An open load keeps the rate of each step of the file, in which I/Os arrive as a Poisson stream.
Steps shorten where the file is longer than the run; rates stay. A closed loop keeps the mean
number of requests in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raidlab.devices.faults import Fault, Faults, SpecError, faults_of
from raidlab.devices.units import SIZE, Duration, Share
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.monitored import MonitoredLoad, Openness, read_monitored
from raidlab.scenarios.spec.schema import WorkloadTable
from raidlab.scenarios.spec.trees import WorkloadTree

KEYS = ("monitoring", "monitoring_from", "monitoring_for", "monitoring_scale",
        "monitoring_bursts", "monitoring_sequential", "monitoring_member")  # fmt: skip
_SETTLED = ("rw", "read_share", "block_size", "rate", "arrivals", "outstanding", "profile", "fio",
            "trace", "passes", "think_time", "buffered")  # fmt: skip
"""Keys of a workload that a monitored load settles; `rw` may say the order."""
_PLACE = ("target", "area", "area_start", "align", "threads", "hot_spot", "hot_share", "hot_start",
          "hot_beyond", "area_beyond", "file_system", "compressible", "limit", "burst")  # fmt: skip
_MOST_STEPS = 10_000
_SECTOR = 512
_HOT_UNIT = 1 << 20
_BURST_PARTS = 64
"""Parts of a step at most, some of which have its I/Os."""
_LEAST_PART = 0.005
"""Of the I/Os of a side, below which an order is not played."""
_DEFAULT_RUN_NS = 10_000_000_000
_ORDERS = {"read": "", "write": "", "rw": "", "readwrite": "", "randread": "rand",
           "randwrite": "rand", "randrw": "rand"}  # fmt: skip
"""Words of `rw`: empty for the sequential ones."""


class _Keys(BaseModel):
    """The keys of a monitored workload."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    monitoring: str = Field(min_length=1)
    monitoring_from: Duration = 0
    monitoring_for: Duration | None = Field(default=None, gt=0)
    monitoring_scale: float = Field(default=1.0, gt=0, le=1e6)
    monitoring_bursts: float | None = Field(default=None, ge=1, le=1000)
    monitoring_sequential: Share | None = None
    monitoring_member: int = Field(default=0, ge=0, le=63)
    rw: str | None = None

    def openness(self, load: MonitoredLoad) -> Openness:
        """What the file leaves open: as the keys say, else as it was fitted, else the mildest."""
        members = load.fit.members if load.fit is not None else (Openness(),)
        known = members[min(self.monitoring_member, len(members) - 1)]
        sequential = self.monitoring_sequential
        if sequential is None and self.rw is not None:
            sequential = 0.0 if _ORDERS[self.rw] else 1.0
        changed: dict[str, float] = {}
        if sequential is not None:
            changed |= {"sequential_read": sequential, "sequential_write": sequential}
        if self.monitoring_bursts is not None:
            changed["bursts"] = self.monitoring_bursts
        return known.model_copy(update=changed)


_Word = Literal["read", "write"]
_Steps = Sequence[float | None]


@dataclass(frozen=True)
class _Side:
    """What was read, or written, in the part of the file that is taken."""

    name: str
    word: _Word
    rates: tuple[float, ...]
    size: int
    outstanding: float
    sequential: bool = False

    def part(self, share: float, *, sequential: bool) -> _Side:
        """A share of it, in one order."""
        return replace(
            self,
            name=f"{self.name}-sequential" if sequential and share < 1 else self.name,
            rates=tuple(share * rate for rate in self.rates),
            outstanding=share * self.outstanding,
            sequential=sequential,
        )

    @property
    def rw(self) -> Literal["read", "write", "randread", "randwrite"]:
        """Fio's word for it."""
        if self.sequential:
            return self.word
        return "randread" if self.word == "read" else "randwrite"

    @property
    def mean(self) -> float:
        """I/Os a second."""
        return sum(self.rates) / len(self.rates)


@dataclass
class Expanded:
    """A tree without monitored loads, and what a user should know."""

    tree: dict[str, object]
    warnings: list[str]


def planned_elsewhere(workload: WorkloadTable) -> bool:
    """True for a job file's load, and for a monitored one of which no plain one was made."""
    return workload.job_file is not None or workload.monitoring is not None


def expanded(
    tree: Mapping[str, object], path: Path | None, faults: Faults, *, key: str = "workload"
) -> Expanded:
    """As `expand`, for the file at `path`; left as it is, and noted, where it is at fault."""
    try:
        return expand(tree, None if path is None else path.parent, key=key)
    except SpecError as error:
        faults.extend(error.faults)
        return Expanded(dict(tree), [])


def expand(tree: Mapping[str, object], folder: Path | None, *, key: str = "workload") -> Expanded:
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
        own = f"{key}.{at}"
        warnings += [Coded(text, Code.MONITORING_NOTE, own) for text in notes]
    if faults:
        raise SpecError(faults)
    return Expanded({**tree, key: [*first, *behind]}, warnings)


def place_of(table: Mapping[str, object]) -> WorkloadTree:
    """The keys of a workload that say where it works and by what rules, not what it asks."""
    return cast(WorkloadTree, {key: table[key] for key in _PLACE if key in table})


def playing(
    load: MonitoredLoad, openness: Openness, seconds: float, place: WorkloadTree
) -> list[WorkloadTree]:
    """Workloads that play all of a load within `seconds`, over and over.

    Args:
        load: What was monitored, at least one step with I/Os.
        openness: What it leaves open.
        seconds: How long its steps last together; rates stay.
        place: `place_of` the workload that it stands for.
    """
    keys = _Keys(monitoring="-")
    duration = round(seconds * 1e9)
    used: WorkloadTree = {**place, **_extent(openness.used_bytes)}
    in_time = load.model_copy(update={"step_s": seconds / load.steps})
    return [
        {
            **used,
            "name": side.name,
            **_workload(side, in_time, keys, duration, openness.bursts),
            **_hot_spot(side, used, openness),
        }
        for side in _sides(in_time, keys, 0, load.steps, openness)
        if side.mean > 0
    ]


def _duration(run: Mapping[str, object]) -> int:
    try:
        return _Run.model_validate(dict(run)).duration
    except ValidationError:
        # The scenario's own check says what is wrong with it.
        return _DEFAULT_RUN_NS


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    duration: Duration = _DEFAULT_RUN_NS


def _plain(
    table: Mapping[str, object], key: str, folder: Path | None, duration: int
) -> tuple[list[WorkloadTree], list[str]]:
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
    openness = keys.openness(load)
    sides = [side for side in _sides(load, keys, begin, end, openness) if side.mean > 0]
    if not sides:
        allowed = "a part of the file in which there are I/Os"
        raise SpecError([Fault(f"{key}.monitoring_from", None, allowed)])
    if "area" not in table and "area_start" not in table:
        held = 0 if load.fit is None else load.fit.system_bytes
        table = {**_extent(openness.used_bytes or held), **table}
    name = str(table.get("name") or f"workload-{key.rpartition('.')[2]}")
    shared = cast(
        WorkloadTree, {k: v for k, v in table.items() if k not in (*KEYS, *_SETTLED, "name")}
    )
    plain: list[WorkloadTree] = [
        {
            **shared,
            "name": f"{name}-{side.name}" if len(sides) > 1 else name,
            **_workload(side, load, keys, duration, openness.bursts),
            **_hot_spot(side, table, openness),
        }
        for side in sides
    ]
    return plain, _notes(name, load, keys, openness, end - begin, duration)


def _extent(used: int) -> WorkloadTree:
    """Where a fitted load may go: its data were in a part of the system that it was fitted on."""
    whole = used // _HOT_UNIT * _HOT_UNIT
    return {"area": f"{whole} B", "area_beyond": "cut"} if whole else {}


def _hot_spot(side: _Side, table: Mapping[str, object], openness: Openness) -> WorkloadTree:
    """The keys of the hot spot, where the file was fitted to one and the load says none."""
    if side.sequential or "hot_spot" in table or not openness.hot_share:
        return {}
    area = table.get("area", "whole")
    size = openness.hot_bytes
    if area != "whole":
        size = min(size, int(SIZE.convert(str(area))))
    size = size // _HOT_UNIT * _HOT_UNIT
    if not size:
        return {}
    return {"hot_spot": f"{size} B", "hot_share": openness.hot_share, "hot_beyond": "cut"}


def _beside(table: Mapping[str, object], key: str, keys: _Keys) -> Iterator[Fault]:
    for settled in _SETTLED:
        if settled in table and settled != "rw":
            allowed = "left out: the monitored load says what is asked, and when"
            yield Fault(f"{key}.{settled}", None, allowed)
    if keys.rw is not None and keys.monitoring_sequential is not None:
        yield Fault(f"{key}.rw", keys.rw, "left out beside monitoring_sequential")
    if keys.rw is not None and keys.rw not in _ORDERS:
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


def _sides(
    load: MonitoredLoad, keys: _Keys, begin: int, end: int, openness: Openness
) -> Iterator[_Side]:
    """Reads and writes, by order and size."""
    for side in _by_size(load, keys, begin, end):
        reads = side.word == "read"
        share = openness.sequential_read if reads else openness.sequential_write
        for part, sequential in ((1 - share, False), (share, True)):
            if part > _LEAST_PART:
                yield side.part(part, sequential=sequential)


def _by_size(load: MonitoredLoad, keys: _Keys, begin: int, end: int) -> Iterator[_Side]:
    words: Sequence[tuple[_Word, _Steps, _Steps, _Steps | None]] = (
        ("read", load.read_iops, load.read_bytes_per_s, load.read_await_ms),
        ("write", load.write_iops, load.write_bytes_per_s, load.write_await_ms),
    )
    for word, rates, moved, waits in words:
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


def _workload(
    side: _Side, load: MonitoredLoad, keys: _Keys, duration: int, bursts: float
) -> WorkloadTree:
    found: WorkloadTree = {
        "rw": side.rw,
        "block_size": f"{side.size} B",
    }
    if load.loop.kind == "closed" and keys.monitoring_scale == 1.0:
        return {**found, "outstanding": max(1, round(side.outstanding))}
    shares = _merged(side.rates, bursts)
    found["rate"] = f"{side.mean:.9g} IO/s"
    if len(set(shares)) > 1:
        day = min(duration, round(len(side.rates) * load.step_s * 1e9))
        found["arrivals"] = {"kind": "daily", "shares": list(shares), "day": f"{day} ns"}
    return found


def _merged(rates: Sequence[float], bursts: float) -> tuple[float, ...]:
    """Steps as the engine takes them: at most 10,000, each with its burst and its pause."""
    busy = Fraction(1 / bursts).limit_denominator(max(_BURST_PARTS, round(bursts)))
    on, parts = max(1, busy.numerator), busy.denominator
    most = _MOST_STEPS // parts
    every = -(-len(rates) // most)
    means = [
        sum(rates[at : at + every]) / len(rates[at : at + every])
        for at in range(0, len(rates), every)
    ]
    short = [float(f"{mean:.6g}") for mean in means]
    return tuple(
        rate for mean in short for rate in ([mean * parts / on] * on + [0.0] * (parts - on))
    )


def _notes(
    name: str, load: MonitoredLoad, keys: _Keys, openness: Openness, steps: int, duration: int
) -> list[str]:
    found = [f"{name}: {text}" for text in load.assumptions]
    span = steps * load.step_s
    if load.loop.kind != "closed" and span * 1e9 > 1.01 * duration:
        factor = span * 1e9 / duration
        found.append(
            f"{name}: {span:g} s of monitoring pass in a run of {duration / 1e9:g} s: rates are"
            f" those of the file, each lasts {factor:.3g} times as short"
        )
    if steps > _MOST_STEPS:
        found.append(
            f"{name}: {steps} steps were joined to {_MOST_STEPS}: peaks of single steps are lower"
        )
    if load.loop.kind == "closed" and keys.monitoring_scale != 1.0:
        found.append(
            f"{name}: the file looks like a closed loop; with monitoring_scale it is played as"
            " an open load"
        )
    if openness.bursts > 1:
        why = "which is assumed" if keys.monitoring_bursts is not None else "as it was fitted"
        found.append(f"{name}: the I/Os of each step arrive in 1/{openness.bursts:g} of it, {why}")
    if load.fit is not None and not load.fit.holds:
        found.append(
            f"{name}: nothing that the file leaves open gives its waits on {load.fit.system}:"
            " the system is not what its file says, or the load is not what was monitored"
        )
    return found
