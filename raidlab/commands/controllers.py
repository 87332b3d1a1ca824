"""`raidlab controllers`: curves of every controller of the catalogue, side by side."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from raidlab.commands.common import (
    Html,
    Json,
    Seed,
    Workers,
    command,
    resumable,
)
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios.spec.loads import PROFILES, Profile


@command
def controllers(
    only: Annotated[
        str, typer.Option("--only", help="These controllers alone, by name, with commas.")
    ] = "",
    profiles: Annotated[str, typer.Option("--profiles", help="Loads, with commas.")] = ",".join(
        PROFILES
    ),
    drives: Annotated[
        int,
        typer.Option("--drives", min=1, max=1024, help="Behind each, as far as its ports go."),
    ] = 8,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Show the curves of every controller over 1 to 512 outstanding I/Os, and what levels cost.

    Interrupted with Ctrl-C it keeps what is done: the same command goes on from there.
    """
    from raidlab.scenarios.report.studies import controllers as report
    from raidlab.scenarios.studies.controllers import Setup, chosen_controllers, compare_controllers

    loads = _profiles(profiles)
    chosen = chosen_controllers([name.strip() for name in only.split(",") if name.strip()])
    with resumable("controllers") as (tell, store):
        found = compare_controllers(
            chosen,
            loads,
            Setup(drives=drives),
            seed=seed,
            workers=workers,
            progress=tell,
            store=store,
        )

    give(found, report.report, "controllers", Output.of(json=json, wide=wide), html)


def _profiles(text: str) -> list[Profile]:
    wanted = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    known = get_args(Profile)
    faults = [
        Fault("--profiles", name, f"one of {', '.join(known)}", known)
        for name in wanted
        if name not in known
    ]
    if faults or not wanted:
        allowed = f"one or more of {', '.join(known)}"
        raise SpecError(faults or [Fault("--profiles", text, allowed)])
    return [profile for profile in PROFILES if profile in wanted]
