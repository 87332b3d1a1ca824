"""The ten questions of a planner, each by its one command: answers and seconds.

`make plan-questions` writes docs/evidence/questions.md of it, and says whose answer is not the one
that docs/how-to/choose-a-system.md quotes. Every question starts with an empty store.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent.parent
QUESTIONS = HERE / "scenarios" / "library" / "plans"
TEXT = HERE / "docs" / "how-to" / "choose-a-system.md"
GOAL_S = 120.0
"""Within which each answer is to be there, on two cores."""


@dataclass(frozen=True)
class Answered:
    """One question."""

    name: str
    title: str
    answer: str
    seconds: float


def asked(path: Path) -> Answered:
    """Runs `raidlab plan` on a question, with a store of its own."""
    with TemporaryDirectory(prefix="raidlab-questions-") as folder:
        command = [sys.executable, "-m", "raidlab", "plan", str(path)]
        since = time.monotonic()
        done = subprocess.run(
            [*command, "--store", f"{folder}/runs.sqlite"],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds = time.monotonic() - since
    title, _, rest = done.stdout.partition("\n")
    return Answered(path.stem, title, one_line(rest.split("\n\n")[0]), seconds)


def one_line(text: str) -> str:
    """A paragraph without its line breaks."""
    return " ".join(text.split())


def quoted() -> dict[str, str]:
    """What the text quotes as the answer to each question, by its name."""
    sections = TEXT.read_text().split("\n## ")[1:]
    found = {}
    for section in sections:
        name = re.search(r"library/plans/([\w-]+)\.toml", section)
        quote = re.search(r"\n((?:> .*\n)+)", section)
        if name and quote:
            found[name[1]] = one_line(quote[1].replace("> ", " "))
    return found


def page(answers: Sequence[Answered], load: float) -> str:
    """The page of evidence; `load` is that of the machine before the first question."""
    rows = "\n".join(
        f"| `{each.name}` | {each.seconds / 60:.2f} | {each.seconds:.1f} |" for each in answers
    )
    slowest = max(answers, key=lambda each: each.seconds)
    said = textwrap.fill(
        f"**The longest takes {slowest.seconds:.0f} s**; the goal is {GOAL_S:.0f} s. Measured on"
        f" {os.cpu_count()} cores, under a load of {load:.1f} processes when the first one began.",
        width=98,
        break_on_hyphens=False,
    )
    return f"""# Evidence: ten questions of a planner

How long does `raidlab plan` take? `make plan-questions` makes this page: each question of
`scenarios/library/plans` by its one command, with nothing simulated before.
[Choose a system](../how-to/choose-a-system.md) quotes each answer and checks it by hand.

{said}

| question | min | s |
|---|---|---|
{rows}
"""


def main() -> int:
    """Exit code 1 if an answer is late or the text quotes another one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--page", type=Path, help="write the page to this file")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    answers = []
    for path in sorted(QUESTIONS.glob("*.toml")):
        answers.append(asked(path))
        print(f"{answers[-1].name}: {answers[-1].seconds:.1f} s", file=sys.stderr, flush=True)
    if options.page:
        options.page.write_text(page(answers, load))
    quotes = quoted()
    differ = [each for each in answers if quotes.get(each.name) != each.answer]
    for each in differ:
        print(f"{each.name}: {TEXT.name} quotes another answer than\n  {each.answer}")
    return int(bool(differ) or max(each.seconds for each in answers) > GOAL_S)


if __name__ == "__main__":
    sys.exit(main())
