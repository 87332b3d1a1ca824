# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 18: risk of a rebuild."""

import marimo

app = marimo.App(width="full", app_title="Room 18: risk of a rebuild")

with app.setup:
    import math
    import random

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
        digits,
        losses,
        squares,
    )

    LEVELS = {"raid5": "RAID 5", "raid10": "RAID 10", "raid6": "RAID 6"}
    HOURS = (12, 24, 48)
    BITS = {"1e-14": "one in 10¹⁴", "1e-15": "one in 10¹⁵", "1e-16": "one in 10¹⁶"}
    YEARS, DRIVES = 5, 8
    COLUMNS, ROWS = 40, 25


@app.function
def scenario(values):
    """Eight disks of 8 TB under a small load."""
    return {
        "title": f"{LEVELS[values['level']]} of eight disks of 8 TB",
        "array": [
            {
                "level": values["level"],
                "software_raid": "os",
                "bitmap": "none",
                "drives": [{"model": "generic-7200rpm", "count": DRIVES}],
            }
        ],
        "workload": [{"profile": "database", "rate": "10 IO/s"}],
        "run": {"warm_up": "1 s", "duration": "1 s"},
    }


@app.function
def chance(share):
    """A probability as a class reads it: `20.5 %`, or `one in 82,200` where it is small."""
    if share < 0.01:
        return f"one in {float(f'{1 / share:.3g}'):,.0f}" if share else "none"
    return f"{digits(100 * share)} %"


@app.function
def answer(values, seed):
    """How probable a loss is, of failures alone and with unreadable sectors."""
    found = losses(scenario(values), YEARS, values["hours"], float(values["bits"]), seed)
    lost = round(found.loss * COLUMNS * ROWS)
    # Which of the thousand are lost is chance; how many is the probability.
    places = [(at % COLUMNS, at // COLUMNS) for at in range(COLUMNS * ROWS)]
    random.Random(seed).shuffle(places)
    shown = squares(
        {
            "no loss": ("rgba(0,0,0,0)", places[lost:]),
            "data lost": ("#D55E00", places[:lost]),
        },
        [],
        "",
        COLUMNS,
        ROWS,
    )
    shown.update_xaxes(constrain="domain", constraintoward="left")
    shown.update_yaxes(constrain="domain", scaleanchor="x")  # as far apart across as down
    parts = {
        "second failure": found.by_drives,
        "the same, by Markov chain": found.closed_form,
        "with unreadable sectors": found.loss,
    }
    return Answer(
        f"Within {YEARS} years {chance(found.loss)} of such arrays lose data;"
        f" failures of drives alone would be {chance(found.by_drives)}.",
        [
            Picture(
                f"{lost} of 1,000 arrays lose data",
                f"each square an array after {YEARS} years",
                shown,
                wide=True,
            ),
            Picture(
                "What is left out decides",
                f"losses within {YEARS} years, without and with unreadable sectors",
                bars(
                    {name: 1e6 * value for name, value in parts.items()},
                    Axis("of a million arrays", log=True),
                    marked="with unreadable sectors",
                ),
            ),
        ],
        {
            "loss": found.loss,
            "by_drives": found.by_drives,
            "closed_form": found.closed_form,
            "unreadable": found.unreadable,
            "failures": found.failures_per_year,
        },
        boxes=[
            Box(chance(found.loss), f"lose data within {YEARS} years"),
            Box(chance(found.unreadable), "of rebuilds meet an unreadable sector"),
            Box(chance(found.by_drives), "by failures of drives alone"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "A rebuild four times as fast does not save RAID 5: 20.5 % with 48 hours, 20.4 % with"
            " 12. Its losses are sectors that cannot be read while no redundancy is left.",
            lambda at: (
                round(at(hours=48)["loss"], 3) == 0.205 and round(at(hours=12)["loss"], 3) == 0.204
            ),
            "Does a faster rebuild save RAID 5?",
            {"hours": 12},
        ),
        Claim(
            "A second parity does: RAID 6 loses data in one of 8,000 arrays.",
            lambda at: at(level="raid6", hours=48)["loss"] < 2e-4,
            "Which change saves the data?",
            {"level": "raid6"},
        ),
        Claim(
            "A formula of failures alone says one in 2,600 (0.038 %) for RAID 5 at 48 hours, a five"
            " hundredth of the truth: 8 × 7 × (0.0158 / 8,766 h)² × 48 h × 43,830 h, as"
            " -ln(1 - 0.0157) = 0.0158 of the disks fail in a year.",
            lambda at: (
                abs(at(hours=48)["by_drives"] / 0.00038 - 1) < 0.02
                and abs(at(hours=48)["loss"] / at(hours=48)["by_drives"] / 530 - 1) < 0.05
                and abs(56 * (0.0158 / 8766) ** 2 * 48 * 43830 / at(hours=48)["by_drives"] - 1)
                < 0.02
            ),
            "How far off is the formula that knows failures of drives alone?",
            {"hours": 48},
        ),
        Claim(
            "With one unreadable bit in 10¹⁶ instead of 10¹⁵ RAID 5 loses 2.76 % of the arrays,"
            " not 20.5 %: 1 - exp(-0.127 × 5 × 0.0438). At 10¹⁴ nearly every first failure is a"
            " loss.",
            lambda at: (
                round(at(bits="1e-16")["loss"], 4) == 0.0276
                and round(at()["loss"], 3) == 0.205
                and abs(1 - math.exp(-0.127 * 5 * 0.0438) - at(bits="1e-16")["loss"]) < 0.0005
                and round(at(bits="1e-16")["unreadable"], 4) == 0.0438
                and at(bits="1e-14")["unreadable"] > 0.98
            ),
            "What does a better error rate of the medium change?",
            {"bits": "1e-16"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "RAID 5 of eight disks, 1.57 % of which fail in a year; 36 % of rebuilds meet an"
            " unreadable"
            " sector. How probable is a loss within five years?",
            "A rate of -ln(1 - 0.0157) = 0.0158 a year and disk: 8 × 0.0158 = 0.127 failures a"
            " year, 0.127 × 5 × 0.36 = 0.229 losses if arrays went on;"
            " 1 - exp(-0.229) = 20.4 %.",
            lambda at: (
                abs(1 - math.exp(8 * math.log(1 - 0.0157) * 5 * at()["unreadable"]) - at()["loss"])
                < 0.005
            ),
        ),
        Exercise(
            "Seven disks of 8 TB, one unreadable bit in 10¹⁵: how probable is one during a"
            " rebuild?",
            "1 - exp(-7 × 8 × 10¹² × 8 / 10¹⁵) = 36 %.",
            lambda at: abs(at()["unreadable"] - (1 - math.exp(-7 * 8e12 * 8 / 1e15))) < 0.005,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="outlive",
        number=18,
        question="Will the array outlive its rebuild?",
        about="Eight disks of 8 TB; 1.57 % of such disks fail in a year. A failed one is"
        " replaced at once and rebuilt. Data are lost when more drives fail than the level"
        " bears, or when a"
        " sector cannot be read and no redundancy is left.",
        prediction=Prediction(
            "RAID 5 loses data in 20.5 % of the arrays within five years, with rebuilds of 48"
            " hours."
            " A faster controller rebuilds in 12. How many percent are lost then?",
            "%",
            lambda at: 100 * at(hours=12)["loss"],
            "Nearly all losses are unreadable sectors. A rebuild must read every sector, however"
            " fast it is.",
            Number(0, 100),
            {"hours": 12},
        ),
        controls=[
            Control("level", "Level", tuple(LEVELS), "raid5", words=LEVELS),
            Control("hours", "A rebuild takes", HOURS, 48, "h"),
            Control("bits", "Unreadable bits", tuple(BITS), "1e-15", words=BITS),
        ],
        opens={"level": "raid10", "hours": 24},
        scenario=scenario,
        command=lambda values: (
            f"raidlab risk outlive.toml --years {YEARS} --rebuild {values['hours']} --replace 0"
            f" --uber {values['bits']}"
        ),
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "docs/explanation/risk.md of raidlab: how rare losses are found",
            "L. N. Bairavasundaram et al., An analysis of latent sector errors in disk drives,"
            " 2007",
        ],
        limits="Drives fail independently and at a constant rate. A bad batch, early failures and"
        " patrol reads: raidlab risk has options for them.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
