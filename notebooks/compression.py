# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 7: what data do to a SandForce."""

import marimo

app = marimo.App(width="full", app_title="Room 7: what data do to a SandForce")

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
        busiest,
        digits,
        figure,
        lines,
        mark,
        run_all,
    )

    SHARES = (0, 25, 50, 75, 90)
    REACHES = 0.95
    LOADS = {"randwrite": "at random, 4 KiB", "write": "in sequence, 128 KiB"}


@app.function
def found_by(shrink):
    """The share of the bytes that the drive's coder finds in data that shrink by this much."""
    return shrink**3 * (3 - 2 * shrink)


@app.function
def scenario(values):
    """Writes of data that shrink by this much."""
    return {
        "title": f"An SSD that compresses, data that shrink by {values['shrink']} %",
        "array": [{"drives": [{"model": "sandforce-1222-64gb"}]}],
        "workload": [
            {
                "rw": values["load"],
                "block_size": "4 KiB" if values["load"] == "randwrite" else "128 KiB",
                "outstanding": 32,
                "compressible": f"{values['shrink']} %",
            }
        ],
        "run": {"warm_up": "100 ms", "duration": "500 ms", "precondition": "steady-state"},
    }


@app.function
def answer(values, seed):
    """Rate and bytes to NAND for the chosen data, beside the others."""
    found = run_all([scenario(values | {"shrink": shrink}) for shrink in SHARES], seed)
    rows = dict(zip(SHARES, (result.rows[0] for result in found), strict=True))
    own, plain = rows[values["shrink"]], rows[0]
    waf = {share: row.write_amplification for share, row in rows.items()}
    rates = lines(
        [Series("IO/s", SHARES, [row.iops for row in rows.values()])],
        Axis("data shrink by, %"),
        Axis("IO/s"),
    )
    rates.update_xaxes(tickvals=SHARES)
    mark(rates, values["shrink"], own.iops, f"{values['shrink']} %")
    # What the drive's own coder saves of the bytes, if spare space changed nothing.
    kept = [waf[0] * (1 - REACHES * found_by(share / 100)) for share in SHARES]
    nand = lines(
        [
            Series("bytes alone", SHARES, kept, closed=True),
            Series("simulated", SHARES, list(waf.values())),
        ],
        Axis("data shrink by, %"),
        Axis("NAND bytes per host byte"),
    )
    nand.update_xaxes(tickvals=SHARES)
    mark(nand, values["shrink"], waf[values["shrink"]], f"{values['shrink']} %")
    gain = own.iops / plain.iops
    most = busiest(found[SHARES.index(values["shrink"])].results[0])
    limit = f"{'NAND' if most.kind == 'drive' else most.name} at {most.words}" if most else "none"
    return Answer(
        f"Data that shrink by {values['shrink']} % are written {digits(gain)} times as fast as data"
        f" that do not, with {digits(waf[values['shrink']])} bytes to NAND for each byte.",
        [
            Picture(
                f"{figure(own.iops, 'IO/s')}", "rate of the writes over compressibility", rates
            ),
            Picture(
                f"{digits(waf[values['shrink']])} NAND bytes per host byte",
                "dashed: what the drive finds, if only bytes shrank and spare space changed"
                " nothing",
                nand,
            ),
        ],
        {
            "iops": own.iops,
            "gain": gain,
            "waf": waf[values["shrink"]],
            "bytes_alone": kept[SHARES.index(values["shrink"])],
            "limit": most.kind if most else "",
        },
        boxes=[
            Box(figure(own.iops, "IO/s"), f"limit: {limit}"),
            Box(digits(waf[values["shrink"]]), "NAND bytes per host byte"),
            Box(f"{digits(gain)} ×", "the rate of data that do not shrink"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "At random, data that shrink by half are written twice as fast, in sequence a third"
            " faster. Twice is no law: the drive finds a quarter only, and the rest is spare space."
            " At 25 % the gain is an eighth, at 75 % 3.6 times.",
            lambda at: (
                1.9 < at(shrink=50)["gain"] < 2.2
                and 1.25 < at(shrink=50, load="write")["gain"] < 1.4
                and abs(at(shrink=25)["gain"] - 1.125) < 0.02
                and abs(at(shrink=75)["gain"] - 3.6) < 0.1
            ),
            "Data that shrink by half: what do random writes gain, and what do writes in sequence?",
            {"load": "write"},
        ),
        Claim(
            "In sequence bytes to NAND follow the dashed line. At random they fall further:"
            " what the"
            " drive saves is spare space, and collection moves less. Of data that it shrinks by a"
            " quarter half of the bytes go.",
            lambda at: (
                at(shrink=50)["waf"] < 0.55 * at(shrink=0)["waf"]
                and at(shrink=50)["waf"] < 0.7 * at(shrink=50)["bytes_alone"]
                and all(
                    abs(
                        at(shrink=share, load="write")["waf"]
                        - at(shrink=share, load="write")["bytes_alone"]
                    )
                    < 0.01
                    for share in SHARES
                )
            ),
            "Why do bytes to NAND fall further than the dashed line, for random writes alone?",
            {"shrink": 50},
        ),
        Claim(
            "The drive does not find everything: data that shrink by 25 % for a good compressor"
            " shrink by 4 % here.",
            lambda at: abs(at(shrink=25, load="write")["waf"] - 0.963) < 0.01,
            "Does the drive find what a good compressor finds?",
            {"shrink": 25, "load": "write"},
        ),
        Claim(
            "Write amplification below 1 is no fault: at 90 % one byte of six reaches NAND.",
            lambda at: 0.15 < at(shrink=90)["waf"] < 0.18,
            "Is write amplification below 1 an error?",
            {"shrink": 90},
        ),
        Claim(
            "At random the rate stays from 75 % on: the firmware is the limit, not NAND.",
            lambda at: (
                abs(at(shrink=90)["iops"] / at(shrink=75)["iops"] - 1) < 0.01
                and at(shrink=90)["limit"] == "firmware"
            ),
            "Why is the rate no higher at 90 % than at 75 %?",
            {"shrink": 90},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "The engine replaces runs of three symbols: it finds c³ (3 - 2c) of data"
            " that shrink by c. How much does it save at c = 50 %?",
            "c³ (3 - 2c) = 0.125 × 2 = 25 % of the data; in sequence the drive stores 0.76 of"
            " them, as its coder reaches 95 % of that. The dashed line is"
            " 1 - 0.95 c³ (3 - 2c) times the NAND bytes of data that do not shrink: 1 in sequence,"
            " 2.03 at random.",
            lambda at: (
                abs(at(shrink=50, load="write")["waf"] - 0.76) < 0.02
                and abs(at(shrink=0, load="write")["waf"] - 1) < 0.005
                and abs(at(shrink=0)["waf"] - 2.03) < 0.005
            ),
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="compression",
        number=7,
        question="What do the data themselves do to an SSD that compresses?",
        about="Random writes of 4 KiB to a SandForce 1222 of 64 GB in steady state. It compresses"
        " what it stores. The slider says by how much a good compressor would shrink the data.",
        prediction=Prediction(
            "Random writes of data that a good compressor shrinks by a quarter: how many times as"
            " fast are they as data that do not shrink?",
            "times",
            lambda at: at(shrink=25)["gain"],
            "The drive's fast coder finds 4 % where a good compressor finds 25 %; what it finds"
            " also"
            " becomes spare space.",
            Number(0.1, 100),
            {"shrink": 25},
        ),
        controls=[
            Control("shrink", "Data shrink by", SHARES, 50, "%"),
            Control("load", "Writes", tuple(LOADS), "randwrite", words=LOADS),
        ],
        opens={"shrink": 0},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=["docs/explanation/ssd.md of raidlab: compression, and what its numbers rest on"],
        limits="All data of a run have one compressibility.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
