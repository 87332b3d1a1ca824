"""`outstanding`: I/Os in flight, one number or a run for each of several."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.forms import one_or_several, word
from raidlab.scenarios.spec.loads import OUTSTANDING


def _outstanding(value: Any) -> Any:
    allowed = '1 to 1048576, a list of such numbers, or "max" (1, 3, 8, 16 ... 512)'
    steps = list(OUTSTANDING) if value == "max" else value if isinstance(value, list) else [value]
    whole = all(isinstance(step, int) and not isinstance(step, bool) for step in steps)
    if not steps or not whole or not all(1 <= step <= 1 << 20 for step in steps):
        raise PydanticCustomError("outstanding", "{allowed}", {"allowed": allowed})
    return tuple(steps)


Outstanding = Annotated[
    tuple[int, ...] | None,
    BeforeValidator(_outstanding),
    WithJsonSchema(
        {
            "anyOf": [
                word("max"),
                one_or_several({"type": "integer", "minimum": 1, "maximum": 1 << 20}),
            ]
        }
    ),
]
"""I/Os in flight: of each run."""
