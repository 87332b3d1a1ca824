"""Drives that were slowed down by their temperature are named, on each path of a run."""

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.diagnostics.throttled import throttled_drives
from raidlab.scenarios.running.simulate import simulate


def result_of(cooling):
    """Streams written for 2 s, by a drive that begins as warm as their like leaves it."""
    return simulate(
        build_scenario(
            {
                "array": [
                    {
                        "name": "data",
                        "level": "jbod",
                        "drives": [{"model": "p3700-800", "count": 1, "cooling": cooling}],
                    }
                ],
                "workload": [{"rw": "write", "block_size": "64 KiB", "outstanding": 32}],
                "run": {"precondition": "steady-state", "warm_up": "1 s", "duration": "1 s"},
            }
        )
    )


def test_a_drive_that_became_too_warm_is_named_with_its_time_and_temperature():
    result = result_of("restricted")
    (row,) = result.results
    (drive,) = (each for each in row["components"] if each["kind"] == "drive")
    seconds = drive["figures"]["throttled_s"]
    assert 0 < seconds <= 2
    (said,) = (each for each in result.warnings if "temperature" in each)
    assert said.startswith("array data: drives were slowed down by their temperature, up to")
    assert f"for {seconds:.3g} s of" in said


def test_a_drive_that_stays_cool_is_not():
    result = result_of("normal")
    assert list(throttled_drives(Observed(result.results))) == []
    assert not any("temperature" in each for each in result.warnings)
