"""All settings of all rooms beside independent numbers: `make lab-numbers`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from raidlab.notebooks.frame import catalogue
from tests.notebooks.numbers.rooms import ROOMS, compared, settings
from tests.notebooks.numbers.shown import Compared

_FAULTS = 5
"""Printed of a room."""

_SHOWN_FROM: Final = 0.02
"""Share by which a number must be off for its room to have a row."""


def whole(name: str) -> tuple[int, Compared]:
    """All settings of a room: how many there are, and what the comparison found."""
    found = Compared()
    every = settings(catalogue.room(name))
    for values in every:
        one = compared(name, values)
        found.numbers += one.numbers
        found.faults += [f"{dict(values)}: {fault}" for fault in one.faults]
        for source, off in one.furthest.items():
            found.furthest[source] = max(off, found.furthest.get(source, 0.0))
    return len(every), found


def table(rows: Iterable[tuple[str, int, Compared]]) -> str:
    """The page of evidence."""
    lines, settings_all, numbers, faults = [], 0, 0, 0
    for name, count, found in rows:
        settings_all, numbers = settings_all + count, numbers + found.numbers
        faults += len(found.faults)
        worst = sorted(found.furthest.items(), key=lambda each: -each[1])[:1]
        said = "; ".join(f"{source}: {100 * off:.1f} %" for source, off in worst) or "–"
        if found.faults or any(off > _SHOWN_FROM for _, off in worst):
            lines.append(
                f"| `{name}` | {count} | {found.numbers:,} | {len(found.faults)} | {said} |"
            )
    return f"""# Numbers of the lab

Do the rooms' headlines say what is so? `make lab-numbers` makes this page. It takes every setting
of the pages without an engine, reads each number of the headline, the boxes and the pictures'
titles, and looks for an independent one: a closed form, the engine's own row, period or event, or
another simulator. A number without one is a fault. So is an independent one that is not on the
page. Where a closed form leaves something out it may be off by a few percent, which the test
states.

{settings_all:,} settings, {numbers:,} numbers, {faults} faults. These rooms have a fault, or a
number more than {100 * _SHOWN_FROM:.0f} % from a closed form:

| room | settings | numbers | faults | furthest from a closed form |
|---|---|---|---|---|
{chr(10).join(lines)}
"""


def main() -> int:
    """Compares; exit code 1 if a number has no independent one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="names; all if none is given")
    parser.add_argument("--page", type=Path, help="write the table to this file")
    options = parser.parse_args()
    rows = []
    for name in options.rooms or ROOMS:
        count, found = whole(name)
        rows.append((name, count, found))
        print(name, count, found.numbers, len(found.faults), found.furthest, flush=True)
        for fault in found.faults[:_FAULTS]:
            print("  ", fault, flush=True)
    if options.page:
        options.page.write_text(table(rows), encoding="utf-8")
    return int(any(found.faults for _, _, found in rows))


if __name__ == "__main__":
    sys.exit(main())
