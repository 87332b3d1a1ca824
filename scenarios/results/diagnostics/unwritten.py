"""Reads of SSDs that find nothing: what was never written is answered without NAND."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.bottleneck import behind
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.run_result import Component, ReadUnits

_LEAST_SHARE = 0.001
"""Share of the units read below which no figure differs."""


def of_components(components: Iterable[Component]) -> float:
    """Share, 0 to 1, of what drives read in the recorded time that was never written."""
    return _share(_read(components))


def _read(components: Iterable[Component]) -> list[ReadUnits]:
    return [found for each in components if (found := each.get("read_units"))]


def _share(read: Sequence[ReadUnits]) -> float:
    units = sum(each["units"] for each in read)
    unwritten = sum(each["unwritten_units"] for each in read)
    # What is read ahead may never be asked for.
    return min(1.0, unwritten / units) if units else float(unwritten > 0)


def unwritten_note(what: str, read: Sequence[ReadUnits], remedied_by: str) -> list[str]:
    """What a user should know of the drives of `what`: one sentence, or none."""
    share = _share(read)
    if share <= _LEAST_SHARE:
        return []
    return [
        f"{what}: {_percent(share)} of what its SSDs read was never written, and they answer that"
        f" without NAND, far too fast ({remedied_by})"
    ]


def unwritten_reads(observed: Observed) -> Iterator[str]:
    """A warning for each array whose SSDs read what was never written: of its highest share."""
    met: dict[str, list[list[Component]]] = {}
    for row in observed.rows:
        own = behind(row["components"], row["target"], row["workload"])
        met.setdefault(row["target"], []).append(own)
    for array, points in met.items():
        most = max(points, key=of_components)
        for text in unwritten_note(f"array {array}", _read(most), remedy(observed.scenario)):
            yield Coded(text, Code.UNWRITTEN_FLASH, array)


def remedy(scenario: Scenario | None) -> str:
    """What has it written before the run."""
    run = {} if scenario is None else scenario.written.get("run", {})
    if "snapshot" in run:
        return "the state of run.snapshot lacks it"
    if run.get("precondition", "fresh") == "fresh":
        written_by = Scenario.written_by if scenario is None else scenario.written_by
        return f"{written_by} writes it first"
    if "filled" in run:
        return f'run.filled = "{run["filled"]}" leaves it out'
    return "it was discarded, or the drive is new"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %"
