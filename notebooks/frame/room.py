"""A room of the lab as data: what it asks, what can be varied, what it answers and claims."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from raidlab.devices.spec_writer import toml_value
from raidlab.scenarios.results.look import figure as figure
from raidlab.scenarios.results.page import Box as Box
from raidlab.scenarios.results.page import Picture as Picture

Value = int | float | str
Values = Mapping[str, Any]
"""The value of each control, by its name."""


@dataclass(frozen=True)
class Control:
    """What a visitor varies: a slider over numbers, or a choice between words."""

    name: str
    label: str
    values: Sequence[Value]
    """In the order of the slider; a static page has an answer for each."""
    start: Value
    unit: str = ""
    words: Mapping[Any, str] = field(default_factory=dict)
    """What values are called, where the number with its unit does not say it."""
    plays: bool = False
    """True for a button that moves the slider from its first value to its last."""
    live: bool = False
    """True if it is of use only where there is an engine to ask; pages without one leave it out."""

    def __post_init__(self) -> None:
        if self.start not in self.values:
            raise ValueError(f"control {self.name}: {self.start!r} is none of {self.values}")

    def word(self, value: Value) -> str:
        """A value as a visitor reads it, with its unit."""
        if value in self.words:
            return self.words[value]
        return value if isinstance(value, str) else f"{value:,} {self.unit}".rstrip()

    @property
    def is_number(self) -> bool:
        """True for a slider."""
        return not any(isinstance(value, str) for value in self.values)


@dataclass(frozen=True)
class Listing:
    """Text to copy or to read on a room's page: a program, commands."""

    title: str
    note: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What one setting of the controls gives."""

    sentence: str
    pictures: Sequence[Picture]
    numbers: Mapping[str, Any]
    """By name: what claims, exercises and predictions are checked against."""
    boxes: Sequence[Box] = ()
    warnings: Sequence[str] = ()


class Ask(Protocol):
    """The numbers of the room where the controls named differ from their start."""

    def __call__(self, **changed: Value) -> Mapping[str, Any]:
        """The numbers of one answer."""
        ...


@dataclass(frozen=True)
class Prediction:
    """A number to write down before looking, and the one that comes out."""

    question: str
    unit: str
    outcome: Callable[[Ask], float]
    why: str
    """What explains the outcome."""


@dataclass(frozen=True)
class Claim:
    """A sentence of "what to notice", and whether the simulation bears it out."""

    text: str
    holds: Callable[[Ask], bool]


@dataclass(frozen=True)
class Exercise:
    """A task with its solution, and whether the simulation gives it."""

    task: str
    solution: str
    holds: Callable[[Ask], bool]


@dataclass(frozen=True)
class Room:
    """One question of the lab."""

    name: str
    number: int
    question: str
    about: str
    """Some sentences: what is simulated, and what the controls change."""
    prediction: Prediction
    controls: Sequence[Control]
    scenario: Callable[[Values], Mapping[str, Any]]
    """What `raidlab run` takes, for a setting of the controls."""
    answer: Callable[[Values, int], Answer]
    """Simulates a setting with a seed."""
    notice: Sequence[Claim]
    exercises: Sequence[Exercise]
    sources: Sequence[str]
    limits: str = ""
    """What the model leaves out, where that matters to the question."""
    listing: Listing | None = None
    folder: str = ""
    """Label of a folder that a visitor names or uploads, where there is an engine to ask. The
    setting then has its path under `folder`, or nothing."""
    files: Callable[[Values], Mapping[str, str]] = lambda values: {}
    """Further files that the scenario of a setting needs beside it: name and text."""

    @property
    def start(self) -> dict[str, Value]:
        """The setting that a visitor finds."""
        folder: dict[str, Value] = {FOLDER: ""} if self.folder else {}
        return folder | {control.name: control.start for control in self.controls}

    def offered(self, *, live: bool) -> list[Control]:
        """The controls of a page with an engine to ask, or of one without."""
        return [control for control in self.controls if live or not control.live]

    def settings(self) -> Iterator[dict[str, Value]]:
        """Every setting, the last control varying fastest: the grid of a static page."""
        controls = self.offered(live=False)
        names = [control.name for control in controls]
        for values in itertools.product(*(control.values for control in controls)):
            yield self.start | dict(zip(names, values, strict=True))

    def at(self, **changed: Value) -> Mapping[str, Any]:
        """The numbers where these controls differ from their start; seed 1."""
        unknown = changed.keys() - self.start.keys()
        if unknown:
            raise ValueError(f"room {self.name} has no control {sorted(unknown)}")
        return _numbers(self.answer, tuple((self.start | changed).items()))


FOLDER = "folder"
"""Name of the visitor's folder in a setting."""
SEED = 1
"""Of every answer, unless a visitor asks for another."""


@lru_cache(maxsize=512)
def _numbers(
    answer: Callable[[Values, int], Answer], setting: tuple[tuple[str, Value], ...]
) -> Mapping[str, Any]:
    return answer(dict(setting), SEED).numbers


def scenario_toml(scenario: Mapping[str, Any], head: Sequence[str]) -> str:
    """A scenario as the text of a file, opened by comments.

    Args:
        scenario: Plain data; tables and lists of tables get sections of their own.
        head: Lines of the comment.
    """
    lines = [f"# {line}".rstrip() for line in head]
    sections: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in scenario.items():
        if isinstance(value, Mapping):
            sections.append((f"[{key}]", value))
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            sections += [(f"[[{key}]]", each) for each in value]
        else:
            lines.append(f"{key} = {toml_value(value)}")
    for name, table in sections:
        lines += ["", name, *(f"{key} = {toml_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"
