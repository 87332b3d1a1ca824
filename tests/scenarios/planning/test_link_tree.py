"""`[[link]]`: slots, switches, adapters, enclosures; each rate by hand."""

from __future__ import annotations

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import DrivesTree, LinkTree, ScenarioTree


def scenario(links: list[LinkTree], drives: list[DrivesTree]) -> ScenarioTree:
    """RAID 0 in the host, streams of 128 KiB."""
    return {
        "host": {"model": "nvme"},
        "link": links,
        "array": [{"level": "raid0", "software_raid": "md", "drives": drives}],
        "workload": [{"rw": "read", "block_size": "128 KiB", "threads": 4, "outstanding": 128}],
        "run": {"warm_up": "50 ms", "duration": "0.1 s", "precondition": "filled", "seed": 1},
    }


def paths(tree: ScenarioTree) -> list[list[str]]:
    plan = build_scenario(tree).base
    return [[plan["links"][at]["name"] for at in drive["path"]] for drive in plan["drives"]]


P4510 = {"model": "p4610-1600", "count": 4}
SATA = {"model": "s4600-1920", "count": 8}


def test_four_drives_behind_an_x8_slot_read_as_fast_as_the_slot() -> None:
    """PCIe 3.0 x8 passes 8 lanes · 8 GT/s · 128/130 / 8 · 0.9 = 7.09 GB/s."""
    tree = scenario([{"name": "slot", "interface": "pcie-3.0-x8"}], [P4510 | {"link": "slot"}])
    assert [path[1] for path in paths(tree)] == ["slot PCIe 3.0 x8"] * 4
    shared = simulate(tree).rows[0].mb_per_s
    assert shared == pytest.approx(7089, rel=0.01)
    tree["link"] = []
    del tree["array"][0]["drives"][0]["link"]
    assert simulate(tree).rows[0].mb_per_s > 1.5 * shared


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Speed 8GT/s, Width x4", "PCIe 3.0 x4"),
        ("LnkSta: Speed 16GT/s (ok), Width x8 (ok)", "PCIe 4.0 x8"),
        ("LnkCap: Port #0, Speed 2.5GT/s, Width x1, ASPM L1", "PCIe 1.0 x1"),
        ("dmi-3.0", "PCIe 3.0 x4"),
        ("DMI 3.0", "PCIe 3.0 x4"),
        ("PCIe Gen4 x8", "PCIe 4.0 x8"),
        ("PCIe 3 x4", "PCIe 3.0 x4"),
        ("pcie-5.0-x16", "PCIe 5.0 x16"),
    ],
)
def test_what_lspci_prints_is_a_link(said: str, name: str) -> None:
    tree = scenario([{"name": "slot", "interface": said}], [P4510 | {"link": "slot"}])
    assert paths(tree)[0][1] == f"slot {name}"


def test_adapters_enclosures_and_a_chipset_are_a_tree() -> None:
    """Two enclosures in a chain behind one adapter, another adapter behind a chipset."""
    links = [
        {"name": "dmi", "interface": "dmi-3.0"},
        {"name": "hba0", "interface": "pcie-3.0-x8", "ports": "sas-12g"},
        {"name": "hba1", "interface": "pcie-3.0-x8", "ports": "sas-12g", "parent": "dmi"},
        {"name": "jbod0", "interface": "sas-12g-x4", "parent": "hba0"},
        {"name": "jbod1", "interface": "sas-12g-x4", "parent": "jbod0"},
    ]
    drives = [SATA | {"link": name, "count": 1} for name in ("jbod1", "jbod0", "hba1")]
    found = [[name.split(" ")[0] for name in path[1:]] for path in paths(scenario(links, drives))]
    assert found == [["jbod1", "jbod0", "hba0"], ["jbod0", "hba0"], ["hba1", "dmi"]]


def test_the_uplink_of_an_enclosure_shares_its_lanes() -> None:
    """SATA drives hold a lane at 6G: 510 MB/s, 257.0 us of 128 KiB, and 9.46 us of connections.

    Four lanes pass 4 · 131072 B / 266.5 us = 1967 MB/s of sixteen drives.
    """
    links = [
        {"name": "hba", "interface": "pcie-3.0-x8", "ports": "sas-12g"},
        {"name": "jbod", "interface": "sas-12g-x4", "parent": "hba"},
    ]
    tree = scenario(links, [SATA | {"link": "jbod", "count": 16}])
    assert simulate(tree).rows[0].mb_per_s == pytest.approx(1967, rel=0.02)


@pytest.mark.parametrize("said", [128, "128", "MaxPayload 128 bytes, MaxReadReq 512 bytes"])
def test_short_packets_pass_less_of_a_slot(said: int | str) -> None:
    """24 B besides the data of a packet: 128/152 · 280/256 · 7.089 GB/s = 6.530 GB/s."""
    slot = {"name": "slot", "interface": "pcie-3.0-x8"}
    tree = scenario([slot | {"max_payload": said}], [P4510 | {"link": "slot"}])
    assert simulate(tree).rows[0].mb_per_s == pytest.approx(6530, rel=0.01)
    usual = scenario([slot | {"max_payload": 256}], [P4510 | {"link": "slot"}])
    assert (
        build_scenario(usual).base["links"]
        == build_scenario(scenario([slot], [P4510 | {"link": "slot"}])).base["links"]
    )


def test_a_drive_at_an_adapter_pays_to_its_port_and_not_to_the_chipset() -> None:
    """The host's SATA port takes 5.1 us for a read; an adapter's SAS port 5.46 us."""
    adapter = {"name": "hba", "interface": "pcie-3.0-x8", "ports": "sas-12g"}
    one = SATA | {"count": 1}
    tree = scenario([adapter], [one | {"link": "hba"}]) | {"host": {"model": "ahci"}}
    of_adapter = build_scenario(tree).base
    assert of_adapter["links"][of_adapter["drives"][0]["path"][0]]["read_command_ns"] == 5_460
    tree = scenario([], [one]) | {"host": {"model": "ahci"}}
    of_chipset = build_scenario(tree).base
    assert of_chipset["links"][of_chipset["drives"][0]["path"][0]]["read_command_ns"] == 5_100


def test_two_adapters_carry_one_array() -> None:
    """Each passes PCIe 2.0 x4, 1800 MB/s; eight SATA drives of 510 MB/s fill both: 3600 MB/s."""
    links = [
        {"name": name, "interface": "pcie-2.0-x4", "ports": "sas-12g"} for name in ("hba0", "hba1")
    ]
    drives = [SATA | {"link": link["name"], "count": 8} for link in links]
    assert simulate(scenario(links, drives)).rows[0].mb_per_s == pytest.approx(3600, rel=0.01)
    one = simulate(scenario(links[:1], drives[:1])).rows[0].mb_per_s
    assert one == pytest.approx(1800, rel=0.01)


def test_a_chipset_bounds_what_hangs_on_it() -> None:
    """DMI 3.0 is PCIe 3.0 x4, 3545 MB/s: two NVMe drives behind it get that, beside one of its own.

    RAID 0 gives each of three drives a third, so the two behind the chipset set the pace:
    3 / 2 · 3545 = 5317 MB/s.
    """
    links = [{"name": "dmi", "interface": "dmi-3.0"}]
    behind = P4510 | {"link": "dmi", "count": 2}
    both = simulate(scenario(links, [behind])).rows[0].mb_per_s
    assert both == pytest.approx(3545, rel=0.01)
    three = simulate(scenario(links, [behind, P4510 | {"count": 1}])).rows[0].mb_per_s
    assert three == pytest.approx(5317, rel=0.02)


def test_a_switch_shares_its_uplink_and_takes_its_time() -> None:
    """A switch of x8 up passes 7089 MB/s; what it takes is part of a read's latency."""
    switch = {"name": "plx", "interface": "pcie-3.0-x8", "latency": "1 us"}
    tree = scenario([switch], [P4510 | {"link": "plx"}])
    assert simulate(tree).rows[0].mb_per_s == pytest.approx(7089, rel=0.01)
    tree["workload"] = [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1, "threads": 1}]
    slow = simulate(tree).rows[0].latency_us.mean
    tree["link"][0]["latency"] = "0 us"
    assert slow - simulate(tree).rows[0].latency_us.mean == pytest.approx(1.0, abs=0.3)


def test_two_enclosures_in_a_chain_share_the_first_uplink() -> None:
    """Eight drives in each: x4 carries all sixteen, 1967 MB/s as of one enclosure."""
    links = [
        {"name": "hba", "interface": "pcie-3.0-x8", "ports": "sas-12g"},
        {"name": "jbod0", "interface": "sas-12g-x4", "parent": "hba"},
        {"name": "jbod1", "interface": "sas-12g-x4", "parent": "jbod0"},
    ]
    drives = [SATA | {"link": name, "count": 8} for name in ("jbod0", "jbod1")]
    assert simulate(scenario(links, drives)).rows[0].mb_per_s == pytest.approx(1967, rel=0.02)
    del links[2]["parent"]
    links[2]["parent"] = "hba"
    apart = simulate(scenario(links, drives)).rows[0].mb_per_s
    assert apart == pytest.approx(2 * 1967, rel=0.02)


def test_two_sockets_have_slots_of_their_own() -> None:
    """Four drives at each; the far socket's cross UPI of 2 GB/s, so RAID 0 moves twice that."""
    links = [
        {"name": "upi", "rate": "2 GB/s"},
        {"name": "near", "interface": "pcie-3.0-x16"},
        {"name": "far", "interface": "pcie-3.0-x16", "parent": "upi"},
    ]
    drives = [P4510 | {"link": name, "count": 2} for name in ("near", "far")]
    assert simulate(scenario(links, drives)).rows[0].mb_per_s == pytest.approx(4000, rel=0.01)


def test_sockets_have_a_rate_of_their_own() -> None:
    tree = scenario([{"name": "upi", "rate": "1 GB/s"}], [P4510 | {"link": "upi"}])
    assert simulate(tree).rows[0].mb_per_s == pytest.approx(1000, rel=0.01)


@pytest.mark.parametrize(
    ("links", "fault"),
    [
        ([{"name": "a", "interface": "pcie-3.0-x3"}], r"link.0.interface = .*x1, x2, x4, x8, x16"),
        ([{"name": "a", "interface": "Speed 9GT/s, Width x4"}], r"link.0.interface.*8GT/s"),
        (
            [{"name": "a", "interface": "pcie-3.0-x8", "max_payload": 100}],
            r"link.0.max_payload = 100.*128, 256, 512",
        ),
        (
            [{"name": "a", "interface": "sas-12g-x4", "max_payload": 128}],
            r"link.0.max_payload = 128.*PCIe alone",
        ),
        ([{"name": "a"}], r"link.0.interface.*one of `interface` and `rate`"),
        (
            [{"name": "a", "interface": "pcie-3.0-x8", "parent": "b"}],
            r'link.0.parent = "b".*the name of a link: a',
        ),
        (
            [
                {"name": "a", "interface": "pcie-3.0-x8", "parent": "b"},
                {"name": "b", "interface": "pcie-3.0-x8", "parent": "a"},
            ],
            r"link.0.parent = \"b\".*never ends",
        ),
        (
            [{"name": "a", "rate": "1 GB/s"}, {"name": "a", "rate": "1 GB/s"}],
            r"link.1.name = \"a\"",
        ),
    ],
)
def test_links_that_are_none_are_refused(links: list[LinkTree], fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        build_scenario(scenario(links, [P4510 | {"link": "a"}]))


def test_lanes_that_the_slot_has_not_are_refused() -> None:
    tree = scenario([{"name": "a", "interface": "pcie-3.0-x16"}], [P4510 | {"link": "a"}])
    assert build_scenario(tree)
    tree["host"] = {"model": "rx300-s6"}
    with pytest.raises(SpecError, match=r"link.0.interface = .*at most x\d+, as the widest slot"):
        build_scenario(tree)


def test_a_link_that_is_not_there_names_those_that_are() -> None:
    links = [{"name": "slot", "interface": "pcie-3.0-x8"}]
    with pytest.raises(SpecError, match=r"array.0.drives.0.link = \"slott\".*slot"):
        build_scenario(scenario(links, [P4510 | {"link": "slott"}]))


def test_nvme_does_not_hang_on_sas() -> None:
    links = [{"name": "jbod", "interface": "sas-12g-x4"}]
    with pytest.raises(SpecError, match=r"drives.0.model = .*SAS 12G ports of jbod"):
        build_scenario(scenario(links, [P4510 | {"link": "jbod"}]))


def test_a_link_without_drives_is_named() -> None:
    links = [{"name": "slot", "interface": "pcie-3.0-x8"}]
    assert (
        "link.0: has no effect: no drive hangs on slot"
        in build_scenario(scenario(links, [P4510])).warnings
    )


@pytest.mark.parametrize(
    ("write", "port", "iops"),
    [
        (False, "chipset", 1e9 / (7_314 + 2_880)),
        (True, "chipset", 1e9 / (7_314 + 3_730)),
        (True, "sas-12g", 1e9 / (7_314 + 7_700)),
    ],
)
def test_a_sata_command_holds_its_port_besides_its_data(
    write: bool, port: str, iops: float
) -> None:
    """By hand: 4 KiB at 560 MB/s take 7,314 ns; the S4610's own firmware ends near 97,000 reads."""
    drive: DrivesTree = {"model": "s4610-480"}
    tree = scenario([], [drive])
    if port != "chipset":
        tree["link"] = [{"name": "hba", "interface": "pcie-3.0-x8", "ports": port}]
        drive["link"] = "hba"
    del tree["array"][0]["level"]
    del tree["array"][0]["software_raid"]
    load = tree["workload"][0]
    load |= {"rw": "randwrite" if write else "randread", "block_size": "4 KiB", "outstanding": 32}
    del load["threads"]
    assert simulate(tree).rows[0].iops == pytest.approx(iops, rel=0.015)


def test_drives_on_sas_and_pcie_pay_nothing_of_a_sata_port() -> None:
    """The host `sas2008` has 5.46 us and a latency of 14 us for SATA drives."""
    drives: list[DrivesTree] = [{"model": name} for name in ("c10k1800", "p4610-1600", "s4610-480")]
    tree = scenario([], drives) | {"host": {"model": "sas2008"}}
    plan = build_scenario(tree).base
    own = [plan["links"][drive["path"][0]] for drive in plan["drives"]]
    assert [link.get("read_command_ns", 0) for link in own] == [0, 0, 5_460]
    assert [link.get("latency_ns", 0) for link in own] == [0, 0, 14_000]
