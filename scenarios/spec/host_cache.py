"""`host_cache` of an array: SSDs as a cache that the host's own software keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from raidlab.devices.faults import Fault
from raidlab.devices.forms import also, word
from raidlab.devices.schema import Table
from raidlab.devices.units import Share, Size
from raidlab.devices.words import folded

CacheKind = Literal["bcache", "dm-cache", "dm-writecache"]
CacheMode = Literal["writeback", "writethrough", "writearound"]


@dataclass(frozen=True)
class KindFacts:
    """What one kind does unless a scenario says otherwise."""

    modes: tuple[CacheMode, ...]
    """The first is the default."""
    block: int
    """Bytes that are cached together, of a single drive."""
    promote_after: int
    """Accesses after which a block comes to the SSDs; 0: reads bring none there."""
    dirty: float
    """Share of the blocks above which dirty ones are written back."""
    sequential_cutoff: int
    """Bytes of a stream from which on it is passed by; 0: never."""
    allocates: bool
    """True if writes of blocks that are not on the SSDs go there, too."""
    reads_alone_promote: bool
    """True if writes bring no block there but their own."""
    copies: int
    """Blocks that are copied to the SSDs at once."""


KINDS: Final[Mapping[CacheKind, KindFacts]] = {
    # drivers/md/bcache: cache_mode writethrough, writeback_percent 10, sequential_cutoff 4 MiB;
    # every read that misses is put into the cache.
    "bcache": KindFacts(
        ("writethrough", "writeback", "writearound"), 4096, 1, 0.1, 4 << 20, True, True, 256
    ),
    # drivers/md/dm-cache-policy-smq.c: a quarter of the blocks is kept clean; migration_threshold
    # of 2048 sectors is 16 blocks of lvmcache's 64 KiB. How often a block is hit before it comes
    # follows from hot spots that smq counts; twice is assumed.
    "dm-cache": KindFacts(("writethrough", "writeback"), 64 << 10, 2, 0.75, 0, False, False, 16),
    # drivers/md/dm-writecache.c: high_watermark 50; reads bring nothing there.
    "dm-writecache": KindFacts(("writeback",), 4096, 0, 0.5, 0, True, True, 1),
}
_WORDS: Final[Mapping[str, CacheKind]] = {
    "lvmcache": "dm-cache",
    "dmcache": "dm-cache",
    "cachepool": "dm-cache",
    "dmwritecache": "dm-writecache",
    "writecache": "dm-writecache",
}


def _kind(value: Any) -> Any:
    return _WORDS.get(folded(value), value) if isinstance(value, str) else value


class CacheDrives(Table):
    """One model of the SSDs of a cache."""

    model: str
    count: int = Field(default=1, ge=1, le=64)


class HostCacheTable(Table):
    """`host_cache` of an array."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        "cachemode": "mode",
        "blocksize": "block",
        "chunksize": "block",
        "bucketsize": "block",
        "highwatermark": 'dirty, such as "50 %"',
        "writebackpercent": 'dirty, such as "10 %"',
        "policy": "promote_after",
        "device": "drives",
        "ssd": "drives",
        "ssds": "drives",
    }

    kind: Annotated[CacheKind, BeforeValidator(_kind), also(word(*_WORDS))]
    drives: tuple[CacheDrives, ...] = Field(min_length=1)
    level: Literal["raid0", "raid1"] = "raid0"
    mode: CacheMode | None = None
    """`writethrough`, `writeback` or, with bcache, `writearound`; by kind if left out."""
    block: Size | None = Field(default=None, gt=0)
    """What is cached together, of an array of one drive; of others it is the data of a stripe."""
    promote_after: int | None = Field(default=None, ge=1, le=255)
    """Accesses after which a block comes to the SSDs."""
    dirty: Share | None = None
    """Share of the blocks above which dirty ones are written back."""
    sequential_cutoff: Size | None = None
    """Bytes of a stream from which on it passes the cache by; 0 for never."""
    state: Literal["empty", "warm"] = "empty"
    """`warm`: the run finds it as its loads make it in the long run."""

    @property
    def facts(self) -> KindFacts:
        """What its kind does."""
        return KINDS[self.kind]

    def faults(self) -> Iterator[Fault]:
        """A mode that the kind has not, blocks that no drive has, what never comes there."""
        facts = self.facts
        if self.mode is not None and self.mode not in facts.modes:
            yield Fault("mode", self.mode, f"{', '.join(facts.modes)} of {self.kind}", facts.modes)
        if self.block is not None and (self.block % 4096 or self.block > 1 << 20):
            yield Fault("block", f"{self.block} B", 'a multiple of 4 KiB, at most "1 MiB"')
        if not facts.promote_after and self.promote_after is not None:
            allowed = f"left out: reads bring nothing into {self.kind}"
            yield Fault("promote_after", self.promote_after, allowed)
