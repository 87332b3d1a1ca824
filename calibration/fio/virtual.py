"""The system's own fio on a simulated system, in virtual time.

fio itself is not changed: a preloaded library (`calibration/fio_bridge`) stands in for the
device and for the clock. Described in `docs/how-to/run-fio.md`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raidlab.calibration.fio import jobs as fio_jobs
from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.arrays import usable_bytes
from raidlab.scenarios.planning.scenario import Scenario, build_scenario, load_scenario

DEFAULT: Mapping[str, Any] = {
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
    plan: Mapping[str, Any]
    """The engine's plan."""

    def setup(self, groups: Sequence[int] = ()) -> dict[str, Any]:
        """What the library reads; `groups`: see `fio_jobs.groups`."""
        return {
            "size_bytes": self.size_bytes,
            "array": self.array,
            "groups": list(groups),
            "plan": dict(self.plan),
        }

    def describe(self) -> dict[str, Any]:
        """What the collector asks for."""
        return {
            "name": self.name,
            "seed": self.seed,
            "size_bytes": self.size_bytes,
            "filename": fio_jobs.ARRAY_FILE,
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
        raise SpecError([Fault("", None, "raidlab was installed without its bridge to fio")])
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
    checked = build_scenario(DEFAULT) if scenario is None else load_scenario(scenario)
    plan = checked.plan(0, 0, seed)
    return of_plan(plan, _array(checked, plan, array), checked)


def of_plan(plan: Mapping[str, Any], array: int, checked: Scenario) -> Bridge:
    """The simulated system of a plan of `checked`, without the plan's own load.

    Raises:
        SpecError: What the engine finds wrong with the plan.
    """
    size = _size(plan, plan["arrays"][array], checked.path)
    return Bridge(checked.title, plan["seed"], size, array, {**plan, "workloads": []})


def _array(checked: Scenario, plan: Mapping[str, Any], wanted: str | None) -> int:
    names = [array["name"] for array in plan["arrays"]]
    if wanted is None:
        return 0
    if wanted not in names:
        allowed = f"an array of the scenario: {', '.join(names)}"
        raise SpecError([Fault("--array", wanted, allowed, names, checked.path)])
    return names.index(wanted)


def _size(plan: Mapping[str, Any], array: Mapping[str, Any], path: str) -> int:
    try:
        capacities = json.loads(_engine.capacities(json.dumps(plan)))
    except _engine.PlanError as error:
        raise SpecError(
            Fault(key, value, allowed, (), path) for key, value, allowed in error.args[0]
        ) from None
    drives = [capacities[drive] for drive in array["drives"]]
    return usable_bytes(array["level"], array["stripe_unit_bytes"], drives)


def run(system: Bridge, words: Sequence[str]) -> int:
    """Runs fio with these arguments on the system; its exit code.

    fio's JSON goes where fio would put it, with the system's name and seed under `raidlab`.

    Raises:
        SpecError: No fio, or a job that no simulated system can serve.
    """
    fio = shutil.which("fio")
    if fio is None:
        raise SpecError([Fault("fio", None, f"not found; {INSTALL}")])
    program, files, given = fio_jobs.split_command_line(words)
    jobs: list[fio_jobs.Section] = []
    for file in files:
        jobs += fio_jobs.read(file)
    jobs, notes = fio_jobs.simulate(jobs + given, " ".join(map(str, files)), system.size_bytes)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    output = _option(program, "output")
    form = _option(program, "output-format")
    if form is None and "--minimal" not in program:
        form = "json+"
    program = [
        word for word in program if not word.lstrip("-").startswith(("output=", "output-format="))
    ]
    with tempfile.TemporaryDirectory(prefix="raidlab-fio-") as folder:
        job, setup = Path(folder, "job.fio"), Path(folder, "system.json")
        job.write_text(fio_jobs.write(jobs), encoding="utf-8")
        setup.write_text(json.dumps(system.setup(fio_jobs.groups(jobs))), encoding="utf-8")
        written = Path(folder, "output")
        command = [fio, *program, f"--output={written}"]
        command += [] if form is None else [f"--output-format={form}"]
        environment = os.environ | {"LD_PRELOAD": str(library()), "RAIDLAB_FIO_PLAN": str(setup)}
        code = subprocess.run([*command, str(job)], env=environment, check=False).returncode
        text = written.read_text(encoding="utf-8") if written.exists() else ""
    if form is not None and "json" in form:
        text = _named(text, system)
    if output is None:
        sys.stdout.write(text)
    else:
        Path(output).write_text(text, encoding="utf-8")
    return code


def _option(words: Sequence[str], name: str) -> str | None:
    for word in reversed(words):
        key, equals, value = word.lstrip("-").partition("=")
        if key == name and equals:
            return value
    return None


def _named(text: str, system: Bridge) -> str:
    """Fio's JSON with the system's name and seed; text before it goes to standard error."""
    start = text.find("{")
    if start < 0:
        return text
    if text[:start].strip():
        print(text[:start].strip(), file=sys.stderr)
    document, end = json.JSONDecoder().raw_decode(text[start:])
    document["raidlab"] = {"name": system.name, "seed": system.seed}
    return json.dumps(document, indent=2) + text[start + end :]
