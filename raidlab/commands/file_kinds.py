"""What a file is, by how it begins: which outputs may take its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from raidlab.devices.catalogue import KINDS

_HEAD = 1 << 16
"""Bytes that show what a file is."""
_LARGEST_TOML = 1 << 24
_SQLITE = b"SQLite format 3\0"
_OUR_STORE = b"RDLB"
"""SQLite's application id at byte 68 of a store."""
_STATE = b"raidlab state"
_PAGE = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)
_MEASUREMENT = re.compile(rb'"format"\s*:\s*"raidlab-measurement-')
_FIO = re.compile(rb'"fio version"|\(groupid=\d+, jobs=|^\d;fio-\d', re.MULTILINE)
_MARKDOWN = (b"# Published and simulated figures", b"# Claims of the reports")


def _starts(*begins: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(begins)


def _has_keys(*keys: str) -> Callable[[bytes], bool]:
    """True of a JSON object that has all of these keys near its beginning."""
    return lambda head: (
        head.lstrip().startswith(b"{") and all(f'"{key}"'.encode() in head for key in keys)
    )


def _is_result(head: bytes) -> bool:
    """The document of `raidlab run`, or of `raidlab replay`."""
    run = _has_keys("title", "seed", "version", "fingerprint")
    return run(head) or _has_keys("requests", "rms_pct_of_mean")(head)


def _is_table(head: bytes) -> bool:
    columns = head.partition(b"\n")[0].split(b",")
    return b"iops" in columns and b"workload" in columns


def _is_teaching(head: bytes) -> bool:
    """A file of a teacher's pack: slides, questions, notebooks, the rubric, the licence."""
    begins = (
        b"---\nmarp: true",
        b"# Licence of the teaching material",
        b"# Teacher's pack of raidlab",
        b"seed,lesson,name,",
        b"part,earns the points",
        b'<?xml version="1.0" encoding="UTF-8"?>\n<quiz>',
    )
    package = head.startswith(b"PK") and b"imsmanifest.xml" in head
    return head.startswith(begins) or package or b'"cell_type"' in head


def _is_store(head: bytes) -> bool:
    return head.startswith(_SQLITE) and head[68:72] == _OUR_STORE


@dataclass(frozen=True)
class _Kind:
    words: str
    fits: Callable[[bytes], bool]
    """Whether a file that begins so is of the kind."""


class FileKind(Enum):
    """What a command writes."""

    PAGE = _Kind("a page (HTML)", lambda head: _PAGE.match(head) is not None)
    RESULT = _Kind("a result (JSON)", _is_result)
    MEASUREMENT = _Kind("a measurement (JSON)", lambda head: _MEASUREMENT.search(head) is not None)
    LOAD = _Kind("a monitored load (JSON)", _has_keys("kind", "raidlab-monitored-load"))
    TIMELINE = _Kind("a run over time (CSV)", _starts(b"t_s,target,read_iops"))
    METRICS = _Kind("a run over time (OpenMetrics)", _starts(b"# TYPE node_disk_"))
    STAGES = _Kind("stages of I/Os (JSON for Perfetto)", _has_keys("traceEvents"))
    TABLE = _Kind("a table of results (CSV)", _is_table)
    PARQUET = _Kind("a table (Parquet)", _starts(b"PAR1"))
    STATE = _Kind("a state of flash drives", _starts(_STATE))
    MARKDOWN = _Kind("a page of published figures (Markdown)", _starts(*_MARKDOWN))
    FIGURES = _Kind("published figures, one a row (CSV)", _starts(b"figure,report,"))
    FIO = _Kind("results of fio", lambda head: _FIO.search(head) is not None)
    TEACHING = _Kind("teaching material", _is_teaching)
    STORE = _Kind("a store of finished runs", _is_store)
    DEVICE = _Kind("a device file", lambda head: False)
    """Recognised by its table, not by its beginning."""
    SCENARIO = _Kind("a scenario", lambda head: False)
    """As `DEVICE`."""
    TRACE = _Kind("a trace", lambda head: False)
    """A recorded trace cannot be made again, and looks as a made one does: none is replaced."""

    @property
    def words(self) -> str:
        """What it is, for messages."""
        return str(self.value.words)

    def fits(self, path: Path) -> bool:
        """True of a file of this kind, and of an empty one.

        Raises:
            OSError: It cannot be read.
        """
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if not head:
            return True
        if self is FileKind.DEVICE:
            return device_name(path) is not None
        if self is FileKind.SCENARIO:
            return isinstance(_tree(path).get("array"), list)
        return bool(self.value.fits(head))


def kind_of(path: Path) -> FileKind | None:
    """What a file is; None for what raidlab does not write, and for an empty file."""
    try:
        if path.stat().st_size == 0:
            return None
        return next((kind for kind in FileKind if kind.fits(path)), None)
    except OSError:
        return None


def device_name(path: Path) -> str | None:
    """The name of the device that a file describes; None if it describes none."""
    tree = _tree(path)
    name = tree.get("name")
    return name if tree.get("kind") in KINDS and isinstance(name, str) else None


def _tree(path: Path) -> dict[str, object]:
    """What a TOML file holds; nothing of what is none."""
    try:
        if path.stat().st_size > _LARGEST_TOML:
            return {}
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
