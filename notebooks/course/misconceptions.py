"""What students bring along, and the picture that contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from raidlab.notebooks.frame.room import Value


class Figures(Protocol):
    """A room's `Ask` whose numbers are read as such."""

    def __call__(self, **changed: Value) -> Mapping[str, float]:
        """The numbers of one answer."""
        ...


@dataclass(frozen=True)
class Misconception:
    """A sentence that is heard, and a setting of a room that shows otherwise."""

    lesson: int
    text: str
    room: str
    shows: str
    """What is to be seen there."""
    holds: Callable[[Figures], bool]
    """Whether the simulation shows it."""
    at: Mapping[str, Value] = field(default_factory=dict)
    """The setting, where it differs from the room's start."""

    @property
    def fragment(self) -> str:
        """Of a link to the setting: `#drive=five&depth=64`."""
        return "#" + "&".join(f"{name}={value}" for name, value in self.at.items())


MISCONCEPTIONS: Sequence[Misconception] = (
    Misconception(
        1,
        "The transfer rate decides.",
        "one-io",
        "Transfer is half a percent of a random read.",
        lambda at: at()["transfer"] < 0.006,
        {"system": "disk", "op": "randread"},
    ),
    Misconception(
        1,
        "The queue makes an I/O faster.",
        "arm",
        "With 32 outstanding the disk does twice as much, and each read takes far longer.",
        lambda at: (
            at(depth=32)["gain"] > 2 and at(depth=32)["mean_ms"] > 10 * at(depth=1)["mean_ms"]
        ),
        {"depth": 32},
    ),
    Misconception(
        1,
        "Half a revolution is a worst case.",
        "one-io",
        "The mean wait for the sector is 2.0 ms: half of a revolution of 4 ms.",
        lambda at: abs(at()["rotation_us"] / 2000 - 1) < 0.03,
        {"system": "disk", "op": "randread"},
    ),
    Misconception(
        1,
        "Utilization of 100 % is a fault.",
        "arm",
        "One read at a time keeps the disk at work without a pause; with 16 outstanding it does"
        " 1.8 times as much.",
        lambda at: (
            abs(at(depth=1)["iops"] * at(depth=1)["mean_ms"] / 1e3 - 1) < 0.01
            and round(at(depth=16)["gain"], 1) == 1.8
        ),
        {"depth": 16},
    ),
    Misconception(
        1,
        "A larger block is faster.",
        "block-size",
        "A read of 4 MiB takes more than three times as long as one of 4 KiB; only bytes a second"
        " grow.",
        lambda at: at(size=4096)["mean_ms"] > 3 * at(size=4)["mean_ms"],
        {"size": 4096},
    ),
    Misconception(
        1,
        "IO/s times block size is the bandwidth, so IO/s say all.",
        "block-size",
        "The same 4 KiB in sequence bring more than a hundred times the bytes.",
        lambda at: at(size=4, access="read")["mb"] > 100 * at(size=4)["mb"],
        {"size": 4, "access": "read"},
    ),
    Misconception(
        2,
        "Latency grows linearly with load.",
        "tails",
        "From 40 to 80 % load the mean of exponential drives is three times as long.",
        lambda at: at(system="fivex", load=80)["mean"] > 2.5 * at(system="fivex", load=40)["mean"],
        {"system": "fivex", "load": 80},
    ),
    Misconception(
        2,
        "More outstanding is better.",
        "knee",
        "From 64 to 256 outstanding the rate gains less than a tenth; reads take more than three"
        " times as long.",
        lambda at: (
            at(depth=256)["iops"] < 1.1 * at(depth=64)["iops"]
            and at(depth=256)["mean_ms"] > 3 * at(depth=64)["mean_ms"]
        ),
        {"depth": 256},
    ),
    Misconception(
        2,
        "Five milliseconds are 200 IO/s.",
        "knee",
        "Eight drives of 5 ms do 868 IO/s while each read takes 9 ms: the rate is the number"
        " outstanding over the latency.",
        lambda at: abs(at(depth=8)["iops"] - 868) < 9 and abs(at(depth=8)["mean_ms"] - 9.2) < 0.1,
        {"depth": 8},
    ),
    Misconception(
        2,
        "SSDs have no queues.",
        "knee",
        "At 256 outstanding a read takes more than ten times as long as alone: it waits for the"
        " host.",
        lambda at: (
            at(drive="p3700-800", depth=256)["mean_ms"]
            > 10 * at(drive="p3700-800", depth=1)["mean_ms"]
        ),
        {"drive": "p3700-800", "depth": 256},
    ),
    Misconception(
        2,
        "The mean of the drives' p99 is the p99.",
        "tails",
        "A read of eight pieces waits for the slowest: its p99 is half as long again.",
        lambda at: (
            at(system="fivex", load=10, pieces=8)["p99"]
            > 1.4 * at(system="fivex", load=10, pieces=1)["p99"]
        ),
        {"system": "fivex", "load": 10, "pieces": 8},
    ),
    Misconception(
        2,
        "A p99 of 1 ms means that 99 of 100 users wait less.",
        "tails",
        "A page that takes eight reads is as slow as the slowest: its median is near three times"
        " that of one read.",
        lambda at: (
            at(system="fivex", load=10, pieces=8)["p50"]
            > 2.5 * at(system="fivex", load=10, pieces=1)["p50"]
        ),
        {"system": "fivex", "load": 10, "pieces": 8},
    ),
    Misconception(
        2,
        "A closed benchmark shows what open users feel.",
        "omission",
        "During a rebuild at 30 % the benchmark says 7 ms at p95, users by the clock 65.",
        lambda at: round(at(who="one")["p95_ms"]) == 7 and round(at(who="clock")["p95_ms"]) == 65,
        {"who": "clock"},
    ),
    Misconception(
        3,
        "RAID 5 writes take four times as long.",
        "write-penalty",
        "Alone one takes two drive times, 10 ms; only the rate is a quarter.",
        lambda at: (
            abs(at(reads=0, level="raid5")["alone_ms"] / 10 - 1) < 0.02
            and abs(at(reads=0, level="raid5")["factor"] / 4 - 1) < 0.03
        ),
        {"reads": 0, "level": "raid5"},
    ),
    Misconception(
        3,
        "A rebuild is limited by the new disk.",
        "rebuild",
        "Beside 300 IO/s the rate of the rebuild grows ten times from a share of 10 to one of"
        " 100 % on RAID 5, and 8.7 times on RAID 6.",
        lambda at: all(
            abs(at(level=level, share=100)["rate"] / at(level=level, share=10)["rate"] - times)
            < 0.05
            for level, times in (("raid5", 10.0), ("raid6", 8.7))
        ),
        {"share": 10},
    ),
    Misconception(
        3,
        "RAID 6 is slow for reads.",
        "write-penalty",
        "With reads alone it does as much as RAID 0.",
        lambda at: at(reads=100, level="raid6")["factor"] < 1.02,
        {"reads": 100, "level": "raid6"},
    ),
    Misconception(
        4,
        "Nothing lost, no harm.",
        "battery",
        "No write is lost, and some stripes have wrong parity: it waits for the next failed disk.",
        lambda at: (
            at(policy="write-through")["lost"] == 0 and at(policy="write-through")["corrupt"] > 0
        ),
        {"policy": "write-through", "backup": "none", "caches": "off"},
    ),
    Misconception(
        4,
        "The battery protects the disks.",
        "battery",
        "With the disks' caches on acknowledged writes are lost in them all the same.",
        lambda at: at(backup="fbu", caches="on")["in_drives"] > 0,
        {"policy": "always-write-back", "backup": "fbu", "caches": "on"},
    ),
    Misconception(
        4,
        "A write cache makes the disks faster.",
        "write-cache",
        "It hides them until it is full; then a write takes seconds.",
        lambda at: at(rate=1600)["first_ms"] < 0.1 and at(rate=1600)["last_ms"] > 1000,
        {"rate": 1600, "length": 30},
    ),
    Misconception(
        4,
        "A cache twice as large is twice as good.",
        "write-cache",
        "It fills twice as late; what the disks take in the end stays.",
        lambda at: (
            abs(at(rate=1600, cache="lsi2208-1g-3.0")["cliff_s"] / at(rate=1600)["cliff_s"] - 2)
            < 0.2
            and abs(at(rate=1600, cache="lsi2208-1g-3.0")["out"] / at(rate=1600)["out"] - 1) < 0.05
        ),
        {"rate": 1600, "cache": "lsi2208-1g-3.0", "length": 30},
    ),
    Misconception(
        5,
        "TRIM makes it fresh.",
        "first-day",
        "Writes to half of the drive, as after a TRIM of the rest, keep two thirds of the new"
        " drive's rate: spare space helps, what is spread stays spread.",
        lambda at: abs(at(load="half")["steady"] / at(load="half")["first"] - 0.667) < 0.04,
        {"load": "half", "time": 20},
    ),
    Misconception(
        5,
        "Write amplification is the drive's.",
        "first-day",
        "One drive, two loads: 1.2 for writes to half of it, 9.9 for writes everywhere.",
        lambda at: at(load="half")["waf"] < 1.3 and at()["waf"] > 9,
        {"load": "half", "time": 20},
    ),
    Misconception(
        5,
        "Write amplification below 1 is an error.",
        "compression",
        "Data that shrink by 90 %: one byte of six reaches NAND.",
        lambda at: 0.15 < at(shrink=90)["waf"] < 0.18,
        {"shrink": 90},
    ),
    Misconception(
        5,
        "A short benchmark is enough.",
        "qlc",
        "Even 40 s report more than twice the rate that lasts.",
        lambda at: at(length=40)["reported"] > 2 * at(length=40)["lasting"],
        {"length": 40},
    ),
    Misconception(
        6,
        "A good fit proves the parameters.",
        "own-disk",
        "The fit meets what it saw within 3 %, and not one of its 13 parameters is determined.",
        lambda at: at()["seen"] < 3 and at()["known"] == 0,
        {"seen": "ends"},
    ),
    Misconception(
        6,
        "The error of the fit is the error of the prediction.",
        "own-disk",
        "4.8 % for what it saw, 209 % for what it did not.",
        lambda at: at(seen="least")["seen"] < 5 and at(seen="least")["unseen"] > 200,
        {"seen": "least"},
    ),
    Misconception(
        6,
        "%util of 100 means that an NVMe SSD is saturated.",
        "iostat",
        "One read at a time: %util is 100, at less than a twentieth of the system's best rate.",
        lambda at: (
            at(drive="nvme", depth=1)["util"] > 99 and at(drive="nvme", depth=1)["share"] < 0.05
        ),
        {"drive": "nvme", "depth": 1, "access": "randread"},
    ),
)


def of_lesson(number: int) -> list[Misconception]:
    """The misconceptions of a lesson."""
    return [each for each in MISCONCEPTIONS if each.lesson == number]
