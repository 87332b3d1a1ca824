"""What a system costs and draws: one bill for `plan` and `until`, all energy that is known in it.

Watts that prices and `[base]` state count as they are. A drive without them draws what its activity
under the load takes, if its file says so. Else it draws what is usual of its class: idle watts, and
those at work for the share of the time that it is busy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.devices.usual_power import usual_watts
from raidlab.devices.volume import VolumeSpec
from raidlab.scenarios.capacity.question import Question
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.component_name import drive_name


@dataclass(frozen=True)
class Drawing:
    """Drives of a model whose price states no watts."""

    device: str
    """By the name that the question has for it."""
    count: int
    idle: float
    """Watts of one that does nothing."""
    active: float | None = None
    """Watts at work that are usual of its class; None where its own file says what it draws."""


@dataclass
class Bill:
    """What a system costs, draws and takes; None where prices do not say."""

    capital: float | None = None
    rack_units: float | None = None
    stated_watts: float | None = None
    """Of everything but `drives`."""
    drives: Mapping[str, Drawing] = field(default_factory=dict)
    """Those whose watts are of their activity, by the names of their devices."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """What nothing says the watts of, by the names that the question has, and how many."""
    watts: float | None = None
    """Of all that is known, `drives` idle until a run shows more; None if nothing is known."""
    of_watt: float = 0.0
    """Price of a watt over the horizon."""

    @property
    def assumed(self) -> list[str]:
        """Devices whose watts are those usual of their class."""
        return sorted(each.device for each in self.drives.values() if each.active is not None)

    @property
    def by_activity(self) -> list[str]:
        """Devices whose own files say what they draw by activity."""
        return sorted(name for name, each in self.drives.items() if each.active is None)

    @property
    def energy(self) -> float | None:
        """Price over the horizon of the energy that is known; None if none is."""
        return None if self.watts is None else self.watts * self.of_watt

    @property
    def cost(self) -> float | None:
        """Capital, and the energy over the horizon that is known."""
        return None if self.capital is None else self.capital + (self.energy or 0.0)

    def runs(self, row: Row) -> None:
        """Takes the watts of drives from the row of a run; those that are not in it are idle."""
        if self.stated_watts is None or not self.drives:
            return
        idle = {name: each.count for name, each in self.drives.items()}
        drawn = 0.0
        for component in row["components"]:
            name, power = drive_name(component["name"]), component.get("power")
            if name is None or name.part or name.model not in self.drives:
                continue
            one = self.drives[name.model]
            if one.active is not None:
                drawn += one.idle + (one.active - one.idle) * component["utilization"]
            elif power is not None:
                drawn += power["watts"]
            else:
                continue
            idle[name.model] -= 1
        drawn += sum(max(0, left) * self.drives[name].idle for name, left in idle.items())
        self.watts = self.stated_watts + drawn


def drawing_of(question: Question, name: str, count: int = 1) -> Drawing | None:
    """What drives draw whose price states no watts; None where nothing says it."""
    own = question.idle_watts(name)
    if own is not None:
        return Drawing(name, count, own)
    usual = usual_watts(question.device(name).spec)
    return None if usual is None else Drawing(name, count, usual.idle, usual.active)


def bill_of_devices(question: Question, devices: Sequence[str], volumes_month: float = 0.0) -> Bill:
    """What devices cost, draw idle and take; nothing is known without prices.

    Args:
        question: Prices, the base and the horizon.
        devices: Each as often as there is one.
        volumes_month: What cloud volumes cost a month by what is provisioned.
    """
    if not question.prices:
        return Bill()
    table, base = question.table, question.table.base
    stated, knows = base.power, "power" in base.model_fields_set
    drives: dict[str, Drawing] = {}
    unknown: dict[str, int] = {}
    capital = base.capital(table.horizon) + 12 * table.horizon * volumes_month
    racks = base.rack_units or 0.0
    for name, count in Counter(devices).items():
        price, spec = question.prices.get(name), question.device(name).spec
        if price is not None:
            capital += price.capital_of(count, table.horizon)
            racks += count * (price.rack_units or 0.0)
        if price is not None and price.power is not None:
            stated, knows = stated + count * price.power, True
        elif (drawing := drawing_of(question, name, count)) is not None:
            drives[spec.name] = drawing
        # A host without a price is in the base; the provider pays what a cloud volume draws.
        elif not isinstance(spec, VolumeSpec) and (
            price is not None or "power" not in base.model_fields_set
        ):
            unknown[name] = count
    idle = sum(each.count * each.idle for each in drives.values())
    return Bill(
        capital=capital,
        rack_units=racks if table.racked else None,
        stated_watts=stated,
        drives=drives,
        unknown=unknown,
        watts=stated + idle if knows or drives else None,
        of_watt=8766 * table.horizon / 1e3 * table.energy_price,
    )
