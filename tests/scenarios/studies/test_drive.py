"""A drive's page: what a reviewer would draw, with what its maker states in its place."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.catalogue import find, load_device
from raidlab.devices.faults import SpecError
from raidlab.scenarios.report.studies.drive import answer, report
from raidlab.scenarios.studies.drive import Drive, measure

SMALL = """
kind = "ssd"
name = "small"
title = "A small drive"
like = "pm9a3-960"
capacity = { value = "80 GB", source = "assumed" }

[nand]
pages_per_block = { value = 112, source = "assumed" }
erase = { value = "0.67 ms", source = "assumed" }
"""


@pytest.fixture(scope="module")
def ssd(tmp_path_factory: pytest.TempPathFactory) -> Drive:
    path = tmp_path_factory.mktemp("drive") / "small.toml"
    path.write_text(SMALL)
    return measure(load_device(path))


@pytest.fixture(scope="module")
def disk() -> Drive:
    return measure(find("exos-x24-sas"))


def test_an_ssd_is_measured_at_what_its_maker_states(ssd: Drive) -> None:
    found = {each.quantity: each.error_pct for each in ssd.stated()}
    assert set(found) == {"sequential_read", "sequential_write", "random_read", "random_write"}
    # A twelfth of the pages a block, with as many dies: rates are the larger drive's.
    # An equal buffer is a larger share of the drive, and absorbs more of its writes.
    for key, error in found.items():
        assert error == pytest.approx(0, abs=5 if key == "random_write" else 2), key


def test_a_read_at_depth_one_is_the_inverse_of_its_latency(ssd: Drive) -> None:
    point = ssd.at("depth", "random reads", 1)
    assert point is not None
    assert point.iops * point.latency_us("read") == pytest.approx(1e6, rel=0.01)


def test_a_new_drive_writes_at_the_rate_of_its_dies_and_then_falls(ssd: Drive) -> None:
    """1,500 MB/s are 366,000 units of 4 KiB a second until no block is free any more."""
    (written,) = ssd.of("written").values()
    assert written[0].iops == pytest.approx(366_000, rel=0.05)
    steady = ssd.at("depth", "random writes", ssd.depth)
    assert steady is not None
    assert written[-1].iops == pytest.approx(steady.iops, rel=0.1)
    assert written[-1].iops < 0.5 * written[0].iops


def test_mixtures_lie_between_writes_and_reads(ssd: Drive) -> None:
    (mixed,) = ssd.of("mixed").values()
    assert [point.x for point in mixed] == sorted(point.x for point in mixed)
    for point in mixed:
        assert point.row["read"]["iops"] == pytest.approx(point.x * point.iops, rel=0.05, abs=50)


def test_a_disk_is_fast_at_its_outer_edge(disk: Drive) -> None:
    (stated,) = disk.stated()
    assert (stated.quantity, stated.stated) == ("sustained_rate", 285e6)
    assert stated.error_pct == pytest.approx(0, abs=1)
    (places,) = disk.of("place").values()
    # The catalogue's ratio of inner to outer tracks.
    assert places[-1].mb_per_s / places[0].mb_per_s == pytest.approx(0.49, abs=0.03)
    assert not disk.of("written")


def test_a_page_says_it_in_a_sentence_and_six_pictures_at_most(ssd: Drive, disk: Drive) -> None:
    for drive, pictures in ((ssd, 5), (disk, 5)):
        page = report(drive).html("raidlab devices x --html page.html")
        assert page == report(drive).html("raidlab devices x --html page.html")
        assert len(page.encode()) < 1_500_000
        assert len(re.findall("<figure", page)) == pictures
        assert answer(drive).split(";")[0] in page.replace("\u00a0", " ")
        assert "http" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert "sustained_rate, stated" in report(disk).html()
    assert "latency, ms" in report(disk).html() and "latency, us" in report(ssd).html()
    assert "The one stated figure comes out" in answer(disk)


def test_the_command_writes_the_page_and_its_figures(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = CliRunner().invoke(app, ["devices", "exos-x24-sas", "--html", str(page), "--json"])
    assert run.exit_code == 0, run.stderr
    measured = json.loads(run.stdout)["measured"]
    assert {point["panel"] for point in measured["points"]} == {
        "depth", "block", "latency", "place", "mixed",
    }  # fmt: skip
    assert "measured in" in run.stderr
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lsi2008"], "lsi2008 is of kind controller: a page is of a disk or an SSD"),
        (["--kind", "ssd"], "one device to draw: raidlab devices NAME --html FILE"),
        (["no-such-drive"], "NAME"),
    ],
)
def test_what_has_no_page_is_a_fault(tmp_path: Path, arguments: list[str], said: str) -> None:
    page = tmp_path / "page.html"
    run = CliRunner().invoke(app, ["devices", *arguments, "--html", str(page)])
    assert run.exit_code == 2
    assert said in run.stderr
    assert not page.exists()


def test_a_host_cannot_be_measured() -> None:
    with pytest.raises(SpecError, match="of kind host"):
        measure(find("nvme"))
