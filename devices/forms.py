"""How a value is written in a file, for JSON Schema, where pydantic would state something else.

A quantity is checked by a validator and held as a number, which is what pydantic would state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

Form = dict[str, Any]
"""A part of a JSON Schema."""

TEXT: Form = {"type": "string"}


@dataclass(frozen=True, eq=False)
class Also:
    """Further forms of a value, beside those of its type."""

    forms: tuple[Form, ...]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Form:
        """What pydantic asks an annotation for."""
        return {"anyOf": [*self.forms, handler(core)]}


def also(*forms: Form) -> Also:
    """Further forms of a value."""
    return Also(forms)


def word(*words: str) -> Form:
    """One of these words."""
    return {"enum": list(words)}


def one_or_several(form: Form) -> Form:
    """A value, or a list of such values."""
    return {"anyOf": [form, {"type": "array", "items": form, "minItems": 1}]}
