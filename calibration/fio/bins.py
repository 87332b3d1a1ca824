"""Buckets of latencies as fio's json+ writes them, which changed twice.

| fio | under | keys | unit |
|---|---|---|---|
| 2.2.12 to 2.19 | `clat` | numbers of all buckets, and how many bits these have | us |
| 2.20, 2.21 | `clat` | the latency that stands for a bucket, where it has I/Os | us |
| 2.99 and later | `clat_ns`, `lat_ns` | the same | ns |

Buckets of `b` bits are exact below 2^(b+1). Above, each power of two has 2^b of them, and the
middle of a bucket stands for it.

Source: `add_ddir_status_json` and `plat_idx_to_val` in `stat.c` of these versions.
"""

from __future__ import annotations

from collections.abc import Mapping

_BITS = "FIO_IO_U_PLAT_BITS"
_CONSTANTS = frozenset({_BITS, "FIO_IO_U_PLAT_VAL", "FIO_IO_U_PLAT_NR"})


def bins_ns(table: Mapping[str, int], unit_ns: int) -> tuple[tuple[int, int], ...]:
    """Buckets with I/Os, in order: nanoseconds that stand for the bucket, count.

    Args:
        table: `bins` of a latency.
        unit_ns: Nanoseconds of the unit of latencies in this file.

    Raises:
        ValueError: Keys are no whole numbers.
    """
    counts = {int(key): count for key, count in table.items() if key not in _CONSTANTS}
    if _BITS in table:
        bits = table[_BITS]
        counts = {_middle(number, bits): count for number, count in counts.items()}
    return tuple(sorted((at * unit_ns, count) for at, count in counts.items() if count))


def _middle(number: int, bits: int) -> int:
    """The latency that stands for a bucket."""
    if number < 2 << bits:
        return number
    shift = (number >> bits) - 1
    return (1 << (shift + bits)) + int((number % (1 << bits) + 0.5) * (1 << shift))
