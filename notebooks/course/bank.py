"""A bank of questions: each seed has other numbers, and the engine answers them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from raidlab.notebooks.frame.running import run
from raidlab.scenarios.spec.trees import WorkloadTree

Value = TypeVar("Value")


@dataclass(frozen=True)
class Question:
    """One with numbers of its own."""

    name: str
    text: str
    answer: float
    """As simulated; where nothing is simulated, the closed form."""
    closed: float
    unit: str
    tolerance: float
    """Share of the answer that may be missed: more than closed form and run differ by."""
    why: str
    """The closed form with its numbers, which is the right answer."""
    seed: int = 0
    lesson: int = 0

    @property
    def title(self) -> str:
        """A name that no question of another seed has."""
        return f"{self.name} {self.seed}"


def questions(seed: int, of: int | None = None) -> list[Question]:
    """One question of each kind.

    Args:
        seed: Chooses their numbers, and seeds the runs.
        of: Number of the lesson; None for all of them.
    """
    kinds = [(lesson, make) for lesson, make in _KINDS if of in (None, lesson)]
    return [replace(make(seed), seed=seed, lesson=lesson) for lesson, make in kinds]


def has_questions(lesson: int | None) -> bool:
    """Whether there are any of this lesson, or, for None, of the course."""
    return lesson is None or any(lesson == own for own, _ in _KINDS)


def _rate(drive: str, count: int, load: WorkloadTree, seed: int, **rest: Any) -> Any:
    array = {"drives": [{"model": drive, "count": count}], **rest.pop("array", {})}
    work = {"block_size": "4 KiB", "align": "4 KiB"} | load
    made = {"title": "a question", "array": [array], "workload": [work]}
    return run(made | {"run": {"warm_up": "2 s", "duration": "60 s"}} | rest, seed).rows[0]


_DISKS: Final = (
    ("generic-7200rpm", 7200),
    ("generic-15000rpm", 15000),
    ("generic-sas-10k", 10000),
    ("archive-8t", 5900),
    ("red-plus-8t", 5640),
)
"""Disks by the speeds that are sold."""


def _of(seed: int, values: Sequence[Value]) -> Value:
    """The next value for the next seed: variants of a question differ."""
    return values[seed % len(values)]


def _little(seed: int) -> Question:
    depth = _of(seed, (2, 3, 4, 5, 6, 8, 10))
    row = _rate("fivex", 1, {"rw": "randread", "outstanding": depth}, seed)
    return Question(
        "little",
        f"One drive serves 200 reads a second. {depth} reads are always outstanding. What is their"
        " mean latency?",
        row.latency_us.mean / 1e3,
        5.0 * depth,
        "ms",
        0.05,
        f"Little: {depth} / 200 IO/s = {5 * depth} ms.",
    )


def _revolution(seed: int) -> Question:
    model, rpm = _of(seed, _DISKS)
    row = _rate(model, 1, {"rw": "randread"}, seed)
    return Question(
        "revolution",
        f"A disk turns {rpm:,} times a minute. How long does a random read wait for its sector, on"
        " average?",
        row.breakdown_us["rotation"] / 1e3,
        30e3 / rpm,
        "ms",
        0.05,
        f"Half a revolution: 30 / {rpm:,} s = {30e3 / rpm:.2f} ms.",
    )


def _penalty(seed: int) -> Question:
    levels = (("raid5", 4), ("raid6", 6), ("raid10", 2))
    reads, count, (level, cost) = _of(
        seed, [*itertools.product((0, 30, 50, 70), (6, 8, 10), levels)]
    )
    load: WorkloadTree = {"rw": "randrw", "read_share": f"{reads} %", "outstanding": 32 * count}
    array = {"level": level, "software_raid": "os", "bitmap": "none"}
    row = _rate("five", count, load, seed, array=array)
    closed = 200 * count / (reads / 100 + cost * (1 - reads / 100))
    return Question(
        "penalty",
        f"{count} drives of 5 ms in {level.upper().replace('RAID', 'RAID ')}, {reads} % reads,"
        f" blocks"
        " of 4 KiB, a deep queue, no cache. How many I/Os a second?",
        row.iops,
        closed,
        "IO/s",
        0.05,
        f"{count} × 200 / ({reads / 100:g} + {cost} × {1 - reads / 100:g}) = {closed:.0f}.",
    )


def _knee(seed: int) -> Question:
    count, depth = _of(seed, [*itertools.product((4, 6, 8), (4, 8, 16))])
    array = {"level": "raid0", "software_raid": "os"}
    row = _rate("fivex", count, {"rw": "randread", "outstanding": depth}, seed, array=array)
    closed = depth / (depth + count - 1) * 200 * count
    return Question(
        "balanced",
        f"Random reads on {count} equal drives of 5 ms (exponential), {depth} outstanding. How many"
        " I/Os a second?",
        row.iops,
        closed,
        "IO/s",
        0.05,
        f"N / (N + D - 1) × D × 200 = {closed:.0f}.",
    )


def _commit(seed: int) -> Question:
    model, rpm = _of(seed, _DISKS)
    load: WorkloadTree = {"rw": "write", "fsync": 1}
    row = _rate(model, 1, load, seed, run={"warm_up": "1 s", "duration": "10 s"})
    return Question(
        "commit",
        f"One writer appends records of 4 KiB to a log on a disk of {rpm:,} rpm and calls fsync"
        f" after"
        " each. How many a second?",
        row.iops,
        rpm / 60,
        "IO/s",
        0.05,
        f"One a revolution: {rpm:,} / 60 = {rpm / 60:.0f}.",
    )


def _hidden(seed: int) -> Question:
    cache, come, go = _of(seed, [*itertools.product((0.5, 1, 2), (150, 200, 400), (50, 100))])
    closed = 0.75 * cache * 2**30 / ((come - go) * 1e6)
    return Question(
        "hidden",
        f"{cache:g} GiB of controller memory, of which three quarters take writes; {come} MB/s"
        f" come,"
        f" {go} MB/s go to the disks. After how many seconds do writes begin to wait?",
        closed,
        closed,
        "s",
        0.03,
        f"0.75 × {cache:g} × 2³⁰ B / {come - go} MB/s = {closed:.2f} s.",
    )


def _oldest(seed: int) -> Question:
    rho = _of(seed, (0.7, 0.75, 0.78, 0.8, 0.82, 0.85, 0.88, 0.9))
    valid = 0.5
    for _ in range(500):
        valid = math.exp(-(1 - valid) / rho)
    closed = 1 / (1 - valid)
    return Question(
        "oldest-block",
        f"Data fill {rho:g} of the flash. An SSD collects its oldest block first; writes are"
        f" random."
        " Which write amplification has it in steady state?",
        closed,
        closed,
        "",
        0.03,
        f"u = exp(-(1 - u) / {rho:g}) gives u = {valid:.3f}; 1 / (1 - u) = {closed:.2f}.",
    )


def _unreadable(seed: int) -> Question:
    drives, size = _of(seed, [*itertools.product((3, 5, 7), (4, 8, 16))])
    closed = 100 * -math.expm1(-drives * size * 8e12 / 1e15)
    return Question(
        "unreadable",
        f"A rebuild reads {drives} disks of {size} TB. One bit in 10¹⁵ cannot be read. In how many"
        " percent of the rebuilds is a sector lost?",
        closed,
        closed,
        "%",
        0.03,
        f"1 - exp(-{drives} × {size} × 8 × 10¹² / 10¹⁵) = {closed:.1f} %.",
    )


_KINDS: Sequence[tuple[int, Callable[[int], Question]]] = (
    (1, _revolution),
    (2, _little),
    (2, _knee),
    (3, _penalty),
    (3, _unreadable),
    (4, _commit),
    (4, _hidden),
    (5, _oldest),
)
