"""What a planner chooses on the page, and the question file that it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from raidlab.devices.catalogue import find, names
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.levels import ArrayLevel
from raidlab.devices.schema import Table, check
from raidlab.notebooks.planner.uploads import Upload, UploadKind
from raidlab.scenarios.capacity.question import time_of
from raidlab.scenarios.spec.loads import AnyProfile, profile_file

NO_CONTROLLER: Final = "none"
_IOS: Final = 10_000
"""I/Os that a run records at least: p99 then rests on a hundred slower ones."""
_DISK_RUN_S: Final = (10.0, 6.0)
"""Warm-up and least duration where disks and caches of controllers fill slowly."""
_FLASH_RUN_S: Final = (0.5, 1.5)
"""Warm-up and least duration of drives that take milliseconds to settle."""
_UPLOADED_RUN_S: Final = 3.0
"""Least duration of a load from a file, all of which passes in the run."""
_LONGEST_RUN_S: Final = 60.0
_NAME_LENGTH: Final = 200
DeviceName = Annotated[str, Field(min_length=1, max_length=_NAME_LENGTH)]


class DescribedLoad(Table):
    """A load by its numbers."""

    kind: Literal["described"]
    order: Literal["random", "sequential"]
    read_pct: float = Field(ge=0, le=100)
    block_kib: float = Field(ge=0.5, le=16_384)
    rate: float = Field(gt=0, le=1e8)
    """I/Os a second that arrive today."""
    area_gb: float = Field(gt=0, le=1e6)
    """Data in use, in GB of 10^9 bytes."""


class ProfileLoad(Table):
    """A published load, or that of an application."""

    kind: Literal["profile"]
    profile: AnyProfile
    rate: float = Field(gt=0, le=1e8)
    """I/Os a second that arrive today; profiles without a rate go as fast as they can."""
    area_gb: float = Field(gt=0, le=1e6)


class UploadedLoad(Table):
    """A load that was monitored, or a job file of fio."""

    kind: Literal["uploaded"]
    upload: str = Field(min_length=1, max_length=_NAME_LENGTH)


class GoalsForm(Table):
    """What must hold at the end of the horizon."""

    p99_ms: float = Field(gt=0, le=1e5)
    usable_tb: float = Field(gt=0, le=1e6)
    survives: int = Field(ge=0, le=3)
    budget: float | None = Field(default=None, gt=0, le=1e12)
    """In the prices' currency, energy included."""


class GrowthForm(Table):
    """Growth in a year, in percent, and for how long."""

    rate_pct: float = Field(ge=0, le=1000)
    capacity_pct: float = Field(ge=0, le=1000)
    years: float = Field(gt=0, le=50)


class PriceForm(Table):
    """What one device costs; its power where the device does not state it."""

    device: DeviceName
    cost: float = Field(ge=0, le=1e12)
    watts: float | None = Field(default=None, ge=0, le=1e6)


class OfferForm(Table):
    """One system as a dealer offers it."""

    drive: DeviceName
    count: int = Field(ge=1, le=256)
    level: ArrayLevel


class Form(Table):
    """The whole page."""

    title: str = Field(default="", max_length=_NAME_LENGTH)
    load: DescribedLoad | ProfileLoad | UploadedLoad = Field(discriminator="kind")
    goals: GoalsForm
    growth: GrowthForm
    offers: tuple[OfferForm, ...] = Field(default=(), max_length=24)
    """Compared instead of every number and level; `drives` and `levels` are then theirs."""
    drives: tuple[DeviceName, ...] = Field(min_length=1, max_length=12)
    count_from: int = Field(ge=1, le=256)
    count_to: int = Field(ge=1, le=256)
    levels: tuple[ArrayLevel, ...] = Field(min_length=1, max_length=12)
    controllers: tuple[DeviceName, ...] = Field(min_length=1, max_length=8)
    present: str = Field(default="", max_length=_NAME_LENGTH)
    """The upload that is the present system; empty for none."""
    moves_tb: float | None = Field(default=None, gt=0, le=1e6)
    """Data that are moved from it, in TB of 10^12 bytes."""
    prices: tuple[PriceForm, ...] = ()
    currency: str = Field(default="EUR", max_length=8)
    energy_price: float = Field(default=0.0, ge=0, le=1e6)
    """Of a kWh."""
    base_cost: float = Field(default=0.0, ge=0, le=1e12)
    """Of what every system has, such as the server."""
    base_watts: float = Field(default=0.0, ge=0, le=1e6)

    def faults(self) -> Iterator[Fault]:
        """Ends of the number of drives on the wrong side, prices of some alone."""
        if self.count_from > self.count_to and not self.offers:
            yield Fault("count_to", self.count_to, f"at least {self.count_from}, the fewest drives")
        priced = {price.device for price in self.prices}
        for name in (*self.drives, *self.controllers):
            if priced and name not in priced and name != NO_CONTROLLER:
                yield Fault(f"price-{name}", None, "a price, as others have one; or none has any")


_FIELDS: Final[Mapping[str, str]] = {
    "load.0.rate": "rate",
    "load.0.area": "area_gb",
    "load.0.block_size": "block_kib",
    "load": "load",
    "goals": "p99_ms",
    "growth.rate": "rate_pct",
    "growth.capacity": "capacity_pct",
    "growth": "rate_pct",
    "horizon": "years",
    "candidates.0.drives": "drives",
    "candidates.0.counts": "count_to",
    "candidates.0.levels": "levels",
    "candidates.0.controllers": "controllers",
    "candidates": "drives",
    "price": "prices",
    "present.moves": "moves_tb",
    "present": "present",
    "currency": "currency",
    "energy_price": "energy_price",
    "base.power": "base_watts",
    "base": "base_cost",
}
"""Which field of the page a key of the question file comes of."""


@dataclass(frozen=True)
class Said:
    """A fault as the page shows it: at a field, or at none."""

    field: str
    text: str


def said_of_form(faults: Sequence[Fault]) -> list[Said]:
    """Faults of the page's values: the last part of a key is the field."""
    return [_said(fault, _leaf(fault.key)) for fault in faults]


def said_of_question(faults: Sequence[Fault]) -> list[Said]:
    """Faults of the question, each at the field of the page that its key comes of."""
    return [
        _said(fault, next((own for key, own in _FIELDS.items() if fault.key.startswith(key)), ""))
        for fault in faults
    ]


def _leaf(key: str) -> str:
    if key.startswith("price-"):
        return key
    parts = [part for part in key.split(".") if not part.isdigit()]
    return parts[-1] if parts else ""


def _said(fault: Fault, field: str) -> Said:
    value = "" if fault.value is None else f"{fault.value}: "
    hint = "" if fault.nearest is None else f'; did you mean "{fault.nearest}"?'
    return Said(field, f"{value}{fault.allowed}{hint}")


def form_of(values: Mapping[str, object]) -> Form:
    """The page's values, checked.

    Raises:
        SpecError: Everything that is wrong with them.
    """
    faults = Faults()
    form = check(Form, values, faults)
    faults.raise_if_any()
    if form is None:
        raise AssertionError("a form that cannot be read has faults")
    return form


def question_tree(form: Form, uploads: Mapping[str, Upload]) -> dict[str, object]:
    """The question as the tree of its file, for `raidlab plan`.

    Args:
        form: What was chosen.
        uploads: By their names; files of the question that it names.

    Raises:
        SpecError: The load is of an upload that is not there, or a drive is unknown.
    """
    _check_drives(form, uploads)
    goals = [
        f"p99 < {form.goals.p99_ms:g} ms",
        f"usable >= {form.goals.usable_tb:g} TB",
        f"survives >= {form.goals.survives}",
    ]
    if form.goals.budget is not None:
        goals.append(f"cost < {form.goals.budget:.0f} {form.currency}".rstrip())
    tree: dict[str, object] = {
        "title": form.title or "Which system serves this load?",
        "horizon": time_of(form.growth.years),
        "goals": goals,
    }
    if form.prices:
        tree |= {"currency": form.currency, "energy_price": form.energy_price}
    tree["load"] = [_load(form.load, uploads)]
    if form.growth.rate_pct and _is_closed(form.load, uploads):
        allowed = "0: this load has no rate of its own that could grow, it goes as fast as it can"
        raise SpecError([Fault("rate_pct", f"{form.growth.rate_pct:g} %", allowed)])
    growth = {"rate": form.growth.rate_pct / 100, "capacity": form.growth.capacity_pct / 100}
    if any(growth.values()):
        tree["growth"] = growth
    tree["run"] = _run(form)
    tree["candidates"] = list(_candidates(form))
    if form.prices:
        tree["price"] = [_price(each) for each in form.prices]
    if form.present:
        tree["present"] = _present(form, uploads)
    base: dict[str, float | str] = {"cost": form.base_cost} if form.base_cost else {}
    if form.base_watts:
        base["power"] = f"{form.base_watts:g} W"
    if base:
        tree["base"] = base
    return tree


def _candidates(form: Form) -> Iterator[dict[str, object]]:
    """The offers, or every number of every drive at every level."""
    compared: list[tuple[Sequence[str], list[int] | str, Sequence[str]]]
    compared = [((offer.drive,), [offer.count], (offer.level,)) for offer in form.offers]
    if not compared:
        compared = [(form.drives, f"{form.count_from}:{form.count_to}", form.levels)]
    for drives, counts, levels in compared:
        yield {
            "drives": list(drives),
            "counts": counts,
            "levels": list(levels),
            "controllers": list(form.controllers),
        }


def _present(form: Form, uploads: Mapping[str, Upload]) -> dict[str, str]:
    """The present system, and how much is moved from it.

    Raises:
        SpecError: It is no system that was uploaded.
    """
    known = [name for name, each in uploads.items() if each.kind is UploadKind.SYSTEM]
    if form.present not in known:
        allowed = "a scenario that was uploaded: choose the file again"
        raise SpecError([Fault("present", form.present, allowed, known)])
    found = {"scenario": form.present}
    return found if form.moves_tb is None else found | {"moves": f"{form.moves_tb:g} TB"}


def _check_drives(form: Form, uploads: Mapping[str, Upload]) -> None:
    """Only what the catalogue or an upload has: a path would be a file of this machine.

    Raises:
        SpecError: A drive or a controller is neither.
    """
    own = [each.file for each in uploads.values() if each.kind is UploadKind.DEVICE]
    known = [*names(), *own, NO_CONTROLLER]
    chosen = [("drives", name) for name in form.drives]
    chosen += [("offers", offer.drive) for offer in form.offers]
    chosen += [("controllers", name) for name in form.controllers]
    chosen += [("prices", price.device) for price in form.prices]
    allowed = "a device of the catalogue, or one that was uploaded"
    faults = [Fault(field, name, allowed, known) for field, name in chosen if name not in known]
    if faults:
        raise SpecError(faults)


def _is_closed(
    load: DescribedLoad | ProfileLoad | UploadedLoad, uploads: Mapping[str, Upload]
) -> bool:
    if isinstance(load, UploadedLoad):
        return load.upload in uploads and uploads[load.upload].closed
    return isinstance(load, ProfileLoad) and not takes_rate(load.profile)


def _load(load: DescribedLoad | ProfileLoad | UploadedLoad, uploads: Mapping[str, Upload]) -> Any:
    if isinstance(load, UploadedLoad):
        known = [name for name, each in uploads.items() if each.kind in _LOADS]
        found = uploads.get(load.upload)
        if found is None or found.kind not in _LOADS:
            allowed = "a load that was uploaded: choose the file again"
            raise SpecError([Fault("load", load.upload, allowed, known)])
        return {"name": "load", _LOADS[found.kind]: found.file}
    rate = f"{load.rate:.12g} IO/s"
    area = f"{load.area_gb:.12g} GB"
    if isinstance(load, ProfileLoad):
        return {"name": "load", "profile": load.profile} | _profile(load, rate) | {"area": area}
    access = "rand" if load.order == "random" else ""
    share = load.read_pct / 100
    words = {1.0: f"{access}read", 0.0: f"{access}write"}
    mixed = "randrw" if access else "rw"
    tree: dict[str, object] = {"name": "load", "rw": words.get(share, mixed)}
    if share not in words:
        tree["read_share"] = share
    return tree | {"block_size": f"{load.block_kib:g} KiB", "rate": rate, "area": area}


_LOADS: Final[Mapping[UploadKind, str]] = {
    UploadKind.MONITORING: "monitoring",
    UploadKind.JOB: "fio",
}
"""Uploads that are loads, and the key of a load that names their file."""


def takes_rate(profile: AnyProfile) -> bool:
    """Whether I/Os of a profile arrive at a rate; others go as fast as the system lets them."""
    file = profile_file(profile)
    return file is None or "${RATE}" in file.read_text("utf-8")


def _profile(load: ProfileLoad, rate: str) -> dict[str, str]:
    return {"rate": rate} if takes_rate(load.profile) else {}


def _price(price: PriceForm) -> dict[str, object]:
    tree: dict[str, object] = {"device": price.device, "cost": price.cost}
    return tree if price.watts is None else tree | {"power": f"{price.watts:g} W"}


def _run(form: Form) -> dict[str, str]:
    """Long enough for p99, and no longer: an answer is to come within seconds."""
    disks = any(_is_disk(name) for name in form.drives)
    cached = any(name != NO_CONTROLLER for name in form.controllers)
    warm_up, least = _DISK_RUN_S if disks or cached else _FLASH_RUN_S
    if isinstance(form.load, UploadedLoad):
        return {"warm_up": f"{warm_up:g} s", "duration": f"{max(least, _UPLOADED_RUN_S):g} s"}
    long = min(_LONGEST_RUN_S, max(least, _IOS / form.load.rate))
    return {"warm_up": f"{warm_up:g} s", "duration": f"{long:.3g} s"}


def _is_disk(name: str) -> bool:
    if name.endswith(".toml"):
        return False
    try:
        return find(name).spec.kind == "hdd"
    except SpecError:
        return False
