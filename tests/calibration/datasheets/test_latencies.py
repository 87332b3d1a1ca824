"""Percentiles of drives from sheets beside measured ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.datasheets.latencies import Latency, latencies, listing, table
from raidlab.calibration.datasheets.measured import Load

OPEN = Load("x", "randwrite", 4096, 0, 0, 20_000, 5_000)


def test_the_page_has_the_median_and_the_worst_ratio() -> None:
    """Ratios of 0.5, 0.8 and 1.25: median 0.8; off by 2, 1.25 and 1.25."""
    found = [Latency(OPEN, "reads", "p99", 100.0, value) for value in (50.0, 80.0, 125.0)]
    assert "| all reads | 3 | 0.8 | 1.25 | 0.5 |" in list(table(found))
    assert "x,reads,p99,3,0.8,1.25,0.5" in listing(found).splitlines()


def test_probing_reads_are_a_load_of_their_own(tmp_path: Path) -> None:
    data = tmp_path / "latencies.csv"
    data.write_text(
        "device,load,block_bytes,depth,threads,write_rate,read_rate,of,figure,value_us,source\n"
        "980-pro-1000,randread:nvme,4096,1,1,,,reads,p50,64.3,a\n"
        "980-pro-1000,randread:nvme,4096,1,1,,,reads,mean,68.3,a\n"
    )
    middle, mean = latencies(data)
    assert middle.load.depth == 1 and middle.load.read_rate == 0
    # Sense of one-bit cells, transfer, core and host: some 70 us, and the mean a little above.
    assert middle.simulated == pytest.approx(71, abs=2)
    assert middle.simulated < mean.simulated < 80
