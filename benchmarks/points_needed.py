"""Error against the number of points: the next points of a twin, a grid and a random order.

    python benchmarks/points_needed.py FOLDER [SET...]

FOLDER has folders of fio results, whose points are asked for one by one. A twin begins at the
corners of depth and jobs of each direction, which are the smaller grid. Laws are fitted to what was
asked for, and every other point predicted. Prints a Markdown row for each set and number of points:
errors of rates in percent, median and nine in ten; of the random order the median over seeds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.measurements.measurement import Point
from raidlab.calibration.measurements.sanity import possible
from raidlab.calibration.surrogates.loads import measured
from raidlab.calibration.surrogates.selection import select
from raidlab.calibration.twin.asks import Ask
from raidlab.calibration.twin.design import choose
from raidlab.scenarios.results import markdown

SIDES: Final = (2, 3)
"""Levels of depth and of jobs in the grids."""
SEEDS: Final = (1, 2, 3)
_ROUND: Final = 5
"""Points of a round of the design."""


def ask_of(point: Point) -> Ask:
    """The load of a point."""
    return Ask(point.read_share, point.bs, point.iodepth, point.numjobs)


def grid(points: Sequence[Point], side: int) -> list[int]:
    """Places of the points at `side` levels of depth and as many of jobs, of each direction."""

    def levels(of: Sequence[int]) -> set[int]:
        known = sorted(set(of))
        return {known[round(at)] for at in np.linspace(0, len(known) - 1, side)}

    depths = levels([point.iodepth for point in points])
    jobs = levels([point.numjobs for point in points])
    return [at for at, p in enumerate(points) if p.iodepth in depths and p.numjobs in jobs]


def designed(points: Sequence[Point], begin: Sequence[int], count: int) -> list[int]:
    """Places of the points that a twin would ask for after `begin`."""
    taken = list(begin)
    while len(taken) < count:
        rest = [at for at in range(len(points)) if at not in taken]
        seen = measured([points[at] for at in taken])
        asks = {ask_of(points[at]): at for at in rest}
        wanted = min(_ROUND, count - len(taken))
        taken += [asks[ask] for ask in choose(select(seen), seen, list(asks), wanted).asks]
    return taken


def errors(points: Sequence[Point], taken: Sequence[int]) -> tuple[float, float]:
    """Median and nine in ten of the errors of all other points, in percent."""
    selection = select(measured([points[at] for at in taken]))
    chosen = selection.average if selection.chosen is None else selection.chosen.predictor
    rest = measured([point for at, point in enumerate(points) if at not in set(taken)])
    off = 100.0 * np.abs(chosen.rates(rest.loads) / rest.rate - 1.0)
    return float(np.median(off)), float(np.percentile(off, 90.0))


def rows_of(folder: Path) -> list[str]:
    """A row for each number of points."""
    points, _ = possible(import_fio([folder]))
    corners, found = grid(points, SIDES[0]), []
    for side in SIDES:
        even = grid(points, side)
        count = len(even)
        drawn = [
            errors(points, np.random.default_rng(seed).permutation(len(points))[:count].tolist())
            for seed in SEEDS
        ]
        pairs = [
            errors(points, designed(points, corners, count)),
            errors(points, even),
            tuple(np.median(np.array(drawn), axis=0)),
        ]
        cells = (f"{median:.1f}, {ninth:.0f}" for median, ninth in pairs)
        found.append(markdown.row((folder.name, count, *cells)))
        print(found[-1], flush=True)
    return found


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", help="folders in it; all if none is named")
    given = parser.parse_args()
    print("\n".join(markdown.table("set | points | next points of a twin | grid | random")))
    for folder in sorted(each for each in given.folder.iterdir() if each.is_dir()):
        if not given.sets or folder.name in given.sets:
            rows_of(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
