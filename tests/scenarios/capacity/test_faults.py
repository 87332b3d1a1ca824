"""Faults of a question: all at once, each with what is written, before anything has grown."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.plan import saves, warming_s
from raidlab.scenarios.capacity.question import question_of

GROUP = {"drives": ["generic-7200rpm"], "counts": [4], "levels": ["raid5"]}
LOAD = {"rw": "randrw", "block_size": "8 KiB", "rate": "900 IO/s"}
ASKED = {"goals": ["p99 < 20 ms"], "growth": {"rate": 0.15}}


def test_faults_of_all_parts_come_at_once():
    tree = ASKED | {
        "goals": ["p98 < 3 ms"],
        "load": [LOAD | {"rate": "-900 IO/s", "read_share": 1.7, "block_size": "8 K"}],
        "run": {"duration": "1 minute"},
        "candidates": [
            GROUP | {"drives": ["no-drive"], "write": ["sometimes"], "stripe_units": ["64 KiX"]}
        ],
    }
    with pytest.raises(SpecError) as found:
        question_of(tree)
    assert {fault.key: fault.value for fault in found.value.faults} == {
        "goals": "p98",
        "load.0.rate": "-900 IO/s",
        "load.0.read_share": 1.7,
        "load.0.block_size": "8 K",
        "run.duration": "1 minute",
        "candidates.0.drives": "no-drive",
        "candidates.0.write.0": "sometimes",
        "candidates.0.stripe_units.0": "64 KiX",
    }


def test_a_grown_load_that_cannot_be_is_named_as_it_is_written():
    """10^300 IO/s are a rate; with 1000 % a year for ten years they are none."""
    tree = ASKED | {
        "growth": {"rate": 10}, "horizon": "50 years",
        "load": [LOAD | {"rate": "1e300 IO/s"}], "candidates": [GROUP],
    }  # fmt: skip
    with pytest.raises(SpecError) as found:
        expand(question_of(tree))
    values = {fault.value for fault in found.value.faults if fault.key == "load.0.rate"}
    assert values == {"1e300 IO/s"}


@pytest.mark.parametrize(
    ("warm_up", "duration", "cached", "expected"),
    [
        ("1 s", "10 s", False, True),
        ("5 s", "5 s", False, False),
        # A cache of 1 GiB takes 10 s of 100 MB/s of writes.
        ("1 s", "10 s", True, False),
    ],
)
def test_short_runs_save_only_what_is_recorded(warm_up, duration, cached, expected):
    group = GROUP | ({"controllers": ["lsi2208-1g-3.0"]} if cached else {})
    tree = {
        "goals": ["p99 < 20 ms"],
        "load": [
            {"rw": "randwrite", "block_size": "100 kB", "align": "512 B", "rate": "1000 IO/s"}
        ],
        "run": {"warm_up": warm_up, "duration": duration},
        "candidates": [group],
    }
    alive = expand(question_of(tree))
    assert saves(alive, 1 / 8) is expected


def test_a_job_of_fio_arrives_at_no_rate_that_is_known_before_it_runs(tmp_path):
    (tmp_path / "job.fio").write_text("[data]\nrw=randwrite\nbs=8k\niodepth=4\nsize=1g\n")
    tree = {
        "goals": ["p99 < 20 ms"],
        "load": [{"name": "job", "fio": "job.fio"}, LOAD],
        "run": {"warm_up": "3 s", "duration": "10 s"},
        "candidates": [GROUP | {"controllers": ["lsi2208-1g-3.0"]}],
    }
    (alive,) = expand(question_of(tree, tmp_path / "q.toml"))
    assert alive.scenario is not None
    # 0.75 of 1 GiB over 450 writes a second of 8 KiB; what the job writes is known once it ran.
    assert warming_s(alive.scenario) == pytest.approx(3 + 0.75 * 2**30 / (450 * 8192))
