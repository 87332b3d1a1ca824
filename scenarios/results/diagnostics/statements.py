"""Whether a row may carry a statement: be the best rate, the knee, a size, a recommendation.

It may if it has enough I/Os, its load is served, caches are full and its rate is steady. Headline,
`size`, `plan`, `sweep` and the lab ask here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.diagnostics.cache_filling import still_filling
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.workloads import is_unsteady
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.findings import Code

FEW_RATE_IOS = 10
"""I/Os from which on a run says something of a rate, as intervals do."""
_WORDS = {
    Code.NOTHING_RECORDED: "nothing was recorded",
    Code.FEW_IOS: f"fewer than {FEW_RATE_IOS} I/Os",
    Code.OVERLOAD: "more arrives than is served",
    Code.CACHE_FILLING: "the cache still fills",
    Code.UNSTEADY: "no steady state",
}


def add_doubts(rows: Sequence[Row], scenario: Scenario | None) -> None:
    """Gives each row its `doubts`: codes of what keeps it from carrying a statement."""
    for run in Observed(rows, scenario).runs():
        filling = bool(still_filling(run))
        for row in run:
            found = list(_doubts(row, scenario))
            found += [Code.CACHE_FILLING] * (filling and bool(row["write"]["ios"]))
            row["doubts"] = [str(code) for code in found]


def _doubts(row: Row, scenario: Scenario | None) -> Iterable[Code]:
    if not row["ios"]:
        yield Code.NOTHING_RECORDED
    elif row["ios"] < FEW_RATE_IOS:
        yield Code.FEW_IOS
    if row.get("overloaded"):
        yield Code.OVERLOAD
    elif row["ios"] and is_unsteady(row, scenario):
        yield Code.UNSTEADY


def may_carry(row: Row) -> bool:
    """Whether a row may carry a statement."""
    return not row.get("doubts")


def why_not(rows: Iterable[Row]) -> str:
    """What keeps rows from carrying a statement: `no steady state, the cache still fills`."""
    codes = dict.fromkeys(code for row in rows for code in row.get("doubts", ()))
    return ", ".join(words for code, words in _WORDS.items() if str(code) in codes)
