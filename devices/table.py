"""Devices that are known by a table of measured latencies, and by nothing else.

docs/explanation/tables.md has the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Literal

from pydantic import Field

from raidlab.devices.faults import Fault
from raidlab.devices.plan_types import LatencyParams, TableDeviceParams
from raidlab.devices.schema import DriveOptions, DriveSpec, Table
from raidlab.devices.units import Duration, Share, Size

SHARES: Final = (0.0, 0.5, 0.9, 0.99, 0.999, 1.0)
"""Shares of commands at which a row has latencies: none faster, half, ..., none slower."""


class Row(Table):
    """`[[read]]`, `[[write]]`: latencies at one block size and one number of commands."""

    block: Size = Field(gt=0)
    outstanding: float = Field(gt=0, le=1e6)
    """Commands in the device, on average."""
    mean: Duration = Field(gt=0)
    """Decides the rate: `outstanding / mean`."""
    latencies: tuple[Duration, ...] = ()
    """Latencies that 0, 50, 90, 99, 99.9 and 100 % of the commands do not exceed: their shape,
    which is scaled to the mean. If left out, all commands take the mean."""

    def faults(self) -> Iterator[Fault]:
        """Latencies that are not six, or fall."""
        if self.latencies and len(self.latencies) != len(SHARES):
            yield Fault("latencies", list(self.latencies), f"{len(SHARES)} of them, or none")
        if list(self.latencies) != sorted(self.latencies) or (
            self.latencies and not self.latencies[-1]
        ):
            yield Fault("latencies", list(self.latencies), "durations that rise")

    def quantiles_ns(self) -> list[float]:
        """Latencies at `SHARES`, whose mean is `mean` where they go straight between two."""
        if not self.latencies:
            return [float(self.mean)] * len(SHARES)
        places = zip(SHARES, self.latencies, strict=True)
        area = sum(
            (right - left) * (low + high) / 2.0 for (left, low), (right, high) in pairwise(places)
        )
        return [latency * self.mean / area for latency in self.latencies]


class TableSpec(DriveSpec):
    """`kind = "table"`: a latency by direction, block size and commands in the device."""

    kind: Literal["table"]
    capacity: Size = Field(gt=0)
    read: tuple[Row, ...] = ()
    write: tuple[Row, ...] = ()
    shared: Share = 1.0
    """Share of the commands of the other direction that a command waits with: 1 where reads and
    writes have one bottleneck, 0 where each have their own."""

    def faults(self) -> Iterator[Fault]:
        """No row, or one of them twice."""
        yield from super().faults()
        if not self.read and not self.write:
            yield Fault("read", None, "a row of `[[read]]`, of `[[write]]`, or both")
        for name, rows in (("read", self.read), ("write", self.write)):
            places = [(row.block, row.outstanding) for row in rows]
            for number, place in enumerate(places):
                if place in places[:number]:
                    allowed = "a block and a number of commands that no other row has"
                    yield Fault(f"{name}.{number}.outstanding", place[1], allowed)

    def capacity_bytes(self, options: DriveOptions) -> int:
        """Bytes that a host can address."""
        return self.capacity

    def to_plan(self, options: DriveOptions) -> TableDeviceParams:
        """`MeasuredParams` of the native models."""
        plan: TableDeviceParams = {
            "kind": "table",
            "capacity_bytes": self.capacity,
            "shares": list(SHARES),
            "latencies": [_latencies(self.read), _latencies(self.write)],
        }
        if self.shared < 1.0:
            plan["shared"] = self.shared
        return plan


def _latencies(rows: tuple[Row, ...]) -> list[LatencyParams]:
    ordered = sorted(rows, key=lambda row: (row.block, row.outstanding))
    return [
        {
            "block_bytes": row.block,
            "outstanding": row.outstanding,
            "quantiles_ns": row.quantiles_ns(),
        }
        for row in ordered
    ]
