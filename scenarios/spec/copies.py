"""`layout` of an array: where Linux md puts the copies of RAID 10."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from raidlab.devices.copies import CopyLayout
from raidlab.scenarios.spec.trees import ArrayTree

_ALLOWED: Final = "near2, far2 or offset2, or n2, f2 and o2, with 2 to 16 copies"


def _layout(value: Any) -> Any:
    if value is None or isinstance(value, CopyLayout):
        return value
    found = CopyLayout.parse(value) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("layout", "{allowed}", {"allowed": _ALLOWED})
    return found


AnyCopyLayout = Annotated[
    CopyLayout | None,
    BeforeValidator(_layout),
    WithJsonSchema({"type": "string", "pattern": "^(n|near|f|far|o|offset)=?[0-9]*$"}),
]
"""A layout by the words of mdadm."""


def layout_of(array: ArrayTree) -> CopyLayout | None:
    """That of an array of a scenario's tree, which was checked; None where nothing says one."""
    text = array.get("layout")
    return CopyLayout.parse(text) if isinstance(text, str) else None
