"""A room of the lab as data: what it asks, what can be varied, what it answers and claims."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol

from raidlab.devices.spec_writer import toml_value
from raidlab.notebooks.frame.scenes import Scene
from raidlab.scenarios.report.page import Box as PageBox
from raidlab.scenarios.report.page import Picture as Picture

Value = int | float | str
LETTERS_OF_HALF_A_ROW: Final = 14
"""Letters beyond which a choice gets a row of its own on a phone."""
Values = Mapping[str, Value]
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
    def is_long(self) -> bool:
        """True for a choice whose words need a phone's whole width."""
        return (
            not self.is_number
            and max(len(self.word(each)) for each in self.values) > LETTERS_OF_HALF_A_ROW
        )

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
    numbers: Mapping[str, object]
    """By name: what claims, exercises and predictions are checked against."""
    boxes: Sequence[PageBox] = ()
    warnings: Sequence[str] = ()
    scenes: Sequence[Scene] = ()
    """The mechanism, moving; above the pictures."""


class Ask(Protocol):
    """The numbers of the room where the controls named differ from their start."""

    def __call__(self, **changed: Value) -> Mapping[str, object]:
        """The numbers of one answer."""
        ...


@dataclass(frozen=True)
class Number:
    """A prediction that is a number: anything outside these bounds is a slip of the keyboard."""

    least: float
    most: float


@dataclass(frozen=True)
class Choice:
    """A prediction that is one of some sentences; the outcome is the index of the right one."""

    words: Sequence[str]


@dataclass(frozen=True)
class Curve:
    """A prediction that is drawn: one value at each x, the outcome too.

    It stays in the picture `picture` of each answer, beside the simulated curve.
    """

    x: Sequence[float]
    across: str
    """Title of the x axis, with its unit."""
    up: str
    """Title of the y axis, with its unit."""
    most: float
    """Upper end of the y axis."""
    log: bool = False
    """True for a logarithmic x axis."""
    picture: int = 0
    least: float = 0.0
    """Lower end of the y axis, which is logarithmic where this is above 0."""

    @property
    def ticks(self) -> list[float]:
        """Numbers of the y axis: quarters of it, or 1, 2 and 5 of each power of ten."""
        if not self.least:
            return [quarters / 4 * self.most for quarters in range(5)]
        powers = range(math.floor(math.log10(self.least)), math.ceil(math.log10(self.most)) + 1)
        round_ones = (digit * 10.0**power for power in powers for digit in (1, 2, 5))
        return [each for each in round_ones if self.least <= each <= self.most]


@dataclass(frozen=True)
class Prediction:
    """What to write down before looking, and what comes out."""

    question: str
    unit: str
    outcome: Callable[[Ask], float | Sequence[float]]
    """A number, the index of a choice, or the values of a curve at its x."""
    why: str
    """What explains the outcome."""
    form: Number | Choice | Curve
    at: Mapping[str, Value] = field(default_factory=dict)
    """The setting that it is about, where that differs from the room's start: the page goes there
    once the prediction is kept."""


@dataclass(frozen=True)
class Claim:
    """A sentence of "what to notice", the question it answers, and whether the simulation agrees.

    A page asks the question; the sentence stays folded until the visitor has tried `at`.
    """

    text: str
    holds: Callable[[Ask], bool]
    ask: str
    at: Mapping[str, Value] = field(default_factory=dict)
    """A setting that shows it, where that differs from the room's start."""


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
    scenario: Callable[[Values], Mapping[str, object]]
    """What `raidlab run` takes, for a setting of the controls."""
    answer: Callable[[Values, int], Answer]
    """Simulates a setting with a seed."""
    notice: Sequence[Claim]
    exercises: Sequence[Exercise]
    sources: Sequence[str]
    limits: str = ""
    """What the model leaves out, where that matters to the question."""
    listing: Listing | None = None
    opens: Mapping[str, Value] = field(default_factory=dict)
    """Where the page opens, as far as that differs from the start of its controls: a setting that
    does not show what is to be predicted."""
    five: bool = False
    """True if pages without an engine, too, show the spread over five seeds."""
    folder: str = ""
    """Label of a folder that a visitor names or uploads, where there is an engine to ask. The
    setting then has its path under `folder`, or nothing."""
    files: Callable[[Values], Mapping[str, str]] = lambda values: {}
    """Further files that the scenario of a setting needs beside it: name and text."""
    command: Callable[[Values], str] | None = None
    """What answers a setting's question from its file, where that is not `raidlab run`."""

    def asks(self, values: Values) -> str:
        """The command that answers a setting from its downloaded file."""
        return self.command(values) if self.command else f"raidlab run {self.name}.toml"

    @property
    def start(self) -> dict[str, Value]:
        """The setting from which claims and predictions name what differs."""
        folder: dict[str, Value] = {FOLDER: ""} if self.folder else {}
        return folder | {control.name: control.start for control in self.controls}

    @property
    def opening(self) -> dict[str, Value]:
        """The setting of a page that was just opened."""
        return self.start | dict(self.opens)

    def named(self, changed: Values) -> str:
        """A setting in words: `outstanding I/Os: 8, drives: 5 ms, fixed`.

        Args:
            changed: What differs from the start of the controls.
        """
        values = self.start | dict(changed)
        return ", ".join(f"{each.label}: {each.word(values[each.name])}" for each in self.controls)

    def offered(self, *, live: bool) -> list[Control]:
        """The controls of a page with an engine to ask, or of one without."""
        return [control for control in self.controls if live or not control.live]

    def settings(self) -> Iterator[dict[str, Value]]:
        """Every setting, the last control varying fastest: the grid of a static page."""
        controls = self.offered(live=False)
        names = [control.name for control in controls]
        for values in itertools.product(*(control.values for control in controls)):
            yield self.start | dict(zip(names, values, strict=True))

    def at(self, **changed: Value) -> Mapping[str, object]:
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
) -> Mapping[str, object]:
    return answer(dict(setting), SEED).numbers


def scenario_toml(scenario: Mapping[str, object], head: Sequence[str]) -> str:
    """A scenario as the text of a file, opened by comments.

    Args:
        scenario: Plain data; tables and lists of tables get sections of their own.
        head: Lines of the comment.
    """
    lines = [f"# {line}".rstrip() for line in head]
    sections: list[tuple[str, Mapping[str, object]]] = []
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
