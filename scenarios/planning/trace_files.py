"""Trace files: which format, which columns, which disk, and how their requests are issued.

Every format is described, with a line of each, in docs/reference/formats/traces.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypedDict, Unpack, cast, get_args

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.plan_types import Column, Columns, Options
from raidlab.devices.reading import MIB, read_bytes
from raidlab.scenarios import _engine
from raidlab.scenarios.spec.run_result import Scan
from raidlab.scenarios.spec.schema import TraceFormat
from raidlab.scenarios.spec.trace_columns import columns_of

FORMATS: tuple[str, ...] = get_args(TraceFormat)
CLOSED = "disksim-validate"
"""The format whose requests wait for each other: its times are pauses."""
Beyond = Literal["refuse", "wrap", "skip", "scale"]
_LARGEST_PIPE = 64 * MIB
"""Of what comes from a pipe."""
Watch = Callable[[int, int], bool]
"""Called now and then with requests so far and all of them; true stops the work."""


class Placement(TypedDict, total=False):
    """Where a trace's requests are placed, as `Options` of the native engine has it."""

    capacity: int
    beyond: Beyond
    slower: float
    pauses: bool
    without_trims: bool


@dataclass(frozen=True)
class TraceFile:
    """A trace and how it is read."""

    path: Path
    form: str = ""
    """One of `FORMATS`; empty for the one that its first lines show."""
    columns: str = ""
    """For `csv`: which column means what (see `columns_of`)."""
    unit: str | None = None
    """The disk whose requests are wanted; None for all, one disk after the other."""

    def options(self, **placement: Unpack[Placement]) -> Options:
        """What the engine is asked for, with where requests are placed.

        Raises:
            SpecError: The format or the columns cannot be.
        """
        if self.form not in FORMATS:
            allowed = f"one of {', '.join(FORMATS)}"
            raise SpecError([Fault("--format", self.form, allowed, FORMATS)])
        if self.columns and self.form != "csv":
            allowed = f"nothing for {self.form}: it has no names"
            raise SpecError([Fault("--columns", self.columns, allowed)])
        columns = None
        if self.form == "csv":
            named = columns_of(self.columns).items()
            found = {meaning: Column(name=name, unit=unit) for meaning, (name, unit) in named}
            columns = cast(Columns, found)
        asked: Options = {"path": str(self.path), "format": self.form, "columns": columns}
        asked["unit"] = self.unit
        return {**asked, **placement}

    @property
    def is_pipe(self) -> bool:
        """True for what is no file and no folder."""
        try:
            there, path = self.path.exists(), self.path
            return there and not path.is_file() and not path.is_dir()
        except ValueError:
            return False

    def known(self) -> TraceFile:
        """A copy with its format, as its first lines show it where none is given.

        What comes from a pipe can be read once: its format is known when it is `opened`.

        Raises:
            SpecError: The file cannot be read, or is of no format that is known.
        """
        if not self.form and self.columns:
            return replace(self, form="csv")
        if self.form or self.is_pipe:
            return self
        with faults_of(self):
            form, columns = _engine.recognise_trace(self.path)
        return replace(self, form=form, columns=columns)


@dataclass(frozen=True)
class Timing:
    """When requests are issued, and where."""

    outstanding: int = 0
    """Requests in flight of a closed loop; 0 for the trace's own times."""
    pauses: bool = True
    """Whether a closed loop keeps the trace's pauses between a completion and the next request."""
    slower: float = 1.0
    """Times between requests, times this."""
    beyond: Beyond = "refuse"
    """What becomes of requests that end beyond the device."""

    def of(self, trace: TraceFile) -> Timing:
        """As `beyond`, of a trace: if its times are pauses, at least one request is in flight."""
        return replace(self, outstanding=self.outstanding or int(trace.form == CLOSED))

    def placement(self, capacity: int, trace: TraceFile) -> Placement:
        """How the engine reads the trace for a device of `capacity` bytes."""
        keeps = self.pauses or not self.outstanding
        return {
            "capacity": capacity,
            "beyond": self.beyond,
            "slower": self.slower if keeps else 0.0,
            "pauses": bool(self.outstanding) and trace.form != CLOSED,
        }


@contextmanager
def faults_of(trace: TraceFile) -> Iterator[None]:
    """Turns what the engine finds wrong with a trace into faults of its file."""
    try:
        yield
    except _engine.TraceError as error:
        raise SpecError(_fault(trace.path, each) for each in json.loads(error.args[0])) from None


class _TraceFault(TypedDict):
    """What the engine finds wrong with a trace."""

    key: str
    value: str | None
    allowed: str
    choices: list[str]


def _fault(path: Path, found: _TraceFault) -> Fault:
    return Fault(found["key"], found["value"], found["allowed"], found["choices"], str(path))


@contextmanager
def opened(trace: TraceFile) -> Iterator[TraceFile]:
    """The trace, with its format, as a file that can be read twice.

    What comes from a pipe is kept meanwhile.

    Raises:
        SpecError: It comes from a pipe and is larger than 64 MiB.
    """
    if not trace.is_pipe:
        yield trace.known()
        return
    with tempfile.NamedTemporaryFile() as kept:
        kept.write(read_bytes(trace.path, _LARGEST_PIPE, "trace"))
        kept.flush()
        file = replace(trace, path=Path(kept.name))
        try:
            file = file.known()
        except SpecError as error:
            faults = [replace(each, file=str(trace.path)) for each in error.faults]
            raise SpecError(faults) from None
        yield file


def scan(trace: TraceFile, watch: Watch | None = None, **placement: Unpack[Placement]) -> Scan:
    """What a trace holds: requests, disks, first and last time; every line is checked.

    Raises:
        SpecError: Lines are at fault: all of them, up to twenty; or none is a request.
    """
    with faults_of(trace):
        found: Scan = json.loads(_engine.scan_trace(json.dumps(trace.options(**placement)), watch))
    return found


_SHARE_OF_ODD = 0.1
_MOST_PER_S = 20e6
"""Requests a second that no storage system of today serves."""
_LEAST_PER_S = 0.05
"""Requests a second that hardly anybody records."""
_LARGEST_MEAN = 64 * MIB
_FEW_REQUESTS = 10
"""Requests from which on a rate says something."""
_OF_ONE_UNIT = ("disksim-ascii", "mqsim", "csv")
"""Formats whose files are written in other units, too."""


def _implausible(held: Scan) -> Iterator[str]:
    """Rates and sizes that no device has, with the unit that is likely instead."""
    requests, length_s = held["requests"], held["length_ns"] / 1e9
    if requests >= _FEW_REQUESTS and not held["closed"] and length_s:
        per_s = requests / length_s
        larger = "a unit 1,000 or 1,000,000 times as long (us for ns, ms for us, s for ms)"
        smaller = "a unit 1,000 or 1,000,000 times as short (us for ms, ns for us)"
        if per_s > _MOST_PER_S:
            rate = f"{per_s:,.0f} requests/s, more than any system serves"
            yield f"{rate}: times are likely in {larger}"
        elif per_s < _LEAST_PER_S and held["format"] in _OF_ONE_UNIT:
            yield f"{per_s:.2g} requests/s: times are likely in {smaller}"
    mean = held["bytes"] / requests if requests else 0.0
    if mean > _LARGEST_MEAN:
        size = f"{mean / MIB:,.0f} MiB a request on average"
        yield f"{size}, more than systems send: sizes are likely in bytes, not in a larger unit"
    elif held["odd_sizes"] > _SHARE_OF_ODD * requests:
        odd = f"{held['odd_sizes']:,} of {requests:,} sizes are no multiple of 512 bytes"
        yield f"{odd}: sizes are likely in sectors or KiB, not in bytes"


def notes(held: Scan, beyond: Beyond = "refuse", chosen_by: str = "--unit") -> tuple[str, ...]:
    """What a user should know of where a trace's requests lie.

    Args:
        held: What `scan` gives.
        beyond: What becomes of requests that end beyond the device.
        chosen_by: The option or key that chooses one disk.
    """
    found = list(_implausible(held))
    if held["others"]:
        found.append(f"{held['others']:,} lines of commands that move no data are left out")
    units = [each["name"] for each in held["units"]]
    if len(units) > 1:
        found.append(
            f"requests of {len(units)} disks ({', '.join(units[:10])}): their addresses are laid"
            f" one after the other, {held['extent']} bytes in all; {chosen_by} chooses one"
        )
    become = {"wrap": "taken modulo its size", "skip": "left out"}.get(beyond)
    if beyond == "scale":
        found.append("addresses are spread over the device, or drawn together, by pieces of 1 MiB")
    elif held["outside"] and become is not None:
        how = f"lie beyond the device: {become}"
        found.append(f"{held['outside']:,} of {held['requests']:,} requests {how}")
    return tuple(found)
