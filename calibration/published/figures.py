"""Published figures as data: rows read from CSV, checked, and turned into scenarios.

A row's scenario follows from its columns by general rules and from what its report's rows share
(`published/sources.toml`) by the rules of `rules`, never from its id or its value, so any file of
this form can be run.
The columns are described in docs/reference/formats/published.md.
"""

from __future__ import annotations

import csv
import dataclasses
import difflib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast, get_args

from pydantic import Field

from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.reading import MIB, read_text, whole_number
from raidlab.devices.schema import Table, check, read_toml

FOLDER = Path(__file__).parent / "data"
CLAIMS_FOLDER = FOLDER / "claims"
"""What the reports say in words, in the form of their figures."""

Relation = Literal["=", "~", ">=", "<=", "range"]
Quantity = Literal["iops", "mib_per_s", "mb_per_s", "latency_ms_min", "temperature_c", "ratio"]

COLUMNS = (
    "source", "id", "controller", "drive", "format", "count", "level", "raid_by", "settings",
    "load", "outstanding", "per", "quantity", "relation", "value", "high", "baseline", "note",
    "ref",
)  # fmt: skip
SETTINGS = (
    "disk_cache", "read_ahead", "write", "fast_path", "threads", "processes", "areas", "cpu_ghz",
    "area", "compressible", "tool", "cache_tier", "hot_spot", "state", "cooling",
)  # fmt: skip


@dataclass(frozen=True)
class Configuration:
    """What was measured: everything of a row but the figure itself."""

    source: str
    controller: str
    drive: str
    format: str
    count: int
    level: str
    raid_by: str
    settings: Mapping[str, str]
    """As written; keys that are not known make the row one that cannot be run."""
    load: str
    outstanding: str
    per: str


@dataclass(frozen=True)
class Figure:
    """One published figure."""

    id: str
    configuration: Configuration
    quantity: Quantity
    relation: Relation
    value: float
    high: float | None
    """Upper end of a range."""
    baseline: Configuration | None
    """What a ratio compares with."""
    note: str
    ref: str


class Area(Table):
    """Size of the measurement file for arrays of up to `drives` drives."""

    drives: int = Field(default=1 << 30, ge=1, le=1 << 30)
    area: str


class Shared(Table):
    """What the rows of a report share."""

    title: str = ""
    load_generator: str = ""
    host: str
    align: str
    areas: tuple[Area, ...] = Field(min_length=1)
    stripe_unit: str
    settings: str = ""
    precondition: Literal["fresh", "filled", "steady-state"] = "steady-state"
    """What flash drives had been through: reports measure drives in use, not new ones."""
    filled: str | None = None
    """How much of each drive had been written at all; all of it if left out."""
    area_start: str = "0 B"
    """Where the measurement file begins on the array."""
    order: tuple[str, ...] = ()
    """Profiles in the order in which they were measured: each finds what the ones before left."""

    def area(self, drives: int) -> str:
        """Size of the measurement file for an array of `drives` drives."""
        return next(area.area for area in self.areas if drives <= area.drives)


class _Sources(Table):
    by_name: dict[str, Shared]


@cache
def shared() -> Mapping[str, Shared]:
    """What the rows of each report share, by source; `default` for any other."""
    path = FOLDER / "sources.toml"
    faults = Faults(str(path))
    sources = check(_Sources, {"by_name": read_toml(path)}, faults)
    faults.raise_if_any()
    if sources is None:
        raise AssertionError("sources that cannot be read have faults")
    return sources.by_name


def read_published() -> list[Figure]:
    """Every figure that comes with raidlab."""
    return [figure for path in sorted(FOLDER.glob("*.csv")) for figure in read_figures(path)]


def read_claims() -> list[Figure]:
    """Every claim of the reports: ratios, orders and saturation points that they state."""
    return [figure for path in sorted(CLAIMS_FOLDER.glob("*.csv")) for figure in read_figures(path)]


def read_figures(path: Path) -> list[Figure]:
    """The figures of a file.

    Raises:
        SpecError: Everything that is wrong with it, by line and column.
    """
    faults = Faults(str(path))
    figures: list[Figure] = []
    try:
        text = read_text(path, 64 * MIB, "file of figures")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            faults.add("line 1", ", ".join(missing), "columns that must be there and are not")
            raise SpecError(faults.found)
        for row in reader:
            figure = _figure(row, f"line {reader.line_num}", faults)
            if figure is not None:
                figures.append(figure)
    except csv.Error as error:
        faults.add("", None, f"is no CSV file: {error}")
    if not figures and not faults.found:
        faults.add("line 2", None, "at least one figure")
    faults.raise_if_any()
    return figures


def _figure(row: Mapping[str, str | None], line: str, faults: Faults) -> Figure | None:
    before = len(faults.found)
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    configuration = _configuration(cells, line, faults)
    relation = _one_of(cells, "relation", get_args(Relation), line, faults)
    quantity = _one_of(cells, "quantity", get_args(Quantity), line, faults)
    value = _number(cells, "value", line, faults)
    high = _number(cells, "high", line, faults) if relation == "range" else None
    if value is not None and high is not None and high < value:
        faults.add(f"{line}: high", cells["high"], f"at least value = {cells['value']}")
    baseline = None
    if quantity == "ratio":
        baseline = _baseline(cells, line, faults)
    if len(faults.found) > before or value is None or configuration is None:
        return None
    return Figure(
        cells["id"],
        configuration,
        cast(Quantity, quantity),
        cast(Relation, relation),
        value,
        high,
        baseline,
        cells["note"],
        cells["ref"],
    )


def _one_of(
    cells: Mapping[str, str], name: str, allowed: Sequence[str], line: str, faults: Faults
) -> str:
    if cells[name] not in allowed:
        faults.add(f"{line}: {name}", cells[name], f"one of {', '.join(allowed)}", allowed)
    return cells[name]


def _number(cells: Mapping[str, str], name: str, line: str, faults: Faults) -> float | None:
    try:
        number = float(cells[name])
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        faults.add(f"{line}: {name}", cells[name], "a number above 0")
        return None
    return number


def _configuration(cells: Mapping[str, str], line: str, faults: Faults) -> Configuration | None:
    before = len(faults.found)
    count = whole_number(cells["count"])
    if not count or count > 4096:
        faults.add(f"{line}: count", cells["count"], "a number of drives, 1 to 4096")
    if cells["outstanding"] != "max" and whole_number(cells["outstanding"]) is None:
        faults.add(f"{line}: outstanding", cells["outstanding"], 'a whole number or "max"')
    _one_of(cells, "per", ("", "system", "drive"), line, faults)
    _one_of(cells, "raid_by", ("", "controller", "os"), line, faults)
    settings = _pairs(cells["settings"], f"{line}: settings", faults)
    if count is None or len(faults.found) > before:
        return None
    return Configuration(
        source=cells["source"],
        controller=cells["controller"],
        drive=cells["drive"],
        format=cells["format"],
        count=count,
        level=cells["level"] or "single",
        raid_by=cells["raid_by"],
        settings=settings,
        load=cells["load"],
        outstanding=cells["outstanding"],
        per=cells["per"] or "system",
    )


def _pairs(text: str, key: str, faults: Faults) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            faults.add(key, part, "key=value pairs, with semicolons between")
        pairs[name.strip()] = value.strip()
    return pairs


def _baseline(cells: Mapping[str, str], line: str, faults: Faults) -> Configuration | None:
    """The row's configuration with the overrides of the column `baseline`."""
    overrides = _pairs(cells["baseline"], f"{line}: baseline", faults)
    columns = {field.name for field in dataclasses.fields(Configuration)} - {"settings"}
    changed = dict(cells)
    settings = _pairs(cells["settings"], f"{line}: settings", faults)
    for key, value in overrides.items():
        if key in columns:
            changed[key] = value
        elif value or key not in SETTINGS:
            settings[key] = value
        else:
            settings.pop(key, None)
    changed["settings"] = ";".join(f"{key}={value}" for key, value in settings.items())
    if not overrides:
        faults.add(f"{line}: baseline", "", "what the ratio compares with, as key=value pairs")
    return _configuration(changed, line, faults)


def figures_of(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """The figures of one report, or the one of that id.

    Raises:
        SpecError: It is neither; says which are nearest.
    """
    found = [each for each in figures if name in (each.configuration.source, each.id)]
    if not found:
        known = sorted({figure.configuration.source for figure in figures})
        ids = [figure.id for figure in figures]
        near = _nearest(name, ids)
        allowed = f"one of {', '.join(known)}, or the id of a figure, such as {', '.join(near)}"
        # An id that is near comes before a report, of whose name it consists.
        is_numbered = name.rpartition("-")[2].isdigit()
        choices = [*near, *known] if is_numbered else [*known, *ids]
        raise SpecError([Fault("SOURCE", name, allowed, choices)])
    return found


def _nearest(name: str, ids: Sequence[str]) -> list[str]:
    """The ids most like a name: of the same report the nearest in number."""
    head, _, number = name.rpartition("-")
    numbered = [(id.rpartition("-"), id) for id in ids]
    own = [(int(end), id) for (begin, _, end), id in numbered if begin == head and end.isdigit()]
    if number.isdecimal() and own:
        return [id for _, id in sorted(own, key=lambda each: abs(each[0] - int(number)))[:3]]
    return difflib.get_close_matches(name, ids) or list(ids[:1])


def figures_of_drives(part: str, figures: Sequence[Figure]) -> Iterator[Figure]:
    """The figures of drives whose name holds `part`.

    Raises:
        SpecError: No drive's does.
    """
    known = sorted({figure.configuration.drive for figure in figures})
    if not any(part in drive for drive in known):
        faults = Faults()
        faults.add("--drive", part, f"part of one of {', '.join(known)}", known)
        raise SpecError(faults.found)
    yield from (figure for figure in figures if part in figure.configuration.drive)
