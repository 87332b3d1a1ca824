"""What makes writes durable, as a scenario says it: file systems of arrays, calls of loads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault
from raidlab.devices.forms import also, word
from raidlab.devices.plan_types import SyncPlan
from raidlab.devices.schema import Table
from raidlab.devices.units import Size
from raidlab.devices.words import nearest_to

_CALLS = ("fsync", "fdatasync", "sync", "o_dsync")
_MOST_BETWEEN = 1 << 20


class FileSystemTable(Table):
    """`file_system` of an array: a name, or a table with the options of its mount."""

    type: Literal["ext4", "xfs"]
    data: Literal["ordered", "writeback"] = "ordered"
    """ext4's `data=`: whether a commit waits for the data of the files in it."""
    barrier: bool = True
    """False: it never flushes the drives' caches, as `barrier=0` and `nobarrier`."""
    journal_async_commit: bool = False
    """ext4: the commit block goes out beside the blocks of the transaction."""
    journal: Size | None = Field(default=None, gt=0)
    """Bytes of the journal; what mkfs chooses if left out."""

    def faults(self) -> Iterator[Fault]:
        """Options of ext4 on XFS, a commit block that data do not wait for."""
        if self.type == "xfs":
            for key in ("data", "journal_async_commit"):
                if key in self.model_fields_set:
                    yield Fault(key, getattr(self, key), "left out: an option of ext4")
        elif self.journal_async_commit and self.data == "ordered":
            allowed = 'false beside data = "ordered", which ext4 refuses to mount together'
            yield Fault("journal_async_commit", True, allowed)


def _by_name(value: Any) -> Any:
    """A table of a name; what is not modelled says what comes nearest."""
    if not isinstance(value, str):
        return value
    nearest = nearest_to(value)
    if nearest:
        raise PydanticCustomError("file_system", "{allowed}", {"allowed": f"ext4, xfs{nearest}"})
    return {"type": value}


AnyFileSystem = Annotated[
    FileSystemTable | None, BeforeValidator(_by_name), also(word("ext4", "xfs"))
]


class Durable(Table):
    """Keys of a workload that make its writes durable."""

    fsync: int = Field(default=0, ge=0, le=_MOST_BETWEEN)
    """Writes of each place between two calls of `fsync`; 0 for none."""
    fdatasync: int = Field(default=0, ge=0, le=_MOST_BETWEEN)
    """As `fsync`, of `fdatasync`, which leaves the file's times out."""
    sync: bool = False
    """The file is opened with O_SYNC: each write is one with an `fsync` behind it."""
    o_dsync: bool = False
    """Whether writes are opened with O_DSYNC, as if each were followed by `fdatasync`."""
    file_system: AnyFileSystem = None
    """That of the file which the load writes; its array has it, as if it said so itself."""
    append: bool = False
    """True if writes lengthen the file or fill blocks that were never written: on a file system
    each of them has metadata to commit, which an overwrite has not."""

    @property
    def makes_durable(self) -> bool:
        """True if calls make its writes durable."""
        return any(getattr(self, call) for call in _CALLS)

    def sync_faults(self, *, only_reads: bool, buffered: bool) -> Iterator[Fault]:
        """Several calls at once, calls of a load that writes nothing or through the page cache."""
        said = [call for call in _CALLS if getattr(self, call)]
        for call in said[1:]:
            yield Fault(call, getattr(self, call), f"left out beside `{said[0]}`: one of them")
        if said and only_reads:
            yield Fault(said[0], getattr(self, said[0]), "left out: the load writes nothing")
        if said and buffered:
            allowed = "left out beside `buffered`: of direct I/O alone it is modelled"
            yield Fault(said[0], getattr(self, said[0]), allowed)
        if self.append and not said:
            allowed = f"left out: it has no effect without one of {', '.join(_CALLS)}"
            yield Fault("append", True, allowed)

    @property
    def sync_plan(self) -> SyncPlan | None:
        """The plan's `sync`; none without calls.

        It asks for FUA; where the array does not take that the planner removes it.
        """
        if not self.makes_durable:
            return None
        plan: SyncPlan = {
            "every": self.fsync or self.fdatasync or 1,
            "times": bool(self.fsync) or self.sync,
            "allocates": self.append,
        }
        if self.sync or self.o_dsync:
            plan["fua"] = True
        return plan
