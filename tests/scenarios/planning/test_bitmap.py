"""The write-intent bitmap of RAID in the host: who has one, and what it costs."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.bitmap import least_chunk
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.findings import Code

DRIVE = """
kind = "station"
name = "drive"
capacity = "8000 TB"
service = { value = "1 ms", source = "assumed", note = "for tests" }
[sources]
capacity = "assumed"
"""


def scenario(level="raid1", drive="generic-7200rpm", count=2, software="os", **keys):
    array = {"level": level, "drives": [{"model": drive, "count": count}], **keys}
    if software is not None:
        array["software_raid"] = software
    load = {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 1}
    return {"array": [array], "workload": [load], "run": {"duration": "5 s"}}


def about_bitmaps(tree):
    return [warning for warning in build_scenario(tree).warnings if "bitmap" in warning]


@pytest.mark.parametrize("level", ["raid1", "raid5"])
def test_an_array_of_large_members_that_says_nothing_of_a_bitmap_is_warned_of(level):
    said = about_bitmaps(scenario(level, count=4))
    assert len(said) == 1
    assert 'bitmap = "internal", or "none"' in said[0]


@pytest.mark.parametrize(
    "tree",
    [
        scenario(bitmap="none"),
        scenario(bitmap="internal"),
        scenario("raid0"),
        scenario(used="99 GB"),
    ],
)
def test_others_are_not(tree):
    assert not about_bitmaps(tree)


@pytest.mark.parametrize("write_cache", [True, False])
def test_the_plan_has_the_chunk_and_whether_caches_are_flushed(write_cache):
    tree = scenario(bitmap="internal", bitmap_chunk="1 GiB")
    tree["array"][0]["drives"][0]["write_cache"] = write_cache
    made = build_scenario(tree).plan(0, 0)["arrays"]
    assert made[0]["bitmap"] == {"chunk_bytes": 1 << 30, "flushes": write_cache}


@pytest.mark.parametrize(
    ("tree", "key"),
    [
        (scenario("raid0", bitmap="internal"), "bitmap"),
        (scenario("jbod", software=None, count=1, bitmap="internal"), "bitmap"),
        (scenario(bitmap="none", bitmap_chunk="1 GiB"), "bitmap_chunk"),
    ],
)
def test_a_bitmap_that_no_array_has_is_said(tree, key):
    assert any(f"{key}: has no effect" in warning for warning in about_bitmaps(tree))


def test_a_chunk_is_a_multiple_of_the_stripe_unit():
    tree = scenario(bitmap="internal", bitmap_chunk="32 MiB", stripe_unit="64 MiB")
    with pytest.raises(SpecError, match=r"bitmap_chunk = .*64 MiB"):
        build_scenario(tree)


@pytest.mark.parametrize("chunk", ["100 kB", "96 MiB"])
def test_a_chunk_is_a_power_of_two(chunk):
    with pytest.raises(SpecError, match=r"bitmap_chunk = .*a power of two"):
        build_scenario(scenario(bitmap="internal", bitmap_chunk=chunk))


def test_all_bits_have_room_on_the_members():
    """128 KiB less 256 B hold 1,046,528 bits: of 1 TiB at 1 MiB all, at 512 KiB half of them."""
    assert least_chunk(1 << 40, (1 << 40) - (3 << 30)) == 1 << 20
    assert least_chunk(1 << 40, 1 << 39) == 1 << 20
    assert least_chunk(1 << 40, 1 << 38) == 1 << 19
    with pytest.raises(SpecError, match=r"bitmap_chunk = .*at least 1 MiB"):
        build_scenario(scenario(bitmap="internal", bitmap_chunk="512 KiB", used="1 TB"))


def test_a_bit_stands_for_more_where_64_mib_would_be_too_many():
    """A mirror of 8,000 TB has 119 million regions of 64 MiB: 128 times too many."""
    chunk = least_chunk(8000 * 10**12, 8000 * 10**12)
    assert chunk == 8 << 30


def test_writes_to_regions_that_are_clear_wait_for_it(tmp_path):
    """A page in 1 ms, then the data in 1 ms; in one region for all only once."""
    drive = tmp_path / "drive.toml"
    drive.write_text(DRIVE)

    def iops(**keys):
        return simulate(scenario(drive=str(drive), **keys), seed=1).rows[0].iops

    assert iops(bitmap="none") == pytest.approx(1000, rel=0.01)
    assert iops(bitmap="internal") == pytest.approx(500, rel=0.02)
    assert iops(bitmap="internal", bitmap_chunk="8 PiB") == pytest.approx(1000, rel=0.01)


def said_of_waits(result):
    return [each for each in result.warnings_typed if each.code == Code.BITMAP_WAITS]


def test_how_long_writes_wait_for_the_bitmap_is_said(tmp_path):
    """A page in 1 ms, then the data in 1 ms: half of the time. In one region nobody waits."""
    drive = tmp_path / "drive.toml"
    drive.write_text(DRIVE)
    slow = simulate(scenario(drive=str(drive), bitmap="internal", name="mirror"), seed=1)
    (warning,) = said_of_waits(slow)
    assert warning.subject == "mirror"
    assert "of 2.00 ms on average" in warning.text
    (row,) = slow.results
    (bitmap,) = (each for each in row["components"] if each["kind"] == "bitmap")
    assert bitmap["utilization"] == pytest.approx(0.5, rel=0.02)
    for keys in ({"bitmap": "none"}, {"bitmap": "internal", "bitmap_chunk": "8 PiB"}):
        assert not said_of_waits(simulate(scenario(drive=str(drive), **keys), seed=1))
