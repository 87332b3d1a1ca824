"""Why a system is slow: each usual cause is removed by itself, from the same seed, and ranked.

The gain of a cause is what its removal gives: rates over rates where rates change, else mean
latencies over mean latencies, as the geometric mean over loads and points. Its 95 % interval is
Student's t over independent seeds. A cause is one whose gain exceeds what chance and design
explain, or a defect: what is broken is named whatever it costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.asked import in_words
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row, latency_at
from raidlab.scenarios.results.student import t_975
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies.suspects import LEAST_PCT, Suspect, suspects
from raidlab.scenarios.studies.why_measured import Explanation, MeasuredMeans, explain

SEEDS: Final = 3
"""Independent runs of a system and of each suspect that looks guilty."""
_WORTH_A_LOOK: Final = 0.5
"""Share of the gain that is asked for, from which on a first run is repeated."""
_SERVED: Final = 0.02
"""Change of a rate from which on the rate is what changed, not the latency alone."""


@dataclass(frozen=True)
class Cause:
    """A cause, and what its removal gives."""

    code: str
    subject: str
    gain_pct: float
    """Infinite if nothing was served with it; None in the document."""
    gain_pct_ci95: tuple[float, float]
    gain_of: str
    """`rate`; `latency` where the rate stays: by how much longer it is with the cause; or both."""
    proof: str
    """The figures with and without it."""
    remedy: str
    check: str
    """The command that would show it on the real machine."""


@dataclass(frozen=True)
class Diagnosis:
    """What slows a system."""

    title: str
    causes: tuple[Cause, ...]
    limits: tuple[str, ...]
    """What each load and point is limited by as it stands."""
    tried: tuple[str, ...]
    """Suspects that were removed, each with the most that a removal gave in the first run."""
    set_aside: tuple[str, ...]
    """Suspects whose removal cannot be simulated, and why."""
    warnings: tuple[str, ...]
    breaches: tuple[str, ...] = ()
    explanation: Explanation | None = None
    """Which cause explains a measurement; None without one."""

    @property
    def healthy(self) -> bool:
        """True if no suspect is a cause."""
        return not self.causes

    @property
    def sentence(self) -> str:
        """The answer."""
        if self.explanation is not None:
            return f"{self.explanation.sentence} {self._own_sentence}"
        return self._own_sentence

    @property
    def _own_sentence(self) -> str:
        if not self.causes:
            return f"Nothing is wrong; by design the limit is {'; '.join(self.limits)}."
        first = self.causes[0]
        said = f"{first.code}: {first.subject}. {_gives(first)}"
        if first.gain_pct < LEAST_PCT:
            said += f"; by design the limit is {'; '.join(self.limits)}"
        return f"{said}."

    def to_dict(self) -> Document:
        """The document of `raidlab why --json`."""
        return {
            "title": self.title,
            "healthy": self.healthy,
            "sentence": self.sentence,
            "causes": [
                asdict(each)
                | {
                    "gain_pct": _finite(each.gain_pct),
                    "gain_pct_ci95": [_finite(end) for end in each.gain_pct_ci95],
                }
                for each in self.causes
            ],
            "limits": list(self.limits),
            "tried": list(self.tried),
            "set_aside": list(self.set_aside),
            "measured": None if self.explanation is None else self.explanation.to_dict(),
            "warnings": list(self.warnings),
        }


def why(
    scenario: Scenario,
    *,
    measured: MeasuredMeans | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Diagnosis:
    """Removes each usual cause from a system and says which ones matter.

    With a measurement it also says which cause, removed or added, gives what was measured.

    Raises:
        SpecError: The scenario has no load, or cannot be run.
        KeyboardInterrupt: Ctrl-C.
    """
    if not scenario.workloads:
        allowed = "at least one: without a load nothing is slow"
        raise SpecError([Fault("workload", None, allowed, (), scenario.path)])
    first = scenario.seed if seed is None else seed

    def run(systems: Sequence[Scenario], at: int) -> Iterator[Result | None]:
        """The result of each system; None of one that the engine refuses."""
        refused: dict[int, list[Fault]] = {}
        found = results_of(
            systems, first + at, workers=workers, progress=progress, store=store, refused=refused,
            heeds_past=False,
        )  # fmt: skip
        results = list(found)
        return iter([None if at in refused else results.pop(0) for at in range(len(systems))])

    (base,) = results_of([scenario], first, workers=workers, progress=progress, store=store)
    built: list[tuple[Suspect, Scenario]] = []
    set_aside: list[str] = []
    for suspect in suspects(scenario, list(base.results)):
        try:
            built.append((suspect, suspect.without()))
        except SpecError as error:
            set_aside.append(f"{suspect.code}: {error.faults[0]}")
    gains: list[tuple[Suspect, Scenario, Result, float]] = []
    for (suspect, system), result in zip(built, run([each for _, each in built], 0), strict=True):
        if result is None:
            set_aside.append(f"{suspect.code}: the engine refuses the system without it")
            continue
        gain = _gain(base, result)
        if gain is not None:
            gains.append((suspect, system, result, gain))
    tried = _best_of_each(gains)
    gains = [each for each in tried if _worth_a_look(each[0], each[3])]
    logs = [[gain] for *_, gain in gains]
    for at in range(1, SEEDS if gains else 1):
        again, *others = run([scenario, *(system for _, system, _, _ in gains)], at)
        for found, other in zip(logs, others, strict=True):
            gain = None if again is None or other is None else _gain(again, other)
            found += [] if gain is None else [gain]
    causes = [
        _cause(suspect, base, result, found)
        for (suspect, _, result, _), found in zip(gains, logs, strict=True)
        if _matters(suspect, found)
    ]
    causes.sort(key=lambda cause: -cause.gain_pct)
    causes = _mechanism_first(causes)
    return Diagnosis(
        scenario.title,
        tuple(causes),
        _limits(base.results),
        tuple(f"{each.code}: {each.subject}: {percent(_pct(gain))}" for each, *_, gain in tried),
        tuple(set_aside),
        base.warnings,
        base.breaches,
        None
        if measured is None
        else explain(scenario, measured, seed=seed, workers=workers, store=store),
    )


def _limits(rows: Sequence[Row]) -> tuple[str, ...]:
    """What bounds each row; of several loads or points, which is meant."""
    found = tuple(dict.fromkeys(row["bottleneck"] or "nothing" for row in rows))
    if len(found) == 1:
        return found
    several = len({row["workload"] for row in rows}) > 1
    loads = [f"{row['workload']}, " if several else "" for row in rows]
    said = [
        f"{row['bottleneck'] or 'nothing'} ({load}{in_words(row)})"
        for row, load in zip(rows, loads, strict=True)
    ]
    return tuple(dict.fromkeys(said))


def _mechanism_first(causes: list[Cause]) -> list[Cause]:
    """Another stripe unit ranks behind a cause that gives as much: it may remove just that cause.

    Two gains are as much if their intervals overlap. A smaller stripe unit makes whole stripes of
    large writes, for example: then partial stripes are why, and the stripe unit is a remedy.
    """
    units = [cause for cause in causes if cause.code == "stripe-unit"]
    found = [cause for cause in causes if cause.code != "stripe-unit"]
    for unit in units:
        low = unit.gain_pct_ci95[0]
        behind = [at for at, cause in enumerate(found) if cause.gain_pct_ci95[1] >= low]
        found.insert(behind[-1] + 1 if behind else 0, unit)
    return found


def _best_of_each(
    gains: list[tuple[Suspect, Scenario, Result, float]],
) -> list[tuple[Suspect, Scenario, Result, float]]:
    """Of several remedies for one cause, such as stripe units, the one that gives most."""
    best: dict[tuple[str, str], tuple[Suspect, Scenario, Result, float]] = {}
    for each in gains:
        key = (each[0].code, each[0].subject)
        if key not in best or each[3] > best[key][3]:
            best[key] = each
    return list(best.values())


def _gives(cause: Cause) -> str:
    """What a cause costs, in words."""
    gain = percent(cause.gain_pct)
    if not math.isfinite(cause.gain_pct):
        return f"Without it {gain}"
    if cause.gain_of == "latency":
        way = "longer" if cause.gain_pct >= 0 else "shorter"
        return f"With it the latency is {abs(cause.gain_pct):.0f} % {way}, at the same rate"
    return f"Without it {gain} {cause.gain_of}"


def percent(gain_pct: float) -> str:
    """A gain in words."""
    return f"{gain_pct:+.0f} %" if math.isfinite(gain_pct) else "I/Os end, with it none"


def _pct(log: float) -> float:
    return 100 * math.expm1(log)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _worth_a_look(suspect: Suspect, gain: float) -> bool:
    return suspect.is_defect or gain > math.log1p(_WORTH_A_LOOK * suspect.at_least_pct / 100)


def _interval(logs: list[float]) -> tuple[float, float]:
    """A 95 % interval of the mean of log ratios, by Student's t over independent seeds."""
    mean = sum(logs) / len(logs)
    if len(logs) < 2 or math.isinf(mean):
        return mean, mean
    variance = sum((each - mean) ** 2 for each in logs) / (len(logs) - 1)
    half = t_975(len(logs) - 1) * math.sqrt(variance / len(logs))
    return mean - half, mean + half


def _matters(suspect: Suspect, logs: list[float]) -> bool:
    mean = sum(logs) / len(logs)
    return suspect.is_defect or (
        mean > math.log1p(suspect.at_least_pct / 100) and _interval(logs)[0] > 0
    )


def _rows(result: Result) -> dict[tuple[str, int], Row]:
    return {(row["workload"], row["point"]): row for row in result.summary()}


def _gain(before: Result, after: Result) -> float | None:
    """The log of what a removal gives, over the loads and points that both have.

    Infinite if nothing was served before; None if there is nothing to compare.
    """
    old, new = _rows(before), _rows(after)
    if not any(row["mib_per_s"] for row in old.values()):
        return math.inf if any(row["mib_per_s"] for row in new.values()) else 0.0
    found = [log for log, _ in _changes(old, new)]
    return sum(found) / len(found) if found else None


def _changes(
    old: Mapping[tuple[str, int], Row], new: Mapping[tuple[str, int], Row]
) -> Iterator[tuple[float, str]]:
    """The log of what each load and point gains, and whether of its rate or its latency."""
    for key in (each for each in old if each in new):
        was, now = old[key], new[key]
        if not (
            was["mib_per_s"]
            and now["mib_per_s"]
            and (mean_before := latency_at(was, "mean"))
            and (mean_after := latency_at(now, "mean"))
        ):
            continue
        rate = now["mib_per_s"] / was["mib_per_s"]
        if abs(rate - 1) > _SERVED:
            yield math.log(rate), "rate"
        else:
            yield math.log(mean_before / mean_after), "latency"


def _cause(suspect: Suspect, before: Result, after: Result, logs: list[float]) -> Cause:
    low, high = _interval(logs)
    old, new = _rows(before), _rows(after)
    both = [key for key in old if key in new]
    proof = "; ".join(
        f"{key[0]}: {_shown(old[key])}, without it {_shown(new[key])}" for key in both[:3]
    )
    return Cause(
        suspect.code,
        suspect.subject,
        _pct(sum(logs) / len(logs)),
        (_pct(low), _pct(high)),
        " or ".join(sorted({of for _, of in _changes(old, new)}, reverse=True)) or "rate",
        proof,
        suspect.remedy,
        suspect.check,
    )


def _shown(row: Row) -> str:
    latency = latency_at(row, "mean")
    return "no I/O ended" if latency is None else f"{row['iops']:,.0f} IO/s at {latency:,.0f} us"
