"""`raidlab store`: finished runs that are found again."""

from __future__ import annotations

import json as json_module
import time
from enum import StrEnum
from typing import Annotated

import typer

from raidlab.commands.common import Json, command, opened_store
from raidlab.commands.tables import opening, print_table
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.running.store import Overview


class Action(StrEnum):
    """What is done with the store."""

    LIST = "list"
    CLEAR = "clear"


@command
def store(
    action: Annotated[Action, typer.Argument(help="list or clear.", show_default=False)],
    others: Annotated[
        bool,
        typer.Option("--others", help="With clear: keep the entries of this version's engine."),
    ] = False,
    json: Json = False,
) -> None:
    """List what the store of finished runs has, or clear it.

    The store is $RAIDLAB_STORE, or runs.sqlite in the user's cache folder; RAIDLAB_STORE_LIMIT is
    its size limit (1 GB). Results of other engines are never found again; the oldest leave first.
    """
    if others and action is Action.LIST:
        raise SpecError([Fault("--others", None, "only with clear")])
    with opened_store() as opened:
        cleared = opened.clear(others_only=others) if action is Action.CLEAR else None
        overview = opened.overview()
    if json:
        more = {} if cleared is None else {"cleared": cleared}
        echo(json_module.dumps(overview.to_dict() | more, indent=2))
        return
    _show(overview, cleared)


def _show(overview: Overview, cleared: int | None) -> None:
    size = f"{overview.file_bytes / 1e6:.1f} of {overview.limit_bytes / 1e6:,.0f} MB"
    taken = "" if cleared is None else f"Cleared {cleared:,} entries. "
    opening(str(overview.path), f"{taken}{overview.entries:,} entries, {size}.")
    if not overview.engines:
        return
    columns = [
        Column("version", kind=Kind.TEXT, width=8),
        Column("engine", kind=Kind.TEXT, width=12),
        Column("entries"),
        Column("content", "MB"),
        Column("last used", kind=Kind.TEXT, width=16),
        Column("", kind=Kind.TEXT, width=8),
    ]
    rows = [
        [
            each.version,
            each.digest[:12],
            each.entries,
            each.content_bytes / 1e6,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(each.last_used)),
            "this one" if each.current else "",
        ]
        for each in overview.engines
    ]
    print_table(Table("", columns, rows))
