"""Sums and averages per period of a cloud's monitoring, as samples: CloudWatch, Azure, GCP.

A sum is divided by its period. Totals of time over requests are latencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from raidlab.calibration.monitoring.samples import Capture, Quantity, Series

Q = Quantity


class Amount(Enum):
    """What was summed up over a period."""

    READS = "reads"
    WRITES = "writes"
    READ_BYTES = "bytes read"
    WRITE_BYTES = "bytes written"
    READ_MS = "ms of all reads"
    WRITE_MS = "ms of all writes"
    IDLE_S = "seconds without a request"


_PER_S = {Amount.READS: Q.READS, Amount.WRITES: Q.WRITES, Amount.READ_BYTES: Q.READ_BYTES,
          Amount.WRITE_BYTES: Q.WRITE_BYTES}  # fmt: skip
_WAITS = ((Amount.READ_MS, Amount.READS, Q.R_AWAIT), (Amount.WRITE_MS, Amount.WRITES, Q.W_AWAIT))


@dataclass
class Periods:
    """Collects figures by device and time."""

    values: dict[str, dict[float, dict[Amount | Quantity, float]]] = field(default_factory=dict)

    def add(self, device: str, what: Amount | Quantity, at: float, value: float) -> None:
        """A figure of the period that begins at `at`."""
        self.values.setdefault(device, {}).setdefault(at, {})[what] = value

    def finish(self, capture: Capture, period_s: float | None) -> float | None:
        """Makes the series; gives the period that was taken."""
        for device, by_time in self.values.items():
            times = np.array(sorted(by_time))
            capture.saw(times)
            usual = period_s
            if usual is None and len(times) > 1:
                usual = float(np.min(np.diff(times)))
            period_s = usual
            columns: dict[Quantity, list[float]] = {}
            for index, at in enumerate(times):
                for quantity, value in self._sample(by_time[at], usual).items():
                    column = columns.setdefault(quantity, [math.nan] * len(times))
                    column[index] = value
            if columns:
                capture.series[device] = Series(
                    times,
                    np.full(len(times), math.nan if usual is None else usual),
                    {quantity: np.array(column) for quantity, column in columns.items()},
                )
        return period_s

    @staticmethod
    def _sample(
        figures: dict[Amount | Quantity, float], period: float | None
    ) -> dict[Quantity, float]:
        found = {what: value for what, value in figures.items() if isinstance(what, Quantity)}
        for amount, requests, quantity in _WAITS:
            total, count = figures.get(amount), figures.get(requests)
            if total is not None and count:
                found[quantity] = total / count
        if period is None:
            return found
        for amount, quantity in _PER_S.items():
            if amount in figures:
                found[quantity] = figures[amount] / period
        if Amount.IDLE_S in figures:
            found[Q.UTIL] = 100 * max(0.0, 1 - figures[Amount.IDLE_S] / period)
        return found
