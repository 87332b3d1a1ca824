"""`[[candidates]]` of a question: lists, of which every combination is a candidate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, TypedDict, cast

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.forms import one_or_several
from raidlab.devices.levels import ArrayLevel
from raidlab.devices.schema import Table
from raidlab.devices.units import RATE, SIZE
from raidlab.scenarios.planning.bitmap import BITMAP_LEVELS
from raidlab.scenarios.spec.caching import WriteMode
from raidlab.scenarios.spec.declustered import DeclusteredTable
from raidlab.scenarios.spec.trees import ArrayTree
from raidlab.scenarios.studies.vary import axes_of


def _counts(value: Any) -> tuple[int, ...]:
    texts = value if isinstance(value, list) else [value]
    try:
        (axis,) = axes_of([f"counts={','.join(map(str, texts))}"])
    except SpecError:
        axis = None
    counts = () if axis is None else axis.values
    if not counts or not all(type(count) is int and 1 <= count <= 4096 for count in counts):
        allowed = 'numbers of drives: 8, [4, 8, 12], "4:24" or "4:24:2"'
        raise PydanticCustomError("counts", "{allowed}", {"allowed": allowed})
    return tuple(counts)


Counts = Annotated[
    tuple[int, ...],
    BeforeValidator(_counts),
    WithJsonSchema(
        one_or_several(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": 4096},
                    {"type": "string", "examples": ["4:24", "4:24:2"]},
                ]
            }
        )
    ),
]


class Bought(TypedDict, total=False):
    """What is bought of a cloud volume, as keys of `drives`."""

    size: str
    iops: float
    throughput: str


_SIZES: Final = {"stripe_units": "64 KiB", "used": "3500 GiB", "sizes": "2 TiB"}
"""Keys of candidates that have sizes, with one each."""


_OF_MD: Final = {
    "bitmap": BITMAP_LEVELS,
    "bitmap_chunk": BITMAP_LEVELS,
    "group_thread_cnt": ("raid5", "raid6"),
    "sync_speed_max": BITMAP_LEVELS,
}
"""Settings of RAID in the host, and the levels that have them."""


class CandidatesTable(Table):
    """`[[candidates]]`: every combination of these."""

    name: str = ""
    drives: tuple[str, ...] = Field(min_length=1)
    counts: Counts
    levels: tuple[ArrayLevel, ...] = Field(min_length=1)
    controllers: tuple[str, ...] = ("none",)
    """`none` is drives on the host, in its own RAID."""
    hosts: tuple[str, ...] = ("generic",)
    write: tuple[WriteMode, ...] = ()
    """Cache policies of controllers; their own if left out."""
    backup: str | None = None
    disk_cache: bool | None = None
    bitmap: Literal["none", "internal"] | None = None
    """Of RAID in the host, as the next three; `internal` if left out, as mdadm makes it."""
    bitmap_chunk: str | None = None
    group_thread_cnt: Annotated[int, Field(ge=0, le=256)] | None = None
    sync_speed_max: str | None = None
    stripe_units: tuple[str, ...] = ("64 KiB",)
    spans: tuple[Annotated[int, Field(ge=2, le=256)], ...] = ()
    """Of RAID 50 and 60; two if left out. Other levels have none."""
    declustered: tuple[DeclusteredTable, ...] = ()
    """Stripes of RAID 5 and 6 narrower than the array; all drives if left out."""
    used: tuple[str, ...] = ()
    """Part of each drive that the array uses; the whole drive if left out."""
    sizes: tuple[str, ...] = ()
    """What is bought of cloud volumes; what their files have if left out. So the next two."""
    iops: tuple[Annotated[float, Field(ge=1, le=1e9)], ...] = ()
    """I/Os a second of each."""
    throughput: tuple[str, ...] = ()
    """Bytes a second of each."""
    spares: tuple[Annotated[int, Field(ge=0, le=64)], ...] = (0,)
    ssd_cache: tuple[str, ...] = ()
    """Drives of a cache of SSDs before the array; none if left out."""
    ssd_cache_counts: Counts = (2,)

    def faults(self) -> Iterator[Fault]:
        """Spans of levels that have none; parts of drives that are no sizes."""
        if self.spans and not set(self.levels) & {"raid50", "raid60"}:
            yield Fault("spans", list(self.spans), "left out: only raid50 and raid60 have spans")
        if self.declustered and not set(self.levels) & {"raid5", "raid6"}:
            allowed = "left out: only raid5 and raid6 can be declustered"
            yield Fault("declustered", f"{len(self.declustered)} tables", allowed)
        yield from self._faults_of_md()
        for key, example in _SIZES.items():
            for at, size in enumerate(getattr(self, key)):
                try:
                    known = SIZE.parse(size) > 0
                except ValueError:
                    known = False
                if not known:
                    yield Fault(f"{key}.{at}", size, f'a size above 0, such as "{example}"')

    def _faults_of_md(self) -> Iterator[Fault]:
        """Settings of RAID in the host where none has them, and what is no size or speed."""
        for key, levels in _OF_MD.items():
            value = getattr(self, key)
            if value is None:
                continue
            if "none" not in self.controllers or not set(self.levels) & set(levels):
                allowed = f'left out: only {", ".join(levels)} with controllers = ["none"] have one'
                yield Fault(key, value, allowed)
        for key, kind, example in (
            ("bitmap_chunk", SIZE, "512 MiB"), ("sync_speed_max", RATE, "500 MB/s"),
        ):  # fmt: skip
            value = getattr(self, key)
            try:
                known = value is None or kind.parse(value) > 0
            except ValueError:
                known = False
            if not known:
                yield Fault(key, value, f'above 0, such as "{example}"')
        if self.bitmap == "none" and self.bitmap_chunk is not None:
            yield Fault("bitmap_chunk", self.bitmap_chunk, 'left out beside bitmap = "none"')

    def of_md(self, level: str) -> ArrayTree:
        """Settings of an array of this level in the host, as keys of `[[array]]`."""
        found: dict[str, object] = {}
        if level in BITMAP_LEVELS:
            found["bitmap"] = self.bitmap or "internal"
            if self.bitmap_chunk is not None:
                found["bitmap_chunk"] = self.bitmap_chunk
        if self.group_thread_cnt is not None and level in _OF_MD["group_thread_cnt"]:
            found["group_thread_cnt"] = self.group_thread_cnt
        if self.sync_speed_max is not None and level in _OF_MD["sync_speed_max"]:
            found["sync_speed_max"] = self.sync_speed_max
        return cast(ArrayTree, found)

    def volumes(self) -> list[Bought]:
        """What is bought of each volume, as keys of `drives`: every combination."""
        every = itertools.product(self.sizes or (None,), self.iops or (None,),
                                  self.throughput or (None,))  # fmt: skip
        found: list[Bought] = []
        for size, iops, throughput in every:
            bought: Bought = {}
            if size is not None:
                bought["size"] = size
            if iops is not None:
                bought["iops"] = iops
            if throughput is not None:
                bought["throughput"] = throughput
            found.append(bought)
        return found
