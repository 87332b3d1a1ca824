"""fio's job options as they stand in its JSON: text, defaults, several ways to say the same.

Source: fio's manual; the forms below were read off the JSON of fio 2.x to 3.3x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from raidlab.devices.reading import whole_number

_SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})
_THROUGH_PAGES = _SYNCHRONOUS | {"libaio", "io_uring", "posixaio"}
"""Engines that use the kernel's files, so its page cache unless `direct` is set."""
_SHARED = {"readwrite": "rw", "blocksize": "bs"}
_MIXED = frozenset({"rw", "randrw", "readwrite"})
_RW = frozenset({"read", "write", "randread", "randwrite", *_MIXED})
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?b?)", re.IGNORECASE)


_RATE_LIMITS = ("rate", "rate_iops", "thinktime")
"""Options with which a job does not keep its depth outstanding."""


class OptionError(ValueError):
    """Options that do not say one load."""


@dataclass(frozen=True)
class JobLoad:
    """The load that a job's options ask for."""

    rw: str
    read_share: float
    bs: int
    iodepth: int
    numjobs: int
    area_bytes: int | None
    buffered: bool
    """True if the kernel's page cache stands between, as it does unless `direct` is set."""


def size(text: str) -> int:
    """Bytes of a size as fio writes it; k is 1024.

    Raises:
        OptionError: It is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise OptionError(f"{text!r} is no size that fio knows")
    exponent = "_kmgtp".index(match[2].lower() or "_")
    return int(float(match[1]) * 1024**exponent)


def load_of(options: Mapping[str, str]) -> JobLoad:
    """The load of a job whose options are `options`, global ones included.

    Raises:
        OptionError: They do not say what was done, say a mixture of sizes, or hold the load back.
    """
    known = {_SHARED.get(key, key): str(value) for key, value in options.items()}
    rw = known.get("rw")
    if rw is None:
        raise OptionError('the job\'s options do not say its "rw"')
    rw = "rw" if rw == "readwrite" else rw.partition(":")[0]
    if rw not in _RW:
        raise OptionError(f"rw = {rw}: only reads, writes and mixtures of them are understood")
    if "bssplit" in known or "bsrange" in known:
        raise OptionError("a mixture of block sizes (bssplit, bsrange) is no single load")
    for key in _RATE_LIMITS:
        if known.get(key, "0").strip("0,"):
            raise OptionError(
                f"{key} = {known[key]} holds the load back: no full iodepth in flight"
            )
    sizes = [size(part) for part in known.get("bs", "4k").split(",") if part.strip()]
    bs = _of_direction(sizes, rw)
    engine = known.get("ioengine", "psync")
    return JobLoad(
        rw,
        _read_share(rw, known),
        bs,
        1 if engine in _SYNCHRONOUS else _whole(known, "iodepth"),
        _whole(known, "numjobs"),
        _area(known),
        is_buffered(known),
    )


def is_buffered(options: Mapping[str, str]) -> bool:
    """True if the kernel's page cache stands between a job with these options and its files."""
    if options.get("ioengine", "psync") not in _THROUGH_PAGES:
        return False
    if "direct" in options:
        return options["direct"] == "0"
    return options.get("buffered", "1") != "0"


def _of_direction(sizes: list[int], rw: str) -> int:
    reads, writes = sizes[0], sizes[1] if len(sizes) > 1 else sizes[0]
    if rw in _MIXED and reads != writes:
        raise OptionError(f"reads of {reads} B and writes of {writes} B are no single load")
    return writes if "write" in rw else reads


def _whole(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    number = whole_number(text)
    if not number:
        raise OptionError(f"{key} = {text}: a whole number from 1 on")
    return number


def _read_share(rw: str, options: Mapping[str, str]) -> float:
    if rw not in _MIXED:
        return 0.0 if "write" in rw else 1.0
    try:
        if "rwmixread" in options:
            return float(options["rwmixread"]) / 100
        return 1.0 - float(options.get("rwmixwrite", "50")) / 100
    except ValueError:
        raise OptionError("rwmixread, rwmixwrite: a percentage") from None


def _area(options: Mapping[str, str]) -> int | None:
    text = options.get("size", "")
    if not text or text.endswith("%"):
        return None
    return size(text) or None
