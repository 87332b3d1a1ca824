# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 2: a disk's arm and its queue."""

import marimo

app = marimo.App(width="full", app_title="Room 2: the arm")

with app.setup:
    import itertools
    import math
    import random
    from functools import lru_cache

    import plotly.graph_objects as go

    import raidlab
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Exercise,
        Live,
        Picture,
        Prediction,
        Room,
        Series,
        digits,
        dress,
        figure,
        lines,
        mark,
        run,
    )

    DEPTHS = (1, 2, 4, 8, 16, 32)
    DISKS = {"generic-7200rpm": "7,200 rpm, 8 TB", "generic-15000rpm": "15,000 rpm, 300 GB"}
    RPM = {"generic-7200rpm": 7200, "generic-15000rpm": 15000}
    INNER = 0.45
    SHOWN = 12


@app.function
def scenario(values):
    """Random reads of 4 KiB on the whole of one disk, over depth."""
    return {
        "title": f"{DISKS[values['disk']]}: random reads over depth",
        "array": [{"drives": [{"model": values["disk"]}]}],
        "workload": [
            {
                "rw": "randread",
                "block_size": "4 KiB",
                "align": "4 KiB",
                "outstanding": list(DEPTHS),
            }
        ],
        "run": {"warm_up": "5 s", "duration": "60 s"},
    }


@app.function
@lru_cache
def order(disk, depth, seed):
    """Reads in the order in which the engine serves them: share of the disk, time in seconds.

    So many are outstanding; when one completes, the next is issued.
    """
    env = raidlab.Environment()
    live = raidlab.LiveSystem(env, {"array": [{"drives": [{"model": disk}]}]}, seed=seed)
    places = random.Random(seed)
    blocks = live.capacity() // 4096
    served = []

    def reader():
        while len(served) < SHOWN + depth:
            block = places.randrange(blocks)
            yield live.read(4096 * block, 4096)
            served.append((block / blocks, env.now))

    for _ in range(depth):
        env.process(reader())
    env.run()
    # The first ones are served while the queue is not yet full.
    return served[depth - 1 :][: SHOWN + 1]


@app.function
def outward(x, y):
    """Where a number stands beside its point: away from the centre, where no line goes."""
    row = "top" if y > 0.38 else "bottom" if y < -0.38 else "middle"
    column = "right" if x > 0.38 else "left" if x < -0.38 else "center"
    return f"{row} {column}" if (row, column) != ("middle", "center") else "top center"


@app.function
def numbers(points):
    """The number of each read on the way; where two lie side by side the later has both."""
    texts = [""]
    for number in range(1, len(points)):
        near = [
            earlier
            for earlier in range(1, number)
            if texts[earlier] and math.dist(points[earlier], points[number]) < 0.12
        ]
        texts.append(", ".join([*(texts[each] for each in near), str(number)]))
        for each in near:
            texts[each] = ""
    return texts


@app.function
def platter(disk, served, shown):
    """The path over the platter: radius by place on the disk, angle by the time of service."""
    rev = 60 / RPM[disk]
    at = []
    for share, now in served:
        # Tracks have equal density: the share of the area outside is the share of the bytes.
        radius = math.sqrt(1 - share * (1 - INNER**2))
        angle = 2 * math.pi * (now % rev) / rev
        at.append((radius * math.cos(angle), radius * math.sin(angle)))
    drawn = dress(go.Figure(), height=340)
    circle = [2 * math.pi * step / 90 for step in range(91)]
    for radius in (1, INNER):
        drawn.add_trace(
            go.Scatter(
                x=[radius * math.cos(each) for each in circle],
                y=[radius * math.sin(each) for each in circle],
                mode="lines",
                line={"color": "#9AA3AD", "width": 1.5},
                hoverinfo="skip",
            )
        )
    past, left = at[: shown + 1], at[shown + 1 :]
    texts = numbers(past)
    drawn.add_trace(
        go.Scatter(
            x=[x for x, _ in left],
            y=[y for _, y in left],
            mode="markers",
            marker={"size": 9, "symbol": "circle-open", "color": "#9AA3AD"},
            hovertemplate="served later<extra></extra>",
        )
    )
    drawn.add_trace(
        go.Scatter(
            x=[x for x, _ in past],
            y=[y for _, y in past],
            mode="lines+markers+text",
            text=[*texts[:-1], ""],  # the head has the last one
            textposition=[outward(x, y) for x, y in past],
            line={"color": "#0072B2", "width": 2},
            marker={"size": 9, "color": "#0072B2"},
            customdata=list(range(len(past))),
            hovertemplate="number %{customdata}<extra></extra>",
        )
    )
    drawn.add_trace(
        go.Scatter(
            x=[past[-1][0]],
            y=[past[-1][1]],
            mode="markers+text",
            text=[texts[-1]],
            textposition=outward(*past[-1]),
            marker={"size": 20, "symbol": "circle-open", "color": "#000000", "line": {"width": 3}},
            hovertemplate="the head<extra></extra>",
        )
    )
    drawn.update_layout(meta={"moves": True}, margin={"l": 8, "r": 8, "t": 8, "b": 8})
    # Where there is no room for a square, the axes shrink and keep their ranges.
    hidden = {"visible": False, "range": [-1.15, 1.15], "constrain": "domain"}
    drawn.update_xaxes(**hidden, scaleanchor="y")
    drawn.update_yaxes(**hidden)
    return drawn


@app.function
def answer(values, seed):
    """Rate over depth, and the order of service at the chosen one."""
    rows = run(scenario(values), seed).rows
    at = DEPTHS.index(values["depth"])
    served = order(values["disk"], values["depth"], seed)
    moves = [abs(b[0] - a[0]) for a, b in itertools.pairwise(served)]
    gap = 1e3 * (served[-1][1] - served[0][1]) / (len(served) - 1)
    row = rows[at]
    gain = row.iops / rows[0].iops
    seek = row.breakdown_us["seek"] / 1e3
    rotation = row.breakdown_us["rotation"] / 1e3
    rates = lines(
        [Series("IO/s", DEPTHS, [each.iops for each in rows])],
        Axis("outstanding I/Os", depths=True),
        Axis("IO/s"),
    )
    mark(rates, values["depth"], row.iops, f"{values['depth']} outstanding")
    return Answer(
        f"With {values['depth']} outstanding the disk serves {figure(row.iops, 'IO/s')},"
        f" {digits(gain)} times the rate of one at a time.",
        [
            Picture(
                f"{min(values['served'], SHOWN)} reads in the order of their service",
                f"seen on the platter; from one to the next {digits(gap)} ms on average",
                platter(values["disk"], served, values["served"]),
            ),
            Picture(
                f"{figure(row.iops, 'IO/s')} at {values['depth']} outstanding",
                "rate of random reads over depth",
                rates,
            ),
        ],
        {
            "iops": row.iops,
            "gain": gain,
            "mean_ms": row.latency_us.mean / 1e3,
            "seek_ms": seek,
            "rotation_ms": rotation,
            "move": sum(moves) / len(moves),
            "transfer_share": row.breakdown_us["transfer"] / row.latency_us.mean,
        },
        boxes=[
            Box(figure(seek, "ms"), "mean seek"),
            Box(figure(rotation, "ms"), "mean wait for the sector"),
            Box(figure(row.latency_us.mean / 1e3, "ms"), "mean latency, queue included"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "The queue makes no single read faster: latency grows with every step of depth.",
            lambda at: all(
                at(depth=less)["mean_ms"] < at(depth=more)["mean_ms"]
                for less, more in itertools.pairwise(DEPTHS)
            ),
        ),
        Claim(
            "It gives the disk a choice: with 32 outstanding seek and rotation together are"
            " less than two thirds of what they are with one.",
            lambda at: (
                at(depth=32)["seek_ms"] + at(depth=32)["rotation_ms"]
                < 0.667 * (at(depth=1)["seek_ms"] + at(depth=1)["rotation_ms"])
            ),
        ),
        Claim(
            "The order is neither first come, first served nor an elevator: the disk takes what"
            " it reaches first, and rotation counts as much as distance.",
            lambda at: at(depth=32)["rotation_ms"] < 0.75 * at(depth=1)["rotation_ms"],
        ),
        Claim(
            "Transfer is less than 1 % of the time of one read alone.",
            lambda at: at(depth=1)["transfer_share"] < 0.01,
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "15,000 rpm, one outstanding: add 4.5 us of host, 60 us overhead, 2.7 ms mean seek,"
            " 0.3 ms spread, half a revolution and the transfer of 21 us. IO/s?",
            "5.09 ms, 197 IO/s. The run gives 198: random sectors favour the outer tracks, so they"
            " lie closer together than random cylinders.",
            lambda at: abs(at(disk="generic-15000rpm", depth=1)["iops"] / 197.8 - 1) < 0.01,
        ),
        Exercise(
            "The same for 7,200 rpm: 8.8 ms seek with spread, 4.17 ms half a revolution.",
            "13.06 ms, 76.6 IO/s; the run gives about 1 % more, for the same reason.",
            lambda at: abs(at(depth=1)["iops"] / 77.6 - 1) < 0.02,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="arm",
        number=2,
        question="In which order does a disk serve its queue?",
        about="One hard disk, random reads of 4 KiB over all of it. The engine serves them; the"
        " picture draws where each lies and moves the head. Play it, then change the depth.",
        prediction=Prediction(
            "A 7,200 rpm disk does 78 random reads a second, one at a time. How many with 32"
            " outstanding?",
            "IO/s",
            lambda at: at(depth=32)["iops"],
            "Each read still needs the arm and the platter, but among 32 there is one nearby.",
        ),
        controls=[
            Control("depth", "Outstanding reads", DEPTHS, 8),
            Control("served", "Served so far", tuple(range(SHOWN + 1)), SHOWN, plays=True),
            Control("disk", "Disk", tuple(DISKS), "generic-7200rpm", words=DISKS),
        ],
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, 1994",
            "M. Seltzer, P. Chen and J. Ousterhout, Disk scheduling revisited, 1990",
        ],
        limits="The angle is the platter's at the end of each read; the radius follows from equal"
        " density on all tracks. Reads that the disk has not yet served are drawn where it will"
        " find them.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
