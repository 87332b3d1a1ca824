"""Quantities: exact, with units that mean what they say."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from raidlab.devices import units


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (units.Duration, "2.9 ms", 2_900_000),
        (units.Duration, "0 ns", 0),
        (units.Duration, "1.5us", 1_500),
        (units.Duration, "3 µs", 3_000),
        (units.Duration, "2 min", 120 * 10**9),
        (units.Duration, "1e-3 s", 10**6),
        (units.Size, "64 KiB", 65_536),
        (units.Size, "64 kB", 64_000),
        (units.Size, "1 TB", 10**12),
        (units.Size, "1 TiB", 2**40),
        (units.Rate, "150 MB/s", 150 * 10**6),
        (units.Rate, "150 MiB/s", 150 * 2**20),
        (units.Rate, "8 Mb/s", 10**6),
        (units.BitRate, "6 Gb/s", 6 * 10**9),
        (units.TransferRate, "2.5 GT/s", 2_500_000_000),
        (units.Speed, "7200 rpm", 7200.0),
        (units.Frequency, "2.9 GHz", 2.9e9),
        (units.IoRate, "5 kIO/s", 5000.0),
        (units.Power, "1500 mW", 1.5),
        (units.Energy, "1 Wh", 3600.0),
        (units.Temperature, "40 degC", 40.0),
        (units.Temperature, "313.15 K", 40.0),
        (units.Temperature, "-5 °C", -5.0),
        (units.TemperatureStep, "5 K", 5.0),
        (units.Share, "67 %", 0.67),
        (units.Share, 0.67, 0.67),
    ],
)
def test_a_quantity_is_worth_its_base_units(kind, text, value):
    assert TypeAdapter(kind).validate_python(text) == value


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (units.Duration, 5),
        (units.Duration, 0),
        (units.Duration, True),
        (units.Duration, None),
        (units.Duration, "5"),
        (units.Duration, "5 MB"),
        (units.Duration, "5 MS"),
        (units.Duration, "ms"),
        (units.Duration, "-1 ms"),
        (units.Duration, "1 ms ms"),
        (units.Duration, "1,5 ms"),
        (units.Duration, "0.4 ns"),
        (units.Duration, "nan ms"),
        (units.Duration, "1e99 s"),
        (units.Size, "64 K"),
        (units.Size, "64 Kb"),
        (units.Size, "64 KB"),
        (units.Size, "1e30 TB"),
        (units.BitRate, "6 GB/s"),
        (units.Speed, "7200"),
        (units.Temperature, "40 C"),
        (units.Share, "167 %"),
        (units.Share, 1.5),
    ],
)
def test_anything_else_is_a_fault(kind, written):
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(written)


@pytest.mark.parametrize(
    ("dimension", "written", "meant"),
    [
        (units.SIZE, "4K", '"4 KiB" (1024) or "4 kB" (1000)'),
        (units.SIZE, "4 KB", '"4 KiB" (1024) or "4 kB" (1000)'),
        (units.SIZE, "4 kib", '"4 KiB"'),
        (units.SIZE, "4 M", '"4 MiB" or "4 MB"'),
        (units.DURATION, "10 mins", '"10 min"'),
        (units.DURATION, "5 MS", '"5 ms"'),
        (units.DURATION, "4,5 ms", '"4.5 ms"'),
        (units.IO_RATE, "5000 IOPS", '"5000 IO/s"'),
        (units.RATE, "100 MBps", '"100 MB/s"'),
        (units.RATE, "100 MB", '"100 MB/s"'),
        (units.BIT_RATE, "6 Gbps", '"6 Gb/s"'),
        (units.SPEED, "7200 RPM", '"7200 rpm"'),
        (units.TEMPERATURE, "40 C", '"40 degC"'),
    ],
)
def test_what_may_be_meant_is_said(dimension, written, meant):
    with pytest.raises(ValueError, match=re.escape(f"; did you mean {meant}?")):
        dimension.parse(written)


def test_a_comma_among_thousands_is_no_decimal_point():
    with pytest.raises(ValueError, match=r"write no comma: 1000 or 1\.0, not"):
        units.DURATION.parse("2,500 ms")
    with pytest.raises(ValueError, match=r"PiB\)$"):
        units.SIZE.parse("5 zz")


def test_the_fault_says_what_is_allowed():
    with pytest.raises(ValidationError, match=r'a unit is missing: a duration such as "2.9 ms"'):
        TypeAdapter(units.Duration).validate_python(5)


@pytest.mark.parametrize("share", ["167 %", "-1 %", 1.5, -0.1, "half"])
def test_a_share_that_is_none_is_reported_what_one_is(share):
    with pytest.raises(ValidationError, match='from 0 to 1, or from "0 %" to "100 %"'):
        TypeAdapter(units.Share).validate_python(share)


@given(st.integers(0, 2**50), st.sampled_from(list(units.SIZE.units)))
def test_sizes_are_exact(number, unit):
    exact = number * units.SIZE.units[unit]
    if exact < 2**63:
        assert units.SIZE.convert(f"{number} {unit}") == exact


@given(st.integers(0, 2**60))
def test_a_formatted_size_that_is_whole_reads_back(size):
    text = units.format_size(size)
    if "iB" in text or size < 1000:
        assert units.SIZE.convert(text) == size


@pytest.mark.parametrize("text", ["64 KiB", "1 TB", "441 GB", "512 B", "12 KiB"])
def test_a_size_is_formatted_as_people_write_it(text):
    assert units.format_size(units.SIZE.convert(text)) == text


@given(st.text(max_size=20))
def test_no_text_breaks_the_parser(text):
    for dimension in units.DIMENSIONS:
        try:
            value = dimension.convert(text)
        except ValueError:
            continue
        assert units.is_quantity(text)
        assert Fraction(value) is not None


def test_prefixes_are_reported_apart():
    assert units.SIZE.convert("1 GiB") / units.SIZE.convert("1 GB") == 1.073741824


@pytest.mark.parametrize(
    ("written", "bound", "shown"),
    [
        ("1 PB", 2**33, "8 GiB"), ("90 s", 10**9, "1 s"), ("1 ns", 6e10, "1 min"),
        ("1 rpm", 300, "300 rpm"), ("1 kB/s", 10**6, "1 MB/s"), ("200 degC", 85, "85 degC"),
        ("500 %", 1, "100 %"), ("no quantity", 3, None),
    ],
)  # fmt: skip
def test_bounds_are_shown_in_a_unit_of_what_was_written(written, bound, shown):
    assert units.bound_like(written, bound) == shown
