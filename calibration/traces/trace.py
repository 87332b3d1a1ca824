"""A trace in memory: requests with their times, and what was measured of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

READ, WRITE, TRIM, FLUSH = range(4)
"""Operations as the engine numbers them."""


@dataclass(frozen=True)
class Trace:
    """Requests in the order in which they were issued.

    Attributes:
        ops: 0 read, 1 write, 2 trim, 3 flush; shape (n,).
        offsets: Bytes.
        sizes: Bytes.
        times_ns: When each was issued, from the first one on; in a closed trace the pause between
            its completion and the next one.
        measured_us: Measured response times; NaN where none was.
        lines: Line of the file that each request stands in, from 1.
        closed: True if each request waited for the one before it.
        path: The file.
        notes: What was left out or changed, for the user.
    """

    ops: NDArray[np.uint8]
    offsets: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    times_ns: NDArray[np.uint64]
    measured_us: NDArray[np.float64]
    lines: NDArray[np.int64]
    closed: bool
    path: Path
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return int(self.offsets.size)

    @property
    def is_measured(self) -> bool:
        """True if the trace says how long every request took."""
        return len(self) > 0 and not bool(np.isnan(self.measured_us).any())
