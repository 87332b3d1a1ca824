# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 21: a noisy neighbour."""

import marimo

app = marimo.App(width="full", app_title="Room 21: a noisy neighbour")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
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
        figure,
        lines,
        measured,
        run,
    )

    CURES = {
        "none": "nothing",
        "limit": "a limit of 300 IO/s",
        "burst": "300 IO/s, with credit for 20 s",
        "priority": "priority for the database",
    }
    LOADS = (4, 16, 64)
    SIZES = {"8 KiB": "8 KiB", "64 KiB": "64 KiB", "512 KiB": "512 KiB"}
    STEP_S = 0.5
    CREDIT_S = 20
    LIMIT = 300


@app.function
def scenario(values):
    """A database that asks by the clock, and a neighbour who takes what there is."""
    own = {"name": "database", "rw": "randread", "block_size": "8 KiB", "rate": "200 IO/s"}
    other = {
        "name": "neighbour",
        "rw": "randread",
        "block_size": values["size"],
        "outstanding": values["load"],
    }
    if values["cure"] in ("limit", "burst"):
        other["limit"] = f"{LIMIT} IO/s"
    if values["cure"] == "burst":
        other["burst"] = f"{CREDIT_S} s"
    if values["cure"] == "priority":
        own["priority"] = "high"
    return {
        "title": f"A database beside a neighbour with {values['load']} outstanding reads",
        "array": [
            {
                "level": "raid10",
                "software_raid": "os",
                "bitmap": "none",
                "drives": [{"model": "generic-15000rpm", "count": 4}],
            }
        ],
        "workload": [own, other],
        "run": {"warm_up": "0 s", "duration": "60 s", "timeline_step": f"{STEP_S} s"},
    }


@app.function
def alone(seed):
    """Mean and p99 of the database without a neighbour, in ms."""
    made = scenario({"cure": "none", "load": 4, "size": "8 KiB"})
    made["workload"] = made["workload"][:1]
    row = run(made, seed).rows[0]
    return row.latency_us.mean / 1e3, row.latency_us.p99 / 1e3


@app.function
def spent_s(rates, under_way):
    """When the credit of a limited neighbour is spent, in s; None if some is left at the end.

    The credit is a bucket of 300 × 20 I/Os that is full at first and gets 300 a second. A read
    takes its part when it is sent and is counted when it ends, so those under way are taken too.

    Args:
        rates: Reads a second in each step of time.
        under_way: Of the neighbour's reads, at most.
    """
    most = LIMIT * CREDIT_S
    credit = most
    for step, rate in enumerate(rates):
        credit = min(most, credit + (LIMIT - rate) * STEP_S)
        if credit <= under_way:
            return (step + 1) * STEP_S
    return None


@app.function
def answer(values, seed):
    """What the database feels over time, and what the neighbour gets."""
    own, other = run(scenario(values), seed).rows
    calm, calm_p99 = alone(seed)
    times = list(own.timeline.t_s)
    latency = [each / 1e3 for each in own.timeline.latency_us]
    story = lines(
        [
            Series("alone", [times[0], times[-1]], [calm] * 2, closed=True),
            Series("database", times, latency),
        ],
        Axis("time, s"),
        Axis("mean latency, ms, logarithmic", log=True, around=[calm]),
    )
    taken = lines(
        [Series("neighbour", times, list(other.timeline.iops))],
        Axis("time, s"),
        Axis("IO/s"),
    )
    spent = spent_s(other.timeline.iops, values["load"]) if values["cure"] == "burst" else None
    if spent is not None:
        dashed(taken, spent, f"credit spent, {spent:.0f} s")
    p99 = own.latency_us.p99 / 1e3
    return Answer(
        f"Beside the neighbour the database waits {figure(own.latency_us.mean / 1e3, 'ms')} on"
        f" average, alone {figure(calm, 'ms')}; its p99 is {figure(p99, 'ms')}, alone"
        f" {figure(calm_p99, 'ms')}. The neighbour gets {figure(other.iops, 'IO/s')}.",
        [
            Picture("What the database feels", "mean latency of each half second", story),
            Picture("What the neighbour takes", "its reads a second", taken),
        ],
        {
            "p99_ms": p99,
            "mean_ms": own.latency_us.mean / 1e3,
            "alone_ms": calm,
            "alone_p99_ms": calm_p99,
            "neighbour": other.iops,
            "spent_s": spent,
            "first_ms": sum(latency[:8]) / 8,
            "last_ms": sum(latency[-20:]) / 20,
            "first": other.timeline.iops[1],
        },
        boxes=[
            measured(p99, "ms", "p99 of the database"),
            measured(calm_p99, "ms", "p99 alone"),
            measured(other.iops, "IO/s", "the neighbour gets"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Beside 16 reads of 64 KiB the database sends no more than before, and waits more than"
            " four times as long: its reads stand behind the neighbour's at the drives.",
            lambda at: at()["mean_ms"] > 4 * at()["alone_ms"],
            "The database's load stays the same. Why does its latency not?",
            {"load": 16},
        ),
        Claim(
            "Both, the database more: with 64 reads of 64 KiB under way instead of 4 the neighbour"
            " gets 2.3 times its rate, and the database waits more than five times as long.",
            lambda at: (
                at(load=64)["mean_ms"] > 5 * at(load=4)["mean_ms"]
                and abs(at(load=64)["neighbour"] / at(load=4)["neighbour"] - 2.3) < 0.1
            ),
            "What does a deeper queue bring to the neighbour, and what to the database?",
            {"load": 64},
        ),
        Claim(
            "With 16 reads of 64 KiB a limit of 300 IO/s for the neighbour halves the database's"
            " latency: two thirds of the neighbour's reads are left, and they come evenly.",
            lambda at: (
                abs(at(cure="limit")["mean_ms"] / at()["mean_ms"] - 0.5) < 0.02
                and abs(at(cure="limit")["neighbour"] / at()["neighbour"] - 0.65) < 0.02
            ),
            "What does a limit for the neighbour bring?",
            {"cure": "limit"},
        ),
        Claim(
            "Not beside 16 reads: at most 32 I/Os may be in the array at once. On average 21 are:"
            " 16 of the neighbour and by Little 200 × 0.026 = 5 of the database. The queue is in"
            " the drives, not in the host. Beside 64 reads I/Os wait in the host, where priority"
            " takes off almost half of the database's latency.",
            lambda at: (
                abs(at(cure="priority")["mean_ms"] / at()["mean_ms"] - 1) < 0.01
                and abs(16 + 0.2 * at()["mean_ms"] - 21) < 0.5
                and abs(at(cure="priority", load=64)["mean_ms"] / at(load=64)["mean_ms"] - 0.53)
                < 0.05
            ),
            "Does priority for the database help?",
            {"cure": "priority"},
        ),
        Claim(
            "With credit a neighbour with 16 reads of 64 KiB runs at full speed first. A benchmark"
            " of ten seconds sees that and never the 300 IO/s that last.",
            lambda at: (
                at(cure="burst")["first"] > 400
                and at(cure="burst")["last_ms"] < 0.8 * at(cure="burst")["first_ms"]
            ),
            "What changes once the credit is spent?",
            {"cure": "burst"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "A volume has 300 IO/s and 5.4 million I/Os of credit, and runs at 3,000. For how"
            " long?",
            "Credit goes at 3,000 - 300 = 2,700 a second: 2,000 s, 33 minutes. A benchmark of"
            " half an hour sees no limit.",
            lambda at: 5.4e6 / 2700 == 2000,
        ),
        Exercise(
            "A limit of 300 IO/s collects credit for 20 s; the neighbour runs at 464 IO/s. When"
            " is the credit spent?",
            "300 × 20 = 6,000 I/Os / (464 - 300) = 37 s.",
            lambda at: (
                abs(at()["neighbour"] - 464) < 1
                and abs(at(cure="burst")["spent_s"] - 6000 / 164) < 1
            ),
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="neighbour",
        number=21,
        question="What does a noisy neighbour cost?",
        about="A database reads 8 KiB blocks, 200 a second by the clock, from four mirrored"
        " disks. A neighbour on the same disks keeps a fixed number of reads under way.",
        prediction=Prediction(
            "Alone the database waits 5.65 ms on average. A neighbour keeps 16 reads of 64 KiB"
            " under way. What does the database wait then?",
            "ms",
            lambda at: at()["mean_ms"],
            "Four of the neighbour's reads are at each disk, and each takes about five"
            " milliseconds.",
            Number(0.1, 100_000),
        ),
        controls=[
            Control("cure", "Against it", tuple(CURES), "none", words=CURES),
            Control("load", "The neighbour keeps under way", LOADS, 16, "reads"),
            Control("size", "Each of", tuple(SIZES), "64 KiB", words=SIZES),
        ],
        opens={"cure": "limit", "load": 4},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "docs/how-to/tenants.md and docs/explanation/cloud-volumes.md of raidlab",
            "ITU-T I.371: the token bucket as a cell rate algorithm",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
