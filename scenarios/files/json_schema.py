"""JSON Schema of the files that people write, made of the tables that check them.

Editors complete and check TOML by it (docs/how-to/editors.md). It is the outer form: what several
keys together show, `raidlab check` says. The dialect is draft-07, of which only what draft-04 has
besides is used where it matters for completion (`definitions`, `anyOf`): editors of TOML know that.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast, get_args

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from raidlab.devices.catalogue import KINDS
from raidlab.devices.datasheet.controller import ControllerSheet
from raidlab.devices.datasheet.sheet import Sheet
from raidlab.devices.forms import Form
from raidlab.devices.provenance import SOURCES, Source
from raidlab.devices.units import (
    DIMENSION,
    DIMENSIONS,
    DURATION,
    PERCENT,
    RATE,
    SIZE,
    Dimension,
    bound_like,
    format_duration,
    format_rate,
    format_size,
)
from raidlab.scenarios.capacity.question import QuestionTable
from raidlab.scenarios.files.kinds import SchemaOf
from raidlab.scenarios.spec.schema import RunTable, ScenarioTable, WorkloadTable

_DIALECT = "http://json-schema.org/draft-07/schema#"
_MODELS = "definitions"
_NOT_TOML = frozenset({"title", "ge", "gt", "le", "lt"})
"""What pydantic adds that says nothing, or nothing right, of text with a unit."""
_FORMATS: Mapping[str, Callable[[int], str]] = {
    DURATION.name: format_duration,
    SIZE.name: format_size,
    RATE.name: format_rate,
}
_BOUNDS = (
    (annotated_types.Ge, "ge", "at least"),
    (annotated_types.Gt, "gt", "more than"),
    (annotated_types.Le, "le", "at most"),
    (annotated_types.Lt, "lt", "less than"),
)


_TITLES = {
    SchemaOf.SCENARIO: "A scenario of raidlab",
    SchemaOf.DEVICE: "A device file of raidlab",
    SchemaOf.SHEET: "What a maker states of a drive or a controller, for raidlab import datasheet",
    SchemaOf.QUESTION: "A question of raidlab plan",
}


def json_schema(of: SchemaOf) -> Form:
    """The schema of a kind of files, as plain data; the same for the same version.

    Raises:
        AssertionError: A table has a form that is not known here, which is a bug.
    """
    match of:
        case SchemaOf.SCENARIO:
            defs = _tables([ScenarioTable])
            root: Form = {"$ref": _ref("ScenarioTable")}
        case SchemaOf.QUESTION:
            defs = _tables([QuestionTable, WorkloadTable, RunTable])
            keys = defs["QuestionTable"]["properties"]
            keys["load"]["items"] = {"$ref": _ref("WorkloadTable")}
            keys["run"] = {"allOf": [{"$ref": _ref("RunTable")}], **_described(keys["run"])}
            root = {"$ref": _ref("QuestionTable")}
        case SchemaOf.SHEET:
            defs = _tables([Sheet, ControllerSheet])
            root = _one_of("Sheet", "ControllerSheet")
        case SchemaOf.DEVICE:
            defs, root = _devices()
    return {"$schema": _DIALECT, "title": _TITLES[of], **root, _MODELS: defs}


def schema_text(of: SchemaOf) -> str:
    """The schema of a kind of files as the text of a file: a table a line."""
    schema = json_schema(of)
    definitions = schema.pop(_MODELS)
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in schema.items()]
    tables = [f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in definitions.items()]
    inner = ",\n".join(tables)
    lines = [*head, f"{json.dumps(_MODELS)}: {{\n{inner}\n }}"]
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _ref(name: str) -> str:
    return f"#/{_MODELS}/{name}"


def _described(form: Form) -> Form:
    return {"description": form["description"]} if "description" in form else {}


def _one_of(*names: str) -> Form:
    return {"type": "object", "anyOf": [{"$ref": _ref(name)} for name in names]}


def _devices() -> tuple[Form, Form]:
    """The tables of all kinds of devices, and the schema above them.

    A device that is `like` another states what differs alone: nothing is required of it. A number
    may stand in a table beside its source.
    """
    source = _tables([Source])["Source"]
    sourced = {
        **source,
        "properties": {"value": {"description": "The number itself."}, **source["properties"]},
        "required": ["value", "source"],
        "description": "A number and where it came from.",
    }
    word = source["properties"]["source"]
    defs: Form = {"Source": source, "SourcedNumber": sourced}
    own: Form = {
        "like": {
            "type": "string",
            "description": "A device whose keys it takes over: a name, or the path of a file.",
        },
        SOURCES: {
            "type": "object",
            "description": "Where numbers came from, by key; `all` for all of them.",
            "additionalProperties": {"anyOf": [word, {"$ref": _ref("Source")}]},
        },
    }
    for kind, model in KINDS.items():
        tables = {f"{kind}.{name}": table for name, table in _tables([model]).items()}
        for table in tables.values():
            _rename(table, f"{kind}.{{}}".format)
            for key, form in table.get("properties", {}).items():
                table["properties"][key] = _or_sourced(form)
        top = tables[f"{kind}.{model.__name__}"]
        top["properties"] |= own | {"kind": {"enum": [kind]}}
        defs |= tables
        for name, table in tables.items():
            part: Form = _without_required(table)
            _rename(part, "{}.part".format)
            defs[f"{name}.part"] = part
        defs[f"{kind}.{model.__name__}.part"]["required"] = ["like"]
    whole = [f"{kind}.{model.__name__}" for kind, model in KINDS.items()]
    return defs, _one_of(*whole, *(f"{name}.part" for name in whole))


def _or_sourced(form: Form) -> Form:
    """A form, or a number of that form with its source."""
    if not any("type" in each and each["type"] != "object" for each in _alternatives(form)):
        return form
    outer = {key: form[key] for key in ("description", "default") if key in form}
    inner = {key: value for key, value in form.items() if key not in outer}
    return outer | {"anyOf": [*_alternatives(inner), {"$ref": _ref("SourcedNumber")}]}


def _alternatives(form: Form) -> list[Form]:
    return list(form["anyOf"]) if set(form) <= {"anyOf", "description", "default"} else [form]


def _rename(node: Any, name_of: Callable[[str], str]) -> None:
    """Gives the tables that a schema refers to other names, but for those of sources."""
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix(_ref(""))
        if name and name not in ("Source", "SourcedNumber"):
            node["$ref"] = _ref(name_of(name))
        for value in node.values():
            _rename(value, name_of)
    elif isinstance(node, list):
        for value in node:
            _rename(value, name_of)


def _without_required(table: Form) -> Form:
    copied = {key: value for key, value in table.items() if key != "required"}
    return cast("Form", _copied(copied))


def _copied(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return [_copied(value) for value in node] if isinstance(node, list) else node


def _tables(models: Sequence[type[BaseModel]]) -> Form:
    """The schema of each table that is reached, by the name of its class."""
    template = f"#/{_MODELS}/{{model}}"
    _, schema = models_json_schema(
        [(model, "validation") for model in models], ref_template=template
    )
    known = {inner.__name__: inner for model in models for inner in _reached(model)}
    tables: Form = {}
    for name, table in schema["$defs"].items():
        model = known[name]
        about = inspect.cleandoc(model.__doc__ or "").partition("\n\n")[0]
        tables[name] = _tidy(_as_draft_7(table)) | {"description": " ".join(about.split())}
        for key, form in tables[name].get("properties", {}).items():
            tables[name]["properties"][key] = _of_field(model, key, form)
    return tables


def _reached(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A table and all that its fields are made of."""
    yield model
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            yield from _reached(inner)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _as_draft_7(node: Any) -> Any:
    """Tuples, single words and described references as draft-07 has them."""
    if isinstance(node, list):
        return [_as_draft_7(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _as_draft_7(value) for key, value in node.items()}
    if "prefixItems" in kept:
        kept["items"] = kept.pop("prefixItems")
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    return kept


def _tidy(node: Any) -> Any:
    """Without what TOML cannot say (null) and what says nothing."""
    if isinstance(node, list):
        return [_tidy(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept: Form = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _tidy(form) for name, form in value.items()}
        elif key not in _NOT_TOML and not (key == "default" and value in (None, [], {})):
            kept[key] = _tidy(value)
    if "$ref" in kept or isinstance(kept.get("default"), dict):
        kept.pop("default", None)
    if "anyOf" in kept:
        forms = [inner for each in kept["anyOf"] for inner in _alternatives(each)]
        forms = [each for each in forms if each.get("type") != "null"]
        if len(forms) == 1:
            del kept["anyOf"]
            kept = forms[0] | kept
        else:
            kept["anyOf"] = forms
    return kept


def _of_field(model: type[BaseModel], key: str, form: Form) -> Form:
    """The form of a field, described: what it is, its unit, its bounds, its default."""
    field = model.model_fields[key]
    dimension = next(_dimensions(form), None)
    text = _docs(model).get(key, "")
    if dimension is not None:
        text = f"{text} {_sentence(dimension.allowed)}".strip()
        bounds = " and ".join(_bounds(field, dimension))
        text += f" {_sentence(bounds)}" if bounds else ""
    default = form.get("default")
    if dimension is not None and dimension is not PERCENT and isinstance(default, int | float):
        form = form | {"default": _written(default, dimension)}
    form = cast("Form", _unmarked(form))
    if not text:
        return form
    # Beside a reference a description would not count.
    return ({"allOf": [form]} if "$ref" in form else form) | {"description": text}


def _written(number: float, dimension: Dimension) -> str:
    """A number in base units as people write it."""
    text = _FORMATS.get(dimension.name)
    if text is not None:
        return text(round(number))
    unit = next(unit for unit, factor in dimension.units.items() if factor == 1)
    return f"{number:g} {unit}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _bounds(field: FieldInfo, dimension: Dimension) -> Iterator[str]:
    for each in field.metadata:
        for kind, name, words in _BOUNDS:
            if isinstance(each, kind):
                bound = getattr(each, name)
                yield f"{words} {bound_like(dimension.example, bound) or bound}"


def _dimensions(form: Any) -> Iterator[Dimension]:
    """What the quantities in a form measure."""
    if isinstance(form, dict):
        yield from (each for each in DIMENSIONS if each.name == form.get(DIMENSION))
        for value in form.values():
            yield from _dimensions(value)
    elif isinstance(form, list):
        for value in form:
            yield from _dimensions(value)


def _unmarked(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _unmarked(value) for key, value in node.items() if key != DIMENSION}
    return [_unmarked(value) for value in node] if isinstance(node, list) else node


@cache
def _docs(model: type[BaseModel]) -> Mapping[str, str]:
    """What stands under each field of a table, its bases' included."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not (issubclass(owner, BaseModel) and owner.model_fields):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for statement, behind in zip(body.body, body.body[1:], strict=False):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                match behind:
                    case ast.Expr(value=ast.Constant(value=str() as text)):
                        found[statement.target.id] = " ".join(text.split())
    return found
