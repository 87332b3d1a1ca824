"""The first look over everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.minimise import (
    ENDLESS,
    Array,
    Budget,
    Search,
    Stage,
    global_search,
)


def test_half_of_the_places_are_without_what_only_some_devices_have() -> None:
    seen: list[Array] = []

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        seen.append(at.copy())
        return np.array([1.0])

    time = Parameter("time", "us", 1.0, 100.0, "log", "")
    wake = Parameter("wake", "us", 0.0, 200.0, "linear", "", needs="reads alone")
    start = np.array([0.5, 0.0])
    search = Search(evaluate, start, (0,), Budget(ENDLESS), [time, wake])
    global_search(search, start, Stage((0, 1), (0,)), 40, 1, 41)
    places = np.array(seen[1:41])
    assert len(places) == 40
    assert np.sum(places[:, 1] == 0.0) == 20
    # Whatever both have is looked at everywhere by either half.
    for half in (places[::2], places[1::2]):
        assert half[:, 0].min() < 0.1 and half[:, 0].max() > 0.9


def test_a_look_that_ends_early_finds_the_same_place_with_fewer_simulations() -> None:
    """Two parameters, three points: whole looks, and looks that end once they cannot be best."""
    parameters = [Parameter(name, "us", 1.0, 100.0, "log", "") for name in "ab"]
    points, start = (0, 1, 2), np.array([0.5, 0.5])

    def found(early: bool) -> tuple[Array, int, int]:
        simulated = 0

        def evaluate(at: Array, of: Sequence[int], rough: bool) -> Array:
            nonlocal simulated
            simulated += len(of)
            goals = np.array([0.3, 0.7, 0.4])[list(of)]
            return 20.0 * (at[0] * (1.0 - 0.2 * np.array(of)) + 0.5 * at[1] - goals)

        search = Search(evaluate, start, points, Budget(ENDLESS), parameters)
        if not early:
            search.together = len(points)
        place = global_search(search, start, Stage((0, 1), points), 60, 1, 10_000)
        return place, search.evaluations, simulated

    early, whole = found(True), found(False)
    assert np.array_equal(early[0], whole[0]) and early[1] == whole[1]
    assert early[2] < whole[2]
