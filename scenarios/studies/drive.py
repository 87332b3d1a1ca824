"""A drive on its own, measured as reviewers do: over depth and block size, in time, in mixtures.

Loads are those of data sheets: 4 KiB at random with a deep queue, 128 KiB in sequence, 4 KiB at
depth 1. So what a maker states has its place in each picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict, Unpack

from raidlab.devices.catalogue import SPECS, Device
from raidlab.devices.datasheet.priors import DEPTHS
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.hdd import HddSpec
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.ssd import SsdSpec
from raidlab.devices.trees import Document
from raidlab.devices.units import DURATION, IO_RATE, RATE, Dimension
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.row import Row, figures_of, measured, side_of
from raidlab.scenarios.running.simulate import Progress, results_of
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.loads import Rw
from raidlab.scenarios.spec.trees import ArrayTree, RunTree, ScenarioTree, WorkloadTree

HOST = "nvme-gen5"
"""The host that bounds no drive."""
SEED = 1
BLOCK, STREAM = 4096, 131_072
MIXED_SHARE = 0.7
"""Reads of a stated mixture."""
_BLOCKS = tuple(4096 << power for power in range(9))
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_WRITTEN = (0.0, 0.25, 0.5, 0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Drive writes of random 4 KiB after which a new SSD is measured."""
_PLACES = tuple(step / 12 for step in range(13))
"""Where a disk is read in sequence: 0 at the outer edge."""
_DISK_DEPTHS = {"sata": 32, "sas": 64, "pcie": 64}
_STREAM_DEPTH = 128
_IOS, _LONG_IOS = 40_000, 200_000
"""Recorded I/Os of a run, and of one whose tail is drawn."""
_BYTES = 4 << 30
"""Recorded at most."""
_SLOW_DEPTH = 128
"""Deep queue up to which a drive's link is slow: SATA and SAS."""
_DISKS_OF = 20
"""Recorded I/Os of an SSD for each one of a disk."""
_THREADS = 32
_MIXED_DEPTH = 32
_READ_SHARE = 0.7
"""Reads of the load whose reads' latencies are shown beside its writes."""
_RATES: Mapping[str, Dimension] = {
    "random_read": IO_RATE,
    "random_write": IO_RATE,
    "mixed_random": IO_RATE,
    "sequential_read": RATE,
    "sequential_write": RATE,
    "sustained_write": RATE,
    "sustained_rate": RATE,
    "read_latency": DURATION,
    "write_latency": DURATION,
}
"""Figures of a sheet that a load here measures; base units: a second, nanoseconds."""


_MEASURED: Mapping[str, tuple[str, str, float, str]] = {
    "random_read": ("depth", "random reads", -1, "IO/s"),
    "random_write": ("depth", "random writes", -1, "IO/s"),
    "mixed_random": ("mixed", "mixture", MIXED_SHARE, "IO/s"),
    "sequential_read": ("block", "sequential reads", STREAM, "MB/s"),
    "sequential_write": ("block", "sequential writes", STREAM, "MB/s"),
    "sustained_write": ("block", "sequential writes", STREAM, "MB/s"),
    "sustained_rate": ("place", "sequential reads", 0, "MB/s"),
    "read_latency": ("depth", "random reads", 1, "us"),
    "write_latency": ("depth", "random writes", 1, "us"),
}
"""Where a stated figure is measured: picture, line, place (-1: a deep queue), and unit."""
_OF_BURSTS = ("sequential_write", "random_write")


@dataclass(frozen=True)
class Point:
    """One run: where it stands in its picture, and what it gave."""

    panel: str
    """`depth`, `block`, `latency`, `written`, `place`, `mixed`."""
    series: str
    x: float
    """Depth, bytes, nothing, drive writes, share of the disk, share of reads."""
    row: Row = field(repr=False)

    @property
    def iops(self) -> float:
        """I/Os a second."""
        return float(self.row["iops"])

    @property
    def mb_per_s(self) -> float:
        """In 10^6 bytes."""
        return float(self.row["mb_per_s"])

    def latency_us(self, of: str, name: str = "mean") -> float:
        """Of its reads or of its writes."""
        return figures_of(measured(side_of(self.row, of)))[name]


@dataclass(frozen=True)
class Stated:
    """A figure of the maker's beside the simulated one, in base units."""

    quantity: str
    stated: float
    simulated: float
    burst: bool = False
    """True if it is a burst's: the simulated one is the steady state."""

    @property
    def error_pct(self) -> float | None:
        """100 (simulated / stated - 1); None for bursts."""
        return None if self.burst else 100 * (self.simulated / self.stated - 1)


@dataclass(frozen=True)
class Drive:
    """A drive as measured."""

    device: Device
    depth: int
    """Of deep queues."""
    points: tuple[Point, ...]
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()

    @property
    def capacity(self) -> int:
        """Bytes."""
        return drive_spec(self.device).capacity_bytes(DriveOptions())

    def of(self, panel: str) -> dict[str, list[Point]]:
        """The lines of a picture, by name."""
        found: dict[str, list[Point]] = {}
        for point in self.points:
            if point.panel == panel:
                found.setdefault(point.series, []).append(point)
        return found

    def at(self, panel: str, series: str, x: float) -> Point | None:
        """One point."""
        line = self.of(panel).get(series, ())
        return next((point for point in line if point.x == x), None)

    def stated(self) -> list[Stated]:
        """What its sheet states and these runs measure, in the order of the sheet."""
        sheet = self.device.spec.data_sheet
        burst = sheet.get("burst") is True
        return [
            Stated(key, _base(key, sheet[key]), simulated, burst and key in _OF_BURSTS)
            for key in sheet
            if key in _RATES and (simulated := self._simulated(key)) is not None
        ]

    def _simulated(self, key: str) -> float | None:
        panel, series, x, unit = _MEASURED[key]
        point = self.at(panel, series, self.depth if x < 0 else x)
        if point is None:
            return None
        if unit == "us":
            return 1e3 * point.latency_us("read" if "read" in key else "write")
        return point.iops if unit == "IO/s" else 1e6 * point.mb_per_s

    def to_dict(self) -> Document:
        """Plain data, for `--json`."""
        return {
            "seed": SEED,
            "version": _engine.version(),
            "depth": self.depth,
            "points": [
                {
                    "panel": point.panel,
                    "series": point.series,
                    "x": point.x,
                    "iops": point.iops,
                    "mb_per_s": point.mb_per_s,
                    "read_latency_us": point.row["read"]["latency_us"],
                    "write_latency_us": point.row["write"]["latency_us"],
                }
                for point in self.points
            ],
            "stated": [vars(each) | {"error_pct": each.error_pct} for each in self.stated()],
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def _base(key: str, text: Any) -> float:
    """A stated figure in base units."""
    return float(_RATES[key].convert(str(text)))


_Precondition = Literal["filled", "fresh", "steady-state"]


class _More(TypedDict, total=False):
    """What some cases have besides."""

    read_share: float
    after: float
    """Share of the drive that was written before."""
    place: float
    """Where the load lies, as a share of the drive."""
    long: bool
    """With as many I/Os as a tail needs."""


@dataclass(frozen=True, eq=False)
class _Case:
    """A load, and where its run stands."""

    panel: str
    series: str
    x: float
    state: tuple[bool, str, int]
    """Runs of one state of the drive follow each other, and share it."""
    scenario: Scenario


def measure(
    device: Device,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Drive:
    """Measures a drive.

    Args:
        device: Of the catalogue or of a file.
        workers: Threads; the number of cores if None. The result does not depend on it.
        progress: Called after every finished run.
        store: Finds finished runs again, and stores new ones.

    Raises:
        SpecError: It is no disk and no SSD, or the engine refuses it.
        KeyboardInterrupt: Ctrl-C.
    """
    spec = drive_spec(device)
    cases = list(_cases(device, spec))
    ordered = sorted(cases, key=lambda case: case.state)
    built = [case.scenario for case in ordered]
    results = results_of(
        built, SEED, workers=workers, progress=progress, store=store, heeds_past=False
    )
    found: dict[_Case, Point] = {}
    breaches: list[str] = []
    for case, result in zip(ordered, results, strict=True):
        found[case] = Point(case.panel, case.series, case.x, result.summary()[0])
        breaches += result.breaches
    points = [found[case] for case in cases]
    warnings = dict.fromkeys(warning for scenario in built for warning in scenario.warnings)
    return Drive(device, _deep(spec), tuple(points), tuple(warnings), tuple(breaches))


def drive_spec(device: Device) -> SsdSpec | HddSpec:
    """The drive of a device file.

    Raises:
        SpecError: It is no disk and no SSD.
    """
    spec = device.spec
    if not isinstance(spec, SsdSpec | HddSpec):
        allowed = "a page is of a disk or an SSD; `raidlab controllers` draws controllers"
        raise SpecError([Fault("--html", None, f"{spec.name} is of kind {spec.kind}: {allowed}")])
    return spec


def _deep(spec: DriveSpec) -> int:
    link = spec.link()
    family = "sata" if link is None else link.family
    return (_DISK_DEPTHS if isinstance(spec, HddSpec) else DEPTHS)[family]


_RANDOM: Final[Mapping[str, Rw]] = {"read": "randread", "write": "randwrite"}
_SEQUENTIAL: Final[Mapping[str, Rw]] = {"read": "read", "write": "write"}
"""fio's word for each direction."""


def _cases(device: Device, spec: SsdSpec | HddSpec) -> Iterator[_Case]:
    bench = _Bench(device, spec)
    depths = tuple(1 << power for power in range(bench.deep.bit_length()))
    for direction, rw in _RANDOM.items():
        for depth in depths:
            yield bench.case("depth", f"random {direction}s", depth, rw, BLOCK, depth)
    for order, words in (("random", _RANDOM), ("sequential", _SEQUENTIAL)):
        for direction, rw in words.items():
            depth = bench.deep if order == "random" else min(bench.deep, _STREAM_DEPTH)
            # Each size of random writes has a steady state of its own, which takes its time.
            for block in _BLOCKS[::2] if rw == "randwrite" else _BLOCKS:
                yield bench.case("block", f"{order} {direction}s", block, rw, block, depth)
    depth = min(_MIXED_DEPTH, bench.deep)
    for share in _SHARES:
        yield bench.case("mixed", "mixture", share, "randrw", BLOCK, bench.deep, read_share=share)
    yield from _latencies(bench, depth)
    if isinstance(spec, SsdSpec):
        for share in _WRITTEN:
            yield bench.case(
                "written", "random writes", share, "randwrite", BLOCK, bench.deep, after=share
            )
    else:
        for place in _PLACES:
            yield bench.case("place", "sequential reads", place, "read", STREAM, 4, place=place)


def _latencies(bench: _Bench, depth: int) -> Iterator[_Case]:
    """Distributions: alone at depth 1, and with company."""
    for direction, rw in _RANDOM.items():
        yield bench.case("latency", f"{direction}s, alone", 1, rw, BLOCK, 1, long=True)
    name = f"reads, {depth} in flight"
    yield bench.case("latency", name, depth, "randread", BLOCK, depth, long=True)
    name = f"reads beside {100 * (1 - _READ_SHARE):.0f} % writes"
    yield bench.case(
        "latency", name, depth, "randrw", BLOCK, depth, read_share=_READ_SHARE, long=True
    )


class _Bench:
    """Makes scenarios of one drive: as long as it needs for enough I/Os."""

    def __init__(self, device: Device, spec: SsdSpec | HddSpec) -> None:
        named = device.path.is_relative_to(SPECS)
        self._model = spec.name if named else str(device.path.resolve())
        self._disk = isinstance(spec, HddSpec)
        self._title = spec.title or spec.name
        self.deep = _deep(spec)
        self.capacity = spec.capacity_bytes(DriveOptions())

    def case(
        self,
        panel: str,
        series: str,
        x: float,
        rw: Rw,
        block: int,
        depth: int,
        **more: Unpack[_More],
    ) -> _Case:
        """A load; `more`: `read_share`, `after`, `place`, `long`."""
        workload: WorkloadTree = {
            "rw": rw,
            "block_size": f"{block} B",
            "outstanding": depth,
            "threads": min(_THREADS, depth) if rw.startswith("rand") else 1,
        }
        if "read_share" in more:
            workload["read_share"] = more["read_share"]
        array: ArrayTree = {"name": "drive", "drives": [{"model": self._model}]}
        precondition: _Precondition = "filled" if rw in ("read", "randread") else "steady-state"
        if "place" in more:
            area = self.capacity // 50 // STREAM * STREAM
            start = int(more["place"] * (self.capacity - area)) // STREAM * STREAM
            workload["area"], workload["area_start"] = f"{area} B", f"{start} B"
        if "after" in more:
            precondition = "fresh"
            written = int(more["after"] * self.capacity) // BLOCK * BLOCK
            if written:
                array["history"] = [
                    {"rw": "randwrite", "block_size": f"{BLOCK} B", "written": f"{written} B"}
                ]
        tree: ScenarioTree = {
            "title": self._title,
            "host": {"model": HOST},
            "array": [array],
            "workload": [workload],
            "run": self._run(precondition, block, more),
        }
        return _Case(panel, series, x, ("after" in more, rw, block), build_scenario(tree))

    def _run(self, precondition: _Precondition, block: int, more: _More) -> RunTree:
        most = _LONG_IOS if "long" in more else min(_IOS, _BYTES // block)
        # Time in which a full buffer reaches what the load makes of it.
        fast = "100 ms" if not {"after", "read_share"} & set(more) else "300 ms"
        warm_up = fast if self.deep > _SLOW_DEPTH else "1 s"
        if self._disk:
            most, warm_up = most // _DISKS_OF, "2 s"
        run: RunTree = {"warm_up": warm_up, "max_ios": most, "duration": "1 h", "seed": SEED}
        if not self._disk:
            run["precondition"] = precondition
        return run
