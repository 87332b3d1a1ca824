"""A first scenario: what it is made of, that it runs, what is said of wrong answers."""

import json
import tomllib

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.files.first import Answers, faults_of, first_scenario, loads
from raidlab.scenarios.running.simulate import simulate


def test_five_answers_are_a_scenario(tmp_path):
    answers = Answers("generic-15000rpm", 6, "raid6", "lsi2208-1g-3.0", "randwrite")
    text, scenario = first_scenario(answers, tmp_path / "s.toml")
    tree = tomllib.loads(text)
    (array,) = tree["array"]
    assert (array["level"], array["drives"]) == (
        "raid6", [{"model": "generic-15000rpm", "count": 6}]
    )  # fmt: skip
    assert tree["controller"] == {"model": "lsi2208-1g-3.0", "write": "write-back"}
    assert "software_raid" not in array
    assert tree["workload"] == [
        {"rw": "randwrite", "block_size": "4 KiB", "outstanding": [1, 8, 32]}
    ]
    assert scenario.points == 3
    keys = [line for line in text.splitlines() if " = " in line and not line.startswith("#")]
    assert sum("  # " in line for line in keys) >= len(keys) - 3


@pytest.mark.parametrize("load", loads())
def test_every_load_can_be_asked_for(load, tmp_path):
    text, _ = first_scenario(Answers(model="generic-nl-sas-16tb", load=load), tmp_path / "s.toml")
    assert load in text


@pytest.mark.parametrize(("drives", "level"), [(1, "jbod"), (2, "raid1"), (3, "raid5")])
def test_a_level_is_suggested_that_so_many_drives_can_be(drives, level, tmp_path):
    text, _ = first_scenario(Answers(drives=drives), tmp_path / "s.toml")
    assert tomllib.loads(text)["array"][0]["level"] == level


def test_it_runs(tmp_path):
    text, _ = first_scenario(Answers("generic-15000rpm", 2, outstanding=2), tmp_path / "s.toml")
    tree = tomllib.loads(text)
    tree["run"]["duration"] = "1 s"
    assert simulate(tree).rows[0].iops > 100


def test_flash_begins_as_after_months(tmp_path):
    for load, state in (("randread", "filled"), ("randwrite", "steady-state")):
        text, _ = first_scenario(Answers("p3700-800", 1, load=load), tmp_path / "s.toml")
        assert tomllib.loads(text)["run"]["precondition"] == state


def test_all_wrong_answers_are_named_by_option(tmp_path):
    wrong = Answers("generic-7201rpm", 3, "raid10", "lsi9999", "random-read")
    keys = {each.key: each for each in faults_of(wrong)}
    assert set(keys) == {"--model", "--drives", "--controller", "--load"}
    assert "generic-7200rpm" in str(keys["--model"])
    assert "an even number" in keys["--drives"].allowed
    assert keys["--load"].nearest == "randread"
    with pytest.raises(SpecError) as raised:
        first_scenario(Answers(block_size="4 kilo"), tmp_path / "s.toml")
    (fault,) = raised.value.faults
    assert (fault.key, fault.value) == ("--block-size", "4 kilo")
    faults = list(faults_of(Answers(model="lsi2008")))
    assert "of kind controller" in faults[0].allowed


def test_the_command_writes_it_and_check_takes_it(raidlab, tmp_path):
    out = tmp_path / "s.toml"
    done = raidlab("new", "--out", out, "--level", "raid10", "--drives", 8, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"scenario": str(out), "runs": 3, "text": out.read_text()}
    assert raidlab("check", out).returncode == 0
    assert raidlab("new", "--out", out, "--level", "raid99").returncode == 2


def test_the_questions_are_asked_again_until_they_can_be(raidlab):
    typed = "generic-7200\n\ntwo\n2\nraid5\nraid1\n\nrandwrite\n"
    done = raidlab("new", "--ask", typed=typed)
    assert done.returncode == 0
    assert 'did you mean "generic-7200rpm"' in done.stderr
    assert '--drives = "two": a whole number' in done.stderr
    assert "--drives = 2: what raid5 wants: 3 drives or more" in done.stderr
    (array,) = tomllib.loads(done.stdout)["array"]
    assert (array["level"], array["drives"][0]["count"]) == ("raid1", 2)


def test_what_options_say_is_not_asked(raidlab):
    words = ["--model", "five", "--drives", 2, "--level", "raid0", "--controller", "none"]
    done = raidlab("new", "--ask", *words, "--load", "read", typed="")
    assert done.returncode == 0
    assert "?" not in done.stderr
