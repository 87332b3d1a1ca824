"""Typed warnings, events and limits, and which rows may carry a statement."""

import re
from pathlib import Path
from typing import Any

import pytest

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.runs.answers import answer
from raidlab.scenarios.results.diagnostics.overload import of_arrivals
from raidlab.scenarios.results.diagnostics.statements import may_carry
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.findings import Code, Limit, typed_warnings

ROOT = Path(__file__).parents[3]


def test_every_code_has_an_entry() -> None:
    page = (ROOT / "docs/how-to/warnings.md").read_text()
    begin, end = page.index("## Codes"), page.index("## Settings without effect")
    entries = set(re.findall(r"`([a-z-]+)`", page[begin:end]))
    assert {str(code) for code in Code} <= entries


def _row(arrived: int, served: int, fewest: tuple[int | None, int | None]) -> dict[str, Any]:
    counts = {"requests": arrived, "fewest_in_flight": list(fewest)}
    return {"arrived": counts, "ios": served, "errors": 0}


@pytest.mark.parametrize(
    ("row", "bursty", "grows"),
    [
        # 5 of 10,000 left: chance.
        (_row(10_000, 9_995, (0, 0)), False, False),
        # 1,000 of 10,000 left, more than 1 % and five standard deviations.
        (_row(10_000, 9_000, (0, 500)), False, True),
        # The run ends within a burst, but the queue was empty in both halves.
        (_row(10_000, 9_000, (0, 0)), True, False),
        # Between bursts as well, ever more wait.
        (_row(10_000, 9_000, (0, 500)), True, True),
    ],
)
def test_overload_is_judged_by_what_arrived(row: dict[str, Any], bursty: bool, grows: bool) -> None:
    assert of_arrivals(row, bursty=bursty) is grows


def _bursts(rate: str) -> dict[str, Any]:
    return {
        "array": [{"drives": [{"model": "generic-15000rpm"}]}],
        "workload": [
            {
                "rw": "randread",
                "block_size": "4 KiB",
                "rate": rate,
                "arrivals": {"kind": "on-off", "on": "1 s", "off": "4 s", "off_rate": 0.1},
            }
        ],
        "run": {"warm_up": "2 s", "duration": "40 s"},
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bursts_that_are_served_are_no_overload(seed: int) -> None:
    """A drive of some 350 IO/s serves 30 IO/s, in bursts of 107, whatever the phase at the end."""
    (row,) = simulate(_bursts("30 IO/s"), seed=seed).results
    assert row["overloaded"] is False and "overload" not in row["doubts"]


def test_bursts_beyond_the_drive_are_overload() -> None:
    (row,) = simulate(_bursts("600 IO/s")).results
    assert row["overloaded"] is True and row["doubts"] == ["overload"]


_FILLING = {
    "controller": {"model": "lsi2108"},
    "array": [{"level": "raid5", "drives": [{"model": "generic-15000rpm", "count": 5}]}],
    "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": [1, 4]}],
}
_SHORT = {"warm_up": "1 s", "duration": "500 ms"}


def test_a_row_that_its_warnings_disqualify_is_no_best_rate() -> None:
    """At depth 1 the cache takes everything: 36 times what the drives do."""
    found = simulate(_FILLING | {"run": _SHORT})
    first, second = found.results
    assert first["iops"] > 3 * second["iops"]
    assert "cache-filling" in first["doubts"] and may_carry(second)
    said = answer(found)
    assert said.startswith("Queue depth 4 gives") and "left out: queue depth 1 (" in said
    codes = {warning.code: warning.subject for warning in found.warnings_typed}
    assert codes[Code.CACHE_FILLING] == "lsi2108"
    assert [event.kind for event in found.events_typed] == ["cache-filling"]


def test_the_sustained_state_has_full_caches() -> None:
    """Both depths then have the rate of the drives."""
    found = simulate(_FILLING | {"run": _SHORT | {"state": "sustained"}})
    first, second = found.results
    assert not first["doubts"] and not second["doubts"]
    assert first["iops"] == pytest.approx(second["iops"], rel=0.1)
    assert first["warm_up_s"] > second["warm_up_s"]


_CREDIT = """kind = "volume"
name = "small-credit"
title = "A volume with 20 s of credit"
capacity = "100 GiB"
[limits]
rate = "300 IO/s"
[latency]
read = "1 ms"
write = "1 ms"
[burst]
rate = "3000 IO/s"
credit = "20 s"
[sources]
all = { source = "assumed", note = "an example" }
"""


def test_spent_credit_is_an_event_with_a_begin(tmp_path: Path) -> None:
    """By hand: (3000 - 300) IO/s x 20 s = 54,000 tokens, spent after 20 s at 3000 IO/s."""
    file = tmp_path / "small-credit.toml"
    file.write_text(_CREDIT)
    found = simulate(
        {
            "array": [{"drives": [{"model": str(file)}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 32}],
            "run": {"warm_up": "1 s", "duration": "29 s"},
        }
    )
    (row,) = found.results
    (limit,) = [Limit(**each) for each in row["limits"] if each["kind"] == "burst-credits"]
    assert limit.from_s == pytest.approx(20.0, rel=0.01) and limit.to_s == pytest.approx(30.0)
    assert "burst credits are spent from 20.0 s on" in answer(found)
    (warning,) = [each for each in found.warnings_typed if each.code is Code.UNSTEADY]
    assert "warm_up" not in warning.text and "burst credits" in warning.text


def test_events_have_kinds_subjects_and_ends() -> None:
    found = simulate(
        {
            "array": [
                {
                    "level": "raid1",
                    "software_raid": "os",
                    "bitmap": "none",
                    "used": "20 MB",
                    "hot_spares": 1,
                    "drives": [{"model": "generic-15000rpm", "count": 2}],
                }
            ],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "area": "1 MB"}],
            "event": [{"at": "1 s", "action": "fail-drive", "drive": 0}],
            "run": {"warm_up": "0.5 s", "duration": "20 s"},
        }
    )
    kinds = [event.kind for event in found.events_typed]
    assert kinds == ["drive-failed", "rebuild-begun", "rebuild-done"]
    failed, begun, done = found.events_typed
    assert failed.subject == "array-0/generic-15000rpm.0" and failed.at_s == 1.0
    assert begun.subject == "array-0/spare.0" and begun.to_s == done.at_s


def test_warnings_of_planning_have_codes() -> None:
    drives = [{"model": "generic-15000rpm", "count": 3}]
    scenario = build_scenario(
        {
            "host": {"threads": 2},
            "array": [{"level": "raid5", "software_raid": "os", "drives": drives,
                       "read_balance": "md"}],
            "workload": [{"rw": "randread", "block_size": "4 kB", "threads": 1}],
            "event": [{"at": "1 h", "action": "fail-drive"}],
        }
    )  # fmt: skip
    found = {(each.code, each.subject) for each in typed_warnings(scenario.warnings)}
    assert {
        (Code.NO_EFFECT, "host.threads"),
        (Code.NO_EFFECT, "array.0.read_balance"),
        (Code.PARTIAL_SECTORS, "workload.0.block_size"),
        (Code.EVENT_AFTER_END, "event.0"),
    } <= found
    assert all(code is not Code.NOTE for code, _ in found)
