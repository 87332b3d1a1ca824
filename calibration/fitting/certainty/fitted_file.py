"""Where the numbers of a fitted file come from: the measurement, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.parameters.system_kinds import CONTROLLER_TABLE
from raidlab.devices.trees import Tree, Value, get

Correlations = Sequence[Sequence[float]]
_LEAST_CORRELATION: Final = 0.05
"""Correlation from which on it is stated."""
_ELSEWHERE = ("host.", "state.", f"{CONTROLLER_TABLE}.")
"""Keys that are not the drive's."""


def with_fitted(
    base: Mapping[str, Value],
    estimates: Sequence[Estimate],
    tree: Mapping[str, Value],
    measured: str,
    correlations: Correlations = (),
) -> Tree:
    """The sources of a device's file, those of its fitted numbers among them.

    Args:
        base: Sources of what the fit began with.
        estimates: What was fitted, its keys as the device's file has them.
        tree: The fitted file.
        measured: Name of the measurement.
        correlations: Of the estimates' errors, shape (estimates, estimates); empty if not known.
    """
    together = with_others([_source_key(e.parameter.key, tree) for e in estimates], correlations)
    sources: Tree = dict(base)
    for estimate in estimates:
        parameter = estimate.parameter
        if parameter.key.startswith(_ELSEWHERE):
            continue
        error = float(f"{estimate.stderr:.3g}")
        source: Tree = {
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
        if note:
            source["note"] = note
        if together.get(key):
            source["correlations"] = together[key]
        sources[key] = source
    return sources


def with_others(keys: Sequence[str], correlations: Correlations) -> dict[str, dict[str, float]]:
    """For each key how its error goes together with those of keys before it, as files say it.

    Of several numbers of a list, which have one source, the first speaks for all.
    """
    found: dict[str, dict[str, float]] = {}
    for key, row in zip(keys, correlations, strict=False):
        if key not in found and not key.startswith(_ELSEWHERE):
            known = [(other, round(float(row[keys.index(other)]), 2)) for other in found]
            found[key] = {other: rho for other, rho in known if abs(rho) >= _LEAST_CORRELATION}
    return found


def _source_key(key: str, tree: Mapping[str, Value]) -> str:
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
