"""A drive on a test bench: one device behind one host, under the load of a measured point.

The same bench serves fits and comparisons, and both see what fio saw: jobs as load threads, each
with its own depth, on the whole drive or the part of it that was loaded.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, TypedDict

from raidlab.calibration.fitting.bench import ssd_state
from raidlab.calibration.measurements.campaign import mapped_before
from raidlab.calibration.measurements.measurement import Latency, Point
from raidlab.devices.catalogue import Device
from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.host import HostSpec
from raidlab.devices.plan_types import Balance, DeviceParams, Plan, WorkloadPlan
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.host_warnings import fitted_elsewhere
from raidlab.scenarios.planning.topology import Attached, Topology, connect
from raidlab.scenarios.results.number_text import percent
from raidlab.scenarios.running.engine_faults import plan_faults
from raidlab.scenarios.running.simulate import Progress, run_stored
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec import run_result
from raidlab.scenarios.spec.run_result import Component, RunResult


@dataclass(frozen=True)
class Effort:
    """How long each point is simulated."""

    ios: int = 6000
    """I/Os recorded at least, unless the simulated rate is far below the measured one."""
    ios_of_slow: int = 1500
    """As `ios`, for drives below `slow_iops`, whose I/Os take long to simulate."""
    slow_iops: float = 2000.0
    rounds: float = 12.0
    """I/Os recorded at least for each place in the queue."""
    programs: float = 10.0
    """Programs of every die that the recorded writes take at least: those of all dies end nearly
    together, and with them the writes that wait for the buffer."""
    balance: float = 0.0
    """Share by which the I/Os in flight may differ from rate times mean latency; a run that is
    further off goes on, up to `MOST_IOS`. 0: nobody looks."""
    seed: int = 1

    def ios_for(self, point: Point) -> int:
        """I/Os to record for a point."""
        base = self.ios_of_slow if point.iops < self.slow_iops else self.ios
        return int(max(base, self.rounds * point.outstanding))


FINAL: Final = Effort(ios=8000, ios_of_slow=4000, rounds=20.0, programs=100.0, balance=0.03)
"""Of a comparison."""
MOST_IOS: Final = 500_000
"""Recorded I/Os of a run that stays out of balance."""


@dataclass(frozen=True)
class Simulated:
    """What the simulation gives for a point."""

    iops: float
    latency_mean_us: float
    read: Latency | None
    write: Latency | None
    iops_ci95: tuple[float | None, float | None]
    breakdown_us: Mapping[str, float]
    cpu_us: float
    """CPU time of an I/O in its load thread."""
    busiest: str
    """The component that worked most, with its share of the time."""
    busy: float = 0.0
    """That share."""
    link: str = ""
    """Name of that component where it is a link."""
    rates: tuple[float, ...] = ()
    """I/Os a second in each step of the recorded time, where it was simulated over time."""
    cores: int = 1
    """Hardware threads of the host."""

    def side(self, name: str) -> Latency | None:
        """Reads or writes."""
        return self.read if name == "read" else self.write

    def imbalance(self, outstanding: int) -> float:
        """How far rate times mean latency is from the I/Os in flight, as a share of these.

        Little's law makes them equal in a closed load. A run that ends before I/Os that wait for
        long have ended misses those, and its mean latency is too small. **Example.** 62,000 I/Os a
        second of 0.92 ms are 57 in flight; of 128 that is -0.55.

        Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961.
        """
        return self.iops * self.latency_mean_us / 1e6 / outstanding - 1.0


@dataclass(frozen=True)
class Bench:
    """A drive model behind a host.

    Attributes:
        device: The drive's entry in the plan, as its `to_plan` gives it.
        drive: Its queue and link.
        host: The host.
        capacity: Bytes that the drive offers, or that a scenario's load has.
        mapped: Share of a solid-state drive that contained data before the first point; the rest
            reads without touching NAND. What points write is there for those after them.
        store: Where finished runs are found again and stored, if anywhere.
    """

    device: DeviceParams
    drive: DriveSpec
    host: HostSpec
    capacity: int
    mapped: float = 1.0
    store: Store | None = None

    @staticmethod
    def of(
        drive: DriveSpec,
        host: HostSpec,
        options: DriveOptions | None = None,
        mapped: float = 1.0,
    ) -> Bench:
        """The bench of a drive as its file describes it.

        Raises:
            SpecError: The host has no port for the drive.
        """
        options = drive.beside(host.clock, options or DriveOptions())
        faults = Faults()
        connect(host, (), [Attached(drive, drive.name, "device")], faults)
        faults.raise_if_any()
        capacity = drive.capacity_bytes(options)
        return Bench(drive.to_plan(options), drive, host, capacity, mapped)

    def plan(self, point: Point, effort: Effort) -> Plan:
        """The engine's plan for a measured point.

        Raises:
            SpecError: The load does not fit on the drive.
        """
        start = area_start(point, [self.device])
        area = min(point.area_bytes or self.capacity, self.capacity - start)
        area -= area % point.bs
        if area < point.bs * point.numjobs:
            allowed = f"at least {point.numjobs} blocks; the drive offers {self.capacity} B"
            raise SpecError([Fault("area_bytes", point.area_bytes, allowed, (), point.file)])
        programs = ssd_state.ios_of_programs(self.device, point)
        ios = max(effort.ios_for(point), round(effort.programs * programs))
        mapped = mapped_before(point, self.mapped, self.capacity)
        length = length_of(point, ios, effort)
        most = ios if length["balance"] is None else length["balance"]["most_ios"]
        device, share = ssd_state.prepared(self.device, point, mapped, most)
        area = max(point.bs * point.numjobs, int(area * share) // point.bs * point.bs)
        topology = self._topology
        return {
            "seed": effort.seed,
            "warm_up_ns": warm_up_ns(point, ios, [device]),
            "duration_ns": length["duration_ns"],
            "max_ios": ios,
            "balance": length["balance"],
            "host": self.host.to_plan(),
            "links": topology.links,
            "controllers": [],
            "devices": [device],
            "drives": [
                {
                    "name": "drive",
                    "device": 0,
                    "queue_depth": self.drive.queue_depth,
                    "block_layer": self.host.block_layer.to_plan(),
                    "path": topology.paths[0],
                }
            ],
            "arrays": [
                {
                    "name": "drive",
                    "level": "jbod",
                    "stripe_unit_bytes": 65536,
                    "drives": [0],
                    "controller": None,
                    "software": False,
                }
            ],
            "workloads": [{**workload_of(point, area), "area_start_bytes": start}],
        }

    @functools.cached_property
    def _topology(self) -> Topology:
        """Its links; nobody changes them."""
        return connect(self.host, (), [Attached(self.drive, "drive", "device")], Faults())

    @property
    def has_unknown_past(self) -> bool:
        """True if `mapped` decides what reads of the drive cost."""
        return self.device["kind"] == "ssd"

    def files(self) -> Sequence[Device]:
        """Device files that the bench names itself."""
        return ()

    def doubts(self, points: Sequence[Point]) -> list[str]:
        """What a user should know of the bench beside these points."""
        return list(fitted_elsewhere(self.drive, self.host))

    def run(self, point: Point, effort: Effort) -> Simulated:
        """Simulates a point.

        Raises:
            SpecError: The drive's numbers do not fit together.
        """
        plan = self.plan(point, effort)
        try:
            text = run_stored(json.dumps(plan), self.store)
        except _engine.PlanError as error:
            raise SpecError(plan_faults(error, plan=plan)) from None
        return _simulated(json.loads(text), plan)

    def run_all(
        self,
        points: Sequence[Point],
        effort: Effort,
        workers: int = 1,
        progress: Progress | None = None,
    ) -> list[Simulated]:
        """Simulates points, several at once if there are `workers`."""
        tasks = [partial(self.run, point, effort) for point in points]
        return run_tasks(tasks, workers, progress)


class Length(TypedDict):
    """How long a plan records."""

    duration_ns: int
    max_ios: int
    balance: Balance | None


def length_of(point: Point, ios: int, effort: Effort) -> Length:
    """The length of a recording of `ios` I/Os, which goes on where it must be in balance.

    A simulated drive may be a third as fast as the measured one before time ends the recording.
    """
    balance: Balance | None = None
    most = ios
    if effort.balance:
        most = max(ios, MOST_IOS)
        balance = {"share": effort.balance, "most_ios": most}
    duration = int(3 * most / point.iops * 1e9) + 1
    return {"duration_ns": duration, "max_ios": ios, "balance": balance}


def warm_up_ns(point: Point, ios: int, devices: Iterable[DeviceParams]) -> int:
    """Simulated time before anything is recorded.

    A fifth of what is recorded, some rounds of the queue, and as many I/Os as the buffers of
    solid-state drives take in: they begin full, and what a load does not wait for is drained then.

    Args:
        point: The load.
        ios: I/Os that are recorded.
        devices: Of the plan, each as often as the load uses it.
    """
    drained = sum(ssd_state.ios_of_buffer(device, point) for device in devices)
    return int(max(0.2 * ios + 3 * point.outstanding, drained) / point.iops * 1e9)


def run_tasks(
    tasks: Sequence[Callable[[], Simulated]], workers: int, progress: Progress | None = None
) -> list[Simulated]:
    """Runs simulations on threads, which work in parallel while the engine runs."""
    if progress is None and (workers <= 1 or len(tasks) <= 1):
        return [task() for task in tasks]
    futures = [_threads(max(1, workers)).submit(task) for task in tasks]
    try:
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            if progress is not None:
                progress(done, len(tasks))
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)
        raise


@cache
def _threads(workers: int) -> ThreadPoolExecutor:
    """A fit asks for a few runs thousands of times: to start threads each time is a tenth of it."""
    return ThreadPoolExecutor(workers)


def area_start(point: Point, devices: Iterable[DeviceParams]) -> int:
    """Where a point's load begins on these devices: on flash it makes no difference."""
    disks = any(device["kind"] == "hdd" for device in devices)
    return point.area_start_bytes // point.bs * point.bs if disks else 0


def workload_of(point: Point, area: int) -> WorkloadPlan:
    """The closed load of a measured point over the first `area` bytes, as the plan has it."""
    return {
        "name": "load",
        "array": 0,
        "threads": point.numjobs,
        "access": "random" if point.rw.startswith("rand") else "sequential",
        "read_share": point.read_share,
        "block_bytes": point.bs,
        "align_bytes": point.bs,
        "area_start_bytes": 0,
        "area_bytes": area,
        "arrival": {"kind": "closed", "outstanding": point.outstanding, "think_ns": 0},
    }


def _simulated(result: RunResult, plan: Plan) -> Simulated:
    begins_s = plan["warm_up_ns"] / 1e9
    workload = result["workloads"][0]
    line = workload["timeline"]
    steps = zip(line["t_s"], line["iops"], strict=True)
    latency = workload["latency_us"]
    low, high = workload["iops_ci95"]
    work = [part for part in result["components"] if part["kind"] != "queue"]
    busiest = max(work, key=lambda part: part["utilization"], default=None)
    return Simulated(
        iops=workload["iops"],
        latency_mean_us=latency["mean"] if latency else 0.0,
        read=_latency(workload["read"]),
        write=_latency(workload["write"]),
        iops_ci95=(low, high),
        breakdown_us=workload["breakdown_us"],
        cpu_us=_cpu_us(result["components"], workload["iops"]),
        busiest=f"{busiest['name']} {percent(busiest['utilization'])}" if busiest else "",
        busy=busiest["utilization"] if busiest else 0.0,
        link=busiest["name"] if busiest and busiest["kind"] == "link" else "",
        # The step that ends when recording begins belongs to the warm-up.
        rates=tuple(rate for t, rate in steps if t > begins_s + 1e-6),
        cores=plan["host"].get("cores", 1),
    )


def _cpu_us(components: Sequence[Component], iops: float) -> float:
    shares = sum(part["utilization"] for part in components if part["kind"] == "host")
    return 1e6 * shares / iops if iops > 0 else 0.0


def _latency(side: run_result.Side) -> Latency | None:
    summary = side["latency_us"]
    if summary is None:
        return None
    # The engine's own numbers need no check.
    return Latency.model_construct(
        mean_us=summary["mean"],
        stddev_us=summary["stddev"],
        min_us=summary["min"],
        max_us=summary["max"],
        percentiles_us={
            "50": summary["p50"],
            "90": summary["p90"],
            "95": summary["p95"],
            "99": summary["p99"],
            "99.9": summary["p99_9"],
        },
        bins_ns=tuple(map(tuple, side["bins"])),
    )
