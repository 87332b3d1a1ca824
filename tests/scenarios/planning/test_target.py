"""Several clients of one target: its CPU is a controller's, each client has a link of its own."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.bottleneck import limits
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
        "workload": [client | {"name": name, "client_link": "3125 MB/s"} for name in ("a", "b")],
        "run": {"warm_up": "20 ms", "duration": "30 ms"},
    }
    rates = [row["iops"] for row in simulate(build_scenario(tree), workers=1).results]
    assert sum(rates) == pytest.approx(2 / 6e-6, rel=0.005)
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


STORE = """
kind = "station"
name = "store"
capacity = "1 TB"
service = "100 us"
distribution = "fixed"
servers = 64
[sources]
all = "assumed"
"""
PAYLOAD = (9000 - 52) / (9000 + 38)
"""Share of Ethernet's bytes that data get in jumbo frames."""
BLOCK = 128 * 1024


@pytest.fixture
def clients(tmp_path):
    """What loads of 128 KiB from clients with these links do, by load."""
    (tmp_path / "store.toml").write_text(STORE)

    def run(host, *loads):
        shared = {"block_size": "128 KiB", "outstanding": 32, "threads": 4, "rw": "randread"}
        tree = {
            "host": {"model": host},
            "array": [{"drives": [{"model": str(tmp_path / "store.toml")}]}],
            "workload": [shared | {"name": f"client-{at}"} | own for at, own in enumerate(loads)],
            "run": {"warm_up": "20 ms", "duration": "100 ms"},
        }
        return simulate(build_scenario(tree), workers=1).results

    return run


@pytest.mark.parametrize(("rw", "headers"), [("randread", 48), ("randwrite", 96)])
def test_a_clients_own_link_bounds_it(clients, rw, headers):
    """10 gigabit: 1250 MB/s, of which data and their headers of NVMe/TCP get 1237.6."""
    (row,) = clients("nvme-tcp-100g", {"rw": rw, "client_link": "1250 MB/s"})
    assert row["iops"] == pytest.approx(1250e6 * PAYLOAD / (BLOCK + headers), rel=0.002)
    assert limits(row) == "client-0 client link 100 %"


def test_clients_share_the_link_of_their_target(clients):
    """Two of 25 gigabit get half each of a target of 25; two of 10 have all of their own."""
    fast, slow = {"client_link": "3125 MB/s"}, {"client_link": "1250 MB/s"}
    whole = 3125e6 * PAYLOAD / (BLOCK + 48)
    rates = [row["iops"] for row in clients("nvme-tcp-25g", fast, fast)]
    assert sum(rates) == pytest.approx(whole, rel=0.002)
    assert rates == pytest.approx([whole / 2] * 2, rel=0.01)
    for row in clients("nvme-tcp-25g", slow, slow):
        assert row["iops"] == pytest.approx(0.4 * whole, rel=0.002)
        assert "client-1" not in limits(row) or row["workload"] == "client-1"


@pytest.mark.parametrize(("rw", "headers"), [("randread", 48), ("randwrite", 96)])
def test_both_links_carry_one_stream(clients, rw, headers):
    """Frames pass as they come: beside the target's link alone, the slower one adds c - t + ft."""
    alone = {"rw": rw, "outstanding": 1, "threads": 1}
    (without,) = clients("nvme-tcp-100g", alone)
    (behind,) = clients("nvme-tcp-100g", alone | {"client_link": "1250 MB/s"})
    of_client, of_target = 1250e6 * PAYLOAD, 12500e6 * PAYLOAD
    more = (BLOCK + headers) / of_client - BLOCK / of_target + (9000 - 52) / of_target
    found = behind["latency_us"]["mean"] - without["latency_us"]["mean"]
    assert found == pytest.approx(1e6 * more, rel=0.002)


def test_without_a_network_no_client_has_a_link(clients):
    with pytest.raises(SpecError, match=r"workload\.0\.client_link.*network") as caught:
        clients("generic", {"client_link": "1250 MB/s"})
    assert "nvme-tcp-25g" in str(caught.value)
