"""A scenario of the facts: host, controller, arrays, drives, each with where it was read from.

The scenario has one controller: where a machine has several, the one with the most drives in arrays
stands in it. What a scenario cannot express is said in comments and as warnings.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidlab.calibration.discover import policies
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.left_over import left_over, usable
from raidlab.calibration.discover.matching import match_controller, match_drive
from raidlab.calibration.discover.members import guess, places_lacking, used_of_drives
from raidlab.calibration.discover.merging import base_drive, device_name
from raidlab.calibration.discover.sheets import (
    Sheet,
    backup_of,
    controller_sheet,
    drive_sheet,
    host_sheet,
    read_from,
)
from raidlab.devices.catalogue import find
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.copies import CopyLayout
from raidlab.devices.faults import SpecError
from raidlab.devices.kernels import parse_version
from raidlab.devices.levels import facts as level_facts
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.scenarios.planning.scenario import load_scenario

_HOST_KEYS = re.compile(r"^host\.(sockets): has no effect", re.MULTILINE)
_LEVELS = ("raid0", "raid1", "raid1e", "raid10", "raid5", "raid6", "raid50", "raid60")


@dataclass
class Draft:
    """A scenario as it is put together."""

    lines: list[str] = field(default_factory=list)
    sheets: dict[str, Sheet] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    shown: Sequence[Drive] = ()
    """Every drive that captures show."""
    behind: Sequence[Array] = ()
    """Arrays behind the controller."""
    cached: bool = False
    """True if the controller has a cache, whose policies its arrays may have."""
    without_effect: set[str] = field(default_factory=set)
    """Keys of `[host]` that change nothing of it."""
    faults: list[str] = field(default_factory=list)
    """Why it cannot be loaded; empty if it can."""

    def assume(self, text: str) -> None:
        """Adds an assumption, once."""
        if text not in self.assumed:
            self.assumed.append(text)

    @property
    def text(self) -> str:
        """The scenario's file."""
        notes = [f"# Not in this scenario: {each}" for each in self.left_out]
        return "\n".join([*self.lines, *notes]) + "\n"


@dataclass
class _Group:
    """An array of the scenario: an array of the machine, or drives on their own."""

    name: str
    level: str
    drives: list[Drive]
    array: Array | None = None


def draft(facts: Facts, stem: str) -> Draft | None:
    """A scenario that loads; None if no capture says anything of a drive or an array.

    Args:
        facts: What is known.
        stem: Begin of the names of device files beside the scenario.
    """
    controller = _main_controller(facts)
    groups, left_out = _groups(facts, controller)
    if not groups:
        return None
    made = Draft(shown=facts.drives)
    for plainly in (False, True):
        _rewrite(made, facts, controller, groups, stem, left_out, plainly=plainly)
        if not made.faults and made.without_effect:
            _rewrite(made, facts, controller, groups, stem, left_out, plainly=plainly)
        if not made.faults:
            break
    return made


def _rewrite(
    made: Draft, facts: Facts, controller: Controller | None, groups: Sequence[_Group], stem: str,
    left_out: Sequence[str], *, plainly: bool,
) -> None:  # fmt: skip
    made.lines, made.sheets, made.assumed, made.left_out = [], {}, [], [*left_out]
    _write(made, facts, controller, groups, stem, plainly=plainly)
    made.faults = check(made, stem)


def can_be_simulated(facts: Facts) -> bool:
    """True if an array or a drive is known well enough to stand in a scenario."""
    return bool(_groups(facts, _main_controller(facts))[0])


def check(made: Draft, stem: str) -> list[str]:
    """What keeps a draft from being loaded."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files(made, Path(folder) / f"{stem}.toml").items():
            path.write_text(text)
        try:
            scenario = load_scenario(Path(folder) / f"{stem}.toml")
            made.without_effect |= set(_HOST_KEYS.findall("\n".join(scenario.warnings)))
        except SpecError as error:
            return [str(each).replace(f"{folder}/", "") for each in error.faults]
    return []


def files(made: Draft, path: Path) -> dict[Path, str]:
    """The scenario's file and the device files beside it."""
    return {path: made.text} | {
        path.parent / f"{path.stem}-{name}.toml": sheet.text for name, sheet in made.sheets.items()
    }


def _main_controller(facts: Facts) -> Controller | None:
    """The controller whose arrays have the most drives; the only one that is a card else."""
    cards = [each for each in facts.controllers if not each.is_of_host]
    own = [each for each in cards if each.model or each.chip]
    counts = Counter[object]()
    for array in facts.arrays:
        if array.controller is not None:
            counts[array.controller] += array.members or 1
    for controller in own:
        identity = controller.index if controller.index is not None else controller.slot
        if counts and identity == counts.most_common(1)[0][0]:
            return controller
    managed = any(array.controller is not None for array in facts.arrays)
    attached = any("nvme" not in (d.interface or "") for d in facts.drives if not d.outside)
    if managed:
        first = next(each for each in facts.arrays if each.controller is not None)
        return cards[0] if cards else _unnamed(first)
    return own[0] if len(own) == 1 and attached and facts.drives else None


def _unnamed(array: Array) -> Controller:
    """The controller of an array where no capture shows it."""
    index, slot = (array.controller, None) if isinstance(array.controller, int) else (None, None)
    return Controller(index=index, slot=slot, role="raid", read_from=array.read_from)


def _groups(facts: Facts, controller: Controller | None) -> tuple[list[_Group], list[str]]:
    groups: list[_Group] = []
    left_out: list[str] = []
    used: set[int] = set()
    identity = (
        None
        if controller is None
        else (controller.index if controller.index is not None else controller.slot)
    )
    hardware = any(array.controller is not None for array in facts.arrays)
    for array in facts.arrays:
        name = array.name or array.os_name or "array"
        if hardware and (array.controller is None or array.controller != identity):
            left_out.append(f"array {name}: on another controller or in the host")
            continue
        drives = _drives_of(array, facts)
        if not array.members or (array.level or "") not in (*_LEVELS, "jbod", "linear"):
            left_out.append(f"array {name}: level {array.level}, {array.members} drives")
            continue
        drives = drives or _rest_of(array, facts, used)
        if any(id(each) in used for each in drives):
            left_out.append(f"volume {name}: it shares its drives with another volume")
            continue
        used |= {id(each) for each in drives}
        groups.append(_Group(_name(name, len(groups)), _level(array), drives, array))
    loose = [
        each for each in facts.drives
        if id(each) not in used and usable(each) and not each.outside
        and not (hardware and each.state != "jbod")
        and each.state not in ("spare", "failed", "missing", "unassigned", "foreign")
    ]  # fmt: skip
    if controller is not None:
        flash = [each for each in loose if each.interface == "nvme"]
        used |= {id(each) for each in flash}
        if flash:
            left_out.append(f"{len(flash)} NVMe drives: they are not on the controller")
        loose = [each for each in loose if each.interface != "nvme"]
    kinds: dict[tuple[object, ...], list[Drive]] = {}
    for drive in loose:
        alike = (drive.model, drive.interface, drive.bytes, drive.kind, drive.rpm)
        kinds.setdefault(alike, []).append(drive)
    for same in kinds.values():
        groups.append(_Group(f"drives-{len(groups)}", "independent", same))
    used |= {id(each) for array in facts.arrays for each in _drives_of(array, facts)}
    standing = used | {id(each) for each in loose}
    left_out += left_over(facts, controller, standing, hardware=hardware)
    return groups, left_out


def _rest_of(array: Array, facts: Facts, used: set[int]) -> list[Drive]:
    """Drives of an array that names none: those of its group, else what its controller has.

    Where several volumes of a controller, or of its group, name no drives, none of them gets any.
    """
    if array.controller is None or array.drives:
        return []
    place = array.controller, array.group
    if sum(not each.drives and (each.controller, each.group) == place for each in facts.arrays) > 1:
        return []
    out = ("spare", "failed", "missing", "unassigned", "foreign", "jbod", "unconfigured bad")
    own = [
        each for each in facts.drives
        if each.controller == array.controller and each.slot is not None and id(each) not in used
        and each.state not in out and array.group in (None, each.group)
    ]  # fmt: skip
    return own if len(own) <= (array.members or 0) else []


def _drives_of(array: Array, facts: Facts) -> list[Drive]:
    """The drives that an array's members are, as far as captures show them."""
    found: dict[int, Drive] = {}
    names = {name: d for d in facts.drives if (name := device_name(d.name)) is not None}
    for member in array.drives or []:
        slots = [d for d in facts.drives if d.slot == member and d.controller == array.controller]
        base = base_drive(member, names)
        drive = slots[0] if slots else names[base] if base else None
        if drive is not None and drive.state not in ("missing", "failed"):
            found[id(drive)] = drive
    return list(found.values())


def _level(array: Array) -> str:
    level, members = array.level or "jbod", array.members or 1
    if members == 1:
        return "jbod"
    if level == "raid10" and array.controller is None and _layout(array, members) is not None:
        return level
    if level in ("raid10", "raid1e") and members % 2:
        return "raid1e"
    if level == "raid10" and members == 2:
        return "raid1"
    return "jbod" if level == "linear" else level


def _layout(array: Array, members: int) -> CopyLayout | None:
    """Where md puts the copies of RAID 10; None of striped pairs and where no capture says it."""
    if array.controller is not None or array.level != "raid10" or array.layout is None:
        return None
    layout = CopyLayout.parse(f"{array.layout}{array.copies or ''}")
    return None if layout is None or layout.is_of_pairs(members) else layout


def _name(text: str, place: int) -> str:
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text.rpartition("/")[2]).strip("-") or f"array-{place}"


def _write(
    made: Draft, facts: Facts, controller: Controller | None, groups: Sequence[_Group],
    stem: str, *, plainly: bool,
) -> None:  # fmt: skip
    title = f"{facts.host.name or 'A machine'}, as discovered"
    made.lines += [f'title = "{title}"', ""]
    _host(made, facts, groups, stem, plainly=plainly)
    if controller is not None:
        _controller(made, controller, groups, stem, plainly=plainly)
    taken: Counter[str] = Counter()
    for group in groups:
        taken[group.name] += 1
        if taken[group.name] > 1:
            group.name = f"{group.name}-{taken[group.name]}"
        _array(made, group, controller, stem, plainly=plainly)
    for group in groups:
        made.lines += [
            "[[workload]]  # assumed: captures do not say what the machine is asked for",
            f'target = "{group.name}"', 'rw = "randrw"', 'read_share = "70 %"',
            'block_size = "4 KiB"', "outstanding = [1, 8, 32]", "",
        ]  # fmt: skip
    made.lines += ["[run]", _state(groups), 'warm_up = "1 s"', 'duration = "10 s"',
                   "max_ios = 20000", ""]  # fmt: skip
    for group in groups:
        _degraded(made, group, len(groups))


def _state(groups: Sequence[_Group]) -> str:
    """The state in which the run begins: in use, unless every SSD was written less than once."""
    flash = [each for group in groups for each in group.drives if each.kind == "ssd"]
    new = [
        each for each in flash
        if each.bytes is not None and each.written_bytes_total is not None
        and each.written_bytes_total < each.bytes
    ]  # fmt: skip
    if flash and len(new) == len(flash):
        files = ", ".join(sorted({str(each.read_from) for each in new}))
        return f'precondition = "fresh"  # read from {files}: no SSD was written once over'
    return 'state = "sustained"  # assumed: in use, with caches full and SSDs worn in'


def _model(made: Draft, sheet: Sheet | None, name: str, stem: str) -> str:
    """What `model` says: the catalogue's name, or the file of a device beside the scenario."""
    if sheet is None:
        return name
    plain, number = sheet.name, 1
    while sheet.name in made.sheets and not made.sheets[sheet.name].is_like(sheet):
        # Drives of one model may differ: in their links, in their queues.
        number += 1
        sheet.name = f"{plain}-{number}"
        sheet.values = {**sheet.values, "name": sheet.name}
    made.sheets.setdefault(sheet.name, sheet).join(sheet)
    return f"{stem}-{sheet.name}.toml"


def _host(made: Draft, facts: Facts, groups: Sequence[_Group], stem: str, *, plainly: bool) -> None:
    drives = [each for group in groups for each in group.drives]
    flash = any(each.interface == "nvme" for each in drives)
    base = "nvme" if flash else "generic"
    sheet = None if plainly else host_sheet(facts.host, drives, base)
    source = facts.host.read_from
    made.lines += ["[host]", f'model = "{_model(made, sheet, base, stem)}"']
    host = facts.host
    # The kernel counts as soon as a load flushes md, whatever the assumed load does.
    stated = {"kernel": host.kernel if parse_version(host.kernel or "") else None,
              "sockets": host.sockets if (host.sockets or 1) > 1 else None}  # fmt: skip
    if plainly or not any(each.array and each.array.controller is None for each in groups):
        stated = {}
    for name, value in (("CPU", host.cpu), ("sockets", host.sockets), ("kernel", host.kernel)):
        if stated.get(name) is not None:
            text = f'"{value}"' if name == "kernel" else value
            vain = name in made.without_effect
            why = ", without effect on this load" if vain else ""
            made.lines.append(f"{'# ' if vain else ''}{name} = {text}  # read from {source}{why}")
        elif value is not None:
            made.lines.append(f"# {name}: {value}, read from {source}")
    if host.cpu is None and host.threads is None:
        made.lines.append(f"# assumed: no capture says which CPU it has; {base} stands in")
    made.lines.append("")


def _controller(
    made: Draft, controller: Controller, groups: Sequence[_Group], stem: str, *, plainly: bool
) -> None:
    arrays = [g.array for g in groups if g.array is not None and g.array.controller is not None]
    made.behind = arrays
    match = match_controller(controller, "controller")
    caching = any("back" in (each.write_policy or "") for each in arrays)
    if match.device is None and caching and not controller.cache:
        # A volume that writes back has a cache below it, though no capture says how large.
        match = match_controller(replace(controller, cache="1 GiB"), "controller")
        made.assumed.append("the controller's cache: no capture says its size")
    levels = [g.level for g in groups if g.level != "independent" and g.array is not None
              and g.array.controller is not None]  # fmt: skip
    base = match.device or match.stand_in or "megaraid-9361-8i"
    spec = find(base, kind=ControllerSpec).spec
    sheet = controller_sheet(controller, match, sorted(set(levels)))
    file = f"# read from {controller.read_from}"
    made.lines += [
        "[controller]",
        f'model = "{_model(made, sheet, base, stem)}"  {file}: {match.quality}, {match.reason}',
    ]
    made.cached = isinstance(spec, ControllerSpec) and spec.cache is not None and not plainly
    if not arrays or not made.cached:
        made.lines.append("")
        return
    backup = backup_of(controller)
    if backup is not None:
        made.lines.append(
            f'backup = "{backup}"  {file}: {controller.backup_state or controller.backup}'
        )
    made.lines += policies.shared(arrays)
    made.lines.append("")


def _array(
    made: Draft, group: _Group, controller: Controller | None, stem: str, *, plainly: bool
) -> None:
    array = group.array
    members = len(group.drives) if array is None else array.members or 1
    read = "" if array is None else f"  # read from {array.read_from}"
    made.lines += ["[[array]]", f'name = "{group.name}"', f'level = "{group.level}"{read}',
                   "drives = ["]  # fmt: skip
    behind = controller is not None
    for model, settings, count, remark in _models(
        made, group, members, stem, plainly=plainly, behind=behind
    ):
        made.lines.append(f'    {{ model = "{model}", count = {count}{settings} }},  # {remark}')
    made.lines.append("]")
    if array is not None:
        _settings(made, group, array, controller, plainly=plainly)
        used = used_of_drives(array, group.drives)
        if used is not None and not plainly:
            made.lines.append(f'used = "{used} B"  # by its size, read from {array.read_from}')
    made.lines.append("")


def _where(files: Sequence[str | None]) -> str:
    """Where drives were read; of those that no capture names, that they are assumed."""
    known = [file for file in files if file is not None]
    return read_from(known) if known else "assumed: no capture names the drives"


def _models(
    made: Draft, group: _Group, members: int, stem: str, *, plainly: bool, behind: bool
) -> list[tuple[str, str, int, str]]:
    """Models, settings, counts of the drives; members that no capture shows are as the others."""
    seen: dict[tuple[str, str, str], list[str | None]] = {}
    drives = group.drives or [guess(group.array, made.shown)]
    for drive in drives[:members]:
        match = match_drive(drive)
        base = match.device or match.stand_in or "generic-sata-20tb"
        sheet = None if plainly else drive_sheet(drive, match)
        assumed = drive.read_from is None
        unqueued = _lacks_queuing(drive)
        if unqueued and behind:
            made.left_out.append(f"{drive.name or drive.slot or drive.model}: NCQ is off, which"
                                 " only onboard ports can have")  # fmt: skip
        switches = (", ncq = false" if unqueued and not behind else "") + _write_cache(drive, base)
        why = f"{match.quality}, {match.reason}"
        seen.setdefault((_model(made, sheet, base, stem), switches, why), []).append(
            drive.read_from
        )
        if assumed or match.quality in ("class", "ask"):
            doubt = f"; {match.doubt}" if assumed and match.doubt else ""
            made.assume(f"{group.name}: {drive.model or 'a drive'} is taken as {base}{doubt}")
        elif drive.bytes is None and match.quality == "family":
            made.assume(f"{group.name}: no capture says the size of {match.text}: {base} stands in")
    rest = members - sum(map(len, seen.values()))
    first = next(iter(seen.values()))
    first += first[:1] * max(rest, 0)
    return [
        (model, settings, len(files), f"{_where(files)}: {why}")
        for (model, settings, why), files in seen.items()
    ]


def _lacks_queuing(drive: Drive) -> bool:
    sata = (drive.interface or "").startswith("sata")
    return sata and drive.ncq is False and drive.queue_depth is None


def _write_cache(drive: Drive, base: str) -> str:
    """The write cache of a drive, where a capture says other than its device does."""
    spec = find(base, kind=DriveSpec).spec
    if drive.drive_cache not in ("on", "off") or not isinstance(spec, DriveSpec):
        return ""
    on = drive.drive_cache == "on"
    could = "write_cache" in spec.options and spec.volatile(DriveOptions(write_cache=True))
    if not could or spec.volatile(DriveOptions()) == on:
        return ""
    return f", write_cache = {str(on).lower()}"


def _settings(
    made: Draft, group: _Group, array: Array, controller: Controller | None, *, plainly: bool
) -> None:
    file = f"# read from {array.read_from}"
    software = array.controller is None and group.level != "jbod"
    if software:
        made.lines.append(f'software_raid = "os"  {file}')
    if group.level in ("raid0", "raid10", "raid1e", "raid5", "raid6", "raid50", "raid60"):
        if array.stripe_unit is not None:
            made.lines.append(f'stripe_unit = "{array.stripe_unit}"  {file}')
        else:
            made.lines.append("# stripe_unit: assumed, no capture says it")
    if group.level in ("raid50", "raid60") and array.spans not in (None, 2):
        made.lines.append(f"spans = {array.spans}  {file}")
    if software:
        made.lines += _of_md(array, group.level, file, plainly=plainly)
    if array.spares:
        away = array.lacking or array.failed or array.missing
        mark = "# not while drives are missing: " if away or plainly else ""
        if group.level in ("raid0", "jbod", "independent"):
            mark = f"# {group.level} has nothing to rebuild from: "
        names = ", ".join(array.spares)
        made.lines.append(f"{mark}hot_spares = {len(array.spares)}  {file}: {names}")
    if array.journal is not None:
        made.left_out.append(f"journal {array.journal} of {group.name}: no model of it")
    if controller is not None and array.controller is not None and not software:
        rate = controller.rebuild_rate_percent
        if rate and not plainly:
            made.lines.append(f"rebuild_rate = {rate / 100:g}  # read from {controller.read_from}")
        elif controller.rebuild_priority is not None:
            made.lines.append(
                f"# rebuild_rate: assumed; {controller.read_from} has the priority"
                f" {controller.rebuild_priority}, of which no maker says the share"
            )
        made.lines += policies.own(array, made.behind) if made.cached else []


def _of_md(array: Array, level: str, file: str, *, plainly: bool) -> list[str]:
    """What md alone has: where copies lie, a bitmap."""
    layout = _layout(array, array.members or 1)
    lines = [] if layout is None else [f'layout = "{layout}"  {file}']
    if level not in ("raid1", "raid10", "raid1e", "raid5", "raid6") or array.bitmap is None:
        return lines
    if not array.bitmap:
        return [*lines, f'bitmap = "none"  {file}']
    if not plainly:
        lines.append(f'bitmap = "internal"  {file}')
        if array.bitmap_chunk is not None:
            lines.append(f'bitmap_chunk = "{array.bitmap_chunk}"  {file}')
    return lines


def _degraded(made: Draft, group: _Group, arrays: int) -> None:
    """The drives that an array lacks fail at the begin."""
    array = group.array
    if array is None or array.members is None or group.level not in _LEVELS:
        return
    lacking = array.missing or (array.members - array.present if array.present else 0)
    lacking = lacking or len(array.failed or [])
    if array.state in ("degraded", "rebuilding", "partially degraded"):
        lacking = lacking or 1
    places, known = places_lacking(array, made.shown, lacking)
    shape = level_facts(group.level, _layout(array, array.members), array.spans)
    fail = places[: shape.bears(array.members)]
    if len(fail) < len(places):
        made.left_out.append(f"{len(places) - len(fail)} of {len(places)} drives that {group.name}"
                             " lacks: it would lose data")  # fmt: skip
    for drive in fail:
        where = "" if drive in known else ", assumed: no capture says which"
        made.lines += [
            f"[[event]]  # {array.state}: place {drive}, from 0 on{where}, read from"
            f" {array.read_from}",
            'at = "0 s"', 'action = "fail-drive"', f"drive = {drive}",
        ]  # fmt: skip
        if arrays > 1:
            made.lines.append(f'array = "{group.name}"')
        made.lines.append("")
    if array.state == "rebuilding" and fail:
        made.left_out.append(f"the rebuild of {group.name}: the array is degraded here")
