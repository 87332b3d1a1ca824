"""Which copy of a mirror in the host serves a read."""

from __future__ import annotations

from typing import Any

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
