"""`raidlab until`: when growth ends each candidate of a question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
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
def until(
    question: Annotated[
        Path,
        typer.Argument(help="A question file (docs/reference/formats/question.md).", parser=path),
        Reads(),
    ],
    store: StoreFile = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Say in which month growth makes each candidate of a question miss which goal.

    Exits with 1 if no candidate meets the goals today.
    """
    from raidlab.scenarios.capacity.question import load_question
    from raidlab.scenarios.capacity.until import until as answer_it
    from raidlab.scenarios.report.planner import until as report
    from raidlab.scenarios.studies.running import Running

    asked = load_question(question)
    with resumable(f"{question.stem}: until", store) as (tell, opened):
        found = answer_it(asked, seed=seed, running=Running(workers, tell, opened))

    give(found, report.report, "until", Output.of(json=json, wide=wide), html)
    if all(each.months <= 0 for each in found.candidates):
        raise typer.Exit(DOES_NOT_HOLD)
