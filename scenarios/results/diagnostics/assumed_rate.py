"""Client drives beyond their SLC cache whose sheet does not say what they write then."""

from __future__ import annotations

from collections.abc import Iterator

from raidlab.devices.trees import get
from raidlab.scenarios.planning.scenario import Scenario
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.over_time import in_time
from raidlab.scenarios.spec.findings import Code, Coded

_KEY = "nand.program_rate"
_KIND = "slc-cache-full"


def assumed_rates(observed: Observed) -> Iterator[str]:
    """A warning for each array whose drives wrote beside a full cache at a rate of their class."""
    if observed.scenario is None:
        return
    drives = "; ".join(_assumed(observed.scenario))
    full = {row["target"] for row in observed.rows if any(e.kind == _KIND for e in in_time(row))}
    for array in sorted(full) if drives else ():
        text = (
            f"array {array}: the SLC cache is full, and the data sheet does not say what drives"
            f" write then: {drives} (--draws takes that range)"
        )
        yield Coded(text, Code.ASSUMED_RATE, array)


def _assumed(scenario: Scenario) -> Iterator[str]:
    """Each device with such a rate, its rate and its range."""
    for name, device in scenario.models.items():
        source = device.sources.get(_KEY)
        if source is not None and source.range and source.range[0] != source.range[1]:
            low, high = source.range
            rate = get(device.written, _KEY)
            yield f"{rate} of {name} are assumed, {low} to {high} in its class"
