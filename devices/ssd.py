"""Solid-state drives: NAND, translation, collection, buffer, firmware, temperature, endurance.

The models behind the keys are described in docs/explanation/ssd.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import (
    BackEndParams,
    CollectionParams,
    FirmwareParams,
    HistoryLoad,
    Policy,
    SsdDeviceParams,
    TemperatureParams,
)
from raidlab.devices.power import FlashPower
from raidlab.devices.schema import DriveOptions, DriveSpec, Table
from raidlab.devices.ssd_nand import WORKING_BLOCKS, Nand
from raidlab.devices.ssd_thermal import Thermal
from raidlab.devices.units import Duration, Frequency, Rate, Share, Size

_LEVELLING_NEEDS = 6
"""Least `start_free_blocks` with which cold data are moved, as in the engine."""
_MOST_RATED = 2**63 - 1
"""Bytes of rated endurance that the engine can count."""
_MAP_UNITS = 2**32 - 4
"""Units of the largest map that the engine keeps."""
_SOAKED_TIME_CONSTANT_S = 0.4
_SOAKED_INTERVAL_NS = 500_000


_POLICY: Final[Mapping[str, Policy]] = {
    "greedy": "greedy",
    "first-in-first-out": "first_in_first_out",
    "random": "random",
    "best-of": "best_of",
    "cost-benefit": "cost_benefit",
}


class Collection(Table):
    """`[collection]`: garbage collection and wear levelling."""

    policy: Literal["greedy", "first-in-first-out", "random", "best-of", "cost-benefit"] = "greedy"
    candidates: int = Field(default=2, ge=1, le=1024)
    """Random candidates of `best-of`."""
    start_free_blocks: Annotated[int, within(plan_bounds.CollectionParams.start_free_blocks)] = 3
    """A die collects when it has fewer free blocks than this."""
    background_free_blocks: int = Field(default=0, ge=0, le=2**20)
    """An idle die collects until it has this many free blocks; 0 for never."""
    background_share: Share = Field(default=1.0, gt=0)
    """Share of its time that a die may spend on that."""
    blocks_at_once: int = Field(default=0, ge=0, le=65536)
    """Blocks that the whole drive empties at a time, a page after the other, as a driver that
    writes one log does; 0 if every die empties its own. Writes wait while moves are more than
    `firmware.move_batch` behind."""
    separate_frontiers: bool = True
    """True if moved data have blocks of their own, apart from the host's."""
    level_wear: bool = True
    """True if the least worn free block is used first, and the most worn one for moved data."""
    wear_gap: int = Field(default=0, ge=0, le=2**31)
    """Erases by which a block may lag before its cold data are moved; 0 for no limit. Moving a full
    block frees nothing, so it takes at least six `start_free_blocks`."""
    placement: Literal["log", "address"] = "log"
    """Where random writes before a run lie: in the order in which they came, or in that of their
    addresses, as drives have it whose times were fitted like that."""

    def to_plan(self) -> CollectionParams:
        """`CollectionParams` of the native models."""
        return {
            "policy": _POLICY[self.policy],
            "candidates": self.candidates,
            "start_free_blocks": self.start_free_blocks,
            "background_free_blocks": self.background_free_blocks,
            "background_share": self.background_share,
            "blocks_at_once": self.blocks_at_once,
            "separate_frontiers": self.separate_frontiers,
            "level_wear": self.level_wear,
            "wear_gap": self.wear_gap,
            "placement": self.placement,
        }


class Buffer(Table):
    """`[buffer]`: where host data wait for their program."""

    size: Size = Field(gt=0)
    protected: bool = False
    """True if its content survives a loss of power, so that a flush need not wait."""


class Firmware(Table):
    """`[firmware]`: what commands cost. Core times bound the rate, latencies do not."""

    cores: Annotated[int, within(plan_bounds.FirmwareParams.cores)] = 1
    """Cores that work on commands in parallel."""
    host_clock: Frequency | None = None
    """Of a drive whose driver keeps the map on the host: clock of the CPU at which the core times
    hold. They scale with the inverse of the host's clock."""
    read: Duration
    """Core time of a read command."""
    write: Duration
    """Core time of a write command."""
    read_unit: Duration = 0
    """Core time of each mapping unit that is read."""
    stream_unit: Duration | None = None
    """As `read_unit`, if an earlier read has looked up this part of the map: it goes on where
    that ended, or begins in the 1024 units where the last one did; `read_unit` if left out."""
    write_unit: Duration = 0
    """Core time of each mapping unit that is written."""
    move_unit: Duration = 0
    """Core time of each mapping unit that garbage collection moves."""
    move_batch: int = Field(default=1, ge=1, le=65536)
    """Units that collection gathers until a core moves them, one behind the other."""
    fetch_unit: Duration = 0
    """Time to fetch each mapping unit of a write from the host, over the link's own."""
    insert_unit: Duration = 0
    """What a write waits for, for each mapping unit that collection had moved, until it stands in a
    map which the host keeps."""
    read_latency: Duration = 0
    """What a read waits for without holding a core."""
    write_latency: Duration = 0
    """What a write waits for without holding a core."""
    wake: Duration = 0
    """What a read waits for that finds the drive without commands, as its back end (channels, error
    correction, memory of the map) sleeps then; 0 if it never does."""
    sleep_after: Duration = 0
    """Time without commands after which the back end sleeps."""
    other: Duration = 2000
    """Core time of a trim or flush."""
    flush: Duration = 0
    """What a flush takes behind the programs of what was written since the last one: a drive
    without power-loss protection writes the changes of its map and its own records."""
    fua: Duration | None = None
    """What a write with FUA takes behind its program; as `flush` if left out."""
    spread: Share = 0.0
    """Share of a command's core time that varies exponentially from one to the next."""
    finish: Duration = 0
    """Core time of a read command once its data have come."""
    finish_unit: Duration = 0
    """As `finish`, for each of its mapping units."""
    lookup_unit: Duration = 0
    """Core time of a mapping unit that is read or written where collection has moved it: it is an
    extent of its own in a tree in the host's memory."""
    descent: Duration = 0
    """Core time of a command whose piece of the map (1024 mapping units) is not looked up yet: it
    goes on with no stream, and the last of its kind ended in another piece: a look-up
    from the root of a tree."""
    turnaround: Duration | None = None
    """What a change from writing to reading takes on a drive that serves reads and writes in
    alternate batches; left out for one that serves them side by side."""

    renamed: ClassVar[Mapping[str, str]] = {"turn": "turnaround"}

    def faults(self) -> Iterator[Fault]:
        """Work behind the NAND on several cores, batches of moves that cost nothing."""
        if self.cores > 1 and (self.finish or self.finish_unit):
            yield Fault("cores", self.cores, "1 beside `finish` and `finish_unit`")
        if self.move_batch > 1 and not self.move_unit:
            yield Fault("move_batch", self.move_batch, "1 without `move_unit`, which it gathers")
        if self.wake and self.host_clock:
            yield Fault("wake", f"{self.wake} ns", "0 beside `host_clock`: the map is on the host")
        if self.sleep_after and not self.wake:
            yield Fault("sleep_after", f"{self.sleep_after} ns", "0 without `wake`")

    def back_end(self) -> BackEndParams | None:
        """`BackEndParams` of the native models, if it sleeps."""
        if not self.wake:
            return None
        return {"wake_ns": self.wake, "sleep_after_ns": self.sleep_after}

    def to_plan(self, clock: float | None) -> FirmwareParams:
        """`FirmwareParams` of the native models, beside a host whose CPU runs at `clock` hertz."""
        scale = 1.0 if clock is None or self.host_clock is None else self.host_clock / clock
        plan: FirmwareParams = {
            "cores": self.cores,
            "read_ns": round(self.read * scale),
            "write_ns": round(self.write * scale),
            "read_unit_ns": round(self.read_unit * scale),
            "stream_unit_ns": None if self.stream_unit is None else round(self.stream_unit * scale),
            "write_unit_ns": round(self.write_unit * scale),
            "spread": self.spread,
            "move_unit_ns": round(self.move_unit * scale),
            "move_batch": self.move_batch,
            "fetch_unit_ns": round(self.fetch_unit * scale),
            "insert_unit_ns": round(self.insert_unit * scale),
            "read_latency_ns": self.read_latency,
            "write_latency_ns": self.write_latency,
            "other_ns": round(self.other * scale),
            "finish_ns": round(self.finish * scale),
            "finish_unit_ns": round(self.finish_unit * scale),
            "lookup_unit_ns": round(self.lookup_unit * scale),
            "descent_ns": round(self.descent * scale),
            "turnaround_ns": self.turnaround,
        }
        if self.flush:
            plan["flush_ns"] = self.flush
        if self.fua is not None:
            plan["fua_ns"] = self.fua
        return plan


class Prefetch(Table):
    """`[prefetch]`: reading ahead of one sequential read at a time."""

    window: Size = Field(gt=0)
    """Bytes read ahead."""
    after: int = Field(default=2, ge=1, le=2**24)
    """Sequential reads, each alone in the drive, before it begins."""


class MapCache(Table):
    """`[map_cache]`: the map in part in the drive's memory; all of it if the table is left out."""

    size: Size = Field(gt=0)
    """Memory for pages of the map."""
    page: Size = Field(default=4096, ge=512)
    """Page of the map: what a miss reads from NAND."""
    entry: Size = Field(default=4, ge=1, le=64)
    """Of the map, for each mapping unit."""


class Compression(Table):
    """`[compression]`: in the drive."""

    gain: Share
    """Share of the data's compressibility that the drive finds."""
    least: Annotated[float, within(plan_bounds.CompressionParams.least_share)]
    """The least share of a unit that is ever stored."""
    shortest_match: int = Field(default=1, ge=1, le=64)
    """Symbols of the shortest run that its engine replaces."""
    rate: Rate | None = Field(default=None, ge=10**6)
    """Stored bytes a second that its engine takes in or gives out; unlimited if left out."""


class SsdSpec(DriveSpec):
    """`kind = "ssd"`."""

    renamed: ClassVar[Mapping[str, str]] = {"heat": "thermal"}
    options: ClassVar[frozenset[str]] = frozenset(
        {"write_cache", "format", "cooling", "compressible", "history", "snapshot", "clock"}
    )

    kind: Literal["ssd"]
    capacity: Size = Field(gt=0)
    """Bytes that a host can address, as formatted in the factory."""
    formats: Mapping[str, Size] = {}
    """Other capacities to which it can be formatted, by name."""
    mapping_unit: Size = Field(default=4096, ge=512)
    sector_mapping: bool = False
    """True if the map resolves sectors: a write costs its own bytes wherever it starts."""
    drive_writes_per_day: float | None = Field(default=None, gt=0)
    """Rated endurance, over `rated_years`."""
    rated_years: float = Field(default=5.0, gt=0)
    nand: Nand
    collection: Collection = Collection.left_out()
    buffer: Buffer
    firmware: Firmware
    prefetch: Prefetch | None = None
    map_cache: MapCache | None = None
    compression: Compression | None = None
    power: FlashPower | None = None
    thermal: Thermal | None = None

    def faults(self) -> Iterator[Fault]:
        """A unit that does not fit the pages, more usable than raw capacity."""
        page_set = self.nand.planes * self.nand.page
        if self.mapping_unit > page_set or self.mapping_unit % 512:
            allowed = f"a multiple of 512 B, at most {page_set} B, one page of every plane"
            yield Fault("mapping_unit", f"{self.mapping_unit} B", allowed)
        elif self.nand.free_blocks > WORKING_BLOCKS:
            yield from self._capacity_faults()
        yield from self._map_cache_faults()
        yield from self._endurance_faults()
        if self.thermal is not None:
            if self.power is None:
                yield Fault("power", None, "a table beside [thermal]: what warms the drive")
            else:
                yield from self.thermal.idle_faults(self.power.idle)
        if self.power is not None and self.power.idle_states() and self.firmware.host_clock:
            allowed = "states with operational = true alone: this drive's map is on the host"
            yield Fault("power.states", None, allowed)
        if self.buffer.size < 2 * page_set:
            allowed = "at least two pages of every plane"
            yield Fault("buffer.size", f"{self.buffer.size} B", allowed)
        gap, start = self.collection.wear_gap, self.collection.start_free_blocks
        if gap and start < _LEVELLING_NEEDS:
            allowed = (
                f"0, or collection.start_free_blocks of {_LEVELLING_NEEDS} or more (here {start})"
            )
            yield Fault("collection.wear_gap", gap, allowed)

    def _capacity_faults(self) -> Iterator[Fault]:
        space = self._space()
        for name, size in {"": self.capacity, **self.formats}.items():
            if size > space:
                key = f"formats.{name}" if name else "capacity"
                yield Fault(key, f"{size} B", self._allowed(space))

    def _endurance_faults(self) -> Iterator[Fault]:
        most = _MOST_RATED / 365 / self.rated_years / self.capacity
        if self.drive_writes_per_day is not None and self.drive_writes_per_day > most:
            allowed = (
                f"at most {most:,.4g}: over rated_years of {self.rated_years:g}"
                f" that is {_MOST_RATED:.2g} B"
            )
            yield Fault("drive_writes_per_day", f"{self.drive_writes_per_day:g}", allowed)

    def _map_cache_faults(self) -> Iterator[Fault]:
        cache = self.map_cache
        if cache is None:
            return
        page_set = self.nand.planes * self.nand.page
        if cache.page > page_set:
            allowed = f"512 B to {page_set} B, one page of every plane"
            yield Fault("map_cache.page", f"{cache.page} B", allowed)
        elif cache.size < 4 * cache.page:
            allowed = f"at least {4 * cache.page} B: four pages of the map"
            yield Fault("map_cache.size", f"{cache.size} B", allowed)
        whole = -(-self.capacity // self.mapping_unit) * cache.entry
        if cache.size >= whole:
            allowed = f"less than the {whole} B of the whole map; else leave [map_cache] out"
            yield Fault("map_cache.size", f"{cache.size} B", allowed)
        if self.firmware.turnaround is not None:
            allowed = (
                "left out beside firmware.turnaround: such a drive's map is in the host's memory"
            )
            yield Fault("map_cache", None, allowed)

    @property
    def _reserved_blocks(self) -> int:
        """Blocks of each die that never hold data."""
        return WORKING_BLOCKS + self.collection.start_free_blocks

    def _space(self) -> int:
        """Bytes that can be addressed at most: free blocks of each die taken off."""
        nand = self.nand
        dies = nand.channels * nand.dies_per_channel
        page_set = nand.planes * nand.page
        # Units lie in whole page sets; where they are compressed, pieces straddle pages.
        units = page_set // self.mapping_unit
        if self.compression is not None:
            units = (page_set + self.mapping_unit // 2) // self.mapping_unit
        blocks = max(0, nand.data_bytes // (dies * nand.pages_per_block * page_set))
        spare = max(0, blocks - self._reserved_blocks)
        return dies * spare * nand.pages_per_block * units * self.mapping_unit

    def _allowed(self, space: int) -> str:
        reserved = (
            f"{self._reserved_blocks} blocks of each die are kept free for garbage collection"
        )
        if space == 0:
            return f"a drive with more blocks: no block is left for data, since {reserved}"
        return f"at most {space} B: the NAND has {self.nand.raw_bytes} B, and {reserved}"

    def _rated_host_bytes(self) -> int:
        """Bytes that the data sheet lets a host write; 0 if it says nothing."""
        return int((self.drive_writes_per_day or 0) * self.rated_years * 365 * self.capacity)

    @property
    def compresses(self) -> bool:
        """True if it has a table `[compression]`."""
        return self.compression is not None

    def option_faults(self, options: DriveOptions) -> Iterator[Fault]:
        """Formats and cooling conditions that this drive does not have."""
        yield from super().option_faults(options)
        if options.format is not None and options.format not in self.formats:
            yield Fault(
                "format", options.format, _one_of("a format", self.formats), tuple(self.formats)
            )
        coolings = {} if self.thermal is None else self.thermal.cooling
        if options.cooling is not None and options.cooling not in coolings:
            yield Fault(
                "cooling", options.cooling, _one_of("a condition", coolings), tuple(coolings)
            )

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address under `options`."""
        return self.capacity if options.format is None else self.formats[options.format]

    def slices(self, options: DriveOptions) -> int:
        """Slices of the drive, of which the engine maps one; 1 where one map holds all units."""
        units = max(self.capacity_bytes(options), self.nand.data_bytes) // self.mapping_unit
        return -(-units // _MAP_UNITS)

    def _sliced(self, plan: SsdDeviceParams, slices: int) -> SsdDeviceParams:
        """The plan of one of the slices: capacity, blocks and history of that share."""
        unit = self.mapping_unit
        # Free blocks at which collection starts are spare space all the same.
        kept = WORKING_BLOCKS + self.nand.reserved_blocks

        def part(bytes_: int) -> int:
            return bytes_ // slices // unit * unit

        history: list[HistoryLoad] = [
            {
                **load,
                "start_bytes": part(load["start_bytes"]),
                "written_bytes": part(load["written_bytes"]),
                "area_bytes": max(part(load["area_bytes"]), load["block_bytes"]),
            }
            for load in plan.get("history", ())
        ]
        blocks = (self.nand.good_blocks - kept) // slices + kept
        sliced: SsdDeviceParams = {
            **plan,
            "slices": slices,
            "capacity_bytes": -(-plan["capacity_bytes"] // slices // unit) * unit,
            "nand": {**plan["nand"], "blocks_per_plane": blocks},
        }
        if history:
            sliced["history"] = history
        return sliced

    def volatile(self, options: DriveOptions) -> bool:
        """True if it acknowledges a write while only memory has it that forgets."""
        return not self.buffer.protected and options.write_cache is not False

    def _reads(self, options: DriveOptions) -> tuple[int, ...]:
        """Times to read a page by type: of data that are all in the SLC cache, those there."""
        slc = self.nand.slc_cache
        written = [load.written_bytes for load in options.history or ()]
        if slc is None or slc.read is None or not written or not all(written):
            return self.nand.read
        return (slc.read,) * len(self.nand.read) if sum(written) <= slc.bytes_ else self.nand.read

    def to_plan(self, options: DriveOptions) -> SsdDeviceParams:
        """`SsdParams` of the native models."""
        nand, firmware = self.nand, self.firmware
        plan: SsdDeviceParams = {
            "kind": "ssd",
            "capacity_bytes": self.capacity_bytes(options),
            "unit_bytes": self.mapping_unit,
            "sector_mapping": self.sector_mapping,
            "rated_host_bytes": self._rated_host_bytes(),
            "nand": nand.to_plan(self._reads(options)),
            "parity_stripe": nand.parity_stripe,
            "reserved_blocks_per_plane": nand.reserved_blocks,
            "collection": self.collection.to_plan(),
            # What the host's driver reads goes straight to the host.
            "keeps_pages": firmware.host_clock is None,
            "buffer": {
                "bytes": self.buffer.size,
                "protected": self.buffer.protected,
                "write_through": options.write_cache is False and not self.buffer.protected,
            },
            "firmware": firmware.to_plan(options.clock),
        }
        if self.prefetch is not None:
            plan["prefetch"] = {
                "window_bytes": self.prefetch.window,
                "after_commands": self.prefetch.after,
            }
        if self.map_cache is not None:
            plan["map_cache"] = {
                "bytes": self.map_cache.size,
                "page_bytes": self.map_cache.page,
                "entry_bytes": self.map_cache.entry,
            }
        if self.compression is not None:
            plan["compression"] = {
                "gain": self.compression.gain,
                "least_share": self.compression.least,
                "shortest_match": self.compression.shortest_match,
                "bytes_per_s": self.compression.rate or 0,
            }
        if (back_end := firmware.back_end()) is not None:
            plan["back_end"] = back_end
        if self.power is not None:
            plan["power"] = self.power.to_plan()
            if states := self.power.idle_states():
                plan["idle_states"] = states
            if self.thermal is not None:
                plan["thermal"] = self._thermal(self.thermal, self.power, options)
        if options.compressible is not None:
            plan["compressible"] = options.compressible
        if options.history:
            plan["history"] = [load.to_plan() for load in options.history]
        if options.snapshot is not None:
            plan["snapshot"] = options.snapshot
        slices = self.slices(options)
        return plan if slices == 1 else self._sliced(plan, slices)

    def _thermal(
        self, thermal: Thermal, power: FlashPower, options: DriveOptions
    ) -> TemperatureParams:
        name = options.cooling or next(iter(thermal.cooling))
        cooling = thermal.cooling[name]
        capacity, interval = thermal.capacity, thermal.interval
        if options.history:
            # A drive in use is warm, but its time constant is minutes: with less heat capacity
            # it comes to the same balance within the run's warm-up. It warms faster, too, and
            # looks at its temperature this much more often.
            capacity = _SOAKED_TIME_CONSTANT_S / cooling.resistance
            interval = min(interval, _SOAKED_INTERVAL_NS)
        energies = power.energies()
        plan: TemperatureParams = {
            "ambient_c": cooling.ambient,
            "resistance_k_per_w": cooling.resistance,
            "capacity_j_per_k": capacity,
            "idle_w": energies["idle_w"],
            "read_nj": energies["read_nj"],
            "program_nj": energies["program_nj"],
            "erase_nj": energies["erase_nj"],
            "byte_nj": energies["byte_nj"],
            "steps": [{"above_c": step.above, "speed": step.speed} for step in thermal.step],
            "hysteresis_k": thermal.hysteresis,
            "interval_ns": interval,
        }
        if "program_slc_nj" in energies:
            plan["program_slc_nj"] = energies["program_slc_nj"]
        return plan


def _one_of(what: str, names: Mapping[str, object]) -> str:
    if not names:
        return f"{what} that the drive has; it has none"
    return f"{what} that the drive has: {', '.join(names)}"
