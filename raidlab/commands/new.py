"""`raidlab new`: a first scenario of five answers."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from raidlab.commands.common import Json, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver
from raidlab.output import echo

if TYPE_CHECKING:
    from raidlab.scenarios.files.first import Answers


@dataclass(frozen=True)
class Question:
    """One of the five questions."""

    field: str
    """Of the answers."""
    option: str
    text: str
    read: Callable[[str], Any] = str


QUESTIONS = (
    Question("model", "--model", "Which drive? (raidlab devices lists them, or a file.toml)"),
    Question("drives", "--drives", "How many of them?", int),
    Question("level", "--level", "Which RAID level? (jbod: each drive's space after the other's)"),
    Question("controller", "--controller", "Behind which controller? (none: the host's own RAID)"),
    Question("load", "--load", "Which load? (fio's words, or a profile such as database or oltp)"),
)


@command
def new(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The scenario to write; printed without it.", parser=path),
        Writes(FileKind.SCENARIO),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The drive: a name, or a device file."),
        Reads(),
    ] = None,
    drives: Annotated[int | None, typer.Option("--drives", help="How many of it.")] = None,
    level: Annotated[str | None, typer.Option("--level", help="The array's RAID level.")] = None,
    controller: Annotated[
        str | None,
        typer.Option("--controller", help="Controller of the catalogue; none: the host's RAID."),
        Reads(),
    ] = None,
    load: Annotated[
        str | None, typer.Option("--load", help="fio's word (randread ...), or a profile.")
    ] = None,
    block_size: Annotated[
        str | None, typer.Option("--block-size", help="Block size of the load, such as 4 KiB.")
    ] = None,
    outstanding: Annotated[
        int | None, typer.Option("--outstanding", help="I/Os in flight; 1, 8 and 32 by default.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help="I/Os that arrive, such as 500 IO/s.")
    ] = None,
    ask: Annotated[
        bool | None,
        typer.Option("--ask/--no-ask", help="Ask what no option says; on a terminal by default."),
    ] = None,
    json: Json = False,
) -> None:
    """Write a first scenario, commented, that runs: five questions, or options.

    What no option says is asked on a terminal, and what is usual elsewhere.
    """
    from raidlab.scenarios.files.first import Answers, first_scenario

    given: dict[str, Any] = {
        "model": model, "drives": drives, "level": level, "controller": controller, "load": load,
        "block_size": block_size, "outstanding": outstanding, "rate": rate,
    }  # fmt: skip
    answers = Answers(**{name: value for name, value in given.items() if value is not None})
    if sys.stdin.isatty() if ask is None else ask:
        for question in QUESTIONS:
            if given[question.field] is None:
                answers = _asked(question, answers)
    text, scenario = first_scenario(answers, out or Path("first.toml"))

    def show() -> None:
        if json:
            runs = scenario.points * scenario.replications
            document = {"scenario": None if out is None else str(out), "runs": runs, "text": text}
            echo(json_module.dumps(document, indent=2))
        elif out is None:
            echo(text.rstrip("\n"))
        else:
            echo(f"raidlab run {out}")

    deliver([{out: lambda: text}], show)


def _asked(question: Question, answers: Answers) -> Answers:
    """The answers with one more; asked again until it can be, the usual one without a word."""
    from raidlab.scenarios.files.first import faults_of

    usual = answers.suggested_level if question.field == "level" else None
    usual = getattr(answers, question.field) or usual
    while True:
        say(f"{question.text} [{usual}]")
        typed = sys.stdin.readline().strip()
        try:
            value = question.read(typed) if typed else usual
        except ValueError:
            say(f'error: {question.option} = "{typed}": a whole number')
            continue
        more: dict[str, Any] = {question.field: value}
        tried = replace(answers, **more)
        faults = [each for each in faults_of(tried) if each.key in _so_far(question)]
        if not faults or not typed:
            return tried
        for fault in faults:
            say(f"error: {fault}")


def _so_far(question: Question) -> Iterator[str]:
    """Options of the questions up to this one."""
    for each in QUESTIONS:
        yield each.option
        if each is question:
            return
