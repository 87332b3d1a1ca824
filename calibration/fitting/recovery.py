"""Parameters given back: devices of known parameters, measured in the simulation, calibrated.

    python -m raidlab.calibration.fitting.recovery --kinds hdd,ssd --count 20

For each kind random devices are drawn, each measured as fio would under another seed than the fit
uses, and calibrated from the kind's template. Counted is how often the true value lies in the 95 %
interval of the parameters that the fit calls identifiable. With --fio, fio itself measures drives
on the simulated system: one job of 4 KiB at depths 1, 8 and 64.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.estimation.decision import Decision
from raidlab.calibration.fitting.estimation.stages import Settings, Task
from raidlab.calibration.fitting.estimation.start import base_of, host_of, system_of
from raidlab.calibration.fitting.parameters.kinds import kind_of, start_of
from raidlab.calibration.fitting.parameters.parameter import Choice
from raidlab.calibration.fitting.recovery_fio import measure_by_fio
from raidlab.calibration.fitting.search.minimise import ENDLESS
from raidlab.calibration.measurements.measurement import (
    WINDOWS,
    Latency,
    Measurement,
    Point,
    Side,
    Step,
    seconds_of,
)
from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Tree, Value, get, put
from raidlab.scenarios.results import markdown

_MIDDLE = (0.15, 0.85)
_MEASURED = Effort(ios=40_000, ios_of_slow=8000, rounds=40.0, programs=200.0, seed=1_000)
_TRIAL_EFFORT = Effort(ios=1000, ios_of_slow=500)
SYSTEMS = Path(__file__).parent / "parameters" / "systems"
_NO_CHOICE = Choice({}, frozenset(), {})
_FEW_DEPTHS = (1, 4, 16, 64)
_SOME = (1, 8, 64, 512)


@dataclass(frozen=True)
class Case:
    """What is drawn and fitted."""

    name: str
    kind: str
    host: str = ""
    """The kind's usual one if empty."""
    depths: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    jobs: tuple[int, ...] = (1, 4)
    blocks: tuple[int, ...] = (4096,)
    directions: tuple[str, ...] = ("randread", "randwrite")
    seconds: float = 0.0
    """How long each load lasts, where rates over time are compared."""
    system: str = ""
    """File in `SYSTEMS`, for kinds that need a system."""
    known: Mapping[str, Value] = field(default_factory=dict)
    """Values of the device file that are given to the fit."""
    choice: Choice = _NO_CHOICE
    around: Mapping[str, float] = field(default_factory=dict)
    """True values of keys that begin so lie within this factor of what is usual."""


CASES: Mapping[str, Case] = {
    "station": Case("station", "station"),
    "hdd": Case(
        "hdd",
        "hdd",
        depths=(1, 2, 4, 8, 16, 32),
        jobs=(1,),
        around={"seek.read.average": 1.3},
    ),
    "ssd": Case("ssd", "ssd", depths=_FEW_DEPTHS, around={"host.": 1.15}),
    "nvme": Case("nvme", "nvme", depths=_FEW_DEPTHS, around={"host.": 1.15}),
    "nvme-blocks": Case(
        "nvme-blocks", "nvme", depths=_FEW_DEPTHS, blocks=(4096, 65536), around={"host.": 1.15}
    ),
    "host": Case("host", "host", system="host.toml", jobs=(1,), around={"": 3.0}),
    "controller": Case("controller", "controller", system="controller.toml", depths=_SOME),
    "controller-parity": Case(
        "controller-parity",
        "controller",
        system="controller-parity.toml",
        depths=(1, 8, 32),
        jobs=(4,),
        blocks=(4096, 1 << 20),
    ),
    "os-raid": Case(
        "os-raid", "os-raid", system="os-raid.toml", depths=_FEW_DEPTHS, blocks=(4096, 65536)
    ),
    "write-cache": Case(
        "write-cache",
        "write-cache",
        system="write-cache.toml",
        depths=(1, 32),
        jobs=(1,),
        blocks=(4096, 65536),
        directions=("randwrite",),
        seconds=12.0,
        known={"cache.size": "128 MiB"},
    ),
    "tier": Case(
        "tier",
        "tier",
        system="tier.toml",
        depths=(32,),
        jobs=(1,),
        blocks=(65536,),
        seconds=600.0,
        around={"tier.promote_after": 2.5, "tier.lookup": 3.0, "tier.half_life": 10.0},
    ),
}


@dataclass(frozen=True)
class Recovered:
    """How one parameter of one device came back."""

    case: str
    trial: int
    key: str
    true_value: str
    fitted: str
    """What the fit found, with its interval."""
    is_identifiable: bool
    is_covered: bool
    """True if the interval holds the true value, or the mode of operation is the true one."""
    rates_pct: float = 0.0
    """How far the fitted device's rates are off those measured, in the median of the loads."""


def load(rw: str, depth: int, jobs: int = 1, bs: int = 4096, seconds: float = 0.0) -> Point:
    """A load, with placeholders for what is measured; over time if it lasts `seconds`."""
    side = Side(iops=1000.0, ios=1, latency_mean_us=1.0, completion=Latency(mean_us=1.0))
    return Point(
        name=f"{rw}-{bs}-{depth}-{jobs}",
        rw=rw,  # type: ignore[arg-type]
        read_share=1.0 if rw == "randread" else 0.0,
        bs=bs,
        iodepth=depth,
        numjobs=jobs,
        read=side if rw == "randread" else None,
        write=None if rw == "randread" else side,
        timeline=_steps([0.0] * WINDOWS, seconds) if seconds else (),
    )


def _steps(rates: Sequence[float], seconds: float) -> tuple[Step, ...]:
    return tuple(
        Step(t_s=part * seconds / len(rates), iops=rate) for part, rate in enumerate(rates)
    )


def measure(
    bench: Bench, loads: Sequence[Point], name: str, effort: Effort = _MEASURED
) -> Measurement:
    """What fio would have measured on a bench."""
    points = []
    for point in loads:
        # A first look, so that the run is as long as the rate wants it.
        seen = bench.run(point if point.timeline else _with(point, bench, _TRIAL_EFFORT), effort)
        latency = seen.read or seen.write
        if latency is None:
            raise AssertionError("a load that moves data")
        side = Side(iops=seen.iops, ios=1, latency_mean_us=seen.latency_mean_us, completion=latency)
        name_of = "read" if point.read else "write"
        share = seen.cpu_us * seen.iops / 1e6 / point.numjobs
        line = _steps(seen.rates, seconds_of(point)) if point.timeline else ()
        found = {name_of: side, "cpu_share": min(1.0, share), "timeline": line}
        points.append(point.model_copy(update=found))
    return Measurement(name=name, points=tuple(points))


def _with(point: Point, bench: Bench, effort: Effort) -> Point:
    """The point with the rate that it has on the bench, roughly."""
    rate = bench.run(point, effort).iops
    name = "read" if point.read else "write"
    side = getattr(point, name).model_copy(update={"iops": rate})
    return point.model_copy(update={name: side})


def through_fio(case: Case) -> Case:
    """The case as fio measures it: one job of 4 KiB at three depths."""
    return replace(case, depths=(1, 8, 64), jobs=(1,), blocks=(4096,))


def recover(
    case: Case, trial: int, workers: int = 1, *, by_fio: bool = False, budget: int = ENDLESS
) -> list[Recovered]:
    """Draws, measures and calibrates one device.

    Args:
        case: What is drawn and fitted.
        trial: Which draw.
        workers: Threads of the fit.
        by_fio: True if fio measures the drive on the simulated system, else the bench does.
        budget: Evaluations of the fit.
    """
    draws = np.random.default_rng([trial, len(case.name), ord(case.name[0])])
    kind = kind_of(case.kind)
    settings = Settings(
        kind=case.kind,
        host=case.host or ("" if case.system else kind.host),
        system=str(SYSTEMS / case.system) if case.system else "",
        choice=case.choice,
        overrides=case.known,
        budget=budget,
        leave_out=False,
        workers=workers,
        seed=1 + trial,
    )
    system = system_of(kind, settings)
    tree, _ = base_of(kind, settings, case.name, system)
    host = host_of(kind, settings, system)
    loads = [
        load(rw, depth, jobs, block, case.seconds)
        for rw in case.directions
        for block in case.blocks
        for jobs in case.jobs
        for depth in case.depths
    ]
    task = Task(kind, host, tuple(loads), settings, None, system)
    settled: set[str] = set()
    for mode in kind.modes:
        option = mode.options[int(draws.integers(len(mode.options)))]
        tree = _put_all(_put_all(tree, option.usual), option.values)
        settled |= set(option.values)
    model = task.model(tree, frozenset(settled))
    parameters = model.parameters
    for _ in range(100):
        place = draws.uniform(*_MIDDLE, size=len(parameters))
        for index, parameter in enumerate(parameters):
            for prefix, factor in case.around.items():
                if parameter.key.startswith(prefix):
                    near = start_of(parameter, tree, host) * factor ** float(draws.uniform(-1, 1))
                    place[index] = parameter.place(near)
        try:
            bench = model.bench(place)
            bench.run(loads[0], _TRIAL_EFFORT)
        except SpecError:
            # A seek curve that falls, for one.
            continue
        break
    true_values = {p.key: p.value(float(x)) for p, x in zip(parameters, place, strict=True)}
    name = f"{case.name} {trial}"
    if by_fio:
        device, machine, _ = model.files(place)
        measurement = measure_by_fio(device, machine, loads, name, _MEASURED.seed + trial)
        true_values |= {"state.mapped": 1.0} if "state.mapped" in true_values else {}
    else:
        measurement = measure(bench, loads, name)
    result = calibrate(measurement, settings)
    off = statistics.median(abs(row.error_pct) for row in result.rows)
    found = [
        *(_of_mode(case, trial, decision, tree) for decision in result.decisions),
        *(
            _of_estimate(case, trial, e, true_values)
            for e in result.fit.estimates
            if _key(e) in true_values
        ),
    ]
    return [replace(each, rates_pct=off) for each in found]


def _key(estimate: Estimate) -> str:
    return estimate.parameter.key


def _of_estimate(
    case: Case, trial: int, estimate: Estimate, true_values: Mapping[str, float]
) -> Recovered:
    true_value = true_values[_key(estimate)]
    slack = 1e-9 * abs(true_value)
    return Recovered(
        case.name,
        trial,
        _key(estimate),
        f"{true_value:.4g}",
        f"{estimate.value:.4g}, {estimate.low:.4g} to {estimate.high:.4g}",
        estimate.identifiable,
        estimate.low - slack <= true_value <= estimate.high + slack,
    )


def _of_mode(case: Case, trial: int, decision: Decision, tree: Mapping[str, Value]) -> Recovered:
    """A mode of operation: called identifiable if no other option meets the points as well."""
    key = decision.mode.name
    true_value, found = get(tree, key), decision.option.values[key]
    return Recovered(
        case.name, trial, key, str(true_value), str(found), not decision.rivals, true_value == found
    )


def _put_all(tree: Tree, option: Mapping[str, Value]) -> Tree:
    changed = copy.deepcopy(tree)
    for key, value in option.items():
        if get(changed, key) is not None:
            put(changed, key, value)
    return changed


def table(found: Sequence[Recovered]) -> str:
    """Markdown: for each kind how many intervals hold the true value."""
    lines = markdown.table(
        "kind | devices | parameters | called identifiable | true value inside | share"
        " | rates off, worst device"
    )
    for case in dict.fromkeys(one.case for one in found):
        of = [one for one in found if one.case == case]
        determined = [one for one in of if one.is_identifiable]
        covered = sum(one.is_covered for one in determined)
        devices = len({one.trial for one in of})
        share = f"{100 * covered / len(determined):.0f} %" if determined else "-"
        off = f"{max(one.rates_pct for one in of):.1f} %"
        lines.append(markdown.row((case, devices, len(of), len(determined), covered, share, off)))
    return "\n".join(lines)


def main() -> None:
    """Prints the table, and every interval that misses the true value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(CASES))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first device's number")
    parser.add_argument("--fio", action="store_true", help="measured by fio: drives alone")
    arguments = parser.parse_args()
    found: list[Recovered] = []
    for name in arguments.kinds.split(","):
        case = through_fio(CASES[name]) if arguments.fio else CASES[name]
        if arguments.fio and case.system:
            parser.error(f"--fio measures drives alone, and {name} stands in a system")
        begun = time.process_time()
        for trial in range(arguments.first, arguments.first + arguments.count):
            new = recover(case, trial, os.cpu_count() or 1, by_fio=arguments.fio)
            found += new
            for one in new:
                if one.is_identifiable and not one.is_covered:
                    print(
                        f"{name} {trial}: {one.key} is {one.true_value}, fitted {one.fitted}",
                        flush=True,
                    )
        print(f"{name}: {time.process_time() - begun:.0f} s of CPU", flush=True)
        print(table(found), flush=True)


if __name__ == "__main__":
    main()
