"""Rates over how far data can be compressed: one command for a drive or a scenario."""

import json

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.scenarios.studies.compression import LOADS, compressions

DRIVE = "sandforce-1222-64gb"
SCENARIO = """
title = "two loads"
[[array]]
name = "data"
drives = [{{ model = "{model}" }}]
[[workload]]
name = "log"
rw = "write"
block_size = "64 KiB"
area = "1 GB"
[[workload]]
name = "queries"
rw = "randread"
block_size = "4 KiB"
[run]
warm_up = "0 s"
duration = "20 ms"
"""


def command(*arguments: object):
    return CliRunner().invoke(app, ["compression", *map(str, arguments)])


def test_less_to_store_means_faster_writes_and_fewer_bytes_to_nand():
    curves = compressions(DRIVE, (0.98, 0.0, 0.5)).curves()
    assert list(curves) == list(LOADS)
    for points in curves.values():
        assert [point.compressible for point in points] == [0.0, 0.5, 0.98]
        rates = [point.iops for point in points]
        assert rates == sorted(rates)
    writes = curves["random write 4 KiB"]
    nand = [point.nand_bytes_per_host_byte for point in writes]
    moved = [point.write_amplification for point in writes]
    assert writes[-1].iops > 2 * writes[0].iops
    assert nand == sorted(nand, reverse=True)
    assert moved[0] > 1.5 > moved[-1] >= 1
    # Bytes to NAND are the units that were written and moved, times what one of them occupies:
    # 1 - 0.95 x 0.5^3 x (3 - 2 x 0.5) at 50 %, the least share of 0.14 at 98 %.
    for point, stored in zip(writes, (1, 1 - 0.95 * 0.25, 0.14), strict=True):
        expected = stored * point.write_amplification
        assert point.nand_bytes_per_host_byte == pytest.approx(expected, rel=0.01)
    in_order = curves["sequential write 128 KiB"][0]
    assert (in_order.nand_bytes_per_host_byte, in_order.write_amplification) == (1, 1)
    assert curves["random read 4 KiB"][0].nand_bytes_per_host_byte is None


def test_a_scenario_s_own_loads_are_drawn(tmp_path):
    path, page = tmp_path / "s.toml", tmp_path / "s.html"
    path.write_text(SCENARIO.format(model=DRIVE))
    done = command(path, "--shares", "98,0", "--json", "--html", page)
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    found = {(point["load"], point["compressible"]) for point in document["points"]}
    assert found == {(load, share) for load in ("log", "queries") for share in (0.0, 0.98)}
    text = page.read_text()
    assert text.count('<div class="plot"') == 2
    assert "NAND bytes / host byte" in text
    # Equal seeds give equal bytes.
    assert command(path, "--shares", "0,98", "--json").stdout == done.stdout


def test_only_loads_on_drives_that_compress_are_given_compressible_data(tmp_path):
    """Beside a drive that does not compress, whose load stays as it is written."""
    text = SCENARIO.format(model=DRIVE).replace('name = "log"', 'name = "log"\ntarget = "data"')
    text = text.replace('name = "queries"', 'name = "queries"\ntarget = "other"')
    text = text.replace(
        "[[array]]", '[[array]]\nname = "other"\ndrives = [{ model = "p3700-800" }]\n[[array]]', 1
    )
    path = tmp_path / "s.toml"
    path.write_text(text)
    found = compressions(str(path), (0.0, 0.98)).curves()
    log, queries = ([point.iops for point in found[load]] for load in ("log", "queries"))
    assert log[1] > log[0]
    assert queries[1] == pytest.approx(queries[0], rel=0.05)


@pytest.mark.parametrize(
    ("target", "shares", "words"),
    [
        (DRIVE, "120", "percent from 0 to 100"),
        (DRIVE, "ten", "percent from 0 to 100"),
        ("p3700-800", "50", "a drive that compresses"),
        ("sandfroce-1222-64gb", "50", f'did you mean "{DRIVE}"'),
        ("nowhere.toml", "50", "nowhere.toml"),
    ],
)
def test_what_cannot_be_drawn_is_reported_with_exit_code_2(target, shares, words):
    done = command(target, "--shares", shares)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_a_scenario_without_a_drive_that_compresses_is_refused(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO.format(model="p3700-800"))
    done = command(path)
    assert done.exit_code == 2
    assert "a scenario with a drive that compresses" in " ".join(done.stderr.split())
