"""DiskSim's files: syntax, what they become, what is wrong in them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidlab.calibration.disksim.drive import import_disksim
from raidlab.calibration.disksim.syntax import Word, read_parameters
from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.hdd import HddSpec
from raidlab.devices.schema import DriveOptions
from tests.calibration.disksim import disksim_files as files
from tests.calibration.disksim.variants import Variant
from tests.calibration.disksim.variants import write as write_variant

GIVEN_FILES = Path(__file__).parents[2] / "data" / "disksim"


def _load(parv: Path) -> HddSpec:
    out = parv.with_suffix(".toml")
    out.write_text(import_disksim(parv).to_toml())
    spec = load_device(out).spec
    assert isinstance(spec, HddSpec)
    return spec


def _refused(parv: Path) -> str:
    with pytest.raises(SpecError) as error:
        _load(parv)
    return str(error.value)


def test_a_disk_becomes_a_device(tmp_path: Path) -> None:
    spec = _load(files.write(tmp_path))
    plan = spec.to_plan(DriveOptions())
    assert spec.name == "small"
    # 60 cylinders of 2 tracks of 100 less 20 spares, and 39 of 2 tracks of 80.
    assert spec.capacity_bytes(DriveOptions()) == (11_980 + 6240) * 512
    first, second = plan["geometry"]["zones"]
    # 110 sectors of skew on a track of 100 are 10.
    assert (first["track_skew_sectors"], first["slips"]) == (10, [5, 7])
    assert (second["cylinder_skew_sectors"], second["defects"]) == (12, [])
    assert plan["seek"]["write_settle_ns"] == -100_000
    assert plan["seek"]["read"]["points"] == [(1, 1_000_000), (10, 2_000_000), (99, 5_000_000)]
    bus = plan["interface"]
    # The slower of the disk's own 0.1 ms and the bus's time for that direction.
    assert (bus["read_sector_ns"], bus["write_sector_ns"]) == (100_000, 200_000)
    # With fast writes the "hit" pair counts whatever the buffer holds.
    assert bus["write"] == {"after_read_ns": 600_000, "after_write_ns": 700_000}
    assert bus["fast_write"] is True
    assert plan["buffer"]["read_ahead"] == {"policy": "fixed", "sectors": 50}


@pytest.mark.parametrize(
    ("number", "policy"), [(1, "first-come"), (3, "c-look"), (6, "c-look"), (8, "shortest-access")]
)
def test_policies_have_the_numbers_of_disksim(tmp_path: Path, number: int, policy: str) -> None:
    """In `disksim_ioqueue.h` 3 and 6 are its circular scans, 8 is shortest positioning time."""
    own = ("Scheduling policy = 1", f"Scheduling policy = {number}")
    assert _load(files.write(tmp_path, diskspecs=own)).scheduler.policy == policy


def test_a_policy_without_a_counterpart_is_named(tmp_path: Path) -> None:
    """4 takes the shortest seek: neither a scan nor the shortest access."""
    own = ("Scheduling policy = 1", "Scheduling policy = 4")
    found = import_disksim(files.write(tmp_path, diskspecs=own))
    assert "Scheduling policy = 4: not supported, taken as first come" in found.notes


def test_slow_writes_take_the_other_pair(tmp_path: Path) -> None:
    parv = files.write(tmp_path, diskspecs=("Fast write level = 1", "Fast write level = 0"))
    bus = _load(parv).to_plan(DriveOptions())["interface"]
    assert bus["write"] == {"after_read_ns": 9_900_000, "after_write_ns": 9_900_000}


def test_a_root_and_a_line_of_ten_first_distances(tmp_path: Path) -> None:
    hpl = (
        "Seek type = hplplus10, HPL seek equation values = [ 30, 3.81, 0.33, 7.75, 0.0059, -1 ],"
        " First ten seek times = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ],"
    )
    parv = files.write(
        tmp_path, model=("Seek type = extracted, Full seek curve = small.seek,", hpl)
    )
    curve = _load(parv).to_plan(DriveOptions())["seek"]["read"]
    assert (curve["form"], curve["line_from"]) == ("root_and_line", 30)
    assert (curve["root_factor_ns"], curve["line_slope_ns"]) == (330_000, 5_900)
    assert curve["first_ns"] == [index * 1_000_000 for index in range(1, 11)]


@pytest.mark.parametrize(
    ("scheme", "sectors"),
    [
        # Zone 0: 60 cylinders, 120 tracks, 12,000 sectors, 20 spares, 2 slips.
        (1, 12_000 - 20 * 100),
        (3, 12_000 - 20 * 120),
        (7, 12_000 - 2),
        (8, 12_000 - 20 * 15),
        (9, 12_000 - 20),
    ],
)
def test_every_sparing_scheme_counts_its_spares(tmp_path: Path, scheme: int, sectors: int) -> None:
    text = f"Sparing scheme used = {scheme}, Rangesize for sparing = 4"
    parv = files.write(tmp_path, model=("Sparing scheme used = 9", text))
    spec = _load(parv)
    assert spec.geometry.zone_sectors(spec.geometry.zones[0]) == sectors


def test_what_is_not_supported_is_reported(tmp_path: Path) -> None:
    parv = files.write(
        tmp_path,
        diskspecs=("Fast write level = 1", "Allow almost read hits = 1, Preseeking level = 2"),
    )
    notes = import_disksim(parv).notes
    assert any(note.startswith("Allow almost read hits = 1: not supported") for note in notes)
    assert any(note.startswith("Preseeking level = 2: not supported") for note in notes)


def test_slips_may_be_listed_in_any_order(tmp_path: Path) -> None:
    parv = files.write(tmp_path, model=("slips = [ 5, 7, ]", "slips = [ 7, 5, 7, ]"))
    assert _load(parv).geometry.zones[0].slips == (5, 7)


def test_slips_beyond_the_spares_are_left_out_and_reported(tmp_path: Path) -> None:
    parv = files.write(tmp_path, model=("Number of spares = 20", "Number of spares = 1"))
    imported = import_disksim(parv)
    assert imported.notes == ["zone 0: 1 slips beyond what its spares make up for, left out"]
    assert _load(parv).geometry.zones[0].slips == (5,)


def test_slips_outside_their_zone_are_left_out_and_reported(tmp_path: Path) -> None:
    parv = files.write(tmp_path, model=("slips = [ 5, 7, ]", "slips = [ 5, 12000 ]"))
    imported = import_disksim(parv)
    assert imported.notes == ["zone 0: 1 slips outside it, left out"]
    assert _load(parv).geometry.zones[0].slips == (5,)


def test_skews_are_in_sectors_whether_the_file_says_so_or_not(tmp_path: Path) -> None:
    parv = files.write(tmp_path, model=("Sparing", "Skew units = sectors, Sparing"))
    assert _load(parv).geometry.zones[0].track_skew == 10


def test_reading_on_arrival_without_disconnecting_is_reported(tmp_path: Path) -> None:
    text = "Immediate buffer read = 1, Never disconnect = 1, Fast write level = 1"
    parv = files.write(tmp_path, diskspecs=("Fast write level = 1", text))
    notes = import_disksim(parv).notes
    assert len(notes) == 1
    assert notes[0].startswith("Immediate buffer read = 1: without effect with Never disconnect")
    alone = files.write(tmp_path, diskspecs=("Fast write", "Immediate buffer read = 1, Fast write"))
    assert import_disksim(alone).notes == []


# What the validated files of DiskSim may hold in each key, a value of each kind.
_KNOWN: dict[str, dict[str, tuple[object, ...]]] = {
    "diskspecs": {
        "Per-request overhead time": (0.0,),
        "Hold bus entire read xfer": (0, 1),
        "Hold bus entire write xfer": (0, 1),
        "Allow read hits on write data": (0, 1),
        "Never disconnect": (0, 1),
        "Number of buffer segments": (2, 10),
        "Maximum number of write segments": (1, 3),
        "Segment size (in blks)": (57, 64, 281, 511, 561),
        "Use separate write segment": (0, 1),
        "Low (write) water mark": (0.0, 0.75, 1.0),
        "High (read) water mark": (0.0, 0.75, 1),
        "Enable caching in buffer": (1, 2),
        "Buffer continuous read": (0, 1, 3, 4),
        "Maximum read-ahead (blks)": (0, 57, 128, 1000),
        "Read-ahead over requested": (0, 1),
        "Read-ahead on idle hit": (0, 1),
        "Read any free blocks": (0, 1),
        "Fast write level": (0, 1, 2),
        "Immediate buffer read": (0, 1),
        "Immediate buffer write": (0, 1),
        "Stop prefetch in sector": (0, 1),
        "Write hit stop prefetch": (0, 1),
        "Extra write disconnect": (0, 1),
        "Extradisc seek delta": (0.25,),
        "Minimum seek delay": (0, 0.6),
    },
    "model": {
        "LBN-to-PBN mapping scheme": (0, 1),
        "Sparing scheme used": (1, 3, 7, 8, 9),
        "Rangesize for sparing": (1, 6),
        "Block count": (0, 17783240),
        "Offset of first block": ("3.000000", 200),
        "Empty space at zone front": (0, 63),
        "Number of spares": (0, 2),
        "Access time type": ("trackSwitchPlusRotation", "averageRotation"),
        "Add. write settling delay": (-0.3, 0, 0.65),
        "Percent error in rpms": (0.0,),
        "defects": ("[]", "[ 5, 5 ]"),
    },
}


@pytest.mark.parametrize("name", ["barracuda", "hp_c2247a"])
def test_every_known_key_and_value_is_imported(tmp_path: Path, name: str) -> None:
    for kind, keys in _KNOWN.items():
        for key, values in keys.items():
            for value in values:
                # As few spares as every scheme has room for.
                spares = {"Number of spares": 2} if key == "Sparing scheme used" else {}
                one = {key: value, **spares}
                variant = Variant(name, **{kind: one})
                _load(write_variant(tmp_path, GIVEN_FILES, variant))


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"model": ("Sparing scheme used = 9", "Sparing scheme used = 5")}, "Sparing scheme used"),
        ({"model": ("Seek type = extracted", "Seek type = magic")}, 'Seek type = "magic"'),
        (
            {"model": ("Blocks per track = 80", "Blocks per track = x80")},
            'Blocks per track = "x80"',
        ),
        ({"model": ("Head switch time = 0.5,", "")}, 'misses the key "Head switch time"'),
        ({"seek": ("10, 2.0 0.01", "10, fast")}, "small.seek: line 3"),
        ({"seek": ("10, 2.0 0.01", "1, 2.0")}, "more than 1 cylinders"),
        ({"parv": ("source small.diskspecs", "source absent.diskspecs")}, "absent.diskspecs"),
        ({"diskspecs": ("Fast write level = 1,", "Fast write level 1,")}, '"=" after a key'),
        ({"parv": ("as SMALL", "as OTHER")}, None),
        ({"parv": ("disksim_disk disk0 [] ] ]", "disksim_disk disk0 [] ]")}, "topology"),
        ({"model": ("First cylinder number = 61", "First cylinder number = 50")}, '"50": 60 to'),
        ({"diskspecs": ("segments = 4", "segments = 0")}, 'segments = "0": 1 to 4096'),
        ({"diskspecs": ("mark = 0.5", "mark = 1.5")}, 'mark = "1.5": 0 to 1'),
        ({"diskspecs": ("read = 0.2", "read = -0.2")}, 'after read = "-0.2": 0 to 1000'),
        ({"model": ("in rpms) = 6000", "in rpms) = 6")}, 'in rpms) = "6": 300 to 100000'),
        ({"model": ("of spares = 20", "of spares = 12000")}, '"12000": 0 to 11999'),
        ({"model": ("Sparing scheme", "Skew units = degrees, Sparing scheme")}, "sectors, or"),
    ],
)
def test_faults_name_file_line_key_and_value(
    tmp_path: Path, changes: dict[str, tuple[str, str]], reported: str | None
) -> None:
    parv = files.write(tmp_path, **changes)
    if reported is None:
        # No block of that name: the only disk there is stands for it.
        assert _load(parv).name == "small"
        return
    message = _refused(parv)
    assert reported in message
    assert "small" in message.split(":", 1)[0] or "absent" in message


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parv").write_text("source b.parv")
    (tmp_path / "b.parv").write_text("source a.parv")
    assert "include each other" in _refused(tmp_path / "a.parv")


_TEXTS = {
    "parv": files.PARV,
    "diskspecs": files.DISKSPECS,
    "model": files.MODEL,
    "seek": files.SEEK,
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    which=st.sampled_from(sorted(_TEXTS)),
    at=st.floats(0, 1, exclude_max=True),
    cut=st.integers(0, 12),
    put=st.sampled_from(
        ["", "-", "0", "{", "}", "[", "]", "=", ",", "99999999999", "1e400", "nan"]
    ),
)
def test_mutated_files_are_read_or_refused(
    tmp_path: Path, which: str, at: float, cut: int, put: str
) -> None:
    text = _TEXTS[which]
    start = int(at * len(text))
    files.write(tmp_path)
    (tmp_path / f"small.{which}").write_text(text[:start] + put + text[start + cut :])
    try:
        _load(tmp_path / "small.parv")
    except SpecError as error:
        assert error.faults


def test_ranges_of_names_stand_for_all_of_them(tmp_path: Path) -> None:
    parv = files.write(tmp_path)
    text = parv.read_text()
    ranged = text.replace("[ disk0, disk1 ]", "[ disk0 .. disk1 ]")
    assert ranged != text
    parv.write_text(f"{ranged}\ndisksim_logorg org0 {{ devices = [ disk0 .. disk1 ] }}\n")
    assert _load(parv).name == "small"
    parameters = read_parameters(parv)
    assert list(parameters.instances) == ["bus1", "disk0", "disk1"]
    devices = parameters.blocks[-1].entries["devices"]
    assert isinstance(devices, list)
    assert [word.text for word in devices if isinstance(word, Word)] == ["disk0", "disk1"]


@pytest.mark.parametrize("wrong", ["disk3 .. disk1", "disk0 .. tape3", "disk .. disk3"])
def test_ranges_that_are_none_are_named(tmp_path: Path, wrong: str) -> None:
    parv = files.write(tmp_path)
    text = parv.read_text()
    parv.write_text(text.replace("[ disk0, disk1 ]", f"[ {wrong} ]"))
    assert "a range of names that differ in the number at their end" in _refused(parv)
    parv.write_text(f"{text}\ndisksim_logorg org0 {{ devices = [ {wrong} ] }}\n")
    assert "a range of names that differ in the number at their end" in _refused(parv)
