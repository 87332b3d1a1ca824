"""How the runs of a study are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raidlab.scenarios.running.simulate import Progress
from raidlab.scenarios.running.store import Store


@dataclass(frozen=True)
class Running:
    """How runs are made: none of it changes a result."""

    workers: int | None = None
    progress: Progress | None = None
    store: Store | None = None
    step: Callable[[str], None] | None = None
    """Hears what the next runs are for, before the first of them."""
