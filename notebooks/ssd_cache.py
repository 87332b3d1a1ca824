# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 8: an SSD cache warms up."""

import marimo

app = marimo.App(width="full", app_title="Room 8: an SSD cache warms up")

with app.setup:
    import random

    from scipy.optimize import isotonic_regression

    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Curve,
        Dot,
        Exercise,
        Key,
        Live,
        Picture,
        Prediction,
        Room,
        Scene,
        Series,
        Step,
        along,
        bars,
        busiest,
        dashed,
        digits,
        figure,
        lines,
        run,
    )

    STEP_S = 10
    LINES = 100
    ONE_MIN = 6
    WARM_UP_STEPS = 10
    SIZES = (2, 4, 8, 16)
    DRAWN = (0.5, 2, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20)
    SHARES = (70, 85, 95)


@app.function
def scenario(values):
    """Random reads with a hot spot on four disks, with an SSD as their cache."""
    return {
        "title": f"An SSD as a cache of four disks, hot spot of {values['hot']} GB",
        "controller": {"model": "lsi2208-512-3.0", "write": "write-through"},
        "array": [
            {
                "level": "raid0",
                "drives": [{"model": "generic-15000rpm", "count": 4}],
                "cache_tier": {
                    "drives": [{"model": "sata-ssd-64gb", "count": 1}],
                    "level": "raid0",
                },
            }
        ],
        "workload": [
            {
                "rw": "randread",
                "block_size": "64 KiB",
                "align": "64 KiB",
                "area": "32 GB",
                "hot_spot": f"{values['hot']} GB",
                "hot_share": f"{values['share']} %",
                "outstanding": 32,
            }
        ],
        # Each simulated second stands for 1,000 of the cache's life.
        "run": {
            "warm_up": "100 ms",
            "duration": "20 min",
            "time_lapse": 1000,
            "timeline_step": f"{STEP_S} s",
        },
    }


@app.function
def alone(values, seed):
    """The rate of the disks without the SSD: a warm-up of 0.1 s has only 200 I/Os."""
    made = scenario(values)
    del made["array"][0]["cache_tier"]
    made["run"] = {"warm_up": "2 s", "duration": "30 s"}
    return run(made, seed).rows[0].iops


@app.function
def promoted(values, minutes, rates, seed):
    """A hundred lines of the hot spot: each moves to the SSD at its third access.

    Accesses fall on lines at random: after m a line on average, this one has had three if m is
    larger than a sum of three exponential steps. m follows from the simulated rate.
    """
    rng = random.Random(seed)
    lines_hot = values["hot"] * 1e9 / 65536
    accesses, had = [], 0.0
    for rate in rates:
        had += rate * values["share"] / 100 * STEP_S / lines_hot
        accesses.append(had)
    moved = sorted(sum(rng.expovariate(1.0) for _ in range(3)) for _ in range(LINES))
    order = rng.sample(range(LINES), LINES)
    dots = []
    for place, third in zip(order, moved, strict=True):
        x, y = 30 + 28 * (place % 20), 24 + 28 * (place // 20)
        keys = [Key(0.0, x, y, "#566370", True)]
        after = next((at for at, m in zip(minutes, accesses, strict=True) if m >= third), None)
        if after is not None:
            keys.append(Key(after, x, y, "#009E73"))
        dots.append(Dot("a line of 64 KiB", keys, "", 10))
    steps = []
    for share in (0, 10, 25, 50, 75, 90, 99):
        third = moved[max(0, share - 1)]
        known = zip(minutes, accesses, rates, strict=True)
        found = next(((at, rate) for at, m, rate in known if m >= third), None)
        at, rate = (0.0, rates[0]) if not share else found or (minutes[-1], rates[-1])
        if share and found is None:
            continue
        steps.append(
            Step(
                at,
                f"After {at:.1f} min {share} of 100 lines are on the SSD: {figure(rate, 'IO/s')}.",
            )
        )
    return Scene(
        "Lines move to the SSD",
        "Hollow: on the disks; green: on the SSD, from its third access on. By closed form, at the"
        " simulated rate.",
        600, 150, steps, (), dots,
    )  # fmt: skip


@app.function
def answer(values, seed):
    """The rate while the cache fills."""
    result = run(scenario(values), seed)
    row, most = result.rows[0], busiest(result.results[0])
    # A step is drawn at its middle; `t_s` is its end.
    # The warm-up comes first, in ten steps of its own.
    steps = list(zip(row.timeline.t_s, row.timeline.iops, strict=True))[WARM_UP_STEPS:]
    minutes = [(now - STEP_S / 2) / 60 for now, _ in steps]
    rates = [rate for _, rate in steps]
    first = alone(values, seed)
    last = sum(rates[-5 * ONE_MIN :]) / (5 * ONE_MIN)

    # A warm-up only rises: what falls from step to step is noise.
    rising = [float(rate) for rate in isotonic_regression(rates).x]

    def there(share):
        """After how many minutes this share of the gain is there."""
        wanted = first + share * (last - first)
        after = next((at for at, rate in enumerate(rising) if rate >= wanted), len(rising) - 1)
        low, high = rising[max(0, after - 1)], rising[after]
        part = (wanted - low) / (high - low) if high > low else 0.0
        return minutes[max(0, after - 1)] + part * (minutes[after] - minutes[max(0, after - 1)])

    half = there(0.5)
    bound = 1 / (1 - values["share"] / 100)
    story = lines([Series("IO/s", minutes, rates)], Axis("time, min"), Axis("IO/s"))
    dashed(story, half, f"half way, {half:.1f} min")
    hits = row.cache.tier.read_hit_ratio
    # The third access promotes a line: 2.67 accesses a line on average until half are there.
    lines_hot = values["hot"] * 1e9 / 65536
    closed = 2.67 * lines_hot / (first * values["share"] / 100) / 60
    return Answer(
        f"Half of the gain is there after about {half:.1f} min; from {figure(first, 'IO/s')} the"
        f" rate rises to {figure(last, 'IO/s')}.",
        [
            Picture(
                "The cache pays once the hot spot is in it", "rate of random reads over time", story
            ),
            Picture(
                f"Half of the lines are promoted after {closed:.1f} min",
                "minutes until half of the gain, and until half of the lines",
                bars(
                    {"gain, simulated": half, "lines, closed form": closed},
                    Axis("time, min"),
                    marked="gain, simulated",
                ),
            ),
        ],
        {
            "minutes": minutes,
            "rising": rising,
            "quarter_min": there(0.25),
            "half_min": half,
            "most_min": there(0.75),
            "first": first,
            "last": last,
            "closed": closed,
            "gain": last / first,
            "bound": bound,
            "limit": most.kind if most else "",
        },
        boxes=[
            Box(f"{half:.1f} min", "until half of the gain"),
            Box(f"{digits(last / first)} ×", "the disks' rate in the end"),
            Box(f"{100 * hits:.0f} %", "read hits on the SSD, whole run"),
        ],
        scenes=[promoted(values, minutes, rising, seed)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "A cache warms up late, then quickly: with a hot spot of 8 GB little is gained for two"
            " minutes; two minutes after the first quarter of the gain three quarters are there.",
            lambda at: (
                at(hot=8)["quarter_min"] > 2
                and at(hot=8)["most_min"] < at(hot=8)["quarter_min"] + 2
            ),
            "Does the gain come evenly?",
        ),
        Claim(
            "A hot spot eight times as large takes more than five times as long.",
            lambda at: at(hot=16)["half_min"] > 5 * at(hot=2)["half_min"],
            "A hot spot eight times as large: how many times as long until half of the gain?",
            {"hot": 16},
        ),
        Claim(
            "Half of the gain comes when half of the lines are on the SSD, within a quarter.",
            lambda at: all(
                abs(at(hot=size)["half_min"] / at(hot=size)["closed"] - 1) < 0.25 for size in SIZES
            ),
            "Is half of the gain there when half of the lines are?",
            {"hot": 16},
        ),
        Claim(
            "In the end the rate is twice the disks', far from the bound of 1 / 0.15 = 6.7 for 85 %"
            " hits: then the link of the one SSD is the limit.",
            lambda at: 1.8 < at(hot=8)["gain"] < 2.2 and at(hot=8)["limit"] == "link",
            "85 % of the reads can hit. Is the gain that of Amdahl's bound, 1 / 0.15?",
            {"hot": 8, "share": 85},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "A line is promoted at its third access. After m accesses a line on average, which"
            " share of the lines has had three? When is it half?",
            "P = 1 - e⁻ᵐ (1 + m + m² / 2); P = 1/2 at m = 2.67. With 16 GB in lines of 64 KiB:"
            " 244,141 lines.",
            lambda at: abs(1 - 2.718281828**-2.67 * (1 + 2.67 + 2.67**2 / 2) - 0.5) < 0.005,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="ssd-cache",
        number=8,
        question="How long until an SSD cache pays?",
        about="Four disks behind a controller that uses an SSD as their cache. Most reads go to a"
        " hot spot. The SSD is empty at first; lines move there once they are accessed often.",
        prediction=Prediction(
            "A hot spot of 16 GB on four disks of 15,000 rpm takes 85 % of the reads; the SSD is"
            " empty. Draw the rate over the first 20 minutes.",
            "IO/s",
            lambda at: along(at(hot=16)["minutes"], at(hot=16)["rising"], DRAWN),
            "A line must be read three times from the disks before it moves. Lines that move make"
            " room at the disks, so that the rest is read sooner: slow at first, then quick.",
            Curve(DRAWN, "time, min", "IO/s", 6000),
            {"hot": 16},
        ),
        controls=[
            Control("hot", "Hot spot", SIZES, 8, "GB"),
            Control("share", "Reads that go there", SHARES, 85, "%"),
        ],
        opens={"hot": 2, "share": 70},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "H. Che, Y. Tung and Z. Wang, Hierarchical web caching systems, 2002",
            "docs/explanation/ssd-cache.md of raidlab",
        ],
        limits="A simulated second stands for 1,000 seconds of the cache's life: a minute of the"
        " picture is 60 ms of simulation, so its points scatter.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
