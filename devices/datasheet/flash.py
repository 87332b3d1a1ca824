"""An SSD from its sheet by closed forms: which part bounds each figure that the maker states.

Equations, with S the rate of sequential writes, R that of random writes of a mapping unit u:

    S = dies * planes * page / (t_program + t_erase / pages of a block)
    R * u = S / WA,  WA = 1 / (1 - x),  x = exp(-(1 - x) / rho),  rho = 1 / (1 + spare)
    random reads = cores / t_core,  where dies / t_read and the link allow more
    latency = host + core + wait + t_read + command + 4 KiB / channel + 4 KiB / link

Reads of a client drive are stated of data in its SLC cache: t_read is that of one bit a cell there,
and t_read of the other cells is longer as usual chips are.

WA of first-in-first-out collection under uniform writes: Desnoyers (2012). docs/explanation/
data-sheets.md has a worked example.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.client import after_cache, slc_blocks
from raidlab.devices.datasheet.nand import PAGE, amplification, erase_us, program_rate, spare_for
from raidlab.devices.datasheet.priors import BLOCK, CELLS, Cell, Prior
from raidlab.devices.datasheet.sheet import Sheet
from raidlab.devices.links import Interface
from raidlab.devices.ssd_nand import WORKING_BLOCKS

GIB = 1 << 30
HOST_US = 5.0
"""CPU time of an I/O at depth 1 on the host `nvme-gen5`: submission, wake-up, completion."""
START_FREE = 3
READS_FIRST = 4
"""Times that a program bears to be suspended, as drives of the catalogue."""
_NOT_FOR_DATA = 0.035
"""Share of the NAND for bad blocks, the map and the drive's own data."""
_DIES_ARE_ENOUGH = 0.75
"""Share of what dies read one page at a time could give beyond which planes read by themselves."""
_CHANNEL_MB_S = {"1.0": 400, "2.0": 400, "3.0": 667, "4.0": 1200, "5.0": 2000, "6.0": 2400}
_CHANNELS = 8
_ROOM = 1.5
"""What cores could do over the random writes that dies do."""
LEAST_US = 0.1
CLIENT_DEPTH = 128
"""I/Os in flight at which makers state random rates of client drives: four threads of 32."""
_CORE_US = 10.0
"""Longest core time of a read: with fewer I/Os a second fewer cores work on commands."""


@dataclass(frozen=True)
class Flash:
    """The parameters that a sheet decides, or a prior."""

    sheet: Sheet
    die_gbit: int
    dies: int
    planes: int
    independent: bool
    """True if the stated reads need planes that read by themselves."""
    channels: int
    channel_mb_s: float
    read_us: float
    program_us: float
    spare: float
    """Blocks for data beyond the capacity, as a share of it."""
    cores: int
    read_core_us: float
    write_core_us: float
    write_unit_us: float
    read_wait_us: float
    write_wait_us: float
    slc_read_us: float
    """Mean time to read a page in the SLC cache, where there is one."""
    slc_program_us: float
    """Of a page of every plane in the SLC cache, where there is one."""
    payload: float | None
    """Share of the link's rate after its line code that data get; None for what is usual."""
    program_mb_s: Prior | None
    """What all dies together program with all bits of their cells; None where dies alone bound it.
    """
    programs_bound: bool
    """True if programs bound sequential writes; else the firmware does."""
    spare_fitted: bool
    """True if random writes decide the spare space; else they decide the time of a program."""

    @property
    def cell(self) -> Cell:
        """The cell's priors."""
        return CELLS[self.sheet.cell or "tlc"]

    @property
    def family(self) -> str:
        """Of the interface."""
        return Interface.parse(self.sheet.interface).family

    @property
    def blocks(self) -> int:
        """Blocks of each plane: data, spare space and those that collection works with."""
        plane_blocks = self.dies * self.planes * self.cell.pages_per_block * PAGE
        data = self.sheet.capacity * (1 + self.spare) / plane_blocks
        return max(round(data) + WORKING_BLOCKS + START_FREE, 16)

    @property
    def program_rate(self) -> float:
        """Bytes a second of all dies, below what they share."""
        dies = program_rate(self.cell, self.dies, self.planes, self.program_us)
        return dies if self.program_mb_s is None else min(dies, 1e6 * self.program_mb_s.best)

    @property
    def cell_program_us(self) -> float:
        """Time to program all pages of a row of cells."""
        return self.cell.page_types * self.program_us

    @property
    def suspend_interval_us(self) -> Prior:
        """How long a resumed program goes on: its allowed suspensions spread over all of it."""
        usual = self.cell_program_us / (READS_FIRST + 1)
        pulse = min(self.cell.pulse_us.best, usual)
        source = f"a program of {self.cell.page_types} page types over {READS_FIRST} suspensions"
        return Prior(pulse, usual, self.cell_program_us, source)

    @property
    def write_amplification(self) -> float:
        """Of uniform random writes, by the closed form."""
        return amplification(self.spare)

    @property
    def link_mb_s(self) -> float:
        """Payload of the drive's link."""
        link = Interface.parse(self.sheet.interface)
        rate = link.practical if self.payload is None else link.theoretical * self.payload
        return float(rate) / 1e6

    @property
    def stated_read_us(self) -> float:
        """Mean time to read a page of the cells that the sheet's reads meet."""
        return self.slc_read_us if self.sheet.has_slc_cache else self.read_us

    def reading(self, read_us: float) -> Flash:
        """With a time to read such a page, within its bounds."""
        if not self.sheet.has_slc_cache:
            return replace(self, read_us=self.cell.read_us.clamp(read_us))
        one_bit = CELLS["slc"].read_us
        fast = one_bit.clamp(read_us)
        usual = fast * self.cell.read_us.best / one_bit.best
        return replace(self, slc_read_us=fast, read_us=self.cell.read_us.clamp(usual))

    def latency_us(self) -> float:
        """Of a read of 4 KiB at depth 1."""
        return self._around_us() + self.stated_read_us + self.read_wait_us

    def _around_us(self) -> float:
        transfer = priors.COMMAND_US.best + BLOCK / self.channel_mb_s
        return HOST_US + self.read_core_us + transfer + BLOCK / self.link_mb_s

    def with_latency(self, wanted_us: float) -> Flash:
        """With the time to read a page, within the cell's bounds, that gives a latency."""
        wait = priors.READ_LATENCY_US[self.family].best
        rest = wanted_us - self._around_us()
        moved = self.reading(rest - wait)
        return replace(moved, read_wait_us=max(0.0, rest - moved.stated_read_us))

    def with_write_latency(self, wanted_us: float) -> Flash:
        """With the wait that gives a latency of a write of 4 KiB at depth 1."""
        around = HOST_US + self.write_core_us + self.write_unit_us + BLOCK / self.link_mb_s
        return replace(self, write_wait_us=max(0.0, wanted_us - around))


def raw_gib(capacity: int) -> int:
    """NAND of a drive: the next power of two of GiB that leaves 5 % or more.

    A drive of 6.4 TB has 8 TB of NAND (data sheet of the PM1725a), one of 960 GB has 1 TiB.
    """
    gib = 1
    while gib * GIB < 1.05 * capacity:
        gib *= 2
    return gib


def usual_spare(sheet: Sheet) -> float:
    """Spare space where random writes do not decide it: the NAND less what is not for data."""
    share = raw_gib(sheet.capacity) * GIB * (1 - _NOT_FOR_DATA) / sheet.capacity - 1
    return priors.SPARE.clamp(share - slc_blocks(sheet, CELLS[sheet.cell or "tlc"].page_types))


def steady_write(sheet: Sheet) -> int | None:
    """Bytes a second of sequential writes to the NAND, if the sheet says any."""
    return sheet.sustained_write if sheet.burst else sheet.sequential_write


def steady_random(sheet: Sheet) -> float | None:
    """Random writes of 4 KiB a second in steady state, if the sheet says any."""
    return None if sheet.burst else sheet.random_write


def most_random_writes(sheet: Sheet) -> float:
    """Random writes of 4 KiB a second that no drive of the capacity and cell exceeds."""
    cell = CELLS[sheet.cell or "tlc"]
    dies = max(1, raw_gib(sheet.capacity) * 8 // min(cell.die_gbit))
    most = program_rate(cell, dies, max(cell.planes), cell.program_us.low)
    return most / max(sheet.unit, BLOCK) / amplification(priors.SPARE.high)


def _geometry(sheet: Sheet, cell: Cell, rate: float | None) -> tuple[int, int, int, float]:
    """Capacity of a die in Gbit, dies, planes, and the time of a program that `rate` needs."""
    choices = []
    for gbit in cell.die_gbit:
        for planes in cell.planes:
            dies = max(1, raw_gib(sheet.capacity) * 8 // gbit)
            time = cell.program_us.best
            if rate is not None:
                time = dies * planes * PAGE / rate * 1e6 - erase_us(cell)
            # A channel without a die would be none.
            few = max(0, _CHANNELS - dies)
            off = abs(log(max(time, 1e-3) / cell.program_us.best))
            choices.append((few, off, gbit, dies, planes, time))
    # The first of equals: dies are listed by how usual they are.
    _, _, gbit, dies, planes, time = min(choices, key=lambda choice: choice[:2])
    return gbit, dies, planes, time


def first(sheet: Sheet) -> Flash:
    """The drive by closed forms alone."""
    cell = CELLS[sheet.cell or "tlc"]
    link = Interface.parse(sheet.interface)
    rate, random = steady_write(sheet), steady_random(sheet)
    gbit, dies, planes, time = _geometry(sheet, cell, rate)
    bounds = cell.program_us
    programs_bound = rate is not None and time <= bounds.high
    spare, fitted = usual_spare(sheet), False
    if programs_bound and random is not None and rate is not None:
        wa = rate / (random * max(sheet.unit, BLOCK))
        if wa > 1 and priors.SPARE.low <= spare_for(wa) <= priors.SPARE.high:
            spare, fitted = spare_for(wa), True
        elif wa <= 1 or spare_for(wa) > priors.SPARE.high:
            # More than any spare space gives: dies program faster than the stream is taken.
            programs_bound = False
    if not programs_bound and random is not None:
        wanted = random * max(sheet.unit, BLOCK) * amplification(spare)
        time = dies * planes * PAGE / wanted * 1e6 - erase_us(cell)
    elif not programs_bound:
        time = bounds.best
    cores, core_us = _cores(sheet, link.family)
    draft = Flash(
        sheet=sheet,
        die_gbit=gbit,
        dies=dies,
        planes=planes,
        independent=_independent(sheet, cell, dies),
        channels=min(_channels(dies, link.family), dies),
        channel_mb_s=_CHANNEL_MB_S.get(link.generation, 667),
        read_us=cell.read_us.best,
        slc_read_us=CELLS["slc"].read_us.best,
        program_us=bounds.clamp(time),
        spare=spare,
        cores=cores,
        read_core_us=core_us,
        write_core_us=core_us,
        write_unit_us=0.0,
        read_wait_us=priors.READ_LATENCY_US[link.family].best,
        write_wait_us=priors.WRITE_LATENCY_US[link.family].best,
        slc_program_us=_slc_program(sheet, dies, planes),
        payload=_payload(sheet, link),
        program_mb_s=after_cache(sheet),
        programs_bound=programs_bound,
        spare_fitted=fitted,
    )
    if rate is not None and not programs_bound:
        units = 32 * BLOCK / max(sheet.unit, 512)
        draft = replace(draft, write_unit_us=1e6 * cores * 32 * BLOCK / rate / units)
    if random is not None:
        # Random writes meet both times of the core, and are bound by programs.
        room = 1e6 * cores / (_ROOM * random) - draft.write_unit_us
        draft = replace(draft, write_core_us=max(LEAST_US, min(core_us, room)))
    if sheet.read_latency is not None:
        draft = _fewer_cores(draft, sheet.read_latency / 1e3).with_latency(sheet.read_latency / 1e3)
    usual = _write_latency_us(sheet, link)
    return draft if usual is None else draft.with_write_latency(usual)


def _write_latency_us(sheet: Sheet, link: Interface) -> float | None:
    """Of a write alone: stated, else measured of drives of the generation, else stated of them."""
    if sheet.write_latency is not None:
        return sheet.write_latency / 1e3
    if link.family != "pcie":
        return None
    if sheet.is_protected and link.generation in priors.MEASURED_WRITE_US:
        return priors.MEASURED_WRITE_US[link.generation]
    return priors.STATED_WRITE_US.get(link.generation)


def _slc_program(sheet: Sheet, dies: int, planes: int) -> float:
    if sheet.sequential_write is None:
        return priors.SLC_PROGRAM_US.best
    return priors.SLC_PROGRAM_US.clamp(dies * planes * PAGE / sheet.sequential_write * 1e6)


def _independent(sheet: Sheet, cell: Cell, dies: int) -> bool:
    busy = (sheet.random_read or 0.0) * 1e-6
    if not sheet.has_slc_cache:
        return busy * cell.read_us.best > _DIES_ARE_ENOUGH * dies
    # So much of all dies' time n I/Os in flight can use that are at any of them alike.
    most = CLIENT_DEPTH / (CLIENT_DEPTH + dies - 1)
    return busy * CELLS["slc"].read_us.best > most * dies


def _channels(dies: int, family: str) -> int:
    return 2 * _CHANNELS if dies >= 64 and family == "pcie" else _CHANNELS


def _cores(sheet: Sheet, family: str) -> tuple[int, float]:
    """Cores and the core time of a read."""
    prior: Prior = priors.CORES[family]
    if sheet.random_read is None:
        return int(prior.best), _CORE_US / 2
    cores = max(1, min(int(prior.best), round(sheet.random_read * _CORE_US * 1e-6)))
    return cores, 1e6 * cores / sheet.random_read


def _payload(sheet: Sheet, link: Interface) -> float | None:
    rates = [rate for rate in (sheet.sequential_read, sheet.sequential_write) if rate]
    if not sheet.sequential_read:
        return None
    return min(1.0, max(rates) / float(link.theoretical))


def _fewer_cores(draft: Flash, wanted_us: float) -> Flash:
    """With so few cores that their time leaves room for a page in a stated latency."""
    fast = replace(draft.reading(0.0), read_wait_us=0.0)
    while fast.latency_us() > wanted_us and fast.cores > 1:
        factor = (fast.cores - 1) / fast.cores
        fast = replace(
            fast,
            cores=fast.cores - 1,
            read_core_us=fast.read_core_us * factor,
            write_core_us=fast.write_core_us * factor,
            write_unit_us=fast.write_unit_us * factor,
        )
    return fast
