"""`raidlab devices`: the catalogue."""

from __future__ import annotations

import json as json_module
from typing import Annotated, Any

import typer

from raidlab.commands.common import Json, command
from raidlab.commands.tables import Output, Wide, opening, print_table
from raidlab.devices.catalogue import KINDS, Device, catalogue, find_for
from raidlab.devices.faults import Fault, SpecError
from raidlab.output import echo
from raidlab.scenarios.results.look import Column, Kind, Table


@command
def devices(
    name: Annotated[
        str | None, typer.Argument(help="A device's name, an alias, or the path of its file.")
    ] = None,
    json: Json = False,
    kind: Annotated[
        str | None, typer.Option("--kind", help=f"List this kind only: {', '.join(KINDS)}.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    wide: Wide = False,
) -> None:
    """List the catalogue, or show one device with the source of every number."""
    output = Output.of(json=json, wide=wide)
    if name is not None:
        given = {"--kind": kind is not None, "--markdown": markdown}
        allowed = f"has no effect on one device, {name}: it is of the list"
        faults = [Fault(option, None, allowed) for option, there in given.items() if there]
        if faults:
            raise SpecError(faults)
        device = find_for("NAME", name)
        if json:
            echo(json_module.dumps(_document(device), indent=2, default=str))
        else:
            _show(device, output)
        return
    if kind is not None and kind not in KINDS:
        raise SpecError([Fault("--kind", kind, f"one of {', '.join(KINDS)}", tuple(KINDS))])
    listed = [device for device in catalogue() if kind is None or device.spec.kind == kind]
    if json and markdown:
        raise SpecError([Fault("--markdown", None, "has no effect beside --json: one of them")])
    if json:
        echo(json_module.dumps({"devices": [_line(device) for device in listed]}, indent=2))
        return
    lines = [_line(device) for device in listed]
    if markdown:
        echo(_markdown(lines))
        return
    _list(lines, output)


def _list(lines: list[dict[str, Any]], output: Output) -> None:
    """A table for each kind, with its name as the heading; the other names by `--wide`."""
    opening(f"{len(lines)} devices; raidlab devices NAME shows one with its sources.")
    columns = [
        Column("name", kind=Kind.TEXT, width=20),
        Column("", kind=Kind.TEXT, width=30),
        *([Column("aliases", kind=Kind.TEXT, width=12)] if output is Output.ALL else []),
    ]
    for kind in dict.fromkeys(line["kind"] for line in lines):
        rows = [
            [line["name"], line["title"], ", ".join(line["aliases"])][: len(columns)]
            for line in lines
            if line["kind"] == kind
        ]
        print_table(Table(kind, columns, rows), output)


def _line(device: Device) -> dict[str, Any]:
    spec = device.spec
    return {
        "kind": spec.kind,
        "name": spec.name,
        "aliases": list(spec.aliases),
        "title": spec.title,
    }


def _markdown(lines: list[dict[str, Any]]) -> str:
    head = [
        "# The catalogue",
        "",
        "Made by `make docs`; `raidlab devices NAME` shows a device with its sources.",
        "",
        "| kind | name | aliases | |",
        "|---|---|---|---|",
    ]
    rows = [
        f"| {line['kind']} | `{line['name']}` | {', '.join(line['aliases'])} | {line['title']} |"
        for line in lines
    ]
    return "\n".join(head + rows)


def _document(device: Device) -> dict[str, Any]:
    return _line(device) | {
        "file": str(device.path),
        "fingerprint": device.fingerprint,
        "parameters": device.written,
        "sources": {key: source.model_dump() for key, source in device.sources.items()},
    }


def _show(device: Device, output: Output) -> None:
    spec = device.spec
    opening(f"{spec.name} ({spec.kind}): {spec.title}", str(device.path))
    columns = [
        Column("parameter", kind=Kind.TEXT, width=16),
        Column("value", kind=Kind.TEXT, width=16),
        Column("source", kind=Kind.PROSE, width=24),
    ]
    leaves = [
        (key, value, device.sources.get(key))
        for key, value in _leaves(device.written)
        if key not in ("kind", "name", "title", "aliases")
    ]
    for title, origins in _ORIGINS.items():
        rows = [
            [key, value, "" if source is None else str(source)]
            for key, value, source in leaves
            if (None if source is None else source.source) in origins
        ]
        if rows:
            print_table(Table(title, columns, rows), output)


_ORIGINS: dict[str, tuple[str | None, ...]] = {
    "stated or measured": ("data-sheet", "published", "measured"),
    "derived or fitted": ("derived", "fitted"),
    "assumed": ("assumed",),
    "words": (None,),
}
"""Where numbers of a device come from, one table each; what is no number has no source."""


def _leaves(tree: Any, path: str = "") -> list[tuple[str, str]]:
    """Every value with its dotted key; a list of plain values in one piece."""
    if isinstance(tree, dict):
        return [
            leaf
            for key, value in tree.items()
            for leaf in _leaves(value, f"{path}.{key}" if path else key)
        ]
    if isinstance(tree, list) and any(isinstance(item, dict) for item in tree):
        return [leaf for at, item in enumerate(tree) for leaf in _leaves(item, f"{path}.{at}")]
    text = json_module.dumps(tree) if isinstance(tree, list | bool) else str(tree)
    return [(path, text if len(text) <= 120 else f"{text[:117]}...")]
