"""`make datasheets`: every sheet of devices/datasheets becomes a device of the catalogue.

`python -m raidlab.calibration.datasheets.catalogue [SHEET...]` makes the devices named, or all;
after all it writes docs/evidence/datasheets.md. The same sheets give the same bytes.
"""

from __future__ import annotations

import statistics
import sys
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from raidlab.calibration.datasheets import few_points
from raidlab.calibration.datasheets.build import WITHIN_PCT, Imported, import_datasheet
from raidlab.calibration.datasheets.few_points import Fitted, fit_few
from raidlab.calibration.datasheets.generic import generic_sheets
from raidlab.calibration.datasheets.latencies import LISTING as PERCENTILES
from raidlab.calibration.datasheets.latencies import Latency, latencies
from raidlab.calibration.datasheets.latencies import listing as latency_listing
from raidlab.calibration.datasheets.latencies import table as latency_table
from raidlab.calibration.datasheets.measured import DRAWS, Compared, compare, listing, table
from raidlab.devices.catalogue import SPECS
from raidlab.devices.faults import SpecError
from raidlab.devices.files import write_files
from raidlab.devices.spec_writer import DEVICE_SCHEMA, with_schema
from raidlab.scenarios.results import markdown
from raidlab.scenarios.spec.findings import Code, code_of

SHEETS = SPECS.parent / "datasheets"
CONTROLLERS = SHEETS / "controllers"
PAGE = Path("docs/evidence/datasheets.md")
_WORKERS = 2
_WIDTH = 100


def make(names: Sequence[str] = ()) -> list[Imported]:
    """Makes the devices of the sheets named, or of all, and writes their files.

    Raises:
        SpecError: A sheet has faults.
    """
    write_files(dict(generic_sheets(SHEETS)))
    sheets = sorted(SHEETS.rglob("*.toml"))
    paths = [path for path in sheets if not names or path.stem in names]
    made = []
    with ThreadPoolExecutor(_WORKERS) as pool:
        for imported in pool.map(import_datasheet, paths):
            print(f"made {imported.name}", flush=True)
            made.append(imported)
    texts = {target(each): each.draft.to_toml() for each in made}
    write_files({file: with_schema(text, file, DEVICE_SCHEMA) for file, text in texts.items()})
    return made


def target(imported: Imported) -> Path:
    """The file of a device in the catalogue."""
    return SPECS / imported.kind / f"{imported.name}.toml"


def page(
    made: Sequence[Imported],
    compared: Sequence[Compared],
    found: Sequence[Latency] = (),
    fitted: Sequence[Fitted] = (),
) -> str:
    """The evidence: stated beside simulated figures, then measured ones."""
    lines = [
        "# Drives from data sheets",
        "Made by `make datasheets`, which makes these drives of sheets in `devices/datasheets`.",
        "How: [data sheets](../explanation/data-sheets.md).",
        "",
        "## Stated beside simulated",
        *markdown.table("figure | drives | median error | worst error | within 5 %"),
    ]
    by_quantity: dict[str, list[float]] = {}
    for each in made:
        for point in each.points:
            if point.error_pct is not None:
                by_quantity.setdefault(point.quantity, []).append(abs(point.error_pct))
    adjusted = [error for name in by_quantity if name != _CHECK for error in by_quantity[name]]
    rows = [*by_quantity.items(), ("all but mixed_random", adjusted)]
    for name, errors in rows:
        within = f"{sum(error <= WITHIN_PCT for error in errors)} of {len(errors)}"
        off = f"{statistics.median(errors):.2f} %", f"{max(errors):.1f} %"
        lines.append(markdown.row((name, len(errors), *off, within)))
    drives = sum(bool(each.points) for each in made)
    bursts = sum(point.error_pct is None for each in made for point in each.points)
    about = (
        f"{drives} drives. {bursts} figures are of bursts that no SLC cache takes (of MLC, or"
        " faster than a stream): they are not counted. `mixed_random` is compared, not"
        " adjusted to, at a depth that no sheet says: 128 was chosen in view of the stated"
        " rates, so its errors are no prediction. Random reads of disks are not adjusted to"
        " either; random writes are, of a disk that caches them. A drive with two actuators is"
        " two devices with half of its figures each."
    )
    lines += ["", *textwrap.wrap(about, _WIDTH, break_on_hyphens=False)]
    missed = [
        (f"`{each.name}`: {warning}",)
        for each in made
        for warning in each.warnings
        if code_of(warning) is not Code.SHEET_NOTE
    ]
    lines += ["", *markdown.table("figures that do not come out", missed or [("none",)])]
    more = ["", *latency_table(found)] if found else []
    more += ["", *few_points.table(fitted)] if fitted else []
    return "\n".join([*lines, "", *table(compared), *more]) + "\n"


_CHECK = "mixed_random"


def main() -> int:
    """The command."""
    try:
        made = make(sys.argv[1:])
        if not sys.argv[1:]:
            compared = compare(count=DRAWS)
            found = latencies()
            listed = {PAGE.with_suffix(".csv"): listing(compared)}
            listed[PERCENTILES] = latency_listing(found)
            write_files({PAGE: page(made, compared, found, fit_few()), **listed})
            print(f"wrote {PAGE}")
    except SpecError as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
