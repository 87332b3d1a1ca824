"""Headlines of rooms beside numbers that do not come from a bin."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from typer.testing import CliRunner

from raidlab import cli
from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks import (
    compression,
    first_day,
    fsync,
    iostat,
    knee,
    levels,
    neighbour,
    one_io,
    plan,
    qlc,
    rebuild,
    ssd_cache,
    tails,
    write_penalty,
)
from raidlab.notebooks.frame import Answer, Room, catalogue, loss, pages, run
from raidlab.notebooks.frame.figures import spanned
from raidlab.notebooks.frame.room import Value
from raidlab.notebooks.frame.seeds import of_five
from raidlab.scenarios.risk import assess
from raidlab.scenarios.risk.assess import Question
from tests.project.sources import ROOT


@pytest.mark.parametrize("filled", qlc.FILLED)
def test_the_cliff_of_qlc_is_where_the_cache_is_full(filled: int) -> None:
    numbers = qlc.answer({"filled": filled, "length": 5}, 1).numbers
    # Die pages of four planes at 250 us, eight dies; a quarter of 77.3 GB less what is there.
    rate = 8 * 4 * 16384 / 250e-6
    cache = min(16e9, (8 * 4 * 144 * 1024 * 16384 - filled * 1e9) / 4)
    assert numbers["cliff_s"] == pytest.approx(cache / rate, rel=0.01)


def test_the_wait_during_a_rebuild_is_the_mean_over_all_of_its_ios() -> None:
    values = {"level": "raid5", "share": 100, "load": 300}
    numbers = rebuild.answer(values, 1).numbers
    before, during, *_ = run(rebuild.scenario(values), 1).results[0]["periods"]
    expected = during["latency_us"]["mean"] / before["latency_us"]["mean"]
    assert numbers["factor"] == pytest.approx(expected)
    assert numbers["factor"] > 40


def test_a_rebuild_is_compared_with_a_disk_on_the_same_tracks() -> None:
    scenario = rebuild.scenario({"level": "raid5", "share": 100, "load": 100})
    (array,) = scenario["array"]
    alone = {
        "controller": scenario["controller"],
        "array": [{"level": "raid0", "drives": ["generic-15000rpm"], "used": array["used"]}],
        "workload": [{"rw": "read", "block_size": "1 MiB", "outstanding": 8}],
        "run": {"duration": "1 s"},
    }
    # 1,800 sectors in a revolution of 4 ms and 0.4 ms to the next track.
    assert run(alone, 1).rows[0].mb_per_s == pytest.approx(rebuild.DISK_MB_S, rel=0.01)
    assert rebuild.answer({"level": "raid5", "share": 100, "load": 100}, 1).numbers["rate"] < 209


def test_an_io_is_counted_when_it_begins() -> None:
    def io(issued_s: float, took_ms: float) -> dict[str, float]:
        return {"issued_ns": round(issued_s * 1e9), "latency_ns": round(took_ms * 1e6)}

    bins = rebuild.by_arrival([io(0.01, 5), io(0.02, 500), io(0.03, 7), io(0.52, 1)])
    assert bins == {0.05: (7000.0, 500_000.0), 0.55: (1000.0, 1000.0)}


@pytest.mark.parametrize("hot", ssd_cache.SIZES)
def test_an_ssd_cache_pays_when_half_of_its_lines_are_there(hot: int) -> None:
    numbers = ssd_cache.answer({"hot": hot, "share": 85}, 1).numbers
    # Lines of 64 KiB move at their third access: half of them after 2.67 accesses a line.
    minutes = 2.67 * hot * 1e9 / 65536 / (0.85 * numbers["first"]) / 60
    assert numbers["half_min"] == pytest.approx(minutes, rel=0.25)
    assert numbers["quarter_min"] < numbers["half_min"] < numbers["most_min"]


def sampled(room: Room, most: int = 4) -> list[dict[str, Value]]:
    """Some settings of a room's static grid, spread over all of it."""
    settings = list(room.settings())
    return settings[:: max(1, len(settings) // most)]


@pytest.mark.parametrize("values", sampled(catalogue.room("knee")), ids=str)
def test_the_knee_is_where_the_asymptotes_cross(values: dict[str, Value]) -> None:
    found = knee.answer(values, 1)
    mean = run(knee.scenario(values), 1).rows[0].latency_us.mean / 1e6
    if values["drive"] in ("five", "fivex"):
        # X <= N / R1 and X <= D / S cross at N* = R1 D / S, whatever the run's best point is.
        assert found.numbers["crossing"] == pytest.approx(mean * values["count"] / 0.005)
    assert f"N* = {knee.known_to(found.numbers['crossing'])}" in found.sentence
    # Little: what is outstanding is rate times latency.
    product = found.numbers["iops"] * found.numbers["mean_ms"] / 1e3
    assert product == pytest.approx(values["depth"], rel=0.03)


@pytest.mark.parametrize("shrink", compression.SHARES)
def test_the_dashed_line_is_what_the_drive_finds(shrink: int) -> None:
    c = shrink / 100
    numbers = compression.answer({"shrink": shrink, "load": "write"}, 1).numbers
    assert numbers["bytes_alone"] == pytest.approx(1 - 0.95 * c**3 * (3 - 2 * c), rel=1e-3)
    assert numbers["waf"] == pytest.approx(numbers["bytes_alone"], abs=0.01)
    # A good compressor's line, 1 - c, would be another one.
    assert shrink in (0, 90) or abs(numbers["bytes_alone"] - (1 - c)) > 0.07


@pytest.mark.parametrize(("spare", "left"), [("7%", 2.8), ("28%", 23), ("50%", 44)])
def test_spare_space_is_named_as_the_label_says_and_as_it_is_left(spare: str, left: float) -> None:
    usable = 8 * 123 * 128 * 4096
    assert 100 * (usable / first_day.CAPACITY[spare] - 1) == pytest.approx(left, rel=0.02)
    assert first_day.spare_words(spare).endswith(f"on the label, {left:g} % left")


@pytest.mark.parametrize("load", [10, 60, 80])
def test_tails_of_exponential_drives_lie_around_the_closed_form(load: int) -> None:
    values = {"load": load, "system": "fivex", "pieces": 1}
    means = [tails.answer(values, seed).numbers["mean"] for seed in range(1, 6)]
    assert min(means) < 5 / (1 - load / 100) * 1.02 and max(means) > 5 / (1 - load / 100) * 0.98
    found = of_five(catalogue.room("tails"), values, 1)
    assert " to " in found.boxes[0].value
    low, high = (each for each in found.pictures[0].figure.data if each.line.width == 0)
    assert high.fill == "tonexty" and low.y == high.y
    assert all(one <= other for one, other in zip(low.x, high.x, strict=True))


def test_a_span_of_seeds_has_two_digits_and_one_unit() -> None:
    assert spanned([11.14, 13.8], "ms") == "11 to 14 ms"
    assert spanned([980.0, 1240.0], "us") == "0.98 to 1.2 ms"
    assert spanned([0, 0], "") == "0"
    assert spanned([4, 12], "") == "4 to 12"
    assert spanned([1571.0, 1604.0], "IO/s") == "1,600 IO/s"


def test_the_margin_of_a_plan_is_that_of_the_published_table() -> None:
    page = (ROOT / "docs" / "evidence" / "validation.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| predicted |"))
    nine_of_ten = row.split("|")[5].strip()
    assert f"within {nine_of_ten} %" in catalogue.room("plan").about
    assert float(nine_of_ten) <= plan.MARGIN


def test_the_levels_keep_their_order_only_where_each_is_faster() -> None:
    for values in sampled(catalogue.room("levels"), 6):
        found = levels.answer(values, 1)
        lines = [trace for trace in found.pictures[0].figure.data if trace.name in
                 levels.LEVELS.values()]  # fmt: skip
        ordered = all(
            one > other
            for above, below in itertools.pairwise(lines)
            for one, other in zip(above.y, below.y, strict=True)
        )
        assert found.pictures[0].seen.startswith("The levels keep") == ordered


def test_the_share_of_transfer_is_a_number_of_its_own() -> None:
    found = one_io.answer({"system": "disk", "op": "randread", "number": 1}, 1)
    # Eight sectors of 1,525 on a track of 4 ms, of 5.06 ms.
    assert found.numbers["transfer"] == pytest.approx(8 / 1525 * 4 / 5.06, rel=0.1)
    assert found.boxes[2].value == "0.439 %"
    assert "transfer" in [trace.name for trace in found.pictures[1].figure.data]


@pytest.mark.parametrize("lesson", range(1, 7))
def test_a_lesson_uses_every_room_that_it_announces(lesson: int) -> None:
    text = (ROOT / "docs" / "course" / f"lesson-{lesson}.md").read_text()
    head, steps = text.split("## Aims")[0], text.split("## Steps")[1].split("## Theory")[0]
    for name in re.findall(r"`([a-z0-9-]+)`", head):
        assert f"`{name}`" in steps, name


@pytest.mark.parametrize("time", [0.1, 1.2, 1.5, 20])
def test_the_time_of_a_first_day_is_marked_where_its_writes_are(time: float) -> None:
    from raidlab.notebooks import first_day
    from raidlab.notebooks.frame import run

    values = catalogue.room("first-day").start | {"spare": "50%", "time": time}
    timeline = run(first_day.scenario(values), 1).rows[0].timeline
    capacity = first_day.CAPACITY["50%"]
    steps = [rate * first_day.STEP_S * first_day.UNIT / capacity for rate in timeline.iops]
    whole = int(time / first_day.STEP_S + 1e-9)
    by_hand = sum(steps[:whole])
    if whole < len(steps):
        by_hand += steps[whole] * (time / first_day.STEP_S - whole)
    drawn = first_day.story(timeline, 30_000, capacity, time)
    assert drawn.layout.shapes[0].x0 == pytest.approx(by_hand, rel=1e-6)
    low, high = (10**each for each in drawn.layout.xaxis.range)
    assert low <= by_hand <= high


def room_of(name: str, **changed: Value) -> Answer:
    """A setting of a room, named by what differs from its start."""
    room = catalogue.room(name)
    return room.answer(room.start | changed, 1)


@pytest.mark.parametrize(
    ("rate", "cache", "said", "until", "titles"),
    [
        (400, "lsi2208-1g-3.0", "never fills", "never", ("no cliff", "stays empty")),
        # 0.75 · 2³⁰ B / ((1,200 - 946) · 64 KiB) = 48.4 s, and the run has 30.
        (1200, "lsi2208-1g-3.0", "after 48.4 s", "not within 30 s", ("comes later", "that fills")),
        (1600, "lsi2208-512-3.0", "full after 9.3", "9.3", ("then a cliff", "that fills")),
    ],
)
def test_a_cache_that_fills_after_the_run_is_not_one_that_never_fills(
    rate: int, cache: str, said: str, until: str, titles: tuple[str, str]
) -> None:
    found = room_of("write-cache", rate=rate, cache=cache, length=5)
    assert said in found.sentence
    assert found.boxes[0].value.startswith(until)
    for picture, title in zip(found.pictures, titles, strict=True):
        assert title in picture.seen


@pytest.mark.parametrize("drive", [*fsync.DRIVES])
def test_the_titles_of_fsync_hold_on_every_drive(drive: str) -> None:
    numbers = {after: room_of("fsync", drive=drive, after=after).numbers for after in fsync.AFTER}
    found = room_of("fsync", drive=drive, after=1)
    rates = [float(str(numbers[after]["iops"])) for after in (1, 8, 64, 0)]
    falls = rates[0] < 0.98 * rates[-1] and rates == sorted(rates)
    assert found.pictures[0].seen.startswith("The fewer share an fsync") == falls
    write, both = (float(str(numbers[after]["p50_ms"])) for after in (0, 1))
    assert found.pictures[1].seen.startswith("The time is in the fsync") == (both > 2 * write)
    assert found.pictures[1].seen.startswith("An fsync adds no time") == (both < 1.02 * write)


@pytest.mark.parametrize("drive", [*fsync.DRIVES])
@pytest.mark.parametrize("after", fsync.AFTER)
def test_the_headline_of_fsync_promises_what_its_picture_shows(drive: str, after: int) -> None:
    found = room_of("fsync", drive=drive, after=after)
    (scene,) = found.scenes
    last = scene.steps[-1].text
    lost = fsync.RECORDS if not after and drive in fsync.VOLATILE else 0
    # A record counts once its fsync has returned, whatever the drive: none of 64 has after eight.
    acknowledged = 0 if after > fsync.RECORDS else fsync.RECORDS
    assert last.endswith(
        f"loses {lost} of {acknowledged} acknowledged records."
        if acknowledged
        else "loses no acknowledged record: there is none yet."
    )
    if not after:
        assert ("loses" in found.sentence) == bool(lost)
    assert ("fsyncs included" in found.boxes[2].text) == bool(after)
    # The box and the bar of a time have one unit.
    bars = dict(zip(found.pictures[1].figure.data[0].y, found.pictures[1].figure.data[0].text,
                    strict=True))  # fmt: skip
    assert found.boxes[1].value == bars[f"{fsync.NAMES[after]}, p50"]
    assert found.boxes[2].value == bars[f"{fsync.NAMES[after]}, max"]


@pytest.mark.parametrize("load", ["randwrite", "write"])
def test_the_dashed_line_begins_at_what_data_that_do_not_shrink_take(load: str) -> None:
    plain = room_of("compression", load=load, shrink=0).numbers["waf"]
    numbers = room_of("compression", load=load, shrink=50).numbers
    assert numbers["bytes_alone"] == pytest.approx(plain * (1 - 0.95 * 0.25))
    (exercise,) = catalogue.room("compression").exercises
    assert f"{plain:.3g} {'at random' if load == 'randwrite' else 'in sequence'}" in pages.joined(
        exercise.solution
    )


def test_aqu_sz_is_the_number_under_way_and_the_best_rate_is_one_figure() -> None:
    answer = iostat.answer({"depth": 64, "drive": "nvme", "access": "randread"}, 1)
    assert "aqu-sz 64, %util 100. That is this system's best rate here." in answer.sentence
    below = iostat.answer({"depth": 1, "drive": "nvme", "access": "randread"}, 1)
    assert below.pictures[0].seen == "At one outstanding I/O %util is 100, the rate 5 % of the best"


@pytest.mark.parametrize(
    ("rate", "expected"),
    # 6,000 I/Os of credit less the 16 under way, at 464 - 300, 1,200 - 300 and 320 - 300 a second.
    [(464, 5984 / 164), (1200, 5984 / 900), (320, None), (300, None), (250, None)],
)
def test_credit_is_spent_when_the_bucket_is_empty(rate: float, expected: float | None) -> None:
    found = neighbour.spent_s([rate] * 120, 16)
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=neighbour.STEP_S)


def test_the_latency_alone_is_in_the_picture_of_the_neighbour() -> None:
    answer = neighbour.answer({"cure": "none", "load": 16, "size": "64 KiB"}, 1)
    assert "alone 5.65 ms" in answer.sentence
    assert "5.65 ms" in neighbour.room().prediction.question
    axis = answer.pictures[0].figure.layout.yaxis
    assert 10 ** axis.range[0] < 5.65
    assert "logarithmic" in axis.title.text


@pytest.mark.parametrize(
    ("system", "drives"), [("five", "5 ms drives"), ("cached", "15,000 rpm disks")]
)
def test_the_write_in_time_is_on_the_chosen_system(system: str, drives: str) -> None:
    rows = write_penalty.alone("raid5", system, 1)
    scene = write_penalty.steps("raid5", system, rows)
    texts = {shape.text for shape in scene.shapes}
    assert drives in scene.drawn
    assert ("write-back cache" in texts) == (system == "cached")
    assert {"0", "rotation" if system == "cached" else "service"} <= texts
    assert all(shape.x + shape.width <= scene.width for shape in scene.shapes)
    # Both pictures have the same drives: data first, parity where the layout rotates it to.
    (read, *_) = (each for each in rows["no cache"]["commands"] if each["drive"])
    on = write_penalty.places("raid5", rows["no cache"])
    assert on["P"] == 7 - read["offset"] // 65536 % 8
    assert {f"drive {each}" for each in on.values()} <= texts


@pytest.mark.parametrize("values", sampled(catalogue.room("outlive"), 3), ids=str)
def test_the_command_of_a_rebuild_asks_what_its_room_asks(
    values: dict[str, Value], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[dict[str, object], Question]] = []

    def remember(tree: dict[str, object], scenario: object, question: Question, **_: object) -> Any:
        asked.append((tree, question))
        raise SpecError([Fault("", None, "enough is known")])

    monkeypatch.setattr(assess, "assess", remember)
    monkeypatch.setattr(loss, "assess", remember)
    room = catalogue.room("outlive")
    (tmp_path / "outlive.toml").write_text(pages.scenario_text(room, values))
    command = room.asks(values).split()
    assert command[:2] == ["raidlab", "risk"]
    at = command.index("outlive.toml")
    command[at] = str(tmp_path / command[at])
    CliRunner().invoke(cli.app, command[1:])
    with pytest.raises(SpecError):
        room.answer(values, 2)
    (tree, question), (own, wanted) = asked
    assert question == wanted
    assert tree["array"] == own["array"]
