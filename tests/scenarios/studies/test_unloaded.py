"""Slowdown against the M/M/1: 1 / (1 - utilization)."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.goals import goals_of
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.studies.size import Find, judged_by_run, size
from raidlab.scenarios.studies.unloaded import unloaded_us
from raidlab.scenarios.studies.vary import axes_of

LOAD = {"name": "users", "rw": "randread", "block_size": "4 KiB", "align": "4 KiB"}


@pytest.fixture
def system(queue):
    def made(**load):
        return {
            "array": [{"drives": [{"model": queue}]}],
            "workload": [LOAD | load],
            "run": {"warm_up": "2 s", "duration": "60 s"},
        }

    return made


def test_the_slowdown_of_a_queue_is_one_over_its_idle_share(system):
    (goal,) = goals_of(["slowdown < 2"])
    for rate, expected in ((250, 4 / 3), (750, 4.0)):
        scenario = build_scenario(system(rate=f"{rate} IO/s"))
        (found,) = judged_by_run([goal], scenario, simulate(scenario))
        assert found.measured.value == pytest.approx(expected, rel=0.12)
        assert found.holds is (rate == 250)


def test_the_wait_doubles_at_half_of_the_time(system):
    (axis,) = axes_of(["workload.0.rate=300:700:50 IO/s"])
    found = size(system(rate="300 IO/s"), None, axis, goals_of(["slowdown < 2"]), find=Find.MOST)
    assert float(str(found.answer).split()[0]) in (450, 500, 550)


def test_one_at_a_time_takes_the_service_time_whatever_the_load_was(system):
    (goal,) = goals_of(["users: read slowdown < 3x"])
    closed = build_scenario(system(outstanding=64, limit="900 IO/s"))
    assert unloaded_us(closed, goal)["users"] == pytest.approx(1000, rel=0.15)


@pytest.mark.parametrize("text", ["slowdown < 1", "slowdown < much"])
def test_a_slowdown_that_no_system_has_is_refused(text):
    with pytest.raises(SpecError, match='as in "slowdown < 2"'):
        goals_of([text])


def test_recorded_loads_have_no_slowdown(system, tmp_path):
    (tmp_path / "job.fio").write_text("[a]\nrw=randread\nbs=4k\nsize=1g\nruntime=1\n")
    tree = system()
    tree["workload"] = [{"fio": str(tmp_path / "job.fio")}]
    with pytest.raises(SpecError, match="issued one at a time: fio has its own"):
        unloaded_us(build_scenario(tree), goals_of(["slowdown < 2"])[0])
