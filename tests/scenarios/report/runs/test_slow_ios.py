"""What the slowest I/Os waited for, in words."""

from raidlab.scenarios.report.runs.slow_ios import figure, table
from raidlab.scenarios.results.slow_cause import cause


def _slow(latency, beside=(), drive="disk", **parts):
    return {"op": "read", "offset": 0, "bytes": 4096, "issued_ns": 2_000_000_000, "drive": drive,
            "latency_us": latency, "breakdown_us": parts, "beside": list(beside)}  # fmt: skip


def test_the_longest_parts_are_named_with_what_was_beside_them():
    alone = _slow(100.0, garbage_collection=95.0, host=5.0)
    assert cause(alone) == "a collection 95 %"
    both = _slow(100.0, ("rebuild", "destage"), queue=60.0, seek=30.0, rotation=10.0)
    assert cause(both) == "commands before it 60 % and the arm 30 %, beside rebuild and destage"
    assert cause(_slow(3.0, service=1.0, host=1.0, link=1.0)) == "service 33 % and host 33 %"


def test_the_table_has_the_slowest_of_all_rows():
    rows = [
        {"workload": "a", "outstanding": 8, "slowest": [_slow(9000.0, seek=9.0)]},
        {"workload": "b", "outstanding": 0, "slowest": [_slow(12000.0, queue=1.0)]},
    ]
    found = table(rows, 1)
    assert found is not None
    assert [(row[0], row[2], row[3]) for row in found.rows] == [(12.0, "b", "open")]
    assert table(rows, 0) is None
    assert table([{"workload": "a", "outstanding": 1}], 5) is None


def test_bars_are_stacked_to_the_latency():
    row = {"slowest": [_slow(3000.0, queue=2000.0, seek=1000.0), _slow(1000.0, seek=1000.0)]}
    sums = [sum(trace.y[at] for trace in figure(row).data) for at in (0, 1)]
    assert sums == [3.0, 1.0]
