# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 8: an SSD cache warms up."""

import marimo

app = marimo.App(width="full", app_title="Room 8: an SSD cache warms up")

with app.setup:
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
        bars,
        dashed,
        digits,
        figure,
        lines,
        run,
    )

    SIZES = (2, 4, 8, 16)
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
            "timeline_step": "1 min",
        },
    }


@app.function
def answer(values, seed):
    """The rate while the cache fills."""
    row = run(scenario(values), seed).rows[0]
    minutes = [now / 60 for now in row.timeline.t_s]
    rates = row.timeline.iops
    first = sum(rates[1:3]) / 2
    last = sum(rates[-5:]) / 5

    def there(share):
        """After how many minutes this share of the gain is there."""
        wanted = first + share * (last - first)
        found = (at for at, rate in zip(minutes, rates, strict=True) if rate > wanted)
        return next(found, minutes[-1])

    half = there(0.5)
    bound = 1 / (1 - values["share"] / 100)
    story = lines([Series("IO/s", minutes, rates)], Axis("time, min"), Axis("IO/s"))
    dashed(story, half, f"half way, {digits(half)} min")
    hits = row.cache.tier.read_hit_ratio
    # The third access promotes a line: 2.67 accesses a line on average until half are there.
    lines_hot = values["hot"] * 1e9 / 65536
    closed = 2.67 * lines_hot / (first * values["share"] / 100) / 60
    return Answer(
        f"Half of the gain is there after {digits(half)} min; from {figure(first, 'IO/s')} the rate"
        f" rises to {figure(last, 'IO/s')}.",
        [
            Picture(
                "The cache pays once the hot spot is in it", "rate of random reads over time", story
            ),
            Picture(
                f"Half of the lines are promoted after {digits(closed)} min",
                "minutes until half of the gain, and until half of the lines",
                bars(
                    {"gain, simulated": half, "lines, closed form": closed},
                    Axis("time, min"),
                    marked="gain, simulated",
                ),
            ),
        ],
        {
            "quarter_min": there(0.25),
            "half_min": half,
            "most_min": there(0.75),
            "first": first,
            "last": last,
            "closed": closed,
            "gain": last / first,
            "bound": bound,
            "limit": row.bottleneck,
        },
        boxes=[
            Box(f"{digits(half)} min", "until half of the gain"),
            Box(f"{digits(last / first)} ×", "the disks' rate in the end"),
            Box(f"{100 * hits:.0f} %", "read hits on the SSD, whole run"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "A cache is not a switch: for minutes little is gained, then the rate rises within a"
            " few minutes.",
            lambda at: all(
                at(hot=size)["quarter_min"] > 3
                and at(hot=size)["most_min"] < at(hot=size)["quarter_min"] + 4
                for size in (8, 16)
            ),
        ),
        Claim(
            "A hot spot eight times as large takes more than three times as long.",
            lambda at: at(hot=16)["half_min"] > 3 * at(hot=2)["half_min"],
        ),
        Claim(
            "Half of the gain comes later than half of the lines: until most reads hit, the disks"
            " still set the rate.",
            lambda at: all(
                at(hot=size)["closed"] < at(hot=size)["half_min"] < at(hot=size)["closed"] + 2
                for size in (2, 16)
            ),
        ),
        Claim(
            "In the end the rate is twice the disks', far from the bound of 1 / 0.15 = 6.7 for 85 %"
            " hits: then the link of the one SSD is the limit.",
            lambda at: 1.8 < at(hot=8)["gain"] < 2.2 and "ssd-64gb.0 SATA" in at(hot=8)["limit"],
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
            "A hot spot of 16 GB, four disks of 15,000 rpm: after how many minutes is half of the"
            " gain there?",
            "min",
            lambda at: at(hot=16)["half_min"],
            "A line must be read three times from the disks before it moves.",
        ),
        controls=[
            Control("hot", "Hot spot", SIZES, 8, "GB"),
            Control("share", "Reads that go there", SHARES, 85, "%"),
        ],
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "H. Che, Y. Tung and Z. Wang, Hierarchical web caching systems, 2002",
            "docs/explanation/ssd-cache.md of raidlab",
        ],
        limits="Time is lapsed a thousandfold: a minute of the picture is 60 ms of the simulation,"
        " so its points scatter.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
