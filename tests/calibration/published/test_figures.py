"""Published figures: rows read whole, scenarios from columns alone, figures judged as promised."""

import csv
import json
from pathlib import Path

import pytest

from raidlab.calibration.published import figures as published
from raidlab.calibration.published import rules
from raidlab.calibration.published.figures import COLUMNS, figures_of, read_figures, read_published
from raidlab.calibration.published.validate import (
    Compared,
    Validation,
    judge,
    summarise,
    validate,
)
from raidlab.calibration.report.published import (
    answer,
    markdown_validation,
    report,
    uses_table,
)
from raidlab.calibration.report.published_listing import listed
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

ROW = {
    "source": "raid-controllers-2013", "id": "x-1", "controller": "lsi2008", "drive": "null",
    "count": "4", "level": "raid0", "raid_by": "controller", "load": "database",
    "outstanding": "max", "per": "system", "quantity": "iops", "relation": "=", "value": "1000",
}  # fmt: skip


@pytest.fixture
def figures(tmp_path):
    def read(*rows):
        path = tmp_path / "figures.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows([ROW | row for row in rows])
        return read_figures(path)

    return read


def tree_of(figure):
    return rules.scenario_tree(figure.configuration)


def test_every_row_of_the_reports_is_read():
    figures = read_published()
    written = [
        row["id"]
        for path in sorted(published.FOLDER.glob("*.csv"))
        for row in csv.DictReader(path.read_text().splitlines())
    ]
    assert sorted(figure.id for figure in figures) == sorted(written) == sorted(set(written))
    assert {figure.configuration.source for figure in figures} == set(published.shared()) - {
        "default"
    }


@pytest.mark.parametrize(
    ("count", "area"), [(1, "32 GB"), (8, "32 GB"), (9, "64 GB"), (16, "64 GB"), (17, "128 GB")]
)
def test_the_measurement_file_grows_with_the_drives(figures, count, area):
    (figure,) = figures({"count": str(count)})
    assert tree_of(figure)["workload"][0]["area"] == area


def test_a_cache_that_holds_writes_back_is_full_before_a_rate_counts(figures):
    row = {"controller": "lsi2208-1g", "drive": "sas-6g-hdd", "count": "8", "level": "raid5"}
    (figure,) = figures(row | {"outstanding": "64"})
    tree = tree_of(figure)

    def rate(warm_up_s):
        # 20,000 I/Os of a row have an interval of 4 %; these have one of 1.3 %.
        run = tree["run"] | {"warm_up": f"{warm_up_s} s", "duration": "80 s", "max_ios": 200_000}
        return simulate(build_scenario(tree | {"run": run}, Path("row"))).to_dict()["results"][0][
            "iops"
        ]

    warm_up_s = float(tree["run"]["warm_up"].removesuffix(" s"))
    full = rate(warm_up_s)
    assert full == pytest.approx(rate(2 * warm_up_s), rel=0.03)
    # Until then what is written need not go out, and parity seems to cost nothing.
    first = tree["run"] | {"warm_up": "1 s"}
    row = simulate(build_scenario(tree | {"run": first}, Path("row"))).to_dict()["results"][0]
    assert row["iops"] > 1.5 * full


def test_columns_become_a_scenario(figures):
    (figure,) = figures(
        {
            "source": "p3700", "controller": "", "raid_by": "os", "level": "raid1", "count": "2",
            "load": "rw=randrw rwmixread=70 bs=4k", "outstanding": "8", "per": "drive",
            "settings": "threads=4;cpu_ghz=1.6",
        }
    )  # fmt: skip
    tree = tree_of(figure)
    assert tree["host"] == {"model": "e5-2637-v3", "clock": "1.6 GHz"}
    assert "controller" not in tree
    (array,) = tree["array"]
    assert (array["level"], array["software_raid"]) == ("raid1", "os")
    (load,) = tree["workload"]
    assert (load["rw"], load["read_share"], load["block_size"]) == ("randrw", 0.7, "4096 B")
    assert (load["align"], load["threads"]) == ("4096 B", 4)
    assert (load["outstanding"], load["per"]) == (8, "drive")


def test_streams_find_what_random_writes_before_them_have_left() -> None:
    """In the order of the report: database, file server, file copy, then both streams."""
    figures = {figure.id: figure.configuration for figure in read_published()}

    def before(id: str) -> list[tuple[str, str]]:
        history = rules.scenario_tree(figures[id])["array"][0].get("history", [])
        return [(entry["rw"], entry["block_size"]) for entry in history]

    # Streaming, restore, and a load that leaves the same again itself.
    assert before("iodrive-038") == before("iodrive-050") == [("randwrite", "65536 B")]
    assert before("iodrive-026") == []


@pytest.mark.parametrize(
    ("drive", "level", "count", "held"),
    [
        ("iodrive-320", "single", "1", "320 GB"),
        ("iodrive-640", "single", "1", "320 GB"),
        ("iodrive-640", "raid0", "2", "640 GB"),
        ("iodrive-640", "raid1", "2", "320 GB"),
        ("sas2-ssd-400gb", "single", "1", "320 GB"),
    ],
)
def test_a_card_has_held_what_the_tests_of_its_report_wrote(figures, drive, level, count, held):
    (figure,) = figures({"source": "iodrive", "drive": drive, "level": level, "count": count})
    assert tree_of(figure)["run"]["filled"] == held


@pytest.mark.parametrize(
    ("word", "write"), [("write-back", "write-back"), ("write-through", "read"), ("read", "read")]
)
def test_a_tier_that_writes_go_through_only_reads(figures, word, write):
    (figure,) = figures(
        {
            "controller": "lsi2208-1g-3.0", "drive": "sas-6g-hdd", "level": "raid5", "count": "4",
            "settings": f"cache_tier=raid1 x2 sas-6g-ssd {word};hot_spot=64 GB",
        }
    )  # fmt: skip
    assert tree_of(figure)["array"][0]["cache_tier"]["write"] == write


@pytest.mark.parametrize("raid_by", ["os", ""])
def test_without_a_controller_the_system_makes_the_array(figures, raid_by):
    (figure,) = figures(
        {"drive": "p3700-800", "controller": "", "level": "raid0", "count": "2", "raid_by": raid_by}
    )
    assert tree_of(figure)["array"][0]["software_raid"] == "os"


def test_processes_have_partitions_of_their_own(figures):
    (figure,) = figures({"settings": "processes=4;areas=separate", "outstanding": "16"})
    loads = tree_of(figure)["workload"]
    assert [load["area_start"] for load in loads] == ["0 GB", "32 GB", "64 GB", "96 GB"]


def test_iozone_covers_a_file_once_through_the_page_cache(figures):
    (figure,) = figures({"settings": "tool=iozone", "load": "rw=randread bs=4k"})
    tree = tree_of(figure)
    assert (tree["workload"][0]["buffered"], tree["workload"][0]["passes"]) == (True, 1)
    assert "max_ios" not in tree["run"]
    (figure,) = figures({"settings": "tool=bonnie"})
    with pytest.raises(ValueError, match="tool=bonnie: iozone"):
        tree_of(figure)


def test_the_id_and_the_value_play_no_part(figures):
    first, second = figures({}, {"id": "x-2", "value": "1", "note": "else", "ref": "there"})
    assert tree_of(first) == tree_of(second)


def test_a_baseline_overrides_and_removes(figures):
    (figure,) = figures(
        {
            "quantity": "ratio", "settings": "read_ahead=none;threads=4",
            "baseline": "controller=;count=1;level=single;threads=;cpu_ghz=2",
        }
    )  # fmt: skip
    base = figure.baseline
    assert (base.controller, base.count, base.level) == ("", 1, "single")
    assert base.settings == {"read_ahead": "none", "cpu_ghz": "2"}
    assert figure.configuration.settings == {"read_ahead": "none", "threads": "4"}


def test_settings_that_are_not_known_cost_their_row_alone(figures):
    rows = figures(
        {"settings": "colour=red;thread=4"},
        {"quantity": "ratio", "baseline": "colour=red"},
        {"quantity": "ratio", "baseline": "thread="},
        {"outstanding": "1"},
    )
    shown = validate(rows).rows
    assert [row.simulated is None for row in shown] == [True, True, True, False]
    assert "colour" in shown[0].why_not and 'did you mean "threads"' in shown[0].why_not
    assert shown[1].why_not.startswith("baseline: settings") and "colour" in shown[1].why_not
    assert "thread" in shown[2].why_not
    assert not any(row.held for row in shown[:3])


def test_a_file_without_a_figure_is_at_fault(figures):
    with pytest.raises(SpecError, match="at least one figure"):
        figures()


def test_one_figure_is_chosen_by_its_id_or_a_report_by_its_name():
    assert [each.id for each in figures_of("iodrive-147", read_published())] == ["iodrive-147"]
    assert [each.value for each in figures_of("p320h", read_published())] == [758, 1357, 1817]


@pytest.mark.parametrize(
    ("name", "near", "meant"),
    [
        ("iodrive-148", "iodrive-147, iodrive-146, iodrive-145", "iodrive-147"),
        ("p320h_003", "p320h-003, ", "p320h-003"),
        ("iodriv", "iodrive-", "iodrive"),
    ],
)
def test_what_is_neither_report_nor_figure_is_answered_with_the_nearest(name, near, meant):
    """Figures 148 to 156 of the ioDrive's report are not in the table."""
    with pytest.raises(SpecError) as caught:
        figures_of(name, read_published())
    (fault,) = caught.value.faults
    assert f"or the id of a figure, such as {near}" in fault.allowed
    assert (fault.key, fault.value, fault.nearest) == ("SOURCE", name, meant)


def test_figures_of_drives_that_there_are_none_of(figures):
    rows = figures({}, {"drive": "p3700-800"})
    assert list(published.figures_of_drives("p3700", rows)) == rows[1:]
    with pytest.raises(SpecError, match="part of one of null, p3700-800"):
        list(published.figures_of_drives("p4800", rows))


def test_every_fault_of_a_file_is_reported(figures):
    with pytest.raises(SpecError) as caught:
        figures(
            {"relation": "!="},
            {"value": "many", "settings": "colour"},
            {"quantity": "ratio"},
            {"count": "0", "outstanding": "most"},
            {"relation": "range"},
            {"relation": "range", "value": "2", "high": "1"},
        )
    keys = [fault.key for fault in caught.value.faults]
    assert keys == [
        "line 2: relation", "line 3: settings", "line 3: value", "line 4: baseline",
        "line 5: count", "line 5: outstanding", "line 6: high", "line 7: high",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("relation", "value", "high", "simulated", "error", "held"),
    [
        ("=", 100, "", 109, 9, True),
        ("=", 100, "", 111, 11, False),
        ("=", 100, "", 89, -11, False),
        ("~", 100, "", 86, -14, True),
        ("~", 100, "", 84, -16, False),
        (">=", 100, "", 101, 0, True),
        (">=", 100, "", 99, -1, False),
        ("<=", 100, "", 99, 0, True),
        ("<=", 100, "", 150, 50, False),
        ("range", 100, 200, 150, 0, True),
        ("range", 100, 200, 90, -10, False),
        ("range", 100, 200, 300, 50, False),
    ],
)
def test_figures_are_judged(figures, relation, value, high, simulated, error, held):
    (figure,) = figures({"relation": relation, "value": str(value), "high": str(high)})
    found, kept = judge(figure, simulated)
    assert found == pytest.approx(error)
    assert kept is held


def test_no_row_disappears(figures):
    rows = figures(
        {"id": "runs", "outstanding": "8"},
        {"id": "unknown drive", "drive": "no-such-drive"},
        {"id": "hot", "quantity": "temperature_c"},
        {"id": "ratio", "quantity": "ratio", "outstanding": "8", "value": "1",
         "baseline": "count=2"},
    )  # fmt: skip
    validation = validate(rows)
    by_id = {row.figure.id: row for row in validation.rows}
    assert list(by_id) == ["runs", "unknown drive", "hot", "ratio"]
    assert by_id["runs"].simulated > 0 and by_id["runs"].why_not is None
    assert "no-such-drive" in by_id["unknown drive"].why_not
    assert not by_id["unknown drive"].held
    # The null device takes no time: twice the drives change nothing.
    assert by_id["ratio"].simulated == pytest.approx(1, rel=0.05)
    document = json.loads(json.dumps(validation.to_dict()))
    assert document["summary"]["rows"] == 4
    assert document["summary"]["ran"] == 2
    assert {"id", "published", "high", "relation", "simulated", "unit", "error_pct", "held",
            "why_not"} <= set(document["rows"][0])  # fmt: skip


def test_max_is_the_best_of_the_depths(figures):
    depths = [{"id": str(depth), "outstanding": str(depth)} for depth in (1, 3, 8, 16, 32)]
    depths += [{"id": str(depth), "outstanding": str(depth)} for depth in (64, 128, 256, 512)]
    *single, best = validate(figures(*depths, {"id": "max"})).rows
    assert best.simulated == max(row.simulated for row in single)


def test_the_summary_counts(figures):
    assert summarise([])["median_abs_error_pct"] is None


def test_predictions_come_first_and_bounds_are_no_numbers():
    known = {figure.id: figure for figure in read_published()}

    def row(id, error, held):
        return Compared(known[id], 1.0, "IO/s", error, held, None)

    rows = (
        row("iodrive-001", 1.0, True),  # fitted
        row("iodrive-121", -9.0, True),  # an array in view of which mechanisms were chosen
        row("p3700-085", 0.0, True),  # a predicted bound
        row("p3700-046", 4.0, True),
        row("p3700-058", -30.0, False),
    )
    found = Validation(rows, 1.0)
    assert [line[:3] for line in uses_table(rows).rows] == [
        ["predicted", 2, 1], ["chosen in view", 1, 1], ["fitted", 1, 1],
    ]  # fmt: skip
    assert answer(found).startswith("1 of 2 predicted numbers lie within tolerance, median error")
    # A bound that holds is no error of 0 %.
    assert "17.0 %; 1 of 1 predicted bounds hold; 1 of all 5 figures lie outside." in answer(found)
    by_source = markdown_validation(found).partition("## iodrive")[2]
    assert by_source.index("iodrive-121") < by_source.index("iodrive-001")
    short = markdown_validation(found, "all.csv")
    assert "All 5 figures, one a row: [all.csv](all.csv)." in short
    assert "| p3700-058 |" in short and "| p3700-046 |" not in short
    lines = listed(found).splitlines()
    assert len(lines) == 6 and lines[1].startswith("iodrive-121,iodrive,")
    assert [line.split(",")[-2:] for line in lines if line.startswith("p3700-058")] == [
        ["outside", "predicted"]
    ]
    html = report(found).html()
    assert html.index("By what figures were used for") < html.index("Outside the tolerance")


@pytest.mark.parametrize("id", ["iodrive-026", "iodrive-050", "iodrive-147"])
def test_a_written_cards_figure_is_the_one_it_keeps(id: str) -> None:
    """A run of a quarter of a minute shows what the figure says: collection has settled."""
    tree = rules.scenario_tree(next(one for one in read_published() if one.id == id).configuration)
    short = simulate(build_scenario(tree))
    tree["run"] |= {"warm_up": "5 s", "duration": "10 s", "max_ios": 1_000_000}
    long = simulate(build_scenario(tree))
    assert long.results[0]["iops"] == pytest.approx(short.results[0]["iops"], rel=0.05)
