"""Which files a command reads: those that its arguments name, and those that these name in turn.

A scenario names devices, jobs, traces and states; a device may be like another; a job includes
others and replays logs. Any text in such a file that names a file beside it, or a device of the
catalogue, counts, whatever the key, so that a new key needs no line here.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raidlab.devices.catalogue import path_of

_LARGEST_TOML = 1 << 22
"""Bytes of a TOML file in which names are looked for."""
_LARGEST_TEXT = 1 << 18
"""As `_LARGEST_TOML`, of other texts: traces are larger, and name none."""
_MOST_FILES = 100_000
"""Of a folder."""
_NOT_NAMES = frozenset({"title", "name", "aliases", "note", "source"})
"""Keys of TOML whose text describes."""
_COMMENT = re.compile(r"[#;].*")
_WORD = re.compile(r"[^\s=,{}\[\]()\"']+")
_LONGEST_NAME = 4096

Identity = tuple[int, int]
"""Device and inode: the same for all names of a file, links and hard links."""


def identity(path: Path) -> Identity | None:
    """Which file a path names, links followed; None for none, and for what is no plain file."""
    try:
        if not path.is_file():
            return None
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


@dataclass
class FilesRead:
    """Files that a command reads, with what says so."""

    found: dict[Identity, str] = field(default_factory=dict)

    def add(self, path: Path, why: str) -> None:
        """Takes a file or a folder, and all files that it names."""
        if path.is_dir():
            for at, inner in enumerate(_files_in(path)):
                if at == _MOST_FILES:
                    return
                self._take(inner, f"in {path}, which the command reads")
            return
        named = path_of(str(path)) if identity(path) is None else None
        self._take(path if named is None else named, why)

    def _take(self, path: Path, why: str) -> None:
        own = identity(path)
        if own is None or own in self.found:
            return
        self.found[own] = why
        for key, text in _texts(path):
            named = _beside(path, text)
            if named is not None:
                where = f" ({key})" if key else ""
                self._take(named, f"{path}{where} names it, and the command reads it")


def _files_in(folder: Path) -> Iterator[Path]:
    for inside, _, names in os.walk(folder):
        for name in names:
            yield Path(inside) / name


def _beside(path: Path, text: str) -> Path | None:
    """The file that a text in `path` names: beside it, in the working folder, or a device's."""
    if not text or len(text) > _LONGEST_NAME or "\0" in text:
        return None
    places = (path.parent / text, Path(text))
    found = next((place for place in places if identity(place) is not None), None)
    return path_of(text) if found is None and path.suffix == ".toml" else found


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Every text of a file that may be a name, with its key where there is one."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_TOML + 1)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    largest = _LARGEST_TOML if path.suffix == ".toml" else _LARGEST_TEXT
    if len(content) > largest or text.lstrip().startswith(("{", "<")):
        return
    if path.suffix == ".toml":
        try:
            yield from _values("", tomllib.loads(text))
            return
        except (ValueError, RecursionError):
            pass
    words = {word for line in text.splitlines() for word in _WORD.findall(_COMMENT.sub("", line))}
    yield from (("", word) for word in sorted(words) if not word.replace(".", "").isdigit())


def _values(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name not in _NOT_NAMES:
                yield from _values(f"{key}.{name}" if key else str(name), item)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _values(f"{key}.{at}", item)
