"""`raidlab replay`: a trace on a device or a system, beside what was measured."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import (
    Json,
    OwnSeed,
    TraceColumns,
    TraceUnit,
    command,
    path,
    say,
)
from raidlab.commands.tables import Output, Wide, opening, print_notes, print_table
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.schema import DriveSpec
from raidlab.output import echo
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.results.look import Column, Kind, Table, figure

if TYPE_CHECKING:
    from raidlab.calibration.traces.replay import Target

FORMATS = (
    "disksim-validate", "disksim-ascii", "blkparse", "fio-iolog", "msr", "spc", "systor17",
    "alibaba", "csv",
)  # fmt: skip
"""For the help, which is to come without the readers being loaded."""
BEYOND = ("refuse", "wrap", "skip")


@command
def replay(
    trace: Annotated[Path, typer.Argument(help="The trace.", parser=path)],
    format: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")],
    device: Annotated[
        str, typer.Option("--device", help="A drive: a name or a device file.", show_default=False)
    ] = "",
    scenario: Annotated[
        str, typer.Option("--scenario", help="A system: a scenario file.", show_default=False)
    ] = "",
    array: Annotated[
        str | None, typer.Option("--array", help="Of the scenario; the first one if left out.")
    ] = None,
    columns: TraceColumns = "",
    unit: TraceUnit = None,
    beyond: Annotated[
        str, typer.Option("--beyond", help="Requests beyond the device: refuse, wrap or skip.")
    ] = "refuse",
    slower: Annotated[
        float, typer.Option("--slower", help="Times between requests, times this.")
    ] = 1.0,
    seed: OwnSeed = None,
    json: Json = False,
    wide: Wide = False,
) -> None:
    """Replay a trace and compare response times with the measured ones, where there are any."""
    from raidlab.calibration.traces.doubts import LACKS
    from raidlab.calibration.traces.formats import read_trace
    from raidlab.calibration.traces.replay import replay as run

    _check(beyond, slower)
    requests = read_trace(trace, format, columns=columns, unit=unit)
    target = _target(device, scenario, array, seed)
    placed = requests.slowed(slower).within(target.capacity, beyond)  # type: ignore[arg-type]
    document = run(placed, target, lambda: False).to_dict()
    for note in document["warnings"]:
        say(f"warning: {trace}: {note}")
    if json:
        echo(json_module.dumps(document, indent=2, allow_nan=False))
        return
    simulated, measured = document["latency_us"], document["measured_latency_us"] or {}
    rms = ""
    if document["rms_ms"] is not None:
        rms = f"The distributions differ by {figure(document['rms_ms'], 'ms')} (rms)"
        if document["rms_pct_of_mean"] is not None:
            rms += f", {document['rms_pct_of_mean']:.1f} % of the mean"
        rms += "."
    opening(f"{trace.name} on {target.name}: {document['requests']:,} requests", rms)
    print_table(
        Table(
            "Response times",
            [
                Column("", kind=Kind.TEXT),
                Column("measured", "us", priority=2),
                Column("simulated", "us"),
            ],
            [[_NAMES.get(name, name), measured.get(name), simulated[name]] for name in simulated],
        ),
        Output.of(json=False, wide=wide),
    )
    print_notes([LACKS])


_NAMES = {"p99_9": "p99.9", "p99_99": "p99.99"}


def _check(beyond: str, slower: float) -> None:
    faults = []
    if beyond not in BEYOND:
        faults.append(Fault("--beyond", beyond, f"one of {', '.join(BEYOND)}", BEYOND))
    if not 0 <= slower <= 1e6:
        faults.append(Fault("--slower", slower, "a factor from 0 to 1,000,000"))
    if faults:
        raise SpecError(faults)


def _target(device: str, scenario: str, array: str | None, seed: int | None) -> Target:
    from raidlab.calibration.traces.replay import Target

    if bool(device) == bool(scenario):
        allowed = "one of --device D and --scenario S.toml"
        raise SpecError([Fault("--device", device or None, allowed)])
    if scenario:
        return Target.of_scenario(load_scenario(scenario), array, seed)
    if array is not None:
        raise SpecError([Fault("--array", array, "only with --scenario")])
    found = find_for("--device", device)
    if not isinstance(found.spec, DriveSpec):
        raise SpecError([Fault("--device", device, f"a drive; this is a {found.spec.kind}")])
    return Target.of_drive(found.spec, 1 if seed is None else seed)
