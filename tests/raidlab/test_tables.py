"""Tables in a terminal: what fits into a line, and what is left out of it."""

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.cli import app
from raidlab.commands import tables
from raidlab.commands.tables import Output, lines, width
from raidlab.scenarios.report.tables import Column, Kind, Table

WIDTHS = 80, 100, 120
PLANS = {
    "fixed.toml": """
kind = "station"
name = "fixed"
capacity = "100 GB"
service = { value = "1 ms", source = "assumed", note = "for tests" }
[sources]
capacity = "assumed"
""",
    "one.toml": """
title = "One drive"
[[array]]
drives = [{ model = "fixed.toml" }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = [1, 2, 4]
[run]
warm_up = "10 ms"
duration = "200 ms"
""",
    "rebuild.toml": """
title = "A rebuild"
[controller]
model = "lsi2208-1g-3.0"
[[array]]
level = "raid5"
drives = [{ model = "generic-15000rpm", count = 4 }]
used = "4 MiB"
hot_spares = 1
[[workload]]
profile = "database"
rate = "50 IO/s"
[run]
warm_up = "1 s"
duration = "10 s"
[[event]]
at = "2 s"
action = "fail-drive"
drive = 1
""",
    "tier.toml": """
title = "An SSD cache"
[controller]
model = "lsi2208-1g-3.0"
[[array]]
level = "raid10"
drives = [{ model = "sata-6g-hdd", count = 4 }]
cache_tier = { drives = [{ model = "sas-6g-ssd", count = 2 }], level = "raid1" }
[[workload]]
rw = "randread"
block_size = "64 KiB"
area = "8 GB"
hot_spot = "1 GB"
outstanding = 8
[run]
warm_up = "1 s"
duration = "5 s"
""",
    "sheet.toml": """
name = "sheet"
kind = "hdd"
interface = "sata-6g"
capacity = "20 TB"
rpm = 7200
sustained_rate = "285 MB/s"
""",
    "question.toml": """
goals = ["p99 < 20 ms"]
horizon = "2 years"
currency = "EUR"
load = [{ rw = "randread", block_size = "4 KiB", rate = "100 IO/s" }]
run = { warm_up = "1 s", duration = "5 s", precondition = "fresh" }
growth = { rate = "50 %" }
candidates = [{ drives = ["generic-15000rpm"], counts = "1:3", levels = ["raid0"] }]
price = [{ device = "generic-15000rpm", cost = 100 }]
""",
    "slow.toml": """
title = "Eight disks, one I/O"
controller.model = "lsi2008"
array = [{ level = "raid0", drives = [{ model = "generic-15000rpm", count = 8 }] }]
workload = [{ rw = "randread", block_size = "8 KiB", outstanding = 1 }]
run = { warm_up = "1 s", duration = "2 s" }
""",
    "iostat.txt": """Linux 6.1.0 (host) \t11/27/26 \t_x86_64_\t(2 CPU)

11/27/26 10:00:00
Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util
sda 1.00 4.00 0.00 0.00 1.00 4.00 1.00 4.00 0.00 0.00 1.00 4.00 0.00 1.00

11/27/26 10:00:10
Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util
sda 100.00 400.00 0.00 0.00 2.00 4.00 50.00 400.00 0.00 0.00 1.00 8.00 0.25 20.00

11/27/26 10:00:20
Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util
sda 120.00 480.00 0.00 0.00 2.00 4.00 50.00 400.00 0.00 0.00 1.00 8.00 0.29 20.00
""",
    "disk.toml": '[[array]]\ndrives = [{ model = "generic-7200rpm" }]\n',
    "load.json": '{"source": "x", "devices": ["sda"], "step_s": 1, "read_iops": [30, 40, 50],'
    ' "write_iops": [10, 10, 10], "read_bytes_per_s": [240000, 320000, 400000],'
    ' "write_bytes_per_s": [80000, 80000, 80000], "read_await_ms": [9, 9, 10],'
    ' "write_await_ms": [9, 9, 10]}',
    "trace.csv": "t,op,at,n,took\n0.0,read,0,4096,1000\n0.1,read,8192,4096,1100\n",
}
COMMANDS = {
    "twin": ["twin", "--simulated", "one.toml", "--points", "14", "--out", "made"],
    "run": ["run", "one.toml"],
    "run --what-if": ["run", "one.toml", "--what-if"],
    "run with events": ["run", "rebuild.toml"],
    "devices": ["devices"],
    "devices NAME": ["devices", "sas-6g-hdd"],
    "validate": ["validate", "p320h"],
    "controllers": ["controllers", "--only", "lsi1064", "--profiles", "database,streaming"],
    "rebuild": ["rebuild", "rebuild.toml", "--rates", "30,100"],
    "sweep": ["sweep", "one.toml", "--vary", "workload.0.outstanding=1,4"],
    "size": ["size", "one.toml", "--vary", "workload.0.outstanding=1:8", "--goal", "p99 < 4 ms"],
    "sensitivity": ["sensitivity", "tier.toml", "--vary", "workload.0.outstanding=1:8",
                    "--samples", "4"],
    "why": ["why", "slow.toml"],
    "fit-load": ["fit-load", "disk.toml", "load.json"],
    "import monitoring": ["import", "monitoring", "iostat.txt"],
    "diff": ["diff", "one.toml", "slow.toml"],
    "risk": ["risk", "rebuild.toml", "--rebuild", "10", "--uber", "1e-16"],
    "plan": ["plan", "question.toml"],
    "until": ["until", "question.toml"],
    "compression": ["compression", "sandforce-1222-64gb", "--shares", "0,50"],
    "ssd-cache": ["ssd-cache", "tier.toml", "--hot-spots", "1 GB"],
    "replay": ["replay", "trace.csv", "--format", "csv", "--device", "fixed.toml", "--columns",
               "time=t:s op=op offset=at:B size=n:B response=took:us"],
    "trace describe": ["trace", "describe", "trace.csv", "--columns",
                       "time=t:s op=op offset=at:B size=n:B response=took:us"],
    "trace synthesize": ["trace", "synthesize", "trace.csv", "--out", "made.spc", "--columns",
                         "time=t:s op=op offset=at:B size=n:B response=took:us"],
    "compare": ["compare", "m.json", "--device", "fixed.toml"],
    "store": ["store", "list"],
    "lab --class": ["lab", "--class", "class"],
    "import datasheet": ["import", "datasheet", "sheet.toml", "--out", "made.toml"],
    "calibrate": ["calibrate", "m.json", "--kind", "station", "--budget", "60"],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in PLANS.items():
        (tmp_path / name).write_text(text)
    points = [
        Point(
            name=f"depth {depth}", rw="randread", read_share=1.0, bs=4096, iodepth=depth,
            read=Side(
                iops=iops, ios=1000, latency_mean_us=1e6 * depth / iops,
                completion=Latency(mean_us=1e6 * depth / iops),
            ),
        )
        for depth, iops in ((1, 900.0), (2, 950.0), (4, 960.0))
    ]  # fmt: skip
    (tmp_path / "m.json").write_text(Measurement(name="m", points=tuple(points)).to_json())
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "Ada.csv").write_text(
        '"student","room","prediction","outcome","unit","kept"\n"Ada","arm","150","164","IO/s",""\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAIDLAB_STORE", str(tmp_path / "store.sqlite"))
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_the_tables_of_every_command_fit_into_80_100_and_120_characters(name, folder, monkeypatch):
    made = []
    own = tables.lines

    def remembered(table, room, output=Output.FIT):
        made.append(table)
        return own(table, room, output)

    if name == "store":
        assert CliRunner().invoke(app, COMMANDS["run"]).exit_code == 0
    monkeypatch.setattr(tables, "lines", remembered)
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, COMMANDS[name])
    assert done.exit_code in (0, 1), done.output
    assert made and "99 %" not in done.stdout
    for table in made:
        for room in WIDTHS:
            shown = own(table, room)
            assert max(map(len, shown)) <= room, shown
            # No head is broken inside a word or cut.
            known = [" ".join(column.head.split()) for column in table.shown().columns]
            assert set(heads_of(shown[bool(table.title) :])) <= set(known), shown
            # Rows are lines: fewer columns rather than more lines, but for prose.
            if all(column.kind is not Kind.PROSE for column in table.shown().columns):
                assert len(shown) <= min(len(table.rows), table.most or 10**9) + 5, shown
        assert columns_of(own(table, 80)) <= 7
        everything = own(table, 80, Output.ALL)
        assert columns_of(everything) == len(table.shown().columns)
        assert not any("more: --wide" in line for line in everything)


def columns_of(shown):
    return len(rule_of(shown)[1].split())


def rule_of(shown):
    """The line below the heads, with its place."""
    return next((at, line) for at, line in enumerate(shown) if line and not line.strip("- "))


def heads_of(shown):
    """What stands above each stretch of dashes, from above to below."""
    at, rule = rule_of(shown)
    upper = shown[:at]
    spans = [match.span() for match in re.finditer("-+", rule)]
    return [
        " ".join(word for line in upper for word in line[begin:end].split()) for begin, end in spans
    ]


def test_a_broken_head_is_seen():
    broken = ["outstand  bottlen", "ing       eck", "--------  -------", "       1  x"]
    assert heads_of(broken) == ["outstand ing", "bottlen eck"]


TABLE = Table(
    "T",
    [
        Column("queue depth"),
        Column("IO/s"),
        Column("mean", "ms", priority=2),
        Column("p99", "ms"),
        Column("limit", kind=Kind.TEXT, width=12),
        Column("next", kind=Kind.TEXT, priority=3, width=10),
    ],
    [
        [1, 497.0, 2.01, 5.01, "none (drives 17 %)", "host thread 0"],
        [32, 4097.0, 7.81, 49.6, "lsi2008 queue 100 %, drives 98 %", "lsi2008 cores"],
    ],
    marked=[1],
)


def test_numbers_stand_right_and_are_aligned_at_the_point_words_left():
    _, upper, lower, _, first, second = lines(TABLE, 100)
    assert upper.split() == ["queue", "mean", "p99"] and lower.split()[0] == "depth"
    assert first.index("2.01") == second.index("7.81")
    assert first.index("5.01") == second.index("49.6") + 1
    assert first.index("none") == second.index("lsi2008 queue") == lower.index("limit")
    assert second.endswith(" <")


def test_the_least_important_column_goes_first_and_is_counted():
    shown = lines(TABLE, 48)
    assert "limit" in shown[2] and "next" not in shown[2] and "mean" in shown[1]
    assert shown[-1] == "1 column more: --wide"
    narrow = lines(TABLE, 36)
    assert narrow[-1] == "2 columns more: --wide" and "mean" not in " ".join(narrow[:3])


def test_a_text_without_room_loses_its_middle():
    assert "lsi2008...es 98 %" in " ".join(lines(TABLE, 40))


def test_rows_beyond_those_shown_are_counted():
    table = Table("", [Column("a")], [[at] for at in range(98)], most=10)
    assert lines(table, 80)[-1] == "88 rows more: --wide"
    assert len(lines(table, 80, Output.ALL)) == 98 + 2


def test_piped_output_is_as_wide_as_columns_says_or_100(monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    assert width() == 72
    monkeypatch.delenv("COLUMNS")
    done = CliRunner().invoke(app, ["devices"])
    rules = [line for line in done.stdout.splitlines() if line and not line.strip("- ")]
    assert done.exit_code == 0 and max(map(len, rules)) <= 100


def test_every_command_that_prints_a_table_is_tried():
    names = {"print_table", "print_report", "print_answer", "give"}
    found = set()
    for path in Path(tables.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        imported = {
            each.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for each in node.names
        }
        if imported & names and "command" in imported:
            found.add(path.stem)
    # Those of a group are files of the group's name and their own.
    assert found <= {
        each.replace("-", "_")
        for command in COMMANDS.values()
        for each in (command[0], "_".join(command[:2]))
    }


@pytest.mark.parametrize("room", WIDTHS)
def test_what_is_printed_is_as_wide_as_columns_says(room, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(room))
    done = CliRunner().invoke(app, ["run", "one.toml", "--what-if"])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= room


def test_the_answer_stands_between_title_and_table(folder):
    done = CliRunner().invoke(app, ["run", "one.toml"])
    title, answer, *rest = done.stdout.splitlines()
    assert title == "One drive" and "queue depth" in answer and "p99" in answer
    assert rest.index("") >= 0
