"""What a twin is made of: a simulated system, or a file or device that fio measures."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.bench.bench import Effort, Simulated
from raidlab.calibration.fitting.bench.scenario_bench import ScenarioBench
from raidlab.calibration.measurements.collect import program
from raidlab.calibration.measurements.measurement import DIRECTIONS, Machine, Point, Side
from raidlab.calibration.twin.asks import Ask
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.spec_writer import toml_value

SECONDS: Final = 4.0
"""How long each load is measured."""
_RAMP_S: Final = 1.0
_TRIAL_EFFORT: Final = Effort(ios=300, ios_of_slow=100, rounds=2.0)
_RUN: Final = Effort(ios=20_000, ios_of_slow=4000, rounds=20.0, programs=20.0)


class Target(Protocol):
    """Something whose loads can be measured."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def writes(self) -> bool:
        """True if loads may write."""

    def measure(self, asks: Sequence[Ask], number: int) -> list[Point]:
        """Measures loads, in their order.

        Args:
            asks: The loads.
            number: Of the round.

        Raises:
            SpecError: It cannot be measured.
        """

    def machine(self) -> Machine | None:
        """What is known of the machine, after a measurement."""


@dataclass(frozen=True)
class SimulatedTarget:
    """A scenario's system in virtual time."""

    name: str
    bench: ScenarioBench
    seed: int = 1
    writes: bool = True

    def measure(self, asks: Sequence[Ask], number: int) -> list[Point]:
        """Simulates loads; each run has random numbers of its own."""
        return [self._measured(ask, self.seed + 1000 * number + at) for at, ask in enumerate(asks)]

    def machine(self) -> Machine | None:
        """The threads of the scenario's host, and what its load covers."""
        return Machine(cpus=self.bench.host.threads, capacity_bytes=self.bench.capacity)

    def _measured(self, ask: Ask, seed: int) -> Point:
        glance = self.bench.run(ask.point(), _TRIAL_EFFORT)
        if glance.iops <= 0.0:
            raise SpecError([Fault(ask.name, 0, "a load under which the system completes I/Os")])
        point = ask.point(glance.iops)
        run = self.bench.run(point, Effort(**(vars(_RUN) | {"seed": seed})))
        return _point_of(point, run)


def _point_of(point: Point, run: Simulated) -> Point:
    """A simulated load as if fio had measured it."""
    sides = {}
    for name in DIRECTIONS:
        latency = run.side(name)
        share = point.read_share if name == "read" else 1.0 - point.read_share
        if latency is not None and share > 0.0:
            sides[name] = Side(
                iops=share * run.iops, ios=max(1, round(share * run.iops * SECONDS)),
                latency_mean_us=latency.mean_us, completion=latency,
            )  # fmt: skip
    cpu = run.cpu_us * run.iops / 1e6 / point.numjobs
    update = {"cpu_share": cpu or None, "runtime_s": SECONDS, **sides}
    return point.model_copy(update=update)


@dataclass
class CollectedTarget:
    """A file or a block device that the collector measures, by its rules of safety."""

    path: str
    folder: Path
    """Where bundles go."""
    size: str = ""
    """Of a file that is made, as `--size` has it."""
    writes: bool = True
    confirmed: str = ""
    """Serial number, or NAME:BYTES, of a device that is in use or holds data; it is only read."""
    _machine: Machine | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        """The target's own path."""
        return self.path

    def measure(self, asks: Sequence[Ask], number: int) -> list[Point]:
        """Runs the collector with a plan of these loads; a finished bundle is read again."""
        plan = self.folder / f"round-{number:02}.toml"
        bundle = self.folder / f"round-{number:02}"
        plan.write_text(plan_of(asks, f"twin-{number:02}"), encoding="utf-8")
        words = [str(program()), self.path, "--plan", str(plan), "--out", str(bundle)]
        # The collector removes a file that it made: each round makes it again.
        words += ["--size", self.size] if self.size else []
        words += [] if self.writes else ["--read-only"]
        # Beside --read-only the collector writes nothing, whatever it is named.
        words += ["--destroy-data-on", self.confirmed] if self.confirmed else []
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SpecError([self._refused(done.stderr or done.stdout, done.returncode)])
        found = import_fio([bundle])
        self._machine = self._machine or found.machine
        return list(found.points)

    def _refused(self, said: str, code: int) -> Fault:
        """Why the collector measured nothing."""
        lines = [line.strip() for line in said.strip().splitlines() if line.strip()]
        allowed = "; ".join(lines[-2:]) or f"the collector ended with {code}"
        if not self.writes and not self.confirmed:
            allowed += " (`twin` only reads a device: --confirm takes what is typed)"
        return Fault("TARGET", self.path, allowed)

    def machine(self) -> Machine | None:
        """What the collector read of it."""
        return self._machine


def plan_of(asks: Sequence[Ask], name: str) -> str:
    """A plan of the collector: one step for each load."""
    lines = [
        f"name = {toml_value(name)}",
        f"title = {toml_value('Loads that tell most about a twin')}",
        'area = "4 GB"',
        "[options]",
        'size = "{area}"',
        "time_based = true",
        f'runtime = "{SECONDS:g}s"',
        f'ramp_time = "{_RAMP_S:g}s"',
        "[[stage]]",
        'name = "loads"',
    ]
    for at, ask in enumerate(asks):
        options = {"rw": ask.rw, "bs": str(ask.block), "iodepth": str(ask.depth)}
        if ask.rw == "randrw":
            options["rwmixread"] = f"{100 * ask.read_share:.0f}"
        if ask.jobs > 1:
            options |= {"numjobs": str(ask.jobs), "group_reporting": "1"}
        lines += ["[[stage.step]]", f'name = "{at:02}-{ask.name}"']
        lines.append(f"options = {toml_value(options)}")
    return "\n".join(lines) + "\n"
