"""Tables and virtual disks against closed forms, and what their files may not say."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

TABLE = """
kind = "table"
name = "mine"
capacity = "100 GB"
{rows}
[sources]
all = "measured"
"""
ROWS = """
[[read]]
block = "4 KiB"
outstanding = 1
mean = "100 us"
latencies = ["50 us", "80 us", "120 us", "400 us", "900 us", "1 ms"]
[[read]]
block = "4 KiB"
outstanding = 4
mean = "400 us"
[[read]]
block = "12 KiB"
outstanding = 1
mean = "300 us"
"""
SERVED = """read = "10 us"
write = "20 us"
read_mib = "640 us"
write_mib = "640 us\""""
DISK = """
kind = "volume"
name = "mine"
capacity = "100 GB"
[server]
read = "10 us"
write = "20 us"
read_mib = "640 us"
write_mib = "640 us"
spread = {spread}
continued_read = 0.25
[latency]
read = "90 us"
write = "90 us"
floor = 1.0
[sources]
all = "assumed"
"""


@pytest.fixture
def measured(tmp_path):
    """The row of a load on a device behind a host that takes no time."""

    def run(text, rw="randread", outstanding=1, block="4 KiB", **load):
        (tmp_path / "mine.toml").write_text(text)
        (tmp_path / "host.toml").write_text(
            'kind = "host"\nname = "none"\nclock = "1 GHz"\nthreads = 64\nsubmit = "0 us"\n'
            'complete = "0 us"\nraid_command = "0 us"\n[sources]\nall = "assumed"\n'
        )
        tree = {
            "host": {"model": str(tmp_path / "host.toml")},
            "array": [{"drives": [{"model": str(tmp_path / "mine.toml")}]}],
            "workload": [{"rw": rw, "block_size": block, "outstanding": outstanding} | load],
            "run": {"warm_up": "200 ms", "duration": "2 s"},
        }
        result = simulate(build_scenario(tree))
        row = result.results[0]
        assert not result.breaches
        return row

    return run


@pytest.mark.parametrize(
    ("outstanding", "block", "rate"),
    [
        (1, "4 KiB", 10_000),
        (2, "4 KiB", 10_000),  # half-way 200 us
        (8, "4 KiB", 10_000),  # beyond the last row the rate stays
        (1, "8 KiB", 5000),  # half-way between two sizes
        (1, "20 KiB", 2000),  # beyond the largest as between the two largest
    ],
)
def test_a_table_gives_its_own_rates(measured, outstanding, block, rate):
    row = measured(TABLE.format(rows=ROWS), outstanding=outstanding, block=block)
    assert row["iops"] == pytest.approx(rate, rel=0.02)


def test_a_table_has_its_shape(measured):
    """Straight between 50, 80, 120, 400, 900 and 1000 us, the mean is 99.3: scaled to 100."""
    area = 0.5 * 65 + 0.4 * 100 + 0.09 * 260 + 0.009 * 650 + 0.001 * 950
    latency = measured(TABLE.format(rows=ROWS))["latency_us"]
    assert latency["mean"] == pytest.approx(100, rel=0.02)
    assert latency["p50"] == pytest.approx(80 * 100 / area, rel=0.03)
    assert latency["p99"] == pytest.approx(400 * 100 / area, rel=0.1)


@pytest.mark.parametrize(
    ("load", "rate"),
    [
        ({"outstanding": 1}, 1e6 / 102.5),  # 10 us, 2.5 us of bytes, 90 us
        ({"outstanding": 64}, 1e6 / 12.5),
        ({"outstanding": 64, "block": "64 KiB"}, 1e6 / 50),
        ({"outstanding": 64, "block": "64 KiB", "rw": "read"}, 1e6 / 12.5),  # a quarter of 50 us
        ({"outstanding": 64, "block": "64 KiB", "rw": "randwrite"}, 1e6 / 60),
    ],
)
def test_a_virtual_disk_is_a_server_and_a_latency(measured, load, rate):
    assert measured(DISK.format(spread=0.0), **load)["iops"] == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize(("apart", "rate"), [("false", 2e6 / 110), ("true", 2e6 / 60)])
def test_servers_a_direction_work_beside_each_other(measured, apart, rate):
    """64 KiB: a read takes 50 us of a server, a write 60: both together, or each by itself."""
    text = DISK.format(spread=0.0).replace("continued_read = 0.25", f"apart = {apart}")
    load = {"outstanding": 256, "block": "64 KiB", "rw": "randrw", "read_share": 0.5}
    assert measured(text, **load)["iops"] == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize(
    ("outstanding", "rate"),
    [
        (16, 1e6 / 50),  # 1 MiB in flight: all in the cache
        (128, 1e6 / 90),  # 8 MiB, half of them outside: 10 us + 40 us * (1 + 2 / 2)
    ],
)
def test_bytes_beyond_the_cpu_cache_take_longer(measured, outstanding, rate):
    """64 KiB: 10 us, and 40 us of bytes; those outside a cache of 4 MiB take 3 times as long."""
    text = DISK.format(spread=0.0).replace(
        "continued_read = 0.25", 'cache = "4 MiB"\nuncached = 3.0'
    )
    found = measured(text, outstanding=outstanding, block="64 KiB")["iops"]
    assert found == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize(("shared", "rate"), [(1.0, 10_000), (0.0, 20_000)])
def test_directions_of_a_table_wait_for_each_other_as_it_says(measured, shared, rate):
    """10,000 a second of reads, and of writes: together as many, or each as many."""
    rows = ROWS + ROWS.replace("read", "write")
    text = TABLE.format(rows=f"shared = {shared}\n{rows}")
    found = measured(text, outstanding=64, rw="randrw", read_share=0.5)["iops"]
    assert found == pytest.approx(rate, rel=0.03)


def test_exponential_times_are_the_machine_repairmans(measured):
    """Two I/Os, 12.5 us, 90 us elsewhere: a = 7.2, B = 25.92 / (1 + 7.2 + 25.92)."""
    found = measured(DISK.format(spread=1.0), outstanding=2)["iops"]
    assert found == pytest.approx((1 - 25.92 / 34.12) / 12.5e-6, rel=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.format(rows=""), "read: a row"),
        (TABLE.format(rows=ROWS + ROWS), "read.3.outstanding = 1: a block and a number"),
        (TABLE.format(rows=ROWS.replace('"80 us"', '"40 us"')), "durations that rise"),
        (TABLE.format(rows=ROWS.replace('"80 us", ', "")), "6 of them"),
        (DISK.format(spread=0.0).replace(SERVED, "servers = 2"), "server.read: a time"),
        (DISK.format(spread=1.5), "server.spread"),
        (DISK.format(spread=0.0).replace("spread", 'cache = "1 MiB"\nspread'), "server.uncached"),
    ],
)
def test_what_cannot_be_is_refused(measured, text, words):
    with pytest.raises(SpecError, match=words):
        measured(text)
