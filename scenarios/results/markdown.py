"""Tables of Markdown, for pages that evidence is written to."""

from __future__ import annotations

from collections.abc import Iterable


def row(cells: Iterable[object]) -> str:
    """A line of a table; a `|` in a cell becomes `/`."""
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def table(heads: str, rows: Iterable[Iterable[object]] = ()) -> list[str]:
    """The lines of a table.

    Args:
        heads: Of its columns, with `|` between them.
        rows: Their cells.
    """
    return [f"| {heads} |", "|" + "---|" * (heads.count("|") + 1), *map(row, rows)]
