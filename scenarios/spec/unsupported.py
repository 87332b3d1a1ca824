"""What can be written in a scenario but is not modelled yet: reported by name, never ignored.

The one place that says what the engine lacks; a mechanism that arrives takes its line away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidlab.devices.faults import Fault
from raidlab.scenarios.spec.caching import ControllerTable
from raidlab.scenarios.spec.schema import ScenarioTable, WorkloadTable

MODELLED_SETTINGS: Mapping[str, tuple[str | bool, ...]] = {
    "write": ("write-through", "write-back", "always-write-back"),
    "read_ahead": ("none", "adaptive", "always"),
    "io_cache": ("direct", "cached"),
    "backup": ("none", "bbu", "fbu"),
    "fast_path": (False, True),
}
"""Settings of a controller that have their effect."""

NOT_YET = "not modelled yet"


def not_yet(scenario: ScenarioTable) -> Iterator[Fault]:
    """Faults for everything that the scenario asks of models that do not exist yet."""
    for key, controller in scenario.controllers():
        yield from _controller(key, controller)
    for at, workload in enumerate(scenario.workload):
        yield from _workload(f"workload.{at}", workload)


def _controller(at: str, table: ControllerTable) -> Iterator[Fault]:
    for key, modelled in MODELLED_SETTINGS.items():
        value = getattr(table, key)
        if value is not None and value not in modelled:
            allowed = f"{NOT_YET}; modelled is {', '.join(str(each).lower() for each in modelled)}"
            yield Fault(f"{at}.{key}", value, allowed)


def _workload(key: str, table: WorkloadTable) -> Iterator[Fault]:
    if table.distribution != "uniform":
        allowed = (
            f"uniform; zipf, pareto, normal and zoned are {NOT_YET} here: use a hot_spot, or"
            " random_distribution in a job file of fio"
        )
        yield Fault(f"{key}.distribution", table.distribution, allowed, ("uniform",))
