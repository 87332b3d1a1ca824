"""An arm is busy once, however many commands wait for what it reads ahead."""

import raidlab


def test_a_stream_of_a_mirror_keeps_no_arm_busy_for_longer_than_the_run():
    """Reads of 96 KiB at depth 64: one goes on behind what the head has promised to another one."""
    array = {
        "level": "raid10",
        "drives": [{"model": "generic-15000rpm", "count": 8}],
        "stripe_unit": "1 MiB",
        "software_raid": "os",
    }
    load = {
        "rw": "read",
        "block_size": "96 KiB",
        "outstanding": 64,
        "area_start": "1 GiB",
        "area": "40 GiB",
    }
    for seed in range(5):
        scenario = {
            "host": {"model": "sas2008"},
            "array": [array],
            "workload": [load],
            "run": {"warm_up": "700 ms", "duration": "1200 ms", "seed": seed},
        }
        assert raidlab.simulate(scenario).breaches == ()
