"""Closed forms of NAND: rates of programs, and write amplification over spare space."""

from __future__ import annotations

from math import log

from raidlab.devices.datasheet.priors import BLOCK, LARGE_UNITS, SPARE, Cell

PAGE = 16384
"""Bytes of a page, as of all chips since 2013."""


def amplification(spare: float) -> float:
    """Write amplification of uniform random writes with this much spare space (share of capacity).

    First-in-first-out collection: x = exp(-(1 - x) (1 + spare)), by bisection.
    """
    low, high = 0.0, 1.0 - 1e-12
    for _ in range(200):
        middle = (low + high) / 2
        # -ln x / (1 - x) falls from infinity to 1 as x goes from 0 to 1.
        if -log(max(middle, 1e-300)) / (1 - middle) > 1 + spare:
            low = middle
        else:
            high = middle
    return 1 / (1 - low)


def spare_for(wa: float) -> float:
    """The spare space (share of capacity) that gives a write amplification above 1.

    Raises:
        ValueError: No spare space gives it.
    """
    if wa <= 1:
        raise ValueError("above 1")
    x = 1 - 1 / wa
    return -log(x) / (1 - x) - 1


def least_unit(stream: float, random: float) -> int:
    """The smallest mapping unit with which steady random writes are as slow as stated.

    Each programs a whole unit, amplified by what the least spare space gives at most.

    Args:
        stream: Bytes a second that dies program.
        random: Writes of 4 KiB a second.
    """
    most = stream / amplification(SPARE.low) / random
    return next((unit for unit in (BLOCK, *LARGE_UNITS) if unit >= most), LARGE_UNITS[-1])


def program_rate(cell: Cell, dies: int, planes: int, program_us: float) -> float:
    """Bytes a second that dies program, erases included."""
    return dies * planes * PAGE / (program_us + erase_us(cell)) * 1e6


def erase_us(cell: Cell) -> float:
    """Erase time for each page set."""
    return 1000 * cell.erase_ms.best / cell.pages_per_block
