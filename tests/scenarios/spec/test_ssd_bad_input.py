"""What is wrong with an SSD or with what is asked of it, as the command line tells it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.catalogue import SPECS, find
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.live import LiveSystem
from raidlab.sim.environment import Environment

SCENARIO = """
[[array]]
name = "data"
drives = [{{ model = "{model}" }}]
[[workload]]
rw = "randwrite"
block_size = "4 KiB"
area = "1 GB"
{load}
[run]
warm_up = "0 s"
duration = "1 ms"
{run}
"""


def run(folder: Path, *options: str, model="mine.toml", load="", run="") -> tuple[int, str]:
    """Exit code and messages of `raidlab run`, in one line."""
    path = folder / "s.toml"
    path.write_text(SCENARIO.format(model=model, load=load, run=run))
    done = CliRunner().invoke(app, ["run", str(path), *options])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("reserved_blocks = 262", "reserved_blocks = 1024", "nand.reserved_blocks", "spare blocks"),
        ("blocks_per_plane = 1024", "blocks_per_plane = 267", "capacity", "no block is left"),
        ('capacity = "800 GB"', 'capacity = "1300 GB"', "capacity", "has 1236950581248 B"),
        ('capacity = "800 GB"', 'capacity = "930 GB"', "capacity", "at most 912009461760 B"),
        ('unit = "4 KiB"', 'unit = "20 KiB"', "capacity", "at most 570005913600 B"),
        ('unit = "4 KiB"', 'unit = "3000 B"', "mapping_unit", "a multiple of 512 B, at most 32768"),
        ('unit = "4 KiB"', 'unit = "64 KiB"', "mapping_unit", "a multiple of 512 B, at most 32768"),
        ('page = "16 KiB"', 'page = "16 KiB"\nparity_stripe = 73', "nand.parity_stripe", "to 72"),
        ('page = "16 KiB"', 'page = "16 KiB"\nparity_stripe = 1', "nand.parity_stripe", "2 to 72"),
        ('above = "68 degC"', 'above = "29 degC"', "thermal.step.0.above", "ambient 30 degC"),
        ('above = "68 degC"', 'above = "37 degC"', "thermal.step.0.above", "when it is idle"),
        ('above = "69.5 degC"', 'above = "60 degC"', "thermal.step", "from the lowest"),
    ],
)
def test_a_drive_that_cannot_be_is_refused_by_key(tmp_path, old, new, key, words):
    text = (SPECS / "ssd" / "p3700-800.toml").read_text()
    assert old in text
    (tmp_path / "mine.toml").write_text(text.replace(old, new, 1))
    code, reported = run(tmp_path)
    assert code == 2
    assert f"mine.toml: {key} = " in reported
    assert words in reported
    # A number that is wrong is at fault alone: not its source, nor what follows of it.
    assert reported.count("error: ") == reported.count(f"mine.toml: {key} = ")


@pytest.mark.parametrize(("reserved", "most"), [(0, "99.5 %"), (250, "75 %"), (1023, "0 %")])
def test_too_many_bad_blocks_are_reported_with_how_many_there_may_be(tmp_path, reserved, most):
    """Of 1024 blocks four work behind the drive, and one at least holds data."""
    text = (SPECS / "ssd" / "p3700-800.toml").read_text()
    few = text.replace(
        "reserved_blocks = 262", f'bad_blocks = "99.7 %"\nreserved_blocks = {reserved}'
    )
    (tmp_path / "mine.toml").write_text(few)
    code, reported = run(tmp_path)
    assert code == 2
    allowed = f"at most {most}: a drive needs spare blocks"
    assert reported.endswith(f'mine.toml: nand.bad_blocks = "99.7 %": {allowed}')


@pytest.mark.parametrize(("blocks", "share"), [(25, 0.8), (50, 0.9), (1024, 0.995), (8, 0.375)])
def test_as_many_bad_blocks_as_there_may_be_are_taken(blocks, share):
    nand = SsdSpec.model_validate(find("p3700-800").spec).nand
    update = {"blocks_per_plane": blocks, "bad_blocks": share, "reserved_blocks": 0}
    assert list(nand.model_copy(update=update).faults()) == []
    assert list(nand.model_copy(update=update | {"bad_blocks": share + 0.01}).faults())


@pytest.mark.parametrize("share", ['"120 %"', "120", "-0.1"])
def test_data_cannot_be_compressed_by_more_than_all_of_them(tmp_path, share):
    code, reported = run(tmp_path, model="sandforce-1222-64gb", load=f"compressible = {share}")
    assert code == 2
    assert "workload.0.compressible" in reported
    assert "a share from 0 to 1" in reported


def test_what_only_the_engine_finds_is_reported_by_the_drive_s_own_file_and_key(tmp_path):
    text = (SPECS / "ssd" / "p3700-800.toml").read_text()
    for old, new in (("dies_per_channel = 4", "dies_per_channel = 256"), ("4 KiB", "512 B")):
        text = text.replace(old, new, 1)
    (tmp_path / "mine.toml").write_text(text.replace('"800 GB"', '"50 TB"', 1))
    code, reported = run(tmp_path)
    assert code == 2
    assert 'mine.toml: mapping_unit = "512 B": larger: at most 4,294,967,292 units' in reported


def test_a_snapshot_of_another_drive_or_a_damaged_one_is_refused(tmp_path):
    state = tmp_path / "drive.state"
    code, _ = run(tmp_path, "--save-state", str(state), model="sata-ssd-64gb")
    assert code == 0
    begin = 'snapshot = "drive.state"'
    assert run(tmp_path, model="sata-ssd-64gb", run=begin)[0] == 0
    code, reported = run(tmp_path, model="p3700-800", run=begin)
    assert (code, "another data sheet" in reported) == (2, True)
    assert "run.snapshot" in reported
    whole = bytearray(state.read_bytes())
    whole[len(whole) // 2] ^= 1
    state.write_bytes(whole)
    code, reported = run(tmp_path, model="sata-ssd-64gb", run=begin)
    assert (code, "an undamaged file" in reported) == (2, True)


def test_a_trim_beyond_the_end_is_refused(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("t,op,at,size\n0.001,trim,62000000000,4000000000\n")
    columns = "time=t:s op=op offset=at:B size=size:B"
    command = ["replay", str(trace), "--format", "csv", "--columns", columns]
    done = CliRunner().invoke(app, [*command, "--device", "sata-ssd-64gb"])
    assert done.exit_code == 2
    assert "beyond" in done.stderr or "holds" in done.stderr

    (tmp_path / "s.toml").write_text(SCENARIO.format(model="sata-ssd-64gb", load="", run=""))
    system = LiveSystem(Environment(), tmp_path / "s.toml")
    with pytest.raises(ValueError, match="the array holds 64000000000"):
        system.trim(62 * 10**9, 4 * 10**9)


@pytest.mark.parametrize("switched", [True, False])
def test_a_write_cache_that_nothing_can_switch_is_warned_of(switched):
    """What capacitors protect is never written through; a disk's cache is another matter."""

    def warnings(model):
        drive = {"model": model, "write_cache": switched}
        load = {"rw": "randwrite", "block_size": "4 KiB", "align": "4 KiB"}
        return build_scenario({"array": [{"drives": [drive]}], "workload": [load]}).warnings

    (warning,) = warnings("sas-6g-ssd")
    assert warning.startswith("array.0.drives.0.write_cache: has no effect on sas-6g-ssd")
    assert not warnings("generic-15000rpm")
