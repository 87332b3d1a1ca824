"""The native engine. Plans and results are JSON; see `scenarios/engine/src/plan.rs`."""

from collections.abc import Callable
from pathlib import Path

class PlanError(ValueError):
    """A plan has faults: `args[0]` is a list of (key, value, what is allowed, about)."""

    args: tuple[list[tuple[str, str, str, str]]]

def version() -> str:
    """Give the version of the engine."""

def run(plan: str, watch: Callable[[int, int], bool] | None = None) -> str:
    """Run a plan; raises `PlanError`, or `KeyboardInterrupt` if asked to stop.

    `watch` is called now and then with the requests of recorded traces so far, and all of them;
    true stops the run.
    """

def plan_schema() -> str:
    """Give the JSON Schema of a plan, each type below `$defs`."""

def result_schema() -> str:
    """Give the JSON Schema of what the engine gives, each type below `$defs`."""

def capacities(plan: str) -> str:
    """Give the bytes that each drive of a plan holds, as a JSON list."""

def job_requests(thread: str, count: int) -> list[tuple[str, int, int]]:
    """Give the first I/Os of a thread of fio's jobs (JSON): operation, first byte, bytes."""

class TraceError(ValueError):
    """A trace has faults: `args[0]` is a JSON list of key, value, allowed, choices."""

    args: tuple[str]

def recognise_trace(path: Path) -> tuple[str, str]:
    """Give the format of a trace by its first lines; raises `TraceError`.

    Then what its columns mean, as `--columns` has it, where the names of a table say it.
    """

def scan_trace(options: str, watch: Callable[[int, int], bool] | None = None) -> str:
    """Read a trace through and say what it holds (JSON both).

    Raises `TraceError` with all lines that are at fault, up to twenty.
    """

def describe_trace(options: str, watch: Callable[[int, int], bool] | None = None) -> str:
    """Say what a trace is like (JSON both): mix, sizes, order, arrivals, hot spots, reuse."""

def synthesize_trace(
    options: str, out: Path, seed: int, watch: Callable[[int, int], bool] | None = None
) -> int:
    """Write a trace of the same statistics to a file, as `spc`; give its number of requests."""

def trace_columns(options: str) -> tuple[str, list[bytes]]:
    """Give what a trace holds (JSON), and all its requests.

    Columns: operations (u8), offsets, sizes, times, lines (u64), response times (f64, NaN for
    none), little-endian.
    """

Rows = tuple[
    int, list[tuple[int, int, int, int, int, int, int]], list[bytes], bytes, bytes, list[list[str]]
]
"""Bytes taken, runs (first byte, byte behind, columns, first row, rows, end of the prefix, keys),
names, the name of each row (u32) and all numbers (f64) little-endian, keys."""

def rows_of_lines(block: bytes) -> Rows:
    """Find the rows in the whole lines of a block: words, and plain numbers behind them."""

def rows_of_objects(block: bytes, key: bytes) -> Rows:
    """Find the flat objects that begin with a key; raises `ValueError` if one has another form."""

class Simulation:
    """A system whose clock a caller drives; all times in nanoseconds."""

    def __init__(self, plan: str) -> None: ...
    @property
    def now(self) -> int:
        """The clock."""

    def peek(self) -> int | None:
        """When something is due next."""

    def array(self, name: str) -> int | None:
        """Give the index of an array by its name."""

    def capacity(self, array: int) -> int:
        """Bytes that an array offers."""

    def erase_blocks(self, drive: int) -> str | None:
        """Give the erase blocks of a drive (JSON); None if it has none, or is not there."""

    def submit(self, array: int, op: int, offset: int, size: int, mark: int) -> int:
        """Submit an I/O now (op: 0 read, 1 write, 2 trim, 3 flush)."""

    def advance(
        self, limit: int
    ) -> tuple[int, int | None, int, int, int, int, int, int, int] | None:
        """Go on until something comes back or the clock reaches `limit`.

        Gives (I/O, drive or None, op, offset, bytes, mark, at, issued, outcome: 0 done, 1 refused,
        2 cut off by a power failure). Raises PlanError if a drive or a load cannot go on.
        """

    def act(self, action: str) -> None:
        """Let something happen now: an event of a plan (JSON) without its time."""

    def data(self) -> str | None:
        """What became of the data so far (JSON); None if the system does not follow them."""

    def report(self) -> str:
        """Give the result so far (JSON) in the shape of a run's.

        The caller's I/Os are the workloads `processes`, one for each array, behind the plan's own.
        """

    def log(self) -> str:
        """What has happened so far: a JSON list of `t_s`, `what`."""

    def served(self, io: int) -> None:
        """Report that a device of the caller's own has served a command, now."""
