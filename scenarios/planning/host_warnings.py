"""What a user should know of the host beside the devices of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidlab.devices.host import HostSpec
from raidlab.devices.plan_types import ArrayPlan
from raidlab.devices.schema import DeviceSpec
from raidlab.scenarios.spec.findings import Code, Coded, no_effect
from raidlab.scenarios.spec.schema import ScenarioTable

_PARITIES = {"raid5": 1, "raid50": 1, "raid6": 2, "raid60": 2}


def host_warnings(
    host: HostSpec, devices: Iterable[DeviceSpec], arrays: Iterable[ArrayPlan]
) -> Iterator[str]:
    """Warnings of parity that costs nothing, and of devices that were fitted behind another host.

    Args:
        host: The host of the scenario.
        devices: Everything else in it.
        arrays: Of the plan.
    """
    for array in arrays:
        if array["software"]:
            yield from _free_parity(host, array["name"], array["level"])
    for device in devices:
        yield from fitted_elsewhere(device, host)


def fitted_elsewhere(device: DeviceSpec, host: HostSpec) -> Iterator[str]:
    """A warning if a device stands behind another host than the one it was fitted with."""
    if device.fitted_behind not in ("", host.name) and not isinstance(device, HostSpec):
        text = (
            f"{device.name}: was fitted behind the host {device.fitted_behind} and stands behind"
            f" {host.name} here: the errors of its fit do not hold (raidlab calibrate --host-out"
            " writes the host that belongs to it)"
        )
        yield Coded(text, Code.FITTED_ELSEWHERE, device.name)


def _free_parity(host: HostSpec, array: str, level: str) -> Iterator[str]:
    parities = _PARITIES.get(level, 0)
    key, rate = ("parity", host.parity) if parities == 1 else ("two_parities", host.two_parities)
    if parities and not host.stripe_page:
        text = (
            f"array {array}: the host {host.name} has no stripe_page, so its thread handles the"
            f" stripes of its {level} in no time, and writes to fast drives are too fast"
        )
        yield Coded(text, Code.FREE_PARITY, array)
    if parities and not rate:
        text = (
            f"array {array}: the host {host.name} has no {key}, so parity of its {level} takes no"
            " CPU time, and writes are too fast"
        )
        yield Coded(text, Code.FREE_PARITY, array)


def without_threads(table: ScenarioTable) -> Iterator[str]:
    """`host.threads` where every load says its own, or is a job file, which does."""
    loads = table.workload
    if (
        loads
        and "threads" in table.host.model_fields_set
        and all(load.threads is not None or load.job_file is not None for load in loads)
    ):
        yield no_effect("host.threads", ": every workload says its own")
