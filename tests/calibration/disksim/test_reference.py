"""The independent replay against what DiskSim prints: single responses, means, distances."""

from pathlib import Path

import numpy as np
import pytest

from raidlab.calibration.traces.cdf import rms_distance_ms
from tests.calibration.disksim import disksim_files as files
from tests.calibration.disksim.disksim_files import FIRST, WHOLE, needs_traces
from tests.reference.disk_layout import Drive, Files
from tests.reference.disk_replay import Replay, Request, read_validate

# Response times in ms of single requests, printed by DiskSim; its platter drifts by rounding.
WORKED = {
    "cheetah9LP": {0: 8.086286, 1: 3.210449, 2: 11.327526, 6: 0.486, 7: 2.008},
    "barracuda": {0: 21.650506, 1: 0.618},
    "hp_c2247a": {0: 21.649335, 3: 17.155067, 4: 10.214831},
}
# Mean simulated response and rms distance in ms. Fixed times lie on edges of buckets, so that
# rounding alone moves the distance by some tenths of a microsecond.
DISTANCES = {
    "cheetah9LP": (4.231, 0.10691),
    "barracuda": (6.426, 0.34757),
    "hp_c2247a": (15.315, 0.08993),
}
# Cylinder, head and angle in sectors of the worked examples' first blocks.
PLACES = [
    ("cheetah9LP", 1975456, (648, 1), 71, 254),
    ("cheetah9LP", 1975280, (648, 0), 52, 254),
    ("cheetah9LP", 8702844, (2998, 11), 175, 227),
    ("cheetah9LP", 9233412, (3199, 6), 184, 217),
    ("cheetah9LP", 14455500, (5320, 2), 13, 189),
    ("barracuda", 2992396, (3362, 0), 86, 163),
    ("barracuda", 2992400, (3362, 0), 90, 163),
    ("hp_c2247a", 564347, (454, 3), 85, 96),
    ("hp_c2247a", 1194877, (1034, 11), 29, 84),
    ("hp_c2247a", 1205090, (1044, 3), 22, 84),
]


@pytest.mark.parametrize("name", sorted(WORKED))
def test_single_responses_are_those_that_disksim_prints(name: str) -> None:
    requests = read_validate(FIRST / f"{name}.trace")[0]
    found = Replay(FIRST / f"{name}.parv").all(requests[:8])
    for line, expected_ms in WORKED[name].items():
        assert found[line] == pytest.approx(expected_ms, abs=0.0001), line


@pytest.mark.parametrize(("name", "block", "track", "angle", "sectors"), PLACES)
def test_sectors_lie_where_disksim_has_them(
    name: str, block: int, track: tuple[int, int], angle: int, sectors: int
) -> None:
    place = Replay(FIRST / f"{name}.parv").drive.place(block)
    assert place[:2] == track
    assert place.angle == pytest.approx(angle / sectors)


@pytest.mark.parametrize(
    ("name", "sectors"),
    [("barracuda", 4217670), ("cheetah9LP", 17918387), ("hp_c2247a", 2054864)],
)
def test_zones_hold_what_disksim_counts(name: str, sectors: int) -> None:
    assert Replay(FIRST / f"{name}.parv").drive.capacity == sectors


@needs_traces
@pytest.mark.parametrize("name", sorted(DISTANCES))
def test_whole_traces_are_replayed_as_disksim_does(name: str) -> None:
    requests, measured = read_validate(WHOLE / f"{name}.trace")
    found = Replay(WHOLE / f"{name}.parv").all(requests)
    mean_ms, rms_ms = DISTANCES[name]
    assert np.mean(found) == pytest.approx(mean_ms, abs=0.001)
    distance = rms_distance_ms(np.array(found) * 1000, np.array(measured) * 1000)
    assert distance == pytest.approx(rms_ms, abs=0.0004)


def _drive(folder: Path, *changes: tuple[str, str]) -> Drive:
    text = files.MODEL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    parv = files.write(folder)
    (folder / "small.model").write_text(text)
    return Drive(Files.read(parv), 2, slips_pass=True)


@pytest.mark.parametrize(
    ("scheme", "block", "track", "sector"),
    [
        # Zone 0 has tracks of 100 sectors, 2 a cylinder, 20 spares, and slips 5 and 7.
        (9, 4, (0, 0), 4),
        (9, 5, (0, 0), 6),
        (9, 6, (0, 0), 8),
        # Spares at each track's end: 80 sectors a track.
        (3, 80, (0, 1), 0),
        (3, 160, (1, 0), 0),
        # Whole tracks are slipped: track 5 is the second of cylinder 2, the next one track 6.
        (1, 499, (2, 0), 99),
        (1, 500, (3, 0), 0),
        (1, 600, (4, 0), 0),
        # Ranges of 4 cylinders, 800 sectors of which 20 are spares; the second has no slips.
        (8, 779, (3, 1), 81),
        (8, 780, (4, 0), 0),
        # Slips alone: what they push out of a cylinder goes on in the next.
        (7, 199, (1, 0), 1),
        (7, 200, (1, 0), 2),
    ],
)
def test_spares_and_slips_by_hand(
    tmp_path: Path, scheme: int, block: int, track: tuple[int, int], sector: int
) -> None:
    text = f"Sparing scheme used = {scheme}, Rangesize for sparing = 4"
    drive = _drive(tmp_path, ("Sparing scheme used = 9", text))
    place = drive.place(block)
    assert place[:2] == track
    # 10 sectors of skew for each head switch: one in a cylinder and none to the next.
    skew = 10 * (track[1] + track[0])
    assert place.angle == pytest.approx((sector + skew) % 100 / 100)


def test_heads_count_backwards_in_odd_cylinders_and_skew_by_their_order(tmp_path: Path) -> None:
    drive = _drive(tmp_path, ("mapping scheme = 0", "mapping scheme = 1"), ("5, 7,", ""))
    assert drive.place(100)[:2] == (0, 1)
    assert drive.place(200)[:2] == (1, 1)
    assert drive.place(300)[:2] == (1, 0)
    assert [drive.place(at).angle for at in (100, 200, 300)] == pytest.approx([0.1, 0.1, 0.2])


def test_an_extrapolated_seek_and_a_negative_settle(tmp_path: Path) -> None:
    drive = _drive(tmp_path, ("[ 5, 7, ]", "[]"))
    # 2 to 5 ms from 10 to 99 cylinders; 1 ms at 1, from (0, 0) on.
    assert drive.curve(0) == 0
    assert drive.curve(4) == pytest.approx(1 + 3 / 9)
    assert drive.curve(188) == pytest.approx(8)
    there = drive.place(200)
    assert drive.seek((0, 0), there, writes=False) == pytest.approx(1)
    assert drive.seek((0, 0), there, writes=True) == pytest.approx(0.9)
    assert drive.seek((1, 0), there, writes=True) == 0


def test_a_small_drive_by_hand(tmp_path: Path) -> None:
    """These are the requests as in tests/calibration/traces/test_replay.py."""
    requests = [Request("R", 0, 2, 10.0), Request("R", 2, 1, 10.0), Request("W", 1000, 1, 100.0)]
    found = Replay(files.write(tmp_path)).all(requests)
    assert found == pytest.approx([10.31, 0.31, 0.8])
