"""How well fits predict given measurements, in one table: `make fits-evidence`.

    python -m raidlab.calibration.fitting.evidence FOLDER

FOLDER has a folder of fio results for each set of `SETS`. Each is fitted on one job at three depths
and every other point predicted: rate, mean latency and p99, beside straight lines between the
training points. Arrays of drives that were measured alone behind the same adapter are predicted
from the fit of that drive: nothing of an array is fitted. Prints Markdown. `--depths 1,4,32` fits
on others than the usual three depths. Exit code 1 if the unseen rates of a set are further off than
its bounds, which are regression tests.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.bench.bench import FINAL
from raidlab.calibration.fitting.bench.scenario_bench import bench_of_scenario
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.comparison.baseline import against_lines
from raidlab.calibration.fitting.comparison.compare import Compared, compare, summary
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.sanity import possible
from raidlab.devices.files import write_file
from raidlab.scenarios.results import markdown

_SSD, _HDD = "iodepth=1,8,64 numjobs=1", "iodepth=1,8,32 numjobs=1"
_ARRAY = """
[host]
model = "./host.toml"
[[array]]
level = "{level}"
stripe_unit = "512 KiB"
software_raid = "os"
drives = [{{ model = "./drive.toml", count = {count} }}]
[[workload]]
rw = "randread"
block_size = "4 KiB"
[run]
precondition = "filled"
"""
"""An array of md with its usual chunk; its drives contained data, as the load wrote them."""


@dataclass(frozen=True)
class Set:
    """A folder of fio results, and what was measured."""

    folder: str
    bounds: tuple[float, float]
    """Percent that unseen rates may be off at the usual depths: in the median, in nine in ten."""
    kind: str = "ssd"
    host: str = ""
    train: str = _SSD
    system: str = ""
    """Scenario of the system around the drives, where they were measured as an array."""
    of: str = ""
    """The set of the one drive that the array consists of."""
    level: str = ""
    count: int = 0


_MD_RAID5 = """
[host]
model = "sas2008"
[[array]]
level = "raid5"
stripe_unit = "512 KiB"
software_raid = "os"
bitmap = "internal"
drives = [{ model = "unknown", count = 8 }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
area = "50000 MiB"
"""

SETS = (
    Set("ahci-hgst-hts72101-100gb-7200rpm", (4.0, 14.0), "hdd", "ahci", _HDD),
    Set("ahci-intel-d3-s4610", (3.0, 12.0), host="ahci"),
    Set("sata-3g-intel-d3-s4610", (1.0, 8.0), host="sata-3g"),
    Set("sas2008-intel-d3-s4610", (9.0, 18.0), host="sas2008"),
    Set("sas2008-kingston-dc500m", (3.0, 8.0), host="sas2008"),
    Set("p420i-mx200", (3.0, 8.0), host="p420i"),
    Set("p420i-raid0-3-mx200", (4.0, 12.0), of="p420i-mx200", level="raid0", count=3),
    Set("highpoint-raid5-hdd", (11.0, 27.0), "hdd", "", _HDD, system=_MD_RAID5),
)


def fitted(given: Set, folder: Path, around: Path) -> Calibration:
    """The fit of a set on its training points; `around` is a folder for a system's file."""
    path = ""
    if given.system:
        path = str(around / f"{given.folder}.toml")
        Path(path).write_text(given.system)
    settings = Settings(
        given.kind,
        host=given.host,
        system=path,
        train=given.train,
        leave_out=False,
        workers=os.cpu_count() or 1,
    )
    return calibrate(import_fio([folder / given.folder]), settings)


def predicted(given: Set, one: Calibration, folder: Path, around: Path) -> list[Compared]:
    """Every point of an array of drives, from the fit of one drive alone."""
    (around / "drive.toml").write_text(one.to_toml())
    (around / "host.toml").write_text(one.host_toml())
    path = around / "array.toml"
    path.write_text(_ARRAY.format(level=given.level, count=given.count))
    points, _ = possible(import_fio([folder / given.folder]))
    bench = bench_of_scenario(str(path))
    parts = ["test"] * len(points)
    return compare(bench, points, FINAL, parts=parts, workers=os.cpu_count() or 1)


def line(given: Set, rows: Sequence[Compared]) -> str:
    """A row of the table."""
    test = summary([row for row in rows if row.part == "test"])
    lines = against_lines(rows)
    seen = ", ".join(str(p) for p in sorted({r.point.iodepth for r in rows if r.part == "train"}))
    cells = [
        given.folder,
        seen or f"none: from {given.of}",
        test["points"],
        _pair(test["median_abs_error_pct"], test["p90_abs_error_pct"]),
        _pair(lines["median_abs_error_pct"], lines["p90_abs_error_pct"]),
        _pair(lines["skill"], lines["skill_p90"], "{:+.2f}"),
        _number(test["mean_latency_median_abs_error_pct"]),
        _number(test["p99_latency_median_abs_error_pct"]),
    ]
    return markdown.row(cells)


def beyond(given: Set, rows: Sequence[Compared]) -> list[str]:
    """What is further off than a set's bounds, in words."""
    test = summary([row for row in rows if row.part == "test"])
    off = (test["median_abs_error_pct"], test["p90_abs_error_pct"])
    names = ("in the median", "in nine in ten")
    return [
        f"beyond its bounds: {given.folder} is {found:.1f} % off {name}, not {most:g}"
        for name, found, most in zip(names, off, given.bounds, strict=True)
        if found is not None and found > most
    ]


def _number(value: float | None, form: str = "{:.1f}") -> str:
    return "-" if value is None else form.format(value)


def _pair(one: float | None, other: float | None, form: str = "{:.1f}") -> str:
    return f"{_number(one, form)}, {_number(other, form)}"


HEADING = "## Measured drives and arrays\n"
"""Of the last part of the page docs/evidence/fits.md."""
TEXT = """\
Made by `make fits-evidence MEASUREMENTS=FOLDER` from results of the fio-plot project: 4 KiB at
random, 60 s a point, up to 64 jobs of depth 64. A drive is fitted to one job at three depths and
every other point predicted; an array of md to the same depths of its own with unknown drives, or,
where its drive was measured alone behind the same adapter, to nothing of its own. Errors in
percent: rates median and nine in ten, latencies median; by lines: straight in logarithms between
the training points; skill: 1 less the model's error over theirs. Hosts' figures were read off
these sets, several jobs included (`chosen in view`); the md array behind the P420i is predicted
from one drive's fit.

| set | depths seen, one job | unseen points | rate | by lines | skill | mean latency | p99 |
|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    """Prints the table, a row as soon as it is known; puts it into a page where one is named.

    1 if a set is beyond its bounds.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="names of sets, with commas")
    parser.add_argument("--depths", default="", help="that are fitted on, with commas")
    parser.add_argument("--page", type=Path, help="the page whose last part the table is")
    given = parser.parse_args()
    if given.page is not None and given.depths:
        parser.error("--page has the usual depths: leave --depths out")
    rows, far = [], []
    only = [name for name in given.only.split(",") if name]
    for of, compared in table(given.folder, only, given.depths):
        rows.append(line(of, compared))
        print(rows[-1], flush=True)
        far += [] if given.depths else beyond(of, compared)
    if given.page is not None:
        write_file(given.page, with_table(given.page.read_text(encoding="utf-8"), rows))
    print("\n".join(far), end="\n" if far else "")
    return 1 if far else 0


def with_table(page: str, rows: Sequence[str]) -> str:
    """The page with the table as its last part."""
    before, _, _ = page.partition(HEADING)
    return before.rstrip("\n") + "\n\n" + HEADING + TEXT + "\n".join(rows) + "\n"


def at_depths(depths: str) -> tuple[Set, ...]:
    """The sets, fitted on one job at these depths."""
    return tuple(replace(s, train=f"iodepth={depths} numjobs=1") if depths else s for s in SETS)


def table(
    folder: Path, only: Sequence[str], depths: str = ""
) -> Iterator[tuple[Set, Sequence[Compared]]]:
    """The sets that there are, each fitted on some depths: the usual ones if empty."""
    fits: dict[str, Calibration] = {}
    with tempfile.TemporaryDirectory() as temporary:
        around = Path(temporary)
        sets = at_depths(depths)
        for each in sets:
            if (only and each.folder not in only) or not (folder / each.folder).is_dir():
                continue
            if each.of:
                one = fits.get(each.of)
                if one is None:
                    one = fitted(next(s for s in sets if s.folder == each.of), folder, around)
                yield each, predicted(each, one, folder, around)
            else:
                fits[each.folder] = fit = fitted(each, folder, around)
                yield each, fit.rows


if __name__ == "__main__":
    raise SystemExit(main())
