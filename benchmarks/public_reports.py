"""Public reports of whole systems, each beside its scenario: writes docs/evidence/public.md, .csv.

    python benchmarks/public_reports.py [ID ...] [--json FILE] [--markdown FILE]

The reports are in calibration/published/data/public-reports.toml. A ratio is simulated over
measured; of a latency measured over simulated, so that above 1 is too fast everywhere. All takes
about a minute.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import statistics
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from raidlab.devices.units import SIZE
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.markdown import table
from raidlab.scenarios.results.rows import Row
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ScenarioTree

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT / "calibration" / "published" / "data" / "public-reports.toml"
WITHIN: Final = 0.25
"""Share by which a figure may differ to count as met."""


class Report(BaseModel):
    """One figure of a public report."""

    model_config = ConfigDict(extra="forbid")

    id: str
    group: Literal["md", "sync", "client", "links", "volume", "tails", "mixed", "fsync"]
    system: str
    load: str
    figure: str
    measured: float
    before: float | None = None
    naive: float
    naive_by: str
    basis: Literal["nothing fitted", "chosen in view"]
    stands_in: str = ""
    cause: str = ""
    """Of a miss: what most likely makes it."""
    like: str = ""
    """A report whose scenario this one has, but for `replace`."""
    replace: list[tuple[str, str]] = []
    against: list[tuple[str, str]] = []
    """Of a ratio: what makes of the scenario the one that it is compared with."""
    scenario: str = ""


@dataclass(frozen=True)
class Line:
    """A report and what was simulated."""

    report: Report
    simulated: float

    @property
    def faster(self) -> float:
        """How many times too fast the simulation is."""
        return _faster(self.report, self.simulated)


def _faster(report: Report, figure: float) -> float:
    ratio = figure / report.measured
    return 1 / ratio if report.figure.endswith(("us", "ms", "latency, ratio")) else ratio


def _of_latency(row: Row, name: str) -> float:
    """Microseconds: `latency.p50`, `read.mean`."""
    whose, which = name.split(".")
    found = {
        "latency": row.latency_us,
        "read": row.read.latency_us,
        "write": row.write.latency_us,
    }[whose]
    return float(getattr(found, which))


UNITS: Final[Mapping[str, Callable[[Row], float]]] = {
    "IO/s": lambda row: row.iops,
    "M IO/s": lambda row: row.iops / 1e6,
    "MB/s": lambda row: row.mb_per_s,
    "GB/s": lambda row: row.mb_per_s / 1e3,
}


def load_reports() -> list[Report]:
    """The reports, each with its scenario written out."""
    found: dict[str, Report] = {}
    for tree in tomllib.loads(DATA.read_text("utf-8"))["report"]:
        report = Report.model_validate(tree)
        if report.like:
            text = _changed(found[report.like], report.replace)
            report = report.model_copy(update={"scenario": text})
        found[report.id] = report
    return list(found.values())


def _changed(report: Report, replace: Sequence[tuple[str, str]]) -> str:
    """The scenario of a report with other words in place of some.

    Raises:
        ValueError: The words to replace are not there.
    """
    text = report.scenario
    for old, new in replace:
        if old not in text:
            raise ValueError(f"{old!r} is not in the scenario of {report.id}")
        text = text.replace(old, new)
    return text


def simulated(report: Report) -> float:
    """The figure of a report, simulated."""
    tree = tomllib.loads(report.scenario)
    if report.figure == "rebuild MB/s":
        return _rebuild_rate(tree)
    row = simulate(build_scenario(tree)).rows[0]
    if report.against:
        other = simulate(build_scenario(tomllib.loads(_changed(report, report.against)))).rows[0]
        if report.figure == "rate, ratio":
            return row.iops / other.iops
        return _of_latency(row, "latency.mean") / _of_latency(other, "latency.mean")
    if report.figure in UNITS:
        return UNITS[report.figure](row)
    name, unit = report.figure.split(" ")
    return _of_latency(row, name) / {"us": 1, "ms": 1e3}[unit]


def _rebuild_rate(tree: ScenarioTree) -> float:
    """Megabytes a second of a member that a rebuild makes."""
    at = {event["kind"]: event["t_s"] for event in simulate(build_scenario(tree)).events}
    (array,) = tree["array"]
    return SIZE.parse(array["used"]) / 1e6 / (at["rebuild-done"] - at["rebuild-begun"])


def summary(lines: Sequence[tuple[Report, float]]) -> tuple[float, float, float, int]:
    """Median of |log ratio| as a factor, share within 25 %, median ratio, number."""
    ratios = [_faster(report, figure) for report, figure in lines]
    off = exp(statistics.median(abs(log(ratio)) for ratio in ratios))
    met = [_is_met(ratio) for ratio in ratios]
    return off, sum(met) / len(met), statistics.median(ratios), len(ratios)


def markdown(lines: Sequence[Line]) -> str:
    """The page."""
    heads = "| rows | off by, median | within 25 % | median ratio"
    out = [HEAD, *table(heads, _summaries(lines))]
    out += ["", ROWS.format(count=len(lines)), MISSES]
    causes: dict[str, list[Line]] = {}
    for line in lines:
        if not _is_met(line.faster):
            causes.setdefault(line.report.cause or "not known", []).append(line)
    rows = (
        (
            ", ".join(each.report.id for each in own),
            ", ".join(f"{each.faster:.2f}" for each in own),
            cause,
        )
        for cause, own in causes.items()
    )
    out += table("rows | ratios | most likely cause", rows)
    return "\n".join(out) + "\n" + TAIL


def rows(lines: Sequence[Line]) -> str:
    """The CSV file beside the page."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        report = line.report
        basis = "nothing fitted" if report.basis == "nothing fitted" else "in view"
        before = "" if report.before is None else f"{report.before:g}"
        figures = (f"{report.measured:g}", f"{line.simulated:.4g}", before, f"{line.faster:.2f}")
        load = (report.system, report.load, _unit(report))
        writer.writerow((report.id, basis, *load, *figures, report.stands_in))
    return out.getvalue()


def _is_met(ratio: float) -> bool:
    return 1 / (1 + WITHIN) <= ratio <= 1 + WITHIN


def _unit(report: Report) -> str:
    return report.figure.replace("latency.", "").replace("read.", "").replace("write.", "")


def _summaries(lines: Sequence[Line]) -> Iterable[tuple[object, ...]]:
    groups: dict[str, list[Line]] = {"all": list(lines)}
    for line in lines:
        groups.setdefault(line.report.group, []).append(line)
    for name, own in groups.items():
        yield _summary_row(name, [(line.report, line.simulated) for line in own])
    known = [(line.report, line.report.before) for line in lines if line.report.before is not None]
    yield _summary_row("all, before", known)
    yield _summary_row("all, data sheets", [(line.report, line.report.naive) for line in lines])
    untouched = [line for line in lines if line.report.basis == "nothing fitted"]
    blind = [(line.report, line.simulated) for line in lines if line.report.id.startswith("b")]
    if blind:
        yield _summary_row("blind (b01 to b06)", blind)
    yield _summary_row("nothing fitted", [(each.report, each.simulated) for each in untouched])


def _summary_row(name: str, lines: Sequence[tuple[Report, float]]) -> tuple[object, ...]:
    off, met, bias, count = summary(lines)
    return name, count, f"{off:.2f}", f"{100 * met:.0f} %", f"{bias:.2f}"


HEAD: Final = """# Public reports

What users have published of whole systems, each beside a scenario that says what the report says.
What a report leaves open (depth, age, processor) is chosen once and stated. Ratios are
simulated over measured, of latencies the other way round: above 1 is too fast.

    python benchmarks/public_reports.py --markdown docs/evidence/public.md

"Off by" is the median of |log ratio|, as a factor. "Before" is the simulator when the reports were
first rebuilt. "Data sheets" is the arithmetic of a planner without a simulator.
"""
COLUMNS: Final = (
    *("row", "basis", "system", "load", "unit"),
    *("measured", "simulated", "before", "ratio", "in_its_place"),
)
ROWS: Final = """## Row by row

The {count} rows are in [public.csv](public.csv). Its `basis` says whether a choice of the model was
made in view of the row; `in_its_place` is what the scenario has for a drive or a setting that the
report has or leaves open.
"""
MISSES: Final = """## Misses

Rows that are off by more than 25 %.
"""
TAIL: Final = """
## Limits

- A report states one figure of one machine. Two reports of one system differ by a tenth or more.
- Depth, age and temperature of drives are seldom stated; a wrong guess counts as an error here.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulates what is asked for; prints, and writes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args(arguments)
    reports = load_reports()
    unknown = sorted(set(options.ids) - {report.id for report in reports})
    if unknown:
        known = ", ".join(report.id for report in reports)
        print(f"{', '.join(unknown)}: allowed are {known}", file=sys.stderr)
        return 2
    lines = []
    for report in reports:
        if options.ids and report.id not in options.ids:
            continue
        line = Line(report, simulated(report))
        lines.append(line)
        print(f"{report.id:12} {report.measured:12g} {line.simulated:12.4g} {line.faster:6.2f}")
    if options.json:
        found = [asdict(line) | {"report": line.report.model_dump()} for line in lines]
        options.json.write_text(json.dumps(found, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(lines))
        options.markdown.with_suffix(".csv").write_text(rows(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
