"""Parts of scenarios as they are written."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import cast

from raidlab.devices.other_kind import Expected, refuse_other_kind
from raidlab.devices.schema import read_toml
from raidlab.scenarios.spec.trees import RunTree, ScenarioTree, WorkloadTree


def scenario_tree(path: Path) -> ScenarioTree:
    """What a scenario's file holds, as it is written: `planning.scenario.build_scenario` checks it.

    Raises:
        SpecError: The file cannot be read, is not TOML, or is of another kind.
    """
    tree = read_toml(path)
    refuse_other_kind(tree, Expected.SCENARIO, path)
    return cast(ScenarioTree, tree)


def kept_run(tree: ScenarioTree, keys: Container[str]) -> RunTree:
    """A copy of `[run]` with these of its keys alone; empty where there is no such table."""
    run = tree.get("run")
    found = {key: value for key, value in run.items() if key in keys} if run else {}
    return cast(RunTree, found)


def run_without(tree: ScenarioTree, keys: Container[str]) -> RunTree:
    """A copy of `[run]` without these keys; empty where there is no such table."""
    run = tree.get("run")
    found = {key: value for key, value in run.items() if key not in keys} if run else {}
    return cast(RunTree, found)


def without_hot_spot(load: WorkloadTree) -> WorkloadTree:
    """A load that spreads its accesses evenly."""
    found = {key: value for key, value in load.items() if not key.startswith("hot_")}
    return cast(WorkloadTree, found)
