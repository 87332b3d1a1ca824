"""Whether files that people write can be used, without running anything.

What reads a kind of file is loaded when there is one: questions need half of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.other_kind import JOB_ENDINGS
from raidlab.devices.schema import read_toml
from raidlab.scenarios.files.kinds import WrittenKind, kind_of
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.running.engine_faults import capacities

_ANY_DEVICE_BYTES = 1 << 50
"""Of the device that jobs are checked on: a scenario says which one they run on."""


@dataclass(frozen=True)
class Checked:
    """What is known of a file without a run."""

    path: Path
    kind: WrittenKind | None
    """None if nothing shows it."""
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()
    holds: str = ""
    """What is in it, in a few words, if it has no fault."""


def check_file(path: Path, kind: WrittenKind | None = None) -> Checked:
    """Checks a file and everything that it names.

    Args:
        path: The file.
        kind: What it is meant to be; what it shows if None.
    """
    try:
        kind = kind_of(path) if kind is None else kind
        return _CHECKS[kind](path)
    except SpecError as error:
        return Checked(path, kind, tuple(_with_file(error.faults, path)))


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """The files among these, and those in folders among them, by name."""
    for path in paths:
        if path.is_dir():
            endings = JOB_ENDINGS | {".toml"}
            yield from sorted(each for each in path.rglob("*") if each.suffix in endings)
        else:
            yield path


def _with_file(faults: Iterable[Fault], path: Path) -> Iterator[Fault]:
    """Faults that name their file: several files are checked together."""
    for fault in faults:
        yield fault if fault.file else replace(fault, file=str(path))


def _scenario(path: Path) -> Checked:
    scenario = load_scenario(path)
    drives = len(capacities(scenario.base, scenario))
    runs = scenario.points * scenario.replications if scenario.workloads else 0
    holds = f"{_count(drives, 'drive')}, {_count(runs, 'run')}"
    return Checked(path, WrittenKind.SCENARIO, (), scenario.warnings, holds)


def _device(path: Path) -> Checked:
    spec = load_device(path).spec
    return Checked(path, WrittenKind.DEVICE, holds=f"{spec.kind} {spec.name}")


def _sheet(path: Path) -> Checked:
    from raidlab.devices.datasheet.controller import read_controller
    from raidlab.devices.datasheet.sheet import read_sheet

    if read_toml(path).get("kind") == "controller":
        controller, _ = read_controller(path)
        return Checked(path, WrittenKind.SHEET, holds=f"controller {controller.name}")
    sheet = read_sheet(path).sheet
    return Checked(path, WrittenKind.SHEET, holds=f"{sheet.kind} {sheet.name}")


def _question(path: Path) -> Checked:
    from raidlab.scenarios.capacity.candidates import expand
    from raidlab.scenarios.capacity.question import load_question

    question = load_question(path)
    candidates = expand(question)
    built = [each for each in candidates if each.scenario is not None]
    warnings = tuple(f"{each.name}: {each.why_not}" for each in candidates if each.why_not)
    holds = f"{_count(len(candidates), 'candidate')}, {len(built)} of them can be built"
    return Checked(path, WrittenKind.QUESTION, (), warnings, holds)


def _jobs(path: Path) -> Checked:
    from raidlab.scenarios.fio import jobfile
    from raidlab.scenarios.fio.places import Target
    from raidlab.scenarios.fio.resolve import resolve

    place = Target(0, _ANY_DEVICE_BYTES)
    jobs = resolve(jobfile.read(path), str(path), {"device": place}, "device")
    return Checked(path, WrittenKind.JOBS, (), jobs.notes, _count(len(jobs.loads), "job"))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


_CHECKS = {
    WrittenKind.SCENARIO: _scenario,
    WrittenKind.DEVICE: _device,
    WrittenKind.SHEET: _sheet,
    WrittenKind.QUESTION: _question,
    WrittenKind.JOBS: _jobs,
}
