"""The trace that Perfetto opens: as the format wants it, with every I/O whole."""

import json

from raidlab.scenarios.results.chrome_trace import chrome_trace
from raidlab.scenarios.results.io_lanes import lanes


def _stage(component, kind, stage, begin, end, command=0, critical=True):
    return {"component": component, "kind": kind, "stage": stage, "begin_ns": begin,
            "end_ns": end, "command": command, "critical": critical}  # fmt: skip


def _io(issued, *stages):
    end = max(stage["end_ns"] for stage in stages)
    return {"workload": "mail", "point": 0, "outstanding": 2, "replication": 0, "op": "read",
            "offset": 0, "bytes": 4096, "issued_ns": issued, "latency_ns": end - issued,
            "stages": list(stages), "commands": []}  # fmt: skip


IOS = [
    _io(
        1000,
        _stage("host thread 0", "host", "host", 1000, 1500),
        _stage("disk", "drive", "seek", 1500, 9000),
    ),
    _io(
        1200,
        _stage("host thread 0", "host", "host_wait", 1200, 1500),
        _stage("host thread 0", "host", "host", 1500, 2000),
        _stage("disk", "drive", "queue", 2000, 9000),
        _stage("disk", "drive", "seek", 9000, 12345),
        _stage("disk", "drive", "transfer", 9000, 9100, 1, critical=False),
    ),
]


def test_lanes_are_the_first_that_are_free():
    spans = [(0, 10), (2, 4), (3, 5), (4, 6), (10, 12)]
    assert [lane for lane, _ in lanes(spans, lambda span: span)] == [0, 1, 2, 1, 0]


def test_events_are_complete_and_nest_within_their_thread():
    document = json.loads(chrome_trace(IOS, "two reads"))
    events = document["traceEvents"]
    assert document["displayTimeUnit"] in ("ms", "ns")
    assert {event["ph"] for event in events} == {"X", "M"}
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {"I/Os", "host thread 0", "disk"}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    by_thread: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in (each for each in events if each["ph"] == "X"):
        assert event["dur"] >= 0
        assert event["cat"] in ("io", "wait", "work")
        assert (event["pid"], event["tid"]) in threads
        span = (event["ts"], round(event["ts"] + event["dur"], 3))
        by_thread.setdefault((event["pid"], event["tid"]), []).append(span)
    for spans in by_thread.values():
        for begin, end in spans:
            for other, its_end in spans:
                apart = its_end <= begin or end <= other
                inside = begin <= other and its_end <= end
                around = other <= begin and end <= its_end
                assert apart or inside or around
    whole = [e for e in events if e.get("cat") == "io"]
    assert [(e["ts"], e["dur"]) for e in whole] == [(1.0, 8.0), (1.2, 11.145)]
    parts = [e["dur"] for e in events if e["ph"] == "X" and e["pid"] == 1 and e["cat"] != "io"]
    assert round(sum(parts), 6) == round(8.0 + 11.145, 6)


def test_other_stages_stand_at_their_component_alone():
    events = json.loads(chrome_trace(IOS))["traceEvents"]
    beside = [e for e in events if e["ph"] == "X" and e["args"].get("critical") is False]
    assert [(e["name"], e["args"]["command"]) for e in beside] == [("transfer", 1)]
    assert beside[0]["pid"] != 1
