"""A tenant's limits as people write them: `"5000 IO/s"`, `"200 MB/s"`, or both in a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.forms import one_or_several
from raidlab.devices.units import IO_RATE, RATE, form_of, format_rate, meant

DEFAULT_BURST = 100_000_000
"""Nanoseconds for which a limit's tokens collect, where a load does not say: a tenth of a second,
as in QEMU, whose bucket holds `avg / 10` unless it is given (`throttle_compute_wait`)."""
LONGEST_BURST = 10 * 86400 * 10**9
"""Nanoseconds for which they collect at most."""
_MOST_IOS = 10**8
_ALLOWED = (
    'a rate of I/Os such as "5000 IO/s" (0.001 IO/s to 10^8 IO/s), a data rate such as "200 MB/s"'
    ' (at least 1 B/s), or a list of one of each: ["5000 IO/s", "200 MB/s"]'
)


@dataclass(frozen=True)
class Limit:
    """One limit of a load."""

    counts: Literal["ios", "bytes"]
    milli_per_s: int
    """Thousandths of an I/O, or of a byte, a second."""

    def __str__(self) -> str:
        per_s = self.milli_per_s / 1000
        return f"{per_s:g} IO/s" if self.counts == "ios" else format_rate(per_s)


def _limit(text: Any) -> Limit | None:
    """None if it is no limit."""
    if not isinstance(text, str):
        return None
    for counts, dimension, least, most in (
        ("ios", IO_RATE, 1, _MOST_IOS * 1000),
        ("bytes", RATE, 1000, 2**59),
    ):
        try:
            milli = round(dimension.parse(text) * 1000)
        except ValueError:
            continue
        return Limit(counts, milli) if least <= milli <= most else None  # type: ignore[arg-type]
    return None


def _limits(value: Any) -> tuple[Limit, ...]:
    found = [_limit(text) for text in (value if isinstance(value, list) else [value])]
    limits = tuple(limit for limit in found if limit is not None)
    kinds = {limit.counts for limit in limits}
    if not limits or len(limits) < len(found) or len(kinds) < len(limits):
        texts = value if isinstance(value, list) else [value]
        hints = (meant(text, IO_RATE, RATE) for text in texts if isinstance(text, str))
        allowed = _ALLOWED + next(filter(None, hints), "")
        raise PydanticCustomError("limit", "{allowed}", {"allowed": allowed})
    return limits


Limits = Annotated[
    tuple[Limit, ...],
    BeforeValidator(_limits),
    WithJsonSchema(one_or_several({"anyOf": [form_of(IO_RATE), form_of(RATE)]})),
]
"""Limits that hold at once: one, or one of I/Os and one of bytes."""
