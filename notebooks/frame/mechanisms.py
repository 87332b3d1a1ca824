"""The commands of single I/Os on one time axis: a moving picture that several rooms share."""

from __future__ import annotations

from collections.abc import Mapping

from raidlab.notebooks.frame.scenes import Scene, Shape, Step, label, path
from raidlab.scenarios.report.look import PARTS
from raidlab.scenarios.results.number_text import digits, part_name
from raidlab.scenarios.results.row import IoRow
from raidlab.scenarios.spec.run_result import Stage

_LEAST_WIDTH = 0.004
"""Of a bar's width, as a share of the longest time: what is shorter is not seen."""
_LEFT = 6.0
_LETTER = 10.5
"""Width of a letter of a name, on average, at most: on a phone, where they are larger."""


def bars_in_time(rows: Mapping[str, IoRow], seen: str, drawn: str) -> Scene:
    """The commands of single I/Os on one time axis, each growing while it lasts.

    Args:
        rows: A traced I/O by its name; each gets a band of lanes and a line where it is complete.
        seen: The picture's title.
        drawn: Its subtitle.
    """
    longest = max(io["latency_ns"] for io in rows.values()) / 1e6
    left, width = 150.0, 420.0
    shapes: list[Shape] = []
    times: dict[float, list[str]] = {0.0: ["The host sends the write."]}
    colors: dict[str, str] = {}
    y = 26.0
    for name, io in rows.items():
        shapes.append(label(_LEFT, y, name))
        places: dict[str, float] = {}
        for stage in io["stages"]:
            begin = (stage["begin_ns"] - io["issued_ns"]) / 1e6
            end = (stage["end_ns"] - io["issued_ns"]) / 1e6
            if end - begin < _LEAST_WIDTH * longest and stage["kind"] != "host":
                continue
            place = _place(stage)
            if place not in places:
                places[place] = y + 14 + 22 * len(places)
                shapes.append(label(left - 8, places[place] + 12, place, "end", "soft"))
            color = PARTS.get(stage["stage"], PARTS["service"])[0]
            colors[part_name(stage["stage"])] = color
            across = left + begin / longest * width
            length = max(2.0, (end - begin) / longest * width)
            shapes.append(
                Shape("rect", across, places[place], length, 16, color, begins=begin, grown=end)
            )
            said = f"{name}: {part_name(stage['stage'])} on {place} ends."
            if stage["critical"] and end - begin >= 0.05 * longest:
                times.setdefault(round(end, 3), []).append(said)
        y += 14 + 22 * max(1, len(places)) + 34
        done = io["latency_ns"] / 1e6
        line = left + done / longest * width
        shapes.append(
            Shape("path", points=[(line, y - 44 - 22 * len(places)), (line, y - 34)],
                  color="#009E73", begins=done)
        )  # fmt: skip
        shapes.append(
            Shape("text", min(line, left + width - 4), y - 20,
                  text=f"acknowledged, {digits(done)} ms",
                  anchor="end" if done > 0.5 * longest else "start", begins=done)
        )  # fmt: skip
        times.setdefault(round(done, 3), []).append(f"{name}: the write is acknowledged.")
    shapes += _time_axis(left, width, y, longest)
    named = _legend(y + 44, left + width, colors)
    shapes += named
    y = max(shape.y for shape in named) + 10
    steps = [Step(at, " ".join(dict.fromkeys(texts))) for at, texts in sorted(times.items())]
    # It opens at its end: whole for those who only look, or print it.
    return Scene(seen, drawn, 600, y, steps, shapes, at=len(steps) - 1)


def _time_axis(left: float, width: float, y: float, longest: float) -> list[Shape]:
    """A line from 0 to the longest time (ms), with its half."""
    ticks = {0.0: "0", 0.5: digits(longest / 2), 1.0: f"{digits(longest)} ms"}
    return [
        path((left, y), (left + width, y)),
        *(path((left + at * width, y), (left + at * width, y + 5)) for at in ticks),
        *(label(left + at * width, y + 20, text, "middle", "soft") for at, text in ticks.items()),
    ]


def _legend(y: float, right: float, colors: Mapping[str, str]) -> list[Shape]:
    """The name of each colour, side by side from the left, in as many lines as they need."""
    made: list[Shape] = []
    x = _LEFT
    for name, color in colors.items():
        long = 34 + _LETTER * len(name)
        if x + long > right:
            x, y = _LEFT, y + 20
        made += [Shape("rect", x, y - 11, 12, 12, color), label(x + 16, y, name, look="soft")]
        x += long
    return made


def _place(stage: Stage) -> str:
    """`array-0/five.3` as `drive 3`; other parts by their kind."""
    kind = str(stage["kind"])
    return f"drive {stage['component'].rpartition('.')[2]}" if kind == "drive" else kind
