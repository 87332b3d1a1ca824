"""The question file of `raidlab plan`: load, growth, goals, candidates, prices."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.catalogue import Device, find, find_for
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.other_kind import Expected, refuse_other_kind
from raidlab.devices.schema import Table, check, read_toml
from raidlab.devices.units import IO_RATE, PERCENT, Share, Size, form_of
from raidlab.scenarios.capacity.choices import CandidatesTable
from raidlab.scenarios.capacity.prices import MOST_COST, BaseTable, PriceTable, in_a_year
from raidlab.scenarios.planning.monitored import expanded, place_of
from raidlab.scenarios.results.goals import Goal, Source, goals_of
from raidlab.scenarios.spec.monitored import MonitoredLoad, read_monitored
from raidlab.scenarios.spec.run import RunTable
from raidlab.scenarios.spec.schema import WorkloadTable
from raidlab.scenarios.spec.trees import RunTree, WorkloadTree
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies.present import System

_CURRENCY = re.compile(r"[A-Za-z€$£]+$")
_YEARS = re.compile(r"(\d+(?:\.\d+)?)\s*(years?|months?)")


def _years(value: Any) -> float:
    match = _YEARS.fullmatch(value) if isinstance(value, str) else None
    found = 0.0
    if match is not None:
        found = float(match[1]) / (12 if match[2].startswith("month") else 1)
    if not 0 < found <= 50:
        allowed = 'a time such as "5 years" or "18 months", at most 50 years'
        raise PydanticCustomError("years", "{allowed}", {"allowed": allowed})
    return found


_growth = in_a_year("growth", 0, 10, 'growth in a year, such as 0.3 or "30 %", at most 10')
Years = Annotated[
    float,
    BeforeValidator(_years),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_YEARS.pattern}$", "examples": ["5 years", "18 months"]}
    ),
]
Growth = Annotated[
    float,
    BeforeValidator(_growth),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": 10}, form_of(PERCENT)]}),
]


def time_of(years: float) -> str:
    """A horizon in words: `1 month`, `18 months`, `5 years`."""
    months = 12 * years
    if abs(years - round(years)) < 1e-9 and years >= 1:
        return "1 year" if round(years) == 1 else f"{years:g} years"
    if abs(months - round(months)) < 1e-9:
        return "1 month" if round(months) == 1 else f"{round(months)} months"
    return f"{years:.3g} years"


class GrowthTable(Table):
    """`[growth]`: shares in a year."""

    rate: Growth = 0.0
    """Of the loads' rates; a load's own `growth` goes before it."""
    rate_from: Growth | None = None
    """Low end of what is thought of it, for the months of `until`; so `rate_to`."""
    rate_to: Growth | None = None
    capacity: Growth = 0.0
    """Of what must be usable."""
    capacity_from: Growth | None = None
    capacity_to: Growth | None = None

    def ends(self, key: Literal["rate", "capacity"]) -> tuple[float, float]:
        """Low and high end of a growth."""
        middle = self.capacity if key == "capacity" else self.rate
        low = self.capacity_from if key == "capacity" else self.rate_from
        high = self.capacity_to if key == "capacity" else self.rate_to
        return middle if low is None else low, middle if high is None else high

    def faults(self) -> Iterator[Fault]:
        """Ends on the wrong side."""
        for key, middle in (("rate", self.rate), ("capacity", self.capacity)):
            low, high = self.ends("capacity" if key == "capacity" else "rate")
            if low > middle:
                yield Fault(f"{key}_from", low, f"at most {key}, {middle:g}")
            if high < middle:
                yield Fault(f"{key}_to", high, f"at least {key}, {middle:g}")


_OF_LATENCY: Final = (Source.LATENCY, Source.BUSY, Source.SLOWDOWN)


class PresentTable(Table):
    """`[present]`: the system that is there today."""

    per_month: float = Field(default=0.0, ge=0, le=MOST_COST)
    """What it costs to run."""
    moves: Size | None = Field(default=None, gt=0)
    """Data that are moved to the new system while this one serves."""

    scenario: str = Field(min_length=1)
    """Its scenario's file; relative to the question's."""


class QuestionTable(Table):
    """A whole question."""

    title: str = Field(default="", max_length=300)
    goals: tuple[str, ...] = Field(min_length=1)
    prefer: Literal["cost", "latency", "rate per cost"] = "cost"
    """Of which candidate that fits is recommended."""
    horizon: Years = 5.0
    currency: str = Field(default="", max_length=8)
    energy_price: float = Field(default=0.0, ge=0, le=MOST_COST)
    """Of a kWh."""
    load: tuple[dict[str, Any], ...] = Field(min_length=1)
    """As `[[workload]]` of a scenario."""
    growth: GrowthTable = GrowthTable()
    candidates: tuple[CandidatesTable, ...] = Field(min_length=1)
    price: tuple[PriceTable, ...] = ()
    base: BaseTable = BaseTable()
    shared_by: dict[str, Annotated[float, Field(gt=0, le=1e9)]] = Field(default_factory=dict)
    """How many of what the cost is shared by: `{ VM = 200, tenant = 12 }`."""
    present: PresentTable | None = None
    run: dict[str, Any] = Field(default_factory=dict)
    """As `[run]` of a scenario."""
    afr: Share | None = None
    """Share of drives that fail in a year; published figures if left out."""
    replace_hours: float = Field(default=24.0, ge=0)

    @property
    def loads(self) -> list[WorkloadTree]:
        """`load`, whose keys the candidates' scenarios check."""
        return cast(list[WorkloadTree], list(self.load))

    @property
    def run_table(self) -> RunTree:
        """`run`, whose keys the candidates' scenarios check."""
        return cast(RunTree, self.run)

    @property
    def racked(self) -> bool:
        """Whether anything states the rack units that it takes."""
        stated = [self.base.rack_units, *(price.rack_units for price in self.price)]
        return any(each is not None for each in stated)

    def faults(self) -> Iterator[Fault]:
        """Growth of what does not come at a rate, lists of rates."""
        if self.growth.rate and any(_is_closed(load) for load in self.loads):
            allowed = "0, or a `rate` or a `trace` for every load"
            yield Fault("growth.rate", self.growth.rate, allowed)
        if self.present is None and any(price.trend for price in self.price):
            allowed = "[present] with a scenario: until a later purchase that system serves"
            yield Fault("present", None, allowed)
        for at, load in enumerate(self.load):
            rate = load.get("rate")
            if rate is not None:
                try:
                    IO_RATE.parse(str(rate))
                except ValueError:
                    yield Fault(f"load.{at}.rate", rate, 'one rate, such as "5000 IO/s"')


@dataclass(frozen=True)
class Question:
    """A question that can be answered."""

    table: QuestionTable
    goals: tuple[Goal, ...]
    prices: dict[str, PriceTable]
    """By the names that candidates call devices by."""
    path: Path | None = None
    tree: Mapping[str, object] = field(default_factory=dict)
    """As it was written, before monitored loads became plain ones."""
    monitored: tuple[MonitoredLoad, ...] = ()
    """The files of its monitored loads."""
    present: System | None = None
    """The system that is there today."""
    own_growth: tuple[float | None, ...] = ()
    """Of each load, where it says one."""

    def unnamed_currency(self) -> Iterator[str]:
        """A warning where nothing says what the prices' numbers are."""
        if self.prices and not self.table.currency:
            yield 'prices have no currency: currency = "EUR" names it'

    @property
    def growths(self) -> tuple[float, ...]:
        """Growth of each load's rate in a year."""
        common = self.table.growth.rate
        own = self.own_growth or (None,) * len(self.table.load)
        return tuple(common if each is None else each for each in own)

    @property
    def mean_growth(self) -> float:
        """Growth of the loads' rates together, in the first year."""
        rates = [
            float(IO_RATE.parse(str(load["rate"]))) if "rate" in load else 1.0
            for load in self.table.load
        ]
        pairs = zip(rates, self.growths, strict=True)
        return sum(rate * growth for rate, growth in pairs) / sum(rates)

    @property
    def growth_ends(self) -> tuple[float, float]:
        """Low and high end of `mean_growth`."""
        low, high = self.table.growth.ends("rate")
        common, mean = self.table.growth.rate, self.mean_growth
        return max(0.0, mean - (common - low)), mean + (high - common)

    def apart(self, load: int) -> float:
        """What a load's rate is multiplied by at the horizon, over what all others are."""
        common = self.table.growth.rate
        return float(((1 + self.growths[load]) / (1 + common)) ** self.table.horizon)

    @property
    def title(self) -> str:
        """What is asked."""
        return self.table.title or (self.path.stem if self.path else "plan")

    @property
    def latency_goals(self) -> tuple[Goal, ...]:
        """Those about latencies of the loads, and how busy they make a system."""
        return tuple(goal for goal in self.goals if goal.source in _OF_LATENCY)

    @property
    def growth(self) -> float:
        """Factor of the rates at the end of the horizon."""
        return float((1 + self.table.growth.rate) ** self.table.horizon)

    @property
    def grown_capacity(self) -> float:
        """Factor of what must be usable at the end of the horizon."""
        return float((1 + self.table.growth.capacity) ** self.table.horizon)

    @property
    def closed(self) -> bool:
        """Whether a load's rate is what the system makes of it."""
        return any(_is_closed(load) for load in self.table.loads)

    @property
    def traced(self) -> bool:
        """Whether a load is a recorded trace, of which a part says little of the rest."""
        return any("trace" in load for load in self.table.loads)

    def device(self, name: str) -> Device:
        """A device by the name that the question calls it by.

        Raises:
            SpecError: There is none, or its file has faults.
        """
        return find(name, None if self.path is None else self.path.parent)

    def idle_watts(self, name: str) -> float | None:
        """What a drive draws idle; None for what says nothing of its power."""
        return _idle_watts(self.device(name))

    @property
    def members(self) -> int:
        """Choices of what monitoring leaves open, of the load that has most of them."""
        return max((len(each.fit.members) for each in self.monitored if each.fit), default=1)

    def member(self, number: int) -> Question:
        """A copy of the question with another choice of what monitoring leaves open."""
        loads = [
            {**load, "monitoring_member": number} if "monitoring" in load else load
            for load in _loads(self.tree)
        ]
        return question_of({**self.tree, "load": loads}, self.path)

    def amount(self, value: float | None) -> str:
        """Money in words."""
        return "–" if value is None else f"{value:,.0f} {self.table.currency}".rstrip()


def _is_closed(load: WorkloadTree) -> bool:
    timed = "trace" in load and load.get("trace_timing", "trace") == "trace"
    return "rate" not in load and not timed


def load_question(path: Path) -> Question:
    """Reads a question file.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    tree = read_toml(path)
    refuse_other_kind(tree, Expected.QUESTION, path)
    return question_of(tree, path)


def question_of(tree: Mapping[str, object], path: Path | None = None) -> Question:
    """A question from the tree of its file.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    file = "" if path is None else str(path)
    faults = Faults(file)
    written = tree
    tree = expanded(tree, path, faults, key="load").tree
    tree, own_growth = _own_growth(tree, faults)
    table = check(QuestionTable, tree, faults)
    _check_parts(tree, faults)
    goals: list[Goal] = []
    wanted = tree.get("goals")
    if isinstance(wanted, list):
        try:
            goals = goals_of([str(each) for each in wanted], "goals", file)
        except SpecError as error:
            faults.extend(error.faults)
    if table is None:
        raise SpecError(faults.found)
    prices = {price.device: price for price in table.price}
    _check_devices(table, prices, goals, faults, path)
    folder = Path() if path is None else path.parent
    loads = [load for load in _loads(written) if "monitoring" in load]
    present = None if table.present is None else _present(table.present, folder, loads, faults)
    faults.raise_if_any()
    monitored = tuple(read_monitored(folder / load["monitoring"]) for load in loads)
    return Question(table, tuple(goals), prices, path, written, monitored, present, own_growth)


class _PartsTable(Table):
    """What candidates' scenarios take over as it is."""

    load: tuple[WorkloadTable, ...] = ()
    run: RunTable = RunTable()


def _check_parts(tree: Mapping[str, object], faults: Faults) -> None:
    """Faults of the loads and the run, before a load has grown."""
    loads, run = tree.get("load"), tree.get("run", {})
    if isinstance(loads, list) and isinstance(run, Mapping):
        check(_PartsTable, {"load": loads, "run": run}, faults)
        faults.written = tree


def _loads(tree: Mapping[str, object]) -> list[WorkloadTree]:
    """The loads of a question as it was written; none if they are no list of tables."""
    loads = tree.get("load")
    tables = isinstance(loads, list) and all(isinstance(each, Mapping) for each in loads)
    return cast(list[WorkloadTree], loads) if tables else []


def _own_growth(
    tree: Mapping[str, object], faults: Faults
) -> tuple[Mapping[str, object], tuple[float | None, ...]]:
    """The tree without `growth` of its loads, and what each says."""
    loads = tree.get("load")
    if not isinstance(loads, list) or not all(isinstance(each, Mapping) for each in loads):
        return dict(tree), ()
    found: list[float | None] = []
    for at, load in enumerate(loads):
        found.append(None)
        if "growth" not in load:
            continue
        try:
            found[-1] = _growth(load["growth"])
        except PydanticCustomError as error:
            faults.add(f"load.{at}.growth", load["growth"], error.message())
        if found[-1] and _is_closed(load):
            allowed = "left out, or a `rate` or a `trace` for the load"
            faults.add(f"load.{at}.growth", load["growth"], allowed)
    plain = [{k: v for k, v in load.items() if k != "growth"} for load in loads]
    return {**tree, "load": plain}, tuple(found)


def _present(
    table: PresentTable, folder: Path, monitored: Sequence[WorkloadTree], faults: Faults
) -> System | None:
    """The present system, if its file can be read; a monitored load works where it says."""
    file = folder / table.scenario
    place = place_of(monitored[0]) if len(monitored) == 1 else {}
    place.pop("target", None)
    try:
        return System(scenario_tree(file), file, place or None)
    except SpecError as error:
        faults.extend(error.faults)
        return None


def _used_devices(table: QuestionTable) -> dict[str, str]:
    """The devices of all candidates, each with the key that names it first."""
    used: dict[str, str] = {}
    for at, each in enumerate(table.candidates):
        for key in ("drives", "controllers", "hosts", "ssd_cache"):
            for name in getattr(each, key):
                if name != "none":
                    used.setdefault(name, f"candidates.{at}.{key}")
    return used


def _check_prices(table: QuestionTable, used: Collection[str], faults: Faults) -> None:
    """Prices of devices that there are, each once."""
    first: dict[str, int] = {}
    for at, price in enumerate(table.price):
        before = first.setdefault(price.device, at)
        if before != at:
            allowed = f"a device that has no price yet: price.{before} has one"
            faults.add(f"price.{at}.device", price.device, allowed)
        if price.device not in used and not price.device.endswith(".toml"):
            _known(f"price.{at}.device", price.device, faults)


def _unpowered(
    used: Collection[str], prices: Mapping[str, PriceTable], folder: Path | None
) -> list[str]:
    """Devices of which nothing says what they draw."""
    return [
        name
        for name in used
        if name in prices and prices[name].power is None and not _draws(name, folder)
    ]


def _check_devices(
    table: QuestionTable,
    prices: dict[str, PriceTable],
    goals: list[Goal],
    faults: Faults,
    path: Path | None,
) -> None:
    used = _used_devices(table)
    unknown = {
        name
        for name, key in used.items()
        if not name.endswith(".toml") and not _known(key, name, faults)
    }
    _check_prices(table, used, faults)
    if prices:
        for name, key in used.items():
            if name not in prices and not key.endswith("hosts") and name not in unknown:
                allowed = f'a price: [[price]] device = "{name}", cost = ...'
                faults.add(key, name, allowed)
    elif table.prefer == "rate per cost" or any(goal.quantity == "cost" for goal in goals):
        faults.add(
            "price", None, "prices of the candidates' devices, as a goal or `prefer` is about cost"
        )
    unpowered = _unpowered(used, prices, None if path is None else path.parent)
    if any(goal.quantity == "power" for goal in goals) and (unpowered or not prices):
        names = ", ".join(unpowered) or "every device"
        faults.add("price", None, f"the power of {names}, as a goal is about power")
    if any(goal.quantity == "rack units" for goal in goals) and not table.racked:
        faults.add("base.rack_units", None, "rack units here or in prices, as a goal is about them")
    for goal in goals:
        named = _CURRENCY.search(goal.text) if goal.quantity == "cost" else None
        if named and named[0] != table.currency:
            allowed = f'in the question\'s currency, which is "{table.currency}"'
            faults.add("goals", goal.text, allowed)


def _idle_watts(device: Device) -> float | None:
    power = getattr(device.spec, "power", None)
    return None if power is None else float(power.idle)


def _draws(name: str, folder: Path | None) -> bool:
    """Whether a device says what it draws."""
    try:
        return _idle_watts(find(name, folder)) is not None
    except SpecError:
        return False


def _known(key: str, name: str, faults: Faults) -> bool:
    """True of a device of the catalogue; else a fault."""
    try:
        find_for(key, name)
    except SpecError as error:
        faults.extend(error.faults)
        return False
    return True
