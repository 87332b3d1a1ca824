"""How the project is written (CONTRIBUTING.md): words, sizes, widths.

A word stands here once the field's word has replaced it (docs/reference/glossary.md).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.sources import PACKAGES, ROOT, syntax, tracked

LONGEST_FILE = 600
LONGEST_FUNCTION = 80
MOST_PARAMETERS = 7
DOCS_WIDTH = 100

WORDS = {
    "told": "reported, acknowledged or known",
    "happenings?": "event",
    "foresees?": "prefetch",
    "outlook": "positioning estimate",
    "standstill": "livelock",
    "mend(s|ed)?": "recover or repair",
    "bur(y|ies|ied)": "abort",
    "sift(s|ed)?": "filter",
    "fates?": "data integrity",
    "verdicts?": "audit",
    "grains?": "sector",
    "books": "accounting or ledger",
    "houses?|floors": "system or layer",
    "turn(?=_)|(?<=_)turns?|turns? of (the disk|[0-9]+ ms)": "revolution, turnaround or step",
    "(a|an|no|its|drive's|array's) past(?! [a-z])": "history or preconditioning",
    "ways? (of|down) the (arm|data)": "path, direction or positioning",
    "(pace of|of) heat|heats? of lines?": "access frequency",
    r"[0-9]+ % (ms|us)": "p99 ms",
    "bytes to NAND (a|each) byte": "write amplification, WAF",
}
"""Words and phrases that are not the field's, as patterns, and what to write."""

PHRASES = {
    "whoever": "who it is: the caller, the waiting request, people who ...",
    "so many(?! [a-z ]*that)|every so manieth": "this many, or the number",
    "in the mean": "on average",
    "laid beside": "compared with",
    "is lent": "receives",
    "(find|finds|takes) the least (drives|disks)": "the fewest",
    "bears (any|up to)": "survives, sustains",
    "linux'(?= )": "Linux's",
    "nine of ten": "nine in ten, or the 90th percentile",
}
"""Phrases that no storage engineer says."""

ANY_STRANGE = re.compile(f"(?<![A-Za-z])({'|'.join(WORDS | PHRASES)})(?![A-Za-z])", re.IGNORECASE)
"""Finds in a file at once whether its lines must be looked through."""

FORMER = ("initial_turn", '"verdict"')
"""Keys of earlier versions, which are refused with the new name, and of documents."""

NOUNLESS = {
    *("LEAST", "MOST", "STEPS", "FEW", "GLANCE", "ENOUGH", "LITTLE", "NOTHING", "APART", "KEPT"),
    *("ALIKE", "LARGEST", "LONGEST", "SHORTEST", "WIDEST", "FARTHEST", "DEEPEST", "SMALLEST"),
    *("NARROW", "TOGETHER", "BESIDE", "WHOLE", "OTHER", "MUCH", "FAR", "LONG", "SHORT", "SURE"),
}
"""Constants that do not say of what: `LEAST_SAMPLES`, not `LEAST`."""

PROSE = ("*.md", "*.py", "*.pyi", "*.rs", "*.toml", "*.j2", "Makefile")


def sources() -> Iterator[Path]:
    """Everything that people read, but for the history of changes and these tests."""
    for path in tracked(*PROSE):
        if path.name != "CHANGELOG.md" and path.parent != Path(__file__).parent:
            yield path


def strange_words(text: str) -> Iterator[tuple[str, str]]:
    """Each word that is not the field's, and what to write."""
    for key in FORMER:
        text = text.replace(key, "")
    for pattern, instead in (WORDS | PHRASES).items():
        for match in re.finditer(f"(?<![A-Za-z])({pattern})(?![A-Za-z])", text, re.IGNORECASE):
            yield match[1], instead


@pytest.mark.parametrize(
    "text",
    [
        "was_told",
        "Verdict",
        "half a turn of 10 ms",
        "half_turn",
        "an SSD's fate",
        "99 % ms",
        "of so many bytes",
    ],
)
def test_a_strange_word_is_found(text: str) -> None:
    assert list(strange_words(text)) and ANY_STRANGE.search(text)


def test_words_are_those_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}: write {instead}"
        for path in sources()
        if ANY_STRANGE.search(path.read_text())
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for word, instead in strange_words(line)
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_doc_comment_begins_with_the_same() -> None:
    """An editor shows it alone, where nobody sees what came before."""
    begins = re.compile(r'^ *("""|//[/!]? )The same\b')
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        if path.suffix in (".py", ".rs")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if begins.match(line)
    ]
    assert not found, "say of what it is: " + " ".join(found)


def test_constants_have_nouns() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in tracked(*(f"{package}/*.py" for package in PACKAGES), "benchmarks/*.py")
        for name in _constants(syntax(path))
        if name.strip("_") in NOUNLESS
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_page_opens_with_its_reader() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in tracked("docs/*.md", "*.md", "examples/*.md")
        if re.search(r"^#[^\n]*\n+(For (whoever|who|those|people)|Read this)", path.read_text())
    ]
    assert not found


def test_files_fit_in_the_head() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in tracked("*.py", "*.rs")}
    del lengths[ROOT / "devices" / "plan_types.py"]  # made by `make schema`
    assert [str(path) for path, lines in lengths.items() if lines > LONGEST_FILE] == []


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def python() -> list[Path]:
    return tracked(
        *(f"{name}/*.py" for name in PACKAGES), "tests/*.py", "benchmarks/*.py", "examples/*.py"
    )


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True for a command: its parameters declare options, one a line or more."""
    return any(isinstance(each, ast.Name) and each.id == "command" for each in node.decorator_list)


def test_functions_fit_a_screen() -> None:
    found = []
    for path in python():
        for node in functions(path):
            first = node.body[0].lineno if is_command(node) else node.lineno
            lines = (node.end_lineno or first) - first + 1
            if lines > LONGEST_FUNCTION:
                found.append(f"{path.relative_to(ROOT)}: {node.name}: {lines} lines")
    assert not found, "\n" + "\n".join(found)


def rust_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Name, lines and parameters of each function; sources are as rustfmt writes them."""
    lines = path.read_text().splitlines()
    begins = re.compile(r"^(\s*)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?"
                        r"(?:extern \"C\" )?fn (\w+)")  # fmt: skip
    for at, line in enumerate(lines):
        begin = begins.match(line)
        if begin is None:
            continue
        indent = begin[1]
        last = at
        while last < len(lines) and not (
            lines[last].startswith(indent + "}")
            or (
                lines[last].endswith((";", "{}"))
                and (last == at or not lines[last].startswith(indent + " "))
            )
        ):
            last += 1
        head = " ".join(lines[at : last + 1]).split("{")[0]
        opened = head[head.index("(") :] if "(" in head else "()"
        yield begin[2], last - at + 1, parameters(opened)


def parameters(text: str) -> int:
    """Parameters in a list in parentheses, `self` aside."""
    depth, found, word = 0, [], ""
    for char in text:
        depth += char in "([{<"
        depth -= char in ")]}" or (char == ">" and not word.endswith("-"))
        if depth == 0:
            break
        if char == "," and depth == 1:
            found.append(word)
            word = ""
        else:
            word += char
    found.append(word)
    names = [each.strip(" (") for each in found if each.strip(" (")]
    return sum(not re.match(r"(&(\w|')* ?)?(mut )?self\b", each) for each in names)


def test_rust_functions_fit_a_screen_and_take_few_parameters() -> None:
    found = []
    for path in tracked("*.rs"):
        for name, lines, count in rust_functions(path):
            if lines > LONGEST_FUNCTION:
                found.append(f"{path.relative_to(ROOT)}: {name}: {lines} lines")
            if count > MOST_PARAMETERS and "tests" not in path.with_suffix("").parts:
                found.append(f"{path.relative_to(ROOT)}: {name}: {count} parameters")
    assert not found, "\n" + "\n".join(found)


def test_every_rust_test_is_part_of_its_program() -> None:
    """A file beside `tests/all.rs` that it does not name would never run."""
    left_out = [
        str(path.relative_to(ROOT))
        for whole in tracked("*.rs")
        if whole.match("tests/all.rs")
        for path in sorted(whole.parent.glob("*.rs"))
        if path != whole and f"mod {path.stem};" not in whole.read_text().splitlines()
    ]
    assert not left_out


def test_lines_of_the_docs_are_short() -> None:
    found = []
    for path in tracked("docs/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        fenced = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            fenced ^= line.startswith("```")
            if len(line) > DOCS_WIDTH and not (line.startswith("|") or fenced):
                found.append(f"{path.relative_to(ROOT)}:{number}: {len(line)} characters")
    assert not found, "\n" + "\n".join(found)


def test_every_page_is_reachable_from_the_index() -> None:
    pages = set(tracked("docs/*.md"))
    reached = {ROOT / "docs" / "index.md"}
    left = list(reached)
    while left:
        page = left.pop()
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text()):
            path = (page.parent / target).resolve()
            if path in pages and path not in reached:
                reached.add(path)
                left.append(path)
    assert sorted(str(path.relative_to(ROOT)) for path in pages - reached) == []


def _constants(tree: ast.Module) -> list[str]:
    """The constants that a module assigns, each as often as it does so."""
    names: list[str] = []
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        names += [each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper()]
    return names


def test_a_constant_has_one_value() -> None:
    # A rename once made one name of two, and fits compared fewer points from then on.
    twice = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        if path.suffix == ".py"
        for name, times in Counter(_constants(syntax(path))).items()
        if times > 1
    ]
    assert not twice, twice
    assert Counter(_constants(ast.parse("_A = 8\n_B: int = 4\n_A = 4\n")))["_A"] == 2
