"""Questions of forums, each with a public number: writes docs/evidence/folk-questions.md.

    python benchmarks/folk.py [ID ...] [--scenario] [--markdown FILE]

The questions are in benchmarks/folk.toml. `--scenario` prints the scenarios of the questions
instead, to copy. All takes about a minute.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.markdown import table
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ScenarioTree

sys.path.insert(0, str(Path(__file__).resolve().parent))

from public_reports import ROOT, Report, load_reports, simulated

DATA: Final = ROOT / "benchmarks" / "folk.toml"
UNTIL: Final = "s until "
NEAR: Final = 0.25
"""Share by which a simulated number may differ from the public one to count as near."""


class Question(BaseModel):
    """A question, its public number and what to simulate."""

    model_config = ConfigDict(extra="forbid")

    id: str
    ask: str
    public: float = 0.0
    to: float | None = None
    figure: str = ""
    source: str = ""
    basis: Literal["blind", "in view", "fitted"] = "blind"
    report: str = ""
    like: str = ""
    replace: list[tuple[str, str]] = []
    base: str = ""
    scenario: str = ""


@dataclass(frozen=True)
class Answer:
    """A question and the simulated number."""

    question: Question
    simulated: float

    @property
    def is_near(self) -> bool:
        """Whether the number lies within a quarter of the public one or of its range."""
        asked = self.question
        return (
            asked.public / (1 + NEAR) <= self.simulated <= (asked.to or asked.public) * (1 + NEAR)
        )


def load_questions() -> list[Question]:
    """The questions, each with its number and scenario written out."""
    reports = {report.id: report for report in load_reports()}
    found: dict[str, Question] = {}
    for tree in tomllib.loads(DATA.read_text("utf-8"))["question"]:
        asked = Question.model_validate(tree)
        if asked.report:
            asked = _of_report(asked, reports[asked.report])
        elif asked.like or asked.base:
            model = found[asked.like] if asked.like else asked
            text = model.base or model.scenario
            for old, new in asked.replace:
                if old not in text:
                    raise ValueError(f"{asked.id}: {old!r} is not in the scenario")
                text = text.replace(old, new)
            asked = asked.model_copy(update={"scenario": text, "base": model.base})
        found[asked.id] = asked
    return list(found.values())


def _of_report(asked: Question, report: Report) -> Question:
    """The question with the number and the scenario of a public report."""
    basis = "blind" if report.basis == "nothing fitted" else "in view"
    return asked.model_copy(
        update={
            "public": report.measured,
            "figure": report.figure,
            "source": f"user report, [{report.id}](public.md#row-by-row)",
            "basis": basis,
            "scenario": report.scenario,
        }
    )


def answer(asked: Question) -> Answer:
    """Simulates a question."""
    if asked.figure == "ratio":
        return Answer(asked, _rate(asked.base) / _rate(asked.scenario))
    if asked.figure.startswith(UNTIL):
        kind = asked.figure.removeprefix(UNTIL)
        events = simulate(build_scenario(tomllib.loads(asked.scenario))).events_typed
        return Answer(asked, next(event.at_s for event in events if event.kind == kind))
    report = Report(
        id=asked.id,
        group="mixed",
        system="",
        load="",
        figure=asked.figure,
        measured=asked.public,
        naive=asked.public,
        naive_by="",
        basis="nothing fitted",
        scenario=asked.scenario,
    )
    return Answer(asked, simulated(report))


def _rate(scenario: str) -> float:
    tree: ScenarioTree = tomllib.loads(scenario)
    return float(simulate(build_scenario(tree)).rows[0].iops)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def markdown(answers: Sequence[Answer]) -> str:
    """The page."""
    blind = [each for each in answers if each.question.basis == "blind"]
    near = sum(each.is_near for each in blind)
    rows = []
    for each in answers:
        asked = each.question
        public = _number(asked.public) + (f" to {_number(asked.to)}" if asked.to else "")
        unit = asked.figure.replace("latency.", "").replace("ratio", "times").split(" until")[0]
        simulated = _number(each.simulated)
        about = asked.basis, asked.source, f"`{asked.id}`"
        rows.append((asked.ask, public, simulated, unit, *about))
    head = HEAD.format(count=len(answers), blind=len(blind), near=near)
    heads = "question | public | simulated | unit | basis | source | scenario"
    return "\n".join([head, *table(heads, rows)]) + "\n" + TAIL


HEAD: Final = """# Evidence: folk questions
Do the numbers that people quote come out? Of {blind} public numbers to which nothing was fitted,
{near} lie within a quarter of the public number or of its range. Here are {count} questions of
forums, each with its scenario. They were picked by subject. [Public reports](public.md) has every
report that was rebuilt, and more of those are off.
"""
TAIL: Final = """
*Blind*: nothing was fitted to the number. *In view*: a choice of the model was made in its view.
*Fitted*: the device file states it, so that only the rest of the path is tested. A ratio is the
rate of RAID 0, or of one drive, over the rate in question.

    python benchmarks/folk.py --markdown docs/evidence/folk-questions.md    # this page
    python benchmarks/folk.py penalty-raid5 --scenario > mine.toml          # a scenario to change

What stands in for a drive that a user report leaves open: [public reports](public.md).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulates what is asked for; prints, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--scenario", action="store_true")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args(arguments)
    questions = load_questions()
    known = [asked.id for asked in questions]
    if unknown := sorted(set(options.ids) - set(known)):
        print(f"{', '.join(unknown)}: allowed are {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = [asked for asked in questions if not options.ids or asked.id in options.ids]
    if options.scenario:
        print("\n".join(f"# {asked.ask}\n{asked.scenario.strip()}" for asked in chosen))
        return 0
    answers = []
    for asked in chosen:
        answers.append(answer(asked))
        print(f"{asked.id:20} {asked.public:12g} {answers[-1].simulated:12.4g}", flush=True)
    if options.markdown:
        options.markdown.write_text(markdown(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
