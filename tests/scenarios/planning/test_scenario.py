"""Scenarios become plans: links on the way, sizes, loads."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.links import Interface
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def scenario(drive, count=4, level="raid0", controller="lsi2008", **workload):
    tree = {
        "array": [{"name": "data", "level": level, "drives": [{"model": drive, "count": count}]}],
        "workload": [{"profile": "database"} | workload],
    }
    if controller:
        tree["controller"] = {"model": controller}
    return build_scenario(tree)


def path_of(plan, drive):
    return [plan["links"][link] for link in plan["drives"][drive]["path"]]


def test_few_drives_have_a_port_each(drives):
    plan = scenario(str(drives / "sas.toml"), 8).plan(0, 0)
    own, to_host = path_of(plan, 3)
    assert own["bytes_per_s"] == int(Interface.parse("sas-6g").practical)
    assert to_host["bytes_per_s"] == int(Interface.parse("pcie-2.0-x8").practical)
    # The link to the host is the only one that two drives share.
    shared = set(plan["drives"][0]["path"]) & set(plan["drives"][1]["path"])
    assert [plan["links"][link] for link in shared] == [to_host]


def test_drives_run_at_the_port_s_rate(drives):
    own, _ = path_of(scenario(str(drives / "sas.toml"), controller="lsi1068").plan(0, 0), 0)
    assert own["bytes_per_s"] == int(Interface.parse("sas-3g").practical)
    assert own["full_duplex"]


def test_sata_tunnels_through_sas_half_duplex(drives):
    own, _ = path_of(scenario(str(drives / "sata.toml"), controller="lsi1068").plan(0, 0), 0)
    assert own["bytes_per_s"] == int(Interface.parse("sata-3g").practical)
    assert not own["full_duplex"]


@pytest.mark.parametrize("host", ["ahci", "sata-3g"])
def test_a_sas_drive_on_a_hosts_sata_port_is_refused(drives, host):
    tree = {
        "host": {"model": host},
        "array": [{"level": "independent", "drives": [{"model": str(drives / "sas.toml")}]}],
        "workload": [{"profile": "database"}],
    }
    with pytest.raises(SpecError, match=f"a drive that the SATA .* ports of {host} carry"):
        build_scenario(tree)


def test_many_drives_share_an_expander(drives):
    plan = scenario(str(drives / "sas.toml"), 24, controller="lsi2108").plan(0, 0)
    _, expander, to_host = path_of(plan, 23)
    assert expander["bytes_per_s"] == int(Interface.parse("sas-6g-x8").practical)
    assert set(plan["drives"][0]["path"][1:]) == set(plan["drives"][23]["path"][1:])
    assert to_host["bytes_per_s"] < expander["bytes_per_s"]
    # A connection holds one of eight lanes both ways: 5,676 and 11,276 B of 600 B/us besides the
    # data, of which each connection waits 2,700 B.
    assert expander["full_duplex"] is False
    assert (expander["read_command_ns"], expander["write_command_ns"]) == (9460 // 8, 18793 // 8)


def test_data_of_a_drive_without_a_link_cross_the_controller_s_link_to_the_host():
    built = scenario("null", rw="read", block_size="1 MiB", profile=None, outstanding=64)
    (to_host,) = path_of(built.plan(0, 0), 3)
    assert to_host["name"] == "lsi2008 PCIe 2.0 x8"
    (row,) = simulate(built).results
    assert row["bottleneck"] == "lsi2008 PCIe 2.0 x8 at 100 %"
    assert row["mb_per_s"] * 1e6 == pytest.approx(to_host["bytes_per_s"], rel=0.01)
    (own,) = (drive["path"] for drive in scenario("null", 1, "jbod", None).plan(0, 0)["drives"])
    assert own == []


def test_without_a_controller_a_drive_hangs_on_the_host(drives):
    plan = scenario(str(drives / "card.toml"), 1, "jbod", None).plan(0, 0)
    (own,) = path_of(plan, 0)
    assert own["bytes_per_s"] == int(Interface.parse("pcie-3.0-x4").practical)
    assert plan["controllers"] == []
    assert plan["arrays"][0]["controller"] is None


def test_onboard_raid_runs_on_the_host(drives):
    plan = scenario(str(drives / "sas.toml"), controller="patsburg-b").plan(0, 0)
    assert plan["arrays"][0]["software"]
    assert not scenario(str(drives / "sas.toml")).plan(0, 0)["arrays"][0]["software"]


@pytest.mark.parametrize(
    ("level", "count", "drives_worth"),
    [("jbod", 4, 4), ("raid0", 4, 4), ("raid1", 2, 1), ("raid10", 4, 2), ("raid1e", 3, 1.5)],
)
def test_the_whole_array_is_loaded_by_default(drives, level, count, drives_worth):
    plan = scenario(str(drives / "sas.toml"), count, level).plan(0, 0)
    usable = 100 * 10**9 // (128 * 1024) * (128 * 1024)
    expected = drives_worth * (100 * 10**9 if level == "jbod" else usable)
    assert abs(plan["workloads"][0]["area_bytes"] - expected) <= count * 64 * 1024


def test_max_means_the_published_depths(drives):
    built = scenario(str(drives / "sas.toml"), outstanding="max")
    depths = [
        built.plan(point, 0)["workloads"][0]["arrival"]["outstanding"]
        for point in range(built.points)
    ]
    assert depths == [1, 3, 8, 16, 32, 64, 128, 256, 512]


def test_outstanding_may_count_per_drive(drives):
    built = scenario(str(drives / "sas.toml"), outstanding=[2, 4], per="drive")
    assert built.workloads[0].outstanding == (8, 16)


def test_independent_drives_have_a_load_each(drives):
    built = scenario(str(drives / "sas.toml"), level="independent", outstanding=8)
    plan = built.plan(0, 0)
    assert [array["drives"] for array in plan["arrays"]] == [[0], [1], [2], [3]]
    assert [load["arrival"]["outstanding"] for load in plan["workloads"]] == [8] * 4
    assert built.workloads[0].parts == (0, 1, 2, 3)


def test_the_host_s_times_scale_with_its_clock(drives):
    def host(clock):
        tree = {
            "host": {"model": "generic"} | ({"clock": clock} if clock else {}),
            "array": [{"drives": [{"model": str(drives / "sas.toml")}]}],
            "workload": [{"profile": "database"}],
        }
        return build_scenario(tree).plan(0, 0)["host"]

    slow, own = host("1.5 GHz"), host(None)
    times = [key for key in own if key.endswith("_ns")]
    assert len(times) >= 3
    assert [slow[key] for key in times] == [2 * own[key] for key in times]


def test_replications_differ_in_nothing_but_the_seed(drives):
    built = scenario(str(drives / "sas.toml"))
    first, second = built.plan(0, 0), built.plan(0, 1)
    assert first.pop("seed") == built.seed != second.pop("seed")
    assert first == second


def test_a_tree_may_come_with_the_name_of_its_file(drives):
    load = {"rw": "randread", "block_size": "4 KiB"}
    tree = {"array": [{"drives": [{"model": "sas.toml"}]}], "workload": [load]}
    built = build_scenario(tree, str(drives / "mine.toml"))
    assert built.title == "mine"
