"""Options that parts leave in doubt: which one is settled on, by hand and on all points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.estimation.contest import decided_on_all
from raidlab.calibration.fitting.estimation.decision import Decision, Found, decided
from raidlab.calibration.fitting.estimation.stages import Settings, Settled, Task, places_of
from raidlab.calibration.fitting.estimation.start import base_of, host_of
from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.calibration.fitting.parameters.parameter import Mode, Option
from raidlab.calibration.fitting.recovery import load, measure
from raidlab.calibration.fitting.search.minimise import Budget
from raidlab.devices.catalogue import find
from raidlab.devices.host import HostSpec
from tests.calibration.fitting.known_drives import station

FIXED, EXPONENTIAL = (Option({"distribution": name}) for name in ("fixed", "exponential"))
MODE = Mode("distribution", "read", (FIXED, EXPONENTIAL))


def settled(above: float) -> tuple[Task, Settled]:
    """A station of exponential times whose searches of parts took them for fixed."""
    host = find("generic", Path()).spec
    assert isinstance(host, HostSpec)
    loads = [load("randread", depth, 1) for depth in (1, 8, 32)]
    points = measure(Bench.of(station(200.0, 8), host), loads, "m", Effort(ios=9000, seed=3)).points
    kind = replace(kind_of("station"), modes=(MODE,))
    settings = Settings("station", host="generic")
    tree, _ = base_of(kind, settings, "m", None)
    task = Task(kind, host_of(kind, settings, None), points, settings)
    model = task.model({**tree, "distribution": "fixed"}, frozenset({"distribution"}))
    wrong = Decision(MODE, FIXED, (Found(EXPONENTIAL, {}, above),))
    return task, Settled(model, model.start, model.start, evaluations=5, decisions=(wrong,))


def test_the_least_loss_decides_unless_a_more_usual_option_is_about_as_well() -> None:
    """33 comparisons, a loss of 66: another differs from 4 x 66 / 33 = 8 on."""
    usual, second, third = (Option({"order": name}) for name in "abc")
    mode = Mode("order", "read", (usual, second, third))
    tried = [(usual, {"a": 0.1}, 73.0), (second, {}, 66.0), (third, {}, 91.0)]
    made = decided(mode, tried, 33)
    assert (made.option, made.margin) == (usual, 8.0)
    assert [(o.option, o.above) for o in made.others] == [(second, -7.0), (third, 18.0)]
    assert made.rivals == (second,) and made.in_doubt == made.others[:1]
    clear = decided(mode, [(usual, {}, 74.5), *tried[1:]], 33)
    assert clear.option is second and clear.rivals == ()
    assert [o.option for o in clear.in_doubt] == [usual]
    liked = replace(third, preferred=True)
    assert decided(mode, [*tried[:2], (liked, {}, 73.9)], 33).option is liked


def test_all_points_correct_what_parts_have_decided() -> None:
    task, begun = settled(above=7.9)
    found = decided_on_all(task, begun, Budget(200))
    (made,) = found.decisions
    assert made.option is EXPONENTIAL and found.model.tree["distribution"] == "exponential"
    assert made.rivals == () and made.others[0].above > 20.0
    service = found.model.numbers(found.place)["service"]
    assert abs(service / 200.0 - 1.0) < 0.05
    assert made.others[0].places.keys() == places_of(found).keys()
    assert 5 < found.evaluations <= 200 and not found.cut


def test_what_is_in_no_doubt_or_beyond_the_budget_stays() -> None:
    task, begun = settled(above=8.1)
    assert decided_on_all(task, begun, Budget(200)) is begun
    task, begun = settled(above=7.9)
    cut = decided_on_all(task, begun, Budget(15))
    assert cut.decisions == begun.decisions and cut.cut == {"evaluations"}
    assert np.array_equal(cut.place, begun.place) and cut.evaluations == 15
