# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 4: the write penalty."""

import marimo

app = marimo.App(width="full", app_title="Room 4: the write penalty")

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
        bars,
        bars_in_time,
        chart,
        digits,
        draw_curve,
        figure,
        run_all,
        traced,
    )

    LEVELS = {"raid0": "RAID 0", "raid10": "RAID 10", "raid5": "RAID 5", "raid6": "RAID 6"}
    COMMANDS = {
        "raid0": ([], ["data"]),
        "raid10": ([], ["data", "copy"]),
        "raid5": (["data", "P"], ["data", "P"]),
        "raid6": (["data", "P", "Q"], ["data", "P", "Q"]),
    }
    SYSTEMS = {
        "five": "5 ms drives, no cache",
        "disks": "15,000 rpm disks, no cache",
        "cached": "15,000 rpm disks, 512 MiB write-back",
    }
    IDLE = "; RAID 0 stays below 1,600, as a drive is idle now and then"


@app.function
def scenario(values):
    """Random I/Os of 4 KiB to eight drives on one level."""
    made = {
        "title": f"{LEVELS[values['level']]}, {values['reads']} % reads",
        "array": [{"level": values["level"], "drives": [{"model": "five", "count": 8}]}],
        "workload": [
            {
                "rw": "randrw",
                "read_share": f"{values['reads']} %",
                "block_size": "4 KiB",
                "align": "4 KiB",
                "outstanding": 256,
            }
        ],
        "run": {"warm_up": "5 s", "duration": "20 s"},
    }
    if values["system"] == "five":
        made["array"][0] |= {"software_raid": "os", "bitmap": "none"}
        return made
    cached = values["system"] == "cached"
    made["controller"] = {
        "model": "lsi2208-512-3.0",
        "write": "always-write-back" if cached else "write-through",
        "read_ahead": "none",
        "disk_cache": False,
    }
    made["array"][0]["drives"][0]["model"] = "generic-15000rpm"
    made["workload"][0]["area"] = "32 GB"
    made["run"] = {"warm_up": "6 s" if cached else "2 s", "duration": "2 s"}
    return made


@app.function
def places(level, io):
    """The drive of each unit of a traced write: the array asks for data first, then P, then Q."""
    asked = [stage["component"] for stage in io["stages"] if stage["kind"] == "drive"]
    drives = [int(name.rpartition(".")[2]) for name in dict.fromkeys(asked)]
    return dict(zip(COMMANDS[level][1], drives, strict=True))


@app.function
def commands(level, io):
    """The commands of one traced write: which drive, in which of the two steps."""
    reads, writes = COMMANDS[level]
    on = places(level, io)
    drawn = chart(height=240)
    for step, (names, color, symbol) in enumerate(
        ((reads, "#0072B2", "circle"), (writes, "#D55E00", "square"))
    ):
        draw_curve(
            drawn,
            None,
            list(range(8)),
            [1 - step] * 8,
            mode="markers",
            marker={"size": 22, "symbol": symbol + "-open", "color": "#7B8794"},
            hoverinfo="skip",
        )
        draw_curve(
            drawn,
            "read" if step == 0 else "write",
            [on[name] for name in names],
            [1 - step] * len(names),
            texts=names,
            hover="%{text} on drive %{x}<extra></extra>",
            mode="markers+text",
            textposition="top center",
            marker={"size": 22, "symbol": symbol, "color": color},
        )
    drawn.update_xaxes(title_text="drive", tickvals=list(range(8)), range=[-0.6, 7.6])
    drawn.update_yaxes(
        tickvals=[1, 0], ticktext=["1 read old", "2 write new"], range=[-0.6, 1.7], showgrid=False
    )
    return drawn


@app.function
def alone(level, system, seed):
    """One write alone, traced: on 5 ms drives, or on disks without a cache and with one."""
    rows = {}
    shown = {"disks": "no cache", "cached": "write-back cache"}
    if system == "five":
        shown = {"five": "no cache"}
    for each, name in shown.items():
        made = scenario({"level": level, "reads": 0, "system": each})
        made["workload"][0]["outstanding"] = 1
        made["run"] = {"warm_up": "100 ms", "duration": "1 s"}
        rows[name] = traced(made, seed, 1)[0]
    return rows


@app.function
def steps(level, system, rows):
    """The writes of `alone` on a time axis."""
    written = (
        "two steps, one after the other" if COMMANDS[level][0] else "one step, nothing is read"
    )
    drives = "5 ms drives" if system == "five" else "15,000 rpm disks"
    later = "; behind the cache the commands to the disks follow later, with those of other writes"
    return bars_in_time(
        rows,
        f"A random write of 4 KiB on {LEVELS[level]}, without a cache: {written}",
        f"alone on {drives}, over the time since the host sent it{later * (system != 'five')}",
    )


@app.function
def answer(values, seed):
    """IO/s of each level, and the commands of one write on the chosen one."""
    asked = [scenario(values | {"level": level}) for level in LEVELS]
    found = [result.rows[0].iops for result in run_all(asked, seed)]
    rates = dict(zip(LEVELS, found, strict=True))
    level, reads = values["level"], values["reads"] / 100
    writes = alone(level, values["system"], seed)
    first = writes["no cache"]
    cost = len(COMMANDS[level][0]) + len(COMMANDS[level][1])
    closed = 1600 / (reads + cost * (1 - reads))
    measured = rates["raid0"] / rates[level]
    cached = values["system"] == "cached"
    mean = reads + cost * (1 - reads)
    return Answer(
        f"{LEVELS[level]} does {figure(rates[level], 'IO/s')} with {values['reads']} % reads:"
        f" one I/O costs as much as {digits(measured)} of RAID 0. The count of commands is"
        f" {digits(mean)}.",
        [
            Picture(
                f"One small write on {LEVELS[level]}: {cost} command{'s' * (cost > 1)}",
                "the write of the picture above"
                + "; with the cache they follow once it is acknowledged" * cached,
                commands(level, first),
            ),
            Picture(
                f"{LEVELS[level]}: {figure(rates[level], 'IO/s')}",
                f"rate of eight drives by level, {values['reads']} % reads"
                + IDLE * (values["system"] == "five"),
                bars(
                    {LEVELS[name]: rate for name, rate in rates.items()},
                    Axis("IO/s"),
                    marked=LEVELS[level],
                ),
            ),
        ],
        {
            "iops": rates[level],
            "closed": closed,
            "factor": measured,
            "commands": cost,
            "alone_ms": first["latency_ns"] / 1e6,
        },
        boxes=[
            Box(f"{cost}", f"command{'s' * (cost > 1)} per small write"),
            Box(f"{digits(mean)}", "commands per I/O on average"),
            Box(f"{digits(measured)}", "I/Os of RAID 0 that one costs"),
        ],
        scenes=[steps(level, values["system"], writes)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "On 5 ms drives without a cache the commands are all that counts: writes alone run at"
            " a half, a quarter and a sixth of RAID 0's rate.",
            lambda at: all(
                abs(at(reads=0, level=level)["factor"] / cost - 1) < 0.03
                for level, cost in (("raid10", 2), ("raid5", 4), ("raid6", 6))
            ),
            "What is the rate of writes alone on each level, as a share of RAID 0's?",
            {"reads": 0},
        ),
        Claim(
            "Reads cost one command on every level: with reads alone the levels differ by less"
            " than 2 % on 5 ms drives, by less than 5 % on disks.",
            lambda at: all(
                abs(at(reads=100, level=level, system=system)["factor"] - 1) < most
                for level in LEVELS
                for system, most in (("five", 0.02), ("disks", 0.05), ("cached", 0.05))
            ),
            "Is RAID 6 slower than RAID 0 for reads?",
            {"reads": 100, "level": "raid6"},
        ),
        Claim(
            "With writes alone disks do better than the count: RAID 5 loses a factor below 4,"
            " because the arm is already there when the new data come to where the old were read."
            " Now and then a disk has read ahead onto the next track, and seeks back.",
            lambda at: at(reads=0, level="raid5", system="disks")["factor"] < 3.9,
            "Do disks lose as much as the count of commands says?",
            {"system": "disks"},
        ),
        Claim(
            "With writes alone a full write-back cache makes RAID 5 half as fast again, as it"
            " destages in order; RAID 0 gains as well, so most of the penalty stays. Until it is"
            " full (room 19), a write takes microseconds.",
            lambda at: (
                at(reads=0, level="raid5", system="cached")["iops"]
                > 1.4 * at(reads=0, level="raid5", system="disks")["iops"]
                and at(reads=0, level="raid5", system="cached")["factor"] > 3
            ),
            "How much of the penalty does a write-back cache take away?",
            {"system": "cached"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "Eight 5 ms drives, RAID 5, 30 % reads: compute the rate, then read it.",
            "8 × 200 / (0.3 + 4 × 0.7) = 516 IO/s; the run gives about 3 % less, because with 256"
            " places a drive is idle now and then.",
            lambda at: 0.96 < at(reads=30, level="raid5")["iops"] / 516 < 1.0,
        ),
        Exercise(
            "The same with RAID 6.",
            "8 × 200 / (0.3 + 6 × 0.7) = 356 IO/s; the run gives 3 to 4 % less.",
            lambda at: 0.95 < at(reads=30, level="raid6")["iops"] / 356 < 1.0,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="write-penalty",
        number=4,
        question="What does a small write cost?",
        about="Random I/Os of 4 KiB on eight drives, 256 outstanding. The picture shows the"
        " commands of one write; the bars show what that leaves of the rate.",
        prediction=Prediction(
            "Eight drives of 5 ms can do 1,600 commands a second. How many writes of 4 KiB a second"
            " does RAID 5 do on them?",
            "IO/s",
            lambda at: at(reads=0, level="raid5")["iops"],
            "Each small write reads old data and old parity, then writes both: four commands.",
            Number(1, 10_000),
        ),
        controls=[
            Control("level", "Level", tuple(LEVELS), "raid5", words=LEVELS),
            Control("reads", "Share of reads", (0, 30, 50, 70, 90, 100), 0, "%"),
            Control("system", "System", tuple(SYSTEMS), "five", words=SYSTEMS),
        ],
        opens={"level": "raid0", "reads": 100},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "D. A. Patterson, G. Gibson and R. H. Katz, A case for redundant arrays of"
            " inexpensive disks, 1988",
            "P. M. Chen et al., RAID: high-performance, reliable secondary storage, 1994",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
