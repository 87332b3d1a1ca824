"""Loads that go through the host's page cache."""

import json
import subprocess
import sys

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def tree(**load):
    return {
        "host": {"model": "linux-2.6.32-8gb"},
        "array": [{"drives": [{"model": "sandforce-1222-64gb"}]}],
        "workload": [
            {"rw": "write", "block_size": "4 KiB", "buffered": True, "passes": 1,
             "area": "64 MiB", "align": "4 KiB"} | load
        ],
        "run": {"warm_up": "0 s", "duration": "1 h"},
    }  # fmt: skip


def test_a_file_that_memory_holds_costs_calls_and_an_fsync():
    """9 + 11 us a call; then 64 MiB over SATA 3G, 255 MB/s, unless NAND is slower."""
    (row,) = simulate(build_scenario(tree(compressible="98 %"))).results
    calls, link = 16384 * 20e-6, (64 << 20) / 254.8e6
    assert 16384 / row["iops"] == pytest.approx(calls + link, rel=0.02)


def test_more_outstanding_calls_than_threads_are_refused():
    with pytest.raises(SpecError, match="at most 1: each of the 1 threads"):
        build_scenario(tree(outstanding=4))
    assert build_scenario(tree(outstanding=4, threads=4)).points == 1


def test_events_and_a_page_cache_do_not_go_together():
    with_event = tree() | {"event": [{"at": "1 s", "action": "power-fail"}]}
    with pytest.raises(SpecError, match="follows no"):
        build_scenario(with_event)


def test_the_clock_scales_its_times():
    slow = tree() | {"host": {"model": "linux-2.6.32-8gb", "clock": "1.4 GHz"}}
    plan = build_scenario(slow).plan(0, 0)
    assert plan["workloads"][0]["page_cache"]["write_page_ns"] == 22000


@pytest.mark.parametrize("buffered", [True, False])
def test_a_precondition_is_what_memory_holds_where_a_disk_remembers_nothing(buffered):
    """Calls of 6 us, 683 MB/s, where memory holds all that is read; past it a disk gives 44."""
    read = tree(rw="read", buffered=buffered)
    read["array"][0] |= {"name": "data", "drives": [{"model": "generic-7200rpm"}]}
    read["run"]["precondition"] = "filled"
    scenario = build_scenario(read)
    reported = () if buffered else ("run.precondition: has no effect on data",)
    assert scenario.warnings == reported
    rate = simulate(scenario).results[0]["mb_per_s"]
    assert (rate > 300) == buffered


STATION = """
kind = "station"
name = "large"
capacity = "{capacity}"
service = "100 us"
[sources]
all = "assumed"
"""


def on_a_large_drive(folder, capacity):
    """Random reads anywhere in a file as large as the drive."""
    (folder / "large.toml").write_text(STATION.format(capacity=capacity))
    scenario = tree(rw="randread", passes=0, area="whole")
    scenario["array"][0]["drives"] = [{"model": str(folder / "large.toml")}]
    return scenario | {"run": {"warm_up": "0 s", "duration": "100 ms"}}


def test_a_large_file_takes_memory_for_what_is_touched_of_it(tmp_path):
    """250 million pages, of which a thousand are read: not nine bytes for each of them."""
    program = (
        "import json, re, sys\n"
        "from raidlab.scenarios.running.simulate import simulate\n"
        "from raidlab.scenarios.planning.scenario import build_scenario\n"
        "assert simulate(build_scenario(json.loads(sys.argv[1]))).results[0]['ios'] > 500\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
    )
    scenario = json.dumps(on_a_large_drive(tmp_path, "1 TB"))
    done = subprocess.run(
        [sys.executable, "-c", program, scenario], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 300_000, "KiB"


def test_a_file_larger_than_any_is_refused(tmp_path):
    with pytest.raises(SpecError, match=r"workload\.0\.area = .* at most 8 TiB of a buffered load"):
        build_scenario(on_a_large_drive(tmp_path, "18 TB"))
