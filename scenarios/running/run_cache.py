"""Finished runs of an unfinished simulation, stored so that it can go on where it was stopped.

A run is known by the whole of its plan and by the engine that ran it. When a simulation is
complete its runs are taken out again: the store holds what was interrupted and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from raidlab.scenarios import _engine


def default_path() -> Path:
    """`$RAIDLAB_STORE`, or `raidlab/unfinished.sqlite` in the user's cache folder."""
    named = os.environ.get("RAIDLAB_STORE")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "raidlab" / "unfinished.sqlite"


class RunCache:
    """Results of single runs by key, in one SQLite file; each is written whole or not at all."""

    def __init__(self, path: Path) -> None:
        """Opens the store, making it where there is none.

        Raises:
            OSError: The folder cannot be made.
            sqlite3.Error: The file is no store, or cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
        # A killed process loses nothing; nothing waits for the disk at every result.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, result TEXT)")
        self.failure: str | None = None
        """Why results could not be stored: a full disk costs the going on, not the simulation."""

    def __enter__(self) -> Self:
        """Gives the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        self._db.close()

    @staticmethod
    def key(plan: str) -> str:
        """The key of a plan's run by this engine."""
        return hashlib.sha256(_engine_digest() + plan.encode()).hexdigest()

    def get(self, key: str) -> str | None:
        """A result, if that run was finished."""
        row = self._db.execute("SELECT result FROM run WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, result: str) -> None:
        """Keeps the result of a finished run, or notes in `failure` why it could not."""
        try:
            self._db.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (key, result))
        except sqlite3.Error as error:
            self.failure = str(error)

    def forget(self, keys: Iterable[str]) -> None:
        """Takes results out again."""
        try:
            self._db.executemany("DELETE FROM run WHERE key = ?", [(key,) for key in keys])
        except sqlite3.Error as error:
            self.failure = str(error)


@cache
def _engine_digest() -> bytes:
    """Changes with every build of the engine: its results are no other's."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).digest()
