"""fio's engines of I/O: which are simulated as what, and why the others are not.

Source: fio's HOWTO, "I/O engine"; `engines/` of fio 3.33 and later.
"""

from __future__ import annotations

from collections.abc import Mapping

SIMULATED_AS: Mapping[str, str] = {
    "libaio": "libaio",
    "io_uring": "libaio",
    "io_uring_cmd": "libaio",
    "posixaio": "posixaio",
    "sync": "sync",
    "psync": "psync",
    "vsync": "vsync",
    "pvsync": "pvsync",
    "pvsync2": "pvsync2",
    "mmap": "psync",
}
"""The engine of fio's that runs, by the one that is asked for."""

PAST_PAGE_CACHE = frozenset({"io_uring_cmd"})
"""Engines that never use the kernel's page cache; the others do unless `direct` is set."""

_WAITS_FOR_FLUSHES = frozenset({"libaio"})
"""Engines of which a job stands still until its flush is done, with its other I/Os in flight."""

_NO_BLOCKS = (
    (
        "does no I/O to a block device, so nothing is simulated",
        "null cpp_null cpuio exec page_fault",
    ),
    (
        "measures a file system, and none is simulated",
        "ftruncate falloc filecreate filestat filedelete dircreate dirstat dirdelete e4defrag",
    ),
    ("loads and stores, to persistent memory, are no I/O", "libpmem dev-dax pmemblk"),
)
_WHY_NOT = (
    *_NO_BLOCKS,
    (
        "reaches its store over a network, which is not simulated",
        "net netsplice rdma rbd rados gfapi gfapi_async http nfs dfs nbd libhdfs libiscsi ime_psync"
        " ime_psyncv ime_aio librpma_apm_server librpma_apm_client librpma_gpspm_server"
        " librpma_gpspm_client",
    ),
    (
        "reaches its device past the kernel's block layer, which is not simulated",
        "sg libzbc xnvme libblkio mtd libcufile libhipfile windowsaio solarisaio external",
    ),
    ("moves pages of the page cache, and none is here", "splice"),
)

WITHOUT_BLOCK_IO = frozenset(name for _, names in _NO_BLOCKS for name in names.split()) | {
    *("net", "netsplice"),
    *("rdma", "librpma_apm_server", "librpma_apm_client"),
    *("librpma_gpspm_server", "librpma_gpspm_client"),
}
"""Engines whose results tell nothing of a store of blocks."""

SYNCHRONOUS = frozenset(
    [
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"),
        *("gfapi", "libhdfs", "http", "mtd", "libzbc", "ime_psync", "libcufile", "libhipfile"),
    ]
)
"""Engines that wait for each I/O: one is in flight, whatever `iodepth` says."""

REFUSED: Mapping[str, str] = {
    engine: why for why, engines in _WHY_NOT for engine in engines.split()
}
"""Engines that are not simulated, and why."""


def flushing(asked: str, depth: str | None) -> str:
    """The engine that runs where a job flushes between its I/Os.

    fio's libaio engine up to 3.40 calls `fsync` itself and waits; io_uring and posixaio queue a
    flush as an I/O. fio does not note when its libaio engine begins a flush, so that its latency
    counts from an earlier I/O. One I/O at a time waits either way, and posixaio counts right.

    Args:
        asked: The engine of the job, one of `SIMULATED_AS`.
        depth: Its `iodepth`; None if left out, which is 1.
    """
    engine = SIMULATED_AS[asked]
    if engine != "libaio" or (asked in _WAITS_FOR_FLUSHES and depth not in (None, "1")):
        return engine
    return "posixaio"


def queues_flushes(asked: str) -> bool:
    """True if an engine queues a flush as an I/O: `aio_fsync`, `IORING_OP_FSYNC`, NVMe's Flush."""
    asynchronous = SIMULATED_AS.get(asked) in ("libaio", "posixaio")
    return asynchronous and asked not in _WAITS_FOR_FLUSHES


def name_of(engine: str) -> str:
    """An engine's name: `external` for one that fio loads from a file."""
    return "external" if engine.startswith("external:") or "/" in engine else engine


def simulated() -> str:
    """The engines that may be asked for, for messages."""
    return ", ".join(SIMULATED_AS)
