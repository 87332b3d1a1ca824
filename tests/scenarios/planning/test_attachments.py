"""NVMe drives on tri-mode controllers, and targets across a network: links by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate


def _plan(controller: str, count: int, model: str = "pm9a3-960") -> Any:
    tree = {
        "host": {"model": "nvme-gen5"},
        "controller": {"model": controller},
        "array": [{"level": "raid0", "drives": [{"model": model, "count": count}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB"}],
        "run": {"precondition": "filled"},
    }
    return build_scenario(tree).plan(0, 0)


@pytest.mark.parametrize(
    ("count", "own", "shared"),
    [(4, "PCIe 4.0 x4", 1), (8, "PCIe 4.0 x2", 1), (16, "PCIe 4.0 x1", 1)],
)
def test_a_port_is_a_lane(count: int, own: str, shared: int) -> None:
    """16 ports give 4 drives four lanes each, 8 two, 16 one."""
    plan = _plan("megaraid-9560-16i", count)
    paths = [[plan["links"][at]["name"] for at in drive["path"]] for drive in plan["drives"]]
    assert all(path[0].endswith(own) for path in paths)
    assert all(len(path) == 1 + shared for path in paths)


def test_beyond_the_lanes_a_switch_shares_them() -> None:
    plan = _plan("megaraid-9560-16i", 24)
    names = [plan["links"][at]["name"] for at in plan["drives"][23]["path"]]
    assert names[0].endswith("PCIe 4.0 x4")
    assert names[1:] == ["megaraid-9560-16i switch, PCIe 4.0 x16", "megaraid-9560-16i PCIe 4.0 x8"]


def test_a_controller_without_nvme_refuses_it() -> None:
    with pytest.raises(SpecError, match="carry"):
        _plan("megaraid-9361-8i", 2)


def _over(tmp_path: Path, network: str, protocol: str = "nvme-tcp", **load: Any) -> Any:
    host = tmp_path / "remote.toml"
    host.write_text(
        'kind = "host"\nname = "remote"\nlike = "nvme"\nspread = 0\n[network]\n'
        f'protocol = "{protocol}"\nrate = "1250 MB/s"\n{network}\n[sources]\nall = "assumed"\n'
    )
    tree = {
        "host": {"model": str(host)},
        "array": [{"drives": [{"model": "null"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": [1]} | load],
        "run": {"warm_up": "1 ms", "duration": "100 ms", "seed": 1},
    }
    (row,) = simulate(build_scenario(tree), workers=1).results
    return row


@pytest.mark.parametrize(("protocol", "headers"), [("nvme-tcp", 24 + 24), ("iscsi", 48 + 48)])
def test_an_io_across_a_network_takes_its_hand_computed_time(
    tmp_path: Path, protocol: str, headers: int
) -> None:
    """Host 1.6 + 2 us to issue, 1.4 + 2 + 3 us to complete; 1448 of 1538 bytes of a frame are data,
    so 4096 + 48 bytes take 3.5212 us of 1250 MB/s; 30 us of latency.

    With the data come the headers of data and completion: 24 bytes each of NVMe/TCP, 48 of iSCSI
    (RFC 7143, 11.4 and 11.7).
    """
    row = _over(tmp_path, 'latency = "30 us"\nsubmit = "2 us"\ncomplete = "3 us"', protocol)
    expected = 3.6 + 6.4 + (4096 + headers) / (1250 * 1448 / 1538) + 30
    assert row["latency_us"]["mean"] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("mtu", "share"), [(1500, 1448 / 1538), (9000, 8948 / 9038)])
def test_a_stream_gets_what_headers_leave(tmp_path: Path, mtu: int, share: float) -> None:
    row = _over(tmp_path, f'mtu = "{mtu} B"', rw="read", block_size="128 KiB", outstanding=[16])
    assert row["mb_per_s"] == pytest.approx(1250 * share, rel=0.03)
