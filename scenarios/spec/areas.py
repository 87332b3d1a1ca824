"""`area`: bytes, or `whole` for all of an array."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from raidlab.devices.forms import also, word
from raidlab.devices.units import Size


def _area(value: Any) -> Any:
    return None if value == "whole" else value


Area = Annotated[Size | None, BeforeValidator(_area), also(word("whole"))]
"""Bytes; None for the whole array."""
