# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 6: an SSD's first day."""

import marimo

app = marimo.App(width="full", app_title="Room 6: an SSD's first day")

with app.setup:
    import math
    from functools import lru_cache
    from itertools import accumulate
    from threading import Lock

    import raidlab
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
        at_once,
        bars,
        dashed,
        digits,
        figure,
        lines,
        run_all,
        squares,
    )

    SPARE = {"7%": "", "14%": "14%", "28%": "28%", "50%": "50%"}
    CAPACITY = {"7%": 501747712, "14%": 470937600, "28%": 419430400, "50%": 357913600}
    LOADS = {"whole": "everywhere", "half": "to half of the drive", "hot": "90 % to a tenth"}
    UNIT = 4096
    TIMES = (0.1, 0.4, 0.8, 1.2, 1.5, 1.8, 2.5, 4, 7, 12, 20)
    DRAWN = (0.2, 0.5, 0.8, 1, 1.1, 1.2, 1.4, 1.7, 2, 2.5, 3)
    COLUMNS = 32
    STEP_S = 0.2
    NAND = 2**29
    # 8 dies of 128 blocks of 128 units; each die keeps five blocks free or half filled.
    USABLE = 8 * (128 - 5) * 128 * UNIT


@app.function
def spare_words(spare):
    """What the label says, and what is left once each die has its five blocks."""
    left = 100 * (USABLE / CAPACITY[spare] - 1)
    return f"{spare.replace('%', ' %')} on the label, {left:.2g} % left"


@app.function
def load(values):
    """Random writes of 4 KiB."""
    made = {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}
    if values["load"] == "half":
        made["area"] = f"{CAPACITY[values['spare']] // 2 // 4096 * 4096} B"
    if values["load"] == "hot":
        made["hot_spot"] = f"{CAPACITY[values['spare']] // 10 // 4096 * 4096} B"
        made["hot_share"] = "90 %"
    return made


@app.function
def drive(values):
    """The teaching SSD in one of its formats."""
    wanted = SPARE[values["spare"]]
    return {"model": "teaching-ssd"} | ({"format": wanted} if wanted else {})


@app.function
def scenario(values):
    """A new drive that is written to without pause."""
    return {
        "title": f"First day of an SSD with {values['spare']} spare space",
        "array": [{"drives": [drive(values)]}],
        "workload": [load(values)],
        "run": {"warm_up": "0 s", "duration": "20 s", "timeline_step": f"{STEP_S} s"},
    }


@app.function
def old(values):
    """This drive in steady state."""
    made = scenario(values)
    made["run"] = {"warm_up": "1 s", "duration": "5 s", "precondition": "steady-state"}
    if values["load"] == "half":
        made["run"]["filled"] = made["workload"][0]["area"]
    return made


@app.function
@lru_cache(maxsize=32)
def life(spare, load, seed):
    """A drive that is simulated no further than asked: its erase blocks at one of the times."""
    env = raidlab.Environment()
    live = raidlab.LiveSystem(env, scenario({"spare": spare, "load": load}), seed=seed)
    found = {}

    def until(time):
        for each in TIMES[len(found) : TIMES.index(time) + 1]:
            env.run(until=each)
            found[each] = live.erase_blocks()
        return found[time]

    return until, Lock()


@app.function
def blocks(spare, load, seed, time):
    """The drive's erase blocks at one of the times."""
    until, lock = life(spare, load, seed)
    with lock:
        return until(time)


@app.function
def filling(shown):
    """The erase blocks as squares, the share of valid data as a shade of blue."""
    place = [(at % COLUMNS, at // COLUMNS) for at in range(len(shown.states))]

    def those(*states):
        return [at for at, state in enumerate(shown.states) if state in states]

    closed = those("closed")
    return squares(
        {
            "erased": ("rgba(0,0,0,0)", [place[at] for at in those("free")]),
            "taking data, or being emptied": (
                "#E69F00",
                [place[at] for at in those("open", "emptying")],
            ),
        },
        [(*place[at], shown.valid[at] / shown.units) for at in closed],
        "valid data",
        COLUMNS,
        -(-len(place) // COLUMNS),
    )


@app.function
def oldest_first(rho):
    """Write amplification of collecting the oldest block: u = exp(-(1 - u) / rho), 1 / (1 - u)."""
    valid = 0.5
    for _ in range(2000):
        valid = math.exp(-(1 - valid) / rho)
    return 1 / (1 - valid)


@app.function
def history(timeline, capacity):
    """Host writes in drive capacities, and the rate, at each step of a run."""
    steps = [
        (rate * (now - before) * UNIT / capacity, rate)
        for before, now, rate in zip((0, *timeline.t_s), timeline.t_s, timeline.iops, strict=False)
    ]
    written = list(accumulate(step for step, _ in steps))
    return written, [rate for _, rate in steps]


@app.function
def fall(timeline, capacity):
    """When the rate falls, in drive capacities written.

    A step in which it falls has the first rate for a part of its time, and the rate after it for
    the rest: that part says where between two steps the rate fell.
    """
    written, rates = history(timeline, capacity)
    first = rates[1]
    low = next((at for at, rate in enumerate(rates) if rate < 0.9 * first), len(rates) - 2)
    after = min(rates[low + 1 : low + 3])
    # The fall may begin late in the step before.
    full = sum((rates[at] - after) / (first - after) for at in (low - 1, low))
    return written[low - 2] + full * STEP_S * first * UNIT / capacity


@app.function
def written_by(timeline, written, time):
    """Host writes in drive capacities at a time; within a step they grow evenly."""
    return along((0, *timeline.t_s), (0, *written), [time])[0]


@app.function
def story(timeline, steady, capacity, time):
    """The rate over what was written, beside that in steady state, marked at a time."""
    written, rates = history(timeline, capacity)
    first = written_by(timeline, written, TIMES[0])
    chosen = range(1, len(rates), 2)
    axis = Axis("host writes, drive capacities", log=True)
    drawn = lines(
        [
            Series(
                "fresh drive",
                [first, *(written[at] for at in chosen)],
                [rates[0], *(rates[at] for at in chosen)],
            ),
            Series("steady state", [first, written[-1]], [steady] * 2, closed=True),
        ],
        axis,
        Axis("IO/s"),
    )
    dashed(drawn, written_by(timeline, written, time), f"{time:g} s", axis)
    return drawn


@app.function
def answer(values, seed):
    """The blocks, the rate over what was written, and write amplification beside theory."""
    capacity, time = CAPACITY[values["spare"]], values["time"]
    (fresh, steady), shown = at_once(
        lambda: [each.rows[0] for each in run_all([scenario(values), old(values)], seed)],
        lambda: blocks(values["spare"], values["load"], seed, time),
    )
    written, rates = history(fresh.timeline, capacity)
    first, left = rates[1], 100 * steady.iops / rates[1]
    cliff = fall(fresh.timeline, capacity)
    rho = capacity / (2 if values["load"] == "half" else 1) / USABLE
    factors = {
        "simulated, emptiest block": steady.write_amplification,
        "formula, oldest block": oldest_first(rho),
        "formula, random block": 1 / (1 - rho),
    }
    simulated, oldest, chance = factors.values()
    free = shown.states.count("free")
    each = zip(shown.valid, shown.states, strict=True)
    full = [valid / shown.units for valid, state in each if state == "closed"]
    valid = sum(full) / len(full)
    return Answer(
        f"The drive begins with {figure(first, 'IO/s')}; in steady state it does"
        f" {figure(steady.iops, 'IO/s')}, {left:.0f} % of that.",
        [
            Picture(
                f"After {time:g} s {free} of {len(shown.states)} blocks are erased; full"
                f" ones hold {100 * valid:.0f} % valid data",
                "a square is an erase block, four rows a die; darker: more of it is valid",
                filling(shown),
            ),
            Picture(
                f"The rate falls once {digits(cliff)} capacities are written; the NAND has"
                f" {digits(NAND / capacity)}",
                "rate of random writes, from the first write on",
                story(fresh.timeline, steady.iops, capacity, time),
            ),
            Picture(
                f"Each byte of the host becomes {digits(simulated)} bytes to NAND",
                "write amplification in steady state, simulated and by formula",
                bars(factors, Axis("NAND bytes per host byte"), marked="simulated, emptiest block"),
            ),
        ],
        {
            "written": written,
            "rates": rates,
            "first": first,
            "steady": steady.iops,
            "cliff": cliff,
            "waf": simulated,
            "formula": oldest,
            "random": chance,
            "free": free,
            "valid": valid,
        },
        boxes=[
            Box(f"{left:.0f} %", "of the new drive's rate remain"),
            Box(digits(simulated), "write amplification"),
            Box(f"{digits(cliff)} ×", "capacity written until the cliff"),
        ],
    )


@app.function
def follows(at):
    """How much more a new drive writes to NAND than a used one, over the spare space."""
    more = [
        found["first"] / (found["steady"] * found["waf"]) - 1
        for found in (at(spare=each) for each in SPARE)
    ]
    return 0.31 < more[-1] < 0.32 and 0.395 < more[0] < 0.405 and more == sorted(more)[::-1]


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "The cliff comes when 126 of each die's 128 blocks are taken: at 98 % of NAND over"
            " capacity, 1.05 with 7 % on the label and 1.48 with 50 %. Writes to half of the drive"
            " do not move it.",
            lambda at: all(
                abs(at(spare=spare, load=load)["cliff"] * CAPACITY[spare] / NAND * 128 / 126 - 1)
                < 0.012
                for spare in SPARE
                for load in ("whole", "half")
            ),
            "When does the cliff come, and does the load move it?",
            {"time": 1.5},
        ),
        Claim(
            "The drive uses every erased block before it collects any. From the cliff on one or two"
            " erased blocks are left of 128 on each die.",
            lambda at: at(time=0.8)["free"] > 400 and 8 <= at(time=4)["free"] <= 16,
            "How many erased blocks does the drive keep after the cliff?",
            {"time": 4},
        ),
        Claim(
            "At the cliff full blocks hold 62 % valid data, as (1 - e⁻ˣ) / x says for x = 1.05; in"
            " the end 92 %: the fuller the blocks that collection must empty, the less the host"
            " can write.",
            lambda at: (
                abs(at(time=1.8)["valid"] - 0.62) < 0.02
                and abs((1 - math.exp(-1.05)) / 1.05 - 0.62) < 0.005
                and abs(at(time=20)["valid"] - 0.92) < 0.02
            ),
            "How full of valid data are full blocks at the cliff, and in the end?",
            {"time": 20},
        ),
        Claim(
            "Spare space decides what remains: from 7 to 28 % spare the steady rate grows more"
            " than three times.",
            lambda at: at(spare="28%")["steady"] > 3 * at()["steady"],
            "What does spare space change in the end?",
            {"spare": "28%", "time": 20},
        ),
        Claim(
            "Collecting the emptiest block moves less than the formula for the oldest one says,"
            " and far less than random choice.",
            lambda at: all(
                at(spare=each)["waf"] < at(spare=each)["formula"] < 0.8 * at(spare=each)["random"]
                for each in SPARE
            ),
            "Which block should collection choose: the emptiest, the oldest, any?",
            {"spare": "14%", "time": 20},
        ),
        Claim(
            "Writing to half of the drive only is as good as spare space: write amplification is"
            " below 1.5 even with 7 %.",
            lambda at: at(load="half")["waf"] < 1.5,
            "Is writing to half of the drive as good as spare space?",
            {"load": "half", "time": 20},
        ),
        Claim(
            "In steady state the rate follows write amplification: twice as many bytes to NAND,"
            " half the rate. A new drive writes 32 to 40 % more bytes, most where spare is"
            " least: it has nothing to read and to erase.",
            lambda at: follows(at),
            "How does the steady rate follow from write amplification?",
            {"spare": "50%", "time": 20},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "28 % spare: 102,400 units of data in 8 dies × 123 blocks × 128 units that data can"
            " fill. What does the formula for the oldest block say?",
            "rho = 102,400 / 125,952 = 0.813; u = exp(-(1 - u) / rho) gives u = 0.65 and a write"
            " amplification of 2.85. The run gives 2.6, as it takes the emptiest block.",
            lambda at: (
                abs(at(spare="28%")["formula"] / 2.85 - 1) < 0.02
                and 2.5 < at(spare="28%")["waf"] < 2.75
            ),
        ),
        Exercise(
            "Writes fall on units at random. After x capacities are written, and nothing is"
            " collected yet, which share of what was written is still valid?",
            "(1 - e⁻ˣ) / x: a unit is valid if it was written at all, and only once. After 1.2 s x"
            " is 0.71 and the share 71.6 %; full blocks of the run have 71.5 %.",
            lambda at: round(at(time=1.2)["valid"], 3) == 0.715,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="first-day",
        number=6,
        question="How fast is an SSD when it is no longer new?",
        about="A teaching SSD of 512 MiB NAND, so small that its whole life passes in half a"
        " minute. It is empty at first, and random writes of 4 KiB never stop.",
        prediction=Prediction(
            "7 % spare space on the label. A new drive begins with 73,000 IO/s. Draw its rate over"
            " what the host has written, in capacities of the drive.",
            "IO/s",
            lambda at: along(at()["written"], at()["rates"], DRAWN),
            "Once the NAND is written, each block that is collected is still nearly full of valid"
            " data, which must be moved first.",
            Curve(DRAWN, "host writes, drive capacities", "IO/s", 100_000, log=True, picture=1),
        ),
        controls=[
            Control(
                "spare",
                "Spare space",
                tuple(SPARE),
                "7%",
                words={each: spare_words(each) for each in SPARE},
            ),
            Control("load", "Writes go", tuple(LOADS), "whole", words=LOADS),
            Control("time", "Time since the first write", TIMES, 1.2, "s", plays=True),
        ],
        opens={"spare": "50%", "time": 0.1},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "P. Desnoyers, Analytic modeling of SSD write performance, 2012",
            "X.-Y. Hu et al., Write amplification analysis in flash-based solid state drives, 2009",
            "B. Van Houdt, A mean field model for a class of garbage collection algorithms, 2013",
        ],
        limits="Each die keeps five of its 128 blocks free or half filled, so that of 7 % on the"
        " label 2.8 % are left. On a large drive nearly all of the 7 % are: the formula for the"
        " oldest"
        " block then says 7.8 instead of 18.4. Equal spare space that is left, in percent of the"
        " data, gives equal write amplification; the cliff of a large drive takes hours.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
