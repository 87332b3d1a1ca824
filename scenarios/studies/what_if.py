"""What twice of something would give: the same scenario, seed and load with one thing changed.

A component that is busy all the time need not be what an investment should go to: the next one may
stand at 95 %. So each change is simulated, not guessed from utilisations.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.levels import facts
from raidlab.devices.plan_types import Plan
from raidlab.devices.units import FREQUENCY
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.diagnostics.cache_filling import points_still_filling
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Change, Gain, Row
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.findings import about


def what_if(
    scenario: Scenario,
    result: Result,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Result:
    """The result with `what_if`: what each change that applies to the scenario would give.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    changed: list[tuple[_Case, Scenario | list[Fault]]] = []
    for case in _cases(scenario):
        try:
            changed.append((case, case.build()))
        except SpecError as error:
            changed.append((case, error.faults))
    outcomes = results_of(
        [built for _, built in changed if not isinstance(built, list)],
        result.seed, workers=workers, progress=progress, store=store, heeds_past=False,
    )  # fmt: skip
    before = {(row["workload"], row["point"]): row for row in result.summary()}
    unfilled = points_still_filling(result.results)
    changes: list[Change] = []
    warnings = list(result.warnings)
    for case, changed_to in changed:
        if isinstance(changed_to, list):
            why_not = "; ".join(str(fault) for fault in changed_to)
            reason = "; ".join(dict.fromkeys(fault.allowed for fault in changed_to))
            changes.append(case.report([], why_not, reason))
        else:
            outcome = next(outcomes)
            filling = {*points_still_filling(outcome.results), *unfilled}
            gains = [
                _gain(row, before, still_filling=row["point"] in filling)
                for row in outcome.summary()
            ]
            changes.append(case.report(gains))
            warnings += [
                about(warning, f"with {case.words}: {warning}")
                for warning in outcome.warnings
                if warning not in result.warnings
            ]
    return replace(result, what_if=tuple(changes), warnings=tuple(warnings))


def _gain(row: Row, before: dict[tuple[str, int], Row], *, still_filling: bool) -> Gain:
    was = before[row["workload"], row["point"]]["iops"]
    return {
        "workload": row["workload"],
        "outstanding": row["outstanding"],
        "point": row["point"],
        "iops": row["iops"],
        "gain_pct": 100 * (row["iops"] / was - 1) if was else None,
        "bottleneck": row["bottleneck"],
        "still_filling": still_filling,
    }


_Number = Literal["cores", "queue_depth", "memory_bytes_per_s", "parity_bytes_per_s"]
_OF_CONTROLLERS: Final[Mapping[_Number, str]] = {
    "cores": "cores",
    "queue_depth": "command queue",
    "memory_bytes_per_s": "memory bandwidth",
    "parity_bytes_per_s": "parity engines",
}
"""Numbers of a controller that can be twice as large, in words."""


@dataclass(frozen=True)
class _Case:
    """A change of the system."""

    words: str
    subject: str
    """What there is twice of."""
    build: Callable[[], Scenario]
    """The changed scenario. Raises SpecError where it cannot be."""

    def report(
        self, gains: list[Gain], why_not: str | None = None, reason: str | None = None
    ) -> Change:
        return {
            "change": self.words,
            "subject": self.subject,
            "why_not": why_not,
            "reason": reason,
            "results": gains,
        }


def _cases(scenario: Scenario) -> Iterator[_Case]:
    """Every change that has something to change in this system."""
    plan = scenario.base
    for at, controller in enumerate(plan["controllers"]):
        name, link = controller["name"], controller["link"]
        if link is not None:
            yield _planned(scenario, f"the lanes of {name}", partial(_double_link, link))
        for key, words in _OF_CONTROLLERS.items():
            if controller[key] and _matters(plan, key):
                subject = f"the {words} of {name}"
                yield _planned(scenario, subject, partial(_double_number, at, key))
        if controller.get("cache") is not None and _cached(plan):
            yield _planned(scenario, f"the cache of {name}", _double_cache)
    yield _planned(scenario, "the rate of the drives' links", _double_links)
    yield _twice("the drives", lambda: _with_drives(scenario, "drives"))
    if any(array.get("tier") for array in plan["arrays"]):
        yield _twice("the SSDs of the tier", lambda: _with_drives(scenario, "cache_tier"))
    words = "a host CPU twice as fast"
    yield _Case(words, words, lambda: _with_twice_the_clock(scenario))
    if _shares_cores(plan):
        yield _planned(scenario, "the host cores", _double_cores)
    yield _planned(scenario, "the load threads", _double_threads)


def _cached(plan: Plan) -> bool:
    return any(array.get("cache") for array in plan["arrays"])


def _matters(plan: Plan, key: str) -> bool:
    """Whether an array of the system uses the engine or the memory at all."""
    levels = [facts(array["level"]) for array in plan["arrays"] if not array["software"]]
    parity = any(level.parities for level in levels)
    if key == "parity_bytes_per_s":
        return parity
    copies = any(level.copies != 1 for level in levels)
    return key != "memory_bytes_per_s" or parity or copies or _cached(plan)


def _shares_cores(plan: Plan) -> bool:
    """Whether loads have more threads than cores; what writes back for one is a thread, too."""
    cores: int = plan["host"]["cores"]
    threads: int = sum(load["threads"] + ("page_cache" in load) for load in plan["workloads"])
    return 0 < cores < threads


def _twice(subject: str, build: Callable[[], Scenario]) -> _Case:
    return _Case(f"twice {subject}", subject, build)


def _planned(scenario: Scenario, subject: str, change: Callable[[Plan], None]) -> _Case:
    def changed() -> Scenario:
        base = copy.deepcopy(scenario.base)
        change(base)
        return replace(scenario, base=base)

    return _twice(subject, changed)


def _double_link(at: int, plan: Plan) -> None:
    plan["links"][at]["bytes_per_s"] *= 2


def _double_number(at: int, key: _Number, plan: Plan) -> None:
    plan["controllers"][at][key] *= 2


def _double_cache(plan: Plan) -> None:
    for controller in plan["controllers"]:
        if controller["cache"] is not None:
            controller["cache"]["bytes"] *= 2


def _double_links(plan: Plan) -> None:
    to_host = {controller["link"] for controller in plan["controllers"]}
    for at, link in enumerate(plan["links"]):
        if at not in to_host:
            link["bytes_per_s"] *= 2


def _double_cores(plan: Plan) -> None:
    plan["host"]["cores"] *= 2


def _double_threads(plan: Plan) -> None:
    for workload in plan["workloads"]:
        workload["threads"] *= 2


def _with_twice_the_clock(scenario: Scenario) -> Scenario:
    """With all that the host's CPU does faster: I/Os, parity, page cache, maps of its drives."""
    tree = json.loads(json.dumps(dict(scenario.written), default=str))
    host = tree.setdefault("host", {})
    spec = scenario.models[host.get("model", "generic")].spec
    if not isinstance(spec, HostSpec):
        raise AssertionError("the host of a scenario is a host")
    clock = FREQUENCY.convert(host["clock"]) if "clock" in host else spec.clock
    host["clock"] = f"{2 * clock:.0f} Hz"
    return _built(scenario, tree)


def _with_drives(scenario: Scenario, which: str) -> Scenario:
    tree = json.loads(json.dumps(dict(scenario.written), default=str))
    for array in tree["array"]:
        holder = array.get("cache_tier") if which == "cache_tier" else array
        for entry in (holder or {}).get("drives", ()):
            entry["count"] = 2 * entry.get("count", 1)
    return _built(scenario, tree)


def _built(scenario: Scenario, tree: Plan) -> Scenario:
    built = build_scenario(tree, Path(scenario.path) if scenario.path else None)
    return replace(built, seed=scenario.seed)
