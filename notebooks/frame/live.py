"""A room as a widget: in marimo, in Jupyter, wherever anywidget works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

import anywidget
import traitlets

from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks.frame import catalogue, pages
from raidlab.notebooks.frame.ahead import AHEAD, Job, may_be_kept, neighbours
from raidlab.notebooks.frame.memory import Memory
from raidlab.notebooks.frame.room import FOLDER, Room, Value, Values
from raidlab.notebooks.frame.running import showing

MOST_SEED = 1_000_000
KEPT_ANSWERS: Final = 256
"""That a room remembers, pictures and all."""
_MOST_FAULTS = 5
"""That a message names."""
_MOST_LETTERS = 600
"""Of a message."""


class Live(anywidget.AnyWidget):
    """A room that asks the engine: each position of its controls is simulated when it is chosen."""

    _esm = pages.widget_script()
    _css = pages.widget_style()
    body = traitlets.Unicode().tag(sync=True)
    """The room's HTML."""
    about = traitlets.Dict().tag(sync=True)
    """What its script knows of it."""
    question = traitlets.Dict().tag(sync=True)
    """From the page: `asked` (the index of each control's value), `seed`, whether the spread over
    `five` seeds is wanted, and its own `number`. With `outcome` it asks for what was to be
    predicted instead.

    Where a room takes a folder also `folder`, as it was typed, and after an upload once `files`:
    the text of each by its path; `folder` is what the page calls them.
    """
    progress = traitlets.Dict().tag(sync=True)
    """To the page: `number`, and how many steps of how many are `done`, `of`."""
    answer = traitlets.Dict().tag(sync=True)
    """To the page: `number`, and what to show or what is `wrong`."""

    def __init__(self, room: Room) -> None:
        links = catalogue.links(room, "/", "/{}/")
        super().__init__(
            body=pages.body(room, live=True, links=links), about=pages.about(room, live=True)
        )
        self.room = room
        self._uploads: dict[str, TemporaryDirectory[str]] = {}
        self._answers: Memory[pages.Answered] = Memory(KEPT_ANSWERS)
        self._before: Values | None = None
        self.observe(self._reply, names=["question"])

    @property
    def values(self) -> dict[str, Value]:
        """The value of each control, by its name, as the page has it now."""
        asked = self.question.get("asked")
        if not asked:
            return self.room.opening
        chosen = zip(self.room.controls, asked, strict=True)
        values: dict[str, Value] = {control.name: control.values[int(at)] for control, at in chosen}
        if self.room.folder:
            named = str(self.question.get("folder", "")).strip()
            values[FOLDER] = self._uploads[named].name if named in self._uploads else named
        return values

    def _reply(self, change: Any) -> None:
        number = self.question.get("number")

        def show(done: int, of: int) -> None:
            self.progress = {"number": number, "done": done, "of": of}

        # The engine is there: a page that hears this waits longer for a slow answer.
        show(0, 0)
        AHEAD.stop()
        with showing(show):
            self.answer = {"number": number, **self._answered()}
        AHEAD.look(self._next(self.values))

    def _next(self, values: Values) -> list[Job]:
        """What may be asked for next, the likeliest first."""
        seed = self.question.get("seed")
        if not isinstance(seed, int) or not may_be_kept(values):
            return []
        room, settings = self.room, []
        five = self.question.get("five") is True
        if self.question.get("outcome"):
            # The page was opened, and the visitor predicts: it goes on at one of two settings.
            settings = [room.opening, room.start | dict(room.prediction.at)]
            settings += neighbours(room, room.opening, None)
        else:
            settings = list(neighbours(room, values, self._before))
            self._before = values
        return [partial(self._at, setting, seed, five) for setting in settings]

    def _answered(self) -> Mapping[str, object]:
        seed = self.question.get("seed")
        if self.question.get("outcome"):
            return self._tried(lambda: pages.outcome(self.room))
        if not isinstance(seed, int) or not 0 <= seed <= MOST_SEED:
            given = "" if seed is None else f" {seed}"
            return {"wrong": f"Seed{given}: a whole number from 0 to {MOST_SEED:,}."}
        return self._tried(lambda: self._simulated(seed))

    def _simulated(self, seed: int) -> pages.Answered:
        if files := self.question.get("files"):
            self._uploads[str(self.question.get("folder"))] = _stored(files)
        return self._at(self.values, seed, self.question.get("five") is True)

    def _at(self, values: Values, seed: int, five: bool) -> pages.Answered:  # noqa: FBT001
        answer = partial(pages.answered, self.room, values, seed, five=five)
        if not may_be_kept(values):
            return answer()
        return self._answers.of((tuple(values.items()), seed, five), answer)

    def _tried(self, answer: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
        try:
            return answer()
        except SpecError as error:
            return {"wrong": self._said([str(fault) for fault in error.faults])}
        except Exception as error:  # What fails for one setting may work for the next.
            return {"wrong": self._said([f"This setting could not be simulated: {error}"])}

    def _said(self, faults: Sequence[str]) -> str:
        """Faults as a visitor reads them: some of them, and uploads without the server's folder."""
        text = "; ".join(faults[:_MOST_FAULTS])
        for folder in self._uploads.values():
            text = text.replace(f"{folder.name}/", "")
        if len(text) > _MOST_LETTERS:
            text = f"{text[:_MOST_LETTERS]} ..."
        left = len(faults) - _MOST_FAULTS
        return f"{text}; and {left} more" if left > 0 else text


def _stored(files: Mapping[str, str]) -> TemporaryDirectory[str]:
    """A folder with uploaded files; it goes with the room.

    Raises:
        SpecError: A path leads out of the folder.
    """
    made = TemporaryDirectory(prefix="raidlab-lab-")
    for name, text in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise SpecError([Fault("folder", name, "files inside the folder that is uploaded")])
        place = Path(made.name, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return made
