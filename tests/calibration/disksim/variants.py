"""Given drives with keys of their files changed to what other drives are known to have.

The sizes, types and times are those that DiskSim's validated files state, so that every rule that
they need is compared, although the files themselves are not here.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Variant(NamedTuple):
    """A drive's files, and the keys that differ, by the end of the file's name."""

    base: str
    diskspecs: Mapping[str, object] = MappingProxyType({})
    model: Mapping[str, object] = MappingProxyType({})
    bus: Mapping[str, object] = MappingProxyType({})


def _buffer(segments: int, size: int, ahead: int, most: int, fast: int) -> dict[str, object]:
    return {
        "Number of buffer segments": segments,
        "Segment size (in blks)": size,
        "Buffer continuous read": ahead,
        "Maximum read-ahead (blks)": most,
        "Fast write level": fast,
    }


def _bus(read_ms: float, write_ms: float) -> dict[str, object]:
    return {"Read block transfer time": read_ms, "Write block transfer time": write_ms}


_PLAIN_WRITES: dict[str, object] = {"Extra write disconnect": 0, "Minimum seek delay": 0}
_WATER_MARK: dict[str, object] = {"Low (write) water mark": 1.0, "High (read) water mark": 1.0}
_OWN_SEGMENT: dict[str, object] = {"Use separate write segment": 1}
_ON_ARRIVAL: dict[str, object] = {"Immediate buffer read": 1, "Immediate buffer write": 1}
_ANY_FREE: dict[str, object] = {"Read any free blocks": 1}

VARIANTS: dict[str, Variant] = {
    "many small segments": Variant("barracuda", _buffer(6, 64, 4, 64, 2)),
    "three segments": Variant("barracuda", _buffer(3, 282, 3, 282, 1)),
    "own write segment": Variant(
        "cheetah9LP",
        {
            **_buffer(7, 511, 3, 511, 2),
            **_OWN_SEGMENT,
            "Allow read hits on write data": 0,
            **_ANY_FREE,
        },
    ),
    "no hits on written": Variant(
        "cheetah9LP", {**_buffer(7, 511, 3, 511, 2), "Allow read hits on write data": 0}
    ),
    "on arrival": Variant(
        "cheetah9LP", {**_buffer(10, 374, 4, 374, 2), **_ON_ARRIVAL, **_ANY_FREE}
    ),
    "extra disconnect": Variant("hp_c2247a"),
    "extra disconnect, shared segments": Variant("hp_c2247a", {"Use separate write segment": 0}),
    "water mark 1": Variant(
        "hp_c2247a",
        {**_buffer(2, 512, 3, 256, 0), **_WATER_MARK, **_OWN_SEGMENT, **_PLAIN_WRITES},
        bus=_bus(0.1455, 0.1455),
    ),
    "one segment": Variant(
        "hp_c2247a",
        {**_buffer(1, 256, 3, 128, 0), "Use separate write segment": 0, **_PLAIN_WRITES},
        bus=_bus(0.14841, 0.14841),
    ),
    "never disconnects": Variant(
        "hp_c2247a",
        {
            **_buffer(10, 57, 1, 57, 0),
            **_OWN_SEGMENT,
            **_PLAIN_WRITES,
            "Never disconnect": 1,
            "Hold bus entire write xfer": 1,
            "Immediate buffer read": 1,
        },
        bus=_bus(0.07069, 0.07069),
    ),
    "serpentine": Variant("cheetah9LP", model={"LBN-to-PBN mapping scheme": 1}),
    "slips alone": Variant("cheetah9LP", model={"Sparing scheme used": 7, "Number of spares": 0}),
    "spares on each track": Variant(
        "hp_c2247a",
        model={"Sparing scheme used": 3, "Number of spares": 1},
    ),
    "ranges": Variant(
        "cheetah9LP",
        model={
            "Sparing scheme used": 8,
            "Rangesize for sparing": 5,
            "Number of spares": 60,
            "Add. write settling delay": -0.02,
        },
    ),
    "offsets and empty space": Variant(
        "barracuda",
        model={
            "Offset of first block": "31.000000",
            "Empty space at zone front": 1207,
            "Add. write settling delay": -0.3,
        },
    ),
}


def _with(text: str, keys: Mapping[str, object]) -> str:
    for key, value in keys.items():
        text, count = re.subn(re.escape(key) + r"(\s*)=[^,\n]*", rf"{key}\1= {value}", text)
        assert count, key
    return text


def write(folder: Path, files: Path, variant: Variant) -> Path:
    """Writes a variant's files, and gives the `.parv`."""
    for path in sorted(files.glob(f"{variant.base}*")):
        text = path.read_text()
        if path.suffix == ".diskspecs":
            text = _with(text, variant.diskspecs)
        elif path.suffix == ".model":
            text = _with(text, variant.model)
            if variant.model.get("Sparing scheme used") == 3:
                text = re.sub(r"slips = \[[^\]]*\]", "slips = []", text)
        elif path.suffix == ".parv":
            before, mark, rest = text.partition("disksim_bus BUS1")
            text = before + mark + _with(rest, variant.bus)
        elif path.suffix == ".trace":
            continue
        (folder / path.name).write_text(text)
    return folder / f"{variant.base}.parv"
