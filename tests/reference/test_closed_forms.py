"""Mechanisms beside closed forms of their own: volumes' tails, caches of SSDs, slices of a rebuild,
what is read ahead on an array."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.running.simulate import simulate

_STATION = """kind = "station"
name = "{name}"
capacity = "{size}"
service = "{service}"
servers = {servers}
[sources]
all = "assumed"
"""
_VOLUME = """kind = "volume"
name = "slow-at-times"
capacity = "100 GB"
limits = { rate = "1000000 IO/s" }
[latency]
read = "600 us"
write = "600 us"
floor = "50 %"
slow = "2.5 ms"
slow_share = "3 %"
[sources]
all = "assumed"
"""


def station(
    folder: Path, name: str, size: str, service: str, servers: int = 1024
) -> dict[str, str]:
    """A drive of a fixed time."""
    path = folder / f"{name}.toml"
    path.write_text(_STATION.format(name=name, size=size, service=service, servers=servers))
    return {"model": str(path)}


def row(array: dict[str, Any], load: dict[str, Any], seconds: str, **more: Any) -> Row:
    """What a load finds at an array."""
    tree: Any = {
        "host": {"model": "generic"},
        "array": [{"name": "data"} | array],
        "workload": [{"block_size": "4 KiB"} | load],
        "run": {"warm_up": more.pop("warm_up", "0 s"), "duration": seconds, "seed": 1},
    }
    if "precondition" in more:
        tree["run"]["precondition"] = more.pop("precondition")
    result = simulate(build_scenario(tree | more), workers=1)
    assert result.breaches == ()
    found: Row = result.results[0]
    return found


def test_a_volume_that_is_slow_at_times_has_the_tail_of_a_mixture(tmp_path: Path) -> None:
    """300 us, then exponential times of mean e = 300 us, and of S = 2.5 ms for a share s = 3 %.

    P(x) = (1 - s) exp(-x / e) + s (S exp(-x / S) - e exp(-x / e)) / (S - e)
    """
    path = tmp_path / "volume.toml"
    path.write_text(_VOLUME)
    found = row({"drives": [{"model": str(path)}]}, {"rw": "randread", "outstanding": 64}, "5 s")
    e, slow, share = 300.0, 2500.0, 0.03
    host = found["latency_us"]["min"] - 300
    assert 0 < host < 50

    def beyond(us: float) -> float:
        x = us - 300 - host
        most = (1 - share) * exp(-x / e)
        return most + share * (slow * exp(-x / slow) - e * exp(-x / e)) / (slow - e)

    latency = found["latency_us"]
    assert latency["mean"] == pytest.approx(host + 600 + share * slow, rel=0.02)
    for quantile in ("p50", "p90", "p99", "p99_9"):
        left = 1 - float(quantile[1:].replace("_", ".")) / 100
        assert beyond(latency[quantile]) == pytest.approx(left, rel=0.08), quantile
    # Far out the slow ones are all that is left, as the page has it.
    simple = 300 + host + e + slow * log(share / 0.001)
    assert latency["p99_9"] == pytest.approx(simple, rel=0.03)


def cached(folder: Path, size: str, back: dict[str, str], **cache: Any) -> dict[str, Any]:
    """A drive behind a cache of that size."""
    front = station(folder, "front", size, "10 us")
    return {"drives": [back], "host_cache": {"drives": [front]} | cache}


def test_lines_come_to_the_cache_at_their_third_access(tmp_path: Path) -> None:
    """Accesses to each of 4096 lines are a Poisson process: after m of them, on average, a line is
    there with 1 - e^-m (1 + m + m^2 / 2), and has had m - 3 + e^-m (3 + 2 m + m^2 / 2) hits."""
    back = station(tmp_path, "back", "256 MiB", "100 us")
    array = cached(tmp_path, "512 MiB", back, kind="dm-cache", promote_after=3)
    load = {"rw": "randread", "arrivals": "poisson", "rate": "4096 IO/s", "area": "256 MiB"}
    tier = row(array, load, "2 s")["caches"][0]
    m = tier["reads"] / 4096
    few = exp(-m)
    assert m == pytest.approx(2, rel=0.06)
    there = 4096 * (1 - few * (1 + m + m * m / 2))
    assert tier["filled_bytes"] / 65536 == pytest.approx(there, rel=0.07)
    hits = 4096 * (m - 3 + few * (3 + 2 * m + m * m / 2))
    assert tier["read_hits"] == pytest.approx(hits, rel=0.12)


def che(slots: float, parts: Sequence[tuple[float, float]]) -> float:
    """Hits of an LRU cache: `parts` are (lines, share of the accesses), each line of a part alike.

    Che, Tung and Wang (2002): a line hits if it was used within the time T in which as many others
    as fit are used.
    """
    least, most = 0.0, 1e9
    for _ in range(100):
        t = (least + most) / 2
        used = sum(lines * (1 - exp(-share * t / lines)) for lines, share in parts)
        least, most = (t, most) if used < slots else (least, t)
    return sum(share * (1 - exp(-share * t / lines)) for lines, share in parts)


@pytest.mark.parametrize(("hot", "share"), [(16, 0.85), (32, 0.6), (64, 0.85)])
def test_a_warm_cache_hits_as_an_lru_cache_does(tmp_path: Path, hot: int, share: float) -> None:
    """A cache of 1024 lines over 4096; what is no hot access goes anywhere, the hot spot included.
    By shares of the cache alone: 0.89, 0.70 and 0.85 where the hot spot has it all."""
    back = station(tmp_path, "back", "256 MiB", "100 us")
    array = cached(tmp_path, "64 MiB", back, kind="dm-cache", promote_after=1, state="warm")
    load = {"rw": "randread", "outstanding": 16, "area": "256 MiB"}
    load |= {"hot_spot": f"{hot} MiB", "hot_share": share}
    tier = row(array, load, "100 ms")["cache"]["tier"]
    lines = 16 * hot
    hots = share + (1 - share) * lines / 4096
    expected = che(1024, [(lines, hots), (4096 - lines, 1 - hots)])
    assert tier["read_hit_ratio"] == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("kind", ["bcache", "dm-writecache"])
def test_writes_beyond_what_the_disk_takes_back_gain_overwrites_alone(
    tmp_path: Path, kind: str
) -> None:
    """A disk of 5,000 a second under a cache of a quarter of the area. All blocks become dirty, and
    a write that meets one there, a quarter of them, costs the disk nothing: 5,000 / (1 - 1/4)."""
    back = station(tmp_path, "back", "32 MiB", "200 us", servers=1)
    array = cached(tmp_path, "8 MiB", back, kind=kind, mode="writeback")
    found = row(array, {"rw": "randwrite", "outstanding": 16}, "1 s", warm_up="1 s")
    assert found["iops"] == pytest.approx(5000 / 0.75, rel=0.02)
    assert found["cache"]["tier"]["dirty_share"] == pytest.approx(1, abs=0.01)


def test_a_rebuild_has_its_share_of_the_time_while_the_host_wants_the_drives(
    tmp_path: Path,
) -> None:
    """Rows of half a MiB: read in 1 ms, written in 1 ms, 2 * 0.146 ms on links of 3.6 GB/s. 128 of
    them are 64 MiB, and behind each the rebuild pauses until it has had its share."""
    member = station(tmp_path, "member", "64 MiB", "1 ms")
    event = {"at": "100 ms", "action": "fail-drive", "array": "data", "drive": 0}

    def took(share: float) -> float:
        array = {"level": "raid1", "software_raid": "md", "hot_spares": 1} | {
            "drives": [member | {"count": 2}],
            "rebuild_rate": share,
        }
        found = row(array, {"rw": "randread", "outstanding": 1}, "3200 ms", event=[event])
        begun, done = (period["to_s"] for period in found["periods"][:2])
        assert begun == 0.1 and len(found["periods"]) == 3
        return float(done - begun)

    for share in (0.1, 0.5):
        assert took(share) == pytest.approx(128 * 2.29e-3 / share, rel=0.02), share


def test_each_gap_of_parity_ends_what_is_read_ahead() -> None:
    """A stream at depth 1 on RAID 5 of n SSDs: of n - 1 units between two gaps the first three, of
    a us, find nothing read ahead, the others, of b us, do. Four and six drives give a and b."""

    def us(drives: int) -> float:
        array = {"level": "raid5", "drives": [{"model": "sas-6g-ssd", "count": drives}]}
        load = {"rw": "read", "block_size": "64 KiB", "outstanding": 1}
        controller = {"model": "lsi2208-1g", "write": "write-through", "read_ahead": "none"}
        found = row(
            array, load, "100 ms", warm_up="50 ms", controller=controller, precondition="filled"
        )
        return float(found["latency_us"]["mean"])

    a = us(4)
    b = (5 * us(6) - 3 * a) / 2
    assert b < 0.6 * a
    for drives in (5, 8):
        data = drives - 1
        assert us(drives) == pytest.approx((3 * a + (data - 3) * b) / data, rel=0.01), drives
