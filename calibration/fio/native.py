"""fio's jobs on a simulated system without fio: the engine itself is the load.

Described in `docs/how-to/run-fio.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from raidlab.calibration.fio import command_line
from raidlab.calibration.fio.virtual import DEFAULT, say_notes
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import new_folders, write_file
from raidlab.scenarios import _engine
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.jobfile import Section
from raidlab.scenarios.fio.options import KNOWN
from raidlab.scenarios.fio.report import About, FioDocument, JobSlowIo, fio_json
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.diagnostics.judges import DRIVES, warnings_of
from raidlab.scenarios.results.diagnostics.observed import Observed
from raidlab.scenarios.results.slow_cause import cause
from raidlab.scenarios.running.details import plan_of
from raidlab.scenarios.running.engine_faults import RefusedError, plan_faults
from raidlab.scenarios.running.simulate import rows_of, run_plans
from raidlab.scenarios.spec.run_result import RunResult, WorkloadResult
from raidlab.scenarios.spec.trees import DrivesTree, ScenarioTree
from raidlab.scenarios.spec.written import run_without, scenario_tree

FORMATS = ("json", "json+")
SLOWEST = 100
"""I/Os that the document lists with what they waited for."""


def run_native(
    name: str,
    sections: Sequence[Section],
    *,
    scenario: Path | None = None,
    device: str | None = None,
    array: str | None = None,
    seed: int | None = None,
    bins: bool = True,
) -> FioDocument:
    """Fio's JSON of the jobs of one file.

    Args:
        name: The job file, for messages.
        sections: What it holds.
        scenario: The system; its own workloads do not run. One 7200 rpm disk without it.
        device: A drive of the catalogue, or a device file, in place of a scenario.
        array: The array that stands for devices; the first by default.
        seed: Replaces the scenario's own.
        bins: With the buckets of the distributions.

    Raises:
        SpecError: Everything that is wrong with the scenario or the jobs.
    """
    if scenario is not None and device is not None:
        allowed = "left out: a scenario says which drives there are"
        raise SpecError([Fault("--device", device, allowed)])
    tree = DEFAULT.copy() if scenario is None else scenario_tree(scenario)
    if device is not None:
        drives: list[DrivesTree] = [{"model": device, "count": 1}]
        tree = {"title": device, "array": [{"name": "drive", "level": "jbod", "drives": drives}]}
    tree["workload"] = [{"name": "fio", "target": _target(tree, array), "fio": name}]
    tree["run"] = run_without(tree, ("duration", "warm_up", "max_ios", "precision"))
    checked = build_scenario(tree, scenario, sections=sections)
    plan = checked.plan(0, 0, seed)
    plan["details"] = plan_of(slowest=SLOWEST)
    finished: dict[int, str] = {}
    try:
        run_plans([json.dumps(plan)], finished)
    except RefusedError as refused:
        raise SpecError(plan_faults(refused.error, checked)) from None
    outcome: RunResult = json.loads(finished[0])
    rows = rows_of(checked, 0, 0, outcome)
    about: About = {
        "name": checked.title,
        "seed": plan["seed"],
        "notes": [*checked.warnings, *warnings_of(Observed(rows, checked), DRIVES)],
        "version": _engine.version(),
        "slowest": _slowest(checked.jobs[0].loads, outcome["workloads"]),
    }
    return fio_json(checked.jobs[0], outcome["threads"], about, bins=bins)


def _slowest(jobs: Sequence[str], workloads: Sequence[WorkloadResult]) -> list[JobSlowIo]:
    """The slowest I/Os of all jobs, the slowest first."""
    found: list[JobSlowIo] = [
        {"job": name, **slow, "waited_for": cause(slow)}
        for name, workload in zip(jobs, workloads, strict=True)
        for slow in workload["slowest"] or ()
    ]
    return sorted(found, key=lambda slow: -slow["latency_us"])[:SLOWEST]


def _target(tree: ScenarioTree, wanted: str | None) -> str:
    names = [str(array.get("name") or f"array-{at}") for at, array in enumerate(tree["array"])]
    if wanted is None:
        return names[0]
    if wanted not in names:
        allowed = f"an array of the scenario: {', '.join(names)}"
        raise SpecError([Fault("--array", wanted, allowed, names)])
    return wanted


_OF_FIO = ("normal", "terse")
"""Formats that fio itself writes."""


def run_line(
    words: Sequence[str],
    *,
    scenario: Path | None = None,
    device: str | None = None,
    array: str | None = None,
    seed: int | None = None,
) -> bool:
    """Runs what fio's command line asks for and writes fio's JSON where it says.

    Returns:
        True if no job ended with an error.

    Raises:
        SpecError: Everything that is wrong with the line, the scenario or the jobs.
    """
    line = command_line.split(words, frozenset(KNOWN))
    form = line.value("output-format") or "json+"
    faults = [
        Fault(word.partition("=")[0], None, "left out: it has no effect with --native")
        for word in line.program
        if not word.startswith(("--output", "--eta", "--section="))
    ]
    if form not in FORMATS:
        allowed = f"one of {', '.join(FORMATS)}"
        if form in _OF_FIO:
            allowed += "; without --native `raidlab fio` runs fio itself, which has all its formats"
        faults.append(Fault("--output-format", form, allowed, FORMATS))
    if len(line.files) > 1:
        faults.append(Fault("job file", " ".join(line.files), "one at a time with --native"))
    if faults:
        raise SpecError(faults)
    sections = [*line.sections, *(each for name in line.files for each in jobfile.read(name))]
    wanted = line.values("section")
    if faults := jobfile.unknown_sections(sections, wanted):
        raise SpecError(faults)
    sections = jobfile.selected(sections, wanted)
    name = line.files[0] if line.files else "command line"
    output = line.value("output")
    for note in new_folders([] if output is None else [Path(output)]):
        print(f"note: {note}", file=sys.stderr)  # noqa: T201
    found = run_native(
        name,
        sections,
        scenario=scenario,
        device=device,
        array=array,
        seed=seed,
        bins=form == "json+",
    )
    found["raidlab"]["notes"][:0] = line.left_out
    say_notes(found["raidlab"]["notes"])
    text = json.dumps(found, indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(Path(output), text)
    return all(job["error"] == 0 for job in found["jobs"])
