"""The naive prediction of what is left out: the figure of the nearest configuration given."""

from __future__ import annotations

import csv
import math
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from raidlab.calibration.published.catalogue import GROUPS, LISTING, PAGE
from raidlab.calibration.published.figures import Figure, read_published
from raidlab.calibration.published.nearest import (
    Beside,
    beside_nearest,
    by_nearest,
    nearest_errors,
    said_of,
)
from raidlab.calibration.published.usage import training_figures

ROOT = Path(__file__).parents[3]


def figure(value: float, quantity: str = "iops", **columns: str) -> Figure:
    one = next(figure for figure in read_published() if figure.id == "iodrive-001")
    return replace(
        one,
        configuration=replace(one.configuration, **columns),
        value=value,
        quantity=quantity,  # type: ignore[arg-type]
    )


def test_a_format_is_a_column_as_others_are() -> None:
    """At another depth in its format 300 of 200, in another format and depth 100."""
    own = figure(200.0, outstanding="1", format="maximum-write")
    deep = figure(300.0, outstanding="16", format="maximum-write")
    other = figure(100.0, outstanding="16", format="advertised")
    assert by_nearest(own, [other, deep]) == pytest.approx(math.log(1.5))


def test_errors_of_a_group_are_those_of_the_first_nearest_of_the_others() -> None:
    """400 for 500: 20 %. Nothing else is a rate in MB/s, and nothing of the group is given."""
    out = [figure(500.0, outstanding="16"), figure(90.0, "mb_per_s", outstanding="16")]
    given = [figure(400.0, outstanding="1"), figure(600.0, outstanding="512")]
    assert nearest_errors(out, [*out, *given]) == [pytest.approx(20.0)]


def test_groups_in_which_the_model_loses_are_named() -> None:
    """Medians of three groups: 4 and 9 %. The fourth has no figure beside it."""
    groups = [
        Beside("profile a", 4.0, 9.0), Beside("profile b", 5.0, 3.0), Beside("depth 1", 1.0, 90.0),
        Beside("depth max", 50.0, None),
    ]  # fmt: skip
    assert beside_nearest(groups) == ["4.0", "9.0", "1 of 3: profile b"]
    assert beside_nearest(groups[3:]) == ["-", "-", "-"]
    assert said_of(groups) == "The model loses to the nearest given in 1 of 3 groups."


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader((ROOT / LISTING).read_text().splitlines()))


def test_the_listing_has_the_nearest_figures_of_today() -> None:
    """Where a fit had seen all the figures that the tables have now."""
    checked = 0
    for row in rows():
        figures = training_figures(row["device"])
        kind, _, label = row["left_out"].partition(" ")
        out = [each for each in figures if GROUPS[kind](each.configuration) == label]
        if len(out) != int(row["figures"]):
            continue
        errors = nearest_errors(out, figures)
        median = f"{statistics.median(errors):.1f}" if errors else ""
        assert (row["nearest_figures"], row["by_nearest"]) == (str(len(errors)), median), row
        checked += 1
    assert checked >= 90


def test_the_page_sums_up_its_listing() -> None:
    text = (ROOT / PAGE).read_text()
    groups: dict[str, list[Beside]] = {}
    for row in rows():
        nearest = float(row["by_nearest"]) if row["by_nearest"] else None
        group = Beside(row["left_out"], float(row["median_predicted"]), nearest)
        groups.setdefault(row["device"], []).append(group)
    assert len(groups) == 13
    for device, own in groups.items():
        line = next(line for line in text.splitlines() if line.startswith(f"| {device} |"))
        assert line.endswith(f"| {' | '.join(beside_nearest(own))} |")
    assert said_of([group for own in groups.values() for group in own]) in text


def test_the_page_of_the_iodrive_has_the_nearest_figures_of_its_arrays() -> None:
    """Of one card alone, beside the model's errors, by the rows of validation.csv."""
    text = (ROOT / "docs/evidence/iodrive.md").read_text()
    listed = csv.DictReader((ROOT / "docs/evidence/validation.csv").read_text().splitlines())
    simulated = {row["figure"]: row["simulated"] for row in listed}
    arrays = [
        figure
        for figure in read_published()
        if figure.configuration.drive == "iodrive-320"
        and figure.configuration.level in ("raid0", "raid1")
    ]
    given = training_figures("iodrive-320")
    nearest = [100 * abs(math.expm1(by_nearest(figure, given))) for figure in arrays]
    model = [100 * abs(float(simulated[figure.id]) / figure.value - 1) for figure in arrays]
    assert len(arrays) == 30
    both = statistics.median(nearest), statistics.median(model)
    assert f"{both[0]:.1f} %, the model's {both[1]:.1f} %" in " ".join(text.split())
    lost = [pair for pair in zip(model, nearest, strict=True) if pair[0] > pair[1]]
    assert len(lost) == 2
    for level in ("raid0", "raid1"):
        of_level = [
            e for e, f in zip(nearest, arrays, strict=True) if level in f.configuration.level
        ]
        line = next(row for row in text.splitlines() if row.startswith(f"| RAID {level[-1]} |"))
        assert line.endswith(f"| {statistics.median(of_level):.1f} % |")


def test_the_page_of_controllers_has_the_largest_errors_of_its_listing() -> None:
    path = ROOT / "docs/evidence/controllers-left-out.csv"
    listed = list(csv.DictReader(path.read_text().splitlines()))
    listed.sort(key=lambda row: float(row["predicted_largest_pct"]), reverse=True)
    (one, two) = ((row["left_out"], row["predicted_largest_pct"]) for row in listed[:2])
    text = " ".join((ROOT / "docs/evidence/controllers.md").read_text().split())
    assert f"{one[1]} % with {one[0]} left out, {two[1]} % with the {two[0]}" in text
