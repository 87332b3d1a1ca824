"""Sequential writes that Linux' md would gather into whole stripes, which the engine does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from raidlab.devices.levels import facts
from raidlab.devices.units import format_size


def gathering_warnings(
    arrays: Sequence[Mapping[str, Any]],
    loads: Iterable[tuple[Sequence[float], Sequence[Mapping[str, Any]]]],
) -> Iterator[str]:
    """A warning for each load whose writes md would gather: neighbours, outstanding at once.

    Args:
        arrays: Of the plan.
        loads: What is outstanding at each point, and what the plan has of the load.
    """
    for outstanding, plans in loads:
        if all(number == 1 for number in outstanding):
            continue
        for load in plans:
            array = arrays[load["array"]]
            level = facts(array["level"])
            if not array["software"] or not level.parities:
                continue
            whole = level.data_columns(len(array["drives"])) * array["stripe_unit_bytes"]
            block = load.get("block_bytes", whole)
            if _writes_in_sequence(load) and block % whole:
                yield (
                    f"{load['name']}: md gathers sequential writes into whole stripes of"
                    f" {format_size(whole)}, which is not simulated: those of"
                    f" {format_size(block)} read before they write, and their rate is a lower"
                    " bound"
                )


def _writes_in_sequence(load: Mapping[str, Any]) -> bool:
    return load.get("access") == "sequential" and float(load.get("read_share", 1.0)) < 1.0
