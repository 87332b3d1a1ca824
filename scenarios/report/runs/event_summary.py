"""What logged in a run and what became of its data, in words for tables and pages."""

from __future__ import annotations

from dataclasses import dataclass

from raidlab.scenarios.results.result import Result
from raidlab.scenarios.spec.run_result import Latency


@dataclass(frozen=True)
class Logged:
    """What began a period, and the load up to the next event."""

    from_s: float
    what: str
    iops: float | None = None
    latency_us: Latency | None = None


def logged(result: Result) -> list[Logged]:
    """The load from one event to the next, of the last row; empty if nothing logged.

    Loads that were put together have no periods: their events stand alone, without a rate.
    """
    if not result.events or not result.results:
        return []
    last = result.results[-1]
    if last["periods"]:
        return [
            Logged(each["from_s"], each["what"], each["iops"], each["latency_us"])
            for each in last["periods"]
        ]
    run = last["point"], last["replication"]
    return [
        Logged(event["t_s"], event["what"])
        for event in result.events
        if (event["point"], event["replication"]) == run
    ]


def whose(result: Result) -> str:
    """The row that `logged` is about, in words."""
    last = result.results[-1]
    if not any(row["point"] or row["replication"] for row in result.results):
        return str(last["workload"])
    outstanding = f"{last['outstanding']} outstanding" if last["outstanding"] else "open load"
    return f"{last['workload']}, {outstanding}, replication {last['replication']}"


def integrity_summary(result: Result) -> list[str]:
    """What became of the data of all runs, warm-up included; empty if they were not followed."""
    if result.data is None or not result.events:
        return []
    data: dict[str, str | None] = {key: f"{count:,}" for key, count in result.data.items()}
    runs = len({(row["point"], row["replication"]) for row in result.results})
    lines = [
        f"{'Of' if runs == 1 else f'In all {runs} runs together, of'}"
        f" {data['acknowledged_writes']} acknowledged writes {data['lost_writes']} were lost;"
        f" {data['stale_reads']} reads got wrong data, {data['refused_reads']} were refused because"
        f" their data are lost; in {data['corrupt_stripes']} stripes parity or copies do not agree."
    ]
    errors = sum(row["errors"] for row in result.results)
    if errors:
        lines.append(
            f"{errors:,} I/Os, reads and writes, were refused or cut off while it was recorded."
        )
    if result.data["refused_reads"] and not result.data["lost_writes"]:
        lines.append(
            "No write of the run is lost at its end: what refused reads asked for had been there"
            " before the run, or has been written over since."
        )
    return lines
