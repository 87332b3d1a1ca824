"""fio's options: each is known once; values as fio reads them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidlab.scenarios.fio import values
from raidlab.scenarios.fio.values import OptionValueError, Share


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4096", 4096),
        ("4k", 4096),
        ("4kb", 4096),
        ("4kib", 4000),
        ("0x1000", 4096),
        ("1.5m", 3 << 19),
        ("(4*1024)", 4096),
        ("(2k+2k)", 4096),
        ("(1g/4)", 1 << 28),
        ("(2^10)", 1024),
    ],
)
def test_sizes(text: str, expected: int) -> None:
    assert values.size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4k", 4000), ("4kb", 4000), ("4kib", 4096), ("4ki", 4000), ("1MiB", 1 << 20)],
)
def test_with_decimal_units_binary_ones_have_names_of_their_own(text: str, expected: int) -> None:
    """Read off fio 3.33 with kb_base=1000."""
    assert values.size(text, 1000) == expected


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("30", "s", 30 * 10**9),
        ("30", "us", 30_000),
        ("2m", "s", 120 * 10**9),
        ("5ms", "s", 5 * 10**6),
        ("(60*5)", "s", 300 * 10**9),
    ],
)
def test_times(text: str, unit: str, expected: int) -> None:
    assert values.duration(text, unit) == expected


@pytest.mark.parametrize(
    ("text", "unit", "expected", "instead"),
    [
        # Read off fio 3.33: `runtime=1.5m` ends after a second.
        ("2.5", "s", 2 * 10**9, "2500ms"),
        ("2,5", "s", 2 * 10**9, "2500ms"),
        ("1.5m", "s", 10**9, "90s"),
        ("1.5ms", "us", 1_000, "1500us"),
        ("1.0m", "s", 10**9, "60s"),
    ],
)
def test_a_fraction_is_cut_as_fio_does_and_it_is_said(
    text: str, unit: str, expected: int, instead: str
) -> None:
    assert values.duration(text, unit) == expected
    said = values.cut(text, unit)
    assert said is not None and said.endswith(f": write {instead}")
    assert values.cut(instead, unit) is None


@pytest.mark.parametrize(("text", "instead"), [("0.5", "500ms"), ("0.5m", "30s"), ("0,1", "100ms")])
def test_a_fraction_of_which_nothing_is_left_is_refused(text: str, instead: str) -> None:
    with pytest.raises(OptionValueError, match=f"such as {instead}"):
        values.cut(text)


def test_a_whole_time_is_no_fraction() -> None:
    assert not any(values.cut(text) for text in ("30", "500ms", "0", "(60*5)", "x"))


@pytest.mark.parametrize(
    "text", ["", "x", "4q", "(1/0)", "(2^9999)", "(__import__)", "1" * 40 + "p"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(OptionValueError):
        values.size(text)


@pytest.mark.parametrize(
    "reader", [values.size, values.duration, values.number, values.size_or_share]
)
@pytest.mark.parametrize("text", ["9" * 5000, "9" * 400, "9" * 400 + "%", "0x" + "f" * 5000])
def test_a_number_of_hundreds_of_digits_is_none(reader: Callable[[str], object], text: str) -> None:
    with pytest.raises(OptionValueError):
        reader(text)


def test_shares_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert values.size_or_share("20%") == Share(20)
    with pytest.raises(OptionValueError):
        values.size_or_share("120%")
    monkeypatch.setenv("SIZE", "4k")
    assert values.expand("${SIZE},$pagesize", {"OTHER": "1"}) == "4k,4096"
    with pytest.raises(OptionValueError, match="a variable that is set"):
        values.expand("${NOT_THERE}")


def test_values_for_directions() -> None:
    assert values.by_direction("8k", ("4k",) * 3) == ("8k", "8k", "8k")
    assert values.by_direction("8k,32k", ("4k",) * 3) == ("8k", "32k", "32k")
    assert values.by_direction(",8k", ("4k",) * 3) == ("4k", "8k", "8k")
