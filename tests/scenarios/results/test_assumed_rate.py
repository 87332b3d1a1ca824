"""The warning of client drives beyond their cache."""

from __future__ import annotations

import pytest

from raidlab.scenarios.spec.findings import Code
from tests.figures import result_of


@pytest.mark.parametrize(
    ("model", "precondition", "rate"),
    [
        ("860-evo-1000", "steady-state", "500 MB/s of 860-evo-1000 are assumed, 150 MB/s to 520"),
        # An empty cache; a drive that states the rate; one without a cache.
        ("860-evo-1000", "fresh", None),
        ("970-evo-plus-500", "steady-state", None),
        ("860-pro-1000", "steady-state", None),
        ("pm9a3-960", "steady-state", None),
    ],
)
def test_a_rate_of_the_class_is_said(model: str, precondition: str, rate: str | None) -> None:
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"name": "disk", "drives": [{"model": model}]}],
        "workload": [{"rw": "write", "block_size": "128 KiB", "outstanding": [32]}],
        "run": {"precondition": precondition, "warm_up": "100 ms", "duration": "300 ms"},
    }
    warnings = result_of(tree).warnings_typed
    found = [each for each in warnings if each.code == Code.ASSUMED_RATE]
    assert bool(found) == bool(rate)
    for each in found:
        assert rate and rate in each.text
        assert each.subject == "disk"
