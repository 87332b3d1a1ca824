"""What is said of an answer: the same title, sentence and tables for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from raidlab.scenarios.report.tables import Table


@dataclass(frozen=True)
class Report:
    """What a terminal shows of an answer, and how its page is made.

    Pictures take a drawing library and time, so the page is made only when one is wanted.
    """

    title: str
    answer: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    """Sentences below the tables."""
    page: Callable[[str], str] | None = None
    """Takes the line of the command that makes the page again, and gives the page as text."""
