"""Moving pictures: what traced I/Os do at the drives, computed by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab.notebooks import rebuild
from raidlab.notebooks.frame import catalogue, queueing
from raidlab.notebooks.frame.queues import Visit, elsewhere, visits
from raidlab.scenarios.results.row import IoRow

MS = 1_000_000


def io(*stages: tuple[str, float, float], drive: str = "array-0/five.2") -> IoRow:
    """An I/O of one command: stages by name, begin and end in ms."""
    made = [
        {"component": drive, "kind": "drive", "stage": name, "command": 1,
         "begin_ns": round(begin * MS), "end_ns": round(end * MS), "critical": True}
        for name, begin, end in stages
    ]  # fmt: skip
    return {"issued_ns": made[0]["begin_ns"], "latency_ns": 0, "stages": made}


def test_a_command_is_served_from_the_end_of_its_last_wait():
    waits = io(("queue", 0, 5), ("overhead", 5, 5.1), ("queue", 5.1, 9), ("seek", 9, 12))
    alone = io(("overhead", 20, 20.1), ("seek", 20.1, 23))
    assert visits([waits, alone]) == [Visit(1, "2", 0, 9, 12), Visit(2, "2", 20, 20, 23)]


def test_a_drive_at_which_commands_wait_and_none_is_served_works_for_someone_else():
    # The first is served from 2 to 4, the second waits from 1 to 9: from 1 to 2 and from 4 to 9
    # the drive works for others. Idle times, when nothing waits, are none of them.
    found = [Visit(1, "2", 1, 2, 4), Visit(2, "2", 1, 9, 10), Visit(3, "2", 20, 20, 22)]
    assert elsewhere(found) == [(1, 2), (4, 9)]
    assert elsewhere([]) == []


def test_the_rebuild_is_drawn_where_it_holds_a_drive():
    scene = queueing([io(("queue", 0, 30), ("seek", 30, 33))], other="the rebuild")
    (held,) = [shape for shape in scene.shapes if shape.begins is not None]
    assert held.begins == 0 and held.ends == pytest.approx(30, abs=0.01)
    assert "0 of 1 drives work for users, 1 for the rebuild" in scene.steps[0].text
    assert "the rebuild" not in queueing([io(("seek", 0, 3))]).drawn


def test_a_spare_has_a_lane_of_its_own_and_a_failed_drive_says_so():
    # The spare's number is 0, as that of the array's first drive: five.0 and spare.0 are two.
    ios = [io(("seek", 0, 3), drive="array-0/five.0"), io(("seek", 0, 3), drive="array-0/spare.0")]
    assert [each.drive for each in visits(ios)] == ["0", "spare"]
    scene = queueing(ios, notes={"3": "failed"})
    written = [shape.text for shape in scene.shapes if shape.text]
    assert written == ["drive 0", "drive 3", "spare", "failed"]
    # The failed drive is none that could be idle.
    assert "idle: 0 of 2" in scene.steps[0].text


def test_a_number_before_several_drives_is_explained():
    both = io(("seek", 0, 3))
    both["stages"] += io(("seek", 0, 4), drive="array-0/five.5")["stages"]
    assert "one I/O, a command at each" in queueing([both]).drawn
    assert "one I/O" not in queueing([io(("seek", 0, 3))]).drawn


@pytest.mark.parametrize(("load", "least", "most"), [(500, 16, 18), (100, 4, 9)])
def test_users_meet_the_slices_that_begin_while_they_wait(load, least, most):
    """300 MB are 17.9 slices of 16 MiB; one that begins beside no I/O gives way."""
    assert least <= catalogue.room("rebuild").at(load=load)["bursts"] <= most
    assert 17 < rebuild.SLICES < 18
