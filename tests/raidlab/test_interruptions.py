"""Commands that are killed and whose disk is full, again and again: nothing is lost."""

import pytest

from tests.reference.interruptions import CASES, disturb


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_is_lost(case):
    seen = disturb(case, kills=2, full=1)
    assert (seen.lost, seen.torn, seen.equal) == (0, 0, True)
    assert seen.killed + seen.full >= 2
