"""The system's own fio on a simulated system, in virtual time.

fio itself is not changed: a preloaded library (`calibration/fio_bridge`) stands in for the
device and for the clock. Described in `docs/how-to/run-fio.md`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from raidlab.calibration.fio import command_line
from raidlab.calibration.fio.command_line import CommandLine
from raidlab.calibration.fio.outputs import why_no_output
from raidlab.calibration.fio.simulated import ARRAY_FILE, FORCED, needs_content, simulate
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import new_folders, write_file
from raidlab.devices.levels import facts_of
from raidlab.devices.plan_types import ArrayPlan, Plan
from raidlab.devices.printable import printable, printable_lines
from raidlab.devices.trees import Document
from raidlab.scenarios.fio import engines
from raidlab.scenarios.fio import jobfile as fio_jobs
from raidlab.scenarios.fio.jobfile import Section
from raidlab.scenarios.fio.options import OF_THIS_MACHINE
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import Scenario, build_scenario, load_scenario
from raidlab.scenarios.results.diagnostics.throttled import throttled_note
from raidlab.scenarios.results.diagnostics.unwritten import remedy, unwritten_note
from raidlab.scenarios.running.engine_faults import capacities
from raidlab.scenarios.spec.trees import ScenarioTree

DEFAULT: Final[ScenarioTree] = {
    "title": "One 7200 rpm hard disk",
    "host": {"model": "generic"},
    "array": [
        {
            "name": "disk",
            "level": "jbod",
            "drives": [{"model": "generic-7200rpm", "count": 1}],
        }
    ],
}
"""The system that stands behind fio where none is named."""

_DOCUMENT = re.compile(r"^\{\n", re.MULTILINE)
"""How a JSON document of fio's begins; what is inside is indented."""
_FORCED = re.compile(
    "|".join(rf',\s*"{re.escape(key)}" : "{re.escape(value)}"' for key, value in FORCED)
)
"""What every job runs with, in fio's `job options`: no words of the user's."""

INSTALL = "install it with `apt install fio`, `dnf install fio` or `zypper install fio`"


@dataclass(frozen=True)
class Bridge:
    """A simulated system as the preloaded library wants it."""

    name: str
    """The scenario's title."""
    seed: int
    size_bytes: int
    """Bytes of the array that fio sees."""
    array: int
    """Its index in the plan."""
    plan: Plan
    """The engine's plan."""

    remedy: str = ""
    """What has its SSDs written before."""

    def setup(self, report: Path | None = None, *, content: bool = False) -> Document:
        """What the library reads.

        Args:
            content: True if reads shall find what was written.
            report: A file for what the system's SSDs have read when fio ends.
        """
        plan: Plan = {**self.plan, "data": True} if content else self.plan
        return {
            "size_bytes": self.size_bytes,
            "array": self.array,
            "content": content,
            **({} if report is None else {"report": str(report)}),
            "plan": plan,
        }

    def describe(self) -> Document:
        """What the collector asks for."""
        return {
            "name": self.name,
            "seed": self.seed,
            "size_bytes": self.size_bytes,
            "filename": ARRAY_FILE,
            "library": str(library()),
            "plan": self.setup(),
        }


def library() -> Path:
    """The preloaded library.

    Raises:
        SpecError: It is not installed.
    """
    found = sorted(Path(__file__).parents[1].glob("_fio_bridge*.so"))
    if not found:
        allowed = (
            "its bridge to fio, which is not installed: install raidlab again (make setup in a"
            " clone); raidlab fio --native needs none"
        )
        raise SpecError([Fault("raidlab fio", None, allowed)])
    return found[0]


def bridge(
    scenario: str | Path | None = None, array: str | None = None, seed: int | None = None
) -> Bridge:
    """The simulated system of a scenario; its workloads count for nothing, fio is the load.

    Args:
        scenario: A scenario file; None for `DEFAULT`.
        array: Which array fio sees; the first one if None.
        seed: Replaces the scenario's own.

    Raises:
        SpecError: Everything that is wrong with the scenario, or an unknown array.
    """
    checked = (
        build_scenario(DEFAULT, outside=True)
        if scenario is None
        else load_scenario(scenario, outside=True)
    )
    plan = checked.plan(0, 0, seed)
    return of_plan(plan, _array(checked, plan, array), checked)


def of_plan(plan: Plan, array: int, checked: Scenario) -> Bridge:
    """The simulated system of a plan of `checked`, without the plan's own load.

    Raises:
        SpecError: What the engine finds wrong with the plan.
    """
    size = _size(plan, plan["arrays"][array], checked)
    alone: Plan = {**plan, "workloads": []}
    return Bridge(checked.title, plan["seed"], size, array, alone, remedy(checked))


def _array(checked: Scenario, plan: Plan, wanted: str | None) -> int:
    names = [array["name"] for array in plan["arrays"]]
    if wanted is None:
        return 0
    if wanted not in names:
        allowed = f"an array of the scenario: {', '.join(names)}"
        raise SpecError([Fault("--array", wanted, allowed, names, checked.path)])
    return names.index(wanted)


def _size(plan: Plan, array: ArrayPlan, checked: Scenario) -> int:
    sizes = capacities(plan, checked)
    drives = [sizes[drive] for drive in array["drives"]]
    return usable_bytes(facts_of(array), array["stripe_unit_bytes"], drives)


def find_fio() -> str:
    """The system's own fio: the first on the path that is not `raidlab-fio` under its name.

    Raises:
        SpecError: There is none.
    """
    stand_ins = {_real(name) for name in (sys.argv[0], shutil.which("raidlab-fio")) if name}
    for folder in os.get_exec_path():
        fio = shutil.which("fio", path=folder)
        if fio is not None and _real(fio) not in stand_ins:
            return fio
    raise SpecError([Fault("fio", None, f"not found; {INSTALL}")])


def _real(path: str) -> str:
    return os.path.realpath(path)


def run(system: Callable[[], Bridge], words: Sequence[str], default_format: str | None) -> int:
    """Runs fio with these arguments on a simulated system; its exit code.

    fio's output goes where fio would put it; JSON has the system's name and seed, and what was
    changed in the jobs, under `raidlab`. Notes go to standard error too, unless fio is stood in for
    and they are in the JSON: some callers take every word there for a failure.

    Args:
        system: Makes the simulated system; not called where fio does no I/O.
        words: fio's command line without the program's name.
        default_format: The `--output-format` if none is given; None to stand in for fio.

    Raises:
        SpecError: No fio, or a job that no simulated system can serve.
    """
    fio = find_fio()
    line = command_line.split(words, command_line.job_options(fio))
    if line.alone not in (None, "parse-only"):
        _refuse_loading(line)
        return _exit_code(subprocess.run([fio, *words], check=False).returncode)
    simulated = system()
    with tempfile.TemporaryDirectory(prefix="raidlab-fio-") as name:
        folder = Path(name)
        given = _given(line)
        jobs, notes = _jobs(line, given, simulated.size_bytes)
        notes[:0] = line.left_out
        code = _check(fio, line, given, folder)
        if code != 0 or line.alone is not None:
            return code
        run = _Run(line, jobs, notes, folder, default_format)
        if default_format is not None or not run.is_json:
            say_notes(notes)
        return _run(fio, simulated, run)


@dataclass(frozen=True)
class _Run:
    """A run of fio that is about to begin."""

    line: CommandLine
    jobs: Sequence[Sequence[Section]]
    """The sections that run: those of fio's command line, then a list for each job file."""
    notes: Sequence[str]
    """What was changed that a reader should know."""
    folder: Path
    """For what the run needs."""
    default_format: str | None

    @property
    def form(self) -> str | None:
        """How fio writes its results; None for its own default."""
        minimal = any(
            word.startswith(("--minimal", "--append-terse")) for word in self.line.program
        )
        return self.line.value("output-format") or (None if minimal else self.default_format)

    @property
    def is_json(self) -> bool:
        """True if JSON is among what fio writes."""
        return self.form is not None and "json" in self.form


def _refuse_loading(line: CommandLine) -> None:
    """Engines that fio would load from a file: their code would run.

    Raises:
        SpecError: One is named.
    """
    sections = [*line.sections, *(each for name in line.files for each in fio_jobs.read(name))]
    named = [("ioengine", section.get("ioengine") or "") for section in sections]
    named += [("--enghelp", value.partition(",")[0]) for value in line.values("enghelp")]
    faults = [
        Fault(key, engine, f"an engine of fio's own: {engine} is loaded from a file")
        for key, engine in named
        if engines.name_of(engine) == "external"
    ]
    if faults:
        raise SpecError(faults)


@dataclass(frozen=True)
class _Given:
    """The sections of fio's command line, or of a job file, as they were read."""

    name: str
    """The file; empty for the command line."""
    sections: Sequence[Section]


def _given(line: CommandLine) -> list[_Given]:
    """The command line's sections, then those of each job file, without what `--section` omits.

    Raises:
        SpecError: A file cannot be read, or no section has a name of `--section`.
    """
    read = [_Given("", line.sections), *(_Given(name, fio_jobs.read(name)) for name in line.files)]
    wanted = line.values("section")
    every = [section for each in read for section in each.sections]
    if faults := fio_jobs.unknown_sections(every, wanted):
        raise SpecError(faults)
    return [_Given(each.name, fio_jobs.selected(each.sections, wanted)) for each in read]


def _jobs(
    line: CommandLine, given: Sequence[_Given], size_bytes: int
) -> tuple[list[list[Section]], list[str]]:
    """The sections as they run, and notes.

    The command line's sections are the first of those that run.
    Options on the line hold for the first job file, as with fio; it starts later ones anew.

    Raises:
        SpecError: What no simulated system can serve, in all of them.
    """
    of_line = given[0].sections
    first = given[1] if len(given) > 1 else _Given("", [])
    runs = [_Given(first.name, [*of_line, *first.sections]), *given[2:]]
    faults: list[Fault] = []
    jobs: list[list[Section]] = []
    notes: list[str] = []
    for each in runs:
        try:
            changed, said = simulate(each.sections, each.name, size_bytes)
        except SpecError as error:
            faults += error.faults
            continue
        jobs.append(changed)
        notes += said
    if (output := line.value("output")) and (allowed := why_no_output(Path(output))):
        faults.append(Fault("--output", output, allowed))
    if faults:
        raise SpecError(faults)
    split = len(of_line)
    return [jobs[0][:split], *([jobs[0][split:]] if line.files else []), *jobs[1:]], notes


_NOT_CHECKED = frozenset({*OF_THIS_MACHINE, "directory", "opendir"})
"""Options whose values fio looks for on this machine, where nothing of them is."""


def _check(fio: str, line: CommandLine, given: Sequence[_Given], folder: Path) -> int:
    """Lets fio itself look at options and values, as they were given; its exit code."""
    words: list[str] = []
    files = []
    for number, each in enumerate(given):
        sections = [
            Section(section.name, [(k, v) for k, v in section.options if not _is_elsewhere(k)])
            for section in each.sections
        ]
        if number == 0:
            words = command_line.words(sections)
            continue
        files.append(folder / f"given-{number}.fio")
        files[-1].write_text(fio_jobs.write(sections), encoding="utf-8")
    program = [
        word for word in line.program if not word.startswith(("--output=", "--section=", "--parse"))
    ]
    command = [fio, "--parse-only", *program, *words, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(printable_lines(done.stdout + done.stderr))
    return done.returncode


def _is_elsewhere(key: str) -> bool:
    return fio_jobs.ALIASES.get(key, key) in _NOT_CHECKED


def _run(fio: str, system: Bridge, run: _Run) -> int:
    setup = run.folder / "system.json"
    content = any(needs_content(section) for sections in run.jobs for section in sections)
    report = run.folder / "report.json"
    setup.write_text(json.dumps(system.setup(report, content=content)), encoding="utf-8")
    files = []
    for number, sections in enumerate(run.jobs[1:]):
        files.append(run.folder / f"job-{number}.fio")
        files[-1].write_text(fio_jobs.write(sections), encoding="utf-8")
    program = [
        word for word in run.line.program if not word.startswith(("--output-format=", "--section="))
    ]
    output = run.line.value("output")
    for note in new_folders([Path(output)] if output and run.is_json else []):
        print(f"note: {note}", file=sys.stderr)  # noqa: T201
    program += [] if run.form is None else [f"--output-format={run.form}"]
    written = run.folder / "output"
    if run.is_json:
        program = [word for word in program if not word.startswith("--output=")]
        program.append(f"--output={written}")
    environment = os.environ | {"LD_PRELOAD": str(library()), "RAIDLAB_FIO_PLAN": str(setup)}
    # fio looks there for a file that asks for its status, and removes it.
    environment["TMPDIR"] = str(run.folder)
    command = [fio, *program, *command_line.words(run.jobs[0]), *map(str, files)]
    code = _call(command, environment)
    found = _seen(report, system)
    if run.default_format is not None or not run.is_json:
        say_notes(found)
    run = replace(run, notes=[*run.notes, *found])
    if run.is_json and written.exists():
        _hand_over(written.read_text(encoding="utf-8"), system, run)
    return code


def _seen(report: Path, system: Bridge) -> list[str]:
    """Notes if SSDs were read where nothing was ever written, or became too warm."""
    if not report.exists():
        return []
    seen = json.loads(report.read_text(encoding="utf-8"))
    notes = unwritten_note(system.name, [seen["read"]], system.remedy)
    if seen["throttled"]:
        notes.append(throttled_note(system.name, *seen["throttled"]))
    return notes


def say_notes(notes: Sequence[str]) -> None:
    """What a user should know of the run, on standard error."""
    for note in notes:
        print(f"note: {printable(note)}", file=sys.stderr)  # noqa: T201


def _call(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs fio; what would end this process ends fio, which still writes its results."""
    with subprocess.Popen(command, env=environment) as process:
        # Ctrl-C on a terminal reaches fio by itself.
        handlers: Mapping[signal.Signals, Callable[..., object]] = {
            signal.SIGINT: lambda *_: None,
            signal.SIGTERM: lambda *_: process.terminate(),
        }
        former = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            code = process.wait()
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
    return _exit_code(code)


def _exit_code(code: int) -> int:
    """As a shell counts: 128 and the signal for what a signal ended."""
    return code if code >= 0 else 128 - code


def _hand_over(text: str, system: Bridge, run: _Run) -> None:
    """Writes fio's results, each JSON document with the system's name and seed."""
    if run.form in ("json", "json+"):
        start = max(text.find("{"), 0)
        if text[:start].strip():
            print(printable_lines(text[:start].strip()), file=sys.stderr)  # noqa: T201
        text = text[start:]
    about = json.dumps({"name": system.name, "seed": system.seed, "notes": list(run.notes)})
    text = _FORCED.sub("", text)
    text = _DOCUMENT.sub(lambda _: f'{{\n  "raidlab" : {about},\n', text)
    output = run.line.value("output")
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(Path(output), text)
