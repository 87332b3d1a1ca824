"""fio's jobs on a simulated system without fio: the engine itself is the load.

Described in `docs/how-to/run-fio.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from raidlab.calibration.fio import command_line
from raidlab.calibration.fio.virtual import DEFAULT
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.files import write_file
from raidlab.devices.printable import printable
from raidlab.devices.schema import read_toml
from raidlab.scenarios import _engine
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.jobfile import Section
from raidlab.scenarios.fio.options import KNOWN
from raidlab.scenarios.fio.report import fio_json
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.engine_faults import RefusedError, plan_faults
from raidlab.scenarios.running.simulate import run_plans

FORMATS = ("json", "json+")


def run_native(
    name: str,
    sections: Sequence[Section],
    *,
    scenario: Path | None = None,
    device: str | None = None,
    array: str | None = None,
    seed: int | None = None,
    bins: bool = True,
) -> dict[str, Any]:
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
    tree: dict[str, Any] = dict(DEFAULT if scenario is None else read_toml(scenario))
    if device is not None:
        drives = [{"model": device, "count": 1}]
        tree = {"title": device, "array": [{"name": "drive", "level": "jbod", "drives": drives}]}
    tree["workload"] = [{"name": "fio", "target": _target(tree, array), "fio": name}]
    tree["run"] = {
        key: value
        for key, value in dict(tree.get("run", {})).items()
        if key not in ("duration", "warm_up", "max_ios", "precision")
    }
    checked = build_scenario(tree, scenario, sections=sections)
    plan = checked.plan(0, 0, seed)
    finished: dict[int, str] = {}
    try:
        run_plans([json.dumps(plan)], finished)
    except RefusedError as refused:
        raise SpecError(plan_faults(refused.error, checked)) from None
    threads = json.loads(finished[0])["threads"]
    for thread, asked in zip(threads, plan["jobs"]["threads"], strict=True):
        thread["depth"] = asked["depth"]["depth"]
    about = {
        "name": checked.title,
        "seed": plan["seed"],
        "notes": list(checked.warnings),
        "version": _engine.version(),
    }
    return fio_json(checked.jobs[0], threads, about, bins=bins)


def _target(tree: Mapping[str, Any], wanted: str | None) -> str:
    names = [str(array.get("name") or f"array-{at}") for at, array in enumerate(tree["array"])]
    if wanted is None:
        return names[0]
    if wanted not in names:
        allowed = f"an array of the scenario: {', '.join(names)}"
        raise SpecError([Fault("--array", wanted, allowed, names)])
    return wanted


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
        if not word.startswith(("--output", "--eta"))
    ]
    if form not in FORMATS:
        faults.append(Fault("--output-format", form, f"one of {', '.join(FORMATS)}", FORMATS))
    if len(line.files) > 1:
        faults.append(Fault("job file", " ".join(line.files), "one at a time with --native"))
    if faults:
        raise SpecError(faults)
    sections = [*line.sections, *(each for name in line.files for each in jobfile.read(name))]
    name = line.files[0] if line.files else "command line"
    found = run_native(
        name,
        sections,
        scenario=scenario,
        device=device,
        array=array,
        seed=seed,
        bins=form == "json+",
    )
    for note in found["raidlab"]["notes"]:
        print(f"note: {printable(note)}", file=sys.stderr)  # noqa: T201
    text = json.dumps(found, indent=2) + "\n"
    output = line.value("output")
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(Path(output), text)
    return all(job["error"] == 0 for job in found["jobs"])
