# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 1: one I/O's journey."""

import marimo

app = marimo.App(width="full", app_title="Room 1: one I/O's journey")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Box,
        Claim,
        Control,
        Exercise,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        figure,
        part_name,
        parts,
        percent,
        run,
        stages,
        traced,
    )

    SYSTEMS = {
        "disk": "a 15,000 rpm disk",
        "slow": "a 7,200 rpm disk",
        "ssd": "an NVMe SSD",
        "raid5": "RAID 5 of four disks behind a controller",
    }
    OPS = {"randread": "read", "randwrite": "write"}
    SHOWN = 8


@app.function
def scenario(values):
    """One random I/O of 4 KiB after the other."""
    made = {
        "title": f"One {OPS[values['op']]} at a time on {SYSTEMS[values['system']]}",
        "array": [{"drives": [{"model": "generic-15000rpm", "write_cache": False}]}],
        "workload": [{"rw": values["op"], "block_size": "4 KiB", "align": "4 KiB"}],
        "run": {"warm_up": "1 s", "duration": "20 s"},
    }
    if values["system"] == "slow":
        made["array"][0]["drives"] = [{"model": "generic-7200rpm", "write_cache": False}]
    if values["system"] == "ssd":
        made["array"][0]["drives"] = [{"model": "p3700-800"}]
        made["run"] = {"warm_up": "1 ms", "duration": "50 ms", "precondition": "filled"}
    if values["system"] == "raid5":
        made["controller"] = {
            "model": "lsi2208-512-3.0",
            "write": "write-through",
            "read_ahead": "none",
            "disk_cache": False,
        }
        drives = [{"model": "generic-15000rpm", "count": 4}]
        made["array"] = [{"level": "raid5", "drives": drives}]
    return made


@app.function
def answer(values, seed):
    """The stages of one I/O, and the mean of all."""
    made = scenario(values)
    io = traced(made, seed, SHOWN)[values["number"] - 1]
    row = run(made, seed).rows[0]
    kind = OPS[values["op"]]
    path = [each for each in io["stages"] if each["critical"]]
    sums = {}
    for stage in path:
        took = (stage["end_ns"] - stage["begin_ns"]) / 1e3
        sums[stage["stage"]] = sums.get(stage["stage"], 0) + took
    latency = io["latency_ns"] / 1e3
    longest = max(sums, key=sums.get)
    mean = row.latency_us.mean
    unit = "us" if mean < 1000 else "ms"
    commands = max(1, sum(each["kind"] == "command" for each in io["commands"]))
    return Answer(
        f"This {kind} takes {figure(latency, 'us')}, of which {part_name(longest)} is"
        f" {100 * sums[longest] / latency:.0f} %; on average a {kind} takes {figure(mean, 'us')}.",
        [
            Picture(
                f"{kind.capitalize()} number {values['number']}: {len(path)} stages add up to"
                f" {figure(latency, 'us')}",
                "from the call to the completion, over the parts of the system",
                stages(io),
                wide=True,
            ),
            Picture(
                f"On average {figure(mean, 'us')}",
                "mean time of an I/O by part",
                parts({kind: row.breakdown_us}, unit, always=("transfer",)),
                wide=True,
            ),
        ],
        {
            "latency_us": latency,
            "sum_us": sum(sums.values()),
            "mean_us": mean,
            "iops": row.iops,
            "transfer": row.breakdown_us.get("transfer", 0) / mean,
            "seek_us": row.breakdown_us.get("seek", 0),
            "rotation_us": row.breakdown_us.get("rotation", 0),
            "commands": commands,
            "longest": longest,
        },
        boxes=[
            Box(figure(latency, "us"), f"this {kind}"),
            Box(figure(mean, "us"), f"mean, {figure(row.iops, 'IO/s')}"),
            Box(
                percent(row.breakdown_us.get("transfer", 0) / mean), "of the mean time is transfer"
            ),
            Box(f"{commands}", f"command{'s' * (commands > 1)} to drives"),
        ],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "The stages on the critical path add up to the latency, exactly and every time.",
            lambda at: all(
                abs(each["sum_us"] - each["latency_us"]) < 1e-6 * each["latency_us"]
                for each in (at(number=n, system=s) for n in (1, 2, 8) for s in SYSTEMS)
            ),
            "Do the stages on the critical path add up to the latency, for every I/O?",
            {"number": 2},
        ),
        Claim(
            "Of a random read on a disk the transfer is half a percent: the rate of the data sheet"
            " decides nothing here.",
            lambda at: at()["transfer"] < 0.006,
            "Does the transfer rate of a data sheet decide how long a random read takes?",
        ),
        Claim(
            "Twice the speed of rotation halves the wait for the sector; the seek is another"
            " matter.",
            lambda at: (
                abs(at(system="slow")["rotation_us"] / at()["rotation_us"] / (15000 / 7200) - 1)
                < 0.06
            ),
            "Twice the speed of rotation: what becomes half, and what does not?",
            {"system": "slow"},
        ),
        Claim(
            "The SSD answers in a fiftieth of the time.",
            lambda at: 45 < at()["mean_us"] / at(system="ssd")["mean_us"] < 55,
            "How many times as fast as the disk does the SSD answer?",
            {"system": "ssd"},
        ),
        Claim(
            "A small write on RAID 5 is four commands, two after the other: about twice the time of"
            " one, not four times.",
            lambda at: (
                at(system="raid5", op="randwrite")["commands"] == 4
                and 1.7
                < at(system="raid5", op="randwrite")["mean_us"] / at(op="randwrite")["mean_us"]
                < 2.3
            ),
            "A small write on RAID 5 is four commands. Does it take four times as long as one?",
            {"system": "raid5", "op": "randwrite"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "15,000 rpm: 4.5 µs of host, 60 µs overhead, 2.7 ms mean seek, half of the spread of"
            " 0.6 ms, half a revolution of 4 ms, 21 µs of transfer. IO/s?",
            "5.09 ms, 197 IO/s; the run of this page gives 197. Spread is by how much a movement of"
            " the arm"
            " can take longer than the last one over the same distance, all values alike: half of"
            " it on average.",
            lambda at: round(at()["iops"]) == 197,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="one-io",
        number=1,
        question="Where does the time of one I/O go?",
        about="One random I/O of 4 KiB at a time. The first picture follows a single one through"
        " host, links, controller and drive; fainter stages ran beside it and did not delay it.",
        prediction=Prediction(
            "Of one random 4 KiB read on a 15,000 rpm disk, which share is the transfer of data?",
            "%",
            lambda at: 100 * at()["transfer"],
            "The arm moves for milliseconds, the sector passes within microseconds.",
            Number(0, 100),
        ),
        controls=[
            Control("system", "System", tuple(SYSTEMS), "disk", words=SYSTEMS),
            Control("op", "Operation", tuple(OPS), "randread", words=OPS),
            Control("number", "Which I/O", tuple(range(1, SHOWN + 1)), 1),
        ],
        opens={"system": "ssd"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "docs/explanation/one-io.md of raidlab: where each part is charged",
            "C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, 1994",
        ],
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
