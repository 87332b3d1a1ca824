"""Where copies of a mirror in the host lie, and which of them serves a read."""

from __future__ import annotations

from raidlab.devices.faults import Faults
from raidlab.devices.levels import facts
from raidlab.devices.plan_types import CopiesPlan
from raidlab.scenarios.spec.findings import no_effect
from raidlab.scenarios.spec.schema import ArrayTable


def balanced_by_md(key: str, name: str, table: ArrayTable, warnings: list[str]) -> bool:
    """Whether reads find their copy as Linux md has it.

    Args:
        key: Of the array, for warnings.
        name: Of the array, for warnings.
        table: The array.
        warnings: Takes a setting without effect.
    """
    copied = facts(table.level).copies != 1
    if table.in_host and copied:
        return table.read_balance in (None, "md")
    if table.read_balance is not None:
        of = 'a level with copies and software_raid = "os"'
        warnings.append(no_effect(f"{key}.read_balance", f" on {name}: only arrays with {of}"))
    return False


def copies_plan(key: str, table: ArrayTable, faults: Faults) -> CopiesPlan | None:
    """`CopiesPlan` of the native engine: none for striped pairs and levels without a layout.

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
    if layout is None or layout.is_of_pairs(table.drive_count):
        return None
    return layout.to_plan()
