"""Lines behind the time at which each was written: output through `ts`, a log or a container.

What stands behind the times is read as if it stood alone. Where the tool itself printed no times,
those in front of its headings are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

_STAMP = re.compile(
    r"\[?((?:[A-Z][a-z]{2} [ \d]\d |\d{4}-\d\d-\d\d[T ])\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"(?:Z|[+-]\d\d:?\d\d)?)\]?:?(?: |\t|$)"
)
_LINES = 400
"""Of a head that are looked at."""
_SHARE = 0.9
"""Of lines that have to begin with a time."""


def without_stamps(lines: Iterable[str]) -> list[str] | None:
    """The first lines of a file without the times in front; None if most have none."""
    head = [line for line in islice(lines, _LINES) if line.strip()]
    found = [_STAMP.match(line) for line in head]
    if not head or sum(each is not None for each in found) < _SHARE * len(head):
        return None
    return [
        line if each is None else line[each.end() :] for line, each in zip(head, found, strict=True)
    ]


def unstamped(lines: Iterable[str], begins: Callable[[str], bool], *, timed: bool) -> Iterator[str]:
    """Lines without the times in front.

    Args:
        lines: With them.
        begins: True of a line that begins a report.
        timed: True if reports have times of their own; else those in front of what begins them
            come before it, as lines.
    """
    for line in lines:
        found = _STAMP.match(line)
        text = line if found is None else line[found.end() :]
        if found is not None and not timed and begins(text):
            # A blank line ends the table before, where a filter has taken it away.
            yield ""
            yield found[1]
        yield text
