"""The answers in docs/course are those of the engine, and of the closed forms beside them."""

from __future__ import annotations

import math
from functools import cache

import pytest

from tests.figures import result_of
from tests.project.sources import ROOT

TOLERANCE = 0.03


def simulate(drives, workload, run, **rest):
    array = {"drives": [drives], **rest.pop("array", {})}
    return result_of({"array": [array], "workload": [workload], "run": run, **rest}).rows


READS = {"rw": "randread", "block_size": "4 KiB", "align": "4 KiB"}


@pytest.mark.parametrize(
    ("model", "closed_us", "run_us"),
    [("generic-15000rpm", 5086, 5054), ("generic-7200rpm", 13062, 12890)],
)
def test_one_read_on_a_disk(model, closed_us, run_us):
    (row,) = simulate({"model": model}, READS, {"warm_up": "1 s", "duration": "200 s"})
    assert row.latency_us.mean == pytest.approx(run_us, rel=0.01)
    assert row.latency_us.mean == pytest.approx(closed_us, rel=TOLERANCE)


def test_the_host_alone():
    load = READS | {"outstanding": 32}
    run = {"warm_up": "1 ms", "duration": "20 ms"}
    (row,) = simulate({"model": "null"}, load, run, host={"model": "rx300-s7"})
    assert row.iops == pytest.approx(1e6 / 5.01, rel=0.001)
    assert row.latency_us.mean == pytest.approx(32 * 5.01, rel=0.001)


def test_open_loads():
    run = {"warm_up": "10 s", "duration": "1000 s"}
    load = READS | {"rate": "160 IO/s"}
    (even,) = simulate({"model": "five"}, load, run)
    assert even.latency_us.mean == pytest.approx(15_000, rel=TOLERANCE)
    (row,) = simulate({"model": "fivex"}, load, run)
    low, high = row.latency_ci95_us["mean"]
    assert low * 0.97 < 25_000 < high * 1.03
    assert row.latency_us.p99 == pytest.approx(25_000 * math.log(100), rel=0.12)


def mva(depth, service, think):
    queue = rate = 0.0
    for n in range(1, depth + 1):
        response = service * (1 + queue)
        rate = n / (response + think)
        queue = rate * response
    return rate


def test_think_time():
    load = READS | {"outstanding": [1, 2, 5, 10], "think_time": "20 ms", "think": "exponential"}
    rows = simulate({"model": "fivex"}, load, {"warm_up": "5 s", "duration": "500 s"})
    for row, written in zip(rows, (40.0, 76.9, 160.2, 198.9), strict=True):
        assert mva(row.outstanding, 0.005, 0.020) == pytest.approx(written, rel=0.002)
        assert row.iops == pytest.approx(written, rel=TOLERANCE)


STRIPE = {"level": "raid0", "software_raid": "os", "stripe_unit": "64 KiB"}


def test_balanced_drives():
    load = READS | {"outstanding": [1, 8, 32]}
    run = {"warm_up": "2 s", "duration": "100 s"}
    for row in simulate({"model": "fivex", "count": 8}, load, run, array=STRIPE):
        n = row.outstanding
        assert row.iops == pytest.approx(n / (n + 7) * 1600, rel=TOLERANCE)


def test_fan_out():
    load = {"rw": "randread", "block_size": "512 KiB", "align": "512 KiB"}
    run = {"warm_up": "1 s", "duration": "300 s"}
    (row,) = simulate({"model": "fivex", "count": 8}, load, run, array=STRIPE)
    closed = 5000 * sum(1 / k for k in range(1, 9))
    assert closed == pytest.approx(13_590, rel=0.001)
    assert row.latency_us.mean == pytest.approx(closed, rel=TOLERANCE)
    p99 = -5000 * math.log(1 - 0.99 ** (1 / 8))
    assert p99 == pytest.approx(33_400, rel=0.002)
    assert row.latency_us.p99 == pytest.approx(p99, rel=0.05)


@cache
def small_ios(level, reads, depth):
    load = {"rw": "randrw", "read_share": f"{reads} %", "block_size": "4 KiB", "align": "4 KiB"}
    run = {"warm_up": "5 s", "duration": "40 s"}
    array = {"level": level, "software_raid": "os"}
    load["outstanding"] = depth
    (row,) = simulate({"model": "five", "count": 8}, load, run, array=array)
    return row


@pytest.mark.parametrize(
    ("level", "k", "writes", "mixed", "alone_ms"),
    [
        ("raid0", 1, 1600, 1600, 5),
        ("raid10", 2, 800, 1231, 5),
        ("raid5", 4, 400, 842, 10),
        ("raid6", 6, 267, 640, 10),
    ],
)
def test_the_table_of_levels(level, k, writes, mixed, alone_ms):
    for reads, written in ((0, writes), (70, mixed)):
        share = reads / 100
        assert 1600 / (share + k * (1 - share)) == pytest.approx(written, rel=0.002)
        assert 0.965 * written < small_ios(level, reads, 256).iops <= 1.001 * written
    assert small_ios(level, 0, 1).latency_us.mean == pytest.approx(1000 * alone_ms, rel=0.01)


def test_a_filled_drive_is_as_fast_as_a_fresh_one_at_first():
    load = {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}
    rates = [
        simulate(
            {"model": "p3700-800"},
            load,
            {"warm_up": "10 ms", "duration": "50 ms", "precondition": state},
        )[0].iops
        for state in ("fresh", "filled")
    ]
    assert rates == [pytest.approx(222_222, rel=0.002)] * 2


def test_compression_saves_more_than_the_data_shrink():
    load = {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}
    run = {"warm_up": "100 ms", "duration": "500 ms", "precondition": "steady-state"}
    drive = {"model": "sandforce-1222-64gb"}
    for shrink, written in ((0, 2.0), (25, 1.82), (50, 1.04), (75, 0.41), (90, 0.17)):
        (row,) = simulate(drive, load | {"compressible": f"{shrink} %"}, run)
        assert row.write_amplification == pytest.approx(written, rel=TOLERANCE)


def test_the_fits_of_the_own_disk():
    pytest.importorskip("marimo")
    pytest.importorskip("anywidget")
    from raidlab.notebooks.frame import catalogue

    room = catalogue.room("own-disk")
    written = {"least": (4.8, 209, 83), "ends": (2.3, 66, 73), "all": (5.6, None, None)}
    for seen, (own, unseen, lines) in written.items():
        found = room.at(seen=seen)
        assert found["seen"] == pytest.approx(own, abs=0.05)
        for key, value in (("unseen", unseen), ("lines", lines)):
            assert found[key] == (value and pytest.approx(value, abs=0.5))
    rates = [64 * 1024 * iops / 1e9 for iops in (20_709, 28_518, 19_415)]
    assert rates == pytest.approx([1.357, 1.869, 1.272], abs=5e-4)


def test_what_a_power_failure_leaves():
    pytest.importorskip("marimo")
    pytest.importorskip("anywidget")
    from raidlab.notebooks.frame import catalogue

    room = catalogue.room("battery")
    assert 20_000 < room.at()["lost"] < 98_304 and room.at()["corrupt"] <= 16
    through, kept = room.at(policy="write-through"), room.at(backup="fbu")
    assert through["lost"] == 0 and 1 <= through["corrupt"] <= 16
    assert kept["lost"] == kept["corrupt"] == 0
    cached = room.at(backup="fbu", caches="on")
    assert cached["lost"] > 0 and cached["corrupt"] > 16


def test_the_margin_covers_what_was_predicted():
    """Of the room `plan`: docs/evidence/validation.md has the error of predicted figures."""
    pytest.importorskip("marimo")
    pytest.importorskip("anywidget")
    from raidlab.notebooks.plan import MARGIN

    page = (ROOT / "docs" / "evidence" / "validation.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| predicted |"))
    assert 10 < float(row.split("|")[5]) <= MARGIN


def oldest_block(rho):
    valid = 0.5
    for _ in range(3000):
        valid = math.exp(-(1 - valid) / rho)
    return 1 / (1 - valid)


def test_the_closed_forms_are_computed_right():
    written = ((0.75, 2.20, 4.0), (0.80, 2.69, 5.0), (0.875, 4.18, 8.0), (0.93, 7.32, 14.3))
    for rho, oldest, chance in written:
        assert oldest_block(rho) == pytest.approx(oldest, rel=0.002)
        assert 1 / (1 - rho) == pytest.approx(chance, rel=0.002)
    saved = [c**3 * (3 - 2 * c) for c in (0.25, 0.5, 0.75, 0.9)]
    assert saved == pytest.approx([0.039, 0.25, 0.633, 0.875], rel=0.002)
    assert [round(3000 / waf) for waf in (3.7, 1.7)] == [811, 1765]
    assert pytest.approx(8.05, rel=0.001) == 0.75 * 2**30 / 100e6
    assert 1 - math.exp(-7 * 8e12 * 8 / 1e15) == pytest.approx(0.36, abs=0.002)
    assert 1 - math.exp(-2.67) * (1 + 2.67 + 2.67**2 / 2) == pytest.approx(0.5, abs=0.002)
    assert [round(2200 / 0.75 * k / 400, 1) for k in (1.33, 2.65)] == [9.8, 19.4]
