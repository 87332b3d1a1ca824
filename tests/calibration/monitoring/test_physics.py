"""Little's law, rate times size, counters and times, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raidlab.calibration.monitoring import clock, physics
from raidlab.calibration.monitoring.counters import Counter, Snapshot, deltas, rates
from raidlab.calibration.monitoring.figures import figures
from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.numbers import plain, with_prefix, with_unit
from raidlab.calibration.monitoring.over_time import over_time
from raidlab.calibration.monitoring.samples import Array, Capture, Quantity, Series
from tests.calibration.monitoring.printed_more import iostat

Q = Quantity


def of(*values: float) -> Array:
    return np.array(values, dtype=np.float64)


def series(length: Array | None = None, **columns: Array) -> Series:
    count = len(next(iter(columns.values())))
    length = np.full(count, 10.0) if length is None else length
    at = np.cumsum(length)
    return Series(at, length, {Q[name]: column for name, column in columns.items()})


def test_the_queue_is_rate_times_wait() -> None:
    # 120/s x 0.8 ms + 300/s x 1.3 ms = 96 + 390 = 486 ms of requests in each second
    found = series(READS=of(120), WRITES=of(300), R_AWAIT=of(0.8), W_AWAIT=of(1.3))
    physics.complete("sda", found, Capture("x"))
    assert figures(found).aqu_sz == pytest.approx(0.486)
    assert figures(found).await_ms == pytest.approx(486 / 420)


def test_flushes_and_discards_count_in_the_queue() -> None:
    # 100 x 1 + 10 x 5 + 2 x 25 = 200 ms
    found = series(
        READS=of(100), WRITES=of(0), R_AWAIT=of(1), W_AWAIT=of(0),
        FLUSHES=of(10), F_AWAIT=of(5), DISCARDS=of(2), D_AWAIT=of(25),
    )  # fmt: skip
    physics.complete("sda", found, Capture("x"))
    assert figures(found).aqu_sz == pytest.approx(0.2)


def test_a_queue_that_contradicts_rate_and_wait_is_noted() -> None:
    capture = Capture("x")
    found = series(READS=of(100), WRITES=of(0), R_AWAIT=of(10), W_AWAIT=of(0), QUEUE=of(2))
    physics.complete("sda", found, capture)
    assert [note.code for note in capture.notes] == ["little"]
    assert figures(found).aqu_sz == 2


def test_bytes_a_thousandfold_are_replaced_by_rate_times_size() -> None:
    capture = Capture("x")
    found = series(WRITES=of(10), WRITE_SIZE=of(4096), WRITE_BYTES=of(40_960 * 2048))
    physics.complete("sda", found, capture)
    assert found.columns[Q.WRITE_BYTES][0] == 40_960
    assert [note.code for note in capture.notes] == ["rate-times-size"]


def test_a_long_sample_weighs_more_and_waits_weigh_by_requests() -> None:
    # (100 x 1 s + 400 x 3 s) / 4 s; waits: (100 x 1 + 1200 x 5) / 1300
    found = series(of(1, 3), READS=of(100, 400), R_AWAIT=of(1, 5))
    assert figures(found).read_iops_mean == 325
    assert figures(found).r_await_ms == pytest.approx(6100 / 1300)


def test_a_wrap_of_milliseconds_is_put_right_and_a_reset_is_left_out() -> None:
    capture = Capture("x")
    before = Snapshot(0.0, {Counter.READS: 1000, Counter.READ_MS: 2**32 - 400})
    after = Snapshot(10.0, {Counter.READS: 3000, Counter.READ_MS: 600})
    rises = deltas("sda", before, after, capture)
    assert rises == {Counter.READS: 2000, Counter.READ_MS: 1000}
    assert rates(rises, 10.0) == {Q.READS: 200, Q.R_AWAIT: 0.5}
    again = Snapshot(20.0, {Counter.READS: 10, Counter.READ_MS: 5})
    assert deltas("sda", after, again, capture) is None
    assert [note.code for note in capture.notes] == ["wrap", "reset"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("4,65", 4.65), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("200,000000", 200), ("6e+06", 6e6)],
)
def test_numbers_of_any_locale(text: str, value: float) -> None:
    assert plain(text) == value


def test_suffixes_are_those_of_their_tool() -> None:
    assert with_prefix("15.6M") == pytest.approx(15.6 * 1024 * 1024)
    assert with_unit("6.75 MB/s") == (6.75e6, "B/s")
    assert with_unit("3 MiB/s") == (3 * 1024 * 1024, "B/s")
    assert with_unit("1.25 K io/s") == (1250, "/s")
    assert with_unit("250 us") == (0.25, "ms")
    with pytest.raises(ValueError, match="unknown unit"):
        with_unit("3 apples")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("03/14/2024 11:59:30 AM", "2024-03-14T11:59:30"),
        ("03/14/2024 12:00:00 AM", "2024-03-14T00:00:00"),
        ("03/14/2024 12:00:01 PM", "2024-03-14T12:00:01"),
        ("18.01.2024 10:00:00", "2024-01-18T10:00:00"),
        ("2024-03-14T10:00:00+0100", "2024-03-14T10:00:00+01:00"),
        ("2024年03月14日 10時00分05秒", "2024-03-14T10:00:05"),
        ("Thu Mar 14 10:00:00 UTC 2024", "2024-03-14T10:00:00Z"),
        ("14-MAR-2024 23:59:20", "2024-03-14T23:59:20"),
    ],
)
def test_times_in_any_order(text: str, written: str) -> None:
    found = clock.parse(text)
    assert found is not None and clock.written(found.seconds, found.zone) == written


def test_the_order_of_a_date_follows_from_all_dates_of_a_file() -> None:
    assert clock.order_of(["03/04/24 10:00:00", "13/04/24 10:00:00"]) == (
        clock.Order.DAY_FIRST,
        True,
    )
    assert clock.order_of(["03/04/24"])[1] is False


def test_growth_is_the_slope_of_daily_means() -> None:
    # 28 days of hourly samples, 100 IO/s and 1 IO/s more each day: mean 113.5
    day = np.arange(28 * 24) // 24
    found = series(np.full(28 * 24, 3600.0), IOS=100.0 + day)
    growth = over_time(found).growth
    assert growth is not None
    assert growth.percent_per_month == pytest.approx(100 * 30.4375 / 113.5, rel=0.02)
    assert growth.low <= growth.percent_per_month <= growth.high


@pytest.mark.parametrize("begin", range(7))
def test_a_weekend_is_no_growth(begin: int) -> None:
    days = np.repeat(np.arange(14), 24)
    at = np.arange(1, 14 * 24 + 1) * 3600.0 + begin * 86_400.0
    weekend = (days + begin) % 7 >= 5
    rate = np.where(weekend, 25.0, 100.0) + 7.0 * (days >= 7)
    found = Series(at, np.full(len(at), 3600.0), {Quantity.IOS: rate})
    growth = over_time(found).growth
    assert growth is not None
    # 1 IO/s a day on a mean of (10 * 100 + 4 * 25) / 14 + 3.5.
    assert growth.percent_per_month == pytest.approx(100 * 30.4375 / (1100 / 14 + 3.5))
    assert growth.low == pytest.approx(growth.high)


def test_a_week_says_nothing_of_growth() -> None:
    at = np.arange(1, 8 * 24 + 1) * 3600.0
    found = Series(at, np.full(len(at), 3600.0), {Quantity.IOS: 100.0 + at / 3600.0})
    assert over_time(found).growth is None


def test_the_busiest_hour_and_the_pattern_of_a_day() -> None:
    hours = np.where(np.arange(48) % 24 == 9, 1000.0, 100.0)
    found = over_time(series(np.full(48, 3600.0), IOS=hours))
    assert found.busiest is not None and found.busiest[1] == 1000
    assert max(range(24), key=lambda at: found.by_hour[at] or 0) in (9, 10)


def test_a_clock_that_goes_back_changes_no_figure(tmp_path: Path) -> None:
    text = iostat(lambda t: t.strftime("%m/%d/%Y %H:%M:%S"))
    path = tmp_path / "iostat.txt"
    path.write_text(text)
    right = import_monitoring([path])
    # Set back by two hours behind the second of five samples.
    for second in (30, 40, 50):
        text = text.replace(f"10:00:{second}", f"08:00:{second}")
    path.write_text(text)
    found = import_monitoring([path])
    assert found.to_dict()["devices"] == right.to_dict()["devices"]
    assert "the clock went back by 7190 s" in " ".join(found.warnings)
    assert np.diff(found.capture.series["sda"].at).tolist() == [10.0] * 4


def test_a_clock_that_is_set_forward_is_said(tmp_path: Path) -> None:
    text = iostat(lambda t: t.strftime("%m/%d/%Y %H:%M:%S"))
    path = tmp_path / "iostat.txt"
    path.write_text(text.replace("10:00:40", "11:00:40").replace("10:00:50", "11:00:50"))
    said = " ".join(import_monitoring([path]).warnings)
    assert "2024-03-14T11:00:40: a report came up to 3610 s after the one before, for 10 s" in said
