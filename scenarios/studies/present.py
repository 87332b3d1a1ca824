"""The present system beside what was monitored of it: waits and queue, hour by hour.

Of every hour a window of the file is played in real time on the simulated system: steps keep their
length and their rates, so that queues build up and drain as they did. A file of long steps and high
rates is shortened, all windows alike. Each window is led in by the steps before it, which do not
count. All windows are one run that passes twice; the second time counts, with caches as the first
has left them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.monitored import place_of, playing
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.rows import Row, typed
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.monitored import MonitoredLoad, Openness, Steps, read_monitored
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree, WorkloadTree
from raidlab.scenarios.spec.written import kept_run
from raidlab.scenarios.studies.running import Running

HOURS = 24
"""Windows at most: a day's hours, or as many equal parts of the file."""
_WINDOW_IOS = 2000.0
"""I/Os of an average window, at least."""
_IOS = 100_000.0
"""Of all windows together, at most: beyond, steps are shortened."""
_LEAST_SHARE = 0.02
"""Of a window's I/Os, below which the waits of reads, or of writes, say nothing."""
_LEAST_IOS = 20.0
_LEAD = 8
"""Part of a window's length that leads it in."""
_STEPPED_KEYS = (
    "read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s", "read_await_ms",
    "write_await_ms", "queue", "busy",
)  # fmt: skip
"""Lists of a load with an entry for each step."""
_KEPT_KEYS = ("precondition", "filled", "snapshot", "state")
"""Keys of the system's own `[run]` that hold for its load too."""


@dataclass(frozen=True)
class Window:
    """A part of the file."""

    first: int
    """Step at which it begins."""
    count: int
    """Steps."""


@dataclass(frozen=True)
class Waits:
    """What the devices did in a window; None where nothing is known, or too few I/Os came."""

    iops: float
    read_ms: float | None
    write_ms: float | None
    mean_ms: float | None
    """Of reads and writes together."""

    @property
    def queue(self) -> float | None:
        """Mean requests in flight, by Little's law."""
        return None if self.mean_ms is None else self.iops * self.mean_ms / 1000


@dataclass(frozen=True)
class Beside:
    """A window as it was monitored, and as it is simulated."""

    at_s: float
    """Since the file's begin."""
    seconds: float
    monitored: Waits
    simulated: Waits

    @property
    def errors(self) -> list[float]:
        """Logarithms of simulated over monitored waits: of reads and writes, or of both."""
        own, other = self.monitored, self.simulated
        pairs = [(own.read_ms, other.read_ms), (own.write_ms, other.write_ms)]
        if own.read_ms is None and own.write_ms is None:
            pairs = [(own.mean_ms, other.mean_ms)]
        return [math.log(b / a) for a, b in pairs if a and b]


@dataclass(frozen=True)
class Present:
    """The present system beside what was monitored."""

    system: str
    source: str
    hours: tuple[Beside, ...]
    busy: tuple[float, float] | None
    """Share of the time in which the drive was busy, monitored and simulated; None where the system
    is more than one disk, of which a tool's share says little."""

    @property
    def error(self) -> float:
        """Root mean square of the waits' errors, as a share; infinite if none can be compared.

        Half of it is that of the windows, half that of all of them together, which chance moves
        least.
        """
        hours = [error for each in self.hours for error in each.errors]
        whole = self.whole.errors
        if self.busy is not None and self.busy[0] > 0:
            whole.append(math.log(max(self.busy[1], 1e-3) / self.busy[0]))
        if not hours or not whole:
            return math.inf
        return math.expm1(math.sqrt((_mean_square(hours) + _mean_square(whole)) / 2))

    @property
    def whole(self) -> Beside:
        """All windows together, waits weighted with the I/Os that were monitored."""
        monitored = _together([(each.monitored, each.monitored) for each in self.hours])
        simulated = _together([(each.simulated, each.monitored) for each in self.hours])
        seconds = sum(each.seconds for each in self.hours)
        return Beside(self.hours[0].at_s, seconds, monitored, simulated)

    def apart(self, other: Present) -> float:
        """Root mean square by which the simulated waits of both differ, as a share."""
        both = zip((*self.hours, self.whole), (*other.hours, other.whole), strict=True)
        errors = [
            error
            for one, two in both
            for error in Beside(0.0, 0.0, one.simulated, two.simulated).errors
        ]
        return math.expm1(math.sqrt(_mean_square(errors))) if errors else 0.0

    def to_dict(self) -> Document:
        """Plain data."""
        return {
            "system": self.system,
            "source": self.source,
            "error_pct": 100 * self.error if math.isfinite(self.error) else None,
            "busy": None
            if self.busy is None
            else {"monitored": self.busy[0], "simulated": self.busy[1]},
            "hours": [
                {
                    "at_s": each.at_s,
                    "seconds": each.seconds,
                    **{
                        f"{name}_{key}": getattr(waits, key)
                        for name, waits in (("monitored", each.monitored),
                                            ("simulated", each.simulated))
                        for key in ("iops", "read_ms", "write_ms", "mean_ms", "queue")
                    },
                }
                for each in self.hours
            ],
        }  # fmt: skip


def _mean_square(values: Sequence[float]) -> float:
    return sum(value * value for value in values) / len(values)


def _together(every: Sequence[tuple[Waits, Waits]]) -> Waits:
    """Waits of several windows as one, weighted with the rates of the second of each pair."""

    def mean(pairs: Sequence[tuple[float | None, float]]) -> float | None:
        known = [(wait, weight) for wait, weight in pairs if wait is not None]
        total = sum(weight for _, weight in known)
        return sum(wait * weight for wait, weight in known) / total if total else None

    return Waits(
        sum(own.iops for own, _ in every) / len(every),
        mean([(own.read_ms, weight.iops) for own, weight in every]),
        mean([(own.write_ms, weight.iops) for own, weight in every]),
        mean([(own.mean_ms, weight.iops) for own, weight in every]),
    )


@dataclass(frozen=True)
class System:
    """The present system: its scenario, whose own loads are left out."""

    tree: ScenarioTree
    path: Path | None = None
    place: WorkloadTree | None = None
    """Where a monitored load works, such as its `area`; as the scenario's only load if left out."""

    @property
    def title(self) -> str:
        """What it is called."""
        return str(self.tree.get("title") or (self.path.stem if self.path else "the system"))

    @property
    def load_place(self) -> WorkloadTree:
        """Where a monitored load works."""
        if self.place is not None:
            return self.place
        loads = self.tree.get("workload") or []
        return place_of(loads[0]) if len(loads) == 1 else {}

    def loaded(self, loads: Sequence[WorkloadTree], run: RunTree) -> Scenario:
        """The system with other loads.

        Raises:
            SpecError: The scenario cannot be.
        """
        kept = kept_run(self.tree, _KEPT_KEYS)
        if not {"precondition", "snapshot", "state"} & set(kept):
            kept["precondition"] = "steady-state"
        tree: ScenarioTree = {**self.tree, "workload": list(loads), "run": {**kept, **run}}
        tree.pop("event", None)
        return build_scenario(tree, self.path)


class Windows:
    """The windows of a load, and how they are played."""

    def __init__(self, load: MonitoredLoad, ios: float = _IOS) -> None:
        self.load = load
        self.windows = _windows(load)
        if not self.windows:
            why = "waits (await) or a queue, in a step that has I/Os: nothing can be compared"
            raise SpecError([Fault("read_await_ms", None, why, (), load.source)])
        self.monitored = [_monitored(load, each) for each in self.windows]
        count = self.windows[0].count
        every = load.step_s * count * sum(each.iops for each in self.monitored)
        self.step_s = load.step_s * min(1.0, ios / every)
        """Simulated length of a step."""
        self._lead = max(1, count // _LEAD)
        self._steps = (count + self._lead) * len(self.windows)
        self._played = self._joined()

    def some(self, most: int) -> list[int]:
        """The numbers of some windows, evenly over their rates."""
        order = sorted(range(len(self.windows)), key=lambda at: self.monitored[at].iops)
        if len(order) <= most:
            return order
        return [order[round(at * (len(order) - 1) / (most - 1))] for at in range(most)]

    def only(self, which: Sequence[int]) -> Windows:
        """A copy with fewer windows."""
        found = object.__new__(Windows)
        found.load, found.step_s = self.load, self.step_s
        found.windows = [self.windows[at] for at in which]
        found.monitored = [self.monitored[at] for at in which]
        found._lead = self._lead
        found._steps = (found.windows[0].count + found._lead) * len(which)
        found._played = found._joined()
        return found

    def _joined(self) -> MonitoredLoad:
        """The windows one after the other, each with the steps that lead it in."""

        def joined(steps: Steps) -> Steps:
            if not steps:
                return ()
            parts: list[float | None] = []
            for each in self.windows:
                lead = steps[max(0, each.first - self._lead) : each.first]
                parts += [0.0] * (self._lead - len(lead))
                parts += [*lead, *steps[each.first : each.first + each.count]]
            return tuple(parts)

        load = self.load
        return load.model_copy(update={key: joined(getattr(load, key)) for key in _STEPPED_KEYS})

    def scenario(self, system: System, openness: Openness) -> Scenario:
        """The system under the windows.

        Raises:
            SpecError: The system cannot be.
        """
        length = self._steps * self.step_s
        run: RunTree = {
            "warm_up": f"{round(length * 1e9)} ns",
            "duration": f"{round(length * 1e9)} ns",
            "timeline_step": f"{max(1, round(self.step_s * 1e9))} ns",
        }
        return system.loaded(playing(self._played, openness, length, system.load_place), run)

    def beside(self, system: System, scenario: Scenario, result: Result) -> Present:
        """What a run of `scenario` gives beside what was monitored."""
        rows = typed(result.results)
        found = []
        every = zip(self.windows, self.monitored, self._simulated(rows), strict=True)
        for window, monitored, simulated in every:
            seconds = window.count * self.load.step_s
            found.append(Beside(window.first * self.load.step_s, seconds, monitored, simulated))
        return Present(system.title, self.load.source, tuple(found), self._busy(scenario, rows))

    def _simulated(self, rows: Sequence[Row]) -> list[Waits]:
        """Of each window, from the steps of the second time that all windows pass."""
        import numpy as np

        count, lead, length = self.windows[0].count, self._lead, self._steps * self.step_s
        ios = {reads: np.zeros(len(self.windows)) for reads in (True, False)}
        waits = {reads: np.zeros(len(self.windows)) for reads in (True, False)}
        for row in rows:
            t_s = np.array(row.timeline.t_s)
            width = np.diff(t_s, prepend=0.0)
            middle = t_s - width / 2
            step = np.floor(middle % length / self.step_s).astype(int)
            window, within = np.divmod(step, count + lead)
            counts = (middle > row.warm_up_s + row.duration_s - length) & (within >= lead)
            counts &= window < len(self.windows)
            done = np.array(row.timeline.iops) * width * counts
            wait = np.array([each or 0.0 for each in row.timeline.latency_us]) / 1000
            window = np.minimum(window, len(self.windows) - 1)
            np.add.at(ios[row.read.ios > 0], window, done)
            np.add.at(waits[row.read.ios > 0], window, done * wait)

        def wait_of(at: int, both: float, *, reads: bool) -> float | None:
            own = float(ios[reads][at])
            enough = own >= max(_LEAST_IOS, _LEAST_SHARE * both)
            return float(waits[reads][at]) / own if enough else None

        found = []
        for at in range(len(self.windows)):
            both = float(ios[True][at] + ios[False][at])
            inside = float(waits[True][at] + waits[False][at])
            found.append(
                Waits(
                    both / (count * self.step_s),
                    wait_of(at, both, reads=True),
                    wait_of(at, both, reads=False),
                    inside / both if both >= _LEAST_IOS else None,
                )
            )
        return found

    def _busy(self, scenario: Scenario, rows: Sequence[Row]) -> tuple[float, float] | None:
        """Of a single disk: a tool's share of time with a request is how busy the disk is."""
        drives = [each for each in rows[0].components if each.kind == "hdd"] if rows else []
        values = [each for each in self._played.busy if each is not None]
        if len(drives) != 1 or len(scenario.base["devices"]) != 1 or not values:
            return None
        return sum(values) / len(values), drives[0].utilization


def _windows(load: MonitoredLoad) -> list[Window]:
    """A window in the middle of each part of the file, of one length, where waits are known."""
    periods = min(HOURS, load.steps)
    rates = [(r or 0.0) + (w or 0.0) for r, w in zip(load.read_iops, load.write_iops, strict=True)]
    mean = sum(rates) / len(rates)
    if mean <= 0:
        return []
    each = load.steps // periods
    count = max(1, min(each, math.ceil(_WINDOW_IOS / mean / load.step_s)))
    found = []
    for period in range(periods):
        begin, end = (at * load.steps // periods for at in (period, period + 1))
        first = begin + (end - begin - count) // 2
        window = Window(first, count)
        waits = _monitored(load, window)
        if waits.iops > 0.05 * mean and waits.mean_ms:
            found.append(window)
    return found


def _monitored(load: MonitoredLoad, window: Window) -> Waits:
    span = range(window.first, window.first + window.count)

    def total(rates: Steps, waits: Steps) -> tuple[float, float, float]:
        """I/Os a second, those whose waits are known, and the waits' sum in ms a second."""
        ios = sum(rates[at] or 0.0 for at in span) / window.count
        if not waits:
            return ios, 0.0, 0.0
        known = [(rates[at] or 0.0, wait) for at in span if (wait := waits[at]) is not None]
        weights = sum(rate for rate, _ in known) / window.count
        return ios, weights, sum(rate * wait for rate, wait in known) / window.count

    reads, read_known, read_waits = total(load.read_iops, load.read_await_ms)
    writes, write_known, write_waits = total(load.write_iops, load.write_await_ms)
    ios = reads + writes
    read = read_waits / read_known if read_known > _LEAST_SHARE * ios else None
    write = write_waits / write_known if write_known > _LEAST_SHARE * ios else None
    inside = [load.queue[at] for at in span] if load.queue else []
    queues = [each for each in inside if each is not None]
    mean = None
    if read_known + write_known > 0.5 * ios > 0:
        mean = (read_waits + write_waits) / (read_known + write_known)
    elif queues and ios > 0:
        mean = 1000 * sum(queues) / len(queues) / ios
    return Waits(ios, read, write, mean)


def beside(
    system: System,
    load: MonitoredLoad,
    running: Running,
    seed: int,
    openness: Openness | None = None,
) -> Present:
    """The system under a monitored load, beside what was monitored.

    Args:
        system: The present system.
        load: What was monitored of it.
        running: Workers and store.
        seed: Seed of the random numbers.
        openness: What the file leaves open; as it was fitted if left out, else the mildest.

    Raises:
        SpecError: The file has no waits, or the system cannot be.
    """
    windows = Windows(load)
    if openness is None:
        openness = load.fit.members[0] if load.fit is not None else Openness()
    scenario = windows.scenario(system, openness)
    (result,) = results_of(
        [scenario], seed, workers=running.workers, store=running.store, heeds_past=False
    )
    return windows.beside(system, scenario, result)


def as_monitored(tree: ScenarioTree, path: Path, running: Running, seed: int) -> Present | None:
    """A scenario under its own monitored load, beside what was monitored.

    None for scenarios of other loads, or of several, which share the system.

    Raises:
        SpecError: The load's file cannot be read or has no waits, or the system cannot be.
    """
    loads = tree.get("workload")
    if not isinstance(loads, Sequence) or len(loads) != 1:
        return None
    (only,) = loads
    if not isinstance(only, Mapping) or "monitoring" not in only:
        return None
    load = read_monitored(path.parent / str(only["monitoring"]))
    return beside(System(tree, path), load, running, seed)
