"""`raidlab plan`: which systems serve a load within its goals, at what cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Draws,
    Html,
    Json,
    Seed,
    StoreFile,
    Workers,
    command,
    path,
    resumable,
)
from raidlab.commands.files_written import Reads
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def plan(
    question: Annotated[
        Path,
        typer.Argument(help="A question file (docs/reference/formats/question.md).", parser=path),
        Reads(),
    ],
    draws: Draws = 0,
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Answer a question: the cheapest system that meets goals, and why others do not.

    Exits with 1 if no candidate fits. Interrupted, the same command goes on from there.
    """
    from raidlab.scenarios.capacity.plan import plan as answer_it
    from raidlab.scenarios.capacity.question import load_question
    from raidlab.scenarios.report.planner import report
    from raidlab.scenarios.studies.running import Running

    asked = load_question(question)
    with resumable(f"{question.stem}: plan", store) as (tell, opened):
        running = Running(workers, tell, opened, tell.step)
        found = answer_it(asked, seed=seed, draws=draws, running=running)

    give(found, report.report, "plan", Output.of(json=json, wide=wide), html)
    if found.recommended is None:
        raise typer.Exit(DOES_NOT_HOLD)
