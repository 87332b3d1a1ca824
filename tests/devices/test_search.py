"""A planner finds devices by class, capacity and year, or learns what comes nearest."""

import json

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.catalogue import catalogue, find
from raidlab.devices.classes import class_of, hdd_class, ssd_class, year_of
from raidlab.devices.faults import SpecError
from raidlab.devices.search import Query, criteria, nearest


def found(**asked: str) -> set[str]:
    every = catalogue()
    wanted = criteria(Query(**asked), every)
    return {each.spec.name for each in every if all(one.fits(each) for one in wanted)}


@pytest.mark.parametrize(
    ("name", "of", "year"),
    [
        ("pm9a3-960", "nvme-gen4-tlc", 2020),
        ("980-pro-1000", "nvme-gen4-tlc-client", 2020),
        ("p5336-61440", "nvme-gen4-qlc", 2023),
        ("iodrive-320", "pcie-gen1-mlc", None),
        ("exos-x24-sas", "nl-sas", 2023),
        ("exos-x24-sata", "sata-hdd", 2023),
        ("generic-sas-10k", "sas-10k", None),
        ("lsi2208-1g-3.0", "raid-cache", None),
        ("lsi2008", "hba", None),
        ("nvme", "", None),
    ],
)
def test_classes_are_read_off_the_device(name: str, of: str, year: int | None) -> None:
    assert (class_of(find(name)), year_of(find(name))) == (of, year)


def test_classes_by_hand() -> None:
    assert ssd_class("sata-6g", "mlc", client=True) == "sata-mlc-client"
    assert [hdd_class("sas-12g", rpm) for rpm in (5400, 10_000, 10_500, 15_000)] == [
        "nl-sas", "sas-10k", "sas-10k", "sas-15k",
    ]  # fmt: skip


def test_a_planner_s_question() -> None:
    names = found(kind="nvme", min_capacity="3.8 TB")
    assert {"pm1733-3840", "micron-9550-max-12800", "generic-nvme-gen4-tlc"} <= names
    # Too small, not NVMe, not an SSD.
    assert not names & {"pm9a3-960", "s4500-1920", "pm1653-7680", "exos-x24-sas"}


def test_names_match_up_to_a_dash() -> None:
    assert found(kind="ssd", interface="pcie-4.0") == found(interface="pcie-4.0-x4")
    assert found(of="nvme-gen4-tlc") > found(of="nvme-gen4-tlc-client") > set()
    assert found(of="nl-sas", min_capacity="24 TB") == {
        "exos-x24-sas", "hc580-sas", "mg11-sas", "generic-nl-sas-24tb",
    }  # fmt: skip


def test_years_are_one_or_a_span() -> None:
    assert found(kind="hdd", year="2010") == {"mk3001grrb"}
    assert found(year="2024:") | found(year=":2023") == found(year="1990:2100")
    assert "p3700-800" not in found(year="1990:2100")


def test_what_names_nothing_is_said_at_once() -> None:
    asked = Query("nmve", "nvme-gen9", "tcl", "pcie4", "3.8 T", "0 TB", "20")
    with pytest.raises(SpecError) as raised:
        criteria(asked, catalogue())
    said = [str(fault) for fault in raised.value.faults]
    assert len(said) == 7
    assert 'did you mean "nvme"?' in said[0]
    assert 'did you mean "nvme-gen5"?' in said[1]
    assert "nvme-gen4-tlc, " in said[1]
    assert 'a size such as "3.84 TB"' in said[4]


def test_bounds_that_exclude_each_other_are_a_fault() -> None:
    with pytest.raises(SpecError, match="at least --min-capacity of 4 TB"):
        criteria(Query(min_capacity="4 TB", max_capacity="3 TB"), catalogue())
    with pytest.raises(SpecError, match="drives alone have a capacity"):
        criteria(Query(kind="host", min_capacity="4 TB"), catalogue())


def test_nothing_fits_and_the_nearest_is_named_with_what_it_misses() -> None:
    drives = [each for each in catalogue() if not each.spec.name.startswith("teaching-")]
    asked = criteria(Query(kind="nvme", cell="qlc", max_capacity="20 TB"), drives)
    (first, misses), *_ = nearest(drives, asked)
    assert (first.spec.name, misses) == ("generic-nvme-gen4-qlc", ["--max-capacity"])
    run = CliRunner().invoke(app, ["devices", "--cell", "qlc", "--max-capacity", "10 GB", "--json"])
    assert run.exit_code == 1
    assert json.loads(run.stdout)["devices"] == []
    assert "fits --cell qlc, --max-capacity 10 GB; nearest:" in run.stderr


def test_the_list_has_class_capacity_and_year_at_80_columns() -> None:
    run = CliRunner().invoke(app, ["devices", "--class", "nvme-gen4-tlc"], env={"COLUMNS": "80"})
    assert max(map(len, run.stdout.splitlines())) <= 80
    line = next(line for line in run.stdout.splitlines() if line.startswith("cd6-r-15360"))
    assert line.split()[1:5] == ["nvme-gen4-tlc", "15.36", "TB", "2020"]
