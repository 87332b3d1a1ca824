"""A room's page: the same body, style and script for notebooks and for pages without Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

import raidlab
from raidlab.devices.printable import without_tags
from raidlab.notebooks.frame.room import SEED, Answer, Room, Values, figure, scenario_toml
from raidlab.scenarios.results.look import joined

_DIGITS = 4
"""Of the numbers in pictures."""
_RESULTS = "raidlab.scenarios.results"


def body(room: Room, *, live: bool, index: str) -> str:
    """The room as HTML, without any answer.

    Args:
        room: The room.
        live: True if there is an engine to ask, so that a seed can be chosen.
        index: Address of the list of rooms.
    """
    return _render(
        "body.html.j2",
        room=room,
        controls=room.offered(live=live),
        live=live,
        index=index,
        seed=SEED,
        version=raidlab.__version__,
    )


def about(room: Room, *, live: bool) -> dict[str, Any]:
    """What the page's script knows of a room; simulates what is to be predicted."""
    outcome = room.prediction.outcome(room.at)
    return {
        "name": room.name,
        "controls": [
            [control.word(value) for value in control.values] for control in room.offered(live=live)
        ],
        "seed": SEED,
        "unit": room.prediction.unit,
        "outcome": outcome,
        "outcome_text": figure(outcome, room.prediction.unit),
        "why": room.prediction.why,
    }


def answered(room: Room, values: Values, seed: int) -> dict[str, Any]:
    """The answer to a setting as the script shows it.

    Raises:
        SpecError: The setting cannot be simulated.
    """
    answer: Answer = room.answer(values, seed)
    return {
        "result": _render("result.html.j2", answer=answer),
        "scenario": scenario_text(room, values),
        "files": dict(room.files(values)),
        "pictures": [
            {
                "seen": joined(picture.seen),
                "drawn": joined(picture.drawn),
                "wide": picture.wide,
                **_plain(picture.figure.to_json()),
            }
            for picture in answer.pictures
            if picture.figure is not None
        ],
    }


def scenario_text(room: Room, values: Values) -> str:
    """The scenario behind a setting, as the file that `raidlab run` takes."""
    chosen = ", ".join(
        f"{each.label.lower()}: {each.word(values[each.name])}" for each in room.controls
    )
    return scenario_toml(room.scenario(values), [room.question, "", f"From the lab: {chosen}."])


def script() -> str:
    """Plotly's basic part, and what a room does."""
    library = files(_RESULTS).joinpath("static", "plotly-basic.min.js").read_text("utf-8")
    return "\n".join([library, _render("draw.js.j2"), _render("room.js")])


def style() -> str:
    """The style sheet of all pages, and what rooms add."""
    return _render("style.css.j2") + "\n" + _render("lab.css.j2")


def page(room: Room, answers: str) -> str:
    """A page that needs no Python.

    Args:
        room: The room.
        answers: Those to all settings in their order: JSON, gzip, base64.
    """
    return _render(
        "page.html.j2",
        room=room,
        body=body(room, live=False, index="index.html"),
        style=style(),
        script=script(),
        about=json.dumps(about(room, live=False)).replace("</", "<\\/"),
        answers=answers,
    )


def index(rooms: Sequence[Room], links: Mapping[str, str]) -> str:
    """The list of rooms as a page.

    Args:
        rooms: In their order.
        links: Where each is, by its name.
    """
    return _render(
        "index.html.j2", rooms=rooms, links=links, style=style(), version=raidlab.__version__
    )


def widget_script() -> str:
    """The room as a module for notebooks."""
    return script() + "\n" + _render("widget.js")


def widget_style() -> str:
    """The style sheet inside a notebook's cell: what pages say of the document holds for it."""
    return style().replace(":root", "main").replace("body {", "main {", 1)


def _plain(text: str) -> dict[str, Any]:
    """A figure's data and layout, with as many digits as a picture shows."""
    tree = json.loads(text, parse_float=_rounded)
    found: dict[str, Any] = without_tags(tree)
    return found


def _rounded(number: str) -> float:
    return float(f"{float(number):.{_DIGITS}g}")


def _render(name: str, **values: Any) -> str:
    return _templates().get_template(name).render(**values)


@cache
def _templates() -> jinja2.Environment:
    found = {
        each.name: each.read_text("utf-8")
        for package in (_RESULTS, "raidlab.notebooks.frame")
        for each in files(package).joinpath("templates").iterdir()
        if each.name.endswith((".j2", ".js"))
    }
    made = jinja2.Environment(
        loader=jinja2.DictLoader(found),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["joined"] = joined
    return made
