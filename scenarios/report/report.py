"""What is said of an answer: the same title, sentence and tables for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raidlab.scenarios.report.tables import Table

if TYPE_CHECKING:
    from raidlab.scenarios.report.page import Page


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
    page: Callable[[], Page] | None = None
    """Makes the page; where it has no answer of its own it has this one."""

    def html(self, command: str = "") -> str:
        """The page as text.

        Args:
            command: The line that makes the page again.
        """
        if self.page is None:
            raise AssertionError(f"{self.title}: there is no page")
        page = self.page()
        return replace(page, answer=page.answer or self.answer, command=command).html()
