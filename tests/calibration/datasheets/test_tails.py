"""The class of a drive with the pauses of others, and the page."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from raidlab.calibration.datasheets.tails import SETS, Tail, listing, page, widened, with_pauses
from raidlab.calibration.fitting.estimation.pauses import Kind
from raidlab.devices.catalogue import load_device
from raidlab.devices.draws import bounds, open_numbers
from raidlab.devices.ssd import SsdSpec


def test_a_class_takes_the_pauses_of_others(tmp_path: Path) -> None:
    """Ten kinds, 1 to 10 ms, two a second: the middle is 5.5 ms, 2 to 9 without the ends."""
    file = tmp_path / "generic-sata-tlc.toml"
    file.write_text(with_pauses("generic-sata-tlc", [Kind(2, 1000 * n) for n in range(1, 11)]))
    device = load_device(file)
    assert isinstance(device.spec, SsdSpec)
    (pause,) = device.spec.pause
    assert pause.length == pytest.approx(30**0.5 * 1e6, rel=1e-3)
    assert pause.every == pytest.approx(5e8 - 30**0.5 * 1e6, rel=1e-3)
    assert "pause.0.length" in open_numbers(device)
    assert bounds(device, "pause.0.length") == ("2000 us", "9000 us")


def test_the_page_counts_what_draws_hold() -> None:
    tails = [
        Tail(SETS[0], "randread", 1, "p99_9", 200.0, 100.0, (90.0, 210.0)),
        Tail(SETS[0], "randread", 4, "p99_9", 200.0, 400.0, (300.0, 500.0)),
    ]
    text = page(tails)
    assert "2 percentiles. 1 of them (50 %)" in text
    assert "| p99.9 of reads | 2 | 1.25 | 100 % | 1 |" in text
    rows = listing(tails).splitlines()
    assert len(rows) == 3 and rows[1].startswith("Intel S4610,sas2008,randread,1,p99.9,200,100,")


def test_an_interval_takes_its_spread_from_the_other_drives_alone() -> None:
    """By hand: the other drive is off by e, s = 1; the draws end 0.5 above: 1.96 and 0.5 as squares
    are 2.02, so 100 us reach up to 756 us."""
    judged = Tail(SETS[0], "randread", 1, "p99", 500.0, 100.0, (100.0, 100.0 * math.exp(0.5)))
    other = Tail(SETS[4], "randread", 1, "p99", 100.0 * math.e, 100.0, (90.0, 110.0))
    writes = Tail(SETS[4], "randwrite", 1, "p99", 9000.0, 100.0, (90.0, 110.0))
    found = widened([judged, other, writes])[0]
    assert found.drawn[0] == pytest.approx(100 * math.exp(-1.96))
    assert found.drawn[1] == pytest.approx(100 * math.exp(math.hypot(0.5, 1.96)))
    assert found.is_within and not judged.is_within
