# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 20: block size."""

import marimo

app = marimo.App(width="full", app_title="Room 20: block size")

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
        figure,
        lines,
        mark,
        run_all,
    )

    DRIVES = {"generic-7200rpm": "7,200 rpm disk", "p3700-800": "NVMe SSD"}
    ACCESS = {"randread": "at random", "read": "in sequence"}
    SIZES = (4, 16, 64, 256, 1024, 4096)
    DEPTHS = (1, 4, 16)


@app.function
def scenario(values):
    """Reads of one size, at random or in sequence."""
    size = f"{values['size']} KiB"
    disk = values["drive"] == "generic-7200rpm"
    load = {
        "rw": values["access"],
        "block_size": size,
        "align": size,
        "outstanding": values["depth"],
    }
    run = {"warm_up": "1 s", "duration": "10 s"}
    if not disk:
        load["area"] = "4 GB"
        # Long enough for some hundreds of the largest I/Os.
        run = {"warm_up": "10 ms", "duration": f"{max(60, values['size'] // 8)} ms"}
        run |= {"precondition": "filled", "filled": "4 GB"}
    return {
        "title": f"Reads of {size} {ACCESS[values['access']]} on a {DRIVES[values['drive']]}",
        "array": [{"drives": [{"model": values["drive"]}]}],
        "workload": [load],
        "run": run,
    }


@app.function
def answer(values, seed):
    """IO/s and MB/s over the size of an I/O."""
    found = {
        access: run_all(
            [scenario(values | {"size": size, "access": access}) for size in SIZES], seed
        )
        for access in ACCESS
    }
    rows = {access: [each.rows[0] for each in results] for access, results in found.items()}
    at = SIZES.index(values["size"])
    own = rows[values["access"]][at]
    size = Axis("size of an I/O, KiB", depths=True)
    rates = lines(
        [Series(ACCESS[a], SIZES, [row.iops for row in each]) for a, each in rows.items()],
        size,
        Axis("IO/s", log=True),
    )
    bytes_ = lines(
        [Series(ACCESS[a], SIZES, [row.mb_per_s for row in each]) for a, each in rows.items()],
        size,
        Axis("MB/s", log=True),
    )
    mark(rates, values["size"], own.iops, f"{values['size']} KiB")
    mark(bytes_, values["size"], own.mb_per_s, f"{values['size']} KiB")
    other = rows["read" if values["access"] == "randread" else "randread"][at]
    return Answer(
        f"{figure(own.iops, 'IO/s')} × {values['size']:,} KiB = {figure(own.mb_per_s, 'MB/s')};"
        f" {ACCESS['read' if values['access'] == 'randread' else 'randread']} it is"
        f" {figure(other.mb_per_s, 'MB/s')}.",
        [
            Picture("Larger I/Os are fewer", "I/Os a second, both axes logarithmic", rates),
            Picture("And move more bytes, up to a limit", "bytes a second", bytes_),
        ],
        {
            "iops": own.iops,
            "mb": own.mb_per_s,
            "mean_ms": own.latency_us.mean / 1e3,
            "product": own.iops * values["size"] * 1024 / 1e6,
        },
        boxes=[
            Box(figure(own.iops, "IO/s"), "rate"),
            Box(figure(own.mb_per_s, "MB/s"), "bytes a second"),
            Box(figure(own.latency_us.mean / 1e3, "ms"), "mean latency of one"),
        ],
    )


@app.function
def of_sequence(at, size, depth):
    """Bytes a second of the SSD's random reads, as a share of those in sequence."""
    random, read = (at(drive="p3700-800", size=size, depth=depth, access=a)["mb"] for a in ACCESS)
    return random / read


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "IO/s times size is bytes a second, always. Which of both limits depends on the"
            " size: of a random read of 4 KiB the disk's arm takes nearly all of the time, of one"
            " of 4 MiB the transfer takes half.",
            lambda at: (
                all(
                    abs(at(size=size, access=a)["product"] / at(size=size, access=a)["mb"] - 1)
                    < 1e-6
                    for size in SIZES
                    for a in ACCESS
                )
                and all(
                    0.45 < at(size=4096, depth=d)["mb"] / at(size=4096, access="read")["mb"] < 0.6
                    for d in DEPTHS
                )
            ),
            "How do IO/s, size and MB/s belong together?",
            {"size": 64},
        ),
        Claim(
            "At random the disk reads 64 KiB at nearly the rate of 4 KiB: twelve times the bytes or"
            " more for one seek.",
            lambda at: (
                at(size=64)["iops"] > 0.9 * at()["iops"] and at(size=64)["mb"] > 12 * at()["mb"]
            ),
            "What does a random read of 64 KiB cost more than one of 4 KiB?",
            {"size": 64},
        ),
        Claim(
            "In sequence 4 KiB reads of the disk move over a hundred times the bytes of random"
            " ones. The"
            " order makes the difference, not the size.",
            lambda at: at(access="read")["mb"] > 100 * at()["mb"],
            "Is it the small size that makes random reads slow on a disk?",
            {"access": "read"},
        ),
        Claim(
            "On the SSD order matters little from 64 KiB on, with 4 or more outstanding: at random"
            " it reads more than three quarters of the bytes. One at a time it reads less than a"
            " quarter of them at 64 KiB, and three quarters from 1 MiB on only.",
            lambda at: (
                all(
                    of_sequence(at, size, depth) > 0.75
                    for size in SIZES
                    for depth in DEPTHS
                    if size >= (64 if depth > 1 else 1024)
                )
                and of_sequence(at, 64, 1) < 0.25
                and of_sequence(at, 256, 1) < 0.5
            ),
            "And on an SSD?",
            {"drive": "p3700-800", "size": 256},
        ),
        Claim(
            "A bigger block is not a faster I/O: each takes longer, 4 MiB on the disk more than"
            " three times as long as 4 KiB.",
            lambda at: at(size=4096)["mean_ms"] > 3 * at()["mean_ms"],
            "Is one bigger I/O faster?",
            {"size": 4096},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "A random read takes 12.6 ms, and the track passes at 208 MB/s. At which size do"
            " seek and"
            " transfer take equally long?",
            "12.6 ms × 208 MB/s = 2.6 MB: of larger reads the transfer is most of the time.",
            lambda at: abs(0.0126 * 208 - 2.62) < 0.01 and at(size=4096, depth=1)["mb"] > 100,
        ),
        Exercise(
            "A sheet promises 100,000 IO/s and 500 MB/s over SATA. At which size do both limits"
            " meet?",
            "500 MB/s / 100,000 IO/s = 5,000 B. At 4 KiB the IO/s are the limit, with 410 MB/s; at"
            " 8 KiB the link is, with 61,000 IO/s.",
            lambda at: (
                at()["mb"] > 0
                and 500e6 / 100_000 == 5000
                and round(100_000 * 4096 / 1e6) == 410
                and round(500e6 / 8192, -3) == 61_000
            ),
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="block-size",
        number=20,
        question="Small blocks or large, at random or in sequence?",
        about="Reads of one size on one drive, a fixed number of them under way. IO/s and MB/s"
        " are two views of the same run.",
        prediction=Prediction(
            "A disk reads 99 random blocks of 4 KiB a second, four at a time. How many of 64 KiB?",
            "IO/s",
            lambda at: at(size=64)["iops"],
            "99 reads a second are 10.1 ms each, with four to choose from. 60 KiB more take 0.3 ms"
            " at 208 MB/s.",
            Number(0.1, 100_000),
            {"size": 64},
        ),
        controls=[
            Control("size", "Size of an I/O", SIZES, 4, "KiB"),
            Control("access", "Reads are", tuple(ACCESS), "randread", words=ACCESS),
            Control("drive", "Drive", tuple(DRIVES), "generic-7200rpm", words=DRIVES),
            Control("depth", "Outstanding I/Os", DEPTHS, 4),
        ],
        opens={"drive": "p3700-800"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=["C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, 1994"],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
