"""`raidlab replay`: a trace on a device, beside what was measured."""

from __future__ import annotations

import json as json_module
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.replay import read_disksim_validate
from raidlab.calibration.replay import replay as run
from raidlab.commands.common import Json, command, table
from raidlab.devices.catalogue import find
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveSpec


class Format(StrEnum):
    """Formats of traces."""

    DISKSIM_VALIDATE = "disksim-validate"


@command
def replay(
    trace: Annotated[Path, typer.Argument(help="The trace.")],
    device: Annotated[str, typer.Option("--device", help="A drive: a name or a device file.")],
    format: Annotated[Format, typer.Option("--format", help="Form of the trace.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the drive's random streams.")] = 1,
    json: Json = False,
) -> None:
    """Replay a trace on a drive and compare response times with the measured ones."""
    del format  # There is one so far; the option is required so that scripts stay right.
    found = find(device, Path())
    if not isinstance(found.spec, DriveSpec):
        raise SpecError([Fault("--device", device, f"a drive; this is a {found.spec.kind}")])
    requests = read_disksim_validate(trace)
    document = run(requests, found.spec, seed, lambda: False).to_dict()
    if json:
        print(json_module.dumps(document, indent=2, allow_nan=False))
        return
    simulated, measured = document["latency_us"], document["measured_latency_us"]
    rows = [
        {"response time (us)": name, "measured": measured[name], "simulated": simulated[name]}
        for name in simulated
    ]
    title = (
        f"{trace.name} on {found.spec.name}: {document['requests']} requests,"
        f" rms {document['rms_ms']:.4f} ms ({document['rms_pct_of_mean']:.1f} % of the mean)"
    )
    table(rows, title)
