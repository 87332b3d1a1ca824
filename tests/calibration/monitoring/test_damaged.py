"""Damaged captures: cut, mixed up, with strange bytes. A result or a refusal, never a crash."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.load import load_of
from raidlab.calibration.report.monitoring import answer, tables
from raidlab.devices.faults import SpecError

DATA = Path(__file__).parents[2] / "data" / "monitoring"
FILES = sorted(path for path in DATA.glob("*") if not path.name.endswith(".expect.json"))


def damaged(content: bytes, how: random.Random) -> bytes:
    match how.randrange(5):
        case 0:
            return content[: how.randrange(len(content) + 1)]
        case 1:
            lines = content.split(b"\n")
            how.shuffle(lines)
            return b"\n".join(lines)
        case 2:
            at = how.randrange(len(content) + 1)
            return content[:at] + how.randbytes(3) + content[at:]
        case 3:
            first, last = sorted(how.randrange(len(content) + 1) for _ in range(2))
            return content[:first] + content[last:]
        case _:
            words = content.split(b" ")
            words[how.randrange(len(words))] = how.choice(
                [b"-", b"nan", b"1e999", b"x", b"-5", b""]
            )
            return b" ".join(words)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_damaged_capture_gives_a_result_or_a_refusal(path: Path, tmp_path: Path) -> None:
    how = random.Random(path.name)
    content = path.read_bytes()
    for number in range(25):
        file = tmp_path / f"{number}{path.suffix}"
        file.write_bytes(damaged(content, how))
        try:
            found = import_monitoring([file])
        except SpecError:
            continue
        json.dumps(found.to_dict(), allow_nan=False)
        if found.refused is None:
            answer(found)
            tables(found)
            try:
                load_of(found)
            except SpecError:
                continue


def test_what_is_no_capture_is_refused_by_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        import_monitoring([tmp_path, tmp_path / "none"])
    assert [fault.allowed for fault in caught.value.faults] == [
        "a folder: its files are wanted",
        "no such file",
    ]
    totals = tmp_path / "vmstat.txt"
    totals.write_text(
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
        " 1  0      0 812345 123456 654321    0    0    12    34  100  200  1  0 99  0  0\n"
    )
    refused = import_monitoring([totals]).refused
    assert refused is not None and "vmstat's totals of all devices" in str(refused)
