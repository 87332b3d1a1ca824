"""What a load asks for: the published profiles, and fio's words for everything else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Access = Literal["random", "sequential"]
Profile = Literal["database", "file-server", "file-copy", "streaming", "restore"]
JobProfile = Literal[
    "oltp", "mail", "vdi-boot", "vdi-steady", "file", "web", "backup", "video", "log",
    "object-store", "ai-training", "ai-checkpoint", "spc-1-like",
]  # fmt: skip
"""Loads of applications, each a job file of fio in the library, with its sources."""
AnyProfile = Literal[Profile, JobProfile]
Rw = Literal["read", "write", "rw", "readwrite", "randread", "randwrite", "randrw"]

OUTSTANDING = (1, 3, 8, 16, 32, 64, 128, 256, 512)
"""Outstanding I/Os at which the published curves were measured; `max` is the best of them."""

HOT_SHARE = 0.85
"""Share of the I/Os that go to a hot spot, where a load does not say."""

_KIB = 1024


@dataclass(frozen=True)
class Load:
    """Order, share of reads and block size of a stream of I/Os."""

    access: Access
    read_share: float
    block_bytes: int


PROFILES: Mapping[Profile, Load] = {
    "database": Load("random", 0.67, 8 * _KIB),
    "file-server": Load("random", 0.67, 64 * _KIB),
    "file-copy": Load("random", 0.50, 64 * _KIB),
    "streaming": Load("sequential", 1.0, 64 * _KIB),
    "restore": Load("sequential", 0.0, 64 * _KIB),
}
"""The five profiles of the published reports."""

RW: Mapping[Rw, tuple[Access, float | None]] = {
    "read": ("sequential", 1.0),
    "write": ("sequential", 0.0),
    "rw": ("sequential", None),
    "readwrite": ("sequential", None),
    "randread": ("random", 1.0),
    "randwrite": ("random", 0.0),
    "randrw": ("random", None),
}
"""fio's `rw`: order, and share of reads where the word settles it."""

PROFILE_FILES = Path(__file__).parents[1] / "library" / "profiles"
"""The job files of the loads of applications."""


def profile_file(profile: str) -> Path | None:
    """The job file of a load of an application; None for the published profiles."""
    return None if profile in PROFILES else PROFILE_FILES / f"{profile}.fio"


_FIO_FACTOR = {"": 1, "k": _KIB, "m": _KIB**2, "g": _KIB**3}


def parse_fio_words(text: str) -> Load:
    """A load from fio's words: `rw=randrw rwmixread=67 bs=4k`.

    Raises:
        ValueError: A word is unknown or its value makes no sense; says which and what is allowed.
    """
    words = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or key not in ("rw", "rwmixread", "bs"):
            raise ValueError(f'"{word}": a word of rw=..., rwmixread=..., bs=...')
        words[key] = value
    known = {str(word): meaning for word, meaning in RW.items()}
    rw = words.get("rw", "")
    if rw not in known:
        raise ValueError(f'rw "{rw}": one of {", ".join(known)}')
    access, share = known[rw]
    if share is None:
        share = _percent(words.get("rwmixread", "50"))
    return Load(access, share, parse_fio_size(words.get("bs", "4k")))


def parse_fio_size(text: str) -> int:
    """Bytes from fio's notation, where k, m and g are powers of 1024: `4k`, `1m`, `512`.

    Raises:
        ValueError: It is not of that form, or zero.
    """
    match = re.fullmatch(r"(\d+)([kmg]?)", text.lower())
    if match is None or int(match[1]) == 0:
        raise ValueError(f'block size "{text}": a number of bytes such as 512, 4k or 1m')
    return int(match[1]) * _FIO_FACTOR[match[2]]


def _percent(text: str) -> float:
    if not re.fullmatch(r"\d{1,3}", text) or int(text) > 100:
        raise ValueError(f'rwmixread "{text}": a whole number from 0 to 100')
    return int(text) / 100
