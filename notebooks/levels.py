# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 14: RAID levels side by side."""

import marimo

app = marimo.App(width="full", app_title="Room 14: RAID levels side by side")

with app.setup:
    import itertools

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
        bars,
        doubted,
        figure,
        lines,
        mark,
        run_all,
    )

    LEVELS = {"raid0": "RAID 0", "raid10": "RAID 10", "raid5": "RAID 5", "raid6": "RAID 6"}
    SYSTEMS = {
        "os": "the operating system (md)",
        "through": "controller, write-through",
        "back": "controller, 512 MiB write-back",
    }
    DEPTHS = (1, 8, 32, 128)
    SURVIVES = {
        "raid0": "none",
        "raid10": "one, or one of each pair",
        "raid5": "any one",
        "raid6": "any two",
    }
    USABLE = {"raid0": 8, "raid10": 4, "raid5": 7, "raid6": 6}


@app.function
def scenario(values):
    """The database profile on eight SAS disks, over depth."""
    soft = values["by"] == "os"
    controller = {"model": "lsi2008", "disk_cache": False}
    if not soft:
        controller = {
            "model": "lsi2208-512-3.0",
            "write": "always-write-back" if values["by"] == "back" else "write-through",
            "disk_cache": False,
        }
    array = {"level": values["level"], "drives": [{"model": "sas-6g-hdd", "count": 8}]}
    return {
        "title": f"{LEVELS[values['level']]} by {SYSTEMS[values['by']]}: database profile",
        "host": {"model": "rx300-s7"},
        "controller": controller,
        "array": [array | ({"software_raid": "os", "bitmap": "none"} if soft else {})],
        "workload": [{"profile": "database", "outstanding": list(DEPTHS), "area": "32 GB"}],
        "run": {"warm_up": "30 s" if values["by"] == "back" else "2 s", "duration": "5 s"},
    }


@app.function
def kept(rows, place):
    """True if each level is faster than the next one at this place of `DEPTHS`."""
    rates = [each[place].iops for each in rows.values()]
    return all(one > other for one, other in itertools.pairwise(rates))


@app.function
def answer(values, seed):
    """Rate and p99 of each level at one depth."""
    found = run_all([scenario(values | {"level": level}) for level in LEVELS], seed)
    at = DEPTHS.index(values["depth"])
    rows = {level: result.rows for level, result in zip(LEVELS, found, strict=True)}
    level = values["level"]
    rate = {LEVELS[name]: each[at].iops for name, each in rows.items()}
    p99 = {LEVELS[name]: each[at].latency_us.p99 / 1e3 for name, each in rows.items()}
    own = rows[level][at]
    over = lines(
        [Series(LEVELS[name], DEPTHS, [row.iops for row in each]) for name, each in rows.items()],
        Axis("outstanding I/Os", depths=True),
        Axis("IO/s"),
    )
    mark(over, values["depth"], own.iops, LEVELS[level])
    share = own.iops / rows["raid0"][at].iops
    return Answer(
        f"{LEVELS[level]} does {figure(own.iops, 'IO/s')} at {values['depth']} outstanding,"
        f" {100 * share:.0f} % of RAID 0, and survives the loss of {SURVIVES[level]}"
        f"{' disk' if level == 'raid5' else ' disks' if level == 'raid6' else ''}.",
        [
            Picture(
                "The levels keep their order at every depth"
                if all(kept(rows, place) for place in range(len(DEPTHS)))
                else "The levels change places with the depth",
                "rate, by level",
                over,
            ),
            Picture(
                f"p99 {figure(p99[LEVELS[level]], 'ms')} on {LEVELS[level]}",
                f"slowest hundredth of the I/Os at {values['depth']} outstanding",
                bars(p99, Axis("latency, ms"), marked=LEVELS[level]),
            ),
        ],
        {
            "iops": own.iops,
            "share": share,
            "p99_ms": p99[LEVELS[level]],
            "order": sorted(rate, key=rate.get),
        },
        boxes=[
            Box(figure(own.iops, "IO/s"), f"{100 * share:.0f} % of RAID 0"),
            Box(f"{USABLE[level]} of 8", "disks usable"),
            Box(SURVIVES[level], "losses survived"),
        ],
        warnings=[
            said
            for name, result in zip(LEVELS.values(), found, strict=True)
            for said in doubted(result.results, name)
        ],
    )


@app.function
def helps(at, depth):
    """RAID 6 behind a controller: its rate with the cache over that without."""
    return (
        at(level="raid6", depth=depth, by="back")["iops"]
        / at(level="raid6", depth=depth, by="through")["iops"]
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Of levels with redundancy RAID 10 is the fastest for this profile, and has the least"
            " space; RAID 6 is the slowest, and the only one that survives any two losses.",
            lambda at: (
                at(by="os")["order"] == ["RAID 6", "RAID 5", "RAID 10", "RAID 0"]
                and at(by="through")["order"] == ["RAID 6", "RAID 5", "RAID 10", "RAID 0"]
            ),
            "Which level with redundancy is the fastest for this load, and what does it cost?",
            {"level": "raid10"},
        ),
        Claim(
            "A third of the I/Os are writes. By the count of commands RAID 5 does 50 % of RAID 0"
            " and RAID 6 38 %; without a cache they do 52 and 41 %, as the arm is already there"
            " for the writes.",
            lambda at: (
                round(1 / (0.67 + 4 * 0.33), 2) == 0.5
                and round(1 / (0.67 + 6 * 0.33), 2) == 0.38
                and abs(at(by="os", level="raid5")["share"] - 0.52) < 0.01
                and abs(at(by="os", level="raid6")["share"] - 0.41) < 0.01
            ),
            "Which share of RAID 0's rate do RAID 5 and RAID 6 keep?",
            {"level": "raid6"},
        ),
        Claim(
            "A write-back cache helps most where one I/O is outstanding: RAID 6 then does more"
            " than one and a half times as much as without it.",
            lambda at: (
                helps(at, 1) > 1.5 and all(helps(at, depth) < helps(at, 1) for depth in DEPTHS[1:])
            ),
            "Where does a write-back cache help most?",
            {"level": "raid6", "by": "back", "depth": 1},
        ),
        Claim(
            "From 32 to 128 outstanding md on an LSI2008 gains nothing: the queue of that"
            " controller is full.",
            lambda at: (
                abs(at(by="os", depth=128)["iops"] / at(by="os", depth=32)["iops"] - 1) < 0.02
            ),
            "What does md gain from 32 to 128 outstanding?",
            {"depth": 128},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "The database profile has 67 % reads. How many commands does an I/O take, by level?",
            "RAID 0: 1. RAID 10: 0.67 + 2 × 0.33 = 1.33. RAID 5: 1.99. RAID 6: 2.65. RAID 10 runs"
            " at 0.7 to 0.8 of RAID 0 at depth 32 by md.",
            lambda at: 0.7 < at(by="os", level="raid10")["share"] < 0.8,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="levels",
        number=14,
        question="RAID 5, 6 or 10, in software or hardware?",
        about="The database profile (8 KiB, 67 % reads) on eight SAS disks. The operating system"
        " makes the RAID behind a plain adapter, or a controller does, with its cache or without.",
        prediction=Prediction(
            "RAID 0 by the operating system does 2,950 IO/s at 32 outstanding. How many does RAID 6"
            " do?",
            "IO/s",
            lambda at: at(by="os", level="raid6")["iops"],
            "Each write takes six commands, and a third of the I/Os are writes: 2.65 commands an"
            " I/O.",
            Number(1, 100_000),
            {"level": "raid6"},
        ),
        controls=[
            Control("level", "Level", tuple(LEVELS), "raid5", words=LEVELS),
            Control("by", "RAID by", tuple(SYSTEMS), "os", words=SYSTEMS),
            Control("depth", "Outstanding I/Os", DEPTHS, 32),
        ],
        opens={"level": "raid0", "by": "back"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "P. M. Chen et al., RAID: high-performance, reliable secondary storage, 1994",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
