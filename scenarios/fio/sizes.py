"""Sizes of a job's I/Os and its skewed distributions, as the plan of a thread has them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from raidlab.devices.plan_types import Distribution, FileService, Sizes
from raidlab.scenarios.fio import values
from raidlab.scenarios.fio.reader import Reader
from raidlab.scenarios.fio.values import OptionValueError

_Law: TypeAlias = Literal["zipf", "pareto", "normal"]

_MOST_BLOCK = 1 << 30
_SECTOR = 512
_ZIPF, _PARETO = 1.1, 0.2
"""What fio takes where a distribution has no number."""
_LAWS: Final[Mapping[str, _Law]] = {
    "zipf": "zipf",
    "pareto": "pareto",
    "normal": "normal",
    "gauss": "normal",
}
"""Skewed services of files, and the law of each."""
_KINDS = ("random", "zipf", "pareto", "normal", "zoned", "zoned_abs")


def of_directions(reader: Reader) -> list[Sizes]:
    """Sizes of reads, writes and trims."""

    def size(text: str) -> int:
        found = values.size(text, reader.kb_base)
        if not 1 <= found <= _MOST_BLOCK:
            raise OptionValueError("512 B to 1 GiB")
        if found % _SECTOR:
            raise OptionValueError(f"multiples of {_SECTOR} B: I/O is direct")
        return found

    def sizes(text: str) -> list[int]:
        return [size(part) for part in values.by_direction(text, ("4k", "4k", "4k"))]

    def ranges(text: str) -> list[tuple[int, int]]:
        return [span(part, size) for part in values.by_direction(text, ("4k-4k",) * 3)]

    def splits(text: str) -> list[list[tuple[int, int]]]:
        return [shares(part, size) for part in values.by_direction(text, ("4k/100",) * 3)]

    plain = reader.read("bs", sizes, [4096] * 3)
    least_most = reader.read("bsrange", ranges, [(one, one) for one in plain])
    unsplit: list[list[tuple[int, int]]] = [[], [], []]
    splitting = reader.read("bssplit", splits, unsplit)
    random = reader.read("percentage_random", _percents, [100] * 3)
    zones = _zones(reader)
    aligned = reader.read("ba", lambda text: _aligned(text, size), [0] * 3)
    found: list[Sizes] = []
    for at in range(3):
        split = splitting[at]
        low, high = least_most[at]
        if split:
            low, high = min(each for each, _ in split), max(each for each, _ in split)
        found.append(
            {
                "min": low,
                "max": high,
                "align": aligned[at] or low,
                "split": split,
                "percent_random": random[at],
                "zones": zones[at],
            }
        )
    return found


def _aligned(text: str, size: Callable[[str], int]) -> list[int]:
    return [size(part) for part in values.by_direction(text, ("4k", "4k", "4k"))]


def span(text: str, size: Callable[[str], int]) -> tuple[int, int]:
    """Least and most of `4k-64k`, or of a single size.

    Raises:
        OptionValueError: `size` cannot read an end.
    """
    low, dash, high = text.partition("-")
    if not dash:
        low, dash, high = text.partition(":")
    ends = size(low), size(high if dash else low)
    return min(ends), max(ends)


def shares(text: str, size: Callable[[str], int]) -> list[tuple[int, int]]:
    """Sizes with their shares in percent, the rest divided among those without one.

    Raises:
        OptionValueError: There is no size, or the shares are above 100 percent.
    """
    parts = [part.partition("/") for part in text.split(":") if part]
    given = [(size(one), values.whole(share, 0, 100) if share else None) for one, _, share in parts]
    known = sum(share or 0 for _, share in given)
    missing = [share for _, share in given if share is None]
    if not given or known > 100:
        raise OptionValueError("sizes with shares of at most 100 in all, such as 4k/60:64k/40")
    rest = (100 - known) // len(missing) if missing else 0
    return sorted(
        ((one, rest if share is None else share) for one, share in given),
        key=lambda pair: pair[1],
    )


def _percents(text: str) -> list[int]:
    parts = values.by_direction(text, ("100", "100", "100"))
    return [values.whole(part, 0, 100) for part in parts]


def distribution(reader: Reader) -> Distribution:
    """Which blocks are asked for."""
    text = reader.text("random_distribution", "random")
    kind, _, rest = text.partition(":")
    if kind not in _KINDS:
        reader.fault("random_distribution", f"one of {', '.join(_KINDS)}", _KINDS)
        return {"kind": "uniform"}
    if kind == "random":
        return {"kind": "uniform"}
    if kind == "zoned":
        return {"kind": "zoned"}
    if kind == "zoned_abs":
        return {"kind": "zoned_abs"}
    return _law(reader, "random_distribution", _LAWS[kind], rest)


class Service(NamedTuple):
    """Which file comes next, how many I/Os it has at once, and which files have more of them."""

    kind: FileService
    ios: int
    law: Distribution | None


def file_service(reader: Reader) -> Service:
    """How a job's I/Os go to its files: `file_service_type`."""
    kinds: Mapping[str, FileService] = {
        "roundrobin": "round_robin",
        "sequential": "sequential",
        "random": "random",
    }
    word, _, rest = reader.text("file_service_type", "roundrobin").partition(":")
    law: Distribution | None = None
    at_once = 1
    if word in _LAWS:
        law = _law(reader, "file_service_type", _LAWS[word], rest)
        word = "random"
    elif word not in kinds:
        known = (*kinds, *_LAWS)
        reader.fault("file_service_type", f"one of {', '.join(known)}", known)
        word = "roundrobin"
    elif rest.isdecimal():
        at_once = int(rest[:18])
    return Service(kinds[word], at_once, law)


def _law(reader: Reader, key: str, kind: _Law, rest: str) -> Distribution:
    """Zipf's law, Pareto's or a normal one, with its number and its center."""
    first, _, second = rest.partition(":")
    try:
        value = values.number(first) if first else None
        center = values.number(second) if second else None
    except OptionValueError:
        reader.fault(key, f"{kind}:NUMBER[:CENTER]")
        return {"kind": "uniform"}
    if center is not None and center > 1:
        reader.fault(key, "a center from 0 to 1")
    if kind == "zipf":
        theta = _ZIPF if value is None else value
        if theta in (0, 1) or theta > 20:
            reader.fault(key, "zipf:THETA, above 0, not 1, at most 20")
        return {"kind": "zipf", "theta": theta, "center": center}
    if kind == "pareto":
        power = _PARETO if value is None else value
        if not 0 < power < 1:
            reader.fault(key, "pareto:H, above 0, below 1")
        return {"kind": "pareto", "h": power, "center": center}
    if (value or 0) >= 100:
        reader.fault(key, "normal:DEVIATION, below 100 percent")
    return {"kind": "normal", "deviation": value or 0.0, "center": center}


def _zones(reader: Reader) -> list[list[tuple[int, int]]]:
    """Of each direction: percent of the accesses, end of the zone in percent or bytes."""
    text = reader.text("random_distribution", "random")
    kind, _, rest = text.partition(":")
    if kind not in ("zoned", "zoned_abs"):
        return [[], [], []]
    allowed = f"{kind}:ACCESS/SIZE:..., accesses of 100 percent in all"
    try:
        parts = values.by_direction(rest, (rest.split(",")[0],) * 3)
        return [_zones_of(part, allowed, absolute=kind == "zoned_abs") for part in parts]
    except OptionValueError:
        reader.fault("random_distribution", allowed)
        return [[], [], []]


def _zones_of(text: str, allowed: str, *, absolute: bool) -> list[tuple[int, int]]:
    pairs = [part.partition("/") for part in text.split(":") if part]
    accesses = [values.whole(access, 0, 100) for access, _, _ in pairs]
    sizes = [
        (values.size(share) if absolute else values.whole(share, 0, 100)) if share else None
        for _, _, share in pairs
    ]
    missing = sum(one is None for one in sizes)
    known = sum(one or 0 for one in sizes)
    if sum(accesses) != 100 or (missing if absolute else known > 100):
        raise OptionValueError(allowed)
    rest = (100 - known) // missing if missing else 0
    end, found = 0, []
    for access, one in zip(accesses, sizes, strict=True):
        end += rest if one is None else one
        found.append((access, end))
    return found


_PLACES = "offset", "offset_increment", "offset_align", "zonesize", "zonerange", "zoneskip"


def check_places(reader: Reader) -> None:
    """Places of I/Os, and steps between them, that are no whole sectors."""
    for key in _PLACES:
        found = reader.bytes_or_share(key)
        if isinstance(found, int) and found % _SECTOR:
            reader.fault(key, f"a multiple of {_SECTOR} B: I/O is direct")
    word, _, step = reader.text("rw", "read").partition(":")
    with contextlib.suppress(OptionValueError):
        # What is no size is named where it is read.
        if not word.startswith("rand") and values.size(step.lstrip("-"), reader.kb_base) % _SECTOR:
            reader.fault("rw", f"behind the colon, a multiple of {_SECTOR} B: I/O is direct")
    if reader.flag("bs_unaligned") and reader.flag("direct"):
        reader.fault("bs_unaligned", f"left out: blocks are multiples of {_SECTOR} B")


def check_zones(reader: Reader, of_directions: Sequence[Sizes], used: int) -> None:
    """Zones in bytes that end beyond what is used of a file, where fio stops at the first draw."""
    ends = [end for each in of_directions for share, end in each["zones"] if share]
    if max(ends, default=0) > used:
        allowed = f"zones of at most {used} B in all, what is used of the file, not {max(ends)} B"
        reader.fault("random_distribution", allowed)


def compressed(reader: Reader) -> int | None:
    """`buffer_compress_percentage`."""
    if "buffer_compress_percentage" not in reader:
        return None
    percent = lambda text: values.between(text, 0, 100)  # noqa: E731
    return reader.read("buffer_compress_percentage", percent, 0)
