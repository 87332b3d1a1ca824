"""The table of a run says which percentiles are uncertain and what was cut."""

from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.report.tables import Unsure
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.running.simulate import simulate


def _disk(**run):
    return simulate(
        {
            "title": "t",
            "array": [{"drives": [{"model": "generic-7200rpm"}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 8}],
            "run": run,
        }
    )


def test_percentiles_with_few_ios_beyond_are_marked():
    found = _disk(warm_up="1 s", duration="40 s")
    table = answers.table(found)
    (row,) = table.rows
    marked = {
        column.name
        for column, cell in zip(table.columns, row, strict=True)
        if isinstance(cell, Unsure)
    }
    assert marked == {"p99", "p99.9"}
    assert "p99 ~" in answers.answer(found)
    assert answers.caution(found).startswith("~ fewer than 100 I/Os")
    many = _disk(warm_up="1 s", duration="2000 s")
    assert "p99 ~" not in answers.answer(many)


def test_the_warm_up_that_was_found_is_named():
    assert answers.warm_up(_disk(warm_up="1 s", duration="10 s")) == ""
    found = answers.warm_up(_disk(duration="10 s"))
    assert found.startswith("Warm-up: ") and found.endswith(" s cut.")


def test_where_nothing_worked_there_is_no_limit():
    components = [{"name": "host thread 0", "kind": "host", "utilization": 0.0}]
    row = {"target": "a", "components": components, "breakdown_us": {"queue": 0.0}}
    assert limits(row) == "–"
    components[0]["utilization"] = 0.17
    assert limits(row) == "none (host thread 0 17 %)"


def test_a_rate_of_millions_and_its_interval_have_one_unit():
    row = {"iops": 1_240_000.0, "iops_ci95": (1_220_000.0, 1_260_000.0)}
    assert answers._rate(row) == "1.24 ± 0.02 M IO/s"
    assert answers._rate({"iops": 4107.2, "iops_ci95": (4096.0, 4118.0)}) == "4,107 ± 11 IO/s"
    assert answers._rate({"iops": 4107.2, "iops_ci95": (None, None)}) == "4,107 IO/s"
