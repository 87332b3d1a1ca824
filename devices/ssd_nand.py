"""NAND of a solid-state drive: the medium and its buses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import NandParams, SlcCacheParams
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Rate, Share, Size

_PAGE_TYPES = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4, "plc": 5}
WORKING_BLOCKS = 4
"""Blocks of a die that never hold data, as the native model has them."""


def _by_page(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    raise ValueError(
        "a list of times by page type: one for slc, two for mlc, three for tlc, four for qlc,"
        " five for plc"
    )


PageTimes = Annotated[tuple[Duration, ...], BeforeValidator(_by_page)]
"""A time for each type of page: one for SLC, two for MLC (lower, upper), three for TLC, four for
QLC, five for PLC."""


class SlcCache(Table):
    """`[nand.slc_cache]`: blocks whose cells hold one bit take what the host writes."""

    fixed: Size = 0
    """Host data in blocks that are always in SLC mode."""
    dynamic: Size = 0
    """Host data at most in blocks that are empty otherwise."""
    program: Duration = Field(gt=0)
    """Program of a page of every plane in SLC mode."""
    read: Duration | None = Field(default=None, gt=0)
    """Read of a page in SLC mode into the die's register, of a drive that holds no more data than
    the cache does; as of other pages if left out."""
    idle: Duration = 10**9
    """Time without a write to a die after which it folds."""
    when_full: Literal["direct", "fold"] = "direct"
    """Writes beside a full cache: with all bits at once, or each after the folding of another."""

    def faults(self) -> Iterator[Fault]:
        """A cache without room."""
        if not self.fixed and not self.dynamic:
            yield Fault("", None, "fixed or dynamic above 0: a cache without room is none")

    @property
    def bytes_(self) -> int:
        """Host data that it holds at most."""
        return self.fixed + self.dynamic

    def to_plan(self) -> SlcCacheParams:
        """`SlcCacheParams` of the native models."""
        return {
            "fixed_bytes": self.fixed,
            "dynamic_bytes": self.dynamic,
            "program_ns": self.program,
            "idle_ns": self.idle,
            "when_full": self.when_full,
        }


class Nand(Table):
    """`[nand]`: the medium and its buses."""

    cell: Literal["slc", "mlc", "tlc", "qlc", "plc"]
    channels: Annotated[int, within(plan_bounds.NandParams.channels)]
    """Independent buses."""
    dies_per_channel: Annotated[int, within(plan_bounds.NandParams.dies_per_channel)]
    planes: Annotated[int, within(plan_bounds.NandParams.planes)] = 1
    """Planes of a die; they are programmed and erased together."""
    independent_reads: bool = False
    """True if each plane reads by itself; else they are read together, too."""
    blocks_per_plane: int = Field(ge=8, le=plan_bounds.NandParams.blocks_per_plane.most)
    pages_per_block: Annotated[int, within(plan_bounds.NandParams.pages_per_block)]
    page: Size = Field(gt=0, le=plan_bounds.NandParams.page_bytes.most)
    """Page without its spare area."""
    bad_blocks: Share = 0.0
    """Share of blocks that are bad from the factory."""
    reserved_blocks: int = Field(default=0, ge=0, le=2**20)
    """Blocks of each plane reserved for the drive's own data and to replace worn ones."""
    read: PageTimes
    """Array read, by page type."""
    program: PageTimes
    """Program, by page type."""
    program_rate: Rate | None = Field(
        default=None, ge=plan_bounds.NandParams.program_bytes_per_s.least
    )
    """What all dies together program with all bits of their cells, at most; no limit if left out.
    """
    erase: Duration
    channel_rate: Rate = Field(ge=plan_bounds.NandParams.channel_bytes_per_s.least)
    channel_write_rate: Rate | None = Field(
        default=None, ge=plan_bounds.NandParams.channel_write_bytes_per_s.least
    )
    """Of a bus when data go to a die; the same if left out."""
    correction_rate: Rate | None = Field(
        default=None, ge=plan_bounds.NandParams.correction_bytes_per_s.least
    )
    """At which data from a bus's dies pass error correction; as fast as the bus if left out."""
    command: Duration = 0
    """Bus and controller time of each page's command, status and error correction."""
    cache_read: bool = False
    """True if a die reads the next page while its register is being emptied."""
    cache_program: bool = False
    """True if a die takes the next page's data while it programs."""
    suspend: Duration | None = None
    """Time until a program or erase gives way to a read; left out if it does not."""
    pulse: Duration = 0
    """A program or erase gives way at the end of a pulse of this length; 0 for at any time."""
    suspend_interval: Duration = 0
    """A program or erase that went on gives way again after this long."""
    resume: Duration = 0
    """From the end of the reads until the program or erase that they suspended goes on."""
    reads_first: int = Field(default=4, ge=0, le=10**6)
    """Reads that may overtake one program or erase before it goes through."""
    parity_stripe: int = Field(default=0, ge=0, le=65536)
    """One page set in this many is parity over the others; 0 for none."""
    slc_cache: SlcCache | None = None
    rated_cycles: int = Field(ge=1, le=2**31)
    """Program and erase cycles that a block is rated for."""

    @property
    def good_blocks(self) -> int:
        """Blocks of a plane that work."""
        # 80 % of 25 leave 5, and not 4.999999999999999.
        return int(self.blocks_per_plane * (1 - self.bad_blocks) + 1e-6)

    @property
    def free_blocks(self) -> int:
        """Blocks of a plane for data and for spare space: neither bad nor reserved."""
        return self.good_blocks - self.reserved_blocks

    @property
    def raw_bytes(self) -> int:
        """Bytes of all blocks, bad ones included."""
        dies = self.channels * self.dies_per_channel
        return dies * self.planes * self.blocks_per_plane * self.pages_per_block * self.page

    @property
    def data_bytes(self) -> int:
        """Bytes left for data and for spare space: without bad and reserved blocks and parity."""
        dies = self.channels * self.dies_per_channel
        blocks = self.free_blocks
        if self.parity_stripe > 1:
            blocks = blocks * (self.parity_stripe - 1) // self.parity_stripe
        return dies * self.planes * blocks * self.pages_per_block * self.page

    def to_plan(self, reads: Sequence[int]) -> NandParams:
        """`NandParams` of the native models.

        Args:
            reads: Times to read a page by type, in nanoseconds.
        """
        plan: NandParams = {
            "channels": self.channels,
            "dies_per_channel": self.dies_per_channel,
            "planes": self.planes,
            "blocks_per_plane": self.good_blocks,
            "pages_per_block": self.pages_per_block,
            "page_bytes": self.page,
            "read_ns": list(reads),
            "program_ns": list(self.program),
            "erase_ns": self.erase,
            "channel_bytes_per_s": self.channel_rate,
            "channel_write_bytes_per_s": self.channel_write_rate,
            "command_ns": self.command,
            "cache_read": self.cache_read,
            "cache_program": self.cache_program,
            "independent_reads": self.independent_reads,
            "suspend_ns": self.suspend,
            "pulse_ns": self.pulse,
            "suspend_interval_ns": self.suspend_interval,
            "reads_first": self.reads_first,
            "rated_cycles": self.rated_cycles,
        }
        if self.correction_rate is not None:
            plan["correction_bytes_per_s"] = self.correction_rate
        if self.program_rate is not None:
            plan["program_bytes_per_s"] = self.program_rate
        if self.resume:
            plan["resume_ns"] = self.resume
        if self.slc_cache is not None:
            plan["slc_cache"] = self.slc_cache.to_plan()
        return plan

    def faults(self) -> Iterator[Fault]:
        """Times that do not fit the cell, and no block left."""
        types = _PAGE_TYPES[self.cell]
        for key in ("read", "program"):
            times = getattr(self, key)
            if len(times) != types:
                yield Fault(key, list(times), f"{types} times, one for each page of a {self.cell}")
        if self.good_blocks <= WORKING_BLOCKS:
            others = self.blocks_per_plane - WORKING_BLOCKS - 1
            tenths = 1000 * max(0, others - self.reserved_blocks) // self.blocks_per_plane
            allowed = f"at most {tenths / 10:g} %: a drive needs spare blocks"
            yield Fault("bad_blocks", f"{100 * self.bad_blocks:g} %", allowed)
        elif self.free_blocks <= WORKING_BLOCKS:
            allowed = f"less than {self.good_blocks - WORKING_BLOCKS}: a drive needs spare blocks"
            yield Fault("reserved_blocks", self.reserved_blocks, allowed)
        dies = self.channels * self.dies_per_channel
        if self.parity_stripe and not 2 <= self.parity_stripe <= max(dies, 2):
            allowed = (
                f"0 for none, or 2 to {max(dies, 2)}: parity is over dies, of which it has {dies}"
            )
            yield Fault("parity_stripe", self.parity_stripe, allowed)
