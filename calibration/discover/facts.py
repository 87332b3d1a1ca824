"""What captured outputs say about a machine: typed facts, unknown where nothing says so.

Sizes are bytes. `stripe_unit`, `cache` and other sizes that a tool prints as a round number are
texts with a binary unit, such as `512 KiB`. None means that no capture has the fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

from raidlab.devices.trees import Document


@dataclass
class Link:
    """A trained link, or the widest that is possible."""

    gen: int | None = None
    """Generation of PCI Express."""
    width: int | None = None
    """Lanes."""
    speed: str | None = None
    """As the tool prints it."""
    name: str | None = None


@dataclass
class CacheRatio:
    """How a controller's cache is divided, percent."""

    read: int
    write: int


@dataclass
class Controller:
    """A RAID controller or a host bus adapter."""

    index: int | None = None
    slot: int | str | None = None
    address: str | None = None
    model: str | None = None
    chip: str | None = None
    role: str | None = None
    """`raid`, `hba`, `ahci` or `vmd`."""
    driver: str | None = None
    firmware: str | None = None
    device_interface: str | None = None
    """Fastest interface of its ports; drives may be slower."""
    ports: int | None = None
    cache: str | None = None
    cache_free: str | None = None
    cache_ratio: CacheRatio | None = None
    backup: str | None = None
    """`bbu`, `battery`, `cachevault`, `capacitor`, `supercap flash`, `energy pack`, `none`."""
    backup_model: str | None = None
    backup_state: str | None = None
    backup_count: int | None = None
    replace: bool | None = None
    """True if the backup is to be replaced."""
    write_back_safe_now: bool | None = None
    write_back_without_battery: bool | None = None
    default_write_policy: str | None = None
    """Of new volumes."""
    drive_cache: str | None = None
    state: str | None = None
    rebuild_rate_percent: int | None = None
    rebuild_priority: str | None = None
    """In words, as `high`: no maker says which share that is."""
    queue_depth: int | None = None
    pci: str | None = None
    link: Link | None = None
    link_possible: Link | None = None
    numa: int | None = None
    read_from: str | None = None

    @property
    def is_of_host(self) -> bool:
        """True of the chipset's or processor's own ports: no card between host and drives."""
        return self.role in ("ahci", "vmd")


@dataclass
class Array:
    """An array or a volume of a controller."""

    name: str | None = None
    os_name: str | None = None
    group: str | None = None
    controller: int | str | None = None
    level: str | None = None
    members: int | None = None
    """Places, spares aside."""
    present: int | None = None
    missing: int | None = None
    spans: int | None = None
    members_per_span: int | None = None
    state: str | None = None
    failed: list[str] | None = None
    lacking: list[int] | None = None
    """Places without a working drive, from 0 on."""
    spares: list[str] | None = None
    journal: str | None = None
    stripe_unit: str | None = None
    """Contiguous bytes on one drive."""
    full_stripe: str | None = None
    bytes: int | None = None
    member_bytes: int | None = None
    layout: str | None = None
    copies: int | None = None
    metadata: str | None = None
    bitmap: bool | None = None
    bitmap_chunk: str | None = None
    consistency: str | None = None
    rebuild_percent: float | None = None
    rebuild_bytes_per_s: int | None = None
    write_policy: str | None = None
    """What is set."""
    write_policy_now: str | None = None
    """What runs."""
    write_back_without_battery: bool | None = None
    read_ahead: bool | str | None = None
    read_cache: bool | None = None
    io_policy: str | None = None
    drive_cache: str | None = None
    drives: list[str] | None = None
    read_from: str | None = None


@dataclass
class Drive:
    """A physical drive, or a virtual disk whose drives are out of sight."""

    slot: str | None = None
    name: str | None = None
    address: str | None = None
    did: int | None = None
    """Device number on a RAID controller, as smartctl's `megaraid,N`."""
    model: str | None = None
    vendor: str | None = None
    family: str | None = None
    chip: str | None = None
    serial: str | None = None
    bytes: int | None = None
    approximate: bool | None = None
    """True if the capture has a rounded size only."""
    kind: str | None = None
    """`hdd`, `ssd`."""
    interface: str | None = None
    """Fastest that the drive can."""
    link_now: str | None = None
    rpm: int | None = None
    """0 for an SSD."""
    state: str | None = None
    failing: str | None = None
    """What predicts that it fails, in the tool's words."""
    group: str | None = None
    controller: int | str | None = None
    queue_depth: int | None = None
    ncq: bool | None = None
    drive_cache: str | None = None
    """`on`, `off`, `default`, `no volatile cache`."""
    volatile_write_cache: bool | None = None
    protected: bool | None = None
    """True if a capture names a capacitor against the loss of power."""
    sleeps: bool | None = None
    """True of an SSD that goes to sleep by itself: `apsta` of NVMe, DEVSLP of SATA."""
    form: str | None = None
    """Form factor, such as `m.2` or `2.5 inches`."""
    transport: str | None = None
    """`usb` or `mmc`: what no storage system is made of."""
    removable: bool | None = None
    """True of a removable medium, and of a disk on a port that is marked for hot plugging."""
    zoned: str | None = None
    """`device-managed`, `host-aware`, `host-managed` of a shingled disk."""
    scheduler: str | None = None
    requests: int | None = None
    max_io: str | None = None
    max_transfer: str | None = None
    max_power_w: float | None = None
    sector: int | None = None
    physical_sector: int | None = None
    protection: int | None = None
    namespaces: int | None = None
    virtual: bool | None = None
    volume_of_controller: bool | None = None
    behind: str | None = None
    link: Link | None = None
    link_possible: Link | None = None
    numa: int | None = None
    percent_used: int | None = None
    power_on_hours: int | None = None
    temperature_c: int | None = None
    read_bytes_total: int | None = None
    written_bytes_total: int | None = None
    mean_read_size: float | None = None
    mean_write_size: float | None = None
    read_share: float | None = None
    write_bytes_per_s_life: int | None = None
    read_from: str | None = None

    @property
    def outside(self) -> str | None:
        """Why it is no part of the storage system; None if it may be one.

        Disks over SATA in bays for hot plugging are marked as removable, too.
        """
        if self.transport is not None:
            name = {"usb": "USB", "mmc": "an SD card's or eMMC's bus"}[self.transport]
            medium = ", a removable medium" if self.removable else ""
            return f"on {name}{medium}: no part of the storage system, and not simulated"
        if self.removable and self.interface is None:
            return (
                "a removable medium: no part of the storage system; if it is a disk in a bay for"
                " hot plugging, capture its interface with lsblk -O"
            )
        return None


@dataclass
class VolumeCache:
    """The cache of a logical volume (dm-cache)."""

    bytes: int | None
    mode: str | None
    chunk: str | None


@dataclass
class Volume:
    """A logical volume or a LUN behind several paths."""

    name: str
    kind: str | None = None
    level: str | None = None
    members: int | None = None
    data_members: int | None = None
    stripe_unit: str | None = None
    cache: VolumeCache | None = None
    pool: str | None = None
    on: list[str] | None = None
    dm: str | None = None
    product: str | None = None
    bytes: int | None = None
    paths: int | None = None
    paths_active: int | None = None
    paths_preferred_active: int | None = None
    policy: str | None = None
    read_only: bool | None = None
    read_from: str | None = None


UNNAMED: Final = "unknown"
"""A hypervisor that a capture shows but does not name."""


@dataclass
class Host:
    """The computer."""

    name: str | None = None
    kernel: str | None = None
    cpu: str | None = None
    sockets: int | None = None
    cores: int | None = None
    threads: int | None = None
    clock_mhz: float | None = None
    memory_bytes: int | None = None
    numa_nodes: int | None = None
    hypervisor: str | None = None
    read_from: str | None = None


@dataclass(frozen=True)
class Warning:
    """What a user must know about a capture."""

    code: str
    text: str


@dataclass(frozen=True)
class StatedDrive:
    """A model as a machine prints it, beside what is known of the drive or controller."""

    text: str
    part: str
    """`drive` or `controller`."""
    interface: str | None = None
    bytes: int | None = None
    rpm: int | None = None


@dataclass
class Facts:
    """What one capture says, or all captures of a machine."""

    source: str = ""
    controllers: list[Controller] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    drives: list[Drive] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    host: Host = field(default_factory=Host)
    drives_hidden: list[str] = field(default_factory=list)
    """Paths of a LUN: they look like drives and are none."""
    stack: dict[str, list[str]] = field(default_factory=dict)
    """Devices below a volume, nearest first."""
    encrypted: bool | None = None
    reads: dict[str, str | list[str]] = field(default_factory=dict)
    """Files of a listing by the reader that would take them."""
    ignored: list[str] = field(default_factory=list)
    stated: list[StatedDrive] = field(default_factory=list)
    """Models of a list."""
    warnings: list[Warning] = field(default_factory=list)
    refused: str | None = None
    """Why the capture cannot be read."""
    repaired: bool = False
    """True if the capture was no valid document."""

    def warn(self, code: str, text: str) -> None:
        """Adds a warning, once."""
        if (found := Warning(code, text)) not in self.warnings:
            self.warnings.append(found)

    def repair(self, file: str, repairs: Sequence[str]) -> None:
        """Says what was wrong with a capture and has been repaired."""
        self.repaired |= bool(repairs)
        for each in repairs:
            self.warn("repaired", f"{file}: {each}")

    def stamp(self, file: str) -> None:
        """Says of every fact which file it was read from."""
        parts: list[Controller | Array | Drive | Volume | Host] = [
            *self.controllers, *self.arrays, *self.drives, *self.volumes, self.host,
        ]  # fmt: skip
        for part in parts:
            if part.read_from is None and any(True for _ in known(part)):
                part.read_from = file


_ALWAYS = {
    Controller: ("model", "cache", "backup", "link"),
    Array: ("name", "level", "members", "stripe_unit", "bytes"),
    Drive: ("model", "bytes", "kind", "interface"),
    Link: ("gen", "width", "speed"),
    Host: ("kernel", "cpu", "sockets", "threads"),
}
"""Facts that stand in JSON as null where they are unknown."""


def known(part: object) -> Iterator[tuple[str, Any]]:
    """Names and values of a part's fields that are known."""
    if not is_dataclass(part) or isinstance(part, type):
        raise AssertionError("parts of a machine are dataclasses")
    for each in fields(part):
        value = getattr(part, each.name)
        if value is not None:
            yield each.name, value


def plain(part: Any) -> Any:
    """A part as plain data for JSON: what is known, and the main facts as null if not."""
    if isinstance(part, list):
        return [plain(each) for each in part]
    if not is_dataclass(part) or isinstance(part, type):
        return part
    found: dict[str, object] = dict.fromkeys(_ALWAYS.get(type(part), ()))
    return found | {name: plain(value) for name, value in known(part)}


def to_dict(facts: Facts) -> Document:
    """The facts as `raidlab discover --json` has them (docs/how-to/discover-a-machine.md)."""
    found = {
        "source": facts.source,
        "controllers": plain(facts.controllers),
        "arrays": plain(facts.arrays),
        "drives": plain(facts.drives),
        "links": plain(facts.links),
        "host": plain(facts.host),
        "volumes": plain(facts.volumes),
    }
    extra = {
        "drives_hidden": facts.drives_hidden,
        "stack": facts.stack,
        "encrypted": facts.encrypted,
        "reads": facts.reads,
        "ignored": facts.ignored,
    }
    return found | {name: value for name, value in extra.items() if value not in (None, [], {})}
