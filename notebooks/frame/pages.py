"""A room's page: the same body, style and script for notebooks and for pages without Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict

import jinja2

import raidlab
from raidlab.devices.printable import without_tags
from raidlab.devices.trees import Document
from raidlab.notebooks.course.listed import Listed
from raidlab.notebooks.frame.figures import figure
from raidlab.notebooks.frame.room import (
    SEED,
    Answer,
    Choice,
    Control,
    Curve,
    Number,
    Room,
    Values,
    scenario_toml,
)
from raidlab.notebooks.frame.said import Drawn, said
from raidlab.notebooks.frame.seeds import of_five
from raidlab.scenarios.results.number_text import joined

_DIGITS = 4
"""Of the numbers in pictures."""
_REPORT = "raidlab.scenarios.report"
_MENU = "\n@media (max-width: 699px) { main h1, main nav.kind { padding-right: 2.75rem; } }"
"""On a phone the menu of the notebook stands beside a room's first lines."""
_SCRIPTS = ("predict.js", "pictures.js", "scenes.js", "room.js")


@dataclass(frozen=True)
class Links:
    """Where a room's page leads: addresses, empty where there is nothing."""

    index: str
    before: tuple[str, str] = ("", "")
    """Address and question of the room before this one."""
    after: tuple[str, str] = ("", "")
    lessons: Sequence[tuple[str, str]] = ()
    """Address and title of each lesson that uses the room."""


def body(room: Room, *, live: bool, links: Links) -> str:
    """The room as HTML, without any answer.

    Args:
        room: The room.
        live: True if there is an engine to ask, so that a seed can be chosen.
        links: Where it leads.
    """
    controls = room.offered(live=live)
    return _render(
        "body.html.j2",
        room=room,
        controls=controls,
        opening=room.opening,
        goes={at: _places(controls, room, claim.at) for at, claim in enumerate(room.notice)},
        live=live,
        five=live or room.five,
        links=links,
        seed=SEED,
        version=raidlab.__version__,
        **_form(room),
    )


def _form(room: Room) -> Document:
    form = room.prediction.form
    return {
        "number": form if isinstance(form, Number) else None,
        "choice": form if isinstance(form, Choice) else None,
        "curve": form if isinstance(form, Curve) else None,
    }


def _places(controls: Sequence[Control], room: Room, changed: Values) -> str:
    """The index of each control's value at a setting, as JSON."""
    setting = room.start | dict(changed)
    return json.dumps([list(each.values).index(setting[each.name]) for each in controls])


def about(room: Room, *, live: bool) -> Document:
    """What the page's script knows of a room; nothing of what is to be predicted."""
    prediction, controls = room.prediction, room.offered(live=live)
    form: Document = {"kind": "number"}
    if isinstance(prediction.form, Choice):
        form = {"kind": "choice", "words": list(prediction.form.words)}
    elif isinstance(prediction.form, Curve):
        form = {"kind": "curve", **vars(prediction.form), "x": list(prediction.form.x)}
        form["ticks"] = prediction.form.ticks
    else:
        form |= {"least": prediction.form.least, "most": prediction.form.most}
    return {
        "name": room.name,
        "question": prediction.question,
        "controls": [
            {
                "name": control.name,
                "label": control.label,
                "values": [str(value) for value in control.values],
                "words": [control.word(value) for value in control.values],
            }
            for control in controls
        ],
        "seed": SEED,
        "unit": prediction.unit,
        "form": form,
        "at": json.loads(_places(controls, room, prediction.at)),
        "start": json.loads(_places(controls, room, {})),
    }


def outcome(room: Room) -> Document:
    """What was to be predicted, simulated."""
    found = room.prediction.outcome(room.at)
    form = room.prediction.form
    made: Document = {"why": room.prediction.why}
    if isinstance(form, Curve):
        return made | {"values": [float(f"{each:.4g}") for each in _sequence(found)], "text": ""}
    if isinstance(found, Sequence):
        raise TypeError(f"room {room.name}: its prediction is a number, its outcome a curve")
    if isinstance(form, Choice):
        return made | {"value": int(found), "text": form.words[int(found)]}
    return made | {"value": found, "text": figure(found, room.prediction.unit)}


def _sequence(found: float | Sequence[float]) -> Sequence[float]:
    return found if isinstance(found, Sequence) else [found]


class Answered(TypedDict):
    """The answer to a setting, as the script shows it."""

    result: str
    scenario: str
    command: str
    files: dict[str, str]
    scenes: list[Document]
    pictures: list[Document]


def answered(room: Room, values: Values, seed: int, *, five: bool = False) -> Answered:
    """The answer to a setting as the script shows it.

    Args:
        room: The room.
        values: The setting.
        seed: Of the simulation.
        five: True for the spread over five seeds, of which this is the first.

    Raises:
        SpecError: The setting cannot be simulated.
    """
    answer: Answer = of_five(room, values, seed) if five else room.answer(values, seed)
    return {
        "result": _render("result.html.j2", answer=answer),
        "scenario": scenario_text(room, values),
        "command": room.asks(values),
        "files": dict(room.files(values)),
        "scenes": [scene.plain() for scene in answer.scenes],
        "pictures": [
            {
                "seen": joined(picture.seen),
                "drawn": joined(picture.drawn),
                "wide": picture.wide,
                **_described(picture.figure.to_json()),
            }
            for picture in answer.pictures
            if picture.figure is not None
        ],
    }


def _described(text: str) -> Document:
    """A figure as the script draws it, and in words: of its own numbers, which are rounded once."""
    return {**_plain(text, _rounded), "said": said(_plain(text, float))}


def scenario_text(room: Room, values: Values) -> str:
    """The scenario behind a setting, as the file that `raidlab run` takes."""
    chosen = ", ".join(
        f"{each.label.lower()}: {each.word(values[each.name])}" for each in room.controls
    )
    return scenario_toml(room.scenario(values), [room.question, "", f"From the lab: {chosen}."])


def script() -> str:
    """Plotly's basic part, and what a room does."""
    return "\n".join([drawing(), *(_render(name) for name in _SCRIPTS)])


def drawing() -> str:
    """Plotly's basic part, and how pages draw with it."""
    library = files(_REPORT).joinpath("static", "plotly-basic.min.js").read_text("utf-8")
    return "\n".join([library, _render("draw.js.j2")])


def rendered(template: str, **values: Any) -> str:
    """A template of another package, by the rules of these: what is inserted is no markup."""
    return _templates().from_string(template).render(**values)


def style() -> str:
    """The style sheet of all pages, and what rooms add."""
    return _render("style.css.j2") + "\n" + _render("lab.css.j2")


def page(room: Room, answers: str, first: str, links: Links) -> str:
    """A page that needs no Python.

    Args:
        room: The room.
        answers: Those to all settings in their order, and the outcome: JSON, gzip, base64.
        first: The result of the setting at which it opens, for browsers without scripts.
        links: Where it leads.
    """
    return _render(
        "page.html.j2",
        room=room,
        body=body(room, live=False, links=links),
        first=first,
        style=style(),
        script=script(),
        about=json.dumps(about(room, live=False)).replace("</", "<\\/"),
        answers=answers,
    )


def index(
    rooms: Sequence[Room | Listed],
    links: Mapping[str, str],
    lessons: Sequence[tuple[str, str]] = (),
) -> str:
    """The list of rooms as a page.

    Args:
        rooms: In their order.
        links: Where each is, by its name.
        lessons: Address and title of each.
    """
    return _render(
        "index.html.j2",
        rooms=rooms,
        links=links,
        lessons=lessons,
        style=style(),
        script=_render("predict.js"),
        signs={room.name: sign(room.name) for room in rooms},
        version=raidlab.__version__,
    )


def sign(name: str) -> str:
    """The drawing that stands for a room in the list, as SVG; it shows no result. Empty without."""
    drawn = files("raidlab.notebooks.frame").joinpath("signs", f"{name}.svg")
    return drawn.read_text("utf-8") if drawn.is_file() else ""


def widget_script() -> str:
    """The room as a module for notebooks."""
    return script() + "\n" + _render("widget.js")


def widget_style() -> str:
    """The style sheet inside a notebook's cell: what pages say of the document holds for it."""
    return style().replace(":root", "main").replace("body {", "main {", 1) + _MENU


def _plain(text: str, number: Callable[[str], float]) -> Drawn:
    """A figure's data and layout."""
    tree = json.loads(text, parse_float=number)
    found: Drawn = without_tags(tree)
    return found


def _rounded(number: str) -> float:
    """As many digits as a picture shows; larger numbers are whole, as in its words."""
    value = float(number)
    return float(round(value)) if abs(value) >= 10**_DIGITS else float(f"{value:.{_DIGITS}g}")


def _render(name: str, **values: Any) -> str:
    return _templates().get_template(name).render(**values)


@cache
def _templates() -> jinja2.Environment:
    found = {
        each.name: each.read_text("utf-8")
        for package in (_REPORT, "raidlab.notebooks.frame")
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
