# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 10: your own disk."""

import marimo

app = marimo.App(width="full", app_title="Room 10: your own disk")

with app.setup:
    import json
    import math
    import os
    from functools import lru_cache
    from importlib.resources import files
    from pathlib import Path

    from raidlab import calibration
    from raidlab.notebooks.frame import (
        Answer,
        Box,
        Claim,
        Control,
        Exercise,
        Listing,
        Live,
        Number,
        Picture,
        Prediction,
        Room,
        chart,
        digits,
        draw_curve,
        legend,
        log_axis,
        progress,
        write_note,
    )

    SEEN = {
        "least": "depth 1 alone",
        "ends": "depth 1 and the deepest",
        "all": "every point",
    }
    KINDS = {"nvme": "NVMe SSD", "ssd": "SATA or SAS SSD", "hdd": "hard disk"}
    EXAMPLE = files("raidlab.notebooks").joinpath("examples", "own-disk")
    BUDGET = 60
    SHOWN = 24
    COLLECT = """\
raidlab collect FOLDER --plan quick --size "4 GiB" --out my.bundle
raidlab import fio my.bundle --out my.json
raidlab calibrate my.json --kind nvme --train "iodepth=1,32" --out my.toml --host-out host.toml
raidlab compare my.json --device ./my.toml --host ./host.toml --html compare.html"""


@app.function
def measured(folder):
    """What was measured: the example, or results of fio in a folder, or a measurement's file."""
    if not folder:
        return calibration.load_measurement(str(EXAMPLE / "own-disk.json"))
    path = Path(folder).expanduser()
    if path.suffix == ".json" and '"raidlab-measurement-1"' in head(path):
        return calibration.load_measurement(path)
    return calibration.import_fio([path])


@app.function
def head(path):
    """The first characters of a file; nothing if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as text:
            return text.read(200)
    except OSError:
        return ""


@app.function
def training(points, seen):
    """The points that a fit may see, as `raidlab calibrate --train` takes them."""
    if seen == "all":
        return ""
    depths = {point.iodepth for point in points}
    both = [
        depth
        for depth in depths
        if {("read",), ("write",)}
        <= {tuple(side for side, _ in point.sides()) for point in points if point.iodepth == depth}
    ]
    chosen = [min(depths)] if seen == "least" else sorted({min(depths), max(both or depths)})
    train = "iodepth=" + ",".join(map(str, chosen))
    jobs = {point.numjobs for point in points if point.iodepth in chosen}
    return train + (f" numjobs={min(jobs)}" if len(jobs) > 1 else "")


@app.function
def fit(values):
    """The document of `raidlab calibrate --json`, the device's file and the host's."""
    if not values["folder"]:
        texts = [
            EXAMPLE.joinpath(f"{values['seen']}.{name}").read_text("utf-8")
            for name in ("json", "device.toml", "host.toml")
        ]
        return json.loads(texts[0]), texts[1], texts[2]
    measurement = measured(values["folder"])
    train = training(measurement.points, values["seen"])
    return fitted(measurement.to_json(), values["kind"], train)


@app.function
@lru_cache(maxsize=32)
def fitted(text, kind, train):
    """A quick fit, as `fit` gives it."""
    settings = calibration.Settings(
        kind=kind, train=train, budget=BUDGET, workers=os.cpu_count() or 1, leave_out=False
    )
    measurement = calibration.Measurement.model_validate_json(text)
    found = calibration.calibrate(measurement, settings, progress=progress)
    document = json.loads(json.dumps(found.to_dict()))
    text = (
        f"This is a quick fit of {BUDGET} places of its parameters; raidlab calibrate searches"
        " longer, and gives every warning."
    )
    document["warnings_typed"].insert(0, {"code": "note", "subject": "", "text": text})
    return document, found.to_toml(), found.host_toml()


@app.function
def named(point):
    """A point in a picture: `randread 4 KiB, 32`."""
    size = f"{point['bs'] // 1024} KiB" if point["bs"] % 1024 == 0 else f"{point['bs']} B"
    jobs = f" × {point['numjobs']}" if point["numjobs"] > 1 else ""
    return f"{point['rw']} {size}, {point['iodepth']}{jobs}"


@app.function
def by_lines(measurement, rows):
    """What straight lines between the points that the fit saw say of each row; None without any."""

    def key(point):
        return point["rw"], point["bs"], point["iodepth"], point["numjobs"]

    points = {key(vars(point)): point for point in measurement.points}
    seen = [points[key(row)] for row in rows if row["part"] == "train"]
    return [calibration.interpolated(seen, points[key(row)]) for row in rows]


@app.function
def rates(measurement, rows):
    """Measured, simulated and interpolated rates, a row each; the fit saw those drawn hollow."""
    rows = sorted(rows, key=lambda row: (row["part"] == "train", row["rw"], row["bs"]))
    rows = rows[:: -(-len(rows) // SHOWN)]
    names = [named(row) for row in rows]
    seen = [row["part"] == "train" for row in rows]
    drawn = chart(height=120 + 20 * len(rows))
    series = {
        "measured": ("circle", "#000000", [row["measured_iops"] for row in rows]),
        "simulated": ("diamond", "#0072B2", [row["simulated_iops"] for row in rows]),
        "straight lines": ("x-thin", "#D55E00", by_lines(measurement, rows)),
    }
    every = [rate for _, _, values in series.values() for rate in values if rate]
    for name, (symbol, color, values) in series.items():
        lined = name == "straight lines"
        hollow = [f"{symbol}-open" if each and not lined else symbol for each in seen]
        draw_curve(
            drawn,
            name,
            [None if lined and known else value for value, known in zip(values, seen, strict=True)],
            names,
            hover=f"%{{y}}: {name} %{{x:,.4~g}} IO/s<extra></extra>",
            mode="markers",
            marker={
                "symbol": hollow,
                "size": 10,
                "color": color,
                "line": {"color": color, "width": 2},
            },
        )
    legend(drawn, 60)
    powers = [10**power for power in range(7) if min(every) <= 10**power <= max(every)]
    fewer = {"tickvals": powers, "ticktext": [f"{each:,}" for each in powers]}
    drawn.update_xaxes(log_axis(every, "IO/s"), showgrid=True, tickangle=0)
    drawn.update_xaxes(fewer if len(powers) > 1 else {})
    drawn.update_yaxes(categoryorder="array", categoryarray=names[::-1], showgrid=True)
    return drawn


@app.function
def parameters(found):
    """Each parameter between the least and the most that was looked at, with its interval."""
    drawn = chart(height=100 + 26 * len(found), labels=96)
    for each in found:
        low, high = each["bounds"]
        ratio = low > 0 and high / low > 20

        def at(value, low=low, high=high, ratio=ratio):
            value = min(max(value, low), high)
            if ratio:
                return math.log(value / low) / math.log(high / low)
            return (value - low) / (high - low)

        color = "#0072B2" if each["identifiable"] else "#9AA3AD"
        ends = [at(each[end]) if each[end] is not None else None for end in ("low", "high")]
        text = f"{digits(each['value'])} {each['unit']}".rstrip()
        known = "determined" if each["identifiable"] else "hardly determined"
        draw_curve(
            drawn,
            None,
            ends,
            [each["name"]] * 2,
            mode="lines",
            line={"color": color, "width": 5},
            opacity=0.5,
            hoverinfo="skip",
        )
        draw_curve(
            drawn,
            known,
            [at(each["value"])],
            [each["name"]],
            hover=f"{each['name']}: {text}, {known}<extra></extra>",
            mode="markers",
            marker={"size": 10, "color": color},
        )
        write_note(drawn, 1.02, each["name"], text, xanchor="left")
    ticks = {"tickvals": [0, 1], "ticktext": ["least", "most"]}
    drawn.update_xaxes(title_text="of what the search looked at", range=[-0.02, 1.02], **ticks)
    drawn.update_yaxes(autorange="reversed", showgrid=False)
    return drawn


@app.function
def scenario(values):
    """The fitted disk under its deepest measured random reads, or under its first load."""
    points = measured(values["folder"]).points
    reads = [point for point in points if point.rw == "randread"]
    point = max(reads or points[:1], key=lambda each: each.outstanding)
    load = {"rw": point.rw, "block_size": f"{point.bs} B", "outstanding": point.outstanding}
    if point.area_bytes:
        load["area"] = f"{point.area_bytes} B"
    return {
        "title": "The fitted disk",
        "host": {"model": "./host.toml"},
        "array": [{"drives": [{"model": "./disk.toml"}]}],
        "workload": [load],
        "run": {"warm_up": "100 ms", "duration": "1 s"},
    }


@app.function
def beside(values):
    """The fitted device and its host."""
    _, device, host = fit(values)
    return {"disk.toml": device, "host.toml": host}


@app.function
def answer(values, seed):
    """How well a fit predicts what it has not seen."""
    document, _, _ = fit(values)
    measurement = measured(values["folder"])
    train, test, lines = document["train"], document["test"], document["baseline"]
    found = document["parameters"]
    known = sum(each["identifiable"] for each in found)
    own, other, skill = (
        lines[key] for key in ("model_median_abs_error_pct", "median_abs_error_pct", "skill")
    )
    unseen = test["median_abs_error_pct"]
    said = f"The fit saw {train['points']} of {train['points'] + test['points']} points"
    if unseen is None:
        said += f" and meets them within {digits(train['median_abs_error_pct'])} % in the median."
    else:
        said += f"; the rates of the others it predicts {digits(unseen)} % off in the median."
    if skill is not None:
        better = "better" if skill > 0 else "no better"
        said += f" It is {better} than straight lines between the points that it saw."
    doubts = [each["text"] for each in document["warnings_typed"] if each["code"] != "undetermined"]
    boxes = [
        Box(f"{digits(train['median_abs_error_pct'])} %", "median error of points seen"),
        Box(f"{known} of {len(found)}", "parameters determined"),
    ]
    if unseen is not None:
        boxes.insert(1, Box(f"{digits(unseen)} %", "median error of points not seen"))
    if skill is not None:
        boxes.append(
            Box(
                f"{digits(own)} % : {digits(other)} %",
                "median error, fit : straight lines, on the unseen points that lines reach",
            )
        )
    return Answer(
        said,
        [
            Picture(
                f"{measurement.name}: measured beside simulated",
                "hollow: seen by the fit; crosses: straight lines, for the others",
                rates(measurement, document["points"]),
            ),
            Picture(
                f"{known} of {len(found)} parameters are determined",
                "dot: fitted value; bar: its 95 % interval; grey: hardly determined",
                parameters(found),
            ),
        ],
        {
            "seen": train["median_abs_error_pct"],
            "unseen": unseen,
            "lines": other,
            "beside_lines": own,
            "skill": skill,
            "known": known,
            "points": train["points"],
        },
        boxes=boxes,
        warnings=doubts[:2] if values["folder"] else (),
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "Points of one outstanding I/O meet almost any model: the fit is close to what it saw"
            " and far from the rest, further than straight lines.",
            lambda at: (
                at(seen="least")["seen"] < 15
                and at(seen="least")["unseen"] > 50
                and at(seen="least")["skill"] < 0
            ),
            "What do points of one outstanding I/O say of a deep queue?",
            {"seen": "least"},
        ),
        Claim(
            "A deep queue beside it halves the error of the points that the fit has not seen.",
            lambda at: at(seen="ends")["unseen"] < 0.5 * at(seen="least")["unseen"],
            "What does one deep queue add?",
            {"seen": "ends"},
        ),
        Claim(
            "Hardly any parameter is determined: rates can be met with numbers that mean little.",
            lambda at: all(at(seen=seen)["known"] <= 3 for seen in SEEN),
            "Are the fitted parameters those of the disk?",
            {"seen": "all"},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "Two fits: one meets its points within 3 % and predicts others 66 % off; one saw every"
            " point and is 6 % off. Which figure may be published, and as what?",
            "The 66 %, as the error of a prediction. The 3 and the 6 % say how well a curve can be"
            " drawn through points that are known.",
            lambda at: (
                at(seen="all")["unseen"] is None
                and round(at(seen="all")["seen"]) == 6
                and at(seen="ends")["seen"] < 3
                and round(at(seen="ends")["unseen"]) == 66
            ),
        ),
        Exercise(
            "64 KiB, 16 outstanding: 20,709 reads, 28,518 writes, 19,415 mixed I/Os a second. Is"
            " there one limit of bytes for all three?",
            "1.357, 1.869 and 1.272 GB/s: none. Writes pass where reads do not.",
            lambda at: (
                [round(65_536 * each / 1e9, 3) for each in (20_709, 28_518, 19_415)]
                == [1.357, 1.869, 1.272]
            ),
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="own-disk",
        number=10,
        question="What can be known of a disk from a few measured points?",
        about="The virtual disk of a small machine was measured with fio at twelve loads. A model"
        " of an NVMe SSD is fitted to some of them and predicts the others. Straight lines through"
        " the same points are what it must beat. Where the lab runs,"
        " own results take the example's place.",
        prediction=Prediction(
            "The fit sees the five points of one outstanding I/O. How far off, in the median, are"
            " the rates that it predicts for the seven others?",
            "%",
            lambda at: at(seen="least")["unseen"],
            "One outstanding I/O shows the time of an I/O, and not what limits many of them.",
            Number(0, 10_000),
            {"seen": "least"},
        ),
        controls=[
            Control("seen", "The fit sees", tuple(SEEN), "ends", words=SEEN),
            Control("kind", "Kind of the own disk", tuple(KINDS), "nvme", words=KINDS, live=True),
        ],
        opens={"seen": "all"},
        folder="Own results of fio",
        scenario=scenario,
        files=beside,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "docs/tutorials/own-disk.md of raidlab: the example, step by step",
            "C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, 1994",
        ],
        limits="The example was fitted beforehand with the whole search of raidlab calibrate, to"
        " rates alone. Own results get a quick fit.",
        listing=Listing(
            "Measure a disk",
            "The room itself only reads. The first command measures: in a folder it fills a file of"
            " 4 GiB, a device that holds data it refuses. The others do what this room does.",
            COLLECT,
        ),
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
