# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 5: pull the battery."""

import marimo

app = marimo.App(width="full", app_title="Room 5: the battery")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
        Choice,
        Claim,
        Control,
        Dot,
        Exercise,
        Key,
        Live,
        Picture,
        Prediction,
        Room,
        Scene,
        Step,
        bars,
        figure,
        label,
        measured,
        path,
        run,
    )

    POLICIES = {"always-write-back": "write-back", "write-through": "write-through"}
    BACKUPS = {"none": "none", "fbu": "flash backup"}
    CACHES = {"off": "off", "on": "on"}


@app.function
def scenario(values):
    """Random writes to a RAID 5, and the power fails."""
    return {
        "title": "The power fails under random writes",
        "controller": {
            "model": "lsi2208-512-3.0",
            "write": values["policy"],
            "backup": values["backup"],
            "disk_cache": values["caches"] == "on",
        },
        "array": [{"level": "raid5", "drives": [{"model": "generic-15000rpm", "count": 4}]}],
        "workload": [
            {
                "rw": "randwrite",
                "block_size": "4 KiB",
                "outstanding": 16,
                "area": "4 GB",
                "think_time": "1 ms",
            }
        ],
        "event": [{"at": f"{values['at']} s", "action": "power-fail", "lasts": "1 s"}],
        "run": {"warm_up": "100 ms", "duration": "2000 ms"},
    }


@app.function
def stages_of(values):
    """The stations of one small write, in order: what moves where, and what is said to the host.

    Each has the lane of data and of parity after it, whether the host was answered, and what it is.
    """
    back = values["policy"] == "always-write-back"
    cached = values["caches"] == "on"
    stages = [("host", "host", False, "The host sends a write.")]
    stages.append(("memory", "memory", back, "The controller's memory has the data."))
    if back:
        stages[-1] = ("memory", "memory", True, "The controller's memory has the data; the host is"
                      " answered.")  # fmt: skip
    first = "disks" if cached else "medium"
    said = "Old data and parity were read; the disk with the data has the new ones."
    stages.append((first, "memory", back, said))
    done = "The disk with the parity has the new one, too."
    stages.append((first, first, True, done + ("" if back else " The host is answered.")))
    if cached:
        stages.append(("medium", "disks", True, "The first disk writes its cache to the platter."))
        stages.append(("medium", "medium", True, "The second disk does."))
    return stages


@app.function
def left_behind(values, data, parity, answered, known):
    """What a power failure at a station leaves.

    `known` is True while the controller still has the write in its memory.
    """
    saved = values["backup"] == "fbu" and values["policy"] == "always-write-back" and known
    if saved:
        return "the controller writes it once the power is back: nothing is lost."
    if answered and (data, parity) != ("medium", "medium"):
        if data == "medium":
            return "parity is old: wrong data if a disk fails."
        return "an acknowledged write is lost" + (
            ", and parity may be wrong." if parity == "medium" else "."
        )
    if (data == "medium") != (parity == "medium"):
        return "parity does not match: the write hole."
    if data == "medium":
        return "all is durable."
    return "the write is gone; it was never acknowledged."


@app.function
def followed(values):
    """One write from the host to the platters; at each step what a power failure would leave."""
    lanes = {"host": 30, "memory": 90, "disks": 150, "medium": 210}
    names = {"host": "host", "memory": "controller's memory", "disks": "disks' caches",
             "medium": "platters"}  # fmt: skip
    shapes = [label(8, y + 5, names[lane], look="soft") for lane, y in lanes.items()]
    shapes += [path((170, y + 30), (590, y + 30), look="axis dashed") for y in (30, 90, 150)]
    steps, data_keys, parity_keys = [], [], []
    for t, (data, parity, answered, what) in enumerate(stages_of(values)):
        # The controller forgets a write once all of its disks have acknowledged it.
        known = data != "host" and {data, parity} - {"disks", "medium"} != set()
        left = left_behind(values, data, parity, answered, known)
        color = "#009E73" if answered else "#566370"
        data_keys.append(Key(float(t), 280, lanes[data], color, data != "medium"))
        parity_keys.append(Key(float(t), 420, lanes[parity], color, parity != "medium"))
        steps.append(Step(float(t), f"{what} If the power fails now, {left}"))
    dots = [Dot("data", data_keys, "D", 14), Dot("parity", parity_keys, "P", 14)]
    return Scene(
        "One write, and the power",
        "D data, P parity; green: the host was answered; filled: on the platter. Stop at any step:"
        " the power fails there",
        600, 240, steps, shapes, dots,
    )  # fmt: skip


@app.function
def answer(values, seed):
    """What was acknowledged, and what of it is gone or wrong."""
    result = run(scenario(values), seed)
    data = result.data
    lost, corrupt = data["lost_writes"], data["corrupt_stripes"]
    safe = data["acknowledged_writes"] - lost
    if lost:
        said = f"{figure(lost)} acknowledged writes are lost"
    else:
        said = "No acknowledged write is lost"
    said += (
        f"; wrong parity on {figure(corrupt)} stripe{'s' * (corrupt != 1)}."
        if corrupt
        else "; parity is right."
    )
    return Answer(
        said,
        [
            Picture(
                "Acknowledged is not durable" if lost else "Every acknowledged write is there",
                "acknowledged writes of the whole run",
                bars({"lost": lost, "still there": safe}, Axis("writes"), marked="lost"),
            ),
            Picture(
                f"Wrong data if a drive fails, on {figure(corrupt)} of the stripes"
                if corrupt
                else "A drive may fail: parity is right",
                "stripes whose parity does not match their data",
                bars(
                    {"wrong parity": corrupt, "writes under way": 16},
                    Axis("stripes"),
                    marked="wrong parity",
                ),
            ),
        ],
        {
            "lost": lost,
            "corrupt": corrupt,
            "acknowledged": data["acknowledged_writes"],
            "in_drives": data["lost_in_drive_caches"],
        },
        boxes=[
            measured(lost, "", "acknowledged writes lost"),
            measured(corrupt, "", "stripes with wrong parity"),
            measured(data["lost_in_drive_caches"], "", "lost in the drives' own caches"),
        ],
        scenes=[followed(values)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Write-back without a backup loses tens of thousands of writes: the cache was all that"
            " had them.",
            lambda at: at()["lost"] > 20_000,
            "How many writes does write-back without a backup lose?",
        ),
        Claim(
            "Write-through loses none, and still leaves stripes with wrong parity, at most one for"
            " each write under way: the write hole.",
            lambda at: (
                at(policy="write-through")["lost"] == 0
                and 0 < at(policy="write-through")["corrupt"] <= 16
            ),
            "Write-through loses nothing. Is anything wrong all the same?",
            {"policy": "write-through"},
        ),
        Claim(
            "A healthy backup closes both holes: the controller finishes what was cut off.",
            lambda at: at(backup="fbu")["lost"] == 0 and at(backup="fbu")["corrupt"] == 0,
            "What does a healthy flash backup change?",
            {"backup": "fbu"},
        ),
        Claim(
            "With the drives' own caches on the backup is not enough: drives had acknowledged what"
            " only their memory held, and the controller no longer has it.",
            lambda at: (
                at(backup="fbu", caches="on")["lost"] > 0
                and at(backup="fbu", caches="on")["corrupt"] > 0
            ),
            "Flash backup, and the disks' own caches on: is everything safe?",
            {"backup": "fbu", "caches": "on"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "512 MiB of cache of which three quarters take writes, 4 KiB each: how many writes can"
            " be lost at most?",
            "0.75 × 2²⁹ / 4,096 = 98,304. After one second and after two fewer are lost.",
            lambda at: all(at(at=each)["lost"] <= 98_304 for each in (1, 2)),
        ),
        Exercise(
            "Which figures change with another seed, and which zeros stay?",
            "The losses and wrong stripes change. The zeros of a healthy backup with the drives'"
            " caches off stay: they follow from the mechanism.",
            lambda at: at(backup="fbu", at=1)["lost"] + at(backup="fbu", at=2)["lost"] == 0,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="battery",
        number=5,
        question="What is lost when the power fails?",
        about="Four disks in RAID 5 behind a controller with 512 MiB of memory, random writes of"
        " 4 KiB; each of 16 writers pauses for 1 ms after a write. The power fails and comes back,"
        " and the data are compared with what was acknowledged.",
        prediction=Prediction(
            "Write-through, disk caches off, 16 writers: what is wrong afterwards?",
            "",
            lambda at: (
                2
                if at(policy="write-through")["lost"]
                else 0
                if not at(policy="write-through")["corrupt"]
                else 1
            ),
            "A write changes data and parity on two disks; the power can fail between the two. That"
            " is the write hole, at most one stripe for each write under way.",
            Choice(
                (
                    "Nothing: every acknowledged write is there.",
                    "No write is lost, but parity is wrong on some stripes.",
                    "Acknowledged writes are lost.",
                )
            ),
            {"policy": "write-through"},
        ),
        controls=[
            Control(
                "policy", "Controller's cache", tuple(POLICIES), "always-write-back", words=POLICIES
            ),
            Control("backup", "Its backup", tuple(BACKUPS), "none", words=BACKUPS),
            Control("caches", "Caches of the disks", tuple(CACHES), "off", words=CACHES),
            Control("at", "The power fails after", (1, 2), 2, "s"),
        ],
        opens={"backup": "fbu"},
        five=True,
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "A. Krioukov et al., Parity lost and parity regained, 2008",
            "A. Varma and Q. Jacobson, Destage algorithms for disk arrays with nonvolatile caches,"
            " 1998",
        ],
        limits="An outage cuts writes at a random sector. Errors of firmware and bits that decay"
        " are not modelled.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
