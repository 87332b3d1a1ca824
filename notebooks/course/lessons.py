"""The lessons: which rooms, in which order, how long each part takes, which answers to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.notebooks.course.text import aims_of, formulas_of

BRIEF: Final = 45
"""Minutes of a lesson where a timetable has no 90."""
TALK: Final = 5
"""Of them, about misconceptions."""


@dataclass(frozen=True)
class Stop:
    """A room of a lesson."""

    room: str
    minutes: int
    expect: Sequence[str]
    """Wrong predictions that students make, each with what it comes from."""


@dataclass(frozen=True)
class Lesson:
    """90 minutes."""

    number: int
    title: str
    stops: Sequence[Stop]
    theory: int
    """Minutes of theory, of exercises and of talk about misconceptions."""
    exercises: int
    talk: int
    home: Sequence[str] = ()
    """Rooms for homework."""
    answers: Sequence[str] = ()
    """To the questions under "Predict first" of the lesson's text, in their order."""
    short: Sequence[str] = ()
    """Rooms of a lesson of 45 minutes, where they are not the first two."""

    @property
    def name(self) -> str:
        """Of its page: `lesson-1`."""
        return f"lesson-{self.number}"

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Lesson {self.number}: {self.title}"

    @property
    def rooms(self) -> Sequence[str]:
        """All its rooms, those for homework last."""
        return [*(stop.room for stop in self.stops), *self.home]

    @property
    def aims(self) -> Sequence[str]:
        """What a student is able to do afterwards: of the lesson's text."""
        return aims_of(self.name)

    @property
    def formulas(self) -> Sequence[str]:
        """The closed forms of its theory, a block each."""
        return formulas_of(self.name)

    @property
    def briefly(self) -> Sequence[str]:
        """The two rooms of a lesson of 45 minutes, which the first page of the worksheet has."""
        return self.short or [stop.room for stop in self.stops[:2]]

    @property
    def brief_minutes(self) -> tuple[int, int, int]:
        """Of its theory, of the first exercise, and of the talk, beside those two rooms."""
        left = BRIEF - TALK - sum(each.minutes for each in self.stops if each.room in self.briefly)
        theory = 5 * (left // 10)
        return theory, left - theory, TALK

    @property
    def minutes(self) -> int:
        """The sum of all its parts."""
        return sum(stop.minutes for stop in self.stops) + self.theory + self.exercises + self.talk


LESSONS = (
    Lesson(
        1,
        "where the time goes",
        (
            Stop("one-io", 15, ("10 to 50 %: the rate of the data sheet is taken for the time.",)),
            Stop(
                "arm",
                15,
                (
                    "78 IO/s: a queue is thought to change nothing.",
                    "2,500 IO/s (32 times 78): the queue is thought to serve in parallel.",
                ),
            ),
            Stop("block-size", 10, ("6 IO/s: sixteen times the bytes, a sixteenth of the rate.",)),
        ),
        15,
        25,
        10,
        ("simpy-60",),
        answers=(
            "0.2 %: 25 µs of 13 ms.",
            "1.2 times: half a revolution halves, 13.1 to 11.0 ms; the seek stays.",
            "About twice the rate: 164 IO/s instead of 78.",
        ),
    ),
    Lesson(
        2,
        "what queues do",
        (
            Stop(
                "knee",
                15,
                ("A straight line to 1,600 at eight: each read is thought to find a free drive.",),
            ),
            Stop("tails", 10, ("Twice the mean: tails are underrated.",)),
            Stop("omission", 10, ("About 7 ms, as the benchmark says.",)),
            Stop("how-long", 5, ("All agree: 1,600 reads sound like many.",)),
        ),
        15,
        25,
        10,
        ("simpy-60",),
        answers=(
            "Twice: S / (1 - rho) is 25 ms at 80 % and 50 ms at 90 % of a 5 ms drive.",
            "53 %: N / (N + 7) of 1,600 IO/s.",
            "33 ms on exponential drives of 5 ms, where one read has 23 ms.",
        ),
    ),
    Lesson(
        3,
        "what redundancy costs",
        (
            Stop("write-penalty", 10, ("1,400 IO/s: one of eight drives is thought to be lost.",)),
            Stop("levels", 5, ("2,200 IO/s: six of eight disks.",)),
            Stop("rebuild", 15, ("0.40 h: the disk's own rate.", "1.33 h: 30 % of it.")),
            Stop("outlive", 10, ("5 %: a quarter of the time is thought a quarter of the risk.",)),
        ),
        15,
        25,
        10,
        answers=(
            "68 %: 842 of 1,231 IO/s.",
            "1.14 commands: n / (n - 1) on RAID 5.",
            "10.6 h at 209 MB/s; 45 h where the rebuild has 30 % of the time.",
        ),
    ),
    Lesson(
        4,
        'what "written" means',
        (
            Stop("write-cache", 10, ("3.8 s: what the disks take meanwhile is forgotten.",)),
            Stop("battery", 15, ("Nothing is wrong: nothing was lost.",)),
            Stop("fsync", 15, ("77 IO/s: a seek is counted for a log that needs none.",)),
        ),
        15,
        25,
        10,
        ("write-penalty",),
        answers=(
            "8.05 s: 0.75 · 2³⁰ B / 100 MB/s.",
            "Yes: data and parity of a stripe may differ, the write hole.",
            "Yes: those that only the disks' caches hold.",
        ),
    ),
    Lesson(
        5,
        "why flash slows down",
        (
            Stop("first-day", 15, ("A flat line: an SSD has no arm.",)),
            Stop("qlc", 10, ("A slow decline instead of a step.",)),
            Stop("ssd-cache", 15, ("An even rise from the first minute on.",)),
        ),
        15,
        25,
        10,
        ("compression",),
        answers=(
            "About 7 % with 7 % on the label, as in first-day.",
            "7.8 or 2.5, by the formula for the oldest block.",
            "About: 2.0 to 1.04. The drive finds a quarter, and spare space grows.",
            "About 7: 2.67 accesses a line take 6.7 minutes.",
        ),
    ),
    Lesson(
        6,
        "from a measurement to a purchase",
        (
            Stop("iostat", 10, ("100 %: %util is read as a share of what the drive can do.",)),
            Stop("own-disk", 10, ("5 %: the error of the points that the fit saw.",)),
            Stop("plan", 10, ("Six disks: writes and margin are forgotten.",)),
            Stop("neighbour", 10, ("5 ms: the database's own load has not changed.",)),
        ),
        15,
        25,
        10,
        ("levels", "simpy-60"),
        answers=(
            "None of them.",
            "66 to 209 %, by what the fit saw.",
            "No closed form says it: raidlab run SCENARIO --what-if does.",
        ),
        short=("iostat", "plan"),
    ),
)


def lessons_of(room: str) -> list[Lesson]:
    """The lessons that use a room."""
    return [lesson for lesson in LESSONS if room in lesson.rooms]
