"""`raidlab import disksim`: a DiskSim parameter file becomes a device file."""

from __future__ import annotations

import json as json_module
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from raidlab.calibration.disksim.drive import import_disksim
from raidlab.commands.common import Json, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, own_device
from raidlab.commands.outputs import deliver
from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import write_file
from raidlab.output import echo


@command
def disksim(
    parameters: Annotated[
        Path, typer.Argument(help="A .parv or .diskspecs file of DiskSim 4.", parser=path), Reads()
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The device file to write.", parser=path),
        Writes(FileKind.DEVICE),
    ],
    json: Json = False,
) -> None:
    """Make a device file of a DiskSim disk; says what has no counterpart."""
    imported = import_disksim(parameters)
    try:
        with tempfile.TemporaryDirectory() as folder:
            tried = Path(folder) / "imported.toml"
            write_file(tried, imported.to_toml())
            device = load_device(tried)
    except SpecError as error:
        # What is wrong is wrong in the parameters, and nothing is written.
        faults = [
            Fault(fault.key, fault.value, fault.allowed, (), str(parameters))
            for fault in error.faults
        ]
        raise SpecError(faults) from None
    own_device("--out", out, device.spec.name)
    for note in imported.notes:
        say(f"note: {parameters}: {note}")

    def show() -> None:
        if json:
            document = {"device": str(out), "name": device.spec.name, "notes": imported.notes}
            echo(json_module.dumps(document, indent=2))
        else:
            echo(f"{device.spec.name}: {out}")

    deliver([{out: imported.to_toml}], show)
