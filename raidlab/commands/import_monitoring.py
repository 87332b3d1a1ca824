"""`raidlab import monitoring`: what iostat, sar, Prometheus, perfmon ... printed."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.calibration.monitoring.boot import SinceBoot
from raidlab.commands.common import BAD_INPUT, Html, Json, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver, page_of, print_answer
from raidlab.commands.tables import Output, Wide
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.report.report import Report

if TYPE_CHECKING:
    from raidlab.calibration.monitoring.importing import Imported
    from raidlab.calibration.monitoring.readers.reader import Options

FORMATS = (
    "iostat", "iostat-json", "iostat-bsd", "sar", "sadf", "diskstats", "node-exporter",
    "prometheus", "csv", "zabbix", "pdh", "vscsistats", "cloudwatch", "azure", "gcp", "nmon",
    "dstat", "collectl", "pcp", "atop",
)  # fmt: skip
"""For the help, which is to come without the readers being loaded."""


@command
def monitoring(
    files: Annotated[
        list[Path],
        typer.Argument(help="What a tool printed, or parts of it.", parser=path),
        Reads(),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the load, for scenarios.", parser=path),
        Writes(FileKind.LOAD),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"One of {', '.join(FORMATS)}; recognised if left out.",
            show_default=False,
        ),
    ] = "",
    since_boot: Annotated[
        SinceBoot,
        typer.Option("--since-boot", help="What to do with reports that begin at boot."),
    ] = SinceBoot.AUTO,
    device: Annotated[
        list[str],
        typer.Option("--device", help="Take this device; may be repeated.", show_default=False),
    ] = [],  # noqa: B006
    interval: Annotated[
        str,
        typer.Option(
            "--interval", help='Between samples without times, such as "10 s".', show_default=False
        ),
    ] = "",
    metric: Annotated[
        str,
        typer.Option(
            "--metric", help="What series without a name are: read_iops ...", show_default=False
        ),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            help="What columns of a CSV are: NAME=sda:read_iops, with commas between them.",
            show_default=False,
        ),
    ] = "",
    statistic: Annotated[
        str,
        typer.Option(
            "--statistic",
            help="Statistic of figures per period: sum or average.",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
) -> None:
    """Import what monitoring tools printed: rates, sizes, mix, queues and latencies over time."""
    from raidlab.calibration.monitoring import importing
    from raidlab.calibration.monitoring.load import load_of
    from raidlab.calibration.report import monitoring as report

    options = _options(interval, metric, columns, statistic)
    found = importing.import_monitoring(
        files, format=format, since_boot=since_boot, options=options
    )
    if found.refused is None:
        found.take("--device", device)
    if found.refused is not None:
        _refuse(found, json)
    output = Output.of(json=json, wide=wide)

    def said() -> Report:
        return report.report(found)

    load = None if out is None else load_of(found)
    deliver(
        [
            {html: page_of(said, "import monitoring")},
            {out: lambda: "" if load is None else load.to_json()},
        ],
        lambda: print_answer(found, said, output),
    )


def _options(interval: str, metric: str, columns: str, statistic: str) -> Options:
    from raidlab.calibration.monitoring.readers.delimited import KEYS, columns_of
    from raidlab.calibration.monitoring.readers.reader import Options
    from raidlab.devices.units import DURATION

    faults = []
    seconds: float | None = None
    named: dict[str, str] = {}
    if interval:
        try:
            seconds = DURATION.convert(interval) / 1e9
            if seconds <= 0:
                faults.append(Fault("--interval", interval, "above 0 s"))
        except ValueError as error:
            faults.append(Fault("--interval", interval, str(error)))
    if columns:
        try:
            named = dict(columns_of(columns))
        except ValueError as error:
            faults.append(Fault("--columns", columns, str(error)))
    if metric and metric not in KEYS:
        faults.append(Fault("--metric", metric, f"one of {', '.join(KEYS)}", tuple(KEYS)))
    if statistic and statistic.lower() not in ("sum", "average"):
        choices = ("sum", "average")
        faults.append(Fault("--statistic", statistic, f"one of {', '.join(choices)}", choices))
    if faults:
        raise SpecError(faults)
    return Options(seconds, named, metric or None, statistic.lower() or None)


def _refuse(found: Imported, json: bool) -> None:
    """Says why nothing can be read of the files.

    Raises:
        Exit: Always.
    """
    if found.refused is None:
        return
    for file in found.files[:1]:
        more = f" (and {len(found.files) - 1} more)" if len(found.files) > 1 else ""
        say(f"error: {file}{more}: {found.refused.reason}")
    if json:
        echo(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
    raise typer.Exit(BAD_INPUT)
