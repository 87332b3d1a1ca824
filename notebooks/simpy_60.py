# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 12: a simulator in 60 lines."""

import marimo

app = marimo.App(width="full", app_title="Room 12: a simulator in 60 lines")

with app.setup:
    import random
    from functools import lru_cache
    from importlib.resources import files

    import simpy

    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Exercise,
        Listing,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        Series,
        digits,
        figure,
        lines,
        mark,
        run,
    )

    LEVELS = {"raid0": "RAID 0", "raid10": "RAID 10", "raid5": "RAID 5", "raid6": "RAID 6"}
    DEPTHS = (1, 4, 16, 64, 256)
    DRIVES, SERVICE_S = 8, 0.005


@app.function
def drives_of(level, stripe, rng):
    """Which drives a small write reads, then writes."""
    if level == "raid0":
        return [], [rng.randrange(DRIVES)]
    if level == "raid10":
        first = 2 * rng.randrange(DRIVES // 2)
        return [], [first, first + 1]
    parities = 1 if level == "raid5" else 2
    parity = [(stripe + k) % DRIVES for k in range(parities)]
    data = rng.choice([drive for drive in range(DRIVES) if drive not in parity])
    return [data, *parity], [data, *parity]


@app.function
def command(env, drive):
    """One command: wait for the drive, occupy it for 5 ms."""
    with drive.request() as mine:
        yield mine
        yield env.timeout(SERVICE_S)


@app.function
def writer(env, drives, level, rng, done):
    """One place of the queue: a small write after the other."""
    while True:
        began = env.now
        reads, writes = drives_of(level, rng.randrange(10**6), rng)
        for step in (reads, writes):
            yield env.all_of([env.process(command(env, drives[at])) for at in step])
        done.append((began, env.now))


@app.function
@lru_cache
def sixty_lines(level, depth, seed, duration=4.0, warm_up=2.0):
    """The whole simulator: IO/s and mean latency in ms."""
    env, rng, done = simpy.Environment(), random.Random(seed), []
    drives = [simpy.Resource(env) for _ in range(DRIVES)]
    for _ in range(depth):
        env.process(writer(env, drives, level, rng, done))
    env.run(until=warm_up + duration)
    counted = [(began, end) for began, end in done if end > warm_up]
    mean = sum(end - began for began, end in counted) / len(counted)
    return len(counted) / duration, 1e3 * mean


@app.function
def program():
    """The simulator of this notebook as a program of its own."""
    text = files("raidlab.notebooks").joinpath("simpy_60.py").read_text("utf-8")
    _, _, rest = text.partition("@app.function\n")
    functions, _, _ = rest.partition("@app.function\ndef program")
    head = [
        "import random",
        "",
        "import simpy",
        "",
        f"DRIVES, SERVICE_S = {DRIVES}, {SERVICE_S}",
    ]
    tail = 'print("{:.0f} IO/s, {:.1f} ms".format(*sixty_lines("raid5", 16, seed=1)))'
    skipped = ("@app.function", "@lru_cache")
    lines = [line for line in functions.rstrip().split("\n") if not line.startswith(skipped)]
    return "\n".join([*head, "", "", *lines, "", "", tail])


@app.function
def scenario(values):
    """The system of `program`, simulated by the engine."""
    return {
        "title": f"Small writes on {LEVELS[values['level']]}, eight drives of 5 ms",
        "array": [
            {
                "level": values["level"],
                "software_raid": "os",
                "drives": [{"model": "five", "count": DRIVES}],
            }
        ],
        "workload": [
            {
                "rw": "randwrite",
                "block_size": "4 KiB",
                "align": "4 KiB",
                "outstanding": list(DEPTHS),
            }
        ],
        "run": {"warm_up": "5 s", "duration": "30 s"},
    }


@app.function
def answer(values, seed):
    """Both simulators over depth."""
    rows = run(scenario(values), seed).rows
    small = [sixty_lines(values["level"], depth, seed) for depth in DEPTHS]
    at = DEPTHS.index(values["depth"])
    engine, mine = rows[at].iops, small[at][0]
    times = rows[at].latency_us.mean / 1e3
    depth = Axis("outstanding writes", depths=True)
    rates = lines(
        [
            Series("engine", DEPTHS, [row.iops for row in rows]),
            Series("60 lines", DEPTHS, [rate for rate, _ in small]),
        ],
        depth,
        Axis("IO/s"),
    )
    mark(rates, values["depth"], engine, "the engine")
    waits = lines(
        [
            Series("engine", DEPTHS, [row.latency_us.mean / 1e3 for row in rows]),
            Series("60 lines", DEPTHS, [mean for _, mean in small]),
        ],
        depth,
        Axis("mean latency, ms", log=True),
    )
    for drawn in (rates, waits):  # Both lines are the same to the eye: one shows through the other.
        drawn.update_traces(mode="markers", selector={"name": "60 lines"})
    gap = abs(mine / engine - 1)
    return Answer(
        f"At {values['depth']} outstanding 60 lines of SimPy say {figure(mine, 'IO/s')}, the engine"
        f" {figure(engine, 'IO/s')}: {100 * gap:.1f} % apart.",
        [
            Picture("Both agree on the rate", "small writes to eight drives of 5 ms", rates),
            Picture("And on the latency", "mean from issue to completion", waits),
        ],
        {"engine": engine, "small": mine, "gap": gap, "engine_ms": times, "small_ms": small[at][1]},
        boxes=[
            Box(figure(engine, "IO/s"), "engine"),
            Box(figure(mine, "IO/s"), "60 lines of SimPy"),
            Box(f"{digits(times)} ms", "mean latency on the engine"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Where only queues and service times count, both agree within 5 % on every level.",
            lambda at: all(
                at(level=level, depth=depth)["gap"] < 0.05 for level in LEVELS for depth in (1, 256)
            ),
            "Where do 60 lines and the engine agree?",
            {"depth": 256},
        ),
        Claim(
            "One RAID 5 write alone takes two drive times, not four: commands of a step go side by"
            " side.",
            lambda at: (
                abs(at(depth=1)["engine_ms"] / 10 - 1) < 0.02
                and abs(at(depth=1)["small_ms"] / 10 - 1) < 0.02
            ),
            "How long does one RAID 5 write alone take: two drive times or four?",
            {"depth": 1},
        ),
        Claim(
            "The rate at 256 is that of four commands a write all the same: 400 IO/s at most.",
            lambda at: 380 < at(depth=256)["engine"] < 400,
            "And what is the rate at 256 outstanding?",
            {"depth": 256},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "RAID 6, 256 outstanding: compute the bound, and read both simulators.",
            "8 × 200 / 6 = 267 IO/s; both stay 1 to 4 % below, as a drive is idle now and then.",
            lambda at: 0.95 < at(level="raid6", depth=256)["engine"] / 266.7 < 1.0,
        ),
        Exercise(
            "What do the 60 lines leave out? Name the lesson in which it would change the answer.",
            "Host and link times, arms and their order, caches, failures, partial stripes, flash:"
            " each of lessons 1 to 5 has one.",
            lambda at: at(depth=1)["gap"] < 0.01,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="simpy-60",
        number=12,
        question="How much of a storage simulator fits into 60 lines?",
        about="The functions of this notebook are a simulator of a disk array, in SimPy: drives are"
        " resources, a small write is two steps of commands. The engine simulates the same.",
        prediction=Prediction(
            "RAID 5 on eight drives of 5 ms, one write outstanding: what is its latency?",
            "ms",
            lambda at: at(depth=1)["engine_ms"],
            "Two reads side by side, then two writes side by side: two drive times.",
            Number(0.1, 10_000),
            {"depth": 1},
        ),
        controls=[
            Control("depth", "Outstanding writes", DEPTHS, 16),
            Control("level", "Level", tuple(LEVELS), "raid5", words=LEVELS),
        ],
        listing=Listing(
            "The 60 lines",
            "All of the simulator, to run with python and to change: pip install simpy.",
            program(),
        ),
        opens={"depth": 256, "level": "raid0"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "SimPy, discrete-event simulation for Python: its documentation",
            "R. Jain, The Art of Computer Systems Performance Analysis, 1991, chapters 24 and 25",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
