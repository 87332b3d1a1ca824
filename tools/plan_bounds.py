"""Reads the schema of plans; writes `devices/plan_bounds.py`, or with `--types` what types need.

See `make schema`. The types of a plan have no bounds: `--types` writes the schema without those
that stand beside a reference, so that a type with a name keeps it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

HEAD = '''"""Bounds of a plan's numbers: made from the types of the engine by `make schema`."""

from __future__ import annotations

from typing import Final

from raidlab.devices.bounds import {kinds}
'''


def number(value: float) -> str:
    """A number as Python has it, whole ones without a point."""
    return f"{int(value):_}" if float(value).is_integer() else repr(value)


def bounds(form: dict[str, Any]) -> str | None:
    """What a number may be; nothing of one that may be whatever its type has room for."""
    least, most = form.get("minimum"), form.get("maximum")
    if form.get("format") in ("uint8", "uint16"):
        return None
    if most is not None:
        return f"Bounds({number(least or 0)}, {number(most)})"
    return f"LowerBound({number(least)})" if least else None


def structs(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and fields of all structs, those of an enum's variants as well."""
    for name, form in schema["$defs"].items():
        yield name, form.get("properties", {})
        for variant in form.get("oneOf", []):
            if "title" in variant:
                yield variant["title"], variant.get("properties", {})


def made(schema: dict[str, Any]) -> str:
    """The module."""
    classes = []
    for name, fields in sorted(structs(schema)):
        found = {key: bounds(form) for key, form in sorted(fields.items())}
        lines = [f"    {key}: Final = {text}" for key, text in found.items() if text is not None]
        if lines:
            classes.append(f'class {name}:\n    """Numbers of `{name}`."""\n\n' + "\n".join(lines))
    body = "\n\n\n".join(classes) + "\n"
    kinds = ", ".join(kind for kind in ("Bounds", "LowerBound") if f" {kind}(" in body)
    return HEAD.format(kinds=kinds) + "\n\n" + body


def named(form: Any) -> Any:
    """A schema without the bounds that stand beside references."""
    if isinstance(form, dict):
        beside = ("minimum", "maximum") if "$ref" in form or "anyOf" in form else ()
        return {key: named(value) for key, value in form.items() if key not in beside}
    return [named(each) for each in form] if isinstance(form, list) else form


if __name__ == "__main__":
    plan = json.load(sys.stdin)
    sys.stdout.write(json.dumps(named(plan)) if "--types" in sys.argv else made(plan))
