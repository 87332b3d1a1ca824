"""Several clients of one target: its CPU is a controller's, a client's link is its limit."""

import pytest

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

TARGET = """
kind = "controller"
name = "target"
link = "pcie-5.0-x16"
ports = 16
port = "sas-12g"
nvme = "pcie-4.0-x4"
drives_max = 16
levels = ["jbod", "raid0"]
cores = 2
[firmware]
request = "4 us"
command = "1 us"
page = "1 us"
[sources]
all = "assumed"
"""


def test_two_clients_share_the_cpu_of_their_target(tmp_path):
    """By hand: two cores at 4 + 1 + 1 us for a read of 4 KiB are 333,333 a second."""
    (tmp_path / "target.toml").write_text(TARGET)
    client = {"rw": "randread", "block_size": "4 KiB", "threads": 16, "outstanding": 128}
    tree = {
        "host": {"model": "nvme-tcp-100g"},
        "controller": {"model": str(tmp_path / "target.toml")},
        "array": [{"level": "raid0", "drives": [{"model": "pm9a3-960", "count": 4}]}],
        "workload": [client | {"name": name, "limit": "2900 MB/s"} for name in ("a", "b")],
        "run": {"warm_up": "20 ms", "duration": "30 ms"},
    }
    rates = [row["iops"] for row in simulate(build_scenario(tree), workers=1).results]
    assert sum(rates) == pytest.approx(2 / 6e-6, rel=0.005)
    assert rates[0] == pytest.approx(rates[1], rel=0.02)
