# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 16: coordinated omission."""

import marimo

app = marimo.App(width="full", app_title="Room 16: coordinated omission")

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
        bars,
        figure,
        lines,
        measured,
        run_all,
    )

    WHO = {
        "one": "a benchmark, one at a time",
        "eight": "a benchmark, eight at a time",
        "clock": "users, 300 a second",
    }
    NAMES = {
        "one": "a benchmark of one",
        "eight": "a benchmark of eight",
        "clock": "a user by the clock",
    }
    SHORT = {"one": "one at a time", "eight": "eight at a time", "clock": "users"}
    LOADS = {"one": {"outstanding": 1}, "eight": {"outstanding": 8}, "clock": {"rate": "300 IO/s"}}
    SHARES = (10, 30, 100)
    TAIL = {"p50": 50, "p90": 10, "p95": 5, "p99": 1, "p99_9": 0.1}
    FAILS_S = 5
    # On its outer tracks: 1,800 sectors in a revolution of 4 ms and a skew of 0.4 ms.
    DISK_BYTES_S = 1800 * 512 / 4.4e-3


@app.function
def scenario(values):
    """A rebuild beside the database profile, asked by one of three."""
    return {
        "title": f"A rebuild at {values['share']} %, seen by {WHO[values['who']]}",
        "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu", "disk_cache": False},
        "array": [
            {
                "level": "raid5",
                "drives": [{"model": "generic-15000rpm", "count": 8}],
                "used": "300 MB",
                "hot_spares": 1,
                "rebuild_rate": values["share"] / 100,
            }
        ],
        "workload": [{"profile": "database"} | LOADS[values["who"]]],
        "event": [{"at": f"{FAILS_S} s", "action": "fail-drive", "drive": 3}],
        "run": {"warm_up": "1 s", "duration": "60 s", "after_rebuild": "2 s"},
    }


@app.function
def answer(values, seed):
    """One stall, as each of the three who ask reports it."""
    found = run_all([scenario(values | {"who": who}) for who in WHO], seed)
    periods = {
        who: {each["from_s"]: each for each in result.results[0]["periods"]}
        for who, result in zip(WHO, found, strict=True)
    }
    before = {who: each[0.0] for who, each in periods.items()}
    during = {who: each[float(FAILS_S)] for who, each in periods.items()}
    own = during[values["who"]]["latency_us"]
    tails = lines(
        [
            Series(
                SHORT[who],
                [during[who]["latency_us"][key] / 1e3 for key in TAIL],
                list(TAIL.values()),
            )
            for who in WHO
        ],
        Axis("latency, ms", log=True),
        Axis("I/Os that take longer, %", log=True),
        above=True,  # The ends lie so near that a name would cover another curve.
    )
    asked = {
        f"{'before' if each is before else 'during'}, {SHORT[who]}": each[who]["iops"]
        for who in WHO
        for each in (before, during)
    }
    name = f"during, {SHORT[values['who']]}"
    p95 = {who: each["latency_us"]["p95"] / 1e3 for who, each in during.items()}
    mean = {who: each["latency_us"]["mean"] / 1e3 for who, each in during.items()}
    beside = ""
    if values["who"] != "clock":
        beside = (
            f"; users by the clock see {figure(mean['clock'], 'ms')} and"
            f" {figure(p95['clock'], 'ms')}"
        )
    return Answer(
        f"During the rebuild {NAMES[values['who']]} sees a mean of"
        f" {figure(mean[values['who']], 'ms')} and a p95 of"
        f" {figure(p95[values['who']], 'ms')}{beside}.",
        [
            Picture(
                "One array, one stall, three reports",
                "share of the I/Os of the rebuild that take longer, p50 to p99.9",
                tails,
            ),
            Picture(
                "Who waits asks less",
                "I/Os a second, before the failure and during the rebuild",
                bars(asked, Axis("IO/s"), marked=name),
            ),
        ],
        {
            "mean_ms": mean[values["who"]],
            "p95_ms": p95[values["who"]],
            "p99_ms": own["p99"] / 1e3,
            "p99_9_ms": own["p99_9"] / 1e3,
            "ios": during[values["who"]]["ios"],
            "calm_ms": before[values["who"]]["latency_us"]["mean"] / 1e3,
            "asked": during[values["who"]]["iops"] / before[values["who"]]["iops"],
        },
        boxes=[
            measured(mean[values["who"]], "ms", "mean during the rebuild"),
            measured(p95[values["who"]], "ms", "p95"),
            measured(own["p99"] / 1e3, "ms", "p99"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "At 30 % a closed loop that asks one at a time reports a p95 of 7.1 ms, users by the"
            " clock of 65: the loop sends nothing while it waits. A slice of 16 MiB holds the"
            " drives for 80 ms: one slow I/O to the loop, and up to 24 to 300 users a second.",
            lambda at: (
                round(at(who="one")["p95_ms"], 1) == 7.1
                and round(at(who="clock")["p95_ms"]) == 65
                and round((16 << 20) / DISK_BYTES_S * 300) == 24
                and (16 << 20) / DISK_BYTES_S * 1e3 < at(who="one")["p99_9_ms"] < 90
            ),
            "By how much do the benchmark and the users differ at p95?",
            {"who": "clock"},
        ),
        Claim(
            "At 30 % the benchmark asks a good third less often during the rebuild; users do not"
            " ask less.",
            lambda at: 0.6 < at(who="one")["asked"] < 0.66 and at(who="clock")["asked"] > 0.97,
            "Who sends fewer requests while the array is slow?",
            {"who": "one"},
        ),
        Claim(
            "At 30 % they nearly agree at p99: 68 and 84 ms. Which percentile misleads depends on"
            " how many of the loop's I/Os meet a slice: here fewer than one in twenty.",
            lambda at: (
                round(at(who="one")["p99_ms"]) == 68 and round(at(who="clock")["p99_ms"]) == 84
            ),
            "Do all percentiles mislead alike?",
            {"who": "clock"},
        ),
        Claim(
            "Not at 30 %: eight at a time report half of the users' p95, 32 and 65 ms.",
            lambda at: abs(at(who="eight")["p95_ms"] / at(who="clock")["p95_ms"] - 0.5) < 0.02,
            "Does a deeper closed loop report what users feel?",
            {"who": "eight"},
        ),
        Claim(
            "No. At 100 % the loop of eight says 1.01 s at p95, users 0.35 s: it has 105 I/Os in"
            " the whole rebuild, and its eight stand in the longest stall together, more than a"
            " twentieth of them.",
            lambda at: (
                round(at(who="eight", share=100)["p95_ms"], -1) == 1010
                and round(at(who="clock", share=100)["p95_ms"], -1) == 350
                and at(who="eight", share=100)["ios"] == 105
            ),
            "Does a benchmark always report too little?",
            {"who": "eight", "share": 100},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "An array answers in 2 ms, and stalls for 500 ms once in 10 s. What is the mean of"
            " a loop"
            " of one, and what of users who come evenly?",
            "The loop: 9.5 s / 2 ms = 4,750 quick ones and one of 500 ms: 2.1 ms. Users: of 100 %,"
            " 5 % come during the stall and wait 250 ms on average: 0.95 × 2 + 0.05 × 252 ="
            " 14.5 ms.",
            lambda at: (
                abs((4750 * 2 + 500) / 4751 - 2.1) < 0.01
                and abs(0.95 * 2 + 0.05 * 252 - 14.5) < 0.01
                and at(who="clock")["mean_ms"] > 2 * at(who="one")["mean_ms"]
            ),
        ),
        Exercise(
            "Which options make fio ask by the clock?",
            "rate_iops with rate_process=poisson and enough iodepth that none waits for a"
            " place. In a"
            " scenario: rate.",
            lambda at: at(who="clock")["asked"] > 0.97,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="omission",
        number=16,
        question="A benchmark waits politely: do users?",
        about="Eight disks in RAID 5; one fails and is rebuilt beside the load. A benchmark"
        " sends the next I/O when the last one is complete. Users come by the clock, whatever"
        " the array"
        " does.",
        prediction=Prediction(
            "Rebuild at 30 %: a benchmark that asks one at a time reports a p95 of about 7 ms."
            " Which p95 do 300 users a second see?",
            "ms",
            lambda at: at(who="clock")["p95_ms"],
            "At this share the benchmark sends little during a stall; the users who come then all"
            " wait.",
            Number(0.01, 100_000),
            {"who": "clock"},
        ),
        controls=[
            Control("who", "Who asks", tuple(WHO), "one", words=WHO),
            Control("share", "Share for the rebuild", SHARES, 30, "%"),
        ],
        opens={"share": 10},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "G. Tene, How NOT to measure latency, 2015: the name coordinated omission",
            "B. Schroeder, A. Wierman and M. Harchol-Balter, Open versus closed, 2006",
        ],
        limits="Only 300 MB of each disk is used, so that a run is short. Percentiles are"
        " those of the engine's own period of the rebuild.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
