"""What a picture of queues says at each step is what it shows there."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab.notebooks import knee, tails
from raidlab.notebooks.frame import Dot, Scene, queueing
from raidlab.notebooks.frame.queues import MOST_SHOWN, visits
from raidlab.notebooks.frame.running import traced
from tests.notebooks.test_mechanisms import io

GREY, BLUE = "#9AA3AD", "#0072B2"


def counted(text: str) -> tuple[int, int, int, int]:
    """Under way, waiting, idle drives and all drives, as a caption says."""
    found = re.search(r": (\d+) under way, (\d+) of them waits?; drives idle: (\d+) of (\d+)", text)
    assert found, text
    under_way, waiting, idle, every = map(int, found.groups())
    return under_way, waiting, idle, every


def seen(scene: Scene, at: float) -> dict[str, list[tuple[Dot, float]]]:
    """Dots that are drawn at a time, by colour, each with where it is."""
    found: dict[str, list[tuple[Dot, float]]] = {GREY: [], BLUE: []}
    for dot in scene.dots:
        last = max((key for key in dot.keys if key.t <= at), key=lambda key: key.t, default=None)
        if last is not None and not last.hollow:
            found[last.color].append((dot, last.x))
    return found


def drawn_as_said(scene: Scene) -> None:
    for step in scene.steps:
        under_way, waiting, idle, every = counted(step.text)
        shown = seen(scene, step.t)
        lanes = {dot.keys[0].y for dot, _ in shown[BLUE]}
        more = [
            int(shape.text[1:])
            for shape in scene.shapes
            if shape.text.startswith("+") and shape.begins <= step.t <= shape.ends
        ]
        assert len(shown[GREY]) + sum(more) == waiting, step.text
        assert len(lanes) == every - idle, step.text
        assert waiting + len(lanes) == under_way, step.text
        # A command waits only where its drive works, and no dot hides another.
        assert {dot.keys[0].y for dot, _ in shown[GREY]} <= lanes, step.text
        places = [(dot.keys[0].y, x) for each in shown.values() for dot, x in each]
        assert len({*places}) == len(places), step.text


@pytest.mark.parametrize(
    ("drive", "count", "depth"),
    [("five", 1, 1), ("fivex", 8, 8), ("generic-15000rpm", 8, 32), ("five", 1, 256)],
)
def test_a_closed_room_has_as_many_under_way_as_are_outstanding(
    drive: str, count: int, depth: int
) -> None:
    (scene,) = knee.queues({"drive": drive, "count": count, "depth": depth}, 1)
    drawn_as_said(scene)
    assert len(scene.steps) > 10
    assert {counted(step.text)[0] for step in scene.steps} == {depth}
    assert max(len(seen(scene, step.t)[GREY]) for step in scene.steps) <= count * MOST_SHOWN


@pytest.mark.parametrize("load", [20, 80])
def test_an_open_room_begins_with_what_is_under_way(load: int) -> None:
    ios = traced(tails.scenario({"system": "disks", "pieces": 1, "load": load}), 1, tails.COUNT)
    drawn_as_said(tails.waiting(ios))


def test_two_that_come_at_once_have_places_of_their_own() -> None:
    served = io(("seek", 0, 5))
    waits = [io(("queue", 1, end - 5), ("seek", end - 5, end)) for end in (10, 15)]
    scene = queueing([served, *waits])
    drawn_as_said(scene)
    assert counted(scene.steps[1].text) == (3, 2, 0, 1)


@pytest.mark.parametrize("load", [10, 20, 40, 60, 80])
def test_random_arrivals_find_a_drive_at_work_as_often_as_it_works(load: int) -> None:
    """Arrivals at random see time averages (PASTA, Wolff 1982)."""
    ios = traced(tails.scenario({"system": "disks", "pieces": 1, "load": load}), 1, tails.COUNT)
    found = visits(ios)
    busy = sum(each.ends - each.begins for each in found) / 8 / (found[-1].comes - found[0].comes)
    assert tails.found_at_work(ios) == pytest.approx(busy, rel=0.12)


def test_what_reads_find_at_60_percent_load_is_what_the_room_says() -> None:
    ios = traced(tails.scenario({"system": "disks", "pieces": 1, "load": 60}), 1, tails.COUNT)
    before: dict[str, list[float]] = {}
    met = []
    for each in visits(ios):
        ends = before.setdefault(each.drive, [])
        met.append(sum(end > each.comes for end in ends))
        ends.append(each.ends)
    assert sum(n > 0 for n in met) / len(met) == pytest.approx(0.6, abs=0.02)
    assert sum(n in (1, 2) for n in met) > 0.8 * sum(n > 0 for n in met)
    assert sum(n >= 4 for n in met) / len(met) == pytest.approx(0.03, abs=0.005)
