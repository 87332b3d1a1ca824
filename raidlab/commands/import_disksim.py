"""`raidlab import disksim`: a DiskSim parameter file becomes a device file."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.disksim.drive import import_disksim
from raidlab.commands.common import Json, command, path, say
from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import write_file


@command
def disksim(
    parameters: Annotated[
        Path, typer.Argument(help="A .parv or .diskspecs file of DiskSim 4.", parser=path)
    ],
    out: Annotated[Path, typer.Option("--out", help="The device file to write.", parser=path)],
    json: Json = False,
) -> None:
    """Make a device file of a DiskSim disk; says what has no counterpart."""
    imported = import_disksim(parameters)
    write_file(out, imported.to_toml())
    try:
        device = load_device(out)
    except SpecError as error:
        # What is wrong is wrong in the parameters; the file is a trace of it, not a device.
        out.unlink(missing_ok=True)
        faults = [
            Fault(fault.key, fault.value, fault.allowed, (), str(parameters))
            for fault in error.faults
        ]
        raise SpecError(faults) from None
    for note in imported.notes:
        say(f"note: {parameters}: {note}")
    if json:
        document = {"device": str(out), "name": device.spec.name, "notes": imported.notes}
        print(json_module.dumps(document, indent=2))
    else:
        print(f"{device.spec.name}: {out}")
