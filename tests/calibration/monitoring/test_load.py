"""From samples to a workload: steps, sizes, assumptions, faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.load import load_of
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.monitored import MonitoredLoad
from raidlab.scenarios.spec.trees import ScenarioTree

DATA = Path(__file__).parents[2] / "data" / "monitoring"


def tree(load: Path, **keys: Any) -> ScenarioTree:
    return {
        "array": [{"drives": [{"model": "generic-7200rpm"}]}],
        "workload": [{"monitoring": str(load), **keys}],
        "run": {"duration": "10 s"},
    }


def written(folder: Path, **changes: Any) -> Path:
    load = MonitoredLoad(
        source="x", devices=("sda",), step_s=60,
        read_iops=(10, 20, None, 30), write_iops=(0, 0, None, 0),
        read_bytes_per_s=(40960, 81920, None, 122880), write_bytes_per_s=(0, 0, None, 0),
    )  # fmt: skip
    path = folder / "load.json"
    path.write_text(json.dumps(json.loads(load.to_json()) | changes))
    return path


def test_rates_are_those_of_the_steps_and_a_gap_is_idle(tmp_path: Path) -> None:
    scenario = build_scenario(tree(written(tmp_path)))
    (plan,) = scenario.base["workloads"]
    assert plan["block_bytes"] == 4096 and plan["read_share"] == 1
    assert plan["arrival"]["pattern"]["shares"] == [10, 20, 0, 30]
    assert plan["arrival"]["per_s"] == pytest.approx(15)
    # Four minutes pass in the 10 s of the run: a step lasts 2.5 s.
    assert plan["arrival"]["pattern"]["step_ns"] == 2_500_000_000
    assert any("240 s of monitoring" in warning for warning in scenario.warnings)


def test_a_part_of_the_file_scaled(tmp_path: Path) -> None:
    keys = {"monitoring_from": "1 min", "monitoring_for": "1 min", "monitoring_scale": 1.5}
    scenario = build_scenario(tree(written(tmp_path), **keys))
    (plan,) = scenario.base["workloads"]
    assert plan["arrival"] == {"kind": "poisson", "per_s": 30}


def test_bursts_squeeze_a_step_into_a_part_of_it(tmp_path: Path) -> None:
    scenario = build_scenario(tree(written(tmp_path), monitoring_bursts=2))
    (plan,) = scenario.base["workloads"]
    assert plan["arrival"]["pattern"]["shares"] == [20, 0, 40, 0, 0, 0, 60, 0]
    assert plan["arrival"]["per_s"] == pytest.approx(15)


def test_a_histogram_gives_a_workload_for_each_size(tmp_path: Path) -> None:
    path = written(tmp_path, read_sizes={"4096": 3, "65536": 1})
    plans = build_scenario(tree(path)).base["workloads"]
    assert [(plan["block_bytes"], plan["arrival"]["per_s"]) for plan in plans] == [
        (4096, pytest.approx(11.25)),
        (65536, pytest.approx(3.75)),
    ]


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"block_size": "4 KiB"}, "workload.0.block_size"),
        ({"monitoring_from": "1 h"}, "workload.0.monitoring_from"),
        ({"monitoring_scale": 0}, "workload.0.monitoring_scale"),
        ({"rw": "sideways"}, "workload.0.rw"),
    ],
)
def test_faults_name_their_key(tmp_path: Path, keys: dict[str, object], named: str) -> None:
    with pytest.raises(SpecError) as caught:
        build_scenario(tree(written(tmp_path), **keys))
    assert any(fault.key == named for fault in caught.value.faults)


def test_a_file_with_steps_that_lack_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, write_iops=[1])
    with pytest.raises(SpecError, match="4 steps, as read_iops has"):
        build_scenario(tree(path))


def test_keys_without_a_file_have_no_effect(tmp_path: Path) -> None:
    plain = tree(tmp_path)
    plain["workload"] = [
        {"rw": "randread", "block_size": "4 KiB", "outstanding": 1, "monitoring_scale": 2.0}
    ]
    with pytest.raises(SpecError, match="no effect without `monitoring`"):
        build_scenario(plain)


def test_requests_that_are_not_split_are_assumed_to_be_of_one_size() -> None:
    load = load_of(import_monitoring([DATA / "sadf-p.txt"]))
    # 10 and 20 requests a second, 1/3 of the bytes read.
    assert load.read_iops == pytest.approx((10 / 3, 20 / 3))
    assert load.write_iops == pytest.approx((20 / 3, 40 / 3))
    assert "of one size" in load.assumptions[0]


def test_without_an_interval_there_is_no_load() -> None:
    with pytest.raises(SpecError, match="interval"):
        load_of(import_monitoring([DATA / "iostat-x-rsec.txt"]))
