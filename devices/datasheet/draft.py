"""A device in the making: values as files hold them, each with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from raidlab.devices.datasheet.priors import Prior
from raidlab.devices.datasheet.sheet import Read
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import Tree, Value, get, put, table_at

Word = Literal["data-sheet", "published", "derived", "assumed"]

_META = ("kind", "name", "title", "source", "sources", "spread", "power_states")


@dataclass(frozen=True)
class Origin:
    """Where a number comes from."""

    word: Word
    note: str = ""
    low: str = ""
    high: str = ""
    """Bounds of what is assumed, or of a class of drives, as quantities."""
    correlations: Mapping[str, float] = field(default_factory=dict)
    """With which numbers it is drawn together, by their keys."""

    def to_toml(self) -> Tree:
        """For the table `[sources]`."""
        entry: Tree = {"source": self.word}
        if self.note:
            entry["note"] = self.note
        if self.low:
            entry["range"] = [self.low, self.high]
        if self.correlations:
            entry["correlations"] = dict(self.correlations)
        return entry


def assumed(prior: Prior, unit: str = "") -> Origin:
    """That a number is a prior's."""
    space = f" {unit}" if unit else ""
    return Origin("assumed", prior.source, f"{prior.low:g}{space}", f"{prior.high:g}{space}")


@dataclass
class Draft:
    """The tree of a device file."""

    values: Tree = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)

    def put(self, key: str, value: Value, origin: Origin | None = None) -> None:
        """Sets a value by its dotted key, with its origin if it is a number."""
        put(self.values, key, value)
        if origin is not None:
            self.origins[key] = origin

    def head(self, read: Read) -> None:
        """What every device has, and the sheet itself."""
        sheet = read.sheet
        self.put("kind", sheet.kind)
        self.put("name", sheet.name)
        self.put("title", sheet.title or sheet.name)
        self.put("interface", sheet.interface)
        for key, value in read.written.items():
            if key not in (*_META, "capacity", "interface"):
                self.put(f"data_sheet.{key}", value)
        words = [f"{key}: {note}" for key, note in sheet.sources.items() if key in _WORDS]
        origin = Origin("data-sheet", "; ".join(filter(None, (sheet.source, *words))))
        self.put("capacity", f"{sheet.capacity} B", origin)
        if table_at(self.values, "data_sheet"):
            self.origins["data_sheet"] = origin
        if sheet.year is not None:
            self.origins["data_sheet.year"] = Origin("published", "when it was announced")
        for key, note in sheet.sources.items():
            if key in _WORDS:
                continue
            where = key if key == "capacity" else f"data_sheet.{key}"
            self.origins[where] = Origin("data-sheet", note)
        numbers = [key for key in table_at(self.values, "data_sheet") if key not in _OTHER_KEYS]
        if not numbers:
            self.origins.pop("data_sheet", None)

    def to_toml(self) -> str:
        """The device file."""
        sources = {key: origin.to_toml() for key, origin in self.origins.items()}
        lines = [
            "Made of a data sheet by `raidlab import datasheet`. [data_sheet] has what the maker",
            "states; [sources] says of every number whether it is stated, derived or assumed.",
        ]
        return device_toml(self.values, sources, lines)

    def of(self, word: Word) -> Mapping[str, Value]:
        """The values of one origin, by dotted key."""
        return {
            key: get(self.values, key)
            for key, origin in self.origins.items()
            if origin.word == word
        }


_OTHER_KEYS = frozenset({"cell", "burst", "year"})
"""Entries of `data_sheet` that are no figures of the maker's."""


_WORDS = _OTHER_KEYS | {*_META, "interface"}
"""Keys of a sheet whose values are no numbers, so that a device file has no source for each."""


def quantity(value: float, unit: str) -> str:
    """A figure to four digits, with its unit."""
    return f"{value:.4g} {unit}" if abs(value) < 1e4 else f"{value:.0f} {unit}"
