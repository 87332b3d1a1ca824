"""Cache policies of volumes: the controller's where all agree, each array's where they differ."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.calibration.discover.facts import Array

KEYS = ("write", "read_ahead", "io_cache", "disk_cache")
"""Of `[controller]` and of `[[array]]` (docs/reference/scenario.md)."""


def shared(arrays: Sequence[Array]) -> list[str]:
    """Lines of `[controller]`: the policies in which all volumes agree."""
    each = [_policies(array) for array in arrays]
    return [
        f"{key} = {value}{_remark(arrays[0], key)}"
        for key, value in (each[0].items() if each else ())
        if all(other.get(key) == value for other in each)
    ]


def own(array: Array, arrays: Sequence[Array]) -> list[str]:
    """Lines of one `[[array]]`: the policies in which volumes of its controller differ."""
    each = [_policies(other) for other in arrays]
    return [
        f"{key} = {value}{_remark(array, key)}"
        for key, value in _policies(array).items()
        if any(other.get(key) != value for other in each)
    ]


def _policies(array: Array) -> dict[str, str]:
    """What runs, as a scenario says it; without what no capture says."""
    ahead = {True: "always", False: "none", "adaptive": "adaptive"}.get(array.read_ahead or False)
    running = array.write_policy_now or array.write_policy
    found = {
        "write": None if running is None else f'"{running}"',
        "read_ahead": None if array.read_ahead is None or ahead is None else f'"{ahead}"',
        "io_cache": None if array.io_policy is None else f'"{array.io_policy}"',
        "disk_cache": {"on": "true", "off": "false"}.get(array.drive_cache or ""),
    }
    return {key: value for key in KEYS if (value := found[key]) is not None}


def _remark(array: Array, key: str) -> str:
    running = array.write_policy_now or array.write_policy
    unlike = key == "write" and array.write_policy not in (None, running)
    return f"  # read from {array.read_from}" + (f"; set is {array.write_policy}" if unlike else "")
