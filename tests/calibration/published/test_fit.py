"""Fits to published figures: which figures train, what the search finds, how sheets are changed."""

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from raidlab.calibration.published import catalogue as published_catalogue
from raidlab.calibration.published.catalogue import GROUPS, by_lines, left_out
from raidlab.calibration.published.figures import read_published
from raidlab.calibration.published.fit import Bench, reassess, search
from raidlab.calibration.published.usage import DeviceFit, fits, use_of
from raidlab.devices.catalogue import find
from raidlab.devices.spec_text import scaled, with_source, with_value
from raidlab.scenarios.running.store import Store

SHEET = """\
[nand]
read = ["50 us", "70 us"]

[firmware]
read = "20 us"
cores = 10

[sources]
all = "assumed"
"""


def test_a_number_is_changed_in_its_own_table_and_nowhere_else():
    assert 'read = ["55 us", "77 us"]\n\n[firmware]' in scaled(SHEET, "nand.read", 1.1)
    assert 'read = ["50 us", "70 us"]' in scaled(SHEET, "firmware.read", 0.5)
    assert '\nread = "10 us"' in scaled(SHEET, "firmware.read", 0.5)
    assert "cores = 13" in scaled(SHEET, "firmware.cores", 1.26)
    assert 'read = ["1 us", "2 us"]' in with_value(SHEET, "nand.read", ["1 us", "2 us"])
    with pytest.raises(ValueError, match=r"nand\.cores: no parameter"):
        with_value(SHEET, "nand.cores", 2)


def test_a_source_is_added_once_and_then_replaced():
    once = with_source(SHEET, "nand.read", {"source": "fitted", "stderr": "5 %"})
    assert once.endswith('all = "assumed"\n"nand.read" = { source = "fitted", stderr = "5 %" }\n')
    again = with_source(once, "nand.read", "assumed")
    assert again.endswith('all = "assumed"\n"nand.read" = "assumed"\n')


@pytest.mark.parametrize("device", list(fits().device))
def test_every_fit_has_its_parameters_in_the_sheet_and_more_figures_than_those(device):
    fit = fits().device[device]
    bench = Bench(device, fit)
    assert bench.sheet(np.zeros(len(fit.start))) != ""
    assert len(bench.figures) >= len(fit.start)


def test_figures_are_fitted_chosen_in_view_or_predicted():
    figures = {figure.id: figure for figure in read_published()}
    assert use_of(figures["iodrive-001"]) == "fitted"
    # Mechanisms of the model were chosen by how many figures of this report, arrays too, they meet.
    assert use_of(figures["iodrive-121"]) == "chosen in view"
    assert {use_of(figure) for figure in figures.values() if figure.id.startswith("iodrive")} == {
        "fitted", "chosen in view",
    }  # fmt: skip
    assert use_of(figures["p3700-099"]) == "predicted", "a bound of a larger model"
    assert use_of(figures["p3700-072"]) == "chosen in view"


class Known(Bench):
    """A bench whose streams follow one parameter and whose other figures the other one."""

    def __init__(self, store=None):
        start = {"firmware.read": "10 us", "firmware.write": "10 us"}
        super().__init__("p3700-800", DeviceFit(measurement="none", start=start), store)
        self.simulations = 0
        self.odd = 1.0
        """What the first stream is off by."""

    def _simulated(self, sheets):
        self.simulations += len(sheets)
        return [self._known(tomllib.loads(sheet)["firmware"]) for sheet in sheets]

    def _known(self, firmware):
        read, write = (float(firmware[key].split()[0]) for key in ("read", "write"))
        streams = [figure.configuration.load == "streaming" for figure in self.figures]
        errors = np.array([math.log(20 / (read if one else write)) for one in streams])
        errors[streams.index(True)] += math.log(self.odd)
        return errors


def test_the_search_finds_what_the_figures_say_and_how_well_they_say_it():
    found = search(Known(), DeviceFit(measurement="none", start={"x": 1}))
    # A pull of a factor of three against a tolerance of a few percent moves next to nothing.
    assert np.exp(found.place) * 10 == pytest.approx([20, 20], rel=0.01)
    streams = [each.configuration.load == "streaming" for each in found.bench.figures]
    expected = math.sqrt(1 / np.sum(found.bench.tolerances[streams] ** -2.0))
    assert found.stderr[0] == pytest.approx(expected, rel=0.02)
    assert found.is_determined(0) and not found.alike(0)
    assert '"firmware.read" = { source = "fitted", stderr = "4 %"' in found.sheet()


def test_one_figure_that_cannot_be_reached_does_not_rule():
    bench = Known()
    bench.odd = 4.0
    found = search(bench, DeviceFit(measurement="none", start={"x": 1}))
    assert math.exp(found.place[0]) * 10 == pytest.approx(20, rel=0.12)
    bench.odd = 1.0
    assert found.stderr[0] > search(bench, DeviceFit(measurement="none", start={"x": 1})).stderr[0]


def test_a_group_left_out_is_predicted_by_what_the_others_say():
    found = search(Known(), DeviceFit(measurement="none", start={"x": 1}))
    groups = {one.label: one for one in left_out(found, GROUPS["profile"])}
    # Nothing else tells the streams' parameter: without them it goes back to its start.
    assert max(groups["streaming"].predicted) > 50 > 2 > max(groups["streaming"].fitted)
    assert max(groups["restore"].predicted) < 2


def test_lines_go_between_the_other_depths_of_the_same_load():
    one = next(figure for figure in read_published() if figure.id == "p3700-029")

    def at(depth, value, load="database"):
        changed = replace(one.configuration, outstanding=depth, load=load)
        return replace(one, configuration=changed, value=value)

    known = [at("1", 100.0), at("64", 800.0), at("max", 900.0), at("4", 50.0, "restore")]
    # A third of the way from 1 to 64 and from 100 to 800, in logarithms: 200 for 250.
    middle = at("4", 250.0)
    assert by_lines([middle], [*known, middle]) == [pytest.approx(20.0)]
    # Nothing beyond the ends, and nothing for a depth without a number.
    assert by_lines([known[1]], known) == by_lines([known[2]], known) == []


def test_an_interrupted_fit_goes_on(tmp_path):
    """Runs are found by what the sheet says, not by the file in which it stood."""
    fit = DeviceFit(measurement="none", start={"firmware.read": "10 us"})
    with Store(tmp_path / "store.sqlite") as store:
        bench = Bench("p3700-800", fit, store)
        bench.figures = bench.figures[:1]
        first = bench.errors([np.zeros(1)])
        runs = store.overview().entries
        again = bench.errors([np.zeros(1)])
        assert store.overview().entries == runs > 0
    assert np.array_equal(first, again)


def test_how_sure_the_present_values_are_moves_none_of_them():
    name = "sas-6g-hdd"
    found = reassess(name, fits().device[name])
    before = tomllib.loads(Path(find(name).path).read_text())
    after = tomllib.loads(found.sheet_with_errors())
    for sheet in before, after:
        sheet["sources"]["seek.spread"].pop("stderr")
    assert after == before
    assert after["sources"]["seek.spread"]["source"] == "fitted"
    # One parameter of the mean of five figures, each known to 5 %, that follow it in part.
    assert 0.05 / math.sqrt(5) < found.stderr[0] < 0.2


def test_a_sheet_as_it_stands_is_so_far_from_where_its_fit_began():
    """One parameter: the logarithm of the sheet's value over that of the start, by hand."""
    name = "sas-6g-hdd"
    value = float(tomllib.loads(Path(find(name).path).read_text())["seek"]["spread"].split()[0])
    for start, place in (("0.8 ms", math.log(value / 0.8)), ("0.4 ms", math.log(value / 0.4))):
        fit = DeviceFit(measurement="none", start={"seek.spread": start})
        assert reassess(name, fit).place == pytest.approx([place])
    with pytest.raises(ValueError, match="different units"):
        reassess(name, DeviceFit(measurement="none", start={"seek.spread": "800 us"}))


def test_a_device_without_a_fit_is_reported_with_those_that_have_one(capsys):
    assert published_catalogue.main(["p3700-80"]) == 2
    assert "p3700-800" in capsys.readouterr().err
