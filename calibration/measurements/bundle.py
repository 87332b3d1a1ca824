"""Measurement bundles, as the collector writes them (`docs/reference/formats/bundle.md`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_bytes, read_json, read_text, unreadable

FORMAT = 1
"""The form of the manifest that is read here."""
_LARGEST_FILE = 1024 * MIB


class _Record(BaseModel):
    # A newer collector may say more than is read here.
    model_config = ConfigDict(frozen=True, extra="allow")


class Summary(_Record):
    """A step's figures in short: all jobs, both directions together."""

    iops: float
    """I/Os a second."""
    bytes_per_s: float
    latency_us: float
    """Mean latency of an I/O, submission included."""
    latency_max_us: float
    read_bytes: int
    written_bytes: int


class Rest(_Record):
    """What the device moved while fio was not running."""

    bytes: int
    seconds: float


class Noise(_Record):
    """What else the machine did during a step; None for what it does not show."""

    steal: float | None = None
    """Share of all CPUs' time that a hypervisor took."""
    other_cpu: float | None = None
    """Share of all CPUs' time that other programs used."""
    load: tuple[float | None, float | None] = (None, None)
    """Load average of one minute, before and after."""
    cpu_mhz: tuple[float, float] | None = None
    """Clock of the fastest CPU: the least sample and the mean."""
    cpu_temperature_c: tuple[float | None, float | None] = (None, None)
    """Of the hottest CPU, before and after."""
    throttled: int | None = None
    """How often a CPU was slowed down for its temperature."""
    other_bytes: int | None = None
    """Bytes that the device moved for others."""
    own_bytes: int | None = None
    """Bytes that fio moved, its ramp included."""
    rest: Rest | None = None
    """Before the step."""


class Attempt(_Record):
    """One run of a step that was measured again for its noise."""

    iops: float
    noisy: tuple[str, ...]


class Spread(_Record):
    """The rates of a step over its rounds."""

    stage: str
    step: str
    runs: int
    iops_mean: float
    iops_deviation: float
    """Standard deviation as a share of the mean."""
    iops_min: float
    iops_max: float


class Step(_Record):
    """One run of fio."""

    number: int
    name: str
    stage: str
    round: int
    purpose: Literal["layout", "purge", "measure"]
    writes: bool
    options: dict[str, str]
    """Options of fio, as strings."""
    state: Literal["pending", "done", "not_needed", "failed"]
    sha256: dict[str, str] = Field(default_factory=dict)
    """Of the step's files, by path inside the bundle."""
    start: str | None = None
    end: str | None = None
    temperature_c: tuple[float | None, float | None] | None = None
    """Of the target before and after, where it can be read."""
    noise: Noise | None = None
    noisy: tuple[str, ...] = ()
    """What of the noise was too much, in words: the figures may be off."""
    attempts: tuple[Attempt, ...] = ()
    """All runs, if it was measured again; the last one counts."""
    summary: Summary | None = None
    error: str | None = None


class Assessment(_Record):
    """SNIA's test over one window of rounds."""

    window: tuple[float, ...]
    average: float
    excursion: float
    """Greatest minus least value of the window."""
    slope: float
    """Of the fitted line, per round."""
    fit_excursion: float
    """What the fitted line rises or falls over the window."""
    steady: bool


class SteadyState(_Record):
    """The outcome of a stage's steady-state test."""

    stage: str
    tracked: str
    reached: bool
    rounds: int
    assessment: Assessment | None = None


class Target(_Record):
    """What was measured."""

    kind: Literal["file", "block", "simulated"]
    path: str
    size_bytes: int
    created: bool
    identity: Any
    """Model, hashed serial, firmware; or scenario, name and seed."""
    details: Any


class Plan(_Record):
    """The plan, whole, and how it was set to the target."""

    name: str
    sha256: str
    setting: dict[str, object]
    plan: dict[str, object]


class Manifest(_Record):
    """The bundle's table of contents."""

    format: int
    collector: str
    plan: Plan
    target: Target
    host: dict[str, object]
    kernel: str
    fio_version: str
    options: tuple[str, ...]
    start: str
    end: str | None
    sessions: tuple[str, ...]
    warnings: tuple[str, ...]
    steady_state: tuple[SteadyState, ...]
    spreads: tuple[Spread, ...] = ()
    """Of steps that were measured in several rounds."""
    rest_after: Rest | None = None
    """Behind the last step."""
    written_since: str | None = None
    """When the first step that writes began."""
    steps: tuple[Step, ...]


class Bundle:
    """An opened bundle."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @property
    def complete(self) -> bool:
        """True if every step that was needed is done."""
        return all(step.state in ("done", "not_needed") for step in self.manifest.steps)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The finished measurements in order, without laying out and purging."""
        return tuple(
            step
            for step in self.manifest.steps
            if step.state == "done" and step.purpose == "measure"
        )

    @property
    def noisy(self) -> tuple[Step, ...]:
        """The finished measurements beside which too much else went on."""
        return tuple(step for step in self.steps if step.noisy)

    def result(self, step: Step) -> dict[str, object]:
        """Fio's own JSON of a finished step.

        Raises:
            SpecError: The step has no result.
        """
        names = [name for name in step.sha256 if name.endswith(".json")]
        if not names:
            fault = Fault(f"steps.{step.number}", step.state, "a step that is done")
            raise SpecError([fault])
        file = self.folder / names[0]
        text = read_text(file, _LARGEST_FILE, "result of fio")
        try:
            found: dict[str, object] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
        except (ValueError, RecursionError) as error:
            raise unreadable(file, f"no JSON of fio: {error}") from None
        return found

    def log(self, step: Step, kind: str) -> Path | None:
        """A log of a step over time, if the plan has it.

        Args:
            step: The step.
            kind: fio's word: `lat`, `clat`, `slat`, `iops` or `bw`.
        """
        for name in step.sha256:
            if f"_{kind}." in name:
                return self.folder / name
        return None


def load_bundle(path: str | Path, *, check: bool = True) -> Bundle:
    """Opens a bundle.

    Args:
        path: The bundle's folder, or its `manifest.json`.
        check: Compare every file with its checksum.

    Raises:
        SpecError: It is no bundle, of another form, or files are missing or damaged; all of
            them are named.
    """
    folder = Path(path)
    if folder.name == "manifest.json":
        folder = folder.parent
    file = folder / "manifest.json"
    tree = read_json(file, 64 * MIB, "manifest")
    found = tree.get("format") if isinstance(tree, dict) else None
    if found != FORMAT:
        raise SpecError([Fault("format", found, f"{FORMAT}", (), str(file))])
    try:
        manifest = Manifest.model_validate(tree)
    except ValidationError as error:
        raise SpecError(
            Fault(".".join(map(str, each["loc"])), None, each["msg"], (), str(file))
            for each in error.errors()
        ) from None
    if check:
        faults = [fault for step in manifest.steps for fault in damage(folder, step.sha256)]
        if faults:
            raise SpecError(faults)
    return Bundle(folder, manifest)


def damage(folder: Path, sums: Mapping[str, str]) -> list[Fault]:
    """Files that are missing, or differ from what the collector has left.

    Args:
        folder: The bundle's.
        sums: SHA-256 in hexadecimal digits by path inside the bundle.
    """
    faults = []
    for name, wanted in sums.items():
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            faults.append(Fault("sha256", name, "not inside the bundle", (), str(file)))
            continue
        try:
            content = read_bytes(file, _LARGEST_FILE, "file of a bundle")
        except SpecError as error:
            faults += error.faults
            continue
        found = hashlib.sha256(content).hexdigest()
        if found != wanted:
            faults.append(
                Fault("sha256", found, f"damaged: the manifest has {wanted}", (), str(file))
            )
    return faults
