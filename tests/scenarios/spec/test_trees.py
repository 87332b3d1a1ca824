"""The types of a scenario as it is written are those of its schema."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.sources import ROOT

MADE = ROOT / "scenarios" / "spec" / "trees.py"
SCHEMA = ROOT / "scenarios" / "schemas" / "scenario.json"
HEADER = '"""A scenario as its file has it: made from its schema by `make schema`."""'


def test_the_types_are_those_that_make_schema_makes() -> None:
    pytest.importorskip("datamodel_code_generator")
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    schema = re.sub(r'^ "title".*\n', "", SCHEMA.read_text(), flags=re.M)
    options = ["--no-use-closed-typed-dict", "--custom-file-header", HEADER]
    text = _made(
        [sys.executable, "-m", "datamodel_code_generator", *options],
        schema.replace('Table"', 'Tree"'),
    )
    text = re.sub(r"^Model: .*\n", "", text, flags=re.M).replace(", TypeAlias", "")
    assert _made([ruff, "format", "-"], text) == MADE.read_text(), "stale: make schema"


def _made(command: list[str], text: str) -> str:
    called = {"cwd": ROOT, "check": True, "capture_output": True, "text": True}
    return subprocess.run(command, input=text, **called).stdout
