"""Finished work, found again: results by what they are of, in one SQLite file.

A key is a digest of everything that a result depends on: the plan, files that it names, the seed
(part of the plan) and the engine. So an entry is never wrong, only unneeded: it stays when a
command is done, and the entries that were not used for longest leave when the store is larger than
its limit. What a process has stored or used itself it does not evict.

Each entry is one transaction: a killed process loses nothing that it had stored, and several
processes may use one store. A damaged file is moved aside, and a new one takes its place.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import itertools
import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NewType, Self, TypeVar

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import reason
from raidlab.devices.trees import Document
from raidlab.devices.units import SIZE
from raidlab.scenarios import _engine

FORMAT = 2
"""Of the file; one of an earlier format is emptied, one of a later format is left alone."""
LIMIT_BYTES = 1_000_000_000
"""Size of the file at which the entries that were not used for longest leave."""

_APPLICATION = int.from_bytes(b"RDLB")
_SCHEMA = """
CREATE TABLE engine (id INTEGER PRIMARY KEY, version TEXT NOT NULL, digest BLOB NOT NULL UNIQUE);
CREATE TABLE entry (
    key BLOB PRIMARY KEY, engine INTEGER NOT NULL, used INTEGER NOT NULL, content BLOB NOT NULL
);
CREATE INDEX entry_used ON entry (used);
"""
_MAGIC = b"SQLite format 3\0"
_CHECKED_BYTES = 8_000_000
"""Content that is stored before the size of the file is looked at again."""
_WAIT_S = 30.0
"""How long one process waits for another one's transaction."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# SQLite's message on a damaged schema quotes names as they are, which need not be UTF-8.
_FAILURES = (sqlite3.Error, UnicodeDecodeError)
_FILES = ("snapshot",)
"""Keys of a plan's devices whose values are paths: the content of the files is input."""

Key = NewType("Key", bytes)
"""What a result is of: a SHA-256 digest."""
T = TypeVar("T")


class StoreError(SpecError):
    """The store cannot be used; says which and why."""

    def __init__(self, path: Path, why: object) -> None:
        super().__init__([Fault("", None, str(why), (), str(path))])


@dataclass(frozen=True)
class OfEngine:
    """What a store has of one build of the engine."""

    version: str
    digest: str
    """Of the engine's file, in hexadecimal digits."""
    current: bool
    """True for the engine of this program: other entries are never found again by it."""
    entries: int
    content_bytes: int
    """Compressed."""
    last_used: int
    """Seconds since 1970."""


@dataclass(frozen=True)
class Overview:
    """What a store has."""

    path: Path
    format: int
    file_bytes: int
    limit_bytes: int
    engines: tuple[OfEngine, ...]

    @property
    def entries(self) -> int:
        """Number of results."""
        return sum(each.entries for each in self.engines)

    def to_dict(self) -> Document:
        """Plain data, as `raidlab store list --json` prints it."""
        return {
            "store": str(self.path),
            "format": self.format,
            "entries": self.entries,
            "content_bytes": sum(each.content_bytes for each in self.engines),
            "file_bytes": self.file_bytes,
            "limit_bytes": self.limit_bytes,
            "engines": [vars(each) for each in self.engines],
        }


def default_path() -> Path:
    """`$RAIDLAB_STORE`, or `raidlab/runs.sqlite` in the user's cache folder."""
    named = os.environ.get("RAIDLAB_STORE")
    if named:
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # The XDG base directory specification: a relative path is invalid and is ignored.
    cache = cache if cache.is_absolute() else Path.home() / ".cache"
    return cache / "raidlab" / "runs.sqlite"


def default_limit() -> int:
    """Bytes: `$RAIDLAB_STORE_LIMIT`, such as `500 MB`, or `LIMIT_BYTES`.

    Raises:
        SpecError: The variable is no size.
    """
    named = os.environ.get("RAIDLAB_STORE_LIMIT")
    if not named:
        return LIMIT_BYTES
    try:
        return int(SIZE.convert(named))
    except ValueError as error:
        raise SpecError([Fault("RAIDLAB_STORE_LIMIT", named, str(error))]) from None


def check_store(path: Path) -> None:
    """Refuses a file that a user names as a store although it holds something else.

    A store that is damaged is moved aside; a scenario, say, is not to be.

    Raises:
        StoreError: It is no database, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(path, reason(error)) from None
    if begins and begins != _MAGIC:
        raise StoreError(path, "a store of finished runs, or a new file; this holds something else")


class Store:
    """Results by key. Threads may share it; what fails is reported once and costs no result."""

    def __init__(
        self,
        path: Path,
        *,
        limit_bytes: int = LIMIT_BYTES,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Opens the store, making it where there is none.

        Args:
            path: The file.
            limit_bytes: Size of the file at which old entries leave.
            warn: Called with what a user should know: a damaged file, a full disk.

        Raises:
            StoreError: The file cannot be used, or is another program's.
        """
        self.path = path
        self.limit_bytes = limit_bytes
        self._warn = warn
        self._failed = False
        self._lock = threading.RLock()
        self._began = int(time.time())
        self._unchecked = _CHECKED_BYTES
        self._used: list[Key] = []
        self._reads_only = _is_only_read(path)
        self._db, self._file = self._opened()
        if self._reads_only:
            warn(f"{path}: can only be read; finished runs are found, new ones are not stored")

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
        self.close()

    def close(self) -> None:
        """Evicts what is beyond the limit and closes the file."""
        with self._lock, contextlib.suppress(*_FAILURES):
            self._evict(self._db)
        self._db.close()

    def get(self, key: Key) -> str | None:
        """A result, if it was stored."""

        def looked_up(db: sqlite3.Connection) -> str | None:
            found = db.execute("SELECT content, used FROM entry WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            content, used = found
            if used < self._began:
                self._used.append(key)
            text = _unpacked(key, content)
            if text is None and not self._reads_only:
                # Damaged where SQLite does not look: the entry is as good as none.
                db.execute("DELETE FROM entry WHERE key = ?", (key,))
            return text

        return self._try(looked_up)

    def put(self, key: Key, content: str) -> None:
        """Stores a result; what stood there is replaced."""
        if self._reads_only:
            return
        packed = zlib.compress(key + content.encode())

        def stored(db: sqlite3.Connection) -> None:
            row = (key, _engine_id(db), int(time.time()), packed)
            db.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", row)
            self._unchecked -= len(packed)
            if self._unchecked <= 0:
                self._unchecked = _CHECKED_BYTES
                self._evict(db)

        self._try(stored)

    def overview(self) -> Overview:
        """What the store has, of each engine.

        Raises:
            StoreError: It cannot be read.
        """
        query = """
            SELECT version, digest, count(key), coalesce(sum(length(content)), 0), max(used)
            FROM engine LEFT JOIN entry ON entry.engine = engine.id
            GROUP BY engine.id HAVING count(key) ORDER BY max(used) DESC
        """
        with self._lock, self._reporting():
            rows = self._db.execute(query).fetchall()
            size = _pages(self._db, "page_count")
        own = engine_digest()
        engines = tuple(
            OfEngine(version, digest.hex(), digest == own, entries, content, used)
            for version, digest, entries, content, used in rows
        )
        return Overview(self.path, FORMAT, size, self.limit_bytes, engines)

    def clear(self, *, others_only: bool = False) -> int:
        """Takes entries out and gives the space back.

        Args:
            others_only: True to keep those of this program's engine.

        Returns:
            How many entries were taken out.

        Raises:
            StoreError: It cannot be written.
        """
        with self._lock, self._reporting():
            which = "engine <> ?" if others_only else "engine >= 0 OR ?"
            taken = self._db.execute(f"DELETE FROM entry WHERE {which}", (_engine_id(self._db),))
            _shrink(self._db)
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return taken.rowcount

    def _try(self, action: Callable[[sqlite3.Connection], T | None]) -> T | None:
        """What `action` gives; a damaged store is replaced, other failures are reported once."""
        with self._lock:
            try:
                try:
                    return action(self._db)
                except _FAILURES as error:
                    if self._reads_only or not _is_damage(error):
                        raise
                    self._replace(error)
                    return action(self._db)
            except (*_FAILURES, StoreError) as error:
                if not self._failed:
                    self._failed = True
                    where = "" if isinstance(error, StoreError) else f"{self.path}: "
                    self._warn(f"{where}{error}; finished runs are not stored from here on")
                return None

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except _FAILURES as error:
            raise StoreError(self.path, error) from None

    def _evict(self, db: sqlite3.Connection) -> None:
        """Takes out what was not used for longest, until the file is within its limit."""
        if self._reads_only:
            return
        now = int(time.time())
        rows = [(now, key) for key in self._used]
        if rows:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("UPDATE entry SET used = ? WHERE key = ?", rows)
            db.execute("COMMIT")
        self._used.clear()
        oldest = "SELECT key FROM entry WHERE used < ? ORDER BY used LIMIT ?"
        while (size := _pages(db, "page_count") - _pages(db, "freelist_count")) > self.limit_bytes:
            entries = db.execute("SELECT count(*) FROM entry").fetchone()[0]
            # Down to 90 %, so that the next result does not ask for the same again.
            most = int(entries * (1 - 0.9 * self.limit_bytes / size)) + 1
            gone = db.execute(f"DELETE FROM entry WHERE key IN ({oldest})", (self._began, most))
            if gone.rowcount == 0:
                break
        _shrink(db)

    def _opened(self) -> tuple[sqlite3.Connection, os.stat_result]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not self.path.is_file():
                raise StoreError(self.path, "no file")
            if self._reads_only:
                return _connected(self.path, reads_only=True), self.path.stat()
            with _alone(self.path.parent):
                try:
                    db = _connected(self.path)
                except _FAILURES as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(error)
                    db = _connected(self.path)
                return db, self.path.stat()
        except _FAILURES as error:
            raise StoreError(self.path, error) from None
        except OSError as error:
            raise StoreError(self.path, reason(error)) from None

    def _replace(self, error: sqlite3.Error | UnicodeDecodeError) -> None:
        """A new store in place of the damaged one, unless another process was quicker."""
        with contextlib.suppress(*_FAILURES):
            self._db.close()
        with contextlib.suppress(OSError), _alone(self.path.parent):
            if os.path.samestat(self.path.stat(), self._file):
                self._set_aside(error)
        self._db, self._file = self._opened()

    def _set_aside(self, error: sqlite3.Error | UnicodeDecodeError) -> None:
        names = (f"{self.path.name}.damaged-{number}" for number in itertools.count(1))
        aside = next(path for name in names if not (path := self.path.with_name(name)).exists())
        self.path.rename(aside)
        # What belongs to the old file must not be taken for the new one's.
        for ending in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + ending).rename(f"{aside}{ending}")
        self._warn(f"{self.path}: {error}: moved to {aside.name}; a new store begins")


def run_key(plan: str) -> Key:
    """The key of a run: of its plan, the content of the files that it names, and the engine."""
    digest = hashlib.sha256(engine_digest() + plan.encode())
    if any(f'"{name}": "' in plan for name in _FILES):
        for device in json.loads(plan)["devices"]:
            for name in _FILES:
                if device.get(name) is not None:
                    digest.update(_content(Path(device[name])))
    if '"kind": "traced"' in plan:
        for load in json.loads(plan)["workloads"]:
            if load["arrival"]["kind"] == "traced":
                digest.update(_content(Path(load["arrival"]["trace"]["path"])))
    return Key(digest.digest())


def work_key(what: str, *packages: str) -> Key:
    """The key of what Python computes: of `what`, the engine and the sources of `packages`."""
    sources = b"".join(map(_sources, packages))
    return Key(hashlib.sha256(engine_digest() + sources + what.encode()).digest())


def _unpacked(key: Key, content: Any) -> str | None:
    """What was stored under a key; None if the content is damaged or another key's."""
    try:
        text = zlib.decompress(content)
        return text.removeprefix(key).decode() if text.startswith(key) else None
    except (zlib.error, TypeError, UnicodeDecodeError):
        return None


def _is_only_read(path: Path) -> bool:
    """Whether there is a file that may be read and not written, or whose folder may not."""
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _connected(path: Path, *, reads_only: bool = False) -> sqlite3.Connection:
    """The file as a store of this format; `reads_only` asks for nothing to be written.

    Raises:
        sqlite3.Error: It is damaged, or cannot be used.
        UnicodeDecodeError: Its schema is damaged.
        StoreError: It is another program's, or a later version's.
    """
    # Nobody can write it: without locks, which would be files beside it.
    where = f"{path.absolute().as_uri()}?mode=ro&immutable=1" if reads_only else str(path)
    db = sqlite3.connect(
        where, timeout=_WAIT_S, isolation_level=None, check_same_thread=False, uri=reads_only
    )
    db.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION and not tables <= {"run", "sqlite_autoindex_run_1"}:
            raise StoreError(path, "a database of another program")
        if application == _APPLICATION and version > FORMAT:
            why = f"format {version}, of a later raidlab; this one has {FORMAT}"
            raise StoreError(path, why)
        if application != _APPLICATION or version < FORMAT:
            if reads_only:
                raise StoreError(
                    path, f"format {version}; this one has {FORMAT}, and may not write"
                )
            _make(db)
        if not reads_only:
            # A killed process loses nothing; nothing waits for the disk at every result.
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
        db.execute("SELECT key, engine, used, content FROM entry LIMIT 1").fetchall()
        db.execute("SELECT id, version, digest FROM engine LIMIT 1").fetchall()
    except BaseException:
        db.close()
        raise
    return db


def _make(db: sqlite3.Connection) -> None:
    """An empty store in place of whatever an earlier version has left."""
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        db.execute(f'DROP TABLE "{name}"')
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.execute("VACUUM")
    db.executescript(
        f"BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {FORMAT};"
        "COMMIT;"
    )


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    if isinstance(error, UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    # A table that is not there, in a file that says to be a store.
    missing = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
    return missing or (code is not None and code & 0xFF in _DAMAGE)


def _pages(db: sqlite3.Connection, what: str) -> int:
    """Bytes of the file, or of its free part."""
    size = int(db.execute("PRAGMA page_size").fetchone()[0])
    return size * int(db.execute(f"PRAGMA {what}").fetchone()[0])


def _shrink(db: sqlite3.Connection) -> None:
    # As a script: it is a statement of many steps, of which `execute` takes one.
    db.executescript("PRAGMA incremental_vacuum;")


def _engine_id(db: sqlite3.Connection) -> int:
    own = engine_digest()
    found = db.execute("SELECT id FROM engine WHERE digest = ?", (own,)).fetchone()
    if found is None:
        row = (_engine.version(), own)
        db.execute("INSERT OR IGNORE INTO engine (version, digest) VALUES (?, ?)", row)
        found = db.execute("SELECT id FROM engine WHERE digest = ?", (own,)).fetchone()
    return int(found[0])


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process opens or replaces a store of this folder meanwhile."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems have no locks; there SQLite has to do without them, too.
        with contextlib.suppress(OSError):
            fcntl.flock(at, fcntl.LOCK_EX)
        yield
    finally:
        os.close(at)


@cache
def engine_digest() -> bytes:
    """Changes with every build of the engine: its results are no other's."""
    with Path(_engine.__file__).open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def _sources(package: str) -> bytes:
    """Changes with the sources and data of a Python package."""
    digest = hashlib.sha256()
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        for file in sorted(Path(folder).rglob("*")):
            if file.suffix in (".py", ".toml"):
                digest.update(file.read_bytes())
    return digest.digest()


def _content(path: Path) -> bytes:
    """The digest of a file; of one that cannot be read nothing, which the engine reports."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""
