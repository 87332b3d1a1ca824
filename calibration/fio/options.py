"""fio's job options as they are in its JSON: the load that they ask for, or why there is none.

Every option is in one table (`scenarios/fio/option_table.py`) with what it does to a load. Here are
those of which the value decides. A result whose load is not plain - flushes between its I/Os,
skewed blocks, batches - gives no point: no simulated one would be like it.

Source: fio's manual; the forms below were read off the JSON of fio 2.x to 3.3x.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from raidlab.scenarios.fio import engines, sizes, values
from raidlab.scenarios.fio.jobfile import ALIASES
from raidlab.scenarios.fio.option_table import OPTIONS, Skip, When
from raidlab.scenarios.fio.values import OptionValueError, Share

_THROUGH_PAGES = engines.SYNCHRONOUS | {"libaio", "io_uring", "posixaio"}
"""Engines that use the kernel's files, so its page cache unless `direct` is set."""
_MIXED = frozenset({"rw", "randrw"})
_RW = frozenset({"read", "write", "randread", "randwrite", *_MIXED})
_ZERO = re.compile(r"0+[a-z%]*", re.IGNORECASE)
"""Zero, in any unit."""


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
    area_start_bytes: int
    buffered: bool
    """True if the kernel's page cache stands between, as it does unless `direct` is set."""


def size(text: str, kb_base: int = 1024) -> int:
    """Bytes of a size as fio reads it: `4k` is 4096, `4kib` 4000 unless `kb_base` is 1000.

    Raises:
        OptionError: It is no size.
    """
    try:
        return values.size(text, kb_base)
    except OptionValueError:
        raise OptionError(f"{text!r} is no size that fio knows") from None


def named(options: Mapping[str, object]) -> dict[str, str]:
    """The options by their first names, as text; a flag without a value is empty."""
    return {
        ALIASES.get(key, key): "" if value is None else str(value).strip()
        for key, value in options.items()
    }


def load_of(options: Mapping[str, object]) -> JobLoad:
    """The load of a job whose options are `options`, global ones included.

    Raises:
        OptionError: Everything for which they say no load, or none that is plain.
    """
    known = named(options)
    if "read_iolog" in known:
        raise OptionError("read_iolog: it replays a trace")
    if "rw" not in known:
        raise OptionError('the job\'s options do not say its "rw"')
    word, _, step = known["rw"].partition(":")
    rw = "rw" if word == "readwrite" else word
    if rw not in _RW:
        raise OptionError(f"rw = {rw}: only reads, writes and mixtures of them are understood")
    try:
        load = _load(rw, known)
    except OptionValueError as fault:
        raise OptionError(str(fault)) from None
    reasons = list(
        dict.fromkeys([*_of_order(rw, step), *_of_values(load, known), *_of_table(load, known)])
    )
    if reasons:
        raise OptionError("; ".join(reasons))
    return load


def _load(rw: str, known: Mapping[str, str]) -> JobLoad:
    engine = engines.name_of(known.get("ioengine", "psync"))
    return JobLoad(
        rw,
        _read_share(rw, known),
        _block(rw, known),
        1 if engine in engines.SYNCHRONOUS else _count(known, "iodepth"),
        _count(known, "numjobs"),
        _area(known),
        _area_start(known),
        is_buffered(known),
    )


# -- what the load is --------------------------------------------------------------------------


def is_buffered(options: Mapping[str, str]) -> bool:
    """True if the kernel's page cache stands between a job with these options and its files."""
    if options.get("ioengine", "psync") not in _THROUGH_PAGES:
        return False
    if "direct" in options:
        return options["direct"] == "0"
    return options.get("buffered", "1") != "0"


def is_on(options: Mapping[str, str], key: str) -> bool:
    """True if a switch is on; it may stand without a value."""
    return key in options and not _ZERO.fullmatch(options[key])


def _kb_base(known: Mapping[str, str]) -> int:
    return 1000 if known.get("kb_base") == "1000" else 1024


def _block(rw: str, known: Mapping[str, str]) -> int:
    """Bytes of each I/O.

    Raises:
        OptionError: They have several sizes.
    """
    base = _kb_base(known)

    def bytes_of(text: str) -> int:
        return size(text, base)

    four = ("4k", "4k", "4k")
    key, found = "bs", [{bytes_of(one)} for one in values.by_direction(known.get("bs", "4k"), four)]
    if "bsrange" in known:
        key = "bsrange"
        found = [set(sizes.span(one, bytes_of)) for one in values.by_direction(known[key], four)]
    if "bssplit" in known:
        key = "bssplit"
        parts = [sizes.shares(one, bytes_of) for one in values.by_direction(known[key], four)]
        found = [_split(part) for part in parts]
    reads, writes = found[0], found[1]
    if is_on(known, "bs_is_seq_rand"):
        reads = writes = writes if rw.startswith("rand") else reads
    used = reads | writes if rw in _MIXED else writes if "write" in rw else reads
    if len(used) == 1:
        return next(iter(used))
    if key == "bs":
        raise OptionError(
            f"reads of {max(reads)} B and writes of {max(writes)} B are no single load"
        )
    raise OptionError("a mixture of block sizes (bssplit, bsrange) is no single load")


def _split(parts: Sequence[tuple[int, int]]) -> set[int]:
    """The sizes that I/Os have; none if their shares do not make a whole."""
    whole = sum(share for _, share in parts) == 100
    return {each for each, share in parts if share} if whole else set()


def _count(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    try:
        return values.whole(text, 1)
    except OptionValueError:
        raise OptionError(f"{key} = {text}: a whole number from 1 on") from None


def _read_share(rw: str, options: Mapping[str, str]) -> float:
    if rw not in _MIXED:
        return 0.0 if "write" in rw else 1.0
    try:
        if "rwmixread" in options:
            return values.whole(options["rwmixread"], 0, 100) / 100
        return 1.0 - values.whole(options.get("rwmixwrite", "50"), 0, 100) / 100
    except OptionValueError:
        raise OptionError("rwmixread, rwmixwrite: a percentage") from None


def _area(known: Mapping[str, str]) -> int | None:
    """Bytes of the part of the device that all clones together use; None if it is not known."""
    text = known.get("size") or known.get("filesize") or ""
    if not text or text.endswith(("%", "z")):
        return None
    base = _kb_base(known)
    whole = size(text, base)
    step = values.size_or_share(known.get("offset_increment", "0"), base)
    if isinstance(step, Share):
        return None
    return whole + step * (_count(known, "numjobs") - 1) or None


def _area_start(known: Mapping[str, str]) -> int:
    """Where that part begins.

    Raises:
        OptionError: It depends on the size of the device, which is not known.
    """
    text = known.get("offset", "0")
    found = values.size_or_share(text, _kb_base(known))
    if isinstance(found, Share):
        if found.percent:
            raise OptionError(f"offset = {text}: where that is on the drive is not known")
        return 0
    return found


# -- why it is not plain -----------------------------------------------------------------------


def _of_order(rw: str, step: str) -> Iterator[str]:
    """`rw=read:4k` skips after each block, `rw=randread:8` goes on in order for eight."""
    if step and _ZERO.fullmatch(step) is None and not (rw.startswith("rand") and step == "1"):
        yield f"rw = {rw}:{step}: it is neither sequential nor random alone"


def _of_values(load: JobLoad, known: Mapping[str, str]) -> Iterator[str]:
    """Options of which more than one decide together."""
    engine = engines.name_of(known.get("ioengine", "psync"))
    if engine in engines.WITHOUT_BLOCK_IO:
        yield f"ioengine = {engine}: it {engines.REFUSED[engine]}"
    base = _kb_base(known)
    random = load.rw.startswith("rand")
    if random and "ba" in known:
        aligned = {size(one, base) for one in known["ba"].split(",") if one.strip()}
        if not aligned <= {0, load.bs}:
            yield f"ba = {known['ba']}: its blocks are not aligned to their own size"
    strided = known.get("zonemode", "strided" if is_on(known, "zonesize") else "none")
    if strided != "none":
        yield f"zonemode = {strided}: its I/Os go by zones"
    if not random and is_on(known, "nrfiles") and _count(known, "nrfiles") > 1:
        yield f"nrfiles = {known['nrfiles']}: it is sequential in several files at once"
    service = known.get("file_service_type", "roundrobin").partition(":")[0]
    if service not in ("roundrobin", "sequential", "random"):
        yield f"file_service_type = {service}: some of its files have more I/Os than others"
    for key in ("filename", "directory"):
        names = known.get(key, "").replace("\\:", "").split(":")
        if len(names) > 1:
            yield f"{key} = {known[key]}: several files or drives are no single one"
    low = _count(known, "iodepth_low") if is_on(known, "iodepth_low") else load.iodepth
    if low < load.iodepth:
        yield f"iodepth_low = {low}: fewer I/Os than iodepth are in flight"


def _of_table(load: JobLoad, known: Mapping[str, str]) -> Iterator[str]:
    """Options that the table knows to change a load; options that it does not know."""
    for key, text in known.items():
        option = OPTIONS.get(key)
        if option is None:
            yield f"{key} = {text}: no option of fio that is known; does it change the load?"
        elif (
            isinstance(option.load, Skip)
            and _concerns(option.load.when, load)
            and not _is_off(text, option.load.off)
        ):
            yield f"{key} = {text}: {option.load.why}" if text else f"{key}: {option.load.why}"


def _is_off(text: str, off: frozenset[str]) -> bool:
    """True if all parts of a value - for reads, writes, trims - change nothing."""
    parts = [part.strip() for part in text.split(",")]
    return all(part in off or ("0" in off and _ZERO.fullmatch(part) is not None) for part in parts)


def _concerns(when: When, load: JobLoad) -> bool:
    match when:
        case When.ALWAYS:
            return True
        case When.WRITES:
            return "read" not in load.rw
        case When.READS:
            return "write" not in load.rw
        case When.RANDOM:
            return load.rw.startswith("rand")
        case When.QUEUED:
            return load.iodepth > 1
        case When.BUFFERED:
            return load.buffered
