"""A controller from its sheet: links and memory as stated, firmware scaled from the family of 2013.

With a clock f and n cores, a time t of a fitted chip becomes t * f_fitted / f on each core: the
work of a request in cycles stays. Newer cores do more in a cycle and newer firmware has more to do,
so bounds are wide: 0.4 to 1.25 times. Where the maker states small reads a second, they decide
instead: n cores / rate for a request and its command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from raidlab.devices.catalogue import find
from raidlab.devices.controller import ControllerSpec, Firmware
from raidlab.devices.datasheet.draft import Draft, Origin, Word, quantity
from raidlab.devices.faults import Fault, Faults
from raidlab.devices.levels import Level
from raidlab.devices.links import Interface, InterfaceName
from raidlab.devices.schema import Table, check, read_toml
from raidlab.devices.trees import Tree, Value
from raidlab.devices.units import Frequency, IoRate, Rate, Size

CACHED, PLAIN = "lsi2208-1g-3.0", "lsi2008"
"""Fitted controllers with and without memory."""
_FIRMWARE: Final[Mapping[str, Firmware]] = {
    CACHED: Firmware.model_validate(
        {
            "request": "7.685 us",
            "command": "2.745 us",
            "cached": "6.314 us",
            "parity": "9.101 us",
            "fast_path": "4.907 us",
            "latency": "34.56 us",
        }
    )
}
"""Of the fitted controller, as its small requests alone decide it: the lists of pages that its
cores build for larger ones are the work of later chips."""
_CLOCKS = {CACHED: 800e6, PLAIN: 533e6}
"""Of their cores: two PowerPC 476, one PowerPC 440."""
_ASSUMED = "assumed: "
"""Before a note that says why a figure is taken to be so."""
FASTER, SLOWER = 0.4, 1.25
"""Bounds of a scaled time over its best guess."""
_STATED = (0.9, 1.4)
"""As `_ASSUMED`, where a rate is stated: sheets say "up to", for the best firmware path."""


class ControllerSheet(Table):
    """What a maker states of a controller."""

    kind: Literal["controller"]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$")
    title: str
    year: int = Field(ge=1956, le=2100)
    source: str
    sources: Mapping[str, str] = {}
    """Where single figures were read, or that they are assumed, by key."""
    interface: InterfaceName
    """To the host."""
    port: InterfaceName
    nvme: InterfaceName | None = None
    """Widest link of an NVMe drive, if ports carry PCIe as well."""
    ports: int = Field(ge=1, le=256)
    max_drives: int = Field(ge=1, le=2**16)
    levels: tuple[Level, ...] = Field(min_length=1)
    chip: str
    cores: int = Field(ge=1, le=64)
    clock: Frequency = Field(gt=0)
    max_iops: IoRate | None = Field(default=None, gt=0)
    """Small reads a second."""
    short_path: bool = True
    """True if its firmware has a short path for small requests, which `max_iops` is stated for."""
    cache: Size | None = Field(default=None, gt=0)
    memory_rate: Rate | None = Field(default=None, gt=0)
    protection: Literal["none", "bbu", "fbu"] = "none"

    def faults(self) -> Iterator[Fault]:
        """Memory without a size, and the reverse."""
        if (self.cache is None) != (self.memory_rate is None):
            key = "memory_rate" if self.cache else "cache"
            yield Fault(key, None, "both of cache and memory_rate, or none of them")
        if self.nvme is not None and Interface.parse(self.nvme).family != "pcie":
            yield Fault("nvme", self.nvme, "a PCIe interface, such as pcie-4.0-x4")
        if self.protection != "none" and self.cache is None:
            yield Fault("protection", self.protection, 'cache = "2 GiB" or such that it protects')


def read_controller(path: Path) -> tuple[ControllerSheet, Tree]:
    """Reads and checks a controller's sheet.

    Returns:
        The sheet, and its values as written.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    tree = read_toml(path)
    faults = Faults(str(path))
    sheet = check(ControllerSheet, tree, faults)
    faults.raise_if_any()
    if sheet is None:
        raise AssertionError("a sheet that cannot be read has faults")
    return sheet, tree


def controller_draft(sheet: ControllerSheet, written: Mapping[str, Value]) -> Draft:
    """The device file of a controller, every number with its origin."""
    draft = Draft()
    stated = Origin("data-sheet", sheet.source)
    for key in ("kind", "name", "title"):
        draft.put(key, written[key])
    draft.put("link", sheet.interface)
    draft.put("port", sheet.port)
    if sheet.nvme is not None:
        draft.put("nvme", sheet.nvme)
    draft.put("levels", list(sheet.levels))
    draft.put("ports", sheet.ports, _origin(sheet, "ports", stated))
    draft.put("drives_max", sheet.max_drives, _origin(sheet, "max_drives", stated))
    draft.put("cores", sheet.cores, _origin(sheet, "cores", stated))
    draft.put("queue_depth", 0, Origin("assumed", "no limit: deeper than usual loads"))
    for key in ("clock", "max_iops", "cache", "memory_rate"):
        if key in written:
            draft.put(f"data_sheet.{key}", written[key], _origin(sheet, key, stated))
    draft.put("data_sheet.chip", sheet.chip)
    draft.put("data_sheet.year", sheet.year, Origin("published", "when it was announced"))
    _firmware(draft, sheet)
    if fitted(sheet).parity is not None:
        _parity(draft, sheet)
    if sheet.cache is not None:
        _memory(draft, sheet, written, stated)
    return draft


def _origin(sheet: ControllerSheet, key: str, stated: Origin) -> Origin:
    note = sheet.sources.get(key)
    if note is None:
        return stated
    if note.startswith(_ASSUMED):
        return Origin("assumed", note.removeprefix(_ASSUMED))
    return Origin("data-sheet", note)


def fitted(sheet: ControllerSheet) -> ControllerSpec:
    """The fitted controller whose firmware is scaled."""
    spec = find(_base(sheet)).spec
    if not isinstance(spec, ControllerSpec):
        raise AssertionError("a controller")
    return spec


def _base(sheet: ControllerSheet) -> str:
    return CACHED if "raid5" in sheet.levels else PLAIN


def scale(sheet: ControllerSheet) -> float:
    """Times of its cores over those of the fitted chip."""
    base = _firmware_of(sheet)
    if sheet.max_iops is None:
        return _CLOCKS[_base(sheet)] / sheet.clock
    small = base.request + base.command
    if base.fast_path is not None and sheet.short_path:
        small = base.fast_path
    return 1e9 * sheet.cores / sheet.max_iops / small


def _firmware_of(sheet: ControllerSheet) -> Firmware:
    return _FIRMWARE.get(_base(sheet)) or fitted(sheet).firmware


def _firmware(draft: Draft, sheet: ControllerSheet) -> None:
    base, factor = _firmware_of(sheet), scale(sheet)
    word: Word = "assumed"
    low, high = FASTER, SLOWER
    how = f"{_base(sheet)} over {_CLOCKS[_base(sheet)] / 1e6:.0f} MHz, at {sheet.clock / 1e9:g} GHz"
    if sheet.max_iops is not None:
        (low, high), how = _STATED, f"cores over max_iops, in the proportions of {_base(sheet)}"
        word = "derived"
    for key in ("request", "command", "cached", "parity", "fast_path"):
        time = getattr(base, key)
        if time is not None and (key != "fast_path" or sheet.short_path):
            us = time / 1e3 * factor
            bounds = (quantity(us * low, "us"), quantity(us * high, "us"))
            origin = Origin(word, how, *bounds)
            draft.put(f"firmware.{key}", quantity(us, "us"), origin)
    latency = base.latency / 1e3
    if latency:
        origin = Origin(
            "assumed", f"as {_base(sheet)}", quantity(latency / 4, "us"), f"{latency:g} us"
        )
        draft.put("firmware.latency", quantity(latency / 2, "us"), origin)
    if base.fast_path is not None and sheet.short_path:
        draft.put("features", ["fast_path"])


def _parity(draft: Draft, sheet: ControllerSheet) -> None:
    base = fitted(sheet)
    old = 0 if base.cache is None else base.cache.bandwidth
    faster = float(sheet.memory_rate) / float(old) if sheet.memory_rate and old else 1.0
    parity = float(base.parity or 0) / 1e6 * faster
    how = f"{CACHED}'s parity engine, by the rate of the memory"
    bounds = (quantity(0.7 * parity, "MB/s"), quantity(2 * parity, "MB/s"))
    draft.put("parity", quantity(parity, "MB/s"), Origin("assumed", how, *bounds))


def _memory(
    draft: Draft, sheet: ControllerSheet, written: Mapping[str, Value], stated: Origin
) -> None:
    base = fitted(sheet)
    draft.put("cache.size", written["cache"], _origin(sheet, "cache", stated))
    rate = _origin(sheet, "memory_rate", stated)
    draft.put("cache.bandwidth", written["memory_rate"], rate)
    share = Origin("assumed", f"as fitted to {CACHED}", "0.4", "0.8")
    draft.put("cache.efficiency", 1.0 if base.cache is None else base.cache.efficiency, share)
    draft.put("cache.backup", list(dict.fromkeys(("none", sheet.protection))))
