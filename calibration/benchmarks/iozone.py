"""IOzone's output, as it prints it, as points of a measurement.

A process reads or writes a file record by record, one call at a time (with `-H` and `-k` several).
IOzone prints rates alone: KiB, records or microseconds. So latencies follow by Little's law, and
there are no percentiles:

    mean latency = depth * processes / rate

A table has a line for each size of file and record, with a number for each test that ran. Which ran
is said by `-i` of the command line: without it all. A line has no marks for those that did not.
Throughput mode (`-t`, `-l`, `-u`) prints a section for each number of processes instead.

Source: IOzone's documentation (iozone.org, `Iozone_msword_98`), options and tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.calibration.measurements.measurement import Latency, Point, Rw, Side
from raidlab.calibration.measurements.results import CUT, Refused, UnreadableError, not_of

_KIB: Final = 1024
_BEGIN: Final = "Iozone: Performance Test of File I/O"
_END: Final = "iozone test complete."
_COMMAND: Final = re.compile(r"Command line used:\s*(.*)")
_HEAD: Final = re.compile(r"^\s*kB\s+reclen\s+(.*)$", re.IGNORECASE)
_PROCESSES: Final = re.compile(r"Throughput test with (\d+) (?:process|thread)")
_FILE: Final = re.compile(r"writes a (\d+) kbyte file in (\d+) kbyte records", re.IGNORECASE)
_CHILDREN: Final = re.compile(
    r"Children see throughput for\s+(\d+)\s+([a-z -]+?)\s*=\s*([\d.]+)\s*(\S+)", re.IGNORECASE
)
_NUMBERS: Final = re.compile(r"^\s*\d+(?:\s+[\d.]+)+\s*$")
_WITH_VALUE: Final = "srfilujVHkSUgnLPbJXYyqd"
"""Options that take a value: the rest of their word, or the next one."""


@dataclass(frozen=True)
class _Test:
    """A column of the table."""

    name: str
    number: int
    """Of the option `-i`."""
    rw: Rw | None
    """None for what no scenario has as a load."""


_TESTS: Final = (
    _Test("write", 0, "write"),
    _Test("rewrite", 0, "write"),
    _Test("read", 1, "read"),
    _Test("reread", 1, "read"),
    _Test("random read", 2, "randread"),
    _Test("random write", 2, "randwrite"),
    _Test("bkwd read", 3, None),
    _Test("record rewrite", 4, None),
    _Test("stride read", 5, None),
    _Test("fwrite", 6, None),
    _Test("frewrite", 6, None),
    _Test("fread", 7, None),
    _Test("freread", 7, None),
)
_SECTIONS: Final[Mapping[str, Rw]] = {
    "initial writers": "write",
    "rewriters": "write",
    "readers": "read",
    "re-readers": "read",
    "random readers": "randread",
    "random writers": "randwrite",
}
_OTHER_LOADS: Final = {
    "B": "mmap, no calls of read and write",
    "d": "a delay between records",
    "J": "a delay between records",
    "K": "disrupted read patterns",
    "o": "O_SYNC: each write waits for a flush",
}
"""Options that make another load, with what it is."""


@dataclass(frozen=True)
class _Run:
    """One run of IOzone: what its options say, and its lines."""

    text: str
    options: Mapping[str, tuple[str, ...]]

    @property
    def tests(self) -> tuple[int, ...]:
        """Numbers of the tests that ran."""
        chosen = self.options.get("i")
        return tuple(int(each) for each in chosen if each.isdigit()) if chosen else tuple(range(8))

    @property
    def is_direct(self) -> bool:
        return "I" in self.options or "O_DIRECT feature enabled" in self.text

    @property
    def depth(self) -> int:
        """Calls that a process has outstanding, with POSIX asynchronous I/O."""
        given = [value for key in ("H", "k") for value in self.options.get(key, ())]
        return max([1, *(int(each) for each in given if each.isdigit())])

    def records(self, printed: float, record_kib: int) -> float:
        """Records a second of what it printed."""
        if "O" in self.options or "operations per second" in self.text:
            return printed
        if "N" in self.options or "microseconds per operation" in self.text.lower():
            return 1e6 / printed if printed else 0.0
        return printed / record_kib


def points_of(text: str, file: str) -> tuple[list[Point], list[Refused]]:
    """The points of an output, and what of it gives none.

    Args:
        text: What IOzone printed: of one run, or of several one after the other.
        file: Its name, for the points.

    Raises:
        UnreadableError: It is no output of IOzone, or was cut off.
    """
    rest = text.rpartition(_END)[2].strip()
    if rest and rest != _BEGIN and _BEGIN.startswith(rest):
        raise UnreadableError(f"ends within {_BEGIN!r}, at {rest!r}; {CUT}")
    starts = [found.start() for found in re.finditer(re.escape(_BEGIN), text)]
    if not starts:
        raise not_of("iozone", text)
    points: list[Point] = []
    refused: list[Refused] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        run = _run(text[start:end])
        reasons = [why for key, why in _OTHER_LOADS.items() if key in run.options]
        if reasons:
            refused.append(Refused("all tests", "; ".join(dict.fromkeys(reasons))))
            continue
        for reader in (_table, _throughput):
            for each in reader(run, file):
                if isinstance(each, Point):
                    points.append(each)
                elif each not in refused:
                    refused.append(each)
    return points, refused


def _run(text: str) -> _Run:
    command = _COMMAND.search(text)
    if _END not in text or command is None:
        last = text.rstrip().splitlines()[-1].strip()
        raise UnreadableError(f"ends before {_END!r}, at {last[:60]!r}; {CUT}")
    return _Run(text, _options(command[1].split()[1:]))


def _options(words: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Options by letter, those of one word apart, with their values."""
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(words):
        word, at = words[at], at + 1
        if not word.startswith("-") or word.startswith("-+"):
            continue
        for place, letter in enumerate(word[1:], 2):
            value = ""
            if letter in _WITH_VALUE:
                value = word[place:]
                if not value and at < len(words):
                    value, at = words[at], at + 1
            found[letter] = (*found.get(letter, ()), value)
            if letter in _WITH_VALUE:
                break
    return found


def _table(run: _Run, file: str) -> Iterator[Point | Refused]:
    columns: list[_Test] | None = None
    for line in run.text.splitlines():
        head = _HEAD.match(line)
        if head:
            shown = _TESTS[: len(head[1].split())]
            columns = [test for test in shown if test.number in run.tests]
        elif columns is not None and _NUMBERS.match(line):
            numbers = [float(word) for word in line.split()]
            if len(numbers) != len(columns) + 2:
                raise UnreadableError(
                    f"{line.strip()!r} has {len(numbers) - 2} rates for {len(columns)} tests"
                    f" ({', '.join(test.name for test in columns)}); {CUT}"
                )
            size_kib, record_kib = int(numbers[0]), int(numbers[1])
            for test, rate in zip(columns, numbers[2:], strict=True):
                if test.rw is None:
                    yield Refused(test.name, "no load that a scenario has")
                elif rate > 0:
                    yield _point(run, test.name, test.rw, (size_kib, record_kib, 1), rate, file)


def _throughput(run: _Run, file: str) -> Iterator[Point | Refused]:
    size = _FILE.search(run.text)
    if _PROCESSES.search(run.text) is None:
        return
    if size is None:
        raise UnreadableError("no line that says the size of each process's file and records")
    for children, name, rate, _ in _CHILDREN.findall(run.text):
        rw = _SECTIONS.get(name.lower())
        if rw is None:
            yield Refused(name, "no load that a scenario has")
        else:
            sizes = int(size[1]), int(size[2]), int(children)
            yield _point(run, name, rw, sizes, float(rate), file)


def _point(
    run: _Run, name: str, rw: Rw, sizes: tuple[int, int, int], printed: float, file: str
) -> Point:
    """A point of `sizes`: KiB of a process's file and of a record, number of processes."""
    size_kib, record_kib, processes = sizes
    iops = run.records(printed, record_kib)
    mean_us = 1e6 * run.depth * processes / iops
    ios = processes * (size_kib // record_kib)
    side = Side(
        iops=iops,
        ios=ios,
        bytes_per_s=iops * record_kib * _KIB,
        latency_mean_us=mean_us,
        completion=Latency(mean_us=mean_us),
    )
    is_read = rw.endswith("read")
    return Point(
        name=name,
        rw=rw,
        read_share=1.0 if is_read else 0.0,
        bs=record_kib * _KIB,
        iodepth=run.depth,
        numjobs=processes,
        area_bytes=processes * size_kib * _KIB,
        runtime_s=ios / iops,
        read=side if is_read else None,
        write=None if is_read else side,
        buffered=not run.is_direct,
        file=file,
    )
