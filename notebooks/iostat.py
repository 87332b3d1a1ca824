# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 22: reading fio and iostat."""

import marimo

app = marimo.App(width="full", app_title="Room 22: reading fio and iostat")

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
        best_rate,
        digits,
        figure,
        lines,
        mark,
        run,
    )

    DRIVES = {
        "disk": "7,200 rpm disk",
        "nvme": "NVMe SSD",
        "raid": "eight disks behind a controller",
    }
    DEPTHS = (1, 4, 16, 64)
    ACCESS = {"randread": "reads", "randwrite": "writes"}


@app.function
def scenario(values):
    """Random I/Os of 4 KiB, at four depths."""
    load = {"rw": values["access"], "block_size": "4 KiB", "align": "4 KiB"}
    load |= {"outstanding": list(DEPTHS)}
    made = {
        "title": f"Random {ACCESS[values['access']]} on {DRIVES[values['drive']]}",
        "array": [{"drives": [{"model": "generic-7200rpm", "write_cache": False}]}],
        "workload": [load],
        "run": {"warm_up": "1 s", "duration": "10 s", "timeline_step": "1 s"},
    }
    if values["drive"] == "nvme":
        made["array"] = [{"drives": [{"model": "p3700-800"}]}]
        load["area"] = "4 GB"
        made["run"] = {"warm_up": "5 ms", "duration": "20 ms", "timeline_step": "2 ms"}
        made["run"] |= {"precondition": "filled", "filled": "4 GB"}
    if values["drive"] == "raid":
        made["controller"] = {"model": "lsi2208-512-3.0", "write": "write-through"}
        drives = [{"model": "generic-15000rpm", "count": 8}]
        made["array"] = [{"level": "raid10", "drives": drives}]
    return made


@app.function
def busy_share(rate, mean_ms, depth):
    """What iostat calls %util: the share of time in which anything is under way.

    A closed loop always has something under way, so it is 100 %; it is computed as iostat does.
    """
    return min(1.0, rate * mean_ms / 1e3) if depth == 1 else 1.0


@app.function
def answer(values, seed):
    """The columns of iostat beside what fio prints, over depth."""
    result = run(scenario(values), seed)
    rows = result.rows
    at = DEPTHS.index(values["depth"])
    own = rows[at]
    rate = [row.iops for row in rows]
    mean = [row.latency_us.mean / 1e3 for row in rows]
    best = best_rate(result.results)
    depth = Axis("outstanding I/Os", depths=True)
    used = [100 * busy_share(one, took, n) for one, took, n in zip(rate, mean, DEPTHS, strict=True)]
    full = lines(
        [
            Series("%util", DEPTHS, used),
            Series("of the best rate", DEPTHS, [100 * each / best for each in rate]),
        ],
        depth,
        Axis("%"),
    )
    mark(full, values["depth"], 100 * rate[at] / best, f"{values['depth']} outstanding")
    spread = lines(
        [
            Series("await", DEPTHS, mean),
            Series("p50", DEPTHS, [row.latency_us.p50 / 1e3 for row in rows]),
            Series("p99", DEPTHS, [row.latency_us.p99 / 1e3 for row in rows]),
        ],
        depth,
        Axis("ms, logarithmic", log=True),
    )
    queue = own.iops * own.latency_us.mean / 1e6
    share = rate[at] / best
    limit = (
        "That is this system's best rate here."
        if share > 0.99
        else f"This system's best rate here is {figure(best, 'IO/s')}."
    )
    return Answer(
        f"iostat: {figure(own.iops, 'IO/s')}, await {digits(mean[at])} ms, aqu-sz"
        f" {values['depth']}, %util {used[at]:.0f}. {limit}",
        [
            Picture(
                f"At one outstanding I/O %util is {used[0]:.0f}, the rate"
                f" {100 * rate[0] / best:.0f} % of the best",
                "%util, and the rate as a share of the best one here",
                full,
            ),
            Picture(
                "await is a mean: p99 is not in iostat",
                "await of iostat beside p50 and p99 of fio",
                spread,
            ),
        ],
        {
            "iops": own.iops,
            "await_ms": mean[at],
            "p99_ms": own.latency_us.p99 / 1e3,
            "queue": queue,
            "util": used[at],
            "share": share,
        },
        boxes=[
            Box(f"{used[at]:.0f} %", "%util: something is under way"),
            Box(
                f"{values['depth']}",
                f"aqu-sz; rate × await {queue:.1f}, by the I/Os that end in the run",
            ),
            Box(
                f"{figure(mean[at], 'ms')}", f"await; p99 {figure(own.latency_us.p99 / 1e3, 'ms')}"
            ),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "With one read under way on the NVMe SSD %util is 100, at less than a twentieth of this"
            " system's best rate: the column says that something was under way, not how much.",
            lambda at: (
                at(drive="nvme", depth=1)["util"] > 99 and at(drive="nvme", depth=1)["share"] < 0.05
            ),
            "%util is 100. Is the device at its limit?",
            {"drive": "nvme", "depth": 1},
        ),
        Claim(
            "aqu-sz is rate times await (Little), here the depth of the benchmark; the product is"
            " off by up to 3 %, as I/Os under way at the run's ends count on one side only. It says"
            " what was asked, not what the device bears.",
            lambda at: all(abs(at(depth=n)["queue"] / n - 1) < 0.03 for n in DEPTHS),
            "Where does aqu-sz come from?",
            {"depth": 16},
        ),
        Claim(
            "await is a mean. On the disk p99 is less than twice as long at depth 1, and three to"
            " four times from depth 4 on; no column of iostat has it. fio prints it, and raidlab.",
            lambda at: (
                at(depth=1)["p99_ms"] < 2 * at(depth=1)["await_ms"]
                and all(3 < at(depth=n)["p99_ms"] / at(depth=n)["await_ms"] < 4 for n in DEPTHS[1:])
            ),
            "Which column says what the slowest I/Os take?",
            {"depth": 16},
        ),
        Claim(
            "A single disk with one I/O under way is at about 40 % of its rate with 64: even there"
            " 100 % is no limit.",
            lambda at: at(depth=1)["util"] > 99 and abs(at(depth=1)["share"] - 0.4) < 0.03,
            "And for a single disk?",
            {"drive": "disk", "depth": 1},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "iostat shows r/s 77.6 and r_await 12.9 on a disk. aqu-sz?",
            "77.6 × 0.0129 = 1.0: one read after the other.",
            lambda at: abs(at()["queue"] - 1) < 0.02 and abs(at()["iops"] - 77.6) < 1,
        ),
        Exercise(
            "r/s 3,000, r_await 8.0 ms. What is the mean queue? Is the disk slow?",
            "3,000 × 0.008 = 24 under way. That is not one disk but an array, or an SSD that is"
            " asked"
            " for much: without the depth await says nothing about the drive.",
            lambda at: 3000 * 0.008 == 24 and at(drive="raid", depth=64)["iops"] > 1500,
        ),
        Exercise(
            "Print the run as iostat would.",
            "The file has four depths: leave one, outstanding = 16, then raidlab run iostat.toml"
            " --iostat. %util is left out there, as it misleads.",
            lambda at: at()["util"] > 99,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="iostat",
        number=22,
        question="What do iostat and fio say, and what not?",
        about="Random I/Os of 4 KiB, a fixed number under way. The columns of iostat stand"
        " beside what fio prints of the same run.",
        prediction=Prediction(
            "iostat shows an NVMe SSD at 100 % of %util, with one read under way. Which share"
            " of this system's best rate does it reach?",
            "%",
            lambda at: 100 * at(drive="nvme", depth=1)["share"],
            "%util counts the time in which anything is under way; an SSD serves many at once. Its"
            " best rate here is that of the host's thread, which sends a read each 4.5 µs.",
            Number(0, 100),
            {"drive": "nvme", "depth": 1},
        ),
        controls=[
            Control("depth", "Outstanding I/Os", DEPTHS, 1),
            Control("drive", "Device", tuple(DRIVES), "disk", words=DRIVES),
            Control("access", "Operation", tuple(ACCESS), "randread", words=ACCESS),
        ],
        opens={"depth": 16},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "iostat(1) of sysstat: %util, aqu-sz, r_await",
            "fio(1): clat, slat, lat, percentiles",
        ],
        limits="A closed loop always has its number under way, so that %util is that of its time.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
