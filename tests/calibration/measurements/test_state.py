"""The state of a drive before each step of a bundle."""

from raidlab.calibration.measurements.state import states


def step(number, purpose="measure", writes=False, stage="main", of=1, state="done"):
    return {
        "number": number,
        "purpose": purpose,
        "writes": writes,
        "stage": stage,
        "round": of,
        "state": state,
    }


def test_a_purged_drive_is_fresh_until_it_is_written():
    steps = [step(1, "purge"), step(2), step(3, writes=True), step(4)]
    assert states({"steps": steps}) == {2: "fresh", 3: "fresh"}


def test_a_drive_that_was_laid_out_contains_data():
    steps = [step(1, "layout", writes=True), step(2), step(3, writes=True), step(4)]
    assert states({"steps": steps}) == {2: "filled", 3: "filled", 4: "filled"}


def test_writes_of_the_rounds_that_a_steady_state_test_looked_at_found_it():
    steps = [step(n, writes=True, of=n) for n in range(1, 8)] + [step(8, of=7)]
    window = [1.0] * 5
    test = {"stage": "main", "reached": True, "rounds": 7, "assessment": {"window": window}}
    found = states({"steps": steps, "steady_state": [test]})
    assert found == dict.fromkeys(range(3, 8), "steady-state")
    assert states({"steps": steps, "steady_state": [test | {"reached": False}]}) == {}


def test_steps_that_were_not_done_change_nothing():
    assert states({"steps": [step(1, "purge", state="failed"), step(2)]}) == {}
