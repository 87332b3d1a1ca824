"""What a visitor may ask for next is simulated while they look, and given up when they wait."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab.notebooks.frame import Answer, Claim, Control, Number, Prediction, Room, catalogue
from raidlab.notebooks.frame.ahead import Ahead, may_be_kept, neighbours
from raidlab.notebooks.frame.live import Live
from raidlab.notebooks.frame.memory import Memory
from raidlab.notebooks.frame.running import GivenUpError, in_background, run

WAITS_S = 10.0
ONE = {
    "array": [{"drives": [{"model": "five"}]}],
    "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1}],
    "run": {"duration": "1 s"},
}


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAITS_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def counting(seen: list[tuple[object, object]]) -> Room:
    """A room that notes which settings were simulated."""

    def answer(values, seed):
        seen.append((values["depth"], values["drive"]))
        return Answer(f"{values['depth']} on {values['drive']}, seed {seed}", [], {"n": 1})

    return Room(
        name="counting",
        number=98,
        question="How many?",
        about="Nothing is simulated.",
        prediction=Prediction(
            "How many?", "I/Os", lambda at: at()["n"], "One.", Number(0, 9), {"depth": 8}
        ),
        controls=[
            Control("depth", "Depth", (1, 2, 4, 8), 1),
            Control("drive", "Drive", ("a", "b", "c"), "a"),
        ],
        scenario=lambda values: {"title": "none", "run": {"seed": 1}, "array": [{"n": 1}]},
        answer=answer,
        notice=[Claim("One is.", lambda at: True, "Is it?", {"depth": 8, "drive": "c"})],
        exercises=[],
        sources=["none"],
    )


def test_a_key_that_is_under_way_is_waited_for_and_a_fault_is_not_kept() -> None:
    memory: Memory[int] = Memory(2)
    begun, go_on, computed = threading.Event(), threading.Event(), []

    def slow() -> int:
        begun.set()
        go_on.wait(WAITS_S)
        computed.append(1)
        return 7

    first = threading.Thread(target=memory.of, args=("a", slow))
    first.start()
    begun.wait(WAITS_S)
    threading.Timer(0.05, go_on.set).start()
    assert memory.of("a", slow) == 7 and computed == [1]
    first.join()

    def fails() -> int:
        raise ValueError

    with pytest.raises(ValueError):
        memory.of("b", fails)
    assert "b" not in memory and memory.of("b", lambda: 2) == 2
    memory.of("c", lambda: 3)
    assert "a" not in memory and "b" in memory and "c" in memory


def test_the_control_that_was_moved_last_goes_on_as_it_went() -> None:
    values, before = {"depth": 4, "drive": "b"}, {"depth": 2, "drive": "b"}
    found = [(each["depth"], each["drive"]) for each in neighbours(counting([]), values, before)]
    assert found[:4] == [(8, "b"), (8, "b"), (2, "b"), (4, "c")]
    assert set(found) == {(1, "b"), (2, "b"), (8, "b"), (4, "a"), (4, "c"), (8, "c")}
    back = list(neighbours(counting([]), before, values))
    assert back[0] == {"depth": 1, "drive": "b"}


def test_a_visitor_who_looks_finds_the_next_answer_there() -> None:
    seen: list[tuple[object, object]] = []
    live = Live(counting(seen))
    live.question = {"asked": [0, 0], "seed": 1, "number": 1}
    assert until(lambda: (2, "a") in seen and (8, "c") in seen)
    times = seen.count((2, "a"))
    live.question = {"asked": [1, 0], "seed": 1, "number": 2}
    assert "2 on a, seed 1" in live.answer["result"] and seen.count((2, "a")) == times == 1
    live.question = {"asked": [1, 0], "seed": 2, "number": 3}
    assert "2 on a, seed 2" in live.answer["result"]


def test_while_a_visitor_predicts_the_first_answers_are_made() -> None:
    seen: list[tuple[object, object]] = []
    live = Live(counting(seen))
    live.question = {"asked": [3, 0], "seed": 1, "number": 1, "outcome": True}
    assert until(lambda: (1, "a") in seen and (8, "a") in seen)


def test_who_waits_comes_first() -> None:
    """The run under way ends; nothing after it begins, and it counts for who asks for it."""
    ahead, begun, done = Ahead(), threading.Event(), []

    def jobs() -> Iterator[Callable[[], object]]:
        def first() -> None:
            begun.set()
            assert until(lambda: ahead._round > 1)
            done.append("run under way")
            run(ONE, seed=9)
            done.append("the next run")

        yield first
        yield lambda: done.append("the next setting")

    ahead.look(jobs())
    begun.wait(WAITS_S)
    ahead.stop()
    ahead.look([lambda: done.append("the new list")])
    assert until(lambda: "the new list" in done)
    assert done == ["run under way", "the new list"]


def test_in_the_background_a_run_gives_the_same() -> None:
    with in_background(lambda: True):
        ahead = run(ONE, seed=11)
    alone = run(ONE | {"title": ""}, seed=11)
    assert ahead.rows[0].iops == alone.rows[0].iops
    with in_background(lambda: False), pytest.raises(GivenUpError):
        run(ONE, seed=12)


def test_a_drive_gives_its_blocks_in_any_order() -> None:
    catalogue.room("first-day")
    from raidlab.notebooks import first_day

    late = first_day.blocks("50%", "whole", 5, 0.8)
    early = first_day.blocks("50%", "whole", 5, 0.1)
    first_day.life.cache_clear()
    assert first_day.blocks("50%", "whole", 5, 0.1) == early
    assert first_day.blocks("50%", "whole", 5, 0.8) == late


def test_what_depends_on_files_is_read_again() -> None:
    assert may_be_kept({"depth": 1}) and may_be_kept({"folder": ""})
    assert not may_be_kept({"folder": "/results"})
    assert json.dumps(sorted(catalogue.room("own-disk").start)).count("folder") == 1
