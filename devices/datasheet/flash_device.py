"""The device file of an SSD that a sheet decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.client import fixed_slc_bytes
from raidlab.devices.datasheet.draft import Draft, Origin, Word, assumed, quantity
from raidlab.devices.datasheet.flash import READS_FIRST, START_FREE, Flash
from raidlab.devices.datasheet.nand import PAGE
from raidlab.devices.datasheet.power import put_flash_power
from raidlab.devices.datasheet.priors import BLOCK, Prior
from raidlab.devices.datasheet.sheet import MAP_ENTRY, Read

_MIB = 1 << 20
_YEARS = 5


def device(flash: Flash, read: Read) -> Draft:
    """The device file of `flash`, every number with its origin."""
    draft = Draft()
    draft.head(read)
    sheet, family = flash.sheet, flash.family
    queue = priors.QUEUES[family]
    draft.put("queue_depth", queue, Origin("assumed", f"usual for {family.upper()}; 0: no limit"))
    if flash.payload is not None:
        note = "sequential_read over the link's rate after its line code"
        draft.put("link_payload", round(flash.payload, 5), Origin("derived", note))
    unit = max(sheet.unit, 512)
    draft.put("mapping_unit", f"{unit} B", _unit_origin(flash))
    _endurance(draft, flash)
    _nand(draft, flash)
    draft.put("collection.policy", "greedy")
    note = "few, so that nearly all blocks are spare space"
    draft.put("collection.start_free_blocks", START_FREE, Origin("assumed", note))
    page_sets = flash.dies * flash.planes * PAGE
    mib = max(priors.BUFFER_MIB.best, 4 * page_sets / _MIB)
    least = max(priors.BUFFER_MIB.low, -(-2 * page_sets // _MIB))
    buffer = replace(priors.BUFFER_MIB, low=least, high=max(mib, priors.BUFFER_MIB.high))
    draft.put("buffer.size", f"{mib:.0f} MiB", assumed(buffer, "MiB"))
    draft.put("buffer.protected", sheet.is_protected)
    if sheet.host_memory is not None:
        draft.put("map_cache.size", f"{sheet.host_memory} B", Origin("data-sheet"))
        draft.put("map_cache.page", "4096 B", Origin("assumed", "usual"))
        draft.put("map_cache.entry", f"{MAP_ENTRY} B", Origin("assumed", "usual"))
    _firmware(draft, flash)
    put_flash_power(draft, flash)
    return draft


def _unit_origin(flash: Flash) -> Origin:
    if flash.sheet.map_unit is not None:
        return Origin("data-sheet")
    if flash.sheet.unit == BLOCK:
        return Origin("assumed", "usual for drives of 4 KiB")
    return Origin("derived", "random_write: with a smaller unit no spare space is so slow")


def _endurance(draft: Draft, flash: Flash) -> None:
    sheet = flash.sheet
    rated = sheet.rated_writes
    if sheet.dwpd is not None:
        draft.put("drive_writes_per_day", sheet.dwpd, Origin("data-sheet"))
        rated = rated or int(sheet.dwpd * _YEARS * 365 * sheet.capacity)
    elif rated is not None:
        per_day = rated / (sheet.capacity * _YEARS * 365)
        note = f"rated_writes over {_YEARS} years"
        draft.put("drive_writes_per_day", round(per_day, 4), Origin("derived", note))
    if rated is None:
        return
    draft.put("rated_years", _YEARS, Origin("assumed", "usual"))
    cycles = rated * flash.write_amplification / (sheet.capacity * (1 + flash.spare))
    note = "rated writes, each amplified as random ones in steady state, over the blocks"
    draft.put("nand.rated_cycles", max(1, round(cycles)), Origin("derived", note))


def _nand(draft: Draft, flash: Flash) -> None:
    cell, sheet = flash.cell, flash.sheet
    name = sheet.cell or "tlc"
    draft.put("nand.cell", name)
    dies = f"{flash.dies} dies of {flash.die_gbit} Gbit"
    how = "next power of two of NAND above the capacity"
    each = "; random_read needs planes that read by themselves" if flash.independent else ""
    draft.put("nand.channels", flash.channels, Origin("assumed", "8, or 16 with 64 dies or more"))
    per_channel = flash.dies // flash.channels
    draft.put("nand.dies_per_channel", per_channel, Origin("derived", f"{dies}: {how}{each}"))
    note = "the number whose time to program is the most usual"
    draft.put("nand.planes", flash.planes, Origin("derived", note))
    if flash.independent:
        draft.put("nand.independent_reads", True)
    note = f"capacity and {100 * flash.spare:.1f} % of spare space; "
    if flash.spare_fitted:
        note += "from write amplification at random_write"
    else:
        note += "what NAND of the next power of two leaves"
    note += "; bad blocks and the drive's own data are left out"
    word: Word = "derived" if flash.spare_fitted else "assumed"
    draft.put("nand.blocks_per_plane", flash.blocks, Origin(word, note))
    usual = Origin("assumed", "usual for 3D NAND of the cell")
    draft.put("nand.pages_per_block", cell.pages_per_block, usual)
    draft.put("nand.page", f"{PAGE} B", usual)
    times = [quantity(flash.read_us * share, "us") for share in cell.read_shape]
    draft.put("nand.read", times, _read_origin(flash))
    time = quantity(flash.program_us, "us")
    draft.put("nand.program", [time] * cell.page_types, _program_origin(flash))
    if flash.program_mb_s is not None:
        origin = assumed(flash.program_mb_s, "MB/s")
        draft.put("nand.program_rate", f"{flash.program_mb_s.best:g} MB/s", origin)
    draft.put("nand.erase", f"{cell.erase_ms.best:g} ms", assumed(cell.erase_ms, "ms"))
    rate = f"{flash.channel_mb_s:g} MB/s"
    # No channels together are slower than the stated streams.
    least = max(priors.CHANNEL_MB_S.low, min(flash.channel_mb_s, flash.link_mb_s / flash.channels))
    prior = replace(priors.CHANNEL_MB_S, low=round(least))
    draft.put("nand.channel_rate", rate, assumed(prior, "MB/s"))
    draft.put("nand.command", f"{priors.COMMAND_US.best:g} us", assumed(priors.COMMAND_US, "us"))
    draft.put("nand.cache_read", True)
    draft.put("nand.cache_program", True)
    if cell.suspends:
        _suspension(draft, flash)
    draft.put("nand.reads_first", READS_FIRST, Origin("assumed", "as drives of the catalogue"))
    if sheet.has_slc_cache:
        _slc_cache(draft, flash)
    if "nand.rated_cycles" not in draft.origins:
        draft.put("nand.rated_cycles", round(cell.cycles.best), assumed(cell.cycles))


def _read_origin(flash: Flash) -> Origin:
    stated, prior = flash.sheet.read_latency, flash.cell.read_us
    if not flash.sheet.has_slc_cache:
        return _by("read_latency, less host, core, bus and link", stated, prior)
    ratio = prior.best / priors.CELLS["slc"].read_us.best
    low, high = (round(bound, 2) for bound in (prior.low, prior.high))
    note = f"{ratio:g} times nand.slc_cache.read, as of usual chips; {prior.source}"
    return assumed(Prior(low, flash.read_us, high, note), "us")


def _slc_cache(draft: Draft, flash: Flash) -> None:
    sheet = flash.sheet
    how = "read_latency, of data in the cache, less host, core, bus and link"
    origin = _by(how, sheet.read_latency, priors.CELLS["slc"].read_us)
    draft.put("nand.slc_cache.read", quantity(flash.slc_read_us, "us"), origin)
    fixed = fixed_slc_bytes(sheet)
    note = "970 EVO: 4 GB up to 500 GB, 6 GB of others"
    draft.put("nand.slc_cache.fixed", f"{fixed} B", Origin("assumed", note))
    share = priors.SLC_SHARE
    if sheet.slc_cache is not None:
        rest = max(0, sheet.slc_cache - fixed)
        draft.put("nand.slc_cache.dynamic", f"{rest} B", Origin("data-sheet"))
    else:
        low, best, high = (
            part * sheet.capacity / 1e9 for part in (share.low, share.best, share.high)
        )
        sizes = Prior(round(low), round(best), round(high), share.source)
        draft.put("nand.slc_cache.dynamic", f"{sizes.best:g} GB", assumed(sizes, "GB"))
    origin = _by(
        "sequential_write over dies, planes and page", sheet.sequential_write, priors.SLC_PROGRAM_US
    )
    draft.put("nand.slc_cache.program", quantity(flash.slc_program_us, "us"), origin)
    idle = priors.SLC_IDLE_S
    draft.put("nand.slc_cache.idle", f"{idle.best:g} s", assumed(idle, "s"))


def _suspension(draft: Draft, flash: Flash) -> None:
    settle, pulse, interval = priors.SUSPEND_US, flash.cell.pulse_us, flash.suspend_interval_us
    draft.put("nand.suspend", f"{settle.best:g} us", assumed(settle, "us"))
    draft.put("nand.pulse", f"{pulse.best:g} us", assumed(pulse, "us"))
    resume = priors.RESUME_US
    draft.put("nand.resume", f"{resume.best:g} us", assumed(resume, "us"))
    draft.put("nand.suspend_interval", quantity(interval.best, "us"), assumed(interval, "us"))


def _by(how: str, stated: Any, prior: Prior) -> Origin:
    """Derived if the sheet states what decides it, else the prior's; microseconds."""
    return assumed(prior, "us") if stated is None else Origin("derived", how)


def _program_origin(flash: Flash) -> Origin:
    sheet = flash.sheet
    if flash.programs_bound:
        key = "sustained_write" if sheet.burst else "sequential_write"
        return Origin("derived", f"mean of the page types; {key} over dies, planes and page")
    if flash.spare_fitted:
        return Origin("derived", "random_write: as slow as dies of the cell are")
    if sheet.random_write is not None and not sheet.burst:
        note = "random_write with the usual spare space; sequential_write is bound elsewhere"
        return Origin("derived", note)
    return assumed(flash.cell.program_us, "us")


def _firmware(draft: Draft, flash: Flash) -> None:
    sheet, family = flash.sheet, flash.family
    # Without bounds: with another number of cores their times would be others, too.
    cores = Origin("assumed", priors.CORES[family].source)
    draft.put("firmware.cores", flash.cores, cores)
    note = "cores over random_read"
    core = Origin("assumed", "half of the longest usual one")
    if sheet.random_read is not None:
        core = Origin("derived", note)
    draft.put("firmware.read", quantity(flash.read_core_us, "us"), core)
    as_read = Origin("assumed", "as a read's, or less where random_write needs it")
    draft.put("firmware.write", quantity(flash.write_core_us, "us"), as_read)
    if flash.write_unit_us:
        note = "sequential_write, which programs do not bound"
        draft.put(
            "firmware.write_unit", quantity(flash.write_unit_us, "us"), Origin("derived", note)
        )
    wait = priors.READ_LATENCY_US[family]
    origin = assumed(wait, "us")
    if abs(flash.read_wait_us - wait.best) > 1e-6:
        origin = Origin("derived", "what read_latency leaves beyond the usual times of the cell")
    draft.put("firmware.read_latency", quantity(flash.read_wait_us, "us"), origin)
    how = "write_latency, less host, core and link"
    origin = _by(how, sheet.write_latency, priors.WRITE_LATENCY_US[family])
    draft.put("firmware.write_latency", quantity(flash.write_wait_us, "us"), origin)
    _flush(draft, flash)


def put_pauses(draft: Draft, flash: Flash) -> None:
    """`[[pause]]` of drives whose class has them.

    Rates fall by less than 0.2 %, so no stated figure is measured with them.
    """
    if flash.family == "pcie":
        return
    every, length = priors.PAUSE_EVERY_MS, priors.PAUSE_MS
    kind = {"every": f"{every.best:g} ms", "length": f"{length.best:g} ms"}
    draft.put("pause", [kind])
    draft.origins["pause.0.every"] = assumed(every, "ms")
    draft.origins["pause.0.length"] = assumed(length, "ms")


def _flush(draft: Draft, flash: Flash) -> None:
    """What a flush takes behind the program of what it finds in the buffer.

    A protected drive that states a time pays it for the command.
    """
    stated = flash.sheet.flush_latency
    if flash.sheet.is_protected:
        if stated is not None:
            draft.put("firmware.flush", quantity(stated / 1e3, "us"), Origin("data-sheet"))
        elif flash.family != "pcie":
            usual = priors.PROTECTED_FLUSH_US
            draft.put("firmware.flush", quantity(usual.best, "us"), assumed(usual, "us"))
        return
    program = flash.slc_program_us if flash.sheet.has_slc_cache else flash.program_us
    program += flash.planes * PAGE / flash.channel_mb_s
    usual = priors.FLUSH_MS
    if stated is not None:
        time = max(0.0, stated / 1e3 - program)
        note = "flush_latency, less the program of what the buffer holds"
        draft.put("firmware.flush", quantity(time, "us"), Origin("derived", note))
        usual = Prior(stated / 1e6, stated / 1e6, stated / 1e6, "flush_latency")
    else:
        what = "a flush behind a small write, less its program"
        times = _behind(usual, program, what)
        draft.put(_FLUSH, quantity(times.best, "us"), assumed(times, "us"))
    if flash.family != "sata":
        _fua(draft, flash, usual, program)


def _fua(draft: Draft, flash: Flash, flush: Prior, program: float) -> None:
    """What a write with FUA takes behind its own program; over SATA Linux sends none.

    Of a drive whose flush is not stated, both are drawn together: a slow one is slow at either.
    """
    stated = flash.sheet.fua_latency
    if stated is not None:
        note = "fua_latency, less the program of its data"
        time = max(0.0, stated / 1e3 - program)
        draft.put("firmware.fua", quantity(time, "us"), Origin("derived", note))
        return
    over = priors.FUA_OVER_FLUSH
    times = _behind(flush.times(over), program, "a write with FUA over a flush, less its program")
    origin = assumed(times, "us")
    if flush.low < flush.high:
        origin = replace(origin, correlations={_FLUSH: round(flush.shared_with(over), 2)})
    draft.put("firmware.fua", quantity(times.best, "us"), origin)


_FLUSH: Final = "firmware.flush"


def _behind(times: Prior, program: float, what: str) -> Prior:
    """Microseconds behind a program of `program` us, of times in ms that include it.

    The time of which a quarter of the draws is below decides the lower bound, since nothing is left
    of the shortest times.
    """
    best, high = (round(max(0.0, 1e3 * ms - program)) for ms in (times.best, times.high))
    quarter = 1e3 * times.best * (times.low / times.best) ** priors.DRAWN_50 - program
    low = 0.0
    if best > 0 and quarter > 0:
        low = best * (min(quarter, best) / best) ** (1 / priors.DRAWN_50)
    return Prior(round(low, 1), best, high, f"{what}: {times.source}")
