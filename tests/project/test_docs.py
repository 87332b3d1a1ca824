"""Every code block of the docs runs, in the order of its page (docs/contributing/documentation.md).

The blocks of one page share one empty folder, in which `scenarios`, `devices`, `calibration` and
`docs` are the project's.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from raidlab.devices.catalogue import load_device
from raidlab.devices.datasheet.sheet import RATES, read_sheet
from raidlab.scenarios.capacity.question import load_question
from raidlab.scenarios.planning.scenario import load_scenario
from tests import command_server
from tests.project.sources import ROOT, tracked

FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[a-z]*)(?P<rest>.*)$")
TITLE = re.compile(r'title="(?P<name>[^"]+)"')
COLLECTOR = Path(sys.executable).parent / "raidlab-collect"


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    kind: str
    rest: str
    line: int
    text: str

    @property
    def title(self) -> str | None:
        """The file that the block is to be saved as."""
        found = TITLE.search(self.rest)
        return found["name"] if found else None


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    opened: tuple[re.Match[str], int] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened, lines = (fence, number), []
        elif fence and not fence["kind"]:
            begin, at = opened
            text = "\n".join(each.removeprefix(begin["indent"]) for each in lines) + "\n"
            found.append(Block(begin["kind"], begin["rest"], at, text))
            opened = None
        else:
            lines.append(line)
    assert opened is None, f"{page}:{opened[1]}: the block does not end"
    return found


PAGES = [page for page in tracked("docs/*.md", "README.md", "CONTRIBUTING.md") if blocks(page)]


def check_toml(block: Block, folder: Path) -> None:
    tree = tomllib.loads(block.text)
    path = folder / (block.title or f"block-{block.line}.toml")
    path.write_text(block.text)
    if "fragment" in block.rest:
        return
    if "kind" in tree and not tree.keys().isdisjoint(RATES):
        read_sheet(path)
    elif "kind" in tree:
        load_device(path)
    elif "candidates" in tree:
        load_question(path)
    elif "array" in tree:
        load_scenario(path)
    elif "stage" in tree and shutil.which("fio") is not None:
        arguments = [COLLECTOR, "--plan", path, "--dry-run", "--target", folder / "target"]
        done = subprocess.run(
            [*arguments, "--size", "1 GiB", "--out", folder / "bundle"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def run_console(block: Block, folder: Path) -> str:
    """What the lines that begin with `$ ` print; other lines must be among it."""
    printed = ""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in block.text.splitlines():
        if line.startswith("$ "):
            env = {"PATH": path, "COLUMNS": "80"}
            done = command_server.line(line[2:], cwd=folder, env=env)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            printed += done.stdout
    shown = [line for line in block.text.splitlines() if not line.startswith("$ ")]
    check_printed(block, shown, printed)
    return printed


def check_printed(block: Block, shown: list[str], printed: str) -> None:
    """Whether lines that a page shows are printed, in their order."""
    left = iter(line.rstrip() for line in printed.splitlines())
    for line in shown:
        found = line.rstrip() in left
        assert found, f"block in line {block.line}: not printed any more: {line}\n{printed}"


def check_diff(block: Block) -> None:
    """Whether the change fits the sources as they are; nothing where there is no checkout."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return
    done = subprocess.run(
        ["git", "apply", "--check", "-"],
        cwd=ROOT,
        input=block.text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"line {block.line}: the diff does not fit:\n{done.stderr}"
    for name, text in new_files(block):
        check_new_file(block, name, text)


def new_files(block: Block) -> Iterator[tuple[str, str]]:
    """Names and texts of the Python files that a change adds."""
    for part in block.text.split("--- ")[1:]:
        old, new, _, *lines = part.splitlines()
        if old == "/dev/null" and new.endswith(".py"):
            yield new.removeprefix("+++ b/"), "".join(f"{each[1:]}\n" for each in lines)


def check_new_file(block: Block, name: str, text: str) -> None:
    """Whether the linter takes an added file as it stands."""
    done = subprocess.run(
        [Path(sys.executable).parent / "ruff", "check", "--stdin-filename", ROOT / name, "-"],
        input=text,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"line {block.line}: {name}:\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("scenarios", "devices", "calibration", "docs", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for block in blocks(page):
        match block.kind:
            case "python":
                code = compile("\n" * block.line + block.text, str(page), "exec")
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(code, names)
                printed = output.getvalue()
            case "toml":
                check_toml(block, tmp_path)
            case "json":
                json.loads(block.text)
            case "console":
                printed = run_console(block, tmp_path)
            case "diff":
                check_diff(block)
            case "ini":
                assert block.title, f"{page}:{block.line}: a job file without a name"
                (tmp_path / block.title).write_text(block.text)
            case "text" if block.rest.split() == ["output"]:
                check_printed(block, block.text.splitlines(), printed)
            case "text" | "svg":
                pass
            case other:
                pytest.fail(f"{page}:{block.line}: a block of {other!r} is not checked")


def test_no_page_leads_nowhere() -> None:
    """Links to other pages, pictures and headings."""
    wrong = []
    for page in tracked("docs/*.md", "examples/*.md", "*.md"):
        if page.is_symlink():
            continue  # read where it lies
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            path, _, heading = target.partition("#")
            if "://" in target:
                continue
            there = (page.parent / path).resolve() if path else page
            if not there.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
            elif heading and there.suffix == ".md" and heading not in headings(there):
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    assert not wrong, "\n" + "\n".join(wrong)


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def headings(page: Path) -> set[str]:
    """Anchors as Markdown's table of contents makes them."""
    found = set()
    for line in prose(page).splitlines():
        title = re.match(r"#+ (.*)", line)
        if title:
            text = re.sub(r"[`*]", "", title[1]).strip().lower()
            found.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text)).strip("-"))
    return found


def test_every_page_is_in_the_site_s_navigation() -> None:
    listed = set(
        re.findall(r"^ +- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    )
    pages = {str(page.relative_to(ROOT / "docs")) for page in tracked("docs/*.md")}
    assert pages == listed
