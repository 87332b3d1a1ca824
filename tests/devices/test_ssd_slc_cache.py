"""`[nand.slc_cache]` of a device file: the burst, the rate after it, and faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.devices.catalogue import SPECS, load_device
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

_TABLE = """[nand.slc_cache]
fixed = "2 GB"
program = "400 us"
when_full = "{when_full}"

[collection]"""
_SOURCES = """[sources]
"nand.slc_cache" = { source = "assumed" }
"""


def cached(folder: Path, table: str) -> Path:
    """The PE8110: 16 dies of 4 planes of 16 KiB, 611 us a program, 48.5 us a read on average."""
    text = (SPECS / "ssd" / "pe8110-960.toml").read_text()
    text = text.replace("[collection]", table, 1).replace("[sources]\n", _SOURCES, 1)
    path = folder / f"cached-{len(table)}.toml"
    path.write_text(text)
    return path


def written(model: Path, warm_up: str) -> float:
    """MB/s of a stream of writes to a fresh drive, over 0.2 s after some time."""
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": str(model)}]}],
        "workload": [{"rw": "write", "block_size": "128 KiB", "outstanding": [64]}],
        "run": {"warm_up": warm_up, "duration": "200 ms", "precondition": "fresh", "seed": 1},
    }
    rate = simulate(build_scenario(tree), workers=1).results[0]["mb_per_s"]
    assert isinstance(rate, float)
    return rate


@pytest.mark.parametrize(("when_full", "slow_us"), [("direct", 611), ("fold", 48.5 + 611 + 400)])
def test_a_stream_falls_to_the_usual_rate_when_the_cache_is_full(
    tmp_path: Path, when_full: str, slow_us: float
) -> None:
    """1 MiB a round of all dies: 2,621 MB/s in SLC mode. 2 GB are full after 0.76 s."""
    model = cached(tmp_path, _TABLE.format(when_full=when_full))
    assert written(model, "200 ms") == pytest.approx(2621, rel=0.02)
    assert written(model, "1 s") == pytest.approx(2**20 / slow_us, rel=0.02)


def test_a_cache_without_room_is_a_fault(tmp_path: Path) -> None:
    table = '[nand.slc_cache]\nprogram = "200 us"\n\n[collection]'
    with pytest.raises(SpecError, match="fixed or dynamic above 0"):
        load_device(cached(tmp_path, table))


def test_data_that_fit_into_the_cache_are_read_from_one_bit_a_cell(tmp_path: Path) -> None:
    """20 us instead of 48.5 us at depth 1, of a drive that holds 1 GB; not beyond the cache."""
    model = cached(
        tmp_path, _TABLE.format(when_full="direct").replace("fixed", 'read = "20 us"\nfixed')
    )

    def latency(**run: str) -> float:
        tree = {
            "host": {"model": "nvme-gen5"},
            "array": [{"drives": [{"model": str(model)}]}],
            "workload": [
                {"rw": "randread", "block_size": "4 KiB", "area": "1 GB", "outstanding": 1}
            ],
            "run": {"warm_up": "5 ms", "duration": "50 ms", "precondition": "filled", "seed": 1}
            | run,
        }
        mean = simulate(build_scenario(tree), workers=1).rows[0].latency_us.mean
        assert isinstance(mean, float)
        return mean

    assert latency() - latency(filled="1 GB") == pytest.approx(28.5, abs=0.6)
    assert latency(filled="3 GB") == pytest.approx(latency(), abs=0.6)
