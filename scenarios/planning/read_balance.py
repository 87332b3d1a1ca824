"""Where copies of a mirror in the host lie, and which of them serves a read."""

from __future__ import annotations

from typing import Any

from raidlab.devices.faults import Faults
from raidlab.devices.levels import facts
from raidlab.scenarios.spec.findings import no_effect
from raidlab.scenarios.spec.schema import ArrayTable


def read_balance_plan(
    key: str, name: str, table: ArrayTable, warnings: list[str]
) -> dict[str, Any]:
    """How reads find their copy, for an array's plan: nothing if not as Linux md does.

    Args:
        key: Of the array, for warnings.
        name: Of the array, for warnings.
        table: The array.
        warnings: Takes a setting without effect.
    """
    copied = facts(table.level).copies != 1
    if table.in_host and copied:
        return {"md_reads": True} if table.read_balance in (None, "md") else {}
    if table.read_balance is not None:
        of = 'a level with copies and software_raid = "os"'
        warnings.append(no_effect(f"{key}.read_balance", f" on {name}: only arrays with {of}"))
    return {}


def copies_plan(key: str, table: ArrayTable, faults: Faults) -> dict[str, Any]:
    """`CopiesPlan` of the native engine: nothing for striped pairs and levels without a layout.

    Args:
        key: Of the array, for faults.
        table: The array.
        faults: Takes a layout of what is no RAID 10 of md's.
    """
    layout = table.copies
    if table.layout is not None and layout is None:
        allowed = 'left out: only raid10 with software_raid = "os" or "lvm" has a choice of layouts'
        if facts(table.level).parities:
            allowed += "; parity rotates left-symmetric here, md's default"
        faults.add(f"{key}.layout", str(table.layout), allowed)
    if layout is None or layout.is_of_pairs(table.count):
        return {}
    return {"copies": layout.to_plan()}
