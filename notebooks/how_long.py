# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 23: how long a run must be."""

import marimo

app = marimo.App(width="full", app_title="Room 23: how long a run must be")

with app.setup:
    import math

    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Choice,
        Claim,
        Control,
        Exercise,
        Live,
        Picture,
        Prediction,
        Room,
        Series,
        bars,
        figure,
        lines,
        percent,
        run,
        spanned,
    )

    LOADS = (50, 80, 90)
    LENGTHS = (10, 40, 160, 640, 2560)
    WHAT = {"mean": "mean", "p99": "p99"}
    SERVICE_MS = 5
    SEEDS = 5


@app.function
def scenario(values):
    """One drive of 5 ms, exponential; reads come at random."""
    rate = 1000 * values["load"] / 100 / SERVICE_MS
    return {
        "title": f"One exponential drive in use for {values['load']} % of the time",
        "array": [{"drives": [{"model": "fivex"}]}],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB", "rate": f"{rate:g} IO/s"}
        ],
        "run": {"warm_up": "10 s", "duration": f"{values['length']} s"},
    }


@app.function
def closed(load, what):
    """M/M/1: mean, or p99, in ms."""
    mean = SERVICE_MS / (1 - load / 100)
    return mean * (1 if what == "mean" else math.log(100))


@app.function
def answer(values, seed):
    """Five runs that differ in their seed alone, at five lengths."""
    truth = closed(values["load"], values["what"])
    runs = {
        length: [
            getattr(result.rows[0].latency_us, values["what"]) / 1e3
            for result in (
                run(scenario(values | {"length": length}), seed + each) for each in range(SEEDS)
            )
        ]
        for length in LENGTHS
    }
    own = runs[values["length"]]
    low = [min(each) for each in runs.values()]
    high = [max(each) for each in runs.values()]
    funnel = lines(
        [
            Series("M/M/1", LENGTHS, [truth] * len(LENGTHS), closed=True),
            Series("highest", LENGTHS, high),
            Series("lowest", LENGTHS, low),
        ],
        Axis("length of the run, s", depths=True),
        Axis(f"{values['what']}, ms"),
    )
    each = {f"seed {seed + at}": value for at, value in enumerate(own)}
    width = (max(own) - min(own)) / truth
    return Answer(
        f"Five runs of {values['length']:,} s say {spanned(own, 'ms')}; the closed form is"
        f" {figure(truth, 'ms')}.",
        [
            Picture(
                "A run of four times the length is twice as sure",
                "lowest and highest of five runs, over their length",
                funnel,
            ),
            Picture(
                f"Five runs of {values['length']:,} s",
                f"{values['what']} of each; nothing differs but the seed",
                bars(each, Axis("latency, ms")),
            ),
        ],
        {
            "truth": truth,
            "low": min(own),
            "high": max(own),
            "width": width,
            "mean": sum(own) / SEEDS,
        },
        boxes=[
            Box(spanned(own, "ms"), f"{values['what']} of five runs"),
            Box(figure(truth, "ms"), "M/M/1"),
            Box(percent(width), "from the lowest to the highest"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Five runs of ten seconds at 80 % load lie more than a third of the truth apart: three"
            " digits of one of them are two too many.",
            lambda at: at(length=10)["width"] > 0.33,
            "How far are five runs of ten seconds apart?",
            {"length": 10},
        ),
        Claim(
            "From 10 to 2,560 s the spread shrinks by a factor of 8 to 40: about the root of the"
            " length, 16.",
            lambda at: 8 < at(length=10)["width"] / at(length=2560)["width"] < 40,
            "256 times the length: how much less spread?",
            {"length": 2560},
        ),
        Claim(
            "The higher the load the longer a run must be: at 90 % the spread of 640 s is more than"
            " twice that at 50 %.",
            lambda at: at(load=90, length=640)["width"] > 2 * at(load=50, length=640)["width"],
            "Does the load decide how long a run must be?",
            {"load": 90, "length": 640},
        ),
        Claim(
            "A tail needs a longer run than a mean: at 160 s p99 is spread further.",
            lambda at: at(length=160, what="p99")["width"] > at(length=160)["width"],
            "Is p99 as well known as the mean?",
            {"what": "p99", "length": 160},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "A run of 40 s is known to ± 20 %. How long must it be for ± 2 %?",
            "A tenth of the error takes 100 times the length: 4,000 s. raidlab stops by itself with"
            ' precision = "2 %".',
            lambda at: at(length=2560)["width"] < at(length=40)["width"],
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="how-long",
        number=23,
        question="How long must a run be?",
        about="One drive of 5 ms (exponential), reads that come at random. Five runs differ in"
        " their seed alone; the closed form is known.",
        prediction=Prediction(
            "At 80 % load the mean is 25 ms. Five runs of ten seconds, about 1,600 reads each:"
            " what do"
            " they say?",
            "",
            lambda at: (
                0 if at(length=10)["width"] < 0.04 else 1 if at(length=10)["width"] < 0.2 else 2
            ),
            "Reads that wait behind one another are not independent: a busy spell raises"
            " hundreds of"
            " latencies at once.",
            Choice(
                (
                    "All five agree within 1 ms.",
                    "They lie within 5 ms of one another.",
                    "They lie further apart than 5 ms.",
                )
            ),
            {"length": 10},
        ),
        controls=[
            Control("length", "Length of a run", LENGTHS, 40, "s"),
            Control("load", "Load", LOADS, 80, "%"),
            Control("what", "Read", tuple(WHAT), "mean", words=WHAT),
        ],
        opens={"length": 2560, "load": 50},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "A. M. Law, Simulation Modeling and Analysis, 2015, chapter 9",
            "docs/explanation/statistics.md of raidlab",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
