"""How sure a fit is of whole numbers: a step that changes nothing says nothing of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raidlab.calibration.fitting.certainty.uncertainty import Estimate, certainty
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.minimise import ENDLESS, Array, Budget, Search

SERVICE = Parameter("service", "us", 1.0, 1e5, "log", "depth 1")
SERVERS = Parameter("servers", "", 1, 256, "log", "the rate at depth", whole=True)


def estimates(servers: int, depths: Sequence[int], off: float = 0.0) -> tuple[Estimate, Estimate]:
    """Of a station of 5 ms, from its rates by depth.

    Args:
        servers: It has.
        depths: At which its rate min(depth, servers) / service is measured.
        off: How far the place found lies off that of the number of servers.
    """
    parameters, groups = [SERVICE, SERVERS], [*range(len(depths))]

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        service, found = (p.value(float(x)) for p, x in zip(parameters, at, strict=True))
        rates = [
            min(depths[point], found) / min(depths[point], servers) * 5000.0 / service
            for point in points
        ]
        return np.log(rates) / 0.03

    place = np.array([SERVICE.place(5000.0), SERVERS.place(servers) + off])
    search = Search(evaluate, place, tuple(groups), Budget(ENDLESS), parameters, groups)
    service, found = certainty(search, place, groups, 1).estimates
    return service, found


@pytest.mark.parametrize("off", [0.0, 0.02, 0.06])
def test_the_least_whole_number_is_known_where_the_next_one_would_show(off: float) -> None:
    """Two servers would double the rate at depth 4 and 16; up to a place of 0.073 it is one."""
    service, servers = estimates(1, [1, 4, 1, 16], off)
    assert (servers.value, servers.low, servers.high) == (1.0, 1.0, 1.0)
    assert servers.identifiable
    assert not servers.at_bound
    assert service.identifiable
    assert 4500.0 < service.low < 5000.0 < service.high < 5600.0


def test_whole_numbers_between_the_bounds_are_known_alike() -> None:
    """Seven or nine in the place of eight are 13 % off at depth 16 and 64, of 3 % allowed."""
    _, servers = estimates(8, [1, 4, 16, 64], 0.003)
    assert (servers.low, servers.value, servers.high) == (8.0, 8.0, 8.0)
    assert servers.identifiable


def test_a_whole_number_that_nothing_shows_is_not_known() -> None:
    """At depth 1 and 4 sixteen servers are as good as any number from 4 on."""
    _, servers = estimates(16, [1, 4, 2, 4])
    assert servers.high == 256.0
    assert not servers.identifiable


def test_a_neighbour_within_the_tolerance_is_in_the_interval() -> None:
    """99 and 101 servers are 1 % off, of 3 % allowed."""
    _, servers = estimates(100, [1, 16, 256, 512])
    assert servers.low < 100.0 < servers.high
    assert servers.identifiable


def test_the_most_that_was_looked_at_is_a_bound() -> None:
    _, servers = estimates(256, [1, 64, 512, 1024])
    assert servers.at_bound
    assert not servers.identifiable


@pytest.mark.parametrize(("tolerance", "reported"), [(0.1, True), (0.6, False)])
def test_a_time_known_to_its_half_is_not_reported_however_wide_its_range(
    tolerance: float, reported: bool
) -> None:
    """Of a range from 1 us to 0.1 s half of 5 ms is little."""

    def evaluate(at: Array, points: Sequence[int], rough: bool) -> Array:
        off = np.log(SERVICE.value(float(at[0])) / 5000.0)
        return np.array([off / tolerance for _ in points])

    place, groups = np.array([SERVICE.place(5000.0)]), [0, 1, 2]
    search = Search(evaluate, place, tuple(groups), Budget(ENDLESS), [SERVICE], groups)
    (service,) = certainty(search, place, groups, 1).estimates
    assert (service.stderr <= 0.3 * service.value) is reported
    assert service.identifiable is reported
    assert not service.at_bound and SERVICE.low < service.low < service.high < SERVICE.high
