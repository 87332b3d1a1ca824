"""What import-linter (`make lint`) does not say: circles of modules, what installs, the crates.

Read from the syntax trees: imports inside functions and those for type checkers alone count, too.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.project.sources import PACKAGES, ROOT, syntax, tracked


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "raidlab" else ("raidlab", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in tracked(*(f"{name}/*.py" for name in PACKAGES))}


class Imports(ast.NodeVisitor):
    """The project's modules that a module imports."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Import(self, node: ast.Import) -> None:
        self.found |= {alias.name for alias in node.names} & MODULES.keys()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            module = whole if whole in MODULES else str(node.module)
            self.found |= {module} & MODULES.keys()


def imports_of(path: Path) -> set[str]:
    seen = Imports()
    seen.visit(syntax(path))
    return seen.found


@cache
def graph() -> dict[str, set[str]]:
    """What each module imports."""
    return {name: imports_of(path) - {name} for name, path in MODULES.items()}


def circles() -> list[list[str]]:
    """Modules that import each other, directly or by others: Tarjan's components above one."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in graph()[module]:
            if target not in number:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], number[target])
        if lowest[module] == number[module]:
            circle = [stack.pop()]
            while circle[-1] != module:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for module in graph():
        if module not in number:
            visit(module)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles() == []


def test_the_package_that_installs_has_every_folder() -> None:
    """setuptools finds packages in `src`, through links: a layer without one is not installed."""
    setuptools = pytest.importorskip("setuptools")
    there = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert set(setuptools.find_packages(str(ROOT / "src"))) == there


def test_the_links_of_the_package_lead_to_the_layers() -> None:
    assert (ROOT / "src" / "raidlab").resolve() == ROOT / "raidlab"
    layers = [name for name in PACKAGES if name != "raidlab"]
    links = sorted(path.name for path in (ROOT / "raidlab").iterdir() if path.is_symlink())
    assert links == sorted(layers)
    assert all((ROOT / "raidlab" / name).resolve() == ROOT / name for name in layers)


def test_modules_that_commands_run_are_there():
    """`python -m MODULE` in the Makefile and in the documentation."""
    named = {
        module
        for path in (ROOT / "Makefile", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for module in re.findall(r"-m\s+((?:raidlab|tests)\.[\w.]+)", path.read_text())
    }
    assert len(named) > 5
    assert [each for each in sorted(named) if importlib.util.find_spec(each) is None] == []


def crates(*asked: str) -> set[str]:
    """What a build of these compiles: each crate with its version and features."""
    words = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none"]
    words += ["--format", "{p} {f}", "--package", *asked]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)").strip() for line in done.stdout.splitlines()}


def test_the_engine_is_compiled_once_for_both_extension_modules():
    """A crate with one feature more is another one, and all above it: a minute of two cores."""
    bridge = crates("raidlab-fio-bridge")
    assert any(line.startswith("raidlab-engine ") for line in bridge)
    anew = bridge - crates("raidlab-binding", "--features", "extension-module")
    assert [line.split()[0] for line in anew] == ["raidlab-fio-bridge"]
