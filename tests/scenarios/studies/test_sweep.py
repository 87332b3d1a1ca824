"""Sweeps: designs, rows, the same result however it is run, nothing lost to SIGKILL."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.schema import read_toml
from raidlab.scenarios.report.studies import sweep as report
from raidlab.scenarios.running import pool
from raidlab.scenarios.running.cluster import dask_executor
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies.sweep import Experiment, sweep
from raidlab.scenarios.studies.vary import Design, axes_of, points, with_values

SCENARIO = """
title = "Stations"
[controller]
model = "lsi2008"
[[array]]
level = "raid10"
drives = [{{ model = "{drive}", count = 4 }}]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = 2
[run]
warm_up = "10 ms"
duration = "{duration}"
"""


@pytest.fixture
def scenario(drives, tmp_path):
    def written(duration="200 ms"):
        path = tmp_path / "s.toml"
        path.write_text(SCENARIO.format(drive=drives / "sas.toml", duration=duration))
        return path

    return written


def experiment(path, *vary, **more):
    return Experiment(read_toml(path), axes_of(vary), path, **more)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", [1, 2, 4]),
        ("2:5", [2, 3, 4, 5]),
        ("2:9:3", [2, 5, 8]),
        ("1:100:x4", [1, 4, 16, 64]),
        ("1:4,8:16:4", [1, 2, 3, 4, 8, 12, 16]),
        ("500:2000:500 IO/s", ["500 IO/s", "1000 IO/s", "1500 IO/s", "2000 IO/s"]),
        ("raid5,raid6", ["raid5", "raid6"]),
        ("true,false", [True, False]),
        ('"a, b",c', ["a, b", "c"]),
        ("0.1:0.3:0.1", [0.1, 0.2, 0.3]),
        ("[1, 2],[4, 8]", [(1, 2), (4, 8)]),
        ("1000000:3000000:1000000 IO/s", ["1000000 IO/s", "2000000 IO/s", "3000000 IO/s"]),
    ],
)
def test_values_of_an_axis(text, values):
    (axis,) = axes_of([f"a.b={text}"])
    assert list(axis.values) == values


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a"], "PATH=VALUES"),
        (["a="], "PATH=VALUES"),
        ([], "PATH=VALUES"),
        (["a=5:1"], "the lower end first"),
        (["a=1:9:0"], "a step above 0"),
        (["a=0:9:x2"], "a factor above x1"),
        (["a=1,2", "a=3"], "given once"),
        (["a=1:999999999"], "give a step"),
    ],
)
def test_wrong_axes(texts, said):
    with pytest.raises(SpecError, match=said):
        axes_of(texts)


def test_designs_cover_what_they_say():
    axes = axes_of(["n=1:8", "x=0:1 s", "level=raid5,raid6"])
    with pytest.raises(SpecError, match="a step in a grid"):
        points(axes)
    for design in (Design.LATIN_HYPERCUBE, Design.SOBOL):
        found = points(axes, design, 16, seed=3)
        assert found == points(axes, design, 16, seed=3) != points(axes, design, 16, seed=4)
        # 16 points on 8 whole numbers and 2 names: each exactly 2 and 8 times.
        counts = [[each["n"] for each in found].count(n) for n in range(1, 9)]
        assert counts == [2] * 8
        assert [each["level"] for each in found].count("raid5") == 8
        sixteenths = sorted(int(float(each["x"].split()[0]) * 16) for each in found)
        assert sixteenths == list(range(16))
    with pytest.raises(SpecError, match="a power of 2, such as 8 or 16"):
        points(axes, Design.SOBOL, 9)
    with pytest.raises(SpecError, match="at most 100,000 points"):
        points(axes_of(["a=1:1000", "b=1:1000"]))


def test_paths_that_lead_nowhere_are_faults():
    tree = {"array": [{"level": "raid0"}]}
    assert with_values(tree, {"array.0.level": "raid5", "run.seed": 4}) == {
        "array": [{"level": "raid5"}],
        "run": {"seed": 4},
    }
    with pytest.raises(SpecError, match="lists by index"):
        with_values(tree, {"array.1.level": "raid5"})
    with pytest.raises(SpecError, match="lists by index"):
        with_values(tree, {"array.0.level.deep": 1})


def test_a_row_for_each_point_and_reasons_for_those_that_cannot_be(scenario):
    found = sweep(
        experiment(scenario(), "array.0.drives.0.count=3:6", "workload.0.outstanding=1,4")
    )
    assert [
        (row["array.0.drives.0.count"], row["workload.0.outstanding"]) for row in found.rows
    ] == [(count, depth) for count in (3, 4, 5, 6) for depth in (1, 4)]
    for row in found.rows:
        if row["array.0.drives.0.count"] % 2:
            assert "an even number" in row["why_not"] and row["iops"] is None
        else:
            # A station takes 1 ms; beside it only link and host.
            assert row["why_not"] is None
            assert row["iops"] == pytest.approx(1000 * row["workload.0.outstanding"], rel=0.35)
            assert row["usable_bytes"] == pytest.approx(
                row["array.0.drives.0.count"] * 50e9, rel=1e-3
            )
    table = found.table()
    assert table.height == 8 and table["why_not"].null_count() == 4


def test_a_sweep_of_which_nothing_can_be_run_is_an_error(scenario):
    with pytest.raises(SpecError, match="did you mean"):
        sweep(experiment(scenario(), "array.0.levle=raid5,raid6"))


def test_rows_are_the_same_however_they_are_run(scenario, tmp_path):
    wanted = experiment(scenario(), "workload.0.outstanding=1:6", replications=2, seed=7)
    first = sweep(wanted, workers=1).to_dict()
    assert sweep(wanted, workers=3).to_dict() == first
    # Processes that begin as new ones: what is handed to them can be sent.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert sweep(wanted, executor=executor).to_dict() == first
    with Store(tmp_path / "store.sqlite") as store:
        assert sweep(wanted, store=store).to_dict() == first
        assert store.overview().entries == 12
        # And asked again nothing is run.
        assert sweep(wanted, store=store, executor=Refuses()).to_dict() == first
    assert {row["replications"] for row in first["rows"]} == {2}
    assert sweep(experiment(scenario(), "workload.0.outstanding=1:6", seed=8)).to_dict() != first


class Refuses:
    """An executor that nothing may be given to."""

    def submit(self, *arguments):
        raise AssertionError("it was run")


def test_workers_of_another_engine_are_refused(monkeypatch):
    with pytest.raises(pool.OtherEngineError):
        pool.run_elsewhere("{}", b"another engine")


def test_killed_at_five_moments_every_point_is_run_once(scenario, tmp_path):
    path = scenario("30 s")
    store = tmp_path / "store.sqlite"
    line = [sys.executable, "-m", "raidlab", "sweep", path, "--vary", "run.seed=1:30"]
    line = [*map(str, line), "--json", "--store", str(store)]
    kills = 0
    for entries in (1, 4, 8, 13, 20):
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and stored(store) < entries:
            time.sleep(0.01)
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert kills >= 3
    before = stored(store)
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert 20 <= before <= stored(store) == 30
    elsewhere = os.environ | {"RAIDLAB_STORE": str(tmp_path / "other.sqlite")}
    whole = subprocess.run(line[:-2], env=elsewhere, capture_output=True, text=True, check=True)
    assert done.stdout == whole.stdout
    assert len(json.loads(done.stdout)["rows"]) == 30


def stored(path):
    if not path.exists():
        return 0
    with Store(path) as store:
        return store.overview().entries


def test_a_dask_cluster_gives_the_same_and_a_lost_worker_costs_nothing(scenario):
    distributed = pytest.importorskip("distributed")
    from raidlab.scenarios.running.cluster import dask_executor

    wanted = experiment(scenario("20 s"), "run.seed=1:40")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        dask_executor(cluster.scheduler_address) as executor,
    ):
        killed = []

        def kill(done, of):
            if done >= 3 and not killed:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        found = sweep(wanted, executor=executor, progress=kill)
    assert killed
    assert found.to_dict() == sweep(wanted).to_dict()


def test_a_dask_address_that_does_not_answer(monkeypatch):
    pytest.importorskip("distributed")
    from raidlab.scenarios.running import cluster

    monkeypatch.setattr(cluster, "_ANSWERS_S", 0.3)
    for address in ("tcp://127.0.0.1:1", "nonsense"):
        with pytest.raises(SpecError, match="--dask"), cluster.dask_executor(address):
            pass


def test_many_values_that_break_one_rule_are_one_fault(scenario):
    with pytest.raises(SpecError, match=r"\(and 97 values more\)") as raised:
        sweep(experiment(scenario(), "array.0.drives.0.count=-100:-1"))
    assert len(raised.value.faults) == 3


def test_the_rate_of_a_load_that_is_served_is_no_merit(scenario):
    path = scenario()
    path.write_text(path.read_text().replace("outstanding = 2", 'rate = "500 IO/s"'))
    found = sweep(
        experiment(path, "array.0.drives.0.count=0,4", "workload.0.rate=90 IO/s,800 IO/s")
    )
    assert report.answer(found).startswith("2 points ran, 2 cannot be built. The lowest p99 is")
    closed = sweep(experiment(scenario(), "workload.0.outstanding=1,4"))
    assert "The highest rate is" in report.answer(closed)


def test_a_picture_over_depth_has_a_line_for_each_other_setting(scenario):
    found = sweep(
        experiment(scenario(), "workload.0.outstanding=1,8", "workload.0.block_size=4 KiB,64 KiB")
    )
    drawn = found.plot()
    assert [(line.name, list(line.x)) for line in drawn.data] == [
        ("4 KiB", [1, 8]),
        ("64 KiB", [1, 8]),
    ]
    assert list(drawn.layout.xaxis.ticktext) == ["1", "8"]
    labels = [each.y for each in drawn.layout.annotations]
    top = max(value for line in drawn.data for value in line.y)
    assert abs(labels[0] - labels[1]) > 0.07 * top
    head = [column.head for column in report.table(found).columns]
    assert head[:2] == ["outstanding", "block_size"] and "depth" not in head


def test_a_reason_names_its_point_once(scenario):
    found = sweep(experiment(scenario(), "array.0.drives.0.count=0,4"))
    assert report.notes(found) == ["array.0.drives.0.count = 0: greater than or equal to 1."]


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "tcp://:8786", ""])
def test_what_is_no_address_of_a_cluster_is_refused_at_once(address):
    begun = time.monotonic()
    with pytest.raises(SpecError, match=r"such as tcp://"), dask_executor(address):
        pass
    assert time.monotonic() - begun < 2
