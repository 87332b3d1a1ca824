"""The files in examples/ print what they show (benchmarks/examples.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import command_server
from tests.project.sources import ROOT, load_script

EXAMPLES = load_script("examples")


@pytest.mark.parametrize("path", EXAMPLES.commented(), ids=lambda path: path.name)
def test_an_example_prints_what_it_shows(path: Path) -> None:
    shown = EXAMPLES.split(path)[1]
    printed = EXAMPLES.printed(path, command_server.line)
    assert printed == shown, f"{path.name} has changed: make examples"


def test_there_are_ten_examples_and_the_index_names_each() -> None:
    index = (ROOT / "examples/README.md").read_text()
    rows = re.findall(r"^\| \[", index, re.MULTILINE)
    assert len(EXAMPLES.commented()) == len(rows) == 10
    named = set(re.findall(r"\]\(([\w.-]+)\)", index))
    assert named == {path.name for path in EXAMPLES.FOLDER.iterdir()} - {"README.md"}


def test_a_changed_output_is_found(tmp_path: Path) -> None:
    copy = tmp_path / "model.py"
    copy.write_text((ROOT / "examples/model.py").read_text().replace("ms\n", "s\n"))
    assert EXAMPLES.split(copy)[1] != EXAMPLES.split(ROOT / "examples/model.py")[1]
    assert EXAMPLES.command_of(copy) == "python examples/model.py"
