"""Where the numbers of a fitted file come from: the measurement, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raidlab.calibration.fitting.uncertainty import Estimate
from raidlab.devices.trees import get

_ELSEWHERE = ("host.", "state.")
"""Keys that are not the drive's."""


def with_fitted(
    base: Mapping[str, Any],
    estimates: Sequence[Estimate],
    tree: Mapping[str, Any],
    measured: str,
) -> dict[str, Any]:
    """The sources of a device's file, those of its fitted numbers among them.

    Args:
        base: Sources of what the fit began with.
        estimates: What was fitted, its keys as the device's file has them.
        tree: The fitted file.
        measured: Name of the measurement.
    """
    sources: dict[str, Any] = dict(base)
    for estimate in estimates:
        parameter = estimate.parameter
        if parameter.key.startswith(_ELSEWHERE):
            continue
        error = float(f"{estimate.stderr:.3g}")
        source = {
            "source": "fitted",
            "stderr": f"{error:g} {parameter.unit}" if parameter.unit else error,
            "measurement": measured,
        }
        note = _note(estimate)
        key = _source_key(parameter.key, tree)
        earlier = sources.get(key, {})
        if isinstance(earlier, dict) and earlier.get("measurement") == measured:
            # Another number of the same list: the larger statement holds for all.
            note = "; ".join(part for part in (earlier.get("note", ""), note) if part)
            source["stderr"] = earlier["stderr"]
        sources[key] = source | ({"note": note} if note else {})
    return sources


def _source_key(key: str, tree: Mapping[str, Any]) -> str:
    head, _, last = key.rpartition(".")
    # A list has one source for all its numbers.
    return head if last.isdigit() and isinstance(get(tree, head), list | tuple) else key


def _note(estimate: Estimate) -> str:
    parts = []
    if estimate.parameter.of:
        parts.append(f"{estimate.parameter.key} as {estimate.value:.4g} times the base")
    if estimate.at_bound:
        parts.append("next to a bound")
    elif not estimate.identifiable:
        parts.append("hardly determined")
    return ", ".join(parts)
