"""A room as a widget: in marimo, in Jupyter, wherever anywidget works."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from raidlab.devices.faults import SpecError
from raidlab.notebooks.frame import pages
from raidlab.notebooks.frame.room import Room


class Live(anywidget.AnyWidget):
    """A room that asks the engine: each position of its controls is simulated when it is chosen."""

    _esm = pages.widget_script()
    _css = pages.widget_style()
    body = traitlets.Unicode().tag(sync=True)
    """The room's HTML."""
    about = traitlets.Dict().tag(sync=True)
    """What its script knows of it."""
    question = traitlets.Dict().tag(sync=True)
    """From the page: `asked` (the index of each control's value), `seed` and its own `number`."""
    answer = traitlets.Dict().tag(sync=True)
    """To the page: `number`, and what to show or what is `wrong`."""

    def __init__(self, room: Room) -> None:
        super().__init__(body=pages.body(room, live=True, index="/"), about=pages.about(room))
        self.room = room
        self.observe(self._reply, names=["question"])

    @property
    def values(self) -> dict[str, Any]:
        """The value of each control, by its name, as the page has it now."""
        asked = self.question.get("asked")
        if not asked:
            return self.room.start
        chosen = zip(self.room.controls, asked, strict=True)
        return {control.name: control.values[int(at)] for control, at in chosen}

    def _reply(self, change: Any) -> None:
        self.answer = {"number": self.question.get("number"), **self._answered()}

    def _answered(self) -> dict[str, Any]:
        seed = self.question.get("seed")
        if not isinstance(seed, int) or seed < 0:
            return {"wrong": f"Seed {seed}: a whole number from 0 to 1,000,000."}
        try:
            return pages.answered(self.room, self.values, seed)
        except SpecError as error:
            return {"wrong": "; ".join(str(fault) for fault in error.faults)}
        except Exception as error:  # What fails for one setting may work for the next.
            return {"wrong": f"This setting could not be simulated: {error}"}
