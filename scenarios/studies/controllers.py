"""Every controller of the catalogue under the same loads: rates over what is outstanding.

Each controller has as many drives as its ports carry, up to the number asked for, in a RAID 0, so
that what differs is the controller. Random loads go bypassing a controller's cache, sequential ones
use its read-ahead and write-back: the settings under which the 2013 report compares controllers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypedDict, get_args

from raidlab.devices.catalogue import catalogue, find_for
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.links import Interface
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.bottleneck import limit_names, limits
from raidlab.scenarios.results.diagnostics.statements import may_carry
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.findings import Code, code_of
from raidlab.scenarios.spec.loads import OUTSTANDING, PROFILES, Access, Profile
from raidlab.scenarios.spec.schema import SECTOR
from raidlab.scenarios.spec.trees import ControllerTree, ScenarioTree, WorkloadTree
from raidlab.scenarios.studies.levels import SmallWrites, per_write, small_write_cases

DRIVES: Mapping[str, Mapping[str, str]] = {
    "hdd": {"sas": "sas-6g-hdd", "sata": "sata-6g-hdd"},
    "ssd": {"sas": "sas-6g-ssd", "sata": "sata-ssd-64gb"},
}
"""The drives behind a controller, by kind and by the family of its ports."""

AREA = "32 GB"


class _Cache(TypedDict):
    """How a controller's cache is set."""

    read_ahead: Literal["none", "adaptive"]
    write: Literal["write-through", "always-write-back"]


_CACHE: Final[Mapping[Access, _Cache]] = {
    "random": {"read_ahead": "none", "write": "write-through"},
    "sequential": {"read_ahead": "adaptive", "write": "always-write-back"},
}
_LENGTHS = {
    ("hdd", "random"): ("20 s", "40 s"),
    ("hdd", "sequential"): ("3 s", "5 s"),
    ("ssd", "random"): ("300 ms", "700 ms"),
    ("ssd", "sequential"): ("2 s", "1 s"),
}
"""Warm-up and longest recording: disks until their write caches are full, flash behind a
controller's cache until that is."""
_PRECISION = "0.5 %"
"""A run ends when its rate is known so well, or at the longest recording."""


@dataclass(frozen=True)
class Curve:
    """Rates of a load over what is outstanding."""

    controller: str
    """Empty for one drive on the host."""
    kind: str
    """Of drive: hdd or ssd."""
    drive: str
    count: int
    profile: str
    outstanding: tuple[int, ...]
    iops: tuple[float, ...]
    mib_per_s: tuple[float, ...]
    bottleneck: tuple[str | None, ...]
    limits: tuple[str, ...] = ()
    """What bounds the rate, in words: a full queue where waiting for it is the longest part."""
    limit_names: tuple[tuple[str, ...], ...] = ()
    """The components that are full at each point; none where the time of one I/O bounds it."""
    carries: tuple[bool, ...] = ()
    """Whether each point may carry a statement; all of them if that is not known."""

    @property
    def places(self) -> Sequence[int]:
        """The points that may be the best: those that carry a statement, all if none does."""
        every = range(len(self.iops))
        return [at for at, carries in enumerate(self.carries) if carries] or every

    @property
    def best(self) -> int:
        """Where the rate is highest."""
        return max(self.places, key=lambda at: self.iops[at])

    @property
    def flat_from(self) -> int:
        """The first number outstanding whose rate is within 3 % of the highest."""
        enough = 0.97 * self.iops[self.best]
        return next(self.outstanding[at] for at in self.places if self.iops[at] >= enough)

    def to_dict(self) -> Document:
        """Plain data."""
        return {**vars(self), "flat_from": self.flat_from}


@dataclass(frozen=True)
class Comparison:
    """Curves of controllers."""

    drives: int
    """Drives asked for behind each."""
    curves: tuple[Curve, ...]
    alone: tuple[Curve, ...]
    """One drive on the host."""
    small_writes: tuple[SmallWrites, ...]
    """What a small write costs on each level of the controllers that have parity."""
    seed: int
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """The document of `raidlab controllers --json`."""
        return {
            "title": f"Controllers with up to {self.drives} drives, RAID 0",
            "seed": self.seed,
            "version": _engine.version(),
            "curves": [curve.to_dict() for curve in self.curves],
            "alone": [curve.to_dict() for curve in self.alone],
            "small_writes": [vars(each) for each in self.small_writes],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


@dataclass(frozen=True)
class _Case:
    """What a curve is of."""

    controller: ControllerSpec | None
    kind: str
    drive: str
    count: int
    profile: Profile

    def scenario(self, outstanding: Sequence[int]) -> Scenario:
        """Its runs."""
        access = PROFILES[self.profile].access
        warm_up, duration = _LENGTHS[self.kind, access]
        # Offsets at any sector, as the published reports have them, on drives of either kind.
        load: WorkloadTree = {"profile": self.profile, "area": AREA, "align": f"{SECTOR} B"}
        tree: ScenarioTree = {
            "host": {"model": "rx300-s7"},
            "array": [
                {
                    "level": "jbod" if self.controller is None else "raid0",
                    "drives": [{"model": self.drive, "count": self.count}],
                }
            ],
            "workload": [{**load, "outstanding": list(outstanding)}],
            "run": {
                "warm_up": warm_up,
                "duration": duration,
                "precision": _PRECISION,
                "precondition": "steady-state" if self.kind == "ssd" else "fresh",
            },
        }
        if self.controller is not None:
            made: ControllerTree = {"model": self.controller.name}
            if self.controller.cache is not None:
                cache = _CACHE[access]
                made["read_ahead"], made["write"] = cache["read_ahead"], cache["write"]
            tree["controller"] = made
        return build_scenario(tree)

    def curve(self, result: Result) -> Curve:
        """Its rates."""
        rows = result.results
        return Curve(
            controller="" if self.controller is None else self.controller.name,
            kind=self.kind,
            drive=self.drive,
            count=self.count,
            profile=self.profile,
            outstanding=tuple(row["outstanding"] for row in rows),
            iops=tuple(row["iops"] for row in rows),
            mib_per_s=tuple(row["mib_per_s"] for row in rows),
            bottleneck=tuple(row["bottleneck"] for row in rows),
            limits=tuple(limits(row) for row in rows),
            limit_names=tuple(limit_names(row) for row in rows),
            carries=tuple(may_carry(row) for row in rows),
        )


def chosen_controllers(names: Sequence[str] = ()) -> list[ControllerSpec]:
    """Controllers by name; without any all of the catalogue but those made of data sheets.

    Firmware times of the latter are assumed, which curves without intervals would not show.

    Raises:
        SpecError: A name is no controller's, or of one without RAID 0.
    """
    found = [find_for("--only", name).spec for name in names]
    faults = [
        Fault("--only", spec.name, f"a controller; this is a {spec.kind}")
        if not isinstance(spec, ControllerSpec)
        else Fault(
            "--only", spec.name, f"a controller with RAID 0; it has {', '.join(spec.levels)}"
        )
        for spec in found
        if not isinstance(spec, ControllerSpec) or "raid0" not in spec.levels
    ]
    if faults:
        raise SpecError(faults)
    specs = found or [device.spec for device in catalogue() if not device.spec.data_sheet]
    return [spec for spec in specs if isinstance(spec, ControllerSpec)]


@dataclass(frozen=True)
class Setup:
    """What stands behind each controller, and what is asked of it."""

    kinds: Sequence[str] = tuple(DRIVES)
    """Keys of `DRIVES`."""
    drives: int = 8
    """Behind each controller, as far as its ports carry them."""
    outstanding: Sequence[int] = OUTSTANDING
    """I/Os in flight (queue depths)."""
    small_writes: bool = True
    """True to compare levels as well, on controllers that have parity."""


def compare_controllers(
    controllers: Sequence[ControllerSpec],
    profiles: Sequence[Profile] = get_args(Profile),
    setup: Setup = Setup(),
    *,
    seed: int = 1,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Comparison:
    """Simulates every controller under every profile, at every number outstanding.

    Args:
        controllers: Which, of those that have RAID 0.
        profiles: Which loads.
        setup: Drives, queue depths, and whether levels are compared.
        seed: Seed of the random numbers.
        workers: Threads; the number of cores if None.
        progress: Called after every run of the engine.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: A controller, drives and loads do not fit together.
        KeyboardInterrupt: Ctrl-C.
    """
    cases = list(_cases(controllers, profiles, setup.kinds, setup.drives))
    levels = list(small_write_cases(controllers, setup.drives)) if setup.small_writes else []
    scenarios = [case.scenario(setup.outstanding) for case in cases]
    results = list(
        results_of(
            scenarios + [case.scenario() for case in levels],
            seed,
            workers=workers,
            progress=progress,
            store=store,
            heeds_past=False,
        )
    )
    curves = [case.curve(result) for case, result in zip(cases, results, strict=False)]
    return Comparison(
        drives=setup.drives,
        curves=tuple(curve for curve in curves if curve.controller),
        alone=tuple(curve for curve in curves if not curve.controller),
        small_writes=tuple(per_write(levels, results[len(cases) :])),
        seed=seed,
        warnings=tuple(
            sorted(
                warning
                for warning in {each for result in results for each in result.warnings}
                if code_of(warning) is not Code.PRECISION
            )
        ),
        breaches=tuple(sorted({breach for result in results for breach in result.breaches})),
    )


def _cases(
    controllers: Sequence[ControllerSpec],
    profiles: Sequence[Profile],
    kinds: Sequence[str],
    drives: int,
) -> Iterator[_Case]:
    for kind in kinds:
        models = DRIVES[kind]
        for profile in profiles:
            behind = [models[Interface.parse(spec.port).family] for spec in controllers]
            for spec, model in zip(controllers, behind, strict=True):
                yield _Case(spec, kind, model, min(drives, spec.drives_max), profile)
            for model in dict.fromkeys(behind):
                yield _Case(None, kind, model, 1, profile)
