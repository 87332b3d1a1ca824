"""Who may import whom (docs/architecture.md): a package uses only those below it.

Read from the syntax trees, imports inside functions included; those for type checkers alone do not
run and do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.sources import PACKAGES, ROOT, syntax, tracked

ORDER = {
    "scenarios": [
        {"spec"},
        {"fio"},
        {"planning"},
        {"results"},
        {"running"},
        {"studies"},
        {"risk"},
        {"capacity"},
        {"files"},
    ],
    "calibration": [
        {"measurements"},
        {"fio", "benchmarks", "disksim", "traces", "monitoring"},
        {"surrogates"},
        {"fitting"},
        {"datasheets", "published", "discover"},
        {"twin"},
    ],
    "calibration.fitting": [
        {"parameters"},
        {"bench"},
        {"points", "search"},
        {"comparison"},
        {"certainty"},
        {"estimation"},
        {"report"},
    ],
}
"""Inside a package, lowest first; those of one set do not know each other."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "raidlab" else ("raidlab", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in tracked(*(f"{name}/*.py" for name in PACKAGES))}


class Imports(ast.NodeVisitor):
    """The project's modules that a module imports when it runs."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

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


GRAPH = {name: imports_of(path) - {name} for name, path in MODULES.items()}


def layer(module: str) -> int:
    part = module.split(".")[1] if "." in module else "raidlab"
    face = PACKAGES.index("raidlab")
    return min(PACKAGES.index(part), face) if part in PACKAGES else face


def ranks(module: str, target: str) -> Iterator[tuple[int, int]]:
    """Where two modules stand in the order of the package that has both, in different folders."""
    for outer, order in ORDER.items():
        inside = f"raidlab.{outer}."
        if module.startswith(inside) and target.startswith(inside):
            here, there = (name.removeprefix(inside).split(".")[0] for name in (module, target))
            places = {name: at for at, names in enumerate(order) for name in names}
            if here != there and here in places and there in places:
                yield places[here], places[there]


def upward() -> Iterator[str]:
    for module, targets in sorted(GRAPH.items()):
        for target in sorted(targets):
            if layer(target) > layer(module):
                yield f"{module} imports {target}, a layer above it"
            if any(there >= here for here, there in ranks(module, target)):
                yield f"{module} imports {target}, which is not below it"


def test_imports_go_downward() -> None:
    assert list(upward()) == []


def test_every_folder_has_its_place_in_the_order() -> None:
    for top, order in ORDER.items():
        inside = ROOT / top.replace(".", "/")
        folders = {path.parent.name for path in inside.glob("*/__init__.py")}
        assert folders == set().union(*order)


def circles() -> list[list[str]]:
    """Modules that import each other, directly or by others: Tarjan's components above one."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in GRAPH[module]:
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

    for module in GRAPH:
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


@pytest.mark.parametrize("name", ["raidlab.sim", "raidlab.devices"])
def test_the_lowest_layers_know_no_engine(name: str) -> None:
    below = [targets for module, targets in GRAPH.items() if module.startswith(name)]
    assert not any("_engine" in target for targets in below for target in targets)
