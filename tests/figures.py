"""Runs whose figures count and not their intervals."""

from __future__ import annotations

from collections.abc import Mapping

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import results_of


def result_of(tree: Mapping[str, object]) -> Result:
    """The result of a scenario's table, without breaches.

    No other past of flash drives is simulated, which only intervals would show: half of the time.
    """
    built = build_scenario(tree)
    (result,) = results_of([built], built.seed, workers=1, heeds_past=False)
    assert result.breaches == ()
    return result
