"""Writes in order on parity RAID in the host: the engine by ranges, and SimPy page by page."""

import pytest
import simpy

import raidlab
from tests.reference.md_pages import PagedArray, rate

MEMBER_NS, SUBMIT_NS = 100_000, 2000
STATION = f"""
kind = "station"
name = "members"
capacity = "1 TB"
service = "{MEMBER_NS} ns"
servers = 4096
[sources]
all = "assumed"
"""
HOST = """
kind = "host"
name = "paged"
clock = "3 GHz"
submit = "2 us"
complete = "0 us"
raid_command = "0 us"
stripe_page = "PAGE_NS ns"
[sources]
all = "assumed"
"""
KIB = 1024
WRITES = 600
"""Of the reference at least: one that is counted or not at the end is below 0.2 %."""
ROUNDS = 150
"""Times that each outstanding write is answered at least: what ends at once, a stripe of writes,
is below 0.7 % of them."""
LONGEST_NS = 60_000_000


def engine(tmp_path, columns, parities, unit, block, outstanding, page_ns):
    (tmp_path / "members.toml").write_text(STATION)
    (tmp_path / "host.toml").write_text(HOST.replace("PAGE_NS", str(page_ns)))
    drives = [{"model": str(tmp_path / "members.toml"), "count": columns + parities}]
    array = {
        "level": "raid5" if parities == 1 else "raid6",
        "stripe_unit": f"{unit} B",
        "software_raid": "os",
        "bitmap": "none",
        "drives": drives,
    }
    load = {"rw": "write", "block_size": f"{block} B", "outstanding": outstanding}
    scenario = {
        "host": {"model": str(tmp_path / "host.toml")},
        "array": [array],
        "workload": [load],
        "run": {"warm_up": "12 ms", "duration": "48 ms"},
    }
    return raidlab.simulate(scenario).rows[0].iops


@pytest.mark.parametrize(
    ("columns", "parities", "unit", "block", "outstanding"),
    [
        (4, 1, 64 * KIB, 64 * KIB, 1),
        (4, 1, 64 * KIB, 64 * KIB, 8),
        (4, 1, 64 * KIB, 64 * KIB, 32),
        (3, 1, 16 * KIB, 16 * KIB, 4),
        (4, 2, 64 * KIB, 64 * KIB, 16),
        (4, 1, 512 * KIB, 64 * KIB, 32),
        (4, 1, 512 * KIB, 4 * KIB, 16),
        (4, 1, 64 * KIB, 256 * KIB, 4),
        (4, 1, 64 * KIB, 128 * KIB, 8),
        (4, 1, 64 * KIB, 1024 * KIB, 2),
        (4, 1, 64 * KIB, 96 * KIB, 8),
        (4, 1, 64 * KIB, 40 * KIB, 16),
        (7, 1, 64 * KIB, 1024 * KIB, 4),
        (7, 1, 64 * KIB, 448 * KIB, 4),
        (7, 1, 64 * KIB, 64 * KIB, 64),
    ],
)
@pytest.mark.parametrize("page_ns", [100, 2200])
def test_writes_in_order(tmp_path, columns, parities, unit, block, outstanding, page_ns):
    """A thread with time to spare, and one that ends the rate."""
    found = engine(tmp_path, columns, parities, unit, block, outstanding, page_ns)
    lasts_ns = min(LONGEST_NS, round(1.25e9 * max(WRITES, ROUNDS * outstanding) / found))
    array = PagedArray(simpy.Environment(), columns, parities, unit // 4096, MEMBER_NS, page_ns)
    expected = rate(array, block, outstanding, SUBMIT_NS, lasts_ns)
    assert found == pytest.approx(expected, rel=0.015)


def test_a_job_decides_once_for_all_of_its_pages(tmp_path):
    """Blocks that end within units: pages of one job lack different units, and it reads more.

    While the thread has time to spare that makes no difference.
    """
    for page_ns, least in ((100, 0.99), (2200, 0.85)):
        array = PagedArray(simpy.Environment(), 7, 1, 128, MEMBER_NS, page_ns)
        expected = rate(array, 448 * KIB, 8, SUBMIT_NS, 60_000_000)
        found = engine(tmp_path, 7, 1, 512 * KIB, 448 * KIB, 8, page_ns)
        assert least <= found / expected <= 1.001
