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

    import raidlab
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Dot,
        Exercise,
        Key,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        Scene,
        Series,
        Shape,
        Step,
        digits,
        figure,
        lines,
        mark,
        run,
        traced,
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
def served_in_order(disk, depth, seed):
    """Reads in the order of their service: when each came to the disk, and what the arm did.

    Each has `at` (its angle in revolutions and its radius, the outer edge is 1), `came`, `chosen`,
    `there` (the arm is on its track), `begins` (its sector comes by) and `ends`, in ms. The first
    ones, chosen while reads wait that were issued before the trace began, are left out.
    """
    made = scenario({"disk": disk})
    made["workload"][0]["outstanding"] = depth
    made["run"] = {"warm_up": "1 s", "duration": "10 s"}
    capacity = raidlab.LiveSystem(
        raidlab.Environment(), {"array": made["array"]}, seed=seed
    ).capacity()
    rev = 60e3 / RPM[disk]
    reads = []
    for io in traced(made, seed, 8 * depth + 3 * SHOWN):
        own = {stage["stage"]: stage for stage in io["stages"] if stage["kind"] == "drive"}
        chosen = next(own[name] for name in ("seek", "rotation", "transfer") if name in own)
        there = own.get("rotation", own["transfer"])
        begins = own["transfer"]["begin_ns"] / 1e6
        # Tracks have equal density: the share of the area outside is the share of the bytes.
        radius = math.sqrt(1 - io["offset"] / capacity * (1 - INNER**2))
        reads.append(
            {
                "at": ((begins / rev) % 1, radius),
                "came": own["overhead"]["end_ns"] / 1e6 if "overhead" in own else 0.0,
                "chosen": chosen["begin_ns"] / 1e6,
                "there": there["begin_ns"] / 1e6,
                "begins": begins,
                "ends": own["transfer"]["end_ns"] / 1e6,
            }
        )
    reads.sort(key=lambda read: read["chosen"])

    def whole(at):
        """True if the trace has every read that waits at this choice, and the one before it."""
        known = len(waiting(reads, reads[at]["chosen"])) >= max(1, depth - 1)
        return known and reads[at]["chosen"] - reads[at - 1]["ends"] < 0.5

    full = next(
        at
        for at in range(1, len(reads) - SHOWN)
        if all(whole(each) for each in range(at, at + SHOWN))
    )
    return reads[full - 1 :]


@app.function
def waiting(reads, now):
    """The reads that are at the disk at a time and not yet served, the chosen one among them."""
    return [read for read in reads if read["came"] <= now + 1e-6 and read["chosen"] >= now - 1e-6]


@app.function
def on_platter(turn, radius):
    """A place on the drawn platter."""
    angle = 2 * math.pi * turn
    return (210 + 190 * radius * math.cos(angle), 210 + 190 * radius * math.sin(angle))


@app.function
def way(disk, before, read):
    """The arm's places from the end of one read to the start of the next, in the platter's frame.

    The platter turns below the arm: seen from the platter the arm goes round it at a constant rate,
    and moves along the radius during the seek.
    """
    rev = 60e3 / RPM[disk]
    inner, outer = before["at"][1], read["at"][1]
    steps = max(2, round(32 * (read["begins"] - before["ends"]) / rev))
    places = []
    for step in range(steps + 1):
        t = before["ends"] + step / steps * (read["begins"] - before["ends"])
        seek = max(1e-6, read["there"] - read["chosen"])
        share = min(1.0, max(0.0, (t - read["chosen"]) / seek))
        places.append((t, *on_platter(t / rev, inner + share * (outer - inner))))
    return places


@app.function
def choices(disk, depth, seed):
    """The platter with the reads that wait at each choice, and the path of the arm."""
    found = served_in_order(disk, depth, seed)
    first, shown = found[0], found[1 : SHOWN + 1]
    zero = first["ends"]
    dots, shapes, steps, head = [], [], [], []
    for radius in (1, INNER):
        shapes.append(Shape("circle", 210, 210, 190 * radius))
    for at, read in enumerate(found[1:]):
        if read["came"] - zero > shown[-1]["ends"] - zero:
            continue
        x, y = on_platter(*read["at"])
        keys = [Key(max(0.0, read["came"] - zero), x, y, "#566370", True)]
        if at < len(shown):
            keys.append(Key(read["chosen"] - zero, x, y, "#0072B2"))
            keys.append(Key(read["ends"] - zero + 0.01, x, y, "#9AA3AD"))
        dots.append(Dot(f"read {at + 1}", keys, str(at + 1) if at < len(shown) else "", 10))
    before = first
    for at, read in enumerate(shown):
        places = way(disk, before, read)
        head += [Key(t - zero, x, y, "#D55E00") for t, x, y in places]
        begins = read["chosen"] - zero
        last = shown[min(at + 1, len(shown) - 1)]["ends"] - zero
        points = [(x, y) for _, x, y in places]
        shapes.append(
            Shape("path", points=points, color="#D55E00", begins=begins, ends=max(last, begins))
        )
        queue = waiting(found[1:], read["chosen"])
        nearest = min(queue, key=lambda each: abs(each["at"][1] - before["at"][1]))
        text = (
            f"Choice {at + 1}, {len(queue)} waiting: seek {digits(read['there'] - read['chosen'])}"
            f" ms, then {digits(read['begins'] - read['there'])} ms until the sector comes by."
        )
        if len(queue) > 1:
            same = nearest is read
            text += (
                " It is also the nearest track."
                if same
                else " Another read lies on a nearer track."
            )
        steps.append(Step(begins, text))
        before = read
    dots.append(Dot("the arm's head", head, "", 6))
    steps.append(Step(shown[-1]["ends"] - zero, f"{len(shown)} reads are served."))
    gap = (shown[-1]["ends"] - zero) / len(shown)
    return Scene(
        f"{len(shown)} choices of the disk, from a queue of {depth}",
        f"Seen from the platter. Hollow: waiting; filled: chosen; line: the arm's way. These"
        f" {len(shown)} reads take {digits(gap)} ms each; the rate is that of the whole run.",
        420, 420, steps, shapes, dots,
    )  # fmt: skip


@app.function
def answer(values, seed):
    """Rate over depth, and the order of service at the chosen one."""
    rows = run(scenario(values), seed).rows
    at = DEPTHS.index(values["depth"])
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
            "transfer_share": row.breakdown_us["transfer"] / row.latency_us.mean,
        },
        boxes=[
            Box(figure(seek, "ms"), "mean seek"),
            Box(figure(rotation, "ms"), "mean wait for the sector"),
            Box(figure(row.latency_us.mean / 1e3, "ms"), "mean latency, queue included"),
        ],
        scenes=[choices(values["disk"], values["depth"], seed)],
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
            "Does a deep queue make a single read faster?",
            {"depth": 32},
        ),
        Claim(
            "It gives the disk a choice: with 32 outstanding seek and rotation together are"
            " less than two thirds of what they are with one.",
            lambda at: (
                at(depth=32)["seek_ms"] + at(depth=32)["rotation_ms"]
                < 0.667 * (at(depth=1)["seek_ms"] + at(depth=1)["rotation_ms"])
            ),
            "What does the disk gain from a queue of 32?",
            {"depth": 32},
        ),
        Claim(
            "The order is neither first come, first served nor an elevator: the disk takes what"
            " it reaches first, and rotation counts as much as distance.",
            lambda at: at(depth=32)["rotation_ms"] < 0.75 * at(depth=1)["rotation_ms"],
            "Does the disk serve first come, first served, or like an elevator?",
            {"depth": 32},
        ),
        Claim(
            "From one to two outstanding next to nothing is gained. The disk chooses when a read"
            " ends, and the next one arrives only after that: with two outstanding one waits, and"
            " there is nothing to choose from.",
            lambda at: (
                abs(at(depth=2)["iops"] / at(depth=1)["iops"] - 1) < 0.02
                and at(depth=4)["iops"] > 1.1 * at(depth=2)["iops"]
            ),
            "What does the second outstanding read gain, and why?",
            {"depth": 2},
        ),
        Claim(
            "Transfer is less than 1 % of the time of one read alone.",
            lambda at: at(depth=1)["transfer_share"] < 0.01,
            "How much of the time of one read alone is transfer?",
            {"depth": 1},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "15,000 rpm, one outstanding: add 4.5 µs of host, 60 µs overhead, 2.7 ms mean seek,"
            " half of the spread of 0.6 ms (by which seeks of one distance differ), half a"
            " revolution and the transfer of 21 µs. IO/s?",
            "5.09 ms, 197 IO/s. The run gives 198: random sectors favour the outer tracks, so they"
            " lie closer together than random cylinders.",
            lambda at: abs(at(disk="generic-15000rpm", depth=1)["iops"] / 197.8 - 1) < 0.01,
        ),
        Exercise(
            "The same for 7,200 rpm: 8.0 ms mean seek, half of the spread of 1.6 ms, 4.17 ms half a"
            " revolution.",
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
        " picture has the reads that wait at each choice, and the path of the arm to the chosen"
        " one. Play it, then change the depth.",
        prediction=Prediction(
            "A 7,200 rpm disk does 78 random reads a second, one at a time. How many with 32"
            " outstanding?",
            "IO/s",
            lambda at: at(depth=32)["iops"],
            "Each read still needs the arm and the platter, but among 32 there is one nearby.",
            Number(1, 10_000),
            {"depth": 32},
        ),
        controls=[
            Control("depth", "Outstanding reads", DEPTHS, 8),
            Control("disk", "Disk", tuple(DISKS), "generic-7200rpm", words=DISKS),
        ],
        opens={"depth": 1, "disk": "generic-15000rpm"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, 1994",
            "M. Seltzer, P. Chen and J. Ousterhout, Disk scheduling revisited, 1990",
        ],
        limits="The radius follows from equal density on all tracks; during a seek the arm is drawn"
        " at constant speed. The angle is that under the arm when the sector comes by.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
