"""A device from a data sheet: the sheet, closed forms, short runs, and what remains to be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.calibration.datasheets.adjust import Tell, adjust, adjust_disk, silent
from raidlab.calibration.datasheets.points import OF_BURSTS, Bench, quantities, stated
from raidlab.devices.datasheet import disk, flash, flash_device, priors, spread, thermal, xpoint
from raidlab.devices.datasheet.controller import controller_draft, read_controller
from raidlab.devices.datasheet.draft import Draft
from raidlab.devices.datasheet.priors import BLOCK
from raidlab.devices.datasheet.sheet import Read, Sheet, read_sheet
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import read_toml
from raidlab.devices.trees import Document
from raidlab.scenarios.spec.findings import Code, Coded

WITHIN_PCT = 5.0
"""Error of a stated figure above which it is named."""
USELESS = 2.0
"""Ratio of a stated figure and the simulated one, either way, above which there is no device."""
_YEARS = (3, 5)
"""Warranties that drive writes a day are stated for."""
_ROUNDING = 0.15
"""Relative error of a stated endurance."""
_UNITS: Mapping[str, tuple[str, float]] = {
    "rate": ("MB/s", 1e6),
    "random": ("IO/s", 1.0),
    "latency": ("us", 1e3),
    "seek": ("ms", 1e6),
}


@dataclass(frozen=True)
class Point:
    """A stated figure beside the simulated one."""

    quantity: str
    stated: float
    simulated: float
    unit: str
    why_not: str = ""
    """Why the two cannot be compared; they can where it is empty."""

    @property
    def error_pct(self) -> float | None:
        """100 (simulated / stated - 1)."""
        return None if self.why_not else 100 * (self.simulated / self.stated - 1)

    def shown(self, value: float) -> str:
        """One of its two values for people, with the unit."""
        return f"{value:,.0f} {self.unit}" if value >= 1000 else f"{value:.6g} {self.unit}"

    def to_dict(self) -> Document:
        """For `--json`."""
        entry: Document = {
            "quantity": self.quantity,
            "stated": self.stated,
            "simulated": float(f"{self.simulated:.6g}"),
            "unit": self.unit,
            "error_pct": None if self.error_pct is None else round(self.error_pct, 2),
        }
        return entry | ({"why_not": self.why_not} if self.why_not else {})


@dataclass(frozen=True)
class Imported:
    """A device that was made of a sheet."""

    draft: Draft
    points: tuple[Point, ...]
    warnings: tuple[str, ...]

    @property
    def useless(self) -> tuple[Point, ...]:
        """Figures so far from the stated ones that no device stands for this sheet."""
        return tuple(
            point
            for point in self.points
            if not point.why_not and not 1 / USELESS <= point.simulated / point.stated <= USELESS
        )

    @property
    def name(self) -> str:
        """Of the device."""
        return str(self.draft.values["name"])

    @property
    def kind(self) -> str:
        """Of the device: `ssd`, `hdd`, `controller`."""
        return str(self.draft.values["kind"])

    def to_dict(self) -> Document:
        """For `--json`, but for the device's path."""
        return {
            "name": self.name,
            "points": [point.to_dict() for point in self.points],
            "stated": dict(self.draft.of("data-sheet")),
            "derived": dict(self.draft.of("derived")),
            "assumed": [
                {"key": key, "value": value, **self.draft.origins[key].to_toml()}
                for key, value in self.draft.of("assumed").items()
            ],
            "warnings": list(self.warnings),
        }


def import_datasheet(path: Path, tell: Tell = silent) -> Imported:
    """Makes a device of a sheet.

    Args:
        path: The sheet.
        tell: Called with progress: figures done, of how many.

    Raises:
        SpecError: Everything that is wrong with the sheet.
    """
    if read_toml(path).get("kind") == "controller":
        return import_controller(path)
    try:
        return build(read_sheet(path), tell)
    except SpecError as error:
        raise SpecError(
            replace(each, file=each.file or str(path)) for each in error.faults
        ) from None


def import_controller(path: Path) -> Imported:
    """Makes a controller of a sheet: closed forms alone, no runs.

    Raises:
        SpecError: Everything that is wrong with the sheet.
    """
    sheet, written = read_controller(path)
    stated = "max_iops decides" if sheet.max_iops else "no sheet tells them"
    doubt = f"firmware times are assumed, scaled from a fitted chip of 2013: {stated}"
    return Imported(controller_draft(sheet, written), (), (_note(doubt, "firmware"),))


def build(read: Read, tell: Tell = silent) -> Imported:
    """Makes a device of a sheet that was read; `tell` as in `import_datasheet`.

    Raises:
        SpecError: The engine refuses the device.
    """
    if read.sheet.is_xpoint:
        return _xpoint(read)
    if read.sheet.actuators == 2:
        return _actuator(read, tell)
    if read.sheet.kind == "hdd":
        spindle, found = adjust_disk(read, disk.first(read.sheet), tell)
        points = _points(read.sheet, found, ())
        missed = _missed(points, "its geometry and seek curve do not give it")
        draft = disk.device(spindle, read)
        spread.widen_disk(draft, spindle)
        return Imported(draft, points, (*_doubts(read.sheet), *_by_density(spindle), *missed))
    doubts = list(_doubts(read.sheet))
    seen = _as_burst(read.sheet)
    if seen:
        doubts.append(seen)
        read = replace(read, sheet=read.sheet.model_copy(update={"burst": True}))
    drive, found = adjust(read, flash.first(read.sheet), tell)
    points = _points(read.sheet, found, _uncompared(read.sheet))
    doubts += _missed(points, _bounds(drive))
    doubts += [*_not_modelled(read.sheet), *_after_cache(drive)]
    draft = flash_device.device(drive, read)
    spread.widen(draft, drive)
    flash_device.put_pauses(draft, drive)
    thermal.put_thermal(draft, drive)
    return Imported(draft, points, tuple(doubts))


def _xpoint(read: Read) -> Imported:
    """A drive of 3D XPoint: closed forms, then a run for each figure."""
    draft = xpoint.device(read)
    bench = Bench(read.sheet)
    found = {name: bench.measure(draft, name) for name in quantities(read.sheet)}
    points = _points(read.sheet, found, ())
    why = "what both directions and the host share decides it"
    return Imported(draft, points, (*_doubts(read.sheet), *_missed(points, why)))


_HALVED = (
    "capacity", "sequential_read", "sequential_write", "sustained_rate", "random_read",
    "random_write", "active_power", "idle_power", "cache", "heads", "rated_writes",
)  # fmt: skip
"""What each of two arms has half of."""


def _actuator(read: Read, tell: Tell) -> Imported:
    """The half of a drive that one of its two arms serves: a logical unit of its own."""
    sheet = read.sheet
    halves = {key: value / 2 for key in _HALVED if (value := getattr(sheet, key)) is not None}
    whole = {
        key: int(value) for key, value in halves.items() if isinstance(getattr(sheet, key), int)
    }
    title = f"{sheet.title or sheet.name}: one of its two actuators"
    # Beside the heads' own half, platters would count all of them.
    changes = halves | whole | {"actuators": 1, "title": title, "platters": None}
    if sheet.heads is None and sheet.platters is not None:
        changes["heads"] = sheet.platters
    made = build(replace(read, sheet=sheet.model_copy(update=changes)), tell)
    doubt = (
        "actuators: the device is one of the two, with half of capacity, heads, rates, cache and"
        " watts; count = 2 of it stands for a drive"
    )
    return replace(made, warnings=(_note(doubt, "actuators"), *made.warnings))


def _note(text: str, about: str) -> Coded:
    """What is assumed of a sheet, unlike a figure that does not come out."""
    return Coded(text, Code.SHEET_NOTE, about)


def _points(sheet: Sheet, found: Mapping[str, float], bursts: tuple[str, ...]) -> tuple[Point, ...]:
    points = []
    for quantity, simulated in found.items():
        unit, scale = next(
            (unit for part, unit in _UNITS.items() if part in quantity), _UNITS["rate"]
        )
        figure = stated(sheet, quantity)
        # A burst is at least as fast as the steady state.
        apart = quantity in bursts and simulated <= figure * (1 + WITHIN_PCT / 100)
        why_not = "a burst into a cache, which is not modelled; simulated: the steady state"
        points.append(
            Point(quantity, figure / scale, simulated / scale, unit, why_not if apart else "")
        )
    return tuple(points)


def _uncompared(sheet: Sheet) -> tuple[str, ...]:
    return OF_BURSTS if sheet.burst and not sheet.has_slc_cache else ()


def _as_burst(sheet: Sheet) -> str:
    """What says that random writes are a burst's, though the sheet does not; empty if nothing."""
    random, rate = sheet.random_write, sheet.sequential_write
    if sheet.burst or random is None:
        return ""
    moved = random * max(sheet.unit, BLOCK)
    most = flash.most_random_writes(sheet)
    if rate is not None and moved > rate:
        limit = f"sequential_write of {rate / 1e6:,.0f} MB/s"
    elif random > most:
        limit = f"at most {most:,.0f} IO/s, with 60 % of spare space and the fastest dies"
    else:
        return ""
    return (
        f"random_write: {random:,.0f} IO/s program {moved / 1e6:,.0f} MB/s or more, against"
        f" {limit}: no steady state. Writes are taken as bursts (burst = true)"
    )


def _doubts(sheet: Sheet) -> Iterator[str]:
    """Contradictions within a sheet, each with both numbers."""
    read, stream = sheet.random_read, sheet.sequential_read
    if sheet.kind == "ssd" and read and stream and read * BLOCK > 1.02 * stream:
        yield (
            f"random_read: {read:,.0f} IO/s of 4 KiB are {read * BLOCK / 1e6:,.0f} MB/s, more than"
            f" sequential_read of {stream / 1e6:,.0f} MB/s"
        )
    if sheet.dwpd and sheet.rated_writes:
        daily = sheet.dwpd * 365 * sheet.capacity
        off = [abs(sheet.rated_writes / (daily * years) - 1) for years in _YEARS]
        if min(off) > _ROUNDING:
            yield (
                f"rated_writes: {sheet.rated_writes / 1e12:,.0f} TB, but dwpd = {sheet.dwpd:g}"
                f" gives {daily * 3 / 1e12:,.0f} TB in 3 years, {daily * 5 / 1e12:,.0f} TB in 5"
            )


def _by_density(made: disk.Disk) -> Iterator[str]:
    """That a disk's streams are those of its density, where no rate is stated."""
    if made.sheet.media_rate is None:
        rate = priors.outer_rate(made.rpm, made.sheet.capacity, made.heads) / 1e6
        yield _note(
            f"no rate stated: streams of {rate:,.0f} MB/s on the outer tracks are assumed, as usual"
            f" for the density of {made.heads} surfaces",
            "sequential_read",
        )


def _missed(points: tuple[Point, ...], why: str) -> list[str]:
    """Figures that do not come out; the first says why, which is the same for all."""
    missed = [
        (
            point.quantity,
            f"{point.quantity}: {point.shown(point.stated)} stated, {point.shown(point.simulated)}"
            f" simulated ({point.error_pct:+.1f} %)",
        )
        for point in points
        if point.error_pct is not None and abs(point.error_pct) > WITHIN_PCT
    ]
    said = (f"{text}{'' if at else f': {why}'}" for at, (_, text) in enumerate(missed))
    return [
        Coded(text, Code.NOTE, quantity) for text, (quantity, _) in zip(said, missed, strict=True)
    ]


def _bounds(drive: flash.Flash) -> str:
    return (
        f"the other figures and usual chips leave {drive.dies} dies of {drive.planes} planes,"
        f" {drive.program_us:.0f} us a program, {drive.read_us:.0f} us a read,"
        f" {100 * drive.spare:.0f} % of spare space"
    )


def _after_cache(drive: flash.Flash) -> Iterator[str]:
    """That streams beyond the cache are those of the class."""
    rate = drive.program_mb_s
    if rate is not None and rate.low < rate.high:
        yield _note(
            f"no sustained_write stated: {rate.best:,.0f} MB/s once the SLC cache is full are"
            f" assumed, as usual for the class; between {rate.low:,.0f} and {rate.high:,.0f} MB/s",
            "sustained_write",
        )


def _not_modelled(sheet: Sheet) -> Iterator[str]:
    if sheet.burst and not sheet.has_slc_cache:
        text = "not modelled: what takes these bursts, no SLC cache; writes have the steady rate"
        yield _note(text, "burst")
