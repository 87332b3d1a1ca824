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
