"""What a flush and a write with FUA take where no sheet says it, and how both are drawn."""

from __future__ import annotations

import statistics
from math import exp, log, sqrt
from pathlib import Path

import pytest

from raidlab.devices.catalogue import find, load_device
from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.flash_device import _behind
from raidlab.devices.datasheet.priors import FLUSH_MS, FLUSHES_MS, FUA_OVER_FLUSH, Prior
from raidlab.devices.draws import drawn
from raidlab.devices.ssd import SsdSpec


def test_draws_of_a_flush_have_the_interval_of_a_tenth_drive() -> None:
    """By hand: logarithms of nine drives have a deviation of 0.615; t = 2.306 of eight degrees of
    freedom: 1.37 ms * exp(± 2.306 * 0.615 * sqrt(10 / 9)) = 0.31 to 6.1 ms."""
    ends = []
    for bound in (FLUSH_MS.low, FLUSH_MS.high):
        # Of a right triangle with half of all draws, 5 % are beyond a share of sqrt(0.05).
        ends.append(FLUSH_MS.best * (bound / FLUSH_MS.best) ** (1 - sqrt(0.05)))
    assert FLUSH_MS.best == pytest.approx(1.37, abs=0.01)
    assert ends == pytest.approx([0.31, 6.1], rel=0.02)


def test_a_drive_left_out_lies_within_the_others_interval_but_for_one_of_nine() -> None:
    out = []
    for drive, ms in FLUSHES_MS.items():
        logs = [log(value) for other, value in FLUSHES_MS.items() if other != drive]
        wide = 2.365 * statistics.stdev(logs) * sqrt(1 + 1 / 8)
        if abs(log(ms) - statistics.fmean(logs)) > wide:
            out.append(drive)
    assert out == ["KC3000"]


def test_widths_of_a_product_add_as_squares() -> None:
    """Factors of exp(3) and exp(4) either way: the product's is exp(5), correlated by 3 / 5."""
    one = Prior(2 * exp(-3), 2, 2 * exp(3), "one")
    other = Prior(5 * exp(-4), 5, 5 * exp(4), "other")
    both = one.times(other)
    assert both == Prior(*(pytest.approx(10 * exp(by)) for by in (-5, 0, 5)), "other")
    assert one.shared_with(other) == pytest.approx(0.6)


def test_a_quarter_of_what_is_left_behind_a_program_is_that_of_the_times() -> None:
    """Times from 0.25 to 4 ms around 1 ms: a quarter of the draws is below 0.25 ** 0.293 ms, 0.666.
    A program of 266 us leaves 734 and, of that quarter, 400 us."""
    left = _behind(Prior(0.25, 1.0, 4.0, "x"), 266.0, "less its program")
    assert (left.best, left.high) == (734, 3734)
    assert left.best * (left.low / left.best) ** (1 - sqrt(0.5)) == pytest.approx(400, rel=0.01)
    # A program as long as the usual time leaves nothing to draw below.
    assert _behind(Prior(0.25, 1.0, 4.0, "x"), 1000.0, "less its program").low == 0.0


def test_a_drive_slow_at_flushes_is_slow_at_fua() -> None:
    """Widths 1.92 and 0.46 of the logarithms' half ranges: a correlation of 0.97."""
    assert FLUSH_MS.shared_with(FUA_OVER_FLUSH) == pytest.approx(0.97, abs=0.005)
    device = find("generic-nvme-gen4-tlc-client")
    specs = [drawn(device, at).spec for at in range(60)]
    pairs = [
        (log(spec.firmware.flush), log(spec.firmware.fua))
        for spec in specs
        if isinstance(spec, SsdSpec) and spec.firmware.fua
    ]
    assert len(pairs) == 60
    assert statistics.correlation(*zip(*pairs, strict=True)) > 0.9


def test_a_flush_of_a_client_class_programs_pages_of_its_cache() -> None:
    """All members have an SLC cache: the class has one, and a flush is no program of TLC."""
    spec = find("generic-nvme-gen4-tlc-client").spec
    assert isinstance(spec, SsdSpec) and spec.nand.slc_cache is not None
    assert spec.nand.slc_cache.program < 1000 * priors.CELLS["tlc"].program_us.low


def test_a_file_that_changes_a_number_draws_it_by_itself(tmp_path: Path) -> None:
    """What a drive is `like` says that both go together; of a flush stated anew that is not so."""
    path = tmp_path / "quick.toml"
    path.write_text(
        'kind = "ssd"\nname = "quick"\ntitle = "Quick"\nlike = "generic-nvme-gen4-tlc-client"\n'
        '[firmware]\nflush = { value = "100 us", source = "measured" }\n'
    )
    assert not load_device(path).sources["firmware.fua"].correlations
