"""Figures of a report that its table leaves out: their numbers, between those that it has."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def unlisted(source: str, ids: Iterable[str]) -> list[range]:
    """The numbers that are missing between the first and the last figure of a source.

    Args:
        source: The report.
        ids: Of its figures: the source, a dash and a number. Others are not counted.
    """
    head = f"{source}-"
    numbers = sorted({int(each[len(head) :]) for each in ids if _is_numbered(each, head)})
    pairs = itertools.pairwise(numbers)
    return [range(low + 1, high) for low, high in pairs if high > low + 1]


def _is_numbered(text: str, head: str) -> bool:
    rest = text[len(head) :]
    return text.startswith(head) and rest.isascii() and rest.isdigit()


def in_words(source: str, ids: Iterable[str]) -> str:
    """A sentence that names what a table leaves out; empty if nothing."""
    gaps = unlisted(source, ids)
    if not gaps:
        return ""
    named = ", ".join(_named(each) for each in gaps)
    count = sum(map(len, gaps))
    figures = "1 figure" if count == 1 else f"{count} figures"
    return f"Not in the table, so not compared: {figures}, number {named}."


def _named(gap: range) -> str:
    first, last = gap[0], gap[-1]
    if first == last:
        return f"{first:03}"
    return f"{first:03}{' and' if last == first + 1 else ' to'} {last:03}"
