"""No output takes the place of what a command reads, in any command; one place decides."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from raidlab.cli import COMMANDS, IMPORTS, TRACES, Lazy, app
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Port, Reads, Writes, ports_of
from raidlab.devices.catalogue import SPECS, names
from tests.project.sources import ROOT
from tests.raidlab.test_cli import SCENARIO, STATION

EVERY: dict[str, Lazy] = {
    **{name: lazy for name, lazy in COMMANDS.items() if name != "collect"},
    **{f"import {name}": lazy for name, lazy in IMPORTS.items()},
    **{f"trace {name}": lazy for name, lazy in TRACES.items()},
}
"""`collect` hands everything on to a program of its own, which refuses such outputs itself."""
_OUTPUT_NAMES = re.compile(r"html|report|out|csv|parquet|markdown|site|save|store|_json$")
_ONE_NAME = ("<class 'str'>", "str | None")
_NAMES = ("device", "scenario", "host", "like", "system", "target", "measurement")
WORK = {
    "sweep": ["--vary", "workload.0.outstanding=1,2"],
    "size": ["--vary", "workload.0.outstanding=1,2", "--goal", "p99 < 1 s"],
    "calibrate": ["--kind", "ssd"],
    "import published": ["--drive", "x"],
    "devices": [],
}
"""What else a command must be given."""


def function_of(lazy: Lazy) -> Any:
    module = __import__(f"raidlab.commands.{lazy.module}", fromlist=["x"])
    return inspect.unwrap(getattr(module, lazy.function))


def ports(name: str) -> list[Port]:
    return ports_of(get_type_hints(function_of(EVERY[name]), include_extras=True))


def outputs() -> Iterator[tuple[str, Port]]:
    for name in EVERY:
        for port in ports(name):
            if isinstance(port.mark, Writes):
                yield name, port


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "fixed.toml").write_text(STATION)
    (tmp_path / "s.toml").write_text(SCENARIO % "1 s")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAIDLAB_STORE", str(tmp_path / "runs.sqlite"))
    return tmp_path


def raidlab(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


@pytest.mark.parametrize("name", EVERY)
def test_every_file_of_a_command_is_marked(name):
    """A path that is neither read nor written, and an output without a mark, are mistakes."""
    hints = get_type_hints(function_of(EVERY[name]), include_extras=True)
    marked = {port.name: port.mark for port in ports(name)}
    for key, hint in hints.items():
        plain = str(get_args(hint)[0] if get_args(hint) else hint)
        if "Path" in plain:
            assert key in marked, f"{name}: {key}"
        if _OUTPUT_NAMES.search(key) and "Path" in plain:
            assert isinstance(marked[key], Writes), f"{name}: {key}"
        if plain in _ONE_NAME and key in _NAMES:
            assert isinstance(marked[key], Reads), f"{name}: {key}"


def test_only_what_is_decided_on_is_written():
    """Files are written by `deliver`, or by what a marked option names."""
    for file in sorted((ROOT / "raidlab/commands").glob("*.py")):
        found = re.findall(
            r"write_text|write_bytes|write_files?\(|open\([^)]*[\"'][wa]", file.read_text()
        )
        assert not found or file.name in ("outputs.py", "import_disksim.py"), file


def line_for(name: str, port: Port, read: str, written: str) -> list[str]:
    """A command that reads one file and is to write another."""
    words = name.split()
    for each in ports(name):
        if isinstance(each.mark, Reads) and not each.option.startswith("--"):
            words.append(read)
    if not any(isinstance(each.mark, Reads) and each.option.isupper() for each in ports(name)):
        option = next((p.option for p in ports(name) if isinstance(p.mark, Reads)), None)
        words += [] if option is None else [option, read]
    words += WORK.get(name, [])
    required = [p for p in ports(name) if isinstance(p.mark, Writes) and p.option != port.option]
    if name in ("trace synthesize",) and port.option != "--out":
        words += ["--out", "elsewhere"]
    if name.startswith("import") and port.option != "--out":
        words += [p.option for p in required if p.option == "--out"] + ["elsewhere"]
    return [*words, port.option, written]


NOT_READING = {"controllers", "lab", "record"}
LATER = {
    ("calibrate", "--out"),
    ("calibrate", "--draws"),
    ("compare", "--load"),
    ("lab", "--site"),
    ("lab", "--pack"),
}
"""Whose names a command knows when it has read its input."""


@pytest.mark.parametrize("how", ["path", "link", "hard link"])
@pytest.mark.parametrize(
    ("name", "port"),
    [
        each
        for each in outputs()
        if each[0] not in NOT_READING and (each[0], each[1].option) not in LATER
    ],
    ids=lambda each: each if isinstance(each, str) else each.option,
)
def test_no_output_takes_the_place_of_an_input(folder, name, port, how):
    """Nothing is run, nothing is changed: 19 of 21 commands replaced what they read."""
    inside = list(port.mark.inside)
    out = folder / "o"
    if inside:
        out.mkdir()
        read = out / inside[0]
        read.write_text("what is read\n")
        written = "o"
    else:
        read, written = folder / "input.toml", "input.toml"
        read.write_text("what is read\n")
    if how == "link":
        (folder / "other.toml").symlink_to(read)
    elif how == "hard link":
        (folder / "other.toml").hardlink_to(read)
    given = str(read) if how == "path" else "other.toml"
    code, said = raidlab(*line_for(name, port, given, written), "--force")
    assert code == 2, said
    assert port.option in said and ("reads it" in said or port.mark.kind is FileKind.STORE), said
    assert read.read_text() == "what is read\n"


def test_what_an_input_names_is_an_input(folder):
    """Devices, jobs, traces, what a device is like, what a job includes; through links, too."""
    (folder / "more.fio").write_text("rw=randread\n")
    (folder / "job.fio").write_text("[j]\ninclude more.fio\nbs=4k\nsize=1m\n")
    (folder / "like.toml").write_text('kind = "station"\nname = "mine"\nlike = "fixed.toml"\n')
    text = (SCENARIO % "1 s").replace("fixed.toml", "like.toml")
    (folder / "s.toml").write_text(text + '[[workload]]\nname = "j"\nfio = "job.fio"\n')
    (folder / "link.html").symlink_to("fixed.toml")
    for written in ("like.toml", "fixed.toml", "job.fio", "more.fio", "link.html"):
        before = (folder / written).read_bytes()
        code, said = raidlab("run", "s.toml", "--html", written, "--force")
        assert code == 2 and "names it, and the command reads it" in said, said
        assert (folder / written).read_bytes() == before
    assert "s.toml (array.0.drives.0.model) names it" in raidlab(
        "run", "s.toml", "--html", "like.toml"
    )[1].replace("\n", " ")


def test_a_file_in_a_folder_that_is_read_is_an_input(folder):
    (folder / "bundle").mkdir()
    step = folder / "bundle/001.json"
    step.write_text("{}")
    code, said = raidlab("import", "fio", "bundle", "--out", "bundle/001.json", "--force")
    assert code == 2 and "in bundle, which the command reads" in said
    assert step.read_text() == "{}"


def test_two_outputs_are_two_files(folder):
    (folder / "o").mkdir()
    (folder / "same").symlink_to("o")
    for words in (
        ["run", "s.toml", "--html", "x", "--trace-json", "x"],
        ["run", "s.toml", "--html", "o/report.html", "--out", "same"],
        ["sweep", "s.toml", *WORK["sweep"], "--csv", "x", "--parquet", "x"],
        ["sweep", "s.toml", *WORK["sweep"], "--csv", "-", "--json"],
        ["sweep", "s.toml", *WORK["sweep"], "--store", "x", "--html", "x"],
    ):
        code, said = raidlab(*words)
        assert code == 2 and ("is written there" in said or "beside --json" in said), said
    assert not (folder / "x").exists()


OF_KIND = {
    FileKind.PAGE: b"<!DOCTYPE html>\n<html>",
    FileKind.RESULT: b'{"title": "", "seed": 1, "version": "0", "fingerprint": "0"}',
    FileKind.MEASUREMENT: b'{"format": "raidlab-measurement-1"}',
    FileKind.STAGES: b'{"traceEvents": []}',
    FileKind.TABLE: b"workload,target,iops\n",
    FileKind.PARQUET: b"PAR1....",
    FileKind.STATE: b"raidlab state\0\0\n",
    FileKind.MARKDOWN: b"# Published and simulated figures\n",
    FileKind.FIO: b'{\n  "fio version" : "fio-3.33",',
    FileKind.STORE: b"SQLite format 3\0" + bytes(52) + b"RDLB",
    FileKind.SCENARIO: b"[[array]]\ndrives = []\n",
    FileKind.DEVICE: b'kind = "ssd"\nname = "x"\n',
}


@pytest.mark.parametrize("kind", FileKind, ids=lambda kind: kind.name)
def test_a_kind_fits_its_own_files_and_no_other(tmp_path, kind):
    for other, content in OF_KIND.items():
        file = tmp_path / other.name
        file.write_bytes(content)
        assert kind.fits(file) == (kind is other and kind is not FileKind.TRACE)
    (tmp_path / "note").write_text("by hand\n")
    (tmp_path / "empty").write_bytes(b"")
    assert not kind.fits(tmp_path / "note") and kind.fits(tmp_path / "empty")


def test_only_a_file_of_its_own_kind_is_replaced_without_force(folder):
    notes = folder / "notes.txt"
    notes.write_text("by hand\n")
    code, said = raidlab("run", "s.toml", "--html", "notes.txt")
    assert code == 2 and "a page (HTML) to replace" in said and "--force" in said
    assert notes.read_text() == "by hand\n"
    code, said = raidlab("run", "s.toml", "--store", "notes.txt")
    for words in (["--html", "p.html"], ["--out", "o"], ["--trace-json", "t.json"]):
        for _ in range(2):
            code, said = raidlab("run", "s.toml", *words)
            assert code == 0, said
    for _ in range(2):
        words = ["--csv", "t.csv", "--parquet", "t.parquet", "--store", "own.sqlite"]
        code, said = raidlab("sweep", "s.toml", *WORK["sweep"], *words)
        assert code == 0, said
    assert raidlab("run", "s.toml", "--html", "notes.txt", "--force")[0] == 0
    assert notes.read_text().startswith("<!doctype html")


def test_a_store_takes_the_place_of_a_store_alone(folder):
    (folder / "x.sqlite").write_bytes(b"SQLite format 3\0" + bytes(200))
    for words in ([], ["--force"]):
        code, said = raidlab("sweep", "s.toml", *WORK["sweep"], "--store", "x.sqlite", *words)
        assert code == 2 and "a store of finished runs" in said
    assert raidlab("run", "s.toml", "--html", "p.html")[0] == 0
    code, said = raidlab("run", "s.toml", "--html", "runs.sqlite", "--force")
    assert code == 2 and "finished runs are stored in it" in said


def test_a_device_takes_the_place_of_a_device_of_its_own_name(folder):
    sheet = folder / "sheet.toml"
    sheet.write_text(
        'name = "mine"\nkind = "hdd"\ncapacity = "4 TB"\ninterface = "sata-6g"\n'
        'rpm = 7200\nsustained_rate = "200 MB/s"\n'
    )
    code, said = raidlab("import", "datasheet", "sheet.toml", "--out", "d.toml")
    assert code in (0, 1), said
    other = next((SPECS / "hdd").glob("*.toml"))
    shutil.copy(other, folder / "d.toml")
    before = (folder / "d.toml").read_bytes()
    code, said = raidlab("import", "datasheet", "sheet.toml", "--out", "d.toml")
    assert code == 2 and f"has {other.stem}" in said and (folder / "d.toml").read_bytes() == before
    (folder / "d.toml").write_bytes(before.replace(b'"' + other.stem.encode(), b'"mine'))
    assert raidlab("import", "datasheet", "sheet.toml", "--out", "d.toml")[0] in (0, 1)


def test_a_partial_page_replaces_no_input(folder):
    (folder / "s.toml").rename(folder / "s.partial.toml")
    code, said = raidlab("run", "s.partial.toml", "--html", "s.toml", "--force")
    assert code == 2 and "s.partial.toml" in said
    assert (folder / "s.partial.toml").exists()


@pytest.mark.parametrize("extra", [[], ["--native"]])
def test_fio_writes_over_nothing_that_it_reads(folder, extra):
    (folder / "job.fio").write_text("[j]\nrw=read\nsize=1m\n")
    for output in ("job.fio", "s.toml", "fixed.toml"):
        before = (folder / output).read_bytes()
        words = ["fio", *extra, "--scenario", "s.toml", "--force", "job.fio", f"--output={output}"]
        code, said = raidlab(*words)
        assert code == 2 and "reads it" in said, said
        assert (folder / output).read_bytes() == before
    (folder / "notes").write_text("by hand")
    code, said = raidlab("fio", *extra, "job.fio", "--output=notes")
    assert code == 2 and "results of fio" in said


def test_a_device_that_a_scenario_names_by_its_name_is_an_input(folder, monkeypatch):
    """Its file in the catalogue is protected as one that is named by its path, with --force too."""
    specs = folder / "specs"
    (specs / "station").mkdir(parents=True)
    own = specs / "station" / "slow-box.toml"
    own.write_text(STATION.replace('name = "fixed"', 'name = "slow-box"\naliases = ["sb-1"]'))
    before = own.read_bytes()
    monkeypatch.setattr("raidlab.devices.catalogue.SPECS", specs)
    names.cache_clear()
    try:
        for name in ("slow-box", "sb-1"):
            text = (SCENARIO % "1 s").replace("fixed.toml", name)
            (folder / "s.toml").write_text(text)
            assert name in text
            code, said = raidlab("run", "s.toml", "--html", str(own), "--force")
            assert code == 2, said
            assert "s.toml (array.0.drives.0.model) names it" in re.sub(r"\s+", " ", said)
            assert own.read_bytes() == before
    finally:
        names.cache_clear()


def test_what_is_watched_live_takes_no_scenario_s_place(folder):
    line = ("compare", "--live", "--scenario", "a.toml", "--load", "a.toml", "--for", "9 s")
    (folder / "a.toml").write_text("title = 'x'\n")
    code, said = raidlab(*line, "--force")
    assert code == 2 and "--load" in said and "reads it" in said, said
