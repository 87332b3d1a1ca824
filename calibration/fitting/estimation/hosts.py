"""A host of the catalogue from all drives that were measured behind it, and what that is worth.

    python -m raidlab.calibration.fitting.estimation.hosts sas2008 A.json B.json

Fits the host and all drives together, then leaves each drive out in turn: the host is fitted to
the others, and taken as given when the one left out is fitted. What the points of that drive that
no fit has seen are then off by is the worth of the host's figures. Prints Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.calibration.fitting.comparison.compare import p90
from raidlab.calibration.fitting.estimation.joint import (
    JointFit,
    JointSettings,
    Member,
    fit_together,
)
from raidlab.calibration.measurements.measurement import load_measurement

_TRAIN = "iodepth=1,8,64 numjobs=1,8"


@dataclass(frozen=True)
class Row:
    """How well the unseen points of a drive are met behind a host."""

    drive: str
    host: str
    """Where its figures come from."""
    points: int
    median_pct: float
    p90_pct: float


def as_given(member: Member, host: str, settings: JointSettings) -> JointFit:
    """The fit of a drive behind a host that is not fitted."""
    taken = replace(member, host=host)
    return fit_together([taken], replace(settings, given=frozenset({host})))


def rows_of(fitted: JointFit, source: str) -> list[Row]:
    """A line for each member of a fit."""
    found = []
    for part, rows in zip(fitted.parts, fitted.rows, strict=True):
        errors = [abs(row.error_pct) for row in rows if row.part == "test"]
        median, ninth = statistics.median(errors), p90(errors)
        found.append(Row(part.member.drive, source, len(errors), median, ninth))
    return found


def leave_one_out(members: Sequence[Member], settings: JointSettings) -> list[Row]:
    """Each drive behind the host as the others alone show it.

    Args:
        members: Drives behind one host.
        settings: Of every fit.
    """
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for left in members:
            others = [member for member in members if member is not left]
            fitted = fit_together(others, replace(settings, anew=frozenset({left.host})))
            path = Path(folder) / f"{left.drive}.toml"
            path.write_text(fitted.host_toml(left.host))
            source = "the others: " + ", ".join(member.drive for member in others)
            found += rows_of(as_given(left, str(path), settings), source)
    return found


def report(members: Sequence[Member], settings: JointSettings) -> str:
    """Markdown: the host's figures, and the errors behind each host."""
    fitted = fit_together(members, settings)
    host = members[0].host
    lines = ["| figure | value | standard error |", "|---|---|---|"]
    for each in fitted.fit.estimates:
        owner, _, key = each.parameter.key.partition(": ")
        if owner == host:
            unit = each.parameter.unit
            lines.append(f"| `{key}` | {each.value:.4g} {unit} | {each.stderr:.2g} {unit} |")
    lines += [
        "",
        "| drive | host from | unseen points | median | nine in ten |",
        "|---|---|---|---|---|",
    ]
    catalogue = [
        row
        for member in members
        for row in rows_of(as_given(member, host, settings), "the catalogue")
    ]
    for row in [*catalogue, *rows_of(fitted, "all"), *leave_one_out(members, settings)]:
        errors = f"{row.median_pct:.1f} % | {row.p90_pct:.1f} %"
        lines.append(f"| {row.drive} | {row.host} | {row.points} | {errors} |")
    return "\n".join(lines)


def main() -> None:
    """Prints the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("measurements", nargs="+")
    parser.add_argument("--kind", default="ssd")
    parser.add_argument("--train", default=_TRAIN)
    given = parser.parse_args()
    measured = [load_measurement(path) for path in given.measurements]
    members = [Member(each, each.name, given.host) for each in measured]
    print(report(members, JointSettings(given.kind, train=given.train)))


if __name__ == "__main__":
    main()
