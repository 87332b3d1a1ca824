"""Which published figures were used to choose parameters, and which are predictions.

`published/fits.toml` names the devices that are fitted and their parameters; a device is fitted to
the figures of one drive alone. Other parameters, and mechanisms of models, were chosen by hand with
some figures in view: those are named there too. All other figures are predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import Field

from raidlab.calibration.published.figures import FOLDER, Figure, read_published
from raidlab.devices.faults import Faults
from raidlab.devices.schema import Table, check, read_toml

Use = Literal["fitted", "chosen in view", "predicted"]
USES: tuple[Use, ...] = ("predicted", "chosen in view", "fitted")
"""What counts most comes first."""

_NUMBERS = ("iops", "mib_per_s", "mb_per_s", "latency_ms_min")


class DeviceFit(Table):
    """What is fitted of one device."""

    measurement: str
    """Name of the figures, for the data sheet's sources."""
    start: dict[str, Any] = Field(min_length=1)
    """Where the search begins: by `table.name` of the data sheet, as a data sheet says it."""


class ByHand(Table):
    """Figures that were in view when parameters or mechanisms were chosen by hand."""

    what: str
    """The parameters or mechanisms."""
    ids: tuple[str, ...] = ()
    source: str = ""
    """All figures of a report to which nothing is fitted."""


class Fits(Table):
    """`published/fits.toml`."""

    device: dict[str, DeviceFit]
    by_hand: tuple[ByHand, ...] = ()


@cache
def fits() -> Fits:
    """What is fitted to published figures.

    Raises:
        SpecError: Everything that is wrong with the file.
    """
    path = FOLDER / "fits.toml"
    faults = Faults(str(path))
    found = check(Fits, read_toml(path), faults)
    faults.raise_if_any()
    if found is None:
        raise AssertionError("a file that cannot be read has faults")
    return found


def trains(device: str, figure: Figure) -> bool:
    """True for a number measured on one drive of that device."""
    configuration = figure.configuration
    return (
        configuration.drive == device
        and configuration.level == "single"
        and not configuration.controller
        and figure.relation in ("=", "~")
        and figure.quantity in _NUMBERS
    )


def training_figures(device: str) -> list[Figure]:
    """The figures that a device is fitted to."""
    return [figure for figure in read_published() if trains(device, figure)]


@cache
def _used() -> Mapping[str, Use]:
    """Uses of the figures that come with raidlab, by configuration and quantity."""
    used: dict[str, Use] = {}
    for figure in read_published():
        for choice in fits().by_hand:
            if figure.id in choice.ids or figure.configuration.source == choice.source:
                used[_known_by(figure)] = "chosen in view"
        if any(trains(device, figure) for device in fits().device):
            used[_known_by(figure)] = "fitted"
    return used


def _known_by(figure: Figure) -> str:
    return repr((figure.configuration, figure.quantity, figure.value, figure.baseline))


def use_of(figure: Figure) -> Use:
    """Whether a figure was used to choose parameters.

    One that did not come with raidlab was not.
    """
    return _used().get(_known_by(figure), "predicted")
