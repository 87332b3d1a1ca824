"""Finds devices: the data sheets of the catalogue, and files of one's own.

A device is called by its name, by an alias, or by the path of its file (anything with a slash
or ending in `.toml`), which is taken relative to the file that calls it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from raidlab.devices.faults import Fault, Faults, SpecError
from raidlab.devices.other_kind import Expected, refuse_other_kind
from raidlab.devices.provenance import (
    SOURCES,
    Source,
    check_sources,
    needed,
    take_sources,
    unstated,
)
from raidlab.devices.schema import DeviceSpec, DriveSpec, check, read_toml
from raidlab.devices.trees import Tree, Value, get
from raidlab.devices.words import device_meant, of_one_model


class _Kinds(Mapping[str, type[DeviceSpec]]):
    """Models by kind: each is imported when it is asked for, since a command needs few of them."""

    _models: Mapping[str, str] = {
        "hdd": "HddSpec",
        "station": "StationSpec",
        "host": "HostSpec",
        "controller": "ControllerSpec",
        "ssd": "SsdSpec",
        "volume": "VolumeSpec",
        "table": "TableSpec",
        "xpoint": "XpointSpec",
    }

    def __getitem__(self, kind: str) -> type[DeviceSpec]:
        name = self._models[kind]
        return cast("type[DeviceSpec]", getattr(import_module(f"raidlab.devices.{kind}"), name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


KINDS: Mapping[str, type[DeviceSpec]] = _Kinds()
"""The model of each kind of device file."""

SPECS = Path(__file__).parent / "specs"
_DEEPEST_LIKE = 8
_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*")
_LONGEST_NAME = 200
"""Characters of a name that can be a file's."""
_FEW_NAMES = 24
"""Names of a kind that a message lists."""

SpecT = TypeVar("SpecT", bound=DeviceSpec)


@dataclass(frozen=True)
class Device:
    """A device as its file describes it."""

    spec: DeviceSpec
    sources: Mapping[str, Source]
    """Source of every number, by dotted key."""
    written: Mapping[str, Value]
    """The file's values as they were written, units and all."""
    path: Path

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change with any value of the file."""
        text = json.dumps(self.written, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def load_device(path: Path) -> Device:
    """Reads and checks one device file.

    Raises:
        SpecError: Everything that is wrong with it.
    """
    faults = Faults(str(path))
    values, stated = _values(path, faults, 0)
    if faults.has("like"):
        # What it would have taken over is not missing besides.
        faults.raise_if_any()
    kind = values.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        faults.add("kind", kind, f"one of {', '.join(KINDS)}", KINDS)
        raise SpecError(faults.found)
    spec = check(KINDS[kind], values, faults)
    sources = check_sources(values, stated, faults)
    faults.raise_if_any()
    if spec is None:
        raise AssertionError("a device that cannot be read has faults")
    return Device(spec, sources, values, path)


def find(name: str, relative_to: Path | None = None, kind: type[DeviceSpec] = DeviceSpec) -> Device:
    """The device called `name`: a name or an alias of the catalogue, or a file's path.

    Args:
        name: What a person wrote.
        relative_to: Folder from which a path counts; the working folder if None.
        kind: What is wanted, for the names that are suggested; others are found all the same.

    Raises:
        SpecError: There is no such device, or its file has faults.
    """
    if "/" in name or name.endswith(".toml"):
        return load_device((relative_to or Path()) / name)
    path = path_of(name)
    if path is None:
        wanted = [
            known for known, path in names().items() if issubclass(KINDS[path.parent.name], kind)
        ]
        few = f" ({', '.join(sorted(wanted))})" if len(wanted) <= _FEW_NAMES else ""
        allowed = f"a {kind.role} of the catalogue{few}, or the path of a file"
        known = names()
        # The begin of a name is one of ours; else a maker's spelling may be meant.
        begins = any(each.startswith(name.lower()) for each in wanted)
        meant = None if begins else device_meant(name, [(each, known[each]) for each in wanted])
        fault = Fault("", name, allowed, () if meant else tuple(of_one_model(name, wanted)))
        if meant is not None:
            fault = replace(fault, allowed=f'{allowed}; did you mean "{meant}"?')
        elif fault.nearest is None and issubclass(DriveSpec, kind):
            made = f"{allowed}; raidlab import datasheet makes one of what a maker states"
            fault = replace(fault, allowed=made)
        raise SpecError([fault])
    return _of_catalogue(path)


def find_for(option: str, name: str, kind: type[DeviceSpec] = DeviceSpec) -> Device:
    """A device that the user names in an option; messages name the option too.

    Args:
        option: For messages.
        name: What the user wrote.
        kind: What is wanted, for the names that are suggested; others are found all the same.

    Raises:
        SpecError: There is no such device, or its file has faults.
    """
    try:
        return find(name, Path(), kind)
    except SpecError as error:
        faults = [fault if fault.file else replace(fault, key=option) for fault in error.faults]
        raise SpecError(faults) from None


def catalogue() -> list[Device]:
    """Every device of the catalogue, by kind and name."""
    devices = [_of_catalogue(path) for path in set(names().values())]
    return sorted(devices, key=lambda device: (device.spec.kind, device.spec.name))


@cache
def names() -> Mapping[str, Path]:
    """Every name and alias of the catalogue with its file."""
    found: dict[str, Path] = {}
    for path in sorted(SPECS.rglob("*.toml")):
        tree = read_toml(path)
        aliases = tree.get("aliases", [])
        for name in (tree.get("name"), *(aliases if isinstance(aliases, list) else ())):
            if name in found:
                allowed = f"is also a name of {found[name]}"
                raise SpecError([Fault("name", name, allowed, (), str(path))])
            found[str(name)] = path
    return found


@cache
def path_of(name: str) -> Path | None:
    """The file of a device of the catalogue: that of its name, before all are read for aliases."""
    folders = (SPECS / kind / f"{name}.toml" for kind in KINDS)
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        own = next((path for path in folders if path.is_file()), None)
        if own is not None:
            return own
    return names().get(name)


@cache
def _of_catalogue(path: Path) -> Device:
    return load_device(path)


def _values(path: Path, faults: Faults, depth: int) -> tuple[Tree, dict[str, Source]]:
    """A file's values over those of the device that it is `like`, with the sources stated."""
    tree = read_toml(path)
    refuse_other_kind(tree, Expected.DEVICE, path)
    values, stated = take_sources(tree, faults)
    like = values.pop("like", None)
    if like is None:
        return values, stated
    base = _file_of(like, path, faults)
    if base is None:
        return values, stated
    if depth == _DEEPEST_LIKE:
        faults.add("like", like, "a device that does not, in the end, refer back to this one")
        return values, stated
    inherited, base_stated = _values(base, faults, depth + 1)
    kind = inherited.get("kind")
    if kind and values.get("kind", kind) != kind:
        faults.add(
            "like",
            like,
            f"a device of the same kind ({values['kind']}); this is one of kind {kind}",
        )
    for own in ("name", "aliases", "title"):
        inherited.pop(own, None)
    # The other's source is not that of a number which this file has changed.
    for key in unstated(values, stated):
        if get(values, key) != get(inherited, key):
            stated[key] = Source(source="assumed", note=f"{path.name} states no source for it")
    # What this file says of a table's source must not be hidden by the other's finer statement.
    base_sources = {
        key: _without(source, stated)
        for key, source in base_stated.items()
        if not _is_restated(key, stated)
    }
    merged = _merged(inherited, values)
    used = needed(merged, base_sources | stated)
    return merged, {key: source for key, source in base_sources.items() if key in used} | stated


def _is_restated(key: str, stated: Mapping[str, Source]) -> bool:
    return any(key == own or key.startswith(own + ".") for own in stated)


def _without(source: Source, stated: Mapping[str, Source]) -> Source:
    """A source whose number is no longer drawn together with those of which others are stated."""
    kept = {key: rho for key, rho in source.correlations.items() if not _is_restated(key, stated)}
    if len(kept) == len(source.correlations):
        return source
    return source.model_copy(update={"correlations": kept})


def _file_of(like: Any, path: Path, faults: Faults) -> Path | None:
    if isinstance(like, str) and ("/" in like or like.endswith(".toml")):
        return path.parent / like
    known = path_of(like) if isinstance(like, str) else None
    if known is None:
        faults.add("like", like, "a device of the catalogue, or the path of a file", names())
    return known


def _merged(base: Mapping[str, Value], over: Mapping[str, Value]) -> Tree:
    merged = copy.deepcopy(dict(base))
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merged(below, value)
        else:
            merged[key] = value
    return merged


__all__ = ["KINDS", "SOURCES", "Device", "catalogue", "find", "load_device", "names"]
