"""What a run answers: the knee of its curve in one sentence, and the figures that stand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raidlab.scenarios.report.tables import Column, Kind, Table, Unsure
from raidlab.scenarios.results.around_events import before_and_after, when
from raidlab.scenarios.results.asked import asked, has_rates, is_served
from raidlab.scenarios.results.bottleneck import bound, busiest_words, limits, longest_part
from raidlab.scenarios.results.diagnostics.statements import FEW_RATE_IOS, may_carry, why_not
from raidlab.scenarios.results.intervals import BEYOND
from raidlab.scenarios.results.number_text import between, figure, with_spread
from raidlab.scenarios.results.outcome import Outcome
from raidlab.scenarios.results.over_time import changes, in_words
from raidlab.scenarios.results.row import Gain, Row, latency_at, measured

if TYPE_CHECKING:
    from raidlab.scenarios.report.page import Box

ENOUGH_SHARE = 0.97
"""Share of the best rate from which on more outstanding I/Os only wait."""
_SENTENCES = 2
"""Workloads that the answer speaks of."""


@dataclass(frozen=True)
class Curve:
    """One workload over its queue depths; an open load over its rates."""

    name: str
    rows: Sequence[Row]

    @property
    def carrying(self) -> Sequence[Row]:
        """The points that may carry a statement."""
        return [row for row in self.rows if may_carry(row)]

    @property
    def best(self) -> Row:
        """The point of the highest rate, of those that may carry a statement if there are any.

        Of an open load at several rates, what is served at most: where more arrives.
        """
        rows = self.rows if self.has_rates else self.carrying or self.rows
        return max(rows, key=lambda row: row["iops"])

    @property
    def knee(self) -> Row:
        """The point of the smallest queue depth that gives nearly the highest rate.

        Of an open load the highest rate that is served; the lowest one if none is.
        """
        if self.has_rates:
            served = self.carrying or [row for row in self.rows if is_served(row)]
            return max(served, key=asked, default=self.rows[0])
        enough = ENOUGH_SHARE * self.best["iops"]
        rows = self.carrying or self.rows
        return next(row for row in rows if row["iops"] >= enough)

    @property
    def follows(self) -> bool:
        """True if other workloads' queue depths change and this one's does not."""
        return len(self.rows) > 1 and len({asked(row) for row in self.rows}) == 1

    @property
    def has_rates(self) -> bool:
        """True of an open load at several rates."""
        return has_rates(self.rows)

    @property
    def rises(self) -> bool:
        """True if the rate still grows at the last point."""
        known = self.rows if self.has_rates else self.carrying or self.rows
        return self.knee is self.rows[-1] and len(known) > 1


def curves(summary: Sequence[Row]) -> list[Curve]:
    """The workloads of a run, each by queue depth."""
    names = dict.fromkeys(row["workload"] for row in summary)
    return [
        Curve(
            name,
            sorted((row for row in summary if row["workload"] == name), key=asked),
        )
        for name in names
    ]


def answer(result: Outcome) -> str:
    """The sentence on top of a run's table and page."""
    found = curves(result.summary())
    if not found:
        return "Nothing was simulated."
    text = " ".join(
        _sentence(curve, f"{curve.name}: " if len(found) > 1 else "", others=len(found) > 1)
        for curve in found[:_SENTENCES]
    )
    if len(found) > _SENTENCES:
        left = len(found) - _SENTENCES
        text += f" {left} more {'workload' if left == 1 else 'workloads'}: see the table."
    return text


def _sentence(curve: Curve, subject: str, *, others: bool) -> str:
    """What a load reaches and why not more; `others` if there are more loads than this one."""
    knee = curve.knee
    if not curve.best["iops"]:
        return f"{subject}no I/O ended while the run was recorded."
    if len(curve.rows) == 1 and knee["ios"] < FEW_RATE_IOS:
        return f"{_upper(subject + _of_few(knee))}."
    changed = knee.get("around_events")
    if len(curve.rows) == 1 and changed is not None:
        return f"{_upper(subject + _of_events(knee))}.{_after_events(knee)}"
    if curve.has_rates:
        text = _of_rates(curve)
    elif not knee["outstanding"]:
        text = _of_overload(knee) if knee.get("overloaded") else _of_open(knee)
    elif curve.follows:
        text = _of_equal_depths(curve, others=others)
    else:
        text = _of_depths(curve)
    text += _left_out(curve)
    if changed is not None:
        text += f"; these are means over events {when(changed)}, no steady rates"
    return f"{_upper(subject + text)}. {_upper(_reasons(curve))}."


def _left_out(curve: Curve) -> str:
    """Which points carry no statement, and why."""
    doubtful = [row for row in curve.rows if not may_carry(row) and row["outstanding"]]
    if not doubtful:
        return ""
    why = why_not(doubtful)
    if len(curve.rows) == 1:
        return f" ({why})"
    if not curve.carrying:
        return f"; no point carries a statement ({why})"
    depths = ", ".join(str(row["outstanding"]) for row in doubtful)
    return f"; left out: queue depth {depths} ({why})"


def _of_few(row: Row) -> str:
    mean = figure(measured(row)["mean"], "us")
    if row["ios"] == 1:
        return f"one I/O ended, after {mean}: no rate and no limit follow from it"
    return f"{row['ios']} I/Os ended, after {mean} on average: too few for a rate or a limit"


def _of_events(row: Row) -> str:
    """A load that events change."""
    depth = row["outstanding"]
    load = f"queue depth {depth} gives" if depth else "an open load has"
    sides = before_and_after(row["around_events"])
    mean = figure(row["iops"], "IO/s")
    if not sides:
        return f"{load} {mean} on average over events {when(row['around_events'])}"
    return f"{load} {sides}: the mean, {mean}, is no steady rate"


def _after_events(row: Row) -> str:
    """The limit over the whole recording, if there is one."""
    found = bound(row)
    named = found is not None and found.is_full
    return f" The limit, on average: {limits(row)}." if named else ""


def _of_open(row: Row) -> str:
    return f"an open load of {_rate(row)} has a p99 of {_p99(row)}"


def _of_overload(row: Row) -> str:
    offered = row.get("offered_iops")
    arrive = (
        "more arrives than is served" if offered is None else f"{figure(offered, 'IO/s')} arrive"
    )
    return (
        f"overloaded: {arrive}, {_rate(row)} are served; the queue grows, so latencies have no"
        f" steady state (p99 {_p99(row)} in this run)"
    )


def _of_equal_depths(curve: Curve, *, others: bool) -> str:
    """One queue depth at every point: what changes is the other loads, or nothing."""
    low, high = (f(curve.rows, key=lambda row: row["iops"]) for f in (min, max))
    reach = f"queue depth {curve.knee['outstanding']} gives"
    if not others:
        points = f"at each of {len(curve.rows)} equal points"
        return f"{reach} {_rate(high)} {points}, p99 {_p99(high)}"
    rates = between(high["iops"], low["iops"], "IO/s")
    return f"{reach} {rates} as the other loads change, p99 {_p99s(high, low)}"


def _of_depths(curve: Curve) -> str:
    """A closed load: what its queue depths reach."""
    knee, last = curve.knee, curve.rows[-1]
    if curve.rises:
        rises = f"the rate still rises at queue depth {knee['outstanding']}"
        return f"{rises}: {_rate(knee)}, p99 {_p99(knee)}"
    depth = knee["outstanding"]
    if knee is last:
        return f"queue depth {depth} gives {_rate(knee)}, p99 {_p99(knee)}"
    p99s = f"{_p99s(knee, last)} at {last['outstanding']}"
    if last["iops"] >= ENOUGH_SHARE * curve.best["iops"]:
        beyond = f"deeper queues only raise p99 ({p99s})"
    else:
        beyond = f"deeper queues lower the rate (p99 {p99s})"
    return f"best at queue depth {depth}: {_rate(knee)}; {beyond}"


def _reasons(curve: Curve) -> str:
    """The limit at the knee and, if another one joins it there, at the last point."""
    knee, last = curve.knee, curve.rows[-1]
    if curve.has_rates and not curve.rises:
        return _reason(last)
    ends = [None if (found := bound(row)) is None else found.groups for row in (knee, last)]
    if knee is last or curve.follows or ends[0] == ends[1]:
        return _reason(knee)
    return f"{_reason(knee)}; at queue depth {last['outstanding']} {limits(last)}"


def _of_rates(curve: Curve) -> str:
    """How far the rates of an open load are served."""
    knee, last = curve.knee, curve.rows[-1]
    rates = [figure(row["offered_iops"], "IO/s") for row in (knee, last)]
    if curve.rises:
        return f"all rates up to {rates[1]} are served, p99 {_p99s(curve.rows[0], last)}"
    if not is_served(knee):
        return f"not even {rates[0]} are served: {_rate(knee)} of them"
    beyond = curve.rows[[id(row) for row in curve.rows].index(id(knee)) + 1]
    return (
        f"{rates[0]} are served, p99 {_p99(knee)}; at {figure(beyond['offered_iops'], 'IO/s')}"
        f" the queue grows, {_rate(curve.best)} are served at most"
    )


def _reason(row: Row) -> str:
    found, held = bound(row), in_words(row)
    if found is None:
        return "no component is in use"
    if found.is_full:
        return f"the limit: {limits(row)}{held and f'; {held}'}"
    if changes(row):
        return f"the limit changes in time: {held} (otherwise {busiest_words(row)} at most)"
    spare = f"no component is busy for 80 % of the time ({busiest_words(row)} at most)"
    spare += held and f"; {held}"
    if not row["outstanding"]:
        return spare
    return f"{spare}: the time of one I/O bounds the rate, {longest_part(row)}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rate(row: Row) -> str:
    low, high = row["iops_ci95"]
    return with_spread(row["iops"], low, high, "IO/s")


def _p99(row: Row) -> str:
    if not row["latency_us"]:
        return "unknown"
    mark = "~" if "p99" in row["uncertain"] else ""
    return mark + figure(row["latency_us"]["p99"], "us")


def _p99s(first: Row, last: Row) -> str:
    if not first["latency_us"] or not last["latency_us"]:
        return f"{_p99(first)} to {_p99(last)}"
    return between(first["latency_us"]["p99"], last["latency_us"]["p99"], "us")


def boxes(result: Outcome) -> list[Box]:
    """Best rate, knee and p99 at the knee, of the first workload."""
    from raidlab.scenarios.report.page import Box

    found = curves(result.summary())
    if not found or not found[0].best["iops"]:
        return []
    first, knee = found[0], found[0].knee
    of = f" of {first.name}" if len(found) > 1 else ""
    if first.has_rates:
        offered = Box(figure(knee["offered_iops"], "IO/s"), f"the highest rate served{of}")
        if not is_served(knee):
            all_of_them = figure(knee["offered_iops"], "IO/s")
            offered = Box(_rate(knee), f"served of {all_of_them}{of}")
        return [offered, Box(_p99(knee), "p99 there")]
    changed = knee.get("around_events")
    if len(first.rows) == 1 and changed is not None and changed["before"] and changed["after"]:
        begin, end = (figure(at["t_s"], "s") for at in (changed["first"], changed["last"]))
        rates = [figure(each["iops"], "IO/s") for each in (changed["before"], changed["after"])]
        return [Box(rates[0], f"before {begin}{of}"), Box(rates[1], f"after {end}{of}")]
    if not knee["outstanding"]:
        come = knee.get("offered_iops")
        arrive = f", of {figure(come, 'IO/s')} that arrive" if knee.get("overloaded") else ""
        served = f"served{of}{arrive if come else ''}"
        return [Box(_rate(knee), served), Box(_p99(knee), f"p99{of}")]
    if len(first.rows) == 1:
        return [
            Box(_rate(knee), f"at queue depth {knee['outstanding']}{of}"),
            Box(_p99(knee), f"p99{of}"),
            Box(figure(knee["mb_per_s"], "MB/s"), f"throughput{of}"),
        ]
    return [
        Box(_rate(first.best), f"best rate{of}, at queue depth {first.best['outstanding']}"),
        Box(
            str(knee["outstanding"]),
            "queue depth, the deepest tried" if first.rises else "queue depth for 97 % of it",
        ),
        Box(_p99(knee), "p99 there"),
    ]


def table(result: Outcome) -> Table:
    """A line for each workload and queue depth."""
    found = curves(result.summary())
    knees = [id(curve.knee) for curve in found if len(curve.rows) > 1 and not curve.follows]
    rows = [row for curve in found for row in curve.rows]
    columns = [
        Column("workload", kind=Kind.TEXT, width=10),
        Column("queue depth", kind=Kind.NUMBER),
        Column("IO/s"),
        Column("±\u00a095\u00a0%", priority=6),
        Column("", "MB/s", priority=3),
        Column("mean", "ms", priority=2),
        Column("p50", "ms", priority=7),
        Column("p99", "ms"),
        Column("±\u00a095\u00a0%", "ms", priority=9),
        Column("p99.9", "ms", priority=5),
        Column("limit", kind=Kind.TEXT, width=16),
        Column("next", kind=Kind.TEXT, priority=8, width=12),
    ]
    powered = any(row.get("power") for row in rows)
    if powered:
        columns.append(Column("power", "W", priority=4))
    title = "By queue depth (I/Os outstanding)" if any(row["outstanding"] for row in rows) else ""
    if any(curve.has_rates for curve in found):
        columns[1] = Column("offered", kind=Kind.NUMBER)
        title = "By what is asked: I/Os outstanding, or the rate that arrives"
    several = {curve.name for curve in found if curve.has_rates}
    return Table(
        title,
        columns,
        [
            _line(row, in_rates=row["workload"] in several)
            + [None if (power := row.get("power")) is None else power["watts"]] * powered
            for row in rows
        ],
        marked=[at for at, row in enumerate(rows) if id(row) in knees],
    )


def _line(row: Row, *, in_rates: bool) -> list[Any]:
    low, high = row["iops_ci95"]

    def ms(key: str) -> float | None:
        latency = latency_at(row, key)
        if latency is None:
            return None
        return (Unsure if key in row["uncertain"] else float)(latency / 1e3)

    tail_low, tail_high = row["latency_ci95_us"].get("p99", (None, None))

    return [
        row["workload"],
        figure(row["offered_iops"], "IO/s") if in_rates else row["outstanding"] or "open",
        row["iops"],
        None if row.get("around_events") else _half(row["iops"], low, high),
        row["mb_per_s"],
        ms("mean"),
        ms("p50"),
        ms("p99"),
        None if tail_low is None or tail_high is None else (tail_high - tail_low) / 2e3,
        ms("p99_9"),
        limits(row),
        row["runner_up"],
    ]


def _half(rate: float, low: float | None, high: float | None) -> float | int | None:
    """Half of an interval, whole where the rate is."""
    if low is None or high is None:
        return None
    half = (high - low) / 2
    return round(half) if rate >= 999.5 else half


def caution(result: Outcome) -> str:
    """What `~` means in the table; nothing where it has none."""
    shown = {"p50", "p99", "p99_9"}
    if all(shown.isdisjoint(row["uncertain"]) for row in result.summary() if row["ios"]):
        return ""
    return f"~ fewer than {BEYOND} I/Os lie beyond this percentile: it is uncertain."


def warm_up(result: Outcome) -> str:
    """What was cut of each run where the method finds it; nothing where the scenario says it."""
    cut = sorted({row["warm_up_s"] for row in result.results})
    run = {} if result.written is None else result.written.get("run", {})
    if not cut or run.get("warm_up", "auto") != "auto":
        return ""
    return f"Warm-up: {between(cut[0], cut[-1], 's') if cut[1:] else figure(cut[0], 's')} cut."


def gains(result: Outcome) -> tuple[Table, str] | None:
    """Changes that gain 3 % or more somewhere, and a line that names all others."""
    if result.what_if is None:
        return None
    rows, none, cannot = [], [], []
    workloads = len({each["workload"] for case in result.what_if for each in case["results"]})
    for case in result.what_if:
        if case["why_not"] is not None:
            cannot.append(f"{case['change']}: {case['reason']}")
            continue
        shown = [
            _gain(each, gain, f"{each['workload']} " if workloads > 1 else "")
            for each in case["results"]
            if (gain := each["gain_pct"]) is not None
            and (abs(gain) >= _GAIN or each["still_filling"])
        ]
        if not shown:
            none.append(case["subject"])
            continue
        points = ", ".join(shown)
        last = case["results"][-1]
        depth = last["outstanding"] or "open"
        rows.append([case["change"], points, f"{depth}: {last['bottleneck'] or '–'}"])
    lines = [f"No gain from: {', '.join(none)}."] if none else []
    lines += [f"Cannot be: {each}." for each in cannot]
    table = Table(
        f"What if: queue depths at which IO/s change by {_GAIN:.0f} % or more",
        [
            Column("change", kind=Kind.TEXT, width=24),
            Column("queue depth: gain", "%", kind=Kind.PROSE, width=24),
            Column("limit then", kind=Kind.TEXT, priority=2, width=18),
        ],
        rows,
    )
    return table, " ".join(lines)


_GAIN = 3.0
"""Percent of IO/s from which on a gain is shown."""


def _gain(each: Gain, gain: float, workload: str) -> str:
    filling = " (cache still filling)" if each["still_filling"] else ""
    return f"{workload}{each['outstanding'] or 'open'}: {round(gain):+d}{filling}"
