"""Bands of tracks that overlap: a shingled disk that manages them by itself.

The model is described in docs/explanation/shingled.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from raidlab.devices import plan_bounds
from raidlab.devices.bounds import within
from raidlab.devices.faults import Fault
from raidlab.devices.hdd_geometry import SECTOR
from raidlab.devices.plan_types import ShingledParams
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Size


class Shingled(Table):
    """`[shingled]`: bands that are written in order only, and the log beside them."""

    band: Annotated[Size, within(plan_bounds.ShingledParams.band_bytes)]
    """What is written in order, and whole when it changes."""
    media_cache: Size
    """Log on conventional tracks, on the outermost ones, for writes that are no stream."""
    records: Annotated[int, within(plan_bounds.ShingledParams.records)]
    """Writes that the log's map has room for."""
    merge_after_idle: Duration = Field(le=3600 * 10**9)
    """Time without commands after which bands are merged with what the log has of them."""

    def faults(self) -> Iterator[Fault]:
        """A log smaller than a band, parts of sectors."""
        if self.media_cache < self.band:
            allowed = f"{self.band} B or more: a band"
            yield Fault("media_cache", f"{self.media_cache} B", allowed)
        for key in ("band", "media_cache"):
            size = getattr(self, key)
            if size % SECTOR:
                yield Fault(key, f"{size} B", f"whole sectors of {SECTOR} B")

    def to_plan(self) -> ShingledParams:
        """`ShingledParams` of the native models."""
        return {
            "band_bytes": self.band,
            "media_cache_bytes": self.media_cache,
            "records": self.records,
            "merge_after_idle_ns": self.merge_after_idle,
        }
