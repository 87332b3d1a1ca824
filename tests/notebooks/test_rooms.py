"""Each room keeps its word: claims, exercises and predictions hold in the simulation it shows."""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

import raidlab
from raidlab.notebooks.frame import Choice, Curve, catalogue, pages
from raidlab.notebooks.frame.live import Live
from raidlab.notebooks.frame.room import scenario_toml
from tests.project.sources import ROOT

ROOMS = catalogue.rooms()
CLAIMS = [(room, claim) for room in ROOMS for claim in room.notice]
EXERCISES = [(room, exercise) for room in ROOMS for exercise in room.exercises]
MOST_SETTINGS = 200
"""Answers that a static page holds."""


@pytest.mark.parametrize(("room", "claim"), CLAIMS, ids=lambda each: getattr(each, "name", ""))
def test_what_to_notice_is_there_to_be_noticed(room, claim):
    assert claim.holds(room.at), claim.text


@pytest.mark.parametrize(
    ("room", "exercise"), EXERCISES, ids=lambda each: getattr(each, "name", "")
)
def test_solutions_are_what_the_run_gives(room, exercise):
    assert exercise.holds(room.at), exercise.solution


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_is_complete(room):
    assert room.question.endswith("?")
    assert len(room.notice) >= 3 and room.exercises and room.sources
    assert {*room.opens} <= {*room.start}
    outcome = pages.outcome(room)
    form = room.prediction.form
    if isinstance(form, Choice):
        assert 0 <= outcome["value"] < len(form.words)
    elif isinstance(form, Curve):
        assert len(outcome["values"]) == len(form.x)
        assert all(form.least <= each <= form.most for each in outcome["values"])
        # The student draws on axes of the kind that the simulated curve has.
        drawn = pages.answered(room, room.start | dict(room.prediction.at), 1)["pictures"]
        layout = drawn[form.picture]["layout"]
        kinds = [layout[axis].get("type") == "log" for axis in ("xaxis", "yaxis")]
        assert kinds == [form.log, form.least > 0]
    else:
        assert form.least < outcome["value"] < form.most
    assert 1 < sum(1 for _ in room.settings()) <= MOST_SETTINGS


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_opens_where_the_prediction_is_not_answered(room):
    assert room.opening != room.start | dict(room.prediction.at)
    text = pages.outcome(room)["text"]
    shown = pages.answered(room, room.opening, 1)
    titles = [f"{each['seen']} {each['drawn']}" for each in shown["pictures"]]
    words = re.sub(r"<[^>]*>", " ", " ".join([shown["result"], *titles]))
    assert not text or text not in " ".join(words.split())
    assert all(claim.ask.endswith("?") or "?" in claim.ask for claim in room.notice)


class Covered(HTMLParser):
    """What a room's page shows before a prediction: all but what opens with the answer."""

    VOID = ("br", "input", "link", "meta", "progress")

    def __init__(self, body):
        super().__init__()
        self.open, self.hidden, self.words = [], 0, []
        self.feed(body)

    def handle_starttag(self, tag, attributes):
        if tag in self.VOID:
            return
        found = dict(attributes)
        covered = "open-only" in (found.get("class") or "") or "hidden" in found
        self.open.append((tag, covered))
        self.hidden += covered

    def handle_endtag(self, tag):
        while self.open and tag not in self.VOID:
            name, covered = self.open.pop()
            self.hidden -= covered
            if name == tag:
                return

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_no_answer_is_seen_before_the_prediction(room, live):
    links = catalogue.links(room, "/", "/{}/")
    said = " ".join(" ".join(Covered(pages.body(room, live=live, links=links)).words).split())
    assert "Predict first." in said and room.sources[0][:20] in said
    for each in (*room.notice, *room.exercises):
        for text in (each.text, each.ask) if hasattr(each, "ask") else (each.task, each.solution):
            assert pages.joined(text)[:60] not in said
    assert ".open-only { display: none; }" in pages.style()
    outcome = pages.outcome(room)
    if outcome["text"] and not isinstance(room.prediction.form, Choice):
        assert outcome["text"] not in said.replace(room.prediction.question, "")
    assert outcome["why"][:40] not in said


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_an_answer_at_both_ends_of_every_control(room):
    for values in (room.opening, room.start, *corners(room), *extremes(room)):
        shown = pages.answered(room, values, 1)
        assert 1 <= len(shown["pictures"]) <= 3
        for scene in shown["scenes"]:
            times = [step["t"] for step in scene["steps"]]
            assert times == sorted(times) and len(times) > 1
        titles = (f"{each['seen']} {each['drawn']}" for each in shown["pictures"])
        text = " ".join(re.sub(r"<[^>]*>", " ", " ".join([shown["result"], *titles])).split())
        assert not re.search(r"\b(nan|inf|None|infinity)\b|[{}]", text), (values, text)
        assert not re.search(r"(?<![\d.,])1 (commands|stripes|disks) ", text), (values, text)
        for picture in shown["pictures"]:
            drawn_well(picture["data"], picture["layout"])


def extremes(room):
    """All controls at their first values, then all at their last."""
    for end in (0, -1):
        yield room.start | {control.name: control.values[end] for control in room.controls}


def drawn_well(data, layout):
    """A basic plotly.js draws it, something is there to see, and nothing runs out of its axis."""
    assert {trace.get("type", "scatter") for trace in data} <= {"scatter", "bar"}
    assert any(trace["x"] for trace in data)
    for side in "xy":
        axis = layout[f"{side}axis"]
        assert axis.get("visible") is False or "title" in axis or axis.get("showgrid") is False
        if "range" not in axis:
            continue
        low, high = sorted(axis["range"])
        for trace in data:
            if trace.get("line", {}).get("dash"):
                continue  # a closed form may leave the picture
            for value in trace[side]:
                at = math.log10(value) if value and axis.get("type") == "log" else value
                assert value is None or low - 1e-9 <= at <= high + 1e-9, (side, value, axis)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_the_scenario_to_download_is_one(room, tmp_path):
    path = tmp_path / "room.toml"
    for values in (room.start, *corners(room)):
        path.write_text(scenario_toml(room.scenario(values), [room.question]))
        for name, text in room.files(values).items():
            (tmp_path / name).write_text(text)
        assert raidlab.load_scenario(path).points


def corners(room):
    """Every control at its two ends, alone."""
    for control in room.controls:
        for value in {control.values[0], control.values[-1]} - {control.start}:
            yield room.start | {control.name: value}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_the_notebook_shows_the_room(room):
    module = importlib.import_module(f"raidlab.notebooks.{room.name.replace('-', '_')}")
    outputs, _ = module.app.run()
    assert sum(isinstance(getattr(each, "widget", each), Live) for each in outputs) == 1


def test_a_notebook_runs_as_a_script():
    done = subprocess.run(
        [sys.executable, catalogue.notebook("qlc")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_no_notebook_has_a_name_that_marimo_makes_its_own():
    """A name with an underscore is a cell's own: functions of other cells do not find it."""
    for name in catalogue.names():
        tree = ast.parse(catalogue.notebook(name).read_text())
        named = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        named |= {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        assert not {each for each in named if re.match("_[a-z]", each)}, name


def test_rooms_have_numbers_of_their_own():
    assert len({room.number for room in ROOMS}) == len(ROOMS)
    assert [room.name for room in ROOMS] and {room.name for room in ROOMS} == {*catalogue.names()}


def test_every_room_is_in_the_gallery_and_in_a_lesson():
    course = ROOT / "docs" / "course"
    gallery = (course / "gallery.md").read_text()
    lessons = "".join(path.read_text() for path in course.glob("lesson-*.md"))
    for room in ROOMS:
        assert f"{room.number}. {room.question}" in gallery
        assert (ROOT / "docs" / "pictures" / "lab" / f"{room.name}.png").exists()
        assert f"`{room.name}`" in lessons


def test_the_60_lines_are_a_program_of_at_most_60_lines(capsys):
    module = importlib.import_module("raidlab.notebooks.simpy_60")
    text = module.program()
    assert len(text.splitlines()) <= 60
    exec(compile(text, "60 lines", "exec"), {})
    rate, mean = module.sixty_lines("raid5", 16, 1)
    assert capsys.readouterr().out == f"{rate:.0f} IO/s, {mean:.1f} ms\n"
    assert text.replace("&", "&amp;")[:40] in pages.body(
        catalogue.room("simpy-60"), live=False, links=pages.Links("")
    )


@pytest.mark.parametrize("depth", [1, 8])
def test_the_arm_takes_one_read_after_the_other_from_those_that_wait(depth):
    arm = importlib.import_module("raidlab.notebooks.arm")
    found = arm.served_in_order("generic-7200rpm", depth, 1)
    for before, read in itertools.pairwise(found[: arm.SHOWN + 1]):
        assert before["ends"] <= read["chosen"] <= read["there"] <= read["begins"] < read["ends"]
        assert len(arm.waiting(found[1:], read["chosen"])) >= max(1, depth - 1)
        # The arm ends over the sector: a point of the drawn way.
        _, *place = arm.way("generic-7200rpm", before, read)[-1]
        assert place == pytest.approx(arm.on_platter(*read["at"]), abs=0.5)
