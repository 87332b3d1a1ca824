"""Which published figures were used to choose parameters, and which are predictions.

`published/fits.toml` names the devices that are fitted and their parameters; a device is fitted to
the figures of one drive alone. Other parameters, and mechanisms of models, were chosen by hand with
some figures in view: those are named there too. All other figures are predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from raidlab.calibration.published.figures import FOLDER, Figure, read_claims, read_published
from raidlab.devices.catalogue import find
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
    start: dict[str, str | float | list[str]] = Field(min_length=1)
    """Where the search begins: by `table.name` of the data sheet, as a data sheet says it."""


class Chip(Table):
    """One of a family's chips."""

    speed: float = Field(gt=0)
    """Of one core, in Dhrystone MIPS: clock times what a core does in a cycle."""
    controllers: tuple[str, ...] = Field(min_length=1)
    """Of the catalogue."""


class FamilyFit(Table):
    """What is fitted of controllers that share their firmware."""

    measurement: str
    reference: str
    """The chip on whose cores the terms of `start` hold."""
    start: dict[str, str] = Field(min_length=1)
    """Where the search begins: times by key of `[firmware]`."""
    chip: dict[str, Chip]

    def chip_of(self, controller: str) -> str | None:
        """The family's chip that a controller has, by any of the controller's names."""
        if not controller:
            return None
        name = find(controller).spec.name
        return next((chip for chip, of in self.chip.items() if name in of.controllers), None)


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
    family: dict[str, FamilyFit] = Field(default_factory=dict)
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


def of_family(family: FamilyFit, figure: Figure) -> bool:
    """True for a figure that firmware times of a family's controllers may decide.

    Disks bound theirs, bounds of streams hold whatever the firmware does.
    """
    configuration = figure.configuration
    bounds_stream = figure.relation not in ("=", "~") and figure.quantity != "iops"
    if bounds_stream or family.chip_of(configuration.controller) is None:
        return False
    return find(configuration.drive).spec.kind == "ssd"


def family_figures(family: FamilyFit) -> list[Figure]:
    """The figures that a family of controllers is fitted to."""
    return [figure for figure in read_published() if of_family(family, figure)]


@cache
def _used() -> Mapping[str, Use]:
    """Uses of the figures that come with raidlab, by configuration and quantity."""
    used: dict[str, Use] = {}
    for figure in [*read_claims(), *read_published()]:
        for choice in fits().by_hand:
            if figure.id in choice.ids or figure.configuration.source == choice.source:
                used[_known_by(figure)] = "chosen in view"
        if any(trains(device, figure) for device in fits().device):
            used[_known_by(figure)] = "fitted"
        if any(of_family(family, figure) for family in fits().family.values()):
            used[_known_by(figure)] = "fitted"
    return used


def _known_by(figure: Figure) -> str:
    return repr((figure.configuration, figure.quantity, figure.value, figure.baseline))


def use_of(figure: Figure) -> Use:
    """Whether a figure was used to choose parameters.

    One that did not come with raidlab was not.
    """
    return _used().get(_known_by(figure), "predicted")
