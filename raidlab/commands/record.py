"""`raidlab record`: the load of this machine's disks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from raidlab.commands.common import Json, command, path, seconds_of
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Writes
from raidlab.commands.outputs import deliver
from raidlab.commands.recorded import recorded
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo


@command
def record(
    out: Annotated[
        Path,
        typer.Option("--out", help="The load to write.", parser=path),
        Writes(FileKind.LOAD),
    ],
    length: Annotated[
        str, typer.Option("--for", help='How long to record, such as "24 h".')
    ] = "24 h",
    interval: Annotated[str, typer.Option("--interval", help="Between samples.")] = "1 s",
    device: Annotated[
        list[str],
        typer.Option("--device", help="Take this device; may be repeated.", show_default=False),
    ] = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Record the load of this machine's disks from /proc/diskstats, for scenarios.

    Interrupted with Ctrl-C it writes what it has: the same command goes on from there.
    """
    import json as json_module

    from raidlab.calibration.monitoring.load import load_of

    seconds, step = seconds_of("--for", length), seconds_of("--interval", interval)
    if seconds < step:
        raise SpecError([Fault("--for", length, f"at least the interval, {interval}")])
    with recorded(out, seconds, step, "--device", device) as found:
        found.take("--device", device)
        load = load_of(found)

        def show() -> None:
            if json:
                echo(json_module.dumps(found.to_dict(), indent=2, allow_nan=False))
            else:
                echo(f"{load.seconds:,.0f} s of {', '.join(load.devices)} in {out}")

        deliver([{out: load.to_json}], show)
