"""The SMART log page of an NVMe drive: what the drive itself counts, before and after.

Layout: NVM Express Base Specification 2.0, 5.16.1.3 (log identifier 02h, 512 bytes, little-endian).
The page is read by the kernel's own command (`NVME_IOCTL_ADMIN_CMD`, linux/nvme_ioctl.h), which
root alone may do.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ADMIN: Final = 0xC0484E41
_GET_LOG_PAGE: Final = 0x02
_SMART: Final = 0x02
_BYTES: Final = 512
_ALL_NAMESPACES: Final = 0xFFFFFFFF
_UNIT_BYTES: Final = 512_000
"""Bytes of a data unit."""
_ZERO_CELSIUS_K: Final = 273


@dataclass(frozen=True)
class SmartLog:
    """What a drive counts since it was made."""

    temperature_c: int
    used_pct: int
    read_bytes: int
    written_bytes: int
    reads: int
    writes: int
    busy_min: int
    media_errors: int
    throttled_s: int
    """Seconds of both thermal management states."""

    @staticmethod
    def of(page: bytes) -> SmartLog:
        """Of a log page, of 512 bytes."""

        def number(at: int, length: int) -> int:
            return int.from_bytes(page[at : at + length], "little")

        return SmartLog(
            number(1, 2) - _ZERO_CELSIUS_K, number(5, 1), number(32, 16) * _UNIT_BYTES,
            number(48, 16) * _UNIT_BYTES, number(64, 16), number(80, 16), number(96, 16),
            number(160, 16), number(224, 4) + number(228, 4),
        )  # fmt: skip


class _Command(ctypes.Structure):
    """`struct nvme_admin_cmd`."""

    _fields_ = (
        ("opcode", ctypes.c_uint8), ("flags", ctypes.c_uint8), ("rsvd1", ctypes.c_uint16),
        ("nsid", ctypes.c_uint32), ("cdw2", ctypes.c_uint32), ("cdw3", ctypes.c_uint32),
        ("metadata", ctypes.c_uint64), ("addr", ctypes.c_uint64),
        ("metadata_len", ctypes.c_uint32), ("data_len", ctypes.c_uint32),
        ("cdw10", ctypes.c_uint32), ("cdw11", ctypes.c_uint32), ("cdw12", ctypes.c_uint32),
        ("cdw13", ctypes.c_uint32), ("cdw14", ctypes.c_uint32), ("cdw15", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32), ("result", ctypes.c_uint32),
    )  # fmt: skip


def read_logs(names: Sequence[str], dev: Path = Path("/dev")) -> dict[str, SmartLog]:
    """The logs of those drives that are NVMe and may be read."""
    found = {}
    for name in names:
        if re.fullmatch(r"nvme\d+n\d+", name) and (log := _read(dev / name)) is not None:
            found[name] = log
    return found


def _read(path: Path) -> SmartLog | None:
    """None where it may not be read, or is no NVMe drive."""
    page = ctypes.create_string_buffer(_BYTES)
    command = _Command(
        opcode=_GET_LOG_PAGE, nsid=_ALL_NAMESPACES, addr=ctypes.addressof(page), data_len=_BYTES,
        cdw10=(_BYTES // 4 - 1) << 16 | _SMART,
    )  # fmt: skip
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            fcntl.ioctl(file, _ADMIN, command)
    except OSError:
        return None
    return SmartLog.of(page.raw)


def changes(before: SmartLog, after: SmartLog) -> list[str]:
    """What changed that may slow a drive down, in words."""
    said = []
    if after.throttled_s > before.throttled_s:
        said.append(f"throttled for {after.throttled_s - before.throttled_s} s by its heat")
    if after.media_errors > before.media_errors:
        said.append(f"{after.media_errors - before.media_errors} media errors more")
    if after.used_pct > before.used_pct:
        said.append(f"{after.used_pct - before.used_pct} % of its life used")
    if abs(after.temperature_c - before.temperature_c) >= 10:
        said.append(f"{before.temperature_c} to {after.temperature_c} C")
    return said
