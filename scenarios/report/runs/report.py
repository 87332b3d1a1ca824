"""The page of a run: its answer, curves, where the time went, what was busy."""

from __future__ import annotations

import json
from collections.abc import Sequence

from raidlab.scenarios.report.page import Evidence, Folded, Page, Picture, Text
from raidlab.scenarios.report.runs import answers, slow_ios
from raidlab.scenarios.report.runs.event_summary import integrity_summary
from raidlab.scenarios.report.runs.goal_table import goal_table
from raidlab.scenarios.report.runs.happened import events_table, wear_table
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results.asked import in_words, is_served
from raidlab.scenarios.results.bottleneck import latency_bound
from raidlab.scenarios.results.endurance import cautions, endurance
from raidlab.scenarios.results.number_text import between, digits, figure, part_name
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.results.row import Row, figures_of, measured

_SLOW_IOS = 20
"""Slow I/Os that a page lists."""
_TAILS = 3
"""Workloads whose tails a page draws."""


def html_report(result: Result, command: str = "") -> str:
    """The page of `result`.

    Args:
        result: What `simulate` found.
        command: The line that makes the page again.
    """
    return Page(
        kind="run",
        question=result.title,
        answer=answers.answer(result),
        boxes=answers.boxes(result),
        beside=[
            *(("The run was interrupted: what was finished is shown.",) * result.interrupted),
            *result.warnings,
        ],
        breaches=result.breaches,
        pictures=pictures(result),
        evidence=_evidence(result),
        provenance=[
            f"raidlab {result.version}, seed {result.seed}, plan {result.fingerprint}."
            " The same scenario, seed, device files and version give the same figures to the last"
            " digit."
        ],
        command=command,
    ).html()


def pictures(result: Result) -> list[Picture]:
    """What is drawn: curves where there are several points, else one bar of parts."""
    from raidlab.scenarios.report.runs import charts

    summary = result.summary()
    if not summary:
        return []
    found: list[Picture] = []
    last = result.results[-1]
    over_time = (
        [Picture(_steadiness(last), _whose_rate(last), charts.timeline(last))]
        if last["timeline"]["t_s"]
        else []
    )
    groups = answers.curves(summary)

    def of(curve: answers.Curve) -> str:
        return f"{curve.name}: " if len(groups) > 1 else ""

    if max(len(curve.rows) for curve in groups) == 1:
        found += over_time
        found += [_parts(summary, curve, of(curve)) for curve in groups]
    else:
        found.append(_rates(summary, groups))
        found += [
            _tails(summary, curve, of(curve))
            for curve in groups
            if any(r["latency_us"] for r in curve.rows)
        ]
        found += [_parts(summary, curve, of(curve)) for curve in groups]
        found += over_time
    found += tail_pictures(result)
    found += io_pictures(result)
    heat_map = charts.utilization(summary)
    if heat_map.rows:
        drawn = "Percent of the recorded time that each component worked, the busiest first."
        found.append(Picture(_busiest(groups[0].rows), drawn, heat_map=heat_map, wide=True))
    return found


def tail_pictures(result: Result) -> list[Picture]:
    """Latencies over time and the slowest I/Os, of the last run that has them."""
    from raidlab.scenarios.report.runs import map_chart

    point = max(row["point"] for row in result.results)
    rows = [row for row in result.results if row["point"] == point and row["replication"] == 0]
    found = []
    for row in rows[:_TAILS]:
        named = f"{row['workload']}, " if len(rows) > 1 else ""
        depth = f"{row['outstanding']} outstanding" if row["outstanding"] else "open load"
        for side in ("read", "write"):
            over_time = row[side].get("latency_map")
            if over_time and any(over_time["columns"]):
                found.append(
                    Picture(
                        f"Latency of {side}s over time: {named}{depth}",
                        "The stronger the colour, the more of the I/Os of that time took so long.",
                        map_chart.figure(over_time, row["warm_up_s"]),
                        data=map_chart.table(over_time),
                    )
                )
        if row.get("slowest"):
            drawn = f"The slowest I/Os by part of their time: {named}{depth}."
            found.append(Picture(slow_ios.seen(row), drawn, slow_ios.figure(row), wide=True))
    return found


def io_pictures(result: Result) -> list[Picture]:
    """The lives of traced I/Os; none without any."""
    from raidlab.scenarios.report.runs import io_charts

    if not result.ios:
        return []
    ios = io_charts.drawn(result.ios)
    depth = f"{ios[0]['outstanding']} outstanding" if ios[0]["outstanding"] else "open load"
    which = f"The first {len(ios)} I/Os after the warm-up, {depth}"
    zoom = "Drag over a part to enlarge it, double-click to go back."
    return [
        Picture(
            io_charts.most_of_the_time(ios),
            f"{which}: the parts of each from its call to its completion. {zoom}",
            io_charts.lives(ios),
            wide=True,
            data=io_charts.table(ios),
        ),
        Picture(
            io_charts.most_of_the_work(ios),
            f"What each component worked on, waiting left out. {zoom}",
            io_charts.work(ios),
            wide=True,
            data=io_charts.work_table(ios),
        ),
    ]


def _rates(summary: Sequence[Row], groups: Sequence[answers.Curve]) -> Picture:
    from raidlab.scenarios.report.runs import charts

    first = groups[0]
    knee = first.knee
    drawn = "IO/s over outstanding I/Os; bars are 95 % intervals."
    if first.has_rates:
        drawn = "IO/s served over IO/s offered; bars are 95 % intervals."
        rate = figure(knee["offered_iops"], "IO/s")
        seen = f"Up to {rate} all is served" if is_served(knee) else "No rate is served"
    elif first.follows or len(first.rows) == 1:
        seen = "Rates of the loads beside each other"
    elif first.rises:
        seen = f"The rate grows up to {knee['outstanding']} outstanding"
    else:
        seen = f"Beyond {knee['outstanding']} outstanding the rate hardly grows"
    sizes = {name: _block(rows) for name, rows in ((c.name, c.rows) for c in groups)}
    if len(groups) == 1 and sizes[first.name]:
        drawn += f" 1,000 IO/s are {digits(sizes[first.name])} MB/s."
    return Picture(seen, drawn, charts.rate(summary, _marked(first)))


def _marked(curve: answers.Curve) -> Row | None:
    """The knee, where there is one."""
    if curve.follows or curve.rises or len(curve.rows) == 1:
        return None
    return None if curve.has_rates and not is_served(curve.knee) else curve.knee


def _block(rows: Sequence[Row]) -> float:
    """MB/s of 1,000 IO/s."""
    best = max(rows, key=lambda row: row["iops"])
    return float(1e3 * best["mb_per_s"] / best["iops"]) if best["iops"] else 0.0


def _tails(summary: Sequence[Row], curve: answers.Curve, subject: str) -> Picture:
    from raidlab.scenarios.report.runs import charts

    known = [row for row in curve.rows if row["latency_us"]]
    first, last = measured(known[0])["p99"], measured(known[-1])["p99"]
    seen = f"{subject}p99 {between(first, last, 'us')}"
    drawn = "Latency from the call in the host to its completion: p50, p99 and p99.9."
    return Picture(seen, drawn, charts.latency(summary, curve.name, knee=_marked(curve)))


def _parts(summary: Sequence[Row], curve: answers.Curve, subject: str) -> Picture:
    from raidlab.scenarios.report.runs import charts

    first, last = curve.rows[0], curve.rows[-1]
    part, share = _longest(first)
    if len(curve.rows) == 1:
        seen = f"{subject}most of the time is {part} ({share:.0f} %)"
        latency = {} if first["latency_us"] is None else figures_of(first["latency_us"])
        tails = ", ".join(
            f"{name} {'~' * (key in first['uncertain'])}{digits(latency[key] / 1e3)} ms"
            for key, name in (("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"))
            if key in latency
        )
        drawn = f"Mean latency by part. {tails[:1].upper() + tails[1:]}."
    else:
        seen = f"{subject}most of the time is {_change(first, last)}"
        drawn = "Shares of the mean latency by part; above each bar the mean in milliseconds."
    if not subject:
        seen = seen[:1].upper() + seen[1:]
    return Picture(seen, drawn, charts.breakdown(summary, curve.name))


def _longest(row: Row) -> tuple[str, float]:
    """The longest part of an I/O's time, and its share in percent."""
    parts = row["breakdown_us"]
    part = max(parts, key=lambda each: parts[each])
    return part_name(part), 100 * parts[part] / (sum(parts.values()) or 1.0)


def _change(first: Row, last: Row) -> str:
    """The longest part at the first and at the last point."""
    (one, before), (other, after) = _longest(first), _longest(last)
    if one == other:
        return f"{one} ({between(round(before), round(after))} %)"
    depths = [f" at {row['outstanding']}" if row["outstanding"] else "" for row in (first, last)]
    if depths[0] == depths[1]:
        depths = [" at first", " at last"]
    return f"{one} ({before:.0f} %){depths[0]}, {other} ({after:.0f} %){depths[1]}"


def _busiest(rows: Sequence[Row]) -> str:
    from raidlab.scenarios.report.runs import charts

    bound = charts.bound(rows)
    depth = rows[-1]["outstanding"]
    return f"The limit at {depth} outstanding: {bound}" if depth else f"The limit: {bound}"


def _whose_rate(row: Row) -> str:
    load, replication = in_words(row), row["replication"]
    return f"IO/s over simulated time: {row['workload']}, {load}, replication {replication}."


def _steadiness(row: Row) -> str:
    """Whether the recorded rate and latency drift."""
    if row["steady"] is None:
        return "The rate over time"
    return "The recorded rate is steady" if row["steady"] else "No steady state was recorded"


def _evidence(result: Result) -> list[Evidence]:
    found: list[Evidence] = []
    if result.results:
        found.append(answers.table(result))
        notes = [*latency_bound(result.summary()), answers.caution(result), answers.warm_up(result)]
        found.append(Text("", [note for note in notes if note]))
    met = goal_table(result)
    if met is not None:
        about = "Time is counted in steps of at least 100 I/Os."
        found += [met, Text("", [about])]
    slow = slow_ios.table(result.results, _SLOW_IOS)
    if slow is not None:
        found.append(Folded(f"The {len(slow.rows)} slowest I/Os", slow))
    worn = wear_table(result)
    if worn is not None:
        found += [
            worn,
            Text(
                "",
                [
                    "Written by the host in the run, and bytes to NAND for each of its bytes (WAF)."
                    " Rated are bytes of the host too: those of the data sheet, or what the rated"
                    " cycles of the NAND come to at this WAF. Life is the rated bytes over those"
                    " that the run writes to the drive written most, if it goes on around the"
                    " clock; by cycles, until the NAND has had its rated ones. Temperature of the"
                    " warmest drive.",
                    *cautions(endurance(result)),
                ],
            ),
        ]
    gains = answers.gains(result)
    if gains is not None:
        about = "The same scenario, seed and load with one thing changed."
        found += [gains[0], Text("", [each for each in (gains[1], about) if each])]
    events = events_table(result)
    if events is not None:
        found += [events, Text("", integrity_summary(result))]
    devices = Table(
        "Devices",
        [Column("device", kind=Kind.TEXT), Column("kind", kind=Kind.TEXT),
         Column("fingerprint of its file", kind=Kind.TEXT)],
        [[device["name"], device["kind"], device["fingerprint"]] for device in result.devices],
    )  # fmt: skip
    if result.devices:
        found.append(devices)
    is_written = result.written is not None and result.written["array"]
    written = json.dumps(result.written if is_written else {}, indent=2, default=str)
    found.append(Text("The scenario as written", listing=written, folded=True))
    return found
