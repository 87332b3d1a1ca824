"""`raidlab devices`: the catalogue."""

from __future__ import annotations

import json as json_module
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypedDict

import typer

from raidlab.commands.common import (
    DOES_NOT_HOLD,
    Json,
    command,
    path,
    resumable,
    say,
    tell_breaches,
)
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import Reads, Writes
from raidlab.commands.outputs import deliver, page_of
from raidlab.commands.tables import Output, Wide, opening, print_report, print_table
from raidlab.devices.catalogue import Device, catalogue, find_for
from raidlab.devices.classes import class_of, year_of
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.search import (
    CELLS,
    KIND_NAMES,
    Query,
    capacity_of,
    cell_of,
    criteria,
    interface_of,
    nearest,
)
from raidlab.devices.trees import Document
from raidlab.devices.units import format_size
from raidlab.output import echo
from raidlab.scenarios.report.tables import Column, Kind, Table
from raidlab.scenarios.results import markdown


@command
def devices(
    name: Annotated[
        str | None,
        typer.Argument(help="A device's name, an alias, or the path of its file."),
        Reads(),
    ] = None,
    json: Json = False,
    kind: Annotated[
        str, typer.Option("--kind", help=f"Of this kind: {', '.join(KIND_NAMES)}.")
    ] = "",
    of: Annotated[
        str, typer.Option("--class", help="Devices of this class: nvme-gen4-tlc, nl-sas, nvme ...")
    ] = "",
    cell: Annotated[str, typer.Option("--cell", help=f"One of {', '.join(CELLS)}.")] = "",
    interface: Annotated[
        str, typer.Option("--interface", help="As pcie-4.0-x4, pcie-4.0, sas-12g, sata.")
    ] = "",
    min_capacity: Annotated[
        str, typer.Option("--min-capacity", help='Of drives, at least: "3.8 TB".')
    ] = "",
    max_capacity: Annotated[
        str, typer.Option("--max-capacity", help='Of drives, at most: "8 TB".')
    ] = "",
    year: Annotated[
        str, typer.Option("--year", help="Announced in 2022, 2020:2023, 2020: ...")
    ] = "",
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Measure the drive and write its page here.", parser=path),
        Writes(FileKind.PAGE),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    wide: Wide = False,
) -> None:
    """List the catalogue, or show one device with the source of every number."""
    output = Output.of(json=json, wide=wide)
    query = Query(kind, of, cell, interface, min_capacity, max_capacity, year)
    if name is not None:
        allowed = f"has no effect on one device, {name}: it is of the list"
        given = [*query.given(), *(["--markdown"] if markdown else [])]
        if given:
            raise SpecError([Fault(option, None, allowed) for option in given])
        device = find_for("NAME", name)
        if html is not None:
            _page(device, name, html, output)
        elif json:
            echo(json_module.dumps(_document(device), indent=2, default=str))
        else:
            _show(device, output)
        return
    if html is not None:
        allowed = "one device to draw: raidlab devices NAME --html FILE"
        raise SpecError([Fault("--html", str(html), allowed)])
    if json and markdown:
        raise SpecError([Fault("--markdown", None, "has no effect beside --json: one of them")])
    every = catalogue()
    asked = criteria(query, every)
    listed = [device for device in every if all(each.fits(device) for each in asked)]
    if not listed:
        _none(nearest(every, asked), query, output)
        raise typer.Exit(DOES_NOT_HOLD)
    lines = [_line(device) for device in listed]
    if json:
        echo(json_module.dumps({"devices": lines}, indent=2))
    elif markdown:
        echo(_markdown(lines))
    else:
        _list(lines, output)


def _page(device: Device, name: str, html: Path, output: Output) -> None:
    """Measures a drive as reviewers do, and writes its page."""
    from raidlab.scenarios.report.studies import drive as report
    from raidlab.scenarios.studies.drive import drive_spec, measure

    drive_spec(device)
    begun = time.monotonic()
    with resumable("runs of the drive") as (tell, store):
        found = measure(device, progress=tell, store=store)
    say(f"measured in {time.monotonic() - begun:.0f} s")

    def show() -> None:
        if output is Output.JSON:
            document = _document(device) | {"measured": found.to_dict()}
            echo(json_module.dumps(document, indent=2, default=str, allow_nan=False))
        else:
            print_report(report.report(found), output)

    deliver([{html: page_of(lambda: report.report(found), "devices")}], show)
    if tell_breaches(found.breaches):
        raise typer.Exit(DOES_NOT_HOLD)


def _none(close: Sequence[tuple[Device, list[str]]], query: Query, output: Output) -> None:
    """Says that nothing fits, and what comes nearest."""
    asked = ", ".join(f"{option} {value}" for option, value in query.given().items())
    if output is Output.JSON:
        found = [_line(device) | {"misses": misses} for device, misses in close]
        echo(json_module.dumps({"devices": [], "nearest": found}, indent=2))
    say(f"no device of the catalogue fits {asked}; nearest:")
    for device, misses in close:
        capacity = capacity_of(device)
        size = "" if capacity is None else f", {_size(capacity)}"
        year = year_of(device)
        about = f"{class_of(device)}{size}, {year or 'no year stated'}"
        say(f"  {device.spec.name} ({about}) does not fit {', '.join(misses)}")


def _list(lines: list[DeviceLine], output: Output) -> None:
    """A table for each kind, with its name as the heading; other names by `--wide`."""
    count = f"{len(lines)} device{'' if len(lines) == 1 else 's'}"
    opening(f"{count}; raidlab devices NAME shows one with its sources.")
    for kind in dict.fromkeys(line["kind"] for line in lines):
        of_kind = [line for line in lines if line["kind"] == kind]
        columns = [(Column("name", kind=Kind.TEXT, width=20), [line["name"] for line in of_kind])]
        for head, shown in _COLUMNS.items():
            texts = [shown(line) for line in of_kind]
            if any(text != "-" for text in texts):
                columns.append((Column(head, kind=Kind.TEXT, width=20, priority=2), texts))
        columns.append((Column("", kind=Kind.TEXT, width=14), [line["title"] for line in of_kind]))
        if output is Output.ALL:
            for head, texts in (
                ("interface", [line["interface"] or "-" for line in of_kind]),
                ("aliases", [", ".join(line["aliases"]) or "-" for line in of_kind]),
            ):
                columns.append((Column(head, kind=Kind.TEXT, width=12), texts))
        rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
        print_table(Table(kind, [column for column, _ in columns], rows), output)


def _size(capacity: int) -> str:
    """As makers state it: 15.36 TB, 960 GB."""
    tera = capacity >= 999.5e9
    return f"{capacity / (1e12 if tera else 1e9):.4g} {'TB' if tera else 'GB'}"


_COLUMNS: Final[Mapping[str, Callable[[DeviceLine], str]]] = {
    "class": lambda line: line["class"] or "-",
    "capacity": lambda line: _size(line["capacity_bytes"]) if line["capacity_bytes"] else "-",
    "year": lambda line: str(line["year"] or "-"),
}
"""Columns of a list, where any device of a kind has it; - for one that has not."""


_Classed = TypedDict("_Classed", {"class": str})


class DeviceLine(_Classed):
    """A device in a list of the catalogue."""

    kind: str
    name: str
    aliases: list[str]
    title: str
    capacity_bytes: int | None
    year: int | None
    interface: str | None
    cell: str | None


def _line(device: Device) -> DeviceLine:
    spec = device.spec
    return {
        "kind": spec.kind,
        "name": spec.name,
        "aliases": list(spec.aliases),
        "title": spec.title,
        "class": class_of(device),
        "capacity_bytes": capacity_of(device),
        "year": year_of(device),
        "interface": interface_of(device),
        "cell": cell_of(device),
    }


_TITLED: Final = ("controller", "host", "station")
"""Kinds whose devices differ in more than their class and capacity."""


def _markdown(lines: list[DeviceLine]) -> str:
    """The page of the catalogue: devices by class, what is no drive with its title."""
    head = [
        "# The catalogue",
        "Made by `make docs`. `raidlab devices` lists all with title and year, and finds by class,",
        "capacity or interface; `raidlab devices NAME` shows a device with its sources.",
        "",
    ]
    classes: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        about = line["title"] if line["kind"] in _TITLED else _size(line["capacity_bytes"] or 0)
        names = ", ".join(f"`{name}`" for name in (line["name"], *line["aliases"]))
        found = classes.setdefault((line["kind"], line["class"] or "-"), [])
        found.append(f"{names} ({about})")
    rows = ((*key, ", ".join(found)) for key, found in classes.items())
    return "\n".join([*head, *markdown.table("kind | class | devices", rows)])


def _document(device: Device) -> Document:
    return {
        **_line(device),
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
    if re.fullmatch(r"\d+ B", text):
        text = format_size(int(text[:-2]))
    return [(path, text if len(text) <= 120 else f"{text[:117]}...")]
