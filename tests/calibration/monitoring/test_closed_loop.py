"""A simulated system with a hidden load, sampled as iostat does, imported and simulated again."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.monitoring.figures import Figures, figures
from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.load import load_of
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.sampled import iostat, open_metrics
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ScenarioTree, WorkloadTree

DURATION = "1800 s"


def system(workloads: list[WorkloadTree], step: str) -> ScenarioTree:
    return {
        "array": [{"name": "disk", "drives": [{"model": "generic-7200rpm"}]}],
        "workload": workloads,
        "run": {"warm_up": "2 s", "duration": DURATION, "timeline_step": step},
    }


HIDDEN: list[WorkloadTree] = [
    {"name": name, "rw": rw, "block_size": size, "rate": rate,
     "arrivals": {"kind": "daily", "shares": [10, 40, 80, 60, 30, 20], "day": DURATION}}
    for name, rw, size, rate in (("r", "randread", "8 KiB", "35 IO/s"),
                                 ("w", "randwrite", "16 KiB", "15 IO/s"))
]  # fmt: skip


def imported(folder: Path, tree: ScenarioTree) -> tuple[Path, Figures]:
    """The load of a simulated system as iostat shows it, and its figures."""
    text = folder / "iostat.txt"
    text.write_text(iostat(simulate(build_scenario(tree))))
    found = import_monitoring([text])
    assert found.refused is None and not found.since_boot_dropped
    load = folder / "load.json"
    load.write_text(load_of(found).to_json())
    return load, figures(found.capture.series["disk"])


@pytest.mark.parametrize("step", ["1 s", "10 s", "60 s", "300 s"])
def test_the_imported_load_gives_the_same_rate_wait_and_queue(tmp_path: Path, step: str) -> None:
    load, seen = imported(tmp_path, system(HIDDEN, step))
    (tmp_path / "again").mkdir()
    _, again = imported(tmp_path / "again", system([{"monitoring": str(load)}], step))
    for name, percent in (("iops_mean", 5), ("await_ms", 15), ("aqu_sz", 15), ("read_share", 5),
                          ("read_size_mean", 1), ("write_size_mean", 1)):  # fmt: skip
        was, now = getattr(seen, name), getattr(again, name)
        assert now == pytest.approx(was, rel=percent / 100), name


def test_counters_in_open_metrics_give_the_rates_of_the_run(tmp_path: Path) -> None:
    tree = system(HIDDEN, "10 s")
    result = simulate(build_scenario(tree))
    file = tmp_path / "metrics.txt"
    file.write_text(open_metrics(result))
    seen = figures(import_monitoring([file]).capture.series["disk"])
    assert seen.iops_mean == pytest.approx(sum(r["iops"] for r in result.results), rel=0.02)
    assert seen.read_size_mean == pytest.approx(8192, rel=1e-3)


def test_a_closed_loop_is_seen_as_one_and_stays_one(tmp_path: Path) -> None:
    # The rate of a fixed queue follows the wait; a slower spell in the middle parts both.
    tree = system([{"name": "c", "rw": "randread", "block_size": "8 KiB", "outstanding": 4}], "2 s")
    tree["run"]["duration"] = "60 s"
    tree["event"] = [{"at": "30 s", "action": "slow-drive", "extra": "20 ms"}]
    load, seen = imported(tmp_path, tree)
    assert '"kind":"closed"' in load.read_text()
    assert seen.aqu_sz == pytest.approx(4, rel=0.05)
    scenario = build_scenario(system([{"monitoring": str(load)}], "2 s"))
    assert scenario.workloads[0].outstanding == (4,)
