"""Which number matters most, against what a station's closed form says."""

import math

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.studies import sensitivity as report
from raidlab.scenarios.results.goals import quantity_of
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.sensitivity import Method, sensitivity
from raidlab.scenarios.studies.vary import axes_of

pytest.importorskip("SALib")

STATION = """
kind = "station"
name = "open"
title = "Of an uncertain service time"
capacity = "1 GB"
service = "4 ms"
queue_depth = 32
[sources]
all = { source = "assumed", note = "test" }
service = { source = "assumed", note = "test", range = ["1 ms", "16 ms"] }
queue_depth = { source = "assumed", note = "test", range = ["16", "64"] }
"""


@pytest.fixture
def station(tmp_path):
    """A closed load of one I/O at a station whose service time is 1 to 16 ms."""
    (tmp_path / "open.toml").write_text(STATION)

    def build(**load):
        tree = {
            "array": [{"drives": [{"model": "open.toml"}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1} | load],
            "run": {"warm_up": "0 s", "duration": "1 s"},
        }
        return build_scenario(tree, tmp_path / "scenario.toml")

    return build


def test_a_mean_moves_by_what_its_service_time_does(station):
    """Log-triangular between 1 and 16 with the mode at 4: quantiles 1/8 and 7/8 are 2 and 8 ms.

    Each of Morris' steps goes half of the way between quantiles: 1/8 to 5/8, or 3/8 to 7/8.
    """
    found = sensitivity(station(), quantity_of("mean"), samples=20, seed=3)
    first, second = found.effects
    assert (first.factor.key, second.factor.key) == ("service", "queue_depth")

    def at(share):  # in units of the half range of logarithms, ln 4
        return 4 * 4 ** (math.sqrt(2 * share) - 1 if share < 0.5 else 1 - math.sqrt(2 - 2 * share))

    steps = [(at(5 / 8) - at(1 / 8)) * 1.5, (at(7 / 8) - at(3 / 8)) * 1.5]
    assert steps[0] * 1e3 < first.effect < steps[1] * 1e3
    assert second.effect == pytest.approx(0, abs=1)
    assert found.low / 1e3 == pytest.approx(at(1 / 8), rel=0.01)
    assert found.high / 1e3 == pytest.approx(at(7 / 8), rel=0.01)
    assert "Measure open: service first" in report.answer(found).replace(".toml", "")
    # Where all numbers are of one device a picture and a table need not repeat it.
    assert report.table(found).columns[0].head == "number"
    assert list(report._picture(found).data[0].y) == ["queue_depth", "service"]


def test_the_result_is_the_same_with_any_number_of_workers(station):
    one, two = (
        sensitivity(station(), quantity_of("p99"), samples=4, running=Running(workers))
        for workers in (1, 2)
    )
    assert one.to_dict() == two.to_dict()


def test_sobol_gives_the_variance_to_the_number_that_causes_it(station):
    axes = axes_of(["workload.0.think_time=1:1.001 ms"])
    scenario = station(think_time="1 ms", think="fixed")
    found = sensitivity(scenario, quantity_of("mean"), axes=axes, method=Method.SOBOL, samples=16)
    first = found.effects[0]
    assert first.factor.key == "service"
    assert first.effect == pytest.approx(1, abs=first.ci95)
    assert all(other.effect == pytest.approx(0, abs=0.01) for other in found.effects[1:])
    assert found.simulated == 1 + 16 * 5


def test_what_cannot_be_ranked_is_refused(station):
    with pytest.raises(SpecError, match="--of") as error:
        sensitivity(station(), quantity_of("cost"), method=Method.SOBOL, samples=10)
    assert "--samples = 10: a power of 2, such as 8 or 16" in str(error.value)
    with pytest.raises(SpecError, match='"p99"'):
        quantity_of("")
    with pytest.raises(SpecError, match=r"p99\.9"):
        quantity_of("p999")
    with pytest.raises(SpecError, match="a range without a step"):
        sensitivity(station(), quantity_of("p99"), axes=axes_of(["workload.0.outstanding=1,2"]))
    tree = {
        "array": [{"drives": [{"model": "generic-15000rpm"}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1}],
    }
    with pytest.raises(SpecError, match="a range of a field, as no device"):
        sensitivity(build_scenario(tree), quantity_of("p99"))


def test_a_field_that_is_left_out_has_no_value(station):
    axes = axes_of(["array.0.drives.0.count=1:4"])
    found = sensitivity(station(), quantity_of("mean"), axes=axes, samples=4)
    (own,) = (each for each in found.effects if not each.factor.device)
    assert own.to_dict()["value"] is None
    assert [row[2] for row in report.table(found).rows if row[0] is None] == [None]


def test_a_quantity_that_the_load_does_not_have_is_refused(station):
    with pytest.raises(SpecError, match="no such I/O was done"):
        sensitivity(station(), quantity_of("write p99"), samples=4)
