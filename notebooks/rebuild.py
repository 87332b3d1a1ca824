# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Room 9: a drive fails at noon."""

import marimo

app = marimo.App(width="full", app_title="Room 9: a drive fails at noon")

with app.setup:
    from raidlab.notebooks.frame import (
        Answer,
        Axis,
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
        dashed,
        digits,
        draw_curve,
        figure,
        lines,
        log_axis,
        measured,
        queueing,
        recorded,
    )

    LEVELS = {"raid5": "RAID 5", "raid6": "RAID 6", "raid10": "RAID 10"}
    USED_MB = 300
    DOTS = 1500
    TRACED = 10_000
    FAILS_S = 5
    # What is drawn moving: the queue from shortly before the first slice that users meet.
    BEFORE_NS, LASTS_NS, FOLLOWED = 30_000_000, 190_000_000, 40
    # A slice of a rebuild beside users is 16 MiB of each drive; users meet it as a wait like this.
    SLICE_BYTES, SLICE_WAIT_NS = 16 << 20, 30_000_000
    SLICES = USED_MB * 1e6 / SLICE_BYTES
    # The 300 MB are on outer tracks: 1,800 sectors in a revolution of 4 ms and a skew of 0.4 ms.
    DISK_MB_S = 1800 * 512 / 4.4e-3 / 1e6
    FAILED = 3


@app.function
def scenario(values):
    """Eight disks under the database profile; one fails, and a hot spare takes its place."""
    return {
        "title": f"{LEVELS[values['level']]}: a rebuild at {values['share']} % beside users",
        "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu", "disk_cache": False},
        "array": [
            {
                "level": values["level"],
                "drives": [{"model": "generic-15000rpm", "count": 8}],
                "used": f"{USED_MB} MB",
                "hot_spares": 1,
                "rebuild_rate": values["share"] / 100,
            }
        ],
        "workload": [{"profile": "database", "rate": f"{values['load']} IO/s"}],
        "event": [{"at": f"{FAILS_S} s", "action": "fail-drive", "drive": FAILED}],
        "run": {
            "warm_up": "1 s",
            "duration": "120 s",
            "after_rebuild": "6 s",
            "timeline_step": "100 ms",
        },
    }


@app.function
def by_arrival(ios):
    """Median and longest latency (us) of the I/Os that begin in each tenth of a second.

    By completion a bin would hold what got through: in the worst moments writes into the cache
    alone, so that users would seem quicker than ever.
    """
    bins = {}
    for io in ios:
        at = (io["issued_ns"] // 10**8 + 0.5) / 10
        bins.setdefault(at, []).append(io["latency_ns"] / 1e3)
    return {at: (sorted(took)[len(took) // 2], max(took)) for at, took in sorted(bins.items())}


@app.function
def met(ios, end_s):
    """When the I/Os begin (ns) that wait as long as for a part of a slice."""
    return sorted(
        io["issued_ns"]
        for io in ios
        if io["latency_ns"] > SLICE_WAIT_NS and FAILS_S * 10**9 <= io["issued_ns"] < end_s * 1e9
    )


@app.function
def queue(ios, slow):
    """I/Os before the drives while the rebuild reads one slice."""
    begin = (slow[0] if slow else FAILS_S * 10**9) - BEFORE_NS
    shown = [io for io in ios if abs(io["issued_ns"] - begin) < LASTS_NS]
    notes = {str(FAILED): "failed", "spare": "written by the rebuild"}
    return queueing(shown, FOLLOWED, "the rebuild", from_ns=begin, notes=notes)


@app.function
def bursts(slow):
    """How often users meet a slice: I/Os that wait for one and begin more than 0.1 s apart."""
    return sum(now - before > 10**8 for before, now in zip([-(10**9), *slow], slow, strict=False))


@app.function
def dotted(ios, arrived):
    """Each I/O a dot where it begins; a line below which half of a tenth of a second's I/Os are."""
    half = Series("half are quicker", list(arrived), [each[0] / 1e3 for each in arrived.values()])
    drawn = lines([half], Axis("time, s"), Axis("latency, ms", log=True))
    few = ios[:: -(-len(ios) // DOTS)]
    times = [io["latency_ns"] / 1e6 for io in few]
    draw_curve(
        drawn,
        f"every {-(-len(ios) // DOTS)}th I/O" if len(ios) > DOTS else "an I/O",
        [io["issued_ns"] / 1e9 for io in few],
        times,
        hover="%{y:,.3~g} ms at %{x:,.4~g} s<extra></extra>",
        mode="markers",
        marker={"size": 4, "color": "#D55E00", "opacity": 0.55},
    )
    drawn.update_yaxes(
        log_axis([*times, *(each[0] / 1e3 for each in arrived.values())], "latency, ms")
    )
    return drawn


@app.function
def answer(values, seed):
    """How long the rebuild takes, and what users feel meanwhile."""
    result = recorded(scenario(values), seed, TRACED)
    row = result.rows[0]
    done = next((e["t_s"] for e in result.events if e["kind"] == "rebuild-done"), None)
    end = row.timeline.t_s[-1] if done is None else done
    took = end - FAILS_S
    periods = {period["from_s"]: period["latency_us"] for period in result.results[0]["periods"]}
    before, during = (periods[at]["p99"] / 1e3 for at in (0.0, float(FAILS_S)))
    means = {at: period["mean"] for at, period in periods.items()}
    factor = means[float(FAILS_S)] / means[0.0]
    arrived = by_arrival(result.ios)
    calm = [median for at, (median, _) in arrived.items() if at < FAILS_S]
    worse = [median for at, (median, _) in arrived.items() if FAILS_S <= at < end]
    slow = met(result.ios, end)
    rate = USED_MB / took
    hours = 300e3 / rate / 3600
    story = dotted(result.ios, arrived)
    dashed(story, FAILS_S, "fails", side="left")
    if done is not None:
        dashed(story, done, "rebuilt")
    # Above the plot, where no dot is.
    story.update_annotations(y=1)
    story.update_layout(margin_t=26)
    return Answer(
        f"The rebuild takes {figure(took, 's')} for {USED_MB} MB of each drive,"
        f" {figure(hours, 'h')} for all of 300 GB; users' p99 is"
        f" {figure(during, 'ms')} meanwhile, {figure(before, 'ms')} before.",
        [
            Picture(
                f"The mean wait of users is {digits(factor)} times as long during the rebuild",
                "each dot an I/O at the time when it begins, however late it ends; those near"
                " 0.03 ms are writes into the controller's cache: where they are more than half,"
                " the line falls to them",
                story,
            ),
            Picture(
                f"{figure(rate, 'MB/s')} of rebuild beside {values['load']} IO/s",
                "rate of the rebuild, and of a disk that is read alone in sequence on the same,"
                " outer tracks",
                bars(
                    {"this rebuild": rate, "one disk, in sequence": DISK_MB_S},
                    Axis("MB/s"),
                    marked="this rebuild",
                ),
            ),
        ],
        {
            "took_s": took,
            "before_ms": before,
            "during_ms": during,
            "hours": hours,
            "rate": rate,
            "factor": factor,
            "mean_before_us": means[0.0],
            "mean_during_us": means[float(FAILS_S)],
            "calm_us": max(calm),
            "quiet_share": sum(each <= max(calm) for each in worse) / len(worse),
            "slowest_us": max(worse),
            "bursts": bursts(slow),
        },
        boxes=[
            measured(hours, "h", "without full redundancy, for whole drives"),
            measured(during, "ms", "p99 of users during the rebuild"),
            measured(before, "ms", "p99 before"),
        ],
        warnings=[] if done is not None else ["The rebuild does not end within 120 s."],
        scenes=[queue(result.ios, slow)],
    )


@app.function
def notice():
    """What is there to see."""
    return [
        Claim(
            "A larger share shortens the risk and lengthens the wait: 100 % instead of 30 % is"
            " more than twice as fast, and users' p99 at least doubles.",
            lambda at: (
                at(share=100)["took_s"] < 0.5 * at(share=30)["took_s"]
                and at(share=100)["during_ms"] > 2 * at(share=30)["during_ms"]
            ),
            "What does a larger share for the rebuild buy, and what does it cost?",
            {"share": 100},
        ),
        Claim(
            "No: it works in slices. With RAID 5 at 30 % more than four of ten tenths of a second"
            " are as quick as before; in the worst one half of the I/Os take ten times as long.",
            lambda at: (
                at(share=30)["quiet_share"] > 0.4
                and at(share=30)["slowest_us"] > 10 * at(share=30)["calm_us"]
            ),
            "Is every moment of a rebuild equally slow?",
            {"share": 30},
        ),
        Claim(
            "300 MB are 18 slices of 16 MiB. With RAID 5 at 30 % users meet nearly all at 500 IO/s"
            " and fewer than half at 100: a slice that begins while no I/O is under way gives way.",
            lambda at: (
                0.9 * SLICES < at(load=500)["bursts"] < SLICES + 1
                and at(load=100)["bursts"] < SLICES / 2
            ),
            "How many slices does the rebuild take, and how many of them do users meet?",
            {"load": 100},
        ),
        Claim(
            "With RAID 5 and 300 IO/s users wait 40 to 90 times as long on average at a share of"
            " 100 %, by the seed, and some five times at 30 %.",
            lambda at: 40 < at(share=100)["factor"] < 90 and abs(at()["factor"] - 5) < 0.5,
            "How many times as long do users wait on average, at 30 and at 100 %?",
            {"share": 100},
        ),
        Claim(
            "With RAID 5 at 100 % yes: with 100 IO/s its rate is more than a fifth above that with"
            " 500. Where the rebuild is slowed, users wait less: p99 is 558 ms with 100 IO/s and"
            " 384 ms with 500. At 30 % the time changes by less than a quarter, either way.",
            lambda at: (
                at(share=100, load=100)["rate"] > 1.2 * at(share=100, load=500)["rate"]
                and round(at(share=100, load=100)["during_ms"]) == 558
                and round(at(share=100, load=500)["during_ms"]) == 384
                and 0.8 * at()["took_s"] < at(load=100)["took_s"] < at(load=500)["took_s"]
                and at(load=500)["took_s"] < at()["took_s"]
            ),
            "Do the users slow the rebuild down?",
            {"share": 100, "load": 500},
        ),
        Claim(
            "At 30 % with 100 IO/s RAID 10, which copies one disk, takes less than two thirds of"
            " the time of RAID 5, which reads all seven others. With 500 IO/s it is no faster.",
            lambda at: (
                at(load=100, level="raid10")["took_s"] < 2 / 3 * at(load=100)["took_s"]
                and at(load=500, level="raid10")["took_s"] > at(load=500)["took_s"]
            ),
            "Is RAID 10 rebuilt faster than RAID 5?",
            {"level": "raid10", "load": 100},
        ),
        Claim(
            "No: at 30 % RAID 5 and RAID 6 are rebuilt at less than 30 % of a disk's sequential"
            " rate, because each slice seeks anew. RAID 10 has more with 100 IO/s: the share binds"
            " only while users want the array.",
            lambda at: (
                all(
                    at(load=load, level=level)["rate"] < 0.3 * DISK_MB_S
                    for load in (100, 300, 500)
                    for level in ("raid5", "raid6")
                )
                and at(load=100, level="raid10")["rate"] > 0.3 * DISK_MB_S
            ),
            "Is 30 % of the time 30 % of the disk's rate?",
            {"share": 30},
        ),
    ]


@app.function
def exercises():
    """Tasks with solutions."""
    return [
        Exercise(
            "8 TB at 209 MB/s, nothing else to do: how long at least? How long beside 300 IO/s of"
            " users, at 60 and at 100 %?",
            "8,000,000 / 209 s = 10.6 h. At the rates of this room, RAID 5: 22 h at 60 %, 14 h at"
            " 100 %.",
            lambda at: (
                abs(8e6 / DISK_MB_S / 3600 - 10.6) < 0.05
                and abs(8e6 / at(share=60)["rate"] / 3600 - 22) < 0.5
                and abs(8e6 / at(share=100)["rate"] / 3600 - 14) < 0.5
            ),
        ),
        Exercise(
            "Seven disks of 8 TB are read during a rebuild; one bit in 10¹⁵ cannot be read. How"
            " probable is it that one sector is lost?",
            "1 - exp(-7 × 8 × 10¹² × 8 / 10¹⁵) = 36 %, if bits fail independently.",
            lambda at: abs(1 - 2.718281828 ** (-7 * 8e12 * 8 / 1e15) - 0.36) < 0.005,
        ),
    ]


@app.function
def room():
    """What the lab knows of this room."""
    return Room(
        name="rebuild",
        number=9,
        question="A drive dies at noon: what do users feel, and for how long?",
        about="Eight disks of 15,000 rpm under the database profile. A disk fails after five"
        " seconds and a hot spare takes its place. The controller gives the rebuild a share of the"
        " array's time while users want it too.",
        prediction=Prediction(
            "A disk reads 209 MB/s in sequence. With 30 % of the time for the rebuild and 300 IO/s"
            " of users: how many hours for disks of 300 GB in RAID 5?",
            "h",
            lambda at: at()["hours"],
            "The disk alone would need 0.40 h. Each slice of the rebuild seeks back to its place.",
            Number(0.01, 1000),
        ),
        controls=[
            Control("share", "Share for the rebuild", (10, 30, 60, 80, 100), 30, "%"),
            Control("load", "Users", (100, 300, 500), 300, "IO/s"),
            Control("level", "Level", tuple(LEVELS), "raid5", words=LEVELS),
        ],
        opens={"share": 100, "level": "raid6"},
        scenario=scenario,
        answer=answer,
        notice=notice(),
        exercises=exercises(),
        sources=[
            "M. Holland and G. Gibson, Parity declustering for continuous operation in redundant"
            " disk arrays, 1992",
            "L. N. Bairavasundaram et al., An analysis of latent sector errors in disk drives,"
            " 2007",
        ],
        limits="Only 300 MB of each disk is used, on its outer tracks, so that a run is"
        " short; hours are those of whole disks at the same rate. A whole disk averages 15 % less:"
        " its tracks have 1,800 sectors outside and 1,250 inside.",
    )


@app.cell
def _():
    Live(room())
    return


if __name__ == "__main__":
    app.run()
