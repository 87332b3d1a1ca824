"""`why --measured`: which cause gives what was measured."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.monitoring.measured_means import measured_means
from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario, scenario_of
from raidlab.scenarios.results.sampled import iostat
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.trees import ScenarioTree
from raidlab.scenarios.studies.why_measured import Explanation, MeasuredMeans, explain

SYSTEM: ScenarioTree = {
    "title": "measured",
    "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu"},
    "array": [{"level": "raid5", "drives": [{"model": "generic-15000rpm", "count": 5}]}],
    "workload": [{"rw": "randwrite", "block_size": "8 KiB", "outstanding": 8}],
    "run": {"warm_up": "1 s", "duration": "3 s"},
}
CONTROLLER = {"model": "lsi2208-1g-3.0", "write": "write-through"}


def means(tree: ScenarioTree, seed: int = 5) -> MeasuredMeans:
    """What a simulated system would measure."""
    (row,) = simulate(scenario_of(tree), seed=seed, workers=1).summary()
    return MeasuredMeans("simulated", row["iops"], row["latency_us"]["mean"])


def explained(tree: ScenarioTree, measured: MeasuredMeans) -> Explanation:
    """Explains with the runs of the tests before, as the command does."""
    store = Store(Path(os.environ["RAIDLAB_STORE"]))
    return explain(scenario_of(tree), measured, workers=1, store=store)


def test_half_the_rate_at_twice_the_latency_is_an_error_of_100_percent(tmp_path: Path) -> None:
    own = means(SYSTEM, seed=0)
    store = Store(tmp_path / "store.sqlite")
    base = explain(scenario_of(SYSTEM), own, seed=0, workers=1, store=store)
    assert base.written.error_pct == pytest.approx(0, abs=1e-9)
    assert "as it is written gives" in base.sentence and base.explained_by == ()
    half = MeasuredMeans("x", own.iops * 2, (own.latency_us or 0) / 2)
    found = explain(scenario_of(SYSTEM), half, seed=0, workers=1, store=store)
    assert found.written.error_pct == pytest.approx(100, rel=1e-9)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("write-through", {"controller": CONTROLLER}),
        ("degraded", {"event": [{"at": "0 s", "action": "fail-drive", "drive": 2}]}),
    ],
)
def test_a_fault_that_the_scenario_does_not_have_is_named(
    code: str, change: dict[str, object]
) -> None:
    load = {"rw": "randread", "block_size": "8 KiB", "outstanding": 16}
    tree = SYSTEM if code == "write-through" else SYSTEM | {"workload": [load]}
    found = explained(tree, means(tree | change))
    assert not found.written.explains
    first = found.explained_by[0]
    assert first.code == code and first.at_work and first.check
    assert found.sentence.startswith(f"{code} explains the measurement")


def test_a_fault_that_the_machine_does_not_have_is_named() -> None:
    tree = SYSTEM | {"controller": CONTROLLER}
    found = explained(tree, means(SYSTEM))
    first = found.explained_by[0]
    assert first.code == "write-through" and not first.at_work
    assert "not at work" in found.sentence


def test_what_nothing_explains_is_said() -> None:
    found = explained(SYSTEM, MeasuredMeans("x", 3.0, 2e6))
    assert found.explained_by == () and "No usual cause explains" in found.sentence


def test_fio_loads_and_iostat_give_the_same_means(tmp_path: Path) -> None:
    fio = {"jobs": [{"read": {"iops": 100.0, "lat_ns": {"mean": 2e6}},
                     "write": {"iops": 300.0, "clat_ns": {"mean": 1e6}}}]}  # fmt: skip
    file = tmp_path / "fio.json"
    file.write_text(json.dumps(fio))
    # (100 x 2,000 us + 300 x 1,000 us) / 400
    assert measured_means(file) == MeasuredMeans("fio", 400.0, 1250.0)
    tree = {
        "array": [{"drives": [{"model": "generic-7200rpm"}]}],
        "workload": [{"rw": "randread", "block_size": "8 KiB", "outstanding": 4}],
        "run": {"warm_up": "1 s", "duration": "20 s", "timeline_step": "1 s"},
    }
    result = simulate(build_scenario(tree), workers=1)
    text = tmp_path / "iostat.txt"
    text.write_text(iostat(result))
    (row,) = result.summary()
    seen = measured_means(text)
    assert seen.iops == pytest.approx(row["iops"], rel=0.02)
    assert seen.latency_us == pytest.approx(row["latency_us"]["mean"], rel=0.05)


def test_a_file_that_measures_nothing_is_refused(tmp_path: Path) -> None:
    for name, text in (("a.json", '{"jobs": []}'), ("b.txt", "prose, and no figures"), ("c", "")):
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(SpecError):
            measured_means(file)
    with pytest.raises(SpecError):
        measured_means(tmp_path / "none")


def test_the_command_says_what_explains_the_measurement(tmp_path: Path) -> None:
    slow = means(SYSTEM | {"controller": CONTROLLER})
    fio = {
        "jobs": [{"write": {"iops": slow.iops, "lat_ns": {"mean": 1e3 * (slow.latency_us or 0)}}}]
    }
    (tmp_path / "fio.json").write_text(json.dumps(fio))
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        'title = "x"\n[controller]\nmodel = "lsi2208-1g-3.0"\nbackup = "fbu"\n[[array]]\n'
        'level = "raid5"\n[[array.drives]]\nmodel = "generic-15000rpm"\ncount = 5\n[[workload]]\n'
        'rw = "randwrite"\nblock_size = "8 KiB"\noutstanding = 8\n'
        '[run]\nwarm_up = "1 s"\nduration = "3 s"\n'
    )
    words = ["why", str(scenario), "--measured", str(tmp_path / "fio.json"), "--workers", "1"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "write-through explains the measurement" in " ".join(shown.output.split())
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["measured"]
    assert document["explained_by"][0]["code"] == "write-through"
    assert math.isclose(document["iops"], slow.iops)
    refused = CliRunner().invoke(app, [*words[:3], str(tmp_path / "no.json")])
    assert refused.exit_code == 2
