# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 3: Little's law and the knee."""

import marimo

app = marimo.App(width="full", app_title="Room 3: the knee")

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
        best_rate,
        busiest,
        dashed,
        digits,
        figure,
        lines,
        mark,
        queueing,
        run,
        traced,
    )

    DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    SERVICE_S = 0.005
    FOLLOWED = 64  # I/Os beyond those that are outstanding
    TEACHING = ("fivex", "five")
    DRIVES = {
        "fivex": "5 ms, exponential",
        "five": "5 ms, fixed",
        "generic-15000rpm": "15,000 rpm disk",
        "p3700-800": "NVMe SSD",
    }


@app.function
def scenario(values):
    """Random reads of 4 KiB on a stripe of equal drives, at nine depths."""
    fast = values["drive"] == "p3700-800"
    return {
        "title": f"{values['count']} x {DRIVES[values['drive']]}: rate and latency over depth",
        "array": [
            {
                "level": "raid0" if values["count"] > 1 else "jbod",
                "software_raid": "os",
                "drives": [{"model": values["drive"], "count": values["count"]}],
            }
        ],
        "workload": [
            {
                "rw": "randread",
                "block_size": "4 KiB",
                "align": "4 KiB",
                "area": "4 GB" if fast else "whole",
                "outstanding": list(DEPTHS),
            }
        ],
        "run": {
            "warm_up": "5 ms" if fast else "2 s",
            "duration": "10 ms" if fast else "20 s",
        }
        | ({"precondition": "filled", "filled": "4 GB"} if fast else {}),
    }


@app.function
def rectangle(rate, mean, at):
    """Rate over latency: the area to the left of and below a point is what is outstanding."""
    shown = slice(0, min(at + 2, len(DEPTHS)))
    drawn = lines(
        [Series("IO/s", [0, *mean[shown]], [None, *rate[shown]])],
        Axis("mean latency, ms"),
        Axis("IO/s"),
    )
    side = {"x0": 0, "y0": 0, "x1": mean[at], "y1": rate[at], "layer": "below"}
    drawn.add_shape(type="rect", **side, fillcolor="#56B4E9", opacity=0.35, line={"width": 0})
    drawn.add_annotation(
        x=0,
        y=0,
        xanchor="left",
        yanchor="bottom",
        xshift=8,
        yshift=4,
        text=f"{digits(rate[at])} IO/s × {figure(mean[at], 'ms')}"
        f" = {rate[at] * mean[at] / 1e3:.1f}",
        showarrow=False,
    )
    mark(drawn, mean[at], rate[at], f"{DEPTHS[at]} outstanding")
    return drawn


@app.function
def known_to(crossing):
    """Two digits: the mean of 4,000 exponential times is known to 3 % (95 %)."""
    return f"{float(f'{crossing:.2g}'):,g}"


@app.function
def queues(values, seed):
    """I/Os as dots before the drives; none for SSDs, whose queues are not theirs to see."""
    if values["drive"] == "p3700-800":
        return []
    made = scenario(values)
    made["workload"][0]["outstanding"] = values["depth"]
    made["run"] = {"warm_up": "0 s", "duration": "2 s"}
    traces = traced(made, seed, values["depth"] + FOLLOWED)
    return [queueing(traces, outstanding=values["depth"])]


@app.function
def answer(values, seed):
    """Rate and latency over depth, the two asymptotes, and the point that is looked at."""
    result = run(scenario(values), seed)
    rows = result.rows
    rate = [row.iops for row in rows]
    mean = [row.latency_us.mean / 1e3 for row in rows]
    p99 = [row.latency_us.p99 / 1e3 for row in rows]
    at = DEPTHS.index(values["depth"])
    alone = mean[0]
    # Teaching drives take 5 ms a command; what others can do at most is known from the run alone.
    known = values["drive"] in TEACHING
    best = values["count"] / SERVICE_S if known else best_rate(result.results)
    crossing = best * alone / 1e3
    enough = next((n for n, x in zip(DEPTHS, rate, strict=True) if x >= 0.9 * best), None)
    if enough is None or (not known and enough == DEPTHS[-1]):
        said = f"at {DEPTHS[-1]} outstanding the rate is {figure(rate[-1], 'IO/s')} and still rises"
    else:
        said = f"nine tenths of {figure(best, 'IO/s')} take {enough} outstanding"
    depth = Axis("outstanding I/Os", depths=True)
    # The two straight lines between which every closed system lies.
    ideal = [1e3 * n / alone for n in DEPTHS]
    rates = lines(
        [
            Series("N / R<sub>1</sub>", DEPTHS, ideal, closed=True),
            Series("D / S" if known else "best", DEPTHS, [best] * len(DEPTHS), closed=True),
            Series("IO/s", DEPTHS, rate),
        ],
        depth,
        Axis("IO/s", log=True),
    )
    mark(rates, values["depth"], rate[at], f"{values['depth']} outstanding")
    dashed(rates, max(1.0, crossing), f"knee N* = {known_to(crossing)}", depth)
    times = lines(
        [Series("mean", DEPTHS, mean), Series("p99", DEPTHS, p99)],
        depth,
        Axis("latency, ms", log=True),
    )
    mark(times, values["depth"], mean[at], f"{values['depth']} outstanding")
    product = rate[at] * mean[at] / 1e3
    most = busiest(result.results[at])
    return Answer(
        f"The asymptotes cross at N* = {known_to(crossing)} outstanding, the knee; {said}.",
        [
            Picture(
                f"{figure(rate[at], 'IO/s')} at {values['depth']} outstanding",
                "rate, both axes logarithmic: the asymptotes are straight and dashed",
                rates,
            ),
            Picture(
                f"{figure(mean[at], 'ms')} mean, {figure(p99[at], 'ms')} p99",
                "latency on the same axis",
                times,
            ),
            Picture(
                f"Little's rectangle has the area {values['depth']}",
                "rate over mean latency as the depth grows; width × height = outstanding",
                rectangle(rate, mean, at),
                wide=True,
            ),
        ],
        {
            "iops": rate[at],
            "mean_ms": mean[at],
            "p99_ms": p99[at],
            "enough": enough,
            "rates": rate,
            "best": best,
            "crossing": crossing,
            "busiest": most.kind if most else "",
        },
        boxes=[
            Box(
                f"{digits(rate[at])} × {figure(mean[at], 'ms')}",
                f"rate × latency = {product:.1f} I/Os",
            ),
            Box(f"N* = {known_to(crossing)}", "the knee, where the asymptotes cross"),
            Box(most.words if most else "–", f"busiest: {most.name if most else 'none'}"),
        ],
        scenes=queues(values, seed),
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Rate times latency is the number outstanding, at every depth and for every drive:"
            " Little's law has no exceptions.",
            lambda at: all(
                abs(x["iops"] * x["mean_ms"] / 1e3 / n - 1) < 0.03
                for n in DEPTHS
                for x in (at(depth=n, drive=drive) for drive in DRIVES)
            ),
            "Multiply rate and latency at several depths, and for other drives. What comes out?",
            {"depth": 64},
        ),
        Claim(
            "Eight outstanding I/Os do not keep eight drives busy: they reach little more than"
            " half of the best rate.",
            lambda at: 0.5 < at(depth=8)["iops"] / 1600 < 0.6,
            "Do eight outstanding I/Os keep eight drives busy?",
            {"depth": 8},
        ),
        Claim(
            "With fixed service times there is less waiting, and the same asymptotes.",
            lambda at: (
                at(depth=8, drive="five")["iops"] > 1.1 * at(depth=8)["iops"]
                and abs(at(depth=256, drive="five")["iops"] / at(depth=256)["iops"] - 1) < 0.03
            ),
            "Fixed instead of exponential service times: what moves, and what stays?",
            {"drive": "five", "depth": 8},
        ),
        Claim(
            "From 64 to 256 outstanding the rate of the exponential drives gains less than a"
            " tenth, and the mean latency grows more than three times.",
            lambda at: (
                at(depth=256)["iops"] < 1.1 * at(depth=64)["iops"]
                and at(depth=256)["mean_ms"] > 3 * at(depth=64)["mean_ms"]
            ),
            "What do 256 outstanding buy over 64?",
            {"depth": 256},
        ),
        Claim(
            "Disks have no flat top: a deeper queue lets the arm choose nearer requests.",
            lambda at: (
                at(depth=256, drive="generic-15000rpm")["iops"]
                > 1.15 * at(depth=128, drive="generic-15000rpm")["iops"]
            ),
            "Do disks reach a flat top as well?",
            {"drive": "generic-15000rpm", "depth": 256},
        ),
        Claim(
            "The bottleneck changes its name: it is a drive for disks, the host's"
            " CPU thread that issues the I/Os for SSDs.",
            lambda at: (
                at(depth=256, drive="generic-15000rpm")["busiest"] == "drive"
                and at(depth=64, drive="p3700-800")["busiest"] == "host"
            ),
            "What limits an SSD here, and what a disk?",
            {"drive": "p3700-800", "depth": 64},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "Eight exponential drives, 32 outstanding: compute the rate from the closed form,"
            " then read it.",
            "N / (N + 7) × 1,600 = 32 / 39 × 1,600 = 1,313 IO/s; the run gives it within 2 %.",
            lambda at: abs(at(depth=32)["iops"] / 1313 - 1) < 0.02,
        ),
        Exercise(
            "One drive of fixed 5 ms: how many IO/s at depth 1, and what does depth 16 change?",
            "200 IO/s at both. Only the latency changes: 16 × 5 ms = 80 ms.",
            lambda at: (
                abs(at(depth=16, drive="five", count=1)["mean_ms"] / 80 - 1) < 0.01
                and abs(at(depth=1, drive="five", count=1)["iops"] / 200 - 1) < 0.01
            ),
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="knee",
        number=3,
        question="How many outstanding I/Os are enough?",
        about="Random reads of 4 KiB, striped over equal drives. A fixed number of them is always"
        " under way: when one completes, the next begins. The slider picks the depth to look at.",
        prediction=Prediction(
            "Eight drives of 5 ms (exponential) do 1,600 IO/s at best. Draw their rate over the"
            " number of outstanding reads.",
            "IO/s",
            lambda at: at()["rates"],
            "Reads fall on drives at random: some drives have two, others none. For exponential"
            " service times the exact answer is N / (N + 7) × 1,600, 853 IO/s at eight.",
            Curve(DEPTHS, "outstanding I/Os", "IO/s", 2000, log=True, least=100),
        ),
        controls=[
            Control("depth", "Outstanding I/Os", DEPTHS, 8),
            Control("drive", "Drives", tuple(DRIVES), "fivex", words=DRIVES),
            Control("count", "Number of drives", (1, 2, 4, 8), 8),
        ],
        opens={"drive": "five", "count": 1, "depth": 1},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "J. D. C. Little, A proof for the queuing formula L = λW, 1961",
            "E. D. Lazowska et al., Quantitative System Performance, 1984, chapters 3 to 6",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
