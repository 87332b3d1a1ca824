"""`raidlab discover`: what a machine's storage consists of, as facts and as a scenario."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from raidlab.commands.common import BAD_INPUT, Json, command, path, say
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes, also_writes
from raidlab.commands.outputs import deliver
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo

if TYPE_CHECKING:
    from raidlab.calibration.discover.facts import Facts
    from raidlab.calibration.discover.machine import Found
    from raidlab.calibration.discover.matching import Match
    from raidlab.calibration.discover.scenario import Draft


@command
def discover(
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help="Captured outputs: files or folders. This machine if left out.",
            parser=path,
        ),
        Reads(),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The scenario to write.", parser=path),
        Writes(FileKind.SCENARIO),
    ] = None,
    capture: Annotated[
        str,
        typer.Option(
            "--capture",
            help="Capture this machine into a new folder; - prints the script that does it.",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Find a machine's storage: controllers, arrays, drives, links; write its scenario.

    Reads captured outputs of its tools, or this machine.
    """
    if capture:
        _capture(capture, with_sources=bool(sources or out))
        return
    from raidlab.calibration.discover.machine import find
    from raidlab.calibration.discover.matching import doubts, match_facts
    from raidlab.calibration.discover.scenario import draft, files

    found = find(sources or [])
    matches = match_facts(found.facts)
    for doubt in doubts(matches):
        found.facts.warn("stand-in", doubt)
    made = draft(found.facts, out.stem) if out is not None else None
    _warn_of(found, made, wanted=out is not None)
    written = out if made is not None and not made.faults else None
    if made is not None and written is not None:
        beside = [at for at in files(made, written) if at != written]
        also_writes("--out", dict.fromkeys(beside, FileKind.DEVICE), say)

    def shown() -> None:
        if json:
            echo(json_module.dumps(_document(found, matches, written), indent=2, allow_nan=False))
        else:
            _print(found, matches)

    for warning in found.facts.warnings:
        say(f"warning: {warning.text}")
    outputs: list[dict[Path | None, Any]] = []
    if made is not None and written is not None:
        texts = files(made, written)
        outputs = [{at: (lambda text=text: text) for at, text in texts.items()}]
    deliver(outputs, shown)
    for refusal in found.refused:
        say(f"error: {refusal}")
    if found.refused:
        raise typer.Exit(BAD_INPUT)
    if out is not None and written is None:
        raise typer.Exit(1)


def _capture(folder: str, *, with_sources: bool) -> None:
    """Prints the script, or runs it.

    Raises:
        SpecError: It cannot run, or other options stand beside it.
    """
    from raidlab.calibration.discover.capture import capture, script

    if with_sources:
        raise SpecError([Fault("--capture", folder, "given alone: it reads this machine")])
    if folder == "-":
        echo(script().rstrip("\n"))
        return
    names = capture(Path(folder))
    echo(f"{folder}: {len(names)} files; read them with raidlab discover --from {folder}")


def _warn_of(found: Found, made: Draft | None, *, wanted: bool) -> None:
    """What the scenario leaves out or assumes."""
    if not wanted:
        from raidlab.calibration.discover.scenario import can_be_simulated

        if found.facts.drives and not can_be_simulated(found.facts):
            found.facts.warn("no-scenario", _without_scenario(found.facts))
        return
    if made is None:
        found.facts.warn("no-scenario", _without_scenario(found.facts))
        return
    for fault in made.faults:
        found.facts.warn("no-scenario", f"no scenario: {fault}")
    for each in made.assumed:
        found.facts.warn("assumed", f"assumed: {each}")
    for each in made.left_out:
        found.facts.warn("left-out", f"not in the scenario: {each}")


def _without_scenario(facts: Facts) -> str:
    """Why there is no scenario: what was seen, and what to do."""
    from raidlab.calibration.discover.vendors import virtual_bus

    seen = []
    for drive in facts.drives:
        bus = virtual_bus(drive.vendor, drive.model, drive.name) if drive.virtual else None
        parts = [drive.name or drive.model or drive.slot or "a drive", _size(drive.bytes),
                 "a controller's volume" if drive.volume_of_controller
                 else "virtual" if drive.virtual else drive.outside or "of unknown kind",
                 bus or drive.interface]  # fmt: skip
        seen.append(", ".join(each for each in parts if each))
    if not seen:
        return "no scenario: no capture shows a drive or an array that can be simulated"
    text = f"no scenario: nothing that captures show can be simulated ({'; '.join(seen)})"
    return f"{text}; `raidlab twin` measures such a drive and fits a model of it"


def _size(size: int | None) -> str | None:
    from raidlab.devices.units import format_size

    return None if size is None else format_size(size)


def _document(found: Found, matches: list[Match], scenario: Path | None) -> dict[str, object]:
    from raidlab.calibration.discover.facts import to_dict

    return {
        "facts": to_dict(found.facts),
        "matches": [
            {
                "drive": each.part,
                "string": each.text,
                "model": each.text,
                "device": each.device,
                "quality": each.quality,
                "reason": each.reason,
                "stand_in": each.stand_in,
                "candidates": list(each.candidates),
                "doubt": each.doubt or None,
            }
            for each in matches
        ],
        "scenario": None if scenario is None else str(scenario),
        "files": [{"file": name, "reader": reader} for name, reader in found.readers],
        "refused": found.refused,
        "repaired": found.facts.repaired,
        "warnings": [{"code": each.code, "text": each.text} for each in found.facts.warnings],
    }


def _print(found: Found, matches: list[Match]) -> None:
    """Files, controllers, arrays, drives and matches as lines."""
    from raidlab.calibration.discover.readers.diskstats import SOURCE as LOAD

    for name, reader in found.readers:
        read = "counters of load, passed over" if reader == LOAD else reader
        echo(f"{name}: {read or 'no reader knows it'}")
    facts = found.facts
    _print_host(facts)
    for controller in facts.controllers:
        parts = [controller.model or controller.chip or "controller", controller.cache,
                 controller.backup, controller.backup_state]  # fmt: skip
        echo("controller: " + ", ".join(each for each in parts if each))
    for array in facts.arrays:
        parts = [array.name or array.os_name or "array", array.level, f"{array.members} drives",
                 array.stripe_unit, _size(array.bytes), array.state,
                 array.write_policy_now]  # fmt: skip
        echo("array: " + ", ".join(each for each in parts if each))
    _print_drives(facts)
    alike: dict[str, list[str]] = {}
    for match in matches:
        like = match.device or match.stand_in or "no device"
        text = f"{match.text or 'no model'}: {match.quality} {like}: {match.reason}"
        alike.setdefault(text, []).append(match.part)
    for text, parts_of in alike.items():
        echo(f"{' '.join(parts_of)}: {text}")


def _print_host(facts: Facts) -> None:
    """The computer as one line."""
    host = facts.host
    threads = None if host.threads is None else f"{host.threads} threads"
    memory = None if host.memory_bytes is None else f"{host.memory_bytes / 2**30:.1f} GiB of memory"
    guest = None if host.hypervisor is None else f"hypervisor {host.hypervisor}"
    parts = [host.name, host.cpu, threads, memory, guest, host.kernel and f"Linux {host.kernel}"]
    if known := [each for each in parts if each]:
        echo("host: " + ", ".join(known))


def _print_drives(facts: Facts) -> None:
    """Drives that are alike as one line, with their names or slots."""
    from raidlab.calibration.discover.vendors import virtual_bus

    alike: dict[str, list[str]] = {}
    for drive in facts.drives:
        cache = {"on": "write cache on", "off": "write cache off"}.get(drive.drive_cache or "")
        bus = virtual_bus(drive.vendor, drive.model, drive.name) if drive.virtual else None
        sort = "virtual" if drive.virtual else drive.kind and drive.kind.upper()
        sort = "a controller's volume" if drive.volume_of_controller else sort
        parts = [drive.model or drive.family, _size(drive.bytes), sort,
                 drive.transport or drive.link_now or drive.interface or bus,
                 "removable" if drive.removable else None, drive.state, cache]  # fmt: skip
        text = ", ".join(each for each in parts if each)
        names = alike.setdefault(text, [])
        names.append(drive.name or drive.slot or drive.address or drive.serial or "?")
    for text, names in alike.items():
        count = f"{len(names)} drives" if len(names) > 1 else "drive"
        echo(f"{count} {' '.join(names)}: {text or 'nothing is known'}")
