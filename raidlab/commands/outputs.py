"""What a command leaves behind: files, and then standard output."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from raidlab.commands.again import again
from raidlab.commands.common import BAD_INPUT, DOES_NOT_HOLD, say, tell_breaches
from raidlab.commands.files_written import check_decided
from raidlab.commands.tables import Output, print_report
from raidlab.devices.faults import SpecError
from raidlab.devices.files import partial_name, write_files
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

if TYPE_CHECKING:
    from raidlab.calibration.measurements.measurement import Measurement

Page = Callable[[], str]
Texts = Mapping[Path | None, Callable[[], str | bytes]]
"""What each file is to hold; no file where the path is None."""


def deliver(outputs: Iterable[Texts], show: Callable[[], None], *, partial: bool = False) -> None:
    """Writes files, then standard output; what cannot be written does not stop the rest.

    The files of one entry are replaced together. A result that is not complete replaces none: its
    files are named so, beside the complete ones, and leave when those are written.

    Args:
        outputs: The files, by what is to be written together.
        show: Prints on standard output.
        partial: True if the result is not complete.

    Raises:
        Exit: A file could not be written; its faults have been reported.
    """
    failed = False
    outputs = list(outputs)
    check_decided(path for each in outputs for path in each if path is not None)
    for each in outputs:
        wanted = {path: text for path, text in each.items() if path is not None}
        named = {partial_name(path) if partial else path: text for path, text in wanted.items()}
        try:
            write_files({path: text() for path, text in named.items()})
        except SpecError as error:
            failed = True
            for fault in error.faults:
                say(f"error: {fault}")
            continue
        for path in named:
            say(f"wrote {path}")
        if not partial:
            for path in wanted:
                if partial_name(path) != path:
                    partial_name(path).unlink(missing_ok=True)
    show()
    # What is still in the buffer counts as written only after this.
    sys.stdout.flush()
    if failed:
        raise typer.Exit(BAD_INPUT)


class Found(Protocol):
    """What a command has found."""

    @property
    def warnings(self) -> Sequence[str]:
        """What a user should know."""

    def to_dict(self) -> Mapping[str, object]:
        """Plain data, as docs/reference/result.md has it."""


class Answer(Found, Protocol):
    """What a question of many runs has found."""

    @property
    def breaches(self) -> tuple[str, ...]:
        """Checks of the engine that failed."""


A = TypeVar("A", bound=Answer)


def print_answer(found: Found, report: Callable[[], Report], output: Output) -> None:
    """What was found as tables or as one JSON document, warnings on standard error."""
    if output is Output.JSON:
        for warning in found.warnings:
            say(f"warning: {warning}")
        echo(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        print_report(report(), output, found.warnings)


def page_of(report: Callable[[], Report], command: str) -> Page:
    """Makes the page of a report; `command` are the words behind `raidlab`."""
    line = again(command)
    return lambda: report().html(line)


def give(
    answer: A,
    report: Callable[[A], Report],
    command: str,
    output: Output,
    html: Path | None,
    *,
    partial: bool = False,
) -> None:
    """An answer as a table or as JSON, and as a page if one is wanted.

    Args:
        answer: What was found.
        report: What is said of it.
        command: The words behind `raidlab`, for the line that makes the page again.
        output: One JSON document, or tables of what fits or of everything.
        html: The page to write, if any.
        partial: True if the answer is not complete.

    Raises:
        Exit: A file could not be written, or a check of the engine failed.
    """

    def said() -> Report:
        return report(answer)

    page = page_of(said, command)
    deliver([{html: page}], lambda: print_answer(answer, said, output), partial=partial)
    if tell_breaches(answer.breaches):
        raise typer.Exit(DOES_NOT_HOLD)


def keep_measurement(measurement: Measurement, out: Path, as_json: bool) -> None:
    """Writes an imported measurement, and says what it has and what was skipped."""
    for skipped in measurement.skipped:
        say(f"skipped: {skipped.path}: {skipped.reason}")
    document = {
        "measurement": str(out),
        "name": measurement.name,
        "points": len(measurement.points),
        "files": len(measurement.files),
        "skipped": [skipped.model_dump() for skipped in measurement.skipped],
    }

    def shown() -> None:
        if as_json:
            echo(json_module.dumps(document, indent=2))
        else:
            echo(f"{measurement.name}: {len(measurement.points)} points in {out}")

    deliver([{out: measurement.to_json}], shown)
