# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 13: tails."""

import marimo

app = marimo.App(width="full", app_title="Room 13: tails")

with app.setup:
    import math

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
        measured,
        parts,
        queueing,
        traced,
        visits,
    )

    COUNT = 4000
    BEFORE, FOLLOWED = 200, 64  # reads
    SYSTEMS = {"disks": "eight 15,000 rpm disks", "fivex": "eight drives, 5 ms exponential"}
    PIECES = {1: "4 KiB: one drive", 8: "512 KiB: all eight"}


@app.function
def scenario(values):
    """Random reads that arrive by themselves, on a stripe of eight."""
    model = "generic-15000rpm" if values["system"] == "disks" else "fivex"
    size = "4 KiB" if values["pieces"] == 1 else "512 KiB"
    # The arrival rate keeps the drives in use for the chosen share of the time.
    rate = 200 * (8 if values["pieces"] == 1 else 1) * values["load"] // 100
    return {
        "title": f"Tails at {values['load']} % load, {size} reads",
        "array": [
            {
                "level": "raid0",
                "software_raid": "os",
                "drives": [{"model": model, "count": 8}],
                "stripe_unit": "64 KiB",
            }
        ],
        "workload": [
            {
                "rw": "randread",
                "block_size": size,
                "align": size,
                "rate": f"{rate} IO/s",
            }
        ],
        # As long as the reads take that are followed.
        "run": {"warm_up": "2 s", "duration": f"{COUNT / rate:.4g} s"},
    }


@app.function
def of(ios):
    """Mean microseconds of each part on the critical path."""
    sums = {}
    for io in ios:
        for stage in io["stages"]:
            if stage["critical"]:
                took = (stage["end_ns"] - stage["begin_ns"]) / 1e3
                sums[stage["stage"]] = sums.get(stage["stage"], 0.0) + took / len(ios)
    return sums


@app.function
def waiting(ios):
    """Reads as dots, from when all that were under way at the first traced one have left."""
    found = sorted(ios, key=lambda io: io["issued_ns"])[: BEFORE + FOLLOWED]
    return queueing(found, from_ns=found[BEFORE]["issued_ns"])


@app.function
def found_at_work(ios):
    """The share of commands that find their drive at work, as they wait for it."""
    commands = visits(ios)
    return sum(each.begins > each.comes for each in commands) / len(commands)


@app.function
def answer(values, seed):
    """The distribution of latencies, and what the slowest waited for."""
    ios = sorted(traced(scenario(values), seed, COUNT), key=lambda io: io["latency_ns"])
    times = [io["latency_ns"] / 1e6 for io in ios]
    n = len(times)
    mean = sum(times) / n
    p50, p99 = times[n // 2], times[int(0.99 * n)]
    slow = ios[int(0.99 * n) :]
    typical = ios[int(0.45 * n) : int(0.55 * n)]
    rows = {"mean": of(ios), "median tenth": of(typical), "slowest 1 %": of(slow)}
    waits = rows["slowest 1 %"]
    share = waits.get("queue", 0.0) / sum(waits.values())
    # Fixed shares, so that curves of several seeds can be compared; equally many in each tenth of
    # the logarithm.
    shares = [100 * 10 ** (-step / 12) for step in range(44)]
    picks = [n - max(1, round(n * share / 100)) for share in shares]
    series = [Series("reads", [times[at] for at in picks], shares)]
    if values["system"] == "fivex" and values["pieces"] == 1:
        queue = 5 / (1 - values["load"] / 100)
        series.insert(0, Series("M/M/1", [queue * math.log(100 / s) for s in shares], shares, True))
    curve = lines(
        series,
        Axis("latency, ms", log=True),
        Axis("reads that take longer, %", log=True),
    )
    dashed(curve, mean, "mean", Axis("", log=True), side="left")
    dashed(curve, p99, "p99", Axis("", log=True), side="left")
    met = found_at_work(ios)
    beyond = 100 * sum(each > mean for each in times) / n
    return Answer(
        f"p99 is {figure(p99, 'ms')}, {digits(p99 / mean)} times the mean. {100 * met:.0f} % of the"
        f" {'reads' if values['pieces'] == 1 else 'pieces'} found their drive at work; the slowest"
        f" hundredth spent {100 * share:.0f} % of its time in a drive's queue.",
        [
            Picture(
                f"One read of a hundred takes longer than {figure(p99, 'ms')}",
                f"share of {n:,} reads that take longer, both axes logarithmic",
                curve,
            ),
            Picture(
                "What the slowest waited for",
                "mean time by part, on the critical path",
                parts(rows, "ms"),
            ),
        ],
        {
            "closed_ms": 5 / (1 - values["load"] / 100),
            "mean": mean,
            "p50": p50,
            "p99": p99,
            "queue_share": share,
            "met": met,
            "beyond": beyond,
        },
        boxes=[
            measured(mean, "ms", f"mean; {beyond:.0f} % take longer"),
            measured(p99, "ms", "p99"),
            Box(f"{100 * share:.0f} %", "of the slowest hundredth's time is queue"),
        ],
        scenes=[waiting(ios)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "On the disks at 60 % p99 is more than three times the mean, and the slowest did not"
            " work longer, they waited: 88 % of their time. On exponential drives at 10 % it is"
            " the other way round: a queue is 22 % of the slowest reads' time.",
            lambda at: (
                at()["p99"] > 3 * at()["mean"]
                and round(at()["queue_share"], 2) == 0.88
                and round(at(system="fivex", load=10)["queue_share"], 2) == 0.22
            ),
            "Did the slowest reads work longer than the others?",
        ),
        Claim(
            "On the disks from 40 to 80 % load the mean grows by half and p99 doubles: at 80 %"
            " nine tenths of the slowest reads' time is queue.",
            lambda at: (
                1.35 < at(load=80)["mean"] / at(load=40)["mean"] < 1.65
                and 1.8 < at(load=80)["p99"] / at(load=40)["p99"] < 2.2
                and 0.85 < at(load=80)["queue_share"] < 0.95
            ),
            "What do mean and p99 do from 40 to 80 % load?",
            {"load": 80},
        ),
        Claim(
            "A read of eight pieces is as slow as its slowest piece. At a tenth of the load its"
            " mean is 2.7 times that of one piece on exponential drives, and 1.4 times on the"
            " disks, whose times differ less.",
            lambda at: (
                round(
                    at(system="fivex", pieces=8, load=10)["mean"]
                    / at(system="fivex", load=10)["mean"],
                    1,
                )
                == 2.7
                and round(at(pieces=8, load=10)["mean"] / at(load=10)["mean"], 1) == 1.4
            ),
            "What does a read of eight pieces cost at a tenth of the load?",
            {"system": "fivex", "pieces": 8, "load": 10},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "Eight pieces on idle exponential drives of 5 ms: mean of the slowest?",
            "5 (1 + 1/2 + ... + 1/8) = 13.59 ms; at 10 % load a little more.",
            lambda at: 13.0 < at(system="fivex", pieces=8, load=10)["mean"] < 16,
        ),
        Exercise(
            "Each of n pieces is beyond its own p99 with 1 %. How probable is it that at least one"
            " of 8, 24, 100 is?",
            "1 - 0.99ⁿ: 7.7 %, 21 %, 63 %.",
            lambda at: [round(100 * (1 - 0.99**n)) for n in (8, 24, 100)] == [8, 21, 63],
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="tails",
        number=13,
        question="What did the slowest reads wait for?",
        about="Random reads arrive at their own instants on a stripe of eight drives, so that the"
        " drives work for the chosen share of the time. 4,000 reads are followed one by one;"
        " with five"
        " seeds the boxes show how far such a run can be trusted.",
        prediction=Prediction(
            "Eight 15,000 rpm disks are in use for 60 % of the time: p99 is how many times"
            " the mean?",
            "times",
            lambda at: at()["p99"] / at()["mean"],
            "Who comes at random finds a disk at work as often as it works. At 60 % load six reads"
            " of ten wait, most of them behind one or two others; three in a hundred find four or"
            " more before them.",
            Number(1, 1000),
        ),
        controls=[
            Control("load", "Load", (10, 20, 40, 60, 80), 60, "%"),
            Control("system", "Drives", tuple(SYSTEMS), "disks", words=SYSTEMS),
            Control("pieces", "Size", tuple(PIECES), 1, words=PIECES),
        ],
        opens={"load": 10},
        five=True,
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "J. Dean and L. A. Barroso, The tail at scale, 2013",
            "B. Schroeder, A. Wierman and M. Harchol-Balter, Open versus closed, 2006",
        ],
        limits="The load is what drives of 5 ms would see; disks that sort their queue work less:"
        " at 80 % load for 77 % of the time.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
