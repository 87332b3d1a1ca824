"""A drive unlike its sisters: equal drives under like loads wait about equally long.

Time is cut into equal parts. In each part the mean wait of a drive stands beside the median of all
equal drives, itself among them, so that one odd drive does not make its sisters odd. Of two drives
each stands beside the other, and only the slower one can be named.

    d = ln(wait / median of the waits)        of each part

A drive is unlike them if the mean of d is beyond a factor of 1.25 and more than four standard
errors from zero (a normal drive is that in 6 of 100,000 comparisons). Its rate is compared in the
same way: a drive that gets more I/Os may wait longer and be as good. Source: paired differences by
batch means (Law, Simulation Modeling and Analysis, 5th edition, 9.5.3).

**Example.** Waits of 2, 2 and 3 ms in every part: ln(3 / 2) = 0.405, a factor of 1.5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from raidlab.calibration.monitoring.figures import weights
from raidlab.calibration.monitoring.samples import Array, Quantity, Series

Q = Quantity
SYS_BLOCK: Final = Path("/sys/block")
_PARTS: Final = 12
_FEWEST_PARTS: Final = 4
_LEAST_IOS: Final = 20.0
"""Of a drive in a part; fewer say nothing of its wait."""
_FACTOR: Final = 1.25
_ERRORS: Final = 4.0
_LEAST_ERROR: Final = 0.01
"""Of a mean logarithm: waits are counted in whole milliseconds."""


@dataclass(frozen=True)
class Unlike:
    """A drive beside its sisters."""

    name: str
    sisters: int
    wait_ratio: float
    """Its mean wait over the median one."""
    rate_ratio: float
    """Its I/Os over the median ones."""
    errors: float
    """Standard errors of the wait's logarithm from zero."""
    parts: int

    @property
    def stands_out(self) -> bool:
        """True if chance does not explain its waits."""
        log = math.log(self.wait_ratio)
        far = (log if self.sisters == 1 else abs(log)) > math.log(_FACTOR)
        return far and abs(self.errors) > _ERRORS

    @property
    def busier(self) -> bool:
        """True if it also gets clearly more, or fewer, I/Os."""
        return abs(math.log(self.rate_ratio)) > math.log(_FACTOR)

    def said(self) -> str:
        """In a sentence."""
        text = (
            f"{self.name} waits {self.wait_ratio:.2f} times as long as"
            f" {'its sister' if self.sisters == 1 else f'the median of its {self.sisters} sisters'}"
            f" ({abs(self.errors):.0f} standard errors)"
        )
        if self.busier:
            return f"{text}, at {self.rate_ratio:.2f} times their I/Os: look at its load first"
        return f"{text}, at {self.rate_ratio:.2f} times their I/Os: look at the drive"


def families(names: Sequence[str], sys_block: Path = SYS_BLOCK) -> list[list[str]]:
    """Equal drives: of one model and size, as sysfs says; of one kind of name where it does not."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        found.setdefault(_kind(name, sys_block), []).append(name)
    return [group for group in found.values() if len(group) > 1]


def _kind(name: str, sys_block: Path) -> tuple[str, ...]:
    at = sys_block / name.replace("/", "!")
    read = []
    for file in ("size", "device/model"):
        try:
            read.append((at / file).read_text(encoding="utf-8", errors="replace").strip())
        except OSError:
            read.append("")
    if read[0]:
        return tuple(read)
    return (re.sub(r"\d+n\d+$|\d+$|(?<=^[shv]d)[a-z]+$|(?<=^xvd)[a-z]+$", "", name),)


def compared(series: Mapping[str, Series], groups: Sequence[Sequence[str]]) -> list[Unlike]:
    """Every drive beside its sisters; those that did too little are left out.

    Args:
        series: Samples of the drives.
        groups: Names of equal drives.
    """
    found = []
    for group in groups:
        parts = {name: _parts(series[name]) for name in group if name in series}
        for name, own in parts.items():
            rest = [other for sister, other in parts.items() if sister != name]
            rest += [own] if len(rest) > 1 else []
            if rest and (one := _beside(name, own, rest)) is not None:
                found.append(one)
    return found


def _beside(
    name: str, own: tuple[Array, Array], rest: Sequence[tuple[Array, Array]]
) -> Unlike | None:
    ios, wait = own
    of_rest = np.array([np.where(each[0] >= _LEAST_IOS, each[1], np.nan) for each in rest])
    rates = np.array([each[0] for each in rest])
    usable = (ios >= _LEAST_IOS) & ~np.isnan(of_rest).all(axis=0) & (wait > 0.0)
    if usable.sum() < _FEWEST_PARTS:
        return None
    d = np.log(wait[usable] / np.nanmedian(of_rest[:, usable], axis=0))
    share = np.log(ios[usable] / np.maximum(np.median(rates[:, usable], axis=0), 1.0))
    error = max(_LEAST_ERROR, float(np.std(d, ddof=1)) / math.sqrt(len(d)))
    mean = float(d.mean())
    return Unlike(
        name,
        max(1, len(rest) - 1),
        math.exp(mean),
        math.exp(float(share.mean())),
        mean / error,
        len(d),
    )


def _parts(series: Series) -> tuple[Array, Array]:
    """I/Os and mean wait in ms of each part of the time; shapes (parts,)."""
    length = weights(series)
    ios, inside = np.zeros(len(series)), np.zeros(len(series))
    for rate, wait in ((Q.READS, Q.R_AWAIT), (Q.WRITES, Q.W_AWAIT)):
        rates, waits = series.column(rate), series.column(wait)
        if rates is None:
            continue
        done = np.nan_to_num(rates) * length
        ios += done
        inside += done * np.nan_to_num(waits if waits is not None else np.zeros(len(series)))
    part = np.minimum(_PARTS - 1, np.arange(len(series)) * _PARTS // max(1, len(series)))
    of, total = np.zeros(_PARTS), np.zeros(_PARTS)
    np.add.at(of, part, ios)
    np.add.at(total, part, inside)
    with np.errstate(divide="ignore", invalid="ignore"):
        return of, np.where(of > 0.0, total / of, 0.0)
