"""Headlines of rooms beside numbers that do not come from a bin."""

from typing import Any

import pytest

from raidlab.notebooks import qlc, rebuild, ssd_cache
from raidlab.notebooks.frame import run


@pytest.mark.parametrize("filled", qlc.FILLED)
def test_the_cliff_of_qlc_is_where_the_cache_is_full(filled: int) -> None:
    numbers = qlc.answer({"filled": filled, "length": 5}, 1).numbers
    # Die pages of four planes at 250 us, eight dies; a quarter of 77.3 GB less what is there.
    rate = 8 * 4 * 16384 / 250e-6
    cache = min(16e9, (8 * 4 * 144 * 1024 * 16384 - filled * 1e9) / 4)
    assert numbers["cliff_s"] == pytest.approx(cache / rate, rel=0.01)


def test_the_wait_during_a_rebuild_is_the_mean_over_all_of_its_ios() -> None:
    values = {"level": "raid5", "share": 100, "load": 300}
    numbers = rebuild.answer(values, 1).numbers
    before, during, *_ = run(rebuild.scenario(values), 1).results[0]["periods"]
    expected = during["latency_us"]["mean"] / before["latency_us"]["mean"]
    assert numbers["factor"] == pytest.approx(expected)
    assert numbers["factor"] > 40


def test_an_io_is_counted_when_it_begins() -> None:
    def io(issued_s: float, took_ms: float) -> dict[str, Any]:
        return {"issued_ns": round(issued_s * 1e9), "latency_ns": round(took_ms * 1e6)}

    bins = rebuild.by_arrival([io(0.01, 5), io(0.02, 500), io(0.03, 7), io(0.52, 1)])
    assert bins == {0.05: (7000.0, 500_000.0), 0.55: (1000.0, 1000.0)}


@pytest.mark.parametrize("hot", ssd_cache.SIZES)
def test_an_ssd_cache_pays_when_half_of_its_lines_are_there(hot: int) -> None:
    numbers = ssd_cache.answer({"hot": hot, "share": 85}, 1).numbers
    # Lines of 64 KiB move at their third access: half of them after 2.67 accesses a line.
    minutes = 2.67 * hot * 1e9 / 65536 / (0.85 * numbers["first"]) / 60
    assert numbers["half_min"] == pytest.approx(minutes, rel=0.25)
    assert numbers["quarter_min"] < numbers["half_min"] < numbers["most_min"]
