"""Which arrays take trims: those whose drives all have the command.

A kernel sends none to a disk (`discard_max_bytes` is 0) and answers EOPNOTSUPP instead. So a job
that trims an array with disks is refused, and trims of a trace are left out there, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from raidlab.devices.plan_types import DeviceParams

_WITHOUT = ("hdd",)
"""Kinds of devices in a plan; the engine's `Device::takes_trim`."""


def takes_trim(devices: Sequence[DeviceParams], models: Iterable[int]) -> bool:
    """True if all drives of an array take trims.

    Args:
        devices: The devices of a plan.
        models: Which of them each drive of the array is.
    """
    return all(devices[model]["kind"] not in _WITHOUT for model in models)
