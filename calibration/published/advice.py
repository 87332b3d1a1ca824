"""What the reports advise, simulated: each piece of advice beside the runs that show it.

    raidlab validate --json > validation.json
    raidlab validate --claims --json > claims.json
    python -m raidlab.calibration.published.advice validation.json claims.json PAGE.md

A piece of advice holds if every figure and claim that shows it is within its tolerance or bounds.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from raidlab.calibration.published.claims import causes
from raidlab.calibration.published.figures import (
    CLAIMS_FOLDER,
    Figure,
    read_claims,
    read_published,
    shared,
)
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.files import write_file
from raidlab.devices.schema import Table, check, read_toml
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.number_text import digits

_LINE: Final = 100
"""Characters of a line of the page."""


class Advice(Table):
    """One piece of advice."""

    source: str
    """The report."""
    says: str
    """In our words."""
    shown_by: tuple[str, ...] = Field(min_length=1)
    """Ids of figures and claims."""


class _Pieces(Table):
    advice: tuple[Advice, ...] = Field(min_length=1)


class Run(BaseModel):
    """What `raidlab validate --json` says of a figure or a claim."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    simulated: float | None
    unit: str
    held: bool


def advice() -> Sequence[Advice]:
    """The pieces of advice, by report.

    Raises:
        SpecError: The file cannot be read, or names a report, a figure or a claim that is none.
    """
    path = CLAIMS_FOLDER / "advice.toml"
    faults = Faults(str(path))
    found = check(_Pieces, read_toml(path), faults)
    faults.raise_if_any()
    if found is None:
        raise AssertionError("a file that cannot be read has faults")
    ids, sources = tuple(_figures()), tuple(shared())
    for at, piece in enumerate(found.advice):
        if piece.source not in sources:
            faults.add(f"advice.{at}.source", piece.source, "the name of a report", sources)
        for id in piece.shown_by:
            if id not in ids:
                faults.add(f"advice.{at}.shown_by", id, "the id of a figure or a claim", ids)
    faults.raise_if_any()
    return found.advice


def _figures() -> Mapping[str, Figure]:
    return {figure.id: figure for figure in [*read_published(), *read_claims()]}


def read_runs(paths: Sequence[Path]) -> Mapping[str, Run]:
    """The rows of documents of `raidlab validate --json`, by id.

    Raises:
        SpecError: One of them is none.
    """
    runs: dict[str, Run] = {}
    for path in paths:
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
            found = [Run.model_validate(row) for row in rows]
        except (OSError, ValueError, KeyError, TypeError) as error:
            faults = Faults(str(path))
            faults.add("", str(error)[:60], "a document of `raidlab validate --json`")
            raise SpecError(faults.found) from None
        runs |= {run.id: run for run in found}
    return runs


def page(pieces: Sequence[Advice], runs: Mapping[str, Run]) -> str:
    """The page in Markdown.

    Raises:
        KeyError: A figure or claim that shows a piece was not run.
    """
    holding = sum(all(runs[id].held for id in piece.shown_by) for piece in pieces)
    lines = [
        "# What the five reports advise, simulated",
        *textwrap.wrap(
            f"{holding} of {len(pieces)} pieces of advice hold in every run that shows them. The"
            " words are ours. Each run is a published figure or claim, a rate or the ratio of two:"
            " [validation.csv](validation.csv) and [claims.csv](claims.csv) have its systems and"
            " rates, [validation](validation.md#by-report) the reports' titles. `make docs` writes"
            " this page. A figure runs again by `raidlab validate p320h-003`, a claim by"
            " `raidlab validate --claims r5-12-DB`.",
            _LINE,
            break_on_hyphens=False,
        ),
    ]
    reasons, figures = causes(), _figures()
    rows = (_row(piece, figures, runs) for piece in pieces)
    lines += ["", *markdown.table("report | advice | runs that show it: stated, simulated |", rows)]
    missed = [id for piece in pieces for id in piece.shown_by if not runs[id].held]
    for reason in dict.fromkeys(reasons[id] for id in missed if id in reasons):
        of = ", ".join(f"`{id}`" for id in missed if reasons.get(id) == reason)
        lines += ["", *textwrap.wrap(f"Why not {of}: {reason}.", _LINE)]
    return "\n".join(lines) + "\n"


def _row(piece: Advice, figures: Mapping[str, Figure], runs: Mapping[str, Run]) -> Sequence[str]:
    """A piece of advice, and each run that shows it."""
    missed = sum(not runs[id].held for id in piece.shown_by)
    count = len(piece.shown_by)
    shown = "; ".join(_run(figures[id], runs[id]) for id in piece.shown_by)
    outcome = f"{count - missed} of {count} hold" if missed else "holds"
    return piece.source, " ".join(piece.says.split()), shown, outcome


def _run(figure: Figure, run: Run) -> str:
    relation = figure.relation if figure.relation not in ("=", "range") else ""
    high = "" if figure.high is None else f" to {digits(figure.high)}"
    unit = "" if run.unit == "1" else f" {run.unit}"
    stated = f"{relation} {digits(figure.value)}{high}{unit}".strip()
    simulated = "–" if run.simulated is None else digits(run.simulated)
    return f"`{figure.id}`: {stated}, {simulated}{'' if run.held else ' (does not hold)'}"


def main() -> int:
    """Writes the page."""
    *documents, out = map(Path, sys.argv[1:])
    write_file(out, page(advice(), read_runs(documents)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
