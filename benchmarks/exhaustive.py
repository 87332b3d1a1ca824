"""Does `raidlab plan` find the winner of simulating every candidate? All of 2,430, whole.

    python benchmarks/exhaustive.py [QUESTION] --store FILE [--seconds 200] [--workers 2]

Every candidate that can be built is simulated for the whole run, whatever closed forms say of it.
Finished runs are in the store: after `--seconds` the rest is left for the next call. Once all are
there, the cheapest ones that meet the goals stand beside what `plan` recommends, and the fewest
drives of each family of it (drive, level, controller) beside what `size` finds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.devices.trees import Document
from raidlab.scenarios.capacity.answer import price
from raidlab.scenarios.capacity.candidates import Candidate, expand
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import Question, load_question
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import meets, size
from raidlab.scenarios.studies.vary import axes_of

HERE = Path(__file__).parent / "plans"
_AT_ONCE = 16
_SIZED = 5
"""Families of which `size` is asked: those that are cheapest."""
SEED = 1


@dataclass(frozen=True)
class Whole:
    """A candidate after its whole run."""

    candidate: Candidate
    fits: bool
    p99_us: float | None


def simulated(
    question: Question, built: Sequence[Candidate], running: Running, seconds: float
) -> list[Whole]:
    """Those of the candidates that were simulated before the time was over."""
    end, found = time.monotonic() + seconds, list[Whole]()
    for at in range(0, len(built), _AT_ONCE):
        if time.monotonic() > end:
            break
        some = built[at : at + _AT_ONCE]
        scenarios = [each.scenario for each in some if each.scenario is not None]
        results = results_of(scenarios, SEED, workers=running.workers, store=running.store)
        found += [_judged(question, *pair) for pair in zip(some, results, strict=True)]
        print(f"\r{len(found):,} of {len(built):,}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def _judged(question: Question, candidate: Candidate, result: Result) -> Whole:
    scenario = candidate.scenario
    holds = scenario is not None and meets(question.goals, scenario, result)
    # What needs no simulation was judged when the candidate was built.
    fits = holds and not candidate.failing
    latencies = [row["latency_us"]["p99"] for row in result.summary() if row["latency_us"]]
    return Whole(candidate, fits, max(latencies, default=None))


def sizes(question: Question, whole: Sequence[Whole], running: Running) -> list[Document]:
    """The fewest drives of the cheapest families, by simulating all and by `size`."""
    least: dict[tuple[str, ...], Whole] = {}
    for each in sorted((each for each in whole if each.fits), key=lambda one: one.candidate.count):
        least.setdefault(each.candidate.family, each)
    cheapest = sorted(least.values(), key=lambda each: price(each.candidate))[:_SIZED]
    rows = []
    for each in cheapest:
        own = each.candidate
        counts = [one.candidate.count for one in whole if one.candidate.family == own.family]
        values = ",".join(map(str, sorted(counts)))
        (axis,) = axes_of([f"array.0.drives.0.count={values}"])
        goals = [goal for goal in question.goals if goal.quantity not in ("survives", "cost")]
        found = size(own.tree, question.path, axis, goals, seed=SEED, running=running)
        rows.append({"family": ", ".join(own.family), "all": own.count, "size": found.answer})
    return rows


def report(question: Question, whole: Sequence[Whole], running: Running) -> Document:
    """What `plan` and `size` say beside what was simulated whole."""
    begun = time.monotonic()
    answer = plan(question, seed=SEED, running=Running(workers=running.workers))
    took = time.monotonic() - begun
    fitting = sorted((each for each in whole if each.fits), key=lambda each: price(each.candidate))
    best = answer.recommended
    names = [each.candidate.name for each in fitting]
    return {
        "candidates": len(answer.candidates),
        "built": len(whole),
        "fitting": len(fitting),
        "cheapest": [
            {"name": each.candidate.name, "cost": each.candidate.cost, "p99_us": each.p99_us}
            for each in fitting[:10]
        ],
        "recommended": None if best is None else best.name,
        "recommended_cost": None if best is None else best.cost,
        "recommended_p99_us": None if best is None else best.p99_us,
        "place": names.index(best.name) + 1 if best and best.name in names else None,
        "plan_s": took,
        "plan_simulations": answer.simulated,
        "sizes": sizes(question, whole, running),
    }


def main() -> int:
    """Goes on simulating; prints the comparison once every candidate was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("question", nargs="?", type=Path, default=HERE / "two-thousand.toml")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    question = load_question(given.question)
    built = [each for each in expand(question) if each.scenario is not None]
    with Store(given.store) as store:
        running = Running(workers=given.workers, store=store)
        whole = simulated(question, built, running, given.seconds)
        if len(whole) < len(built):
            print(f"{len(whole):,} of {len(built):,} candidates; call again", file=sys.stderr)
            return 1
        print(json.dumps(report(question, whole, running), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
