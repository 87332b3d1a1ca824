"""Two results beside each other: what differs in the files, the figures and where time goes.

A difference of a figure is clear where the 95 % intervals of both do not meet. That asks for more
than a test at 5 %: of two runs of one system about one figure in 200 differs so by chance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_json
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.bottleneck import limits
from raidlab.scenarios.results.result import means_of
from raidlab.scenarios.results.row import Row, latency_at
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies.running import Running

_LARGEST_FILE = 512 * MIB
_LATENCIES = ("mean", "p50", "p99", "p99_9")
Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Side:
    """A result, read or simulated."""

    file: str
    title: str
    rows: tuple[Row, ...]
    written: Mapping[str, object]
    """What the file says of the system: a scenario's keys, a result's devices."""
    seed: int | None = None
    version: str = ""
    warnings: tuple[str, ...] = ()
    breaches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """A key that the files do not share, or have with another value."""

    key: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Figure:
    """A figure of both."""

    name: str
    unit: str
    a: float | None
    b: float | None
    a_ci95: Interval
    b_ci95: Interval

    @property
    def change_pct(self) -> float | None:
        """Of b over a."""
        return None if not self.a or self.b is None else 100 * (self.b / self.a - 1)

    @property
    def clear(self) -> bool | None:
        """Whether the intervals do not meet; None where one is not known."""
        (a_low, a_high), (b_low, b_high) = self.a_ci95, self.b_ci95
        if a_low is None or a_high is None or b_low is None or b_high is None:
            return None
        return a_high < b_low or b_high < a_low


@dataclass(frozen=True)
class Pair:
    """A load at one point of both."""

    workload: str
    point: str
    """Queue depth or rate, of both where they differ."""
    figures: tuple[Figure, ...]
    breakdown_us: dict[str, tuple[float, float]]
    """Mean time of an I/O by part, of a and of b."""
    limit: tuple[str, str]


@dataclass(frozen=True)
class Diff:
    """Two results beside each other."""

    a: Side
    b: Side
    changes: tuple[Change, ...]
    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...] = ()
    """Rows without a counterpart; so `only_b`."""
    only_b: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of both, with the file that they are about."""
        both = [
            f"{name}: {text}" for name, side in (("A", self.a), ("B", self.b))
            for text in side.warnings
        ]  # fmt: skip
        if self.a.version and self.b.version and self.a.version != self.b.version:
            both.insert(0, f"versions differ: A is of {self.a.version}, B of {self.b.version}")
        return tuple(both)

    @property
    def breaches(self) -> tuple[str, ...]:
        """Checks of the engine that failed."""
        return (*self.a.breaches, *self.b.breaches)

    def to_dict(self) -> Document:
        """The document of `raidlab diff --json`."""
        sides = {
            name: {"file": side.file, "title": side.title, "seed": side.seed,
                   "version": side.version}
            for name, side in (("a", self.a), ("b", self.b))
        }  # fmt: skip
        return {
            **sides,
            "files": [asdict(each) for each in self.changes],
            "rows": [
                {
                    "workload": pair.workload,
                    "point": pair.point,
                    "figures": [
                        asdict(each) | {"change_pct": each.change_pct, "clear": each.clear}
                        for each in pair.figures
                    ],
                    "breakdown_us": {
                        part: {"a": a, "b": b} for part, (a, b) in pair.breakdown_us.items()
                    },
                    "limit": {"a": pair.limit[0], "b": pair.limit[1]},
                }
                for pair in self.pairs
            ],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "warnings": list(self.warnings),
            "breaches": list(self.breaches),
        }


def side_of(path: Path, running: Running, seed: int | None) -> Side:
    """A result's file, or a scenario's, which is simulated.

    Raises:
        SpecError: It is neither, or the scenario cannot be run.
    """
    if path.suffix.lower() == ".json":
        return _read(path)
    tree = scenario_tree(path)
    if "candidates" in tree or "kind" in tree:
        what = "a question" if "candidates" in tree else "a device"
        allowed = f"a scenario (TOML) or a result of `run --json`; this is {what}"
        raise SpecError([Fault("", None, allowed, (), str(path))])
    scenario = build_scenario(tree, path)
    found = simulate(
        scenario, workers=running.workers, seed=seed, store=running.store,
        progress=running.progress,
    )  # fmt: skip
    return Side(
        str(path), found.title, tuple(found.summary()), tree, found.seed, found.version,
        found.warnings, found.breaches,
    )  # fmt: skip


def _read(path: Path) -> Side:
    tree = read_json(path, _LARGEST_FILE, "result")
    rows = tree.get("results") if isinstance(tree, Mapping) else None
    needed = ("workload", "point", "iops", "latency_us", "breakdown_us")
    if not isinstance(rows, list) or not all(
        isinstance(row, Mapping) and all(key in row for key in needed) for row in rows
    ):
        allowed = "a result as `raidlab run --json` prints it, or a scenario (TOML)"
        raise SpecError([Fault("results", None, allowed, (), str(path))])
    written = {"devices": tree.get("devices", [])}
    return Side(
        str(path), str(tree.get("title", path.stem)), tuple(means_of(rows)), written,
        tree.get("seed"), str(tree.get("version", "")), tuple(tree.get("warnings", ())),
    )  # fmt: skip


def diff(a: Side, b: Side) -> Diff:
    """Both beside each other.

    Rows go together that have one workload and queue depth or rate, then those of one workload in
    their order, then, where there is one workload each, whatever it is called.
    """
    pairs, left_a, left_b = _paired(a.rows, b.rows)
    return Diff(
        a, b,
        tuple(_changes(a.written, b.written)),
        tuple(_pair(one, two) for one, two in pairs),
        tuple(_label(row) for row in left_a),
        tuple(_label(row) for row in left_b),
    )  # fmt: skip


def _point(row: Row) -> str:
    if row.get("outstanding"):
        return f"{row['outstanding']} outstanding"
    offered = row.get("offered_iops")
    return "open" if not offered else f"{offered:,.6g} IO/s"


def _label(row: Row) -> str:
    return f"{row['workload']}, {_point(row)}"


def _paired(
    a: Sequence[Row], b: Sequence[Row]
) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    left_a, left_b = list(a), list(b)
    found: list[tuple[Row, Row]] = []
    names = {row["workload"] for row in a}, {row["workload"] for row in b}
    alone = len(names[0]) == len(names[1]) == 1
    for same in (
        lambda one, two: _label(one) == _label(two),
        lambda one, two: one["workload"] == two["workload"],
        lambda one, two: alone and _point(one) == _point(two),
        lambda one, two: alone,
    ):
        for one in list(left_a):
            two = next((each for each in left_b if same(one, each)), None)
            if two is not None:
                found.append((one, two))
                left_a.remove(one)
                left_b.remove(two)
    order = {id(row): at for at, row in enumerate(a)}
    found.sort(key=lambda pair: order[id(pair[0])])
    return found, left_a, left_b


def _pair(one: Row, two: Row) -> Pair:
    names = dict.fromkeys((one["workload"], two["workload"]))
    points = dict.fromkeys((_point(one), _point(two)))
    parts = dict.fromkeys((*one["breakdown_us"], *two["breakdown_us"]))
    return Pair(
        " / ".join(names),
        " / ".join(points),
        tuple(_figures(one, two)),
        {
            part: (one["breakdown_us"].get(part, 0.0), two["breakdown_us"].get(part, 0.0))
            for part in parts
        },
        (limits(one), limits(two)),
    )


def _figures(one: Row, two: Row) -> Iterator[Figure]:
    yield Figure(
        "rate", "IO/s", one["iops"], two["iops"], _ends(one.get("iops_ci95")),
        _ends(two.get("iops_ci95")),
    )  # fmt: skip
    for name in _LATENCIES:
        values = [latency_at(row, name) for row in (one, two)]
        ends = [_ends(row["latency_ci95_us"].get(name)) for row in (one, two)]
        yield Figure(name.replace("_", "."), "us", values[0], values[1], ends[0], ends[1])
    if one.get("write_amplification") or two.get("write_amplification"):
        values = [one["write_amplification"], two["write_amplification"]]
        yield Figure("WAF", "", values[0], values[1], (None, None), (None, None))


def _ends(interval: Sequence[float | None] | None) -> Interval:
    return (None, None) if not interval else (interval[0], interval[1])


def _changes(a: Any, b: Any, key: str = "") -> Iterator[Change]:
    """Keys with other values, in the order of the first file."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys((*a, *b)):
            inner = f"{key}.{name}" if key else str(name)
            if name == "title" and not key:
                continue
            yield from _changes(a.get(name), b.get(name), inner)
    elif isinstance(a, list) and isinstance(b, list):
        for at in range(max(len(a), len(b))):
            one = a[at] if at < len(a) else None
            two = b[at] if at < len(b) else None
            yield from _changes(one, two, f"{key}.{at}")
    elif a != b:
        yield Change(key, _plain(a), _plain(b))


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    return json.loads(json.dumps(value, default=str))


def provenance(found: Diff) -> list[str]:
    """What made both."""
    return [
        f"{name}: {side.file}, raidlab {side.version or _engine.version()}, seed {side.seed}."
        for name, side in (("A", found.a), ("B", found.b))
    ]
