# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 19: the write cache over time."""

import marimo

app = marimo.App(width="full", app_title="Room 19: the write cache over time")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Exercise,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        Series,
        dashed,
        digits,
        figure,
        lines,
        run,
    )

    RATES = (400, 1000, 1200, 1600, 2400)
    CACHES = {"lsi2208-512-3.0": "512 MiB", "lsi2208-1g-3.0": "1 GiB"}
    BYTES = {"lsi2208-512-3.0": 2**29, "lsi2208-1g-3.0": 2**30}
    LENGTHS = (5, 10, 30)
    UNIT = 65536
    STEP_S = 0.1
    RUN_S = 30
    DRAWN = (1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 20)


@app.function
def scenario(values):
    """Writes that come by the clock to a controller with a write-back cache."""
    return {
        "title": f"{values['rate']} writes of 64 KiB a second into {CACHES[values['cache']]}",
        "controller": {
            "model": values["cache"],
            "write": "always-write-back",
            "backup": "fbu",
            "disk_cache": False,
        },
        "array": [{"level": "raid10", "drives": [{"model": "generic-15000rpm", "count": 4}]}],
        "workload": [
            {
                "rw": "randwrite",
                "block_size": "64 KiB",
                "align": "64 KiB",
                "area": "32 GB",
                "rate": f"{values['rate']} IO/s",
            }
        ],
        "run": {"warm_up": "0 s", "duration": f"{RUN_S} s", "timeline_step": f"{STEP_S} s"},
    }


@app.function
def full_after(cache, rate, out):
    """Seconds until three quarters of a cache are full; None if it never is."""
    return 0.75 * BYTES[cache] / UNIT / (rate - out) if rate > 1.02 * out else None


@app.function
def story_of(cliff, fills):
    """What a run shows: a sentence, the time until the cliff, a picture's title.

    Args:
        cliff: Seconds until the latency of the run leaps; None if it does not.
        fills: Seconds until the cache is full by closed form; None if it never is.
    """
    if cliff:
        return (
            f"The cache is full after {figure(cliff, 's')}; from then on writes wait for the"
            " disks.",
            figure(cliff, "s"),
            "Quick, quick, then a cliff",
        )
    if fills:
        return (
            f"The cache does not fill within {RUN_S} s; by the formula it is full after"
            f" {figure(fills, 's')}.",
            f"not within {RUN_S} s",
            f"Quick for {RUN_S} s: the cliff comes later",
        )
    return (
        "The cache never fills: the disks take what comes.",
        "never",
        "Quick throughout: there is no cliff",
    )


@app.function
def answer(values, seed):
    """Latency over time, the level of the cache by closed form, and what a benchmark reports."""
    fast = run(scenario(values | {"rate": RATES[-1]}), seed).rows[0]
    row = run(scenario(values), seed).rows[0]
    times = list(row.timeline.t_s)
    latency = [each / 1e3 for each in row.timeline.latency_us]
    # What leaves the cache once it is full: the last ten seconds of the hardest load.
    steps = list(zip(fast.timeline.t_s, fast.timeline.iops, strict=True))
    last = [rate for at, rate in steps if at > 20]
    out = sum(last) / len(last)
    fills = full_after(values["cache"], values["rate"], out)
    cliff = next((at for at, each in zip(times, latency, strict=True) if each > 1), None)
    # A benchmark of this length: its mean is over I/Os, of which few come through once it is slow.
    made = scenario(values)
    made["run"]["duration"] = f"{values['length']} s"
    reported = run(made, seed).rows[0].latency_us.mean / 1e3
    story = lines([Series("mean", times, latency)], Axis("time, s"), Axis("latency, ms", log=True))
    dashed(story, values["length"], f"benchmark ends, {values['length']} s")
    room = 0.75 * BYTES[values["cache"]]
    level = [min(100.0, max(0.0, 100 * (values["rate"] - out) * UNIT * at / room)) for at in times]
    filling = lines(
        [
            Series("in - out", times, level, closed=True),
            Series("full", [times[0], times[-1]], [100, 100]),
        ],
        Axis("time, s"),
        Axis("of the cache's place for writes, %"),
    )
    filling.data[1].update(mode="lines", line_width=1)
    if cliff:
        dashed(filling, cliff, f"latency leaps, {digits(cliff)} s")
    said, until, title = story_of(cliff, fills)
    return Answer(
        f"{said} A benchmark of {values['length']} s reports a mean of {figure(reported, 'ms')}.",
        [
            Picture(title, "mean latency of each tenth of a second, logarithmic axis", story),
            Picture(
                "A bucket that fills: what comes less what the disks take"
                if fills
                else "A bucket that stays empty: the disks take all that comes",
                "level by closed form" + (", and when the latency of the run leaps" * bool(cliff)),
                filling,
            ),
        ],
        {
            "cliff_s": cliff,
            "closed_s": fills,
            "out": out,
            "reported_ms": reported,
            "first_ms": latency[0],
            "last_ms": latency[-1],
            "times": times,
            "latency": latency,
        },
        boxes=[
            Box(until, "until the cliff"),
            Box(figure(fills, "s") if fills else "never", "0.75 cache / (in - out)"),
            Box(figure(out, "IO/s"), "the disks take once the cache is full"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "At 1,600 writes a second the cliff comes when 0.75 of the memory holds what the disks"
            " could not take: closed form and run agree within 6 %.",
            lambda at: all(
                abs(at(rate=rate)["cliff_s"] / at(rate=rate)["closed_s"] - 1) < 0.06
                for rate in (1200, 1600, 2400)
            ),
            "When does the cache stop helping, and can it be computed?",
            {"rate": 1600},
        ),
        Claim(
            "Twice the memory: twice the time until the cliff, and the same rate after it. A cache"
            " hides peaks, it makes no disk faster.",
            lambda at: (
                1.7
                < at(rate=1600, cache="lsi2208-1g-3.0")["cliff_s"] / at(rate=1600)["cliff_s"]
                < 2.5
                and abs(at(cache="lsi2208-1g-3.0")["out"] / at()["out"] - 1) < 0.1
            ),
            "What does twice the cache buy?",
            {"rate": 1600, "cache": "lsi2208-1g-3.0"},
        ),
        Claim(
            "Below what the disks take there is no cliff: each write takes 0.07 ms.",
            lambda at: at(rate=400)["cliff_s"] is None and 0.065 < at(rate=400)["last_ms"] < 0.075,
            "Is there a load without a cliff?",
            {"rate": 400},
        ),
        Claim(
            "At 1,600 writes a second a benchmark of five seconds reports 0.07 ms; users wait for"
            " seconds later on.",
            lambda at: (
                0.065 < at(rate=1600, length=5)["reported_ms"] < 0.075
                and at(rate=1600)["last_ms"] > 1000
            ),
            "What does a short benchmark of this array say?",
            {"rate": 1600, "length": 5},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "1 GiB of cache, 200 MB/s in, 100 MB/s out: for how long does the cache hide the"
            " disks?",
            "0.75 × 2³⁰ B / 100 MB/s = 8.05 s.",
            lambda at: abs(0.75 * 2**30 / 100e6 - 8.05) < 0.01 and at(rate=400)["cliff_s"] is None,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="write-cache",
        number=19,
        question="How long does a write cache hide the disks?",
        about="Random writes of 64 KiB come by the clock to four disks in RAID 10, behind a"
        " controller whose memory takes writes. The memory is empty at first.",
        prediction=Prediction(
            "1,600 writes of 64 KiB a second come, the disks take 930, and 384 MiB of memory take"
            " writes. After how many seconds do writes begin to wait?",
            "s",
            lambda at: at(rate=1600)["cliff_s"],
            "384 MiB / (670 × 64 KiB a second) is 9.2 s.",
            Number(0.01, 10_000),
            {"rate": 1600},
        ),
        controls=[
            Control("rate", "Writes that come", RATES, 1000, "IO/s"),
            Control(
                "cache", "The controller's memory", tuple(CACHES), "lsi2208-512-3.0", words=CACHES
            ),
            Control("length", "The benchmark lasts", LENGTHS, 10, "s"),
        ],
        opens={"rate": 400},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=["docs/explanation/controller-cache.md of raidlab"],
        limits="Three quarters of the memory take writes; the level is drawn by closed form, the"
        " latency is simulated.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
