"""Sound inputs and what is changed in them."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from hypothesis import strategies as st

from raidlab.devices.schema import read_toml
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import ScenarioTree
from tests.project.sources import ROOT

SECONDS = float(os.environ.get("RAIDLAB_FUZZ_SECONDS", "0"))
"""Seconds for each kind of input, set by `make fuzz`. The test suite tries a fixed number of each,
so that a machine's speed decides nothing."""
SEED = int(os.environ.get("RAIDLAB_FUZZ_SEED", "1"))

SCENARIOS = sorted(
    [
        *(ROOT / "scenarios" / "library").glob("*.toml"),
        ROOT / "docs" / "examples" / "database_on_raid10.toml",
        *(ROOT / "benchmarks" / "systems").glob("*.toml"),
    ]
)

SYSTEMS = sorted(
    path
    for path in (ROOT / "tests" / "fuzz" / "systems").glob("*.toml")
    if "small" not in path.name
)
"""Systems that cost nothing to build, so that many inputs are tried."""

VALUES = st.one_of(
    st.sampled_from([0, 1, -1, 2**31, 2**32, 2**63, 2**65, 0.0, -0.5, 1e-9, 1e300]),
    st.sampled_from([float("nan"), float("inf"), True, False, "", [], {}, [[]], [{}]]),
    st.sampled_from(
        ["0 B", "1 B", "512 B", "1 EB", "0 s", "1 ns", "-1 ms", "18 d", "1e15 s", "100 %", "-5 %"]
    ),
    st.sampled_from(
        ["raid0", "raid5", "raid60", "jbod", "zz", "[/red] x", "\x1b[31m", "{0}", "$A"]
    ),
    st.integers(-(2**65), 2**65),
    st.text(max_size=5),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside a document, without its own."""
    entries: Any = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield (*path, key)
        yield from places(inner, (*path, key))


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[str, ScenarioTree]:
    """The file of a sound scenario, and what it says with one to three changes."""
    path = draw(st.sampled_from(SCENARIOS))
    tree: ScenarioTree = copy.deepcopy(read_toml(path))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.sampled_from(list(places(tree)) or [("run",)]))
        owner: Any = tree
        for key in at[:-1]:
            owner = owner[key]
        change = draw(st.sampled_from(["value", "value", "other", "remove", "twice", "unknown"]))
        if change == "value" or at[-1] not in (owner if isinstance(owner, dict) else at):
            owner[at[-1]] = copy.deepcopy(draw(VALUES))
        elif change == "other":
            owner[at[-1]] = _at(tree, draw(st.sampled_from(list(places(tree)))))
        elif change == "remove":
            del owner[at[-1]]
        elif change == "twice" and isinstance(owner, list):
            owner.append(copy.deepcopy(owner[at[-1]]))
        elif isinstance(owner, dict):
            owner[draw(st.text(max_size=8))] = copy.deepcopy(draw(VALUES))
    return str(path), tree


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return copy.deepcopy(tree)


def plans() -> Iterator[str]:
    """The engine's plans of the small systems: their first points, JSON."""
    for path in SYSTEMS:
        scenario = build_scenario(read_toml(path), path=str(path))
        yield json.dumps(scenario.plan(0, 0))


_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w-]*|\"[^\"\n]*\"")
_PIECES = [
    *b"0 1 -1 1e400 nan inf -0.0 4294967296 18446744073709551616 9007199254740993".split(),
    *b'"" [] {} null true [[ ]] {{ }} "\\u0000" \x00 \xff\xfe \xe2\x80\xae'.split(),
    *b"\x1b[31m [/red] 1e-320".split(),
    b"[" * 2000,
    b'{"a":' * 1000,
    b"9" * 5000,
]


def changed_bytes(data: bytes, draws: Random) -> bytes:
    """One to three changes of a file's numbers, words, lines or bytes."""
    for _ in range(draws.randint(1, 3)):
        change = draws.choice((_number, _number, _word, _swap, _line, _line, _byte, _cut))
        data = change(data, draws)
    return data


def _put(data: bytes, pattern: re.Pattern[bytes], draws: Random, piece: bytes) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    begin, end = draws.choice(found).span()
    return data[:begin] + piece + data[end:]


def _number(data: bytes, draws: Random) -> bytes:
    size = draws.choice((3, 2**16, 2**31, 2**40, 2**64, 2**70))
    some = str(draws.randint(-2, size)).encode()
    return _put(data, _NUMBER, draws, draws.choice((some, draws.choice(_PIECES))))


def _word(data: bytes, draws: Random) -> bytes:
    return _put(data, _WORD, draws, draws.choice(_PIECES))


def _swap(data: bytes, draws: Random) -> bytes:
    """A word in the place of another."""
    found = _WORD.findall(data)
    return _put(data, _WORD, draws, draws.choice(found)) if found else data


def _line(data: bytes, draws: Random) -> bytes:
    lines = data.split(b"\n")
    at = draws.randrange(len(lines))
    change = draws.randrange(3)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.insert(draws.randrange(len(lines)), lines[at])
    else:
        lines.insert(at, draws.choice(_PIECES))
    return b"\n".join(lines)


def _byte(data: bytes, draws: Random) -> bytes:
    at = draws.randrange(len(data) + 1)
    return data[:at] + draws.randbytes(draws.choice((1, 1, 8))) + data[at + draws.randrange(3) :]


def _cut(data: bytes, draws: Random) -> bytes:
    return data[: draws.randrange(len(data) + 1)]
