"""RAID levels in Python, beside the engine's."""

import re
from typing import get_args

import pytest

from raidlab.devices.levels import LEVELS, ArrayLevel, Level, facts
from raidlab.scenarios.planning.arrays import usable_bytes, wrong_count
from tests.project.sources import ROOT

KIB = 1024


def test_the_engine_has_the_same_levels():
    source = (ROOT / "scenarios/engine/src/plan/mod.rs").read_text()
    body = source.split("pub enum Level {")[1].split("\n}")[0]
    variants = re.findall(r"^    (\w+),$", body, re.MULTILINE)
    assert {variant.lower() for variant in variants} == set(LEVELS)


def test_every_name_has_its_facts():
    assert set(LEVELS) == set(get_args(Level))
    assert set(get_args(ArrayLevel)) == {"independent", *LEVELS}


# Drives of 1000 KiB and one of 900 KiB, units of 64 KiB: 14 rows of units on each.
@pytest.mark.parametrize(
    ("level", "drives", "units"),
    [
        ("raid0", 4, 14 * 4),
        ("raid1", 3, 14),
        ("raid1e", 3, 7 * 3),
        ("raid10", 6, 14 * 3),
        ("raid5", 5, 14 * 4),
        ("raid6", 5, 14 * 3),
        ("raid50", 6, 14 * 4),
        ("raid60", 8, 14 * 4),
    ],
)
def test_usable_bytes_by_hand(level, drives, units):
    capacities = [900 * KIB, *[1000 * KIB] * (drives - 1)]
    assert usable_bytes(facts(level), 64 * KIB, capacities) == units * 64 * KIB


def test_drives_side_by_side_and_one_by_one():
    # Whole stripe units of all drives but the last.
    assert usable_bytes(facts("jbod"), 100, [950, 1000, 1050]) == 900 + 1000 + 1050
    assert usable_bytes(facts("independent"), 64 * KIB, [900, 1000]) == 900


def test_numbers_of_drives():
    assert wrong_count(facts("raid10"), 5) == "4 drives or more, an even number"
    assert wrong_count(facts("raid60"), 6) == "8 drives or more, an even number"
    assert wrong_count(facts("raid5"), 2) == "3 drives or more"
    assert wrong_count(facts("jbod"), 0) == "1 drive or more"
    assert all(wrong_count(facts(level), 8) is None for level in LEVELS)


def test_a_stripe_of_two_spans_has_the_data_of_one():
    assert [facts(level).data_columns(8) for level in ("raid5", "raid6", "raid50", "raid60")] == [
        7, 6, 3, 2,
    ]  # fmt: skip
    assert facts("raid10").data_columns(8) == 1


def test_what_survives_a_drive():
    bare = {level for level in LEVELS if not facts(level).is_redundant}
    assert bare == {"jbod", "raid0"}
    assert not facts("independent").striped
