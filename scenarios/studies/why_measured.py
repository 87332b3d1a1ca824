"""Which cause explains a measurement.

The system is simulated as it is written, without each cause that it has, and with each that it has
not, beside what was measured.

The error of a system is the root mean square of the logarithms of its ratios to the measurement, of
rate and mean latency. A system explains the measurement if its error is at most `EXPLAINS`. A cause
explains it if only the system with it does so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.trees import Document
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies.additions import additions
from raidlab.scenarios.studies.suspects import suspects

EXPLAINS: Final = 0.15
"""Error up to which a simulated system gives what was measured: what is asked of published rates
that are read from pictures."""


@dataclass(frozen=True)
class MeasuredMeans:
    """What was measured of a system, all loads together."""

    source: str
    iops: float
    latency_us: float | None
    """Mean; None where it was not measured."""


@dataclass(frozen=True)
class Compared:
    """A simulated system beside the measurement."""

    code: str
    """Of the cause; empty for the system as it is written."""
    subject: str
    at_work: bool
    """True if the system has the cause, False if it was removed."""
    iops: float
    latency_us: float
    error_pct: float
    check: str = ""

    @property
    def explains(self) -> bool:
        """True if it gives what was measured."""
        return self.error_pct <= 100 * EXPLAINS


@dataclass(frozen=True)
class Explanation:
    """What explains a measurement."""

    measured: MeasuredMeans
    written: Compared
    changed: tuple[Compared, ...]
    """The nearest first."""
    set_aside: tuple[str, ...]

    @property
    def explained_by(self) -> tuple[Compared, ...]:
        """Changes that explain it where the system as it is written does not."""
        if self.written.explains:
            return ()
        return tuple(each for each in self.changed if each.explains)

    @property
    def sentence(self) -> str:
        """The answer."""
        own = self.written
        if own.explains:
            error = f"{own.error_pct:.0f} %"
            return f"The system as it is written gives what was measured, within {error}."
        found = self.explained_by
        if found:
            first = found[0]
            how = "is at work" if first.at_work else "is not at work on the real machine"
            also = f" So do {len(found) - 1} others." if len(found) > 1 else ""
            return (
                f"{first.code} explains the measurement: {first.subject} {how}."
                f" Error {first.error_pct:.0f} %, as written {own.error_pct:.0f} %.{also}"
            )
        nearest = min((own, *self.changed), key=lambda each: each.error_pct)
        name = nearest.code or "as it is written"
        return (
            "No usual cause explains the measurement: it is another system, another load, or"
            f" several causes. The nearest, {name}, is {nearest.error_pct:.0f} % off."
        )

    def to_dict(self) -> Document:
        """`measured` of the document of `raidlab why --json`."""

        def plain(each: Compared) -> Document:
            return {
                "code": each.code, "subject": each.subject, "at_work": each.at_work,
                "iops": each.iops, "latency_us": each.latency_us, "error_pct": each.error_pct,
                "explains": each.explains, "check": each.check,
            }  # fmt: skip

        return {
            "source": self.measured.source,
            "iops": self.measured.iops,
            "latency_us": self.measured.latency_us,
            "sentence": self.sentence,
            "as_written": plain(self.written),
            "explained_by": [plain(each) for each in self.explained_by],
            "compared": [plain(each) for each in self.changed],
            "set_aside": list(self.set_aside),
        }


@dataclass(frozen=True)
class _Change:
    code: str
    subject: str
    at_work: bool
    check: str
    make: Callable[[], Scenario]


def explain(
    scenario: Scenario,
    measured: MeasuredMeans,
    *,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Explanation:
    """Simulates a system with and without each usual cause, beside a measurement.

    Raises:
        SpecError: The scenario has several points, or cannot be run.
        KeyboardInterrupt: Ctrl-C.
    """
    if scenario.points != 1:
        allowed = "one depth and one rate: a measurement is of one point"
        raise SpecError([Fault("workload", scenario.points, allowed, (), scenario.path)])
    first = scenario.seed if seed is None else seed
    (base,) = results_of([scenario], first, workers=workers, store=store)
    built: list[tuple[_Change, Scenario]] = []
    set_aside: list[str] = []
    for change in _changes(scenario, base):
        try:
            built.append((change, change.make()))
        except SpecError as error:
            set_aside.append(f"{change.code}: {error.faults[0]}")
    refused: dict[int, list[Fault]] = {}
    results = results_of(
        [system for _, system in built], first, workers=workers, progress=progress, store=store,
        refused=refused, heeds_past=False,
    )  # fmt: skip
    run = [change for at, (change, _) in enumerate(built) if at not in refused]
    set_aside += [f"{built[at][0].code}: the engine refuses the system" for at in refused]
    found = [_beside(change, result, measured) for change, result in zip(run, results, strict=True)]
    found.sort(key=lambda each: each.error_pct)
    as_written = _Change("", "as it is written", True, "", lambda: scenario)
    return Explanation(
        measured, _beside(as_written, base, measured), tuple(found), tuple(set_aside)
    )


def _changes(scenario: Scenario, base: Result) -> Iterator[_Change]:
    for each in suspects(scenario, list(base.results)):
        yield _Change(each.code, each.subject, False, each.check, each.without)
    for added in additions(scenario):
        yield _Change(added.code, added.subject, True, added.check, added.with_it)


def _beside(change: _Change, result: Result, measured: MeasuredMeans) -> Compared:
    iops, waited = 0.0, 0.0
    for row in result.summary():
        if row["latency_us"] is not None:
            iops += row["iops"]
            waited += row["iops"] * row["latency_us"]["mean"]
    latency = waited / iops if iops else math.inf
    logs = [math.log(iops / measured.iops)] if iops else [math.inf]
    if measured.latency_us:
        logs.append(math.log(latency / measured.latency_us))
    error = math.expm1(min(50.0, math.sqrt(sum(each**2 for each in logs) / len(logs))))
    return Compared(
        change.code, change.subject, change.at_work, iops, latency, 100 * error, change.check
    )
