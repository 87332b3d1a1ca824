"""What a slow I/O waited for."""

from __future__ import annotations

from raidlab.scenarios.results.number_text import part_name
from raidlab.scenarios.spec.run_result import SlowIo

_MUCH_SHARE = 0.25
"""Share of an I/O's time from which on a second part is named."""

CAUSES = {
    "seek": "the arm",
    "rotation": "the platter",
    "garbage_collection": "a collection",
    "nand_program": "programs of NAND",
    "cache_wait": "room in the cache",
    "link_wait": "a busy link",
    "controller_wait": "the controller",
    "host_wait": "the host's CPU",
    "limit_wait": "a load's limit",
    "share_wait": "other tenants' shares",
    "raid": "a locked stripe or parity",
    "queue": "commands before it",
}
"""What a part of an I/O's time waits for."""


def cause(slow: SlowIo) -> str:
    """What an I/O waited for: its longest parts, where, and what was in work beside it."""
    parts = slow["breakdown_us"]
    total = sum(parts.values()) or 1.0
    longest = sorted(parts, key=lambda part: -parts[part])
    named = [part for part in longest[:2] if parts[part] >= _MUCH_SHARE * total] or longest[:1]
    what = " and ".join(
        f"{CAUSES.get(part, part_name(part))} {100 * parts[part] / total:.0f} %" for part in named
    )
    beside = f", beside {' and '.join(slow['beside'])}" if slow["beside"] else ""
    return f"{what}{beside}"
