# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 15: QLC, pSLC and the first minute."""

import marimo

app = marimo.App(width="full", app_title="Room 15: QLC, pSLC and the first minute")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Curve,
        Exercise,
        Live,
        Picture,
        Prediction,
        Room,
        Series,
        along,
        bars,
        dashed,
        digits,
        figure,
        lines,
        run,
    )

    FILLED = (0, 16, 32, 48, 60)
    LENGTHS = (2, 5, 10, 20, 40)
    DRAWN = (1, 2, 4, 5, 6, 7, 8.5, 9, 10, 12, 15, 20)
    SLC = 8 * 4 * 16384 / 250e-6 / 1e6
    QLC = 8 * 4 * 16384 / 2e-3 / 1e6
    MOST_GB = 16.0
    NAND_GB = 8 * 4 * 144 * 1024 * 16384 / 1e9


@app.function
def scenario(values):
    """A long sequential write to a drive that holds this much already."""
    filled = values["filled"]
    return {
        "title": f"Sequential writes to a QLC drive that holds {filled} GB of 64",
        "array": [{"drives": [{"model": "teaching-qlc"}]}],
        "workload": [{"rw": "write", "block_size": "1 MiB", "outstanding": 4}],
        "run": {"warm_up": "0 s", "duration": "40 s", "timeline_step": "500 ms"}
        | ({"precondition": "filled", "filled": f"{filled} GB"} if filled else {}),
    }


@app.function
def answer(values, seed):
    """The rate over time, and what benchmarks of different lengths report."""
    row = run(scenario(values), seed).rows[0]
    times = list(row.timeline.t_s)
    rates = [rate * 1.048576 for rate in row.timeline.iops]
    # Two rates: what exceeds the lasting one was written into the cache.
    above = sum(rate - rates[-1] for rate in rates) * times[-1] / len(rates)
    cliff = above / (rates[1] - rates[-1])
    reported = {}
    for length in LENGTHS:
        inside = [rate for at, rate in zip(times, rates, strict=True) if at <= length + 0.01]
        reported[length] = sum(inside) / len(inside)
    cache = min(MOST_GB, (NAND_GB - values["filled"]) / 4)
    empty = NAND_GB - values["filled"]
    why = (
        "the most it takes" if cache == MOST_GB else f"a quarter of {digits(empty)} GB empty flash"
    )
    story = lines(
        [
            Series("pSLC", [0, times[-1]], [SLC] * 2, closed=True),
            Series("MB/s", times, rates),
        ],
        Axis("time, s"),
        Axis("MB/s"),
    )
    dashed(story, values["length"], f"benchmark ends, {values['length']} s")
    own = reported[values["length"]]
    return Answer(
        f"A benchmark of {values['length']} s reports {figure(own, 'MB/s')}; from {digits(cliff)} s"
        f" on the drive writes {figure(rates[-1], 'MB/s')}.",
        [
            Picture("One bit a cell first, four bits later", "rate of a sequential write", story),
            Picture(
                f"{digits(own / rates[-1])} times what lasts",
                "what a benchmark of each length reports",
                bars(
                    {f"{length} s": rate for length, rate in reported.items()},
                    Axis("MB/s"),
                    marked=f"{values['length']} s",
                ),
            ),
        ],
        {
            "reported": own,
            "lasting": rates[-1],
            "times": times,
            "rates": rates,
            "first": rates[0],
            "cliff_s": cliff,
            "cache_gb": cache,
        },
        boxes=[
            Box(figure(cache, "GB"), f"pSLC cache: {why}"),
            Box(f"{digits(cliff)} s", "until the cliff"),
            Box(figure(rates[-1], "MB/s"), "after it"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "The first seconds run at the rate of one bit a cell, eight times what lasts.",
            lambda at: abs(at()["first"] / at()["lasting"] / 8 - 1) < 0.05,
            "How many times as fast as what lasts are the first seconds?",
        ),
        Claim(
            "The cache is a quarter of the flash that is empty, as four bits become one, and at"
            " most 16 GB. The flash has 77.3 GB for the 64 that are offered. A fuller drive reaches"
            " the cliff sooner.",
            lambda at: all(
                abs(at(filled=each)["cliff_s"] - 1e3 * at(filled=each)["cache_gb"] / SLC) < 0.03
                for each in FILLED
            ),
            "How large is the cache on a drive that holds 48 GB?",
            {"filled": 48},
        ),
        Claim(
            "A benchmark of five seconds reports the cache, whatever the drive can sustain; one of"
            " 40 s still reports more than twice what lasts.",
            lambda at: (
                at(length=5)["reported"] > 7 * at()["lasting"]
                and at(length=40)["reported"] > 2 * at()["lasting"]
            ),
            "Which benchmark reports what the drive can sustain?",
            {"length": 40},
        ),
        Claim(
            "On a drive that is nearly full even five seconds show less than half.",
            lambda at: (
                at(filled=60, length=5)["reported"] < 0.5 * at(filled=0, length=5)["reported"]
            ),
            "Does a benchmark of five seconds always report the cache?",
            {"filled": 60, "length": 5},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "8 dies, 4 planes, 16 KiB; 250 us a program with one bit, 2 ms with four: both rates?",
            "8 × 64 KiB / 250 us = 2,097 MB/s and 8 × 64 KiB / 2 ms = 262 MB/s.",
            lambda at: (
                abs(at()["first"] / 2097 - 1) < 0.03 and abs(at()["lasting"] / 262 - 1) < 0.01
            ),
        ),
        Exercise(
            "The drive holds 60 GB of its 64, on 77.3 GB of flash. How large is the cache, and"
            " when is"
            " it full?",
            "(77.3 - 60) / 4 = 4.33 GB; 4.33 GB / 2.1 GB/s = 2.06 s.",
            lambda at: abs(at(filled=60)["cliff_s"] - 2.06) < 0.03,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="qlc",
        number=15,
        question="Why does the benchmark of minute one lie?",
        about="A client SSD with four bits a cell. It programs new data with one bit a cell first"
        " (pSLC), in what is empty. A sequential write of 1 MiB blocks never stops.",
        prediction=Prediction(
            "An empty drive with 16 GB of pSLC takes 2.1 GB/s at first. Draw its rate over the"
            " first 20 seconds of a write that never stops.",
            "MB/s",
            lambda at: along(at()["times"], at()["rates"], DRAWN),
            "The cache is full after 16 GB / 2.1 GB/s = 7.6 s, as nothing is folded meanwhile; then"
            " four bits a cell are programmed, at an eighth of the rate.",
            Curve(DRAWN, "time, s", "MB/s", 3000),
        ),
        controls=[
            Control("filled", "The drive holds", FILLED, 0, "GB"),
            Control("length", "The benchmark lasts", LENGTHS, 5, "s"),
        ],
        opens={"filled": 48, "length": 2},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=["docs/explanation/ssd-translation.md of raidlab: SLC cache"],
        limits="The drive is a teaching drive of 64 GB; drives on sale have ten times the cache and"
        " reach the cliff after minutes.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
