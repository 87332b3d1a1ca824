# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 17: fsync and group commit."""

import marimo

app = marimo.App(width="full", app_title="Room 17: fsync and group commit")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Box,
        Claim,
        Control,
        Dot,
        Exercise,
        Key,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        Scene,
        Step,
        bars,
        digits,
        figure,
        label,
        path,
        run_all,
    )

    DRIVES = {
        "disk": "7,200 rpm disk, cache on",
        "through": "7,200 rpm disk, cache off",
        "client": "SATA SSD of a PC",
        "plp": "SATA SSD with power-loss protection",
        "nvme": "NVMe SSD with power-loss protection",
    }
    MODELS = {
        "disk": {"model": "generic-7200rpm"},
        "through": {"model": "generic-7200rpm", "write_cache": False},
        "client": {"model": "generic-sata-tlc-client"},
        "plp": {"model": "generic-sata-tlc"},
        "nvme": {"model": "p3700-800"},
    }
    VOLATILE = ("disk", "client")
    KEPT = ("plp", "nvme")
    AFTER = (0, 1, 8, 64)
    NAMES = {0: "never", 1: "each write", 8: "8 writes", 64: "64 writes"}
    WRITERS = (1, 4, 16)
    RECORDS = 8


@app.function
def scenario(values):
    """Writers that append records of 4 KiB to a log."""
    load = {
        "rw": "write",
        "block_size": "4 KiB",
        "align": "4 KiB",
        "outstanding": values["writers"],
    }
    return {
        "title": f"A log on a {DRIVES[values['drive']]}, fsync after {NAMES[values['after']]}",
        "array": [{"drives": [MODELS[values["drive"]]]}],
        "workload": [load | ({"fsync": values["after"]} if values["after"] else {})],
        "run": {"warm_up": "100 ms", "duration": "1 s"},
    }


@app.function
def plug(values):
    """Records on their way to the medium; what a power failure at each step would cost."""
    volatile, after = values["drive"] in VOLATILE, values["after"]
    lanes = {"host": 40, "drive's memory": 120, "medium": 200}
    shapes = [label(8, y + 5, name, look="soft") for name, y in lanes.items()]
    shapes += [path((150, y + 28), (570, y + 28), look="axis dashed") for y in (40, 120)]
    keys = {at: [] for at in range(RECORDS)}
    steps, acknowledged, t = [], 0, 0.0
    across = [190 + 50 * at for at in range(RECORDS)]
    kept = values["drive"] in KEPT

    def put(record, lane, color, hollow=False):
        keys[record].append(Key(t, across[record], lanes[lane], color, hollow))

    def say(what):
        # An fsync that has returned keeps a record; without one, only the drive may.
        lost = acknowledged if volatile and not after else 0
        said = (
            f"{lost} of {acknowledged} acknowledged records"
            if acknowledged
            else "no acknowledged record: there is none yet"
        )
        steps.append(Step(t, f"{what} A power failure now loses {said}."))

    say("The log is empty.")
    for record in range(RECORDS):
        t += 1.0
        put(record, "host", "#566370", True)
        t += 1.0
        direct = values["drive"] == "through"
        put(record, "medium" if direct else "drive's memory", "#0072B2")
        if not after or (record + 1) % after:
            acknowledged += not after
            say(f"Write {record + 1} is complete" + ("." if not after else ", its commit waits."))
            continue
        t += 1.0
        for earlier in range(acknowledged, record + 1):
            put(earlier, "medium" if direct else "drive's memory", "#0072B2")
        t += 1.0
        for earlier in range(acknowledged, record + 1):
            put(earlier, "drive's memory" if kept else "medium", "#009E73")
        acknowledged = record + 1
        way = (
            "the drive writes its memory to the medium"
            if volatile
            else "nothing is left to do: a capacitor keeps the drive's memory"
            if kept
            else "it is on the medium already"
        )
        say(f"fsync after write {record + 1}: {way}.")
    dots = [Dot(f"record {at + 1}", each, str(at + 1), 13) for at, each in keys.items()]
    return Scene(
        "Acknowledged, and where it is",
        f"the first {RECORDS} records of a log, a dot each; a record is acknowledged when "
        + ("the fsync after it returns (green)" if after else "its write is complete")
        + ". Stop at any step: the power fails there",
        600, 240, steps, shapes, dots, at=len(steps) - 1,
    )  # fmt: skip


@app.function
def titles(rates, medians):
    """What the two pictures show of a drive.

    Args:
        rates: Records a second by how many share an fsync.
        medians: Median latencies in the same way, 0 for no fsync, in one unit.
    """
    if max(rates.values()) < 1.02 * min(rates.values()):
        return "The log is as fast with fsync as without", "An fsync adds no time to a write"
    return (
        "The fewer share an fsync, the slower the log",
        "The time is in the fsync, not in the write"
        if medians[1] > 2 * medians[0]
        else "An fsync takes less time than a write",
    )


@app.function
def promise(values):
    """What a headline says of a log without fsync."""
    if values["drive"] in VOLATILE:
        return ", without fsync: a power failure loses what only the drive's memory has."
    if values["drive"] in KEPT:
        return ", without fsync: a capacitor keeps what the drive's memory has."
    return ", without fsync: each is on the medium before its write is complete."


@app.function
def answer(values, seed):
    """Records a second, by how many share an fsync, and what a write's latency shows of it."""
    found = run_all([scenario(values | {"after": after}) for after in AFTER], seed)
    rows = {after: result.rows[0] for after, result in zip(AFTER, found, strict=True)}
    own = rows[values["after"]]
    rates = {NAMES[after]: row.iops for after, row in rows.items()}
    times = {
        f"{NAMES[after]}, {name}": getattr(row.latency_us, name) / 1e3
        for after, row in rows.items()
        for name in ("p50", "max")
    }
    slower, longer = titles(
        {after: row.iops for after, row in rows.items()},
        {after: row.latency_us.p50 for after, row in rows.items()},
    )
    included = ", fsyncs included" if values["after"] else ""
    syncs = own.iops / values["after"] if values["after"] else 0.0
    return Answer(
        f"{figure(own.iops, 'IO/s')} of records of 4 KiB"
        + (
            f", {figure(syncs)} fsyncs a second, each for {values['after']} of them."
            if values["after"] > 1
            else ", each with an fsync of its own."
            if values["after"]
            else promise(values)
        ),
        [
            Picture(
                slower,
                "records a second on a logarithmic axis, by how often fsync is called; writers:"
                f" {values['writers']}",
                bars(rates, Axis("IO/s", log=True), marked=NAMES[values["after"]]),
            ),
            Picture(
                longer,
                "median and longest latency on a logarithmic axis; the last write before an fsync"
                " has its time",
                bars(times, Axis("latency, ms", log=True), marked=f"{NAMES[values['after']]}, max"),
            ),
        ],
        {
            "iops": own.iops,
            "p50_ms": own.latency_us.p50 / 1e3,
            "max_ms": own.latency_us.max / 1e3,
            "gain": own.iops / rows[0].iops,
        },
        boxes=[
            Box(figure(own.iops, "IO/s"), "records a second"),
            Box(f"{digits(own.latency_us.p50 / 1e3)} ms", f"median write{included}"),
            Box(f"{digits(own.latency_us.max / 1e3)} ms", f"longest write{included}"),
        ],
        scenes=[plug(values)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "120 a second: once a turn, 7,200 / 60. The next record of the log lies just behind the"
            " last one, and has passed under the arm when it comes: no seek, a whole turn.",
            lambda at: at(after=1)["iops"] == 120,
            "Where does the disk's rate with an fsync for each write come from?",
            {"after": 1},
        ),
        Claim(
            "Group commit: eight records for one fsync are nearly eight times as fast on the disk.",
            lambda at: 7.8 < at(after=8)["iops"] / at(after=1)["iops"] < 8,
            "What makes a log faster without a new drive?",
            {"after": 8},
        ),
        Claim(
            "Sixteen writers are 15 times as fast as one: the disk serves their fsyncs in a turn.",
            lambda at: 15 < at(after=1, writers=16)["iops"] / at(after=1)["iops"] < 15.5,
            "And with an fsync for each write, but more writers?",
            {"after": 1, "writers": 16},
        ),
        Claim(
            "The median write of the disk shows nothing: 0.07 ms with fsync after 8 writes and"
            " without. Read the sync latency too; in fio it is a block of its own.",
            lambda at: abs(at(after=8)["p50_ms"] / at(after=0)["p50_ms"] - 1) < 0.03,
            "Does the median latency of a write tell that there is an fsync?",
            {"after": 8},
        ),
        Claim(
            "With one writer an SSD of a PC does some 700 a second, the one with a capacitor 24"
            " times as many: it may answer from its memory. A drive without one that answers as"
            " fast does not tell the truth.",
            lambda at: (
                abs(at(after=1, drive="client")["iops"] - 704) <= 2
                and abs(
                    at(after=1, drive="plp")["iops"] / at(after=1, drive="client")["iops"] - 24.4
                )
                < 0.3
            ),
            "Which SSD is fit for a log?",
            {"after": 1, "drive": "plp"},
        ),
        Claim(
            "With its cache off the disk is as slow without an fsync: each write waits for its"
            " turn.",
            lambda at: at(after=0, drive="through")["iops"] == at(after=1)["iops"],
            "What does the disk do without a cache, and without an fsync?",
            {"drive": "through"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "15,000 rpm, one writer, an fsync for each record: how many a second?",
            "15,000 / 60 = 250. At 7,200 rpm the run gives 120.",
            lambda at: at(after=1)["iops"] == 7200 / 60,
        ),
        Exercise(
            "How many writers does the disk need for 1,000 transactions a second?",
            "1,000 / 120 = 8.3, so nine that commit in the same turn. Sixteen give 1,840.",
            lambda at: abs(at(after=1, writers=16)["iops"] - 1840) < 40,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="fsync",
        number=17,
        question="How many transactions a second can a disk promise?",
        about="Writers append records of 4 KiB to a log. A write is complete once the drive's"
        " memory has it; an fsync returns once a power failure cannot lose it.",
        prediction=Prediction(
            "A disk of 7,200 rpm takes 14,595 records a second. How many does it take with an fsync"
            " after each, from one writer?",
            "records/s",
            lambda at: at(after=1)["iops"],
            "The arm stays; the next sector has just passed, so that each record waits for a turn.",
            Number(0.1, 1_000_000),
            {"after": 1},
        ),
        controls=[
            Control("after", "fsync after", AFTER, 0, words=NAMES),
            Control("drive", "Drive", tuple(DRIVES), "disk", words=DRIVES),
            Control("writers", "Writers", WRITERS, 1),
        ],
        opens={"drive": "nvme"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "docs/explanation/sync-writes.md of raidlab",
            "J. Gray and A. Reuter, Transaction Processing, 1993: group commit",
        ],
        limits="A log on the raw drive; a file system's journal adds steps of its own. The moving"
        " picture has one writer and no times: it shows the order.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
