"""storcli, perccli and their second generations: JSON and text, which hold one structure.

Sizes are powers of 1,024 though written GB and TB. A table's row says what it is by its columns, a
list of pairs by its keys, so order and titles of sections do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.calibration.discover.captures import (
    Capture,
    Pairs,
    documents,
    pair,
    ruled_tables,
    text_of,
)
from raidlab.calibration.discover.endings import open_table
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts, Link
from raidlab.calibration.discover.quantities import (
    binary_size,
    flag,
    known_text,
    on_off,
    pci_address,
    pcie_generation,
    size,
    state,
    whole,
)
from raidlab.calibration.discover.readers import megaraid

Row = Mapping[str, object]

_PATH = re.compile(r"/c(?P<c>\d+)(?:/e(?P<e>\d+))?/s(?P<s>\d+)")
_VOLUME = re.compile(r"(?:/c\d+/v|VDs?\s*)(?P<v>\d+)\b", re.IGNORECASE)


@dataclass
class _Section:
    """A titled part of what one controller answers."""

    title: str
    pairs: Pairs
    rows: list[Row]


@dataclass
class _Answer:
    """What one controller answers."""

    index: int | None
    status: str
    description: str
    sections: list[_Section] = field(default_factory=list)
    cut: bool = False
    """True if the capture ends within it."""


def claims(capture: Capture) -> bool:
    """True for what storcli or perccli prints."""
    head = capture.head
    return bool(
        # MegaCli and mvcli write a colon behind these words.
        re.search(r'CLI Version\s*=|"CLI Version"\s*:', head)
        or ('"Command Status"' in head and '"Controllers"' in head)
        or re.search(r"^EID:Slt\s+(DID|PID)\s", capture.text, re.MULTILINE)
        or re.search(r"^DG/VD\s+TYPE\s", capture.text, re.MULTILINE)
    )


def tool(capture: Capture) -> str:
    """`storcli`, `perccli`, `perccli2` ... by the version, the file's name and the product."""
    version = re.search(r"CLI Version\"?\s*[=:]\s*\"?0*(\d+)\.", capture.text)
    second = version is not None and int(version[1]) >= 8
    named = re.search(r"(storcli|perccli)", capture.name, re.IGNORECASE)
    dell = re.search(r"\bPERC\b|\bDell\b", capture.text) is not None
    base = named[1].lower() if named else ("perccli" if dell else "storcli")
    return base + ("2" if second else "")


def read(capture: Capture) -> Facts:
    """Controllers, volumes and drives of every controller that answered."""
    facts = Facts(tool(capture))
    found = documents(capture.text)
    if found is not None:
        facts.repair(capture.name, found.repairs)
    name = re.search(r'Host Name"?\s*[=:]\s*"?([\w.-]+)', capture.text)
    facts.host.name = name[1] if name is not None else None
    answers = list(_answers(found.values)) if found else list(_text_answers(capture.lines))
    for place, answer in enumerate(answers):
        last = place == len(answers) - 1
        answer.cut = last and facts.repaired and "cut" in " ".join(found.repairs if found else ())
        lacks = _lacks(answer, [] if found else capture.lines if last else [])
        if lacks and (found is None or facts.repaired):
            answer.cut = True
            facts.warn("cut", f"{capture.name} ends early: {lacks}; what is not in it is unknown")
        _take(answer, facts)
        if answer.cut and any(section.pairs.find("BBU") for section in answer.sections):
            _unknown_backup(facts)
    return facts


def _unknown_backup(facts: Facts) -> None:
    """Says that a capture ends before what names the part that saves the cache."""
    if facts.controllers and facts.controllers[-1].backup is None:
        text = "BBU = Present does not say whether a battery or a CacheVault saves the cache"
        facts.warn("backup", f"{text}: unknown")


def _lacks(answer: _Answer, lines: Sequence[str]) -> str:
    """What an answer announces and does not have; empty if it is whole."""
    said = []
    if open_table(lines):
        titled = [section.title for section in answer.sections if section.rows]
        said.append(f"the table {titled[-1] if titled else 'at its end'} has no closing line")
    rows = [row for section in answer.sections for row in section.rows]
    groups = max((whole(s.pairs.find("Drive Groups")) or 0 for s in answer.sections), default=0)
    if groups and not any(text_of(row, "DG/VD") for row in rows) and not said:
        said.append(f"Drive Groups = {groups}, no list of volumes follows")
    whole_show = lines and any(section.title == "HwCfg" for section in answer.sections)
    if whole_show and not any("Intf" in row or text_of(row, "DG/VD") for row in rows) and not said:
        said.append("no list of drives follows HwCfg")
    listed = {
        "Virtual Drives": {text_of(row, "DG/VD", "VD") for row in rows} - {None},
        "Physical Drives": {_slot(row) for row in rows if "Intf" in row} - {None},
    }
    for what, found in listed.items():
        counts = (whole(section.pairs.find(what)) or 0 for section in answer.sections)
        if (count := max(counts, default=0)) > len(found):
            said.append(f"{what} = {count}, {len(found)} of them are listed")
    return ", ".join(said)


def _answers(values: Sequence[object]) -> Iterator[_Answer]:
    for value in values:
        controllers = value.get("Controllers") if isinstance(value, dict) else None
        for each in controllers if isinstance(controllers, list) else []:
            status = each.get("Command Status", {})
            index = whole(status.get("Controller"))
            answer = _Answer(
                index, str(status.get("Status", "")), str(status.get("Description", ""))
            )
            detail = status.get("Detailed Status")
            if isinstance(detail, list):
                answer.sections.append(_Section("Detailed Status", Pairs(), detail))
            _flatten("", each.get("Response Data", {}), answer.sections)
            yield answer


def _flatten(title: str, value: object, sections: list[_Section]) -> None:
    """Every table and every group of pairs in nested data, with its title."""
    if isinstance(value, list):
        rows: list[Row] = [row for row in value if isinstance(row, dict)]
        pairs = Pairs()
        for row in rows:
            # Some versions write a group of pairs as rows of a property and a value.
            name = text_of(row, "Property", "Policy", "Ctrl_Prop")
            given = text_of(row, "Value", "Current")
            if name is not None:
                pairs.put(name, given or "")
        sections.append(_Section(title, pairs, [] if pairs else rows))
    elif isinstance(value, dict):
        pairs = Pairs()
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                _flatten(str(key), inner, sections)
            else:
                pairs.put(str(key), str("" if inner is None else inner))
        if pairs:
            sections.append(_Section(title, pairs, []))


def _text_answers(lines: Sequence[str]) -> Iterator[_Answer]:
    """What each `Controller = N ... Status = ...` head of a text begins."""
    heads = [
        at
        for at, line in enumerate(lines)
        if re.match(r"\s*(CLI Version|Controller)\s*=", line)
        and any(re.match(r"\s*Status\s*=", each) for each in lines[at + 1 : at + 6])
    ]
    # `CLI Version` opens the first head; `Controller` of the same head is no other.
    starts = [at for place, at in enumerate(heads) if place == 0 or at - heads[place - 1] > 3]
    for begin, end in zip(starts or [0], [*starts[1:], len(lines)], strict=True):
        part = lines[begin:end]
        head = Pairs()
        for line in part[:10]:
            if (each := pair(line, "=")) is not None:
                head.put(*each)
        answer = _Answer(
            whole(head.find("Controller")),
            head.find("Status") or "",
            head.find("Description") or "",
        )
        answer.sections.extend(_text_sections(part))
        yield answer


def _text_sections(lines: Sequence[str]) -> Iterator[_Section]:
    titles = [
        at
        for at, line in enumerate(lines[:-1])
        if re.match(r"^\S.*?:?\s*$", line) and re.match(r"^=+\s*$", lines[at + 1])
    ]
    for begin, end in zip([0, *titles], [*titles, len(lines)], strict=True):
        part = lines[begin:end]
        if not part:
            continue
        title = part[0].strip().rstrip(":").strip() if begin or titles[:1] == [0] else ""
        pairs = Pairs()
        tables = list(ruled_tables(part))
        for line in part[1:]:
            if "|" not in line and (each := pair(line, "=")) is not None:
                pairs.put(*each)
        if tables:
            for rows in tables:
                found: list[_Section] = []
                _flatten(title, list(rows), found)
                yield from found
        if pairs:
            yield _Section(title, pairs, [])


def _take(answer: _Answer, facts: Facts) -> None:
    """Facts of one controller's answer."""
    if answer.status.lower().startswith("fail"):
        who = "the tool" if answer.index is None else f"controller {answer.index}: the tool"
        facts.warn("tool-failure", f"{who} said Failure: {answer.description}")
        if not answer.sections:
            return
    everything = Pairs()
    # What a card supports has keys of what it is set to: `Rebuild Rate = Yes` beside 60 %.
    for section in sorted(answer.sections, key=lambda each: each.title.startswith("Supported")):
        if not _PATH.search(section.title) and not _VOLUME.search(section.title):
            for key, value in section.pairs.items():
                everything.setdefault(key, value)
    rows = [(section, row) for section in answer.sections for row in section.rows]
    overview = [row for _, row in rows if text_of(row, "Ctl") and text_of(row, "Model")]
    if overview:
        facts.controllers.extend(map(_of_overview, overview))
    controller = _controller(answer, everything)
    if not overview:
        facts.controllers.append(controller)
    drives = _drives(answer, controller.index)
    facts.drives.extend(drives)
    facts.arrays.extend(_arrays(answer, everything, controller, drives))
    if controller.role is None and facts.arrays:
        controller.role = "raid"


def _of_overview(row: Row) -> Controller:
    """A line of `show`: controllers in short."""
    return Controller(
        index=whole(text_of(row, "Ctl")),
        model=text_of(row, "Model"),
        ports=whole(text_of(row, "Ports")),
        backup_state=megaraid.overview_backup(text_of(row, "BBU")),
        state=megaraid.overview_health(text_of(row, "Hlth", "Health")),
    )


def _controller(answer: _Answer, have: Pairs) -> Controller:
    index = answer.index if answer.index is not None else whole(have.find("Controller"))
    model = known_text(have.find("Product Name", "Model", "Adapter Type"))
    only_backup = any(
        "cachevault" in s.title.lower() or "bbu" in s.title.lower() for s in answer.sections
    ) and not have.find("Product Name", "Serial Number")
    driver = known_text(have.find("Driver Name"))
    width = whole(re.sub(r"\D", "", have.find("Link Width", "Current Link Width") or ""))
    speed = have.find("Link Speed", "Current Link Speed")
    found = Controller(
        index=index,
        model=None if only_backup else model,
        driver=driver,
        firmware=known_text(have.find("Firmware Version")),
        device_interface=(have.find("Device Interface") or "").lower() or None,
        ports=whole(have.find("Backend Port Count")) or None,
        cache=binary_size(have.find("On Board Memory Size", "Memory Size")),
        state=state(have.find("Controller Status")),
        rebuild_rate_percent=whole(have.find("Rebuild Rate")) or None,
        queue_depth=whole(have.find("Max Parallel Commands")) or None,
        pci=_pci(have),
        write_back_without_battery=flag(have.find("Cache When BBU Bad")),
        default_write_policy=megaraid.write_policy(have.find("Write Policy")),
    )
    if speed or width:
        found.link = Link(pcie_generation(speed, width), width or None, speed)
    _backup(answer, have, found)
    hba = re.search(r"\bHBA\b", model or "") is not None
    if driver in ("mpt3sas", "mpt2sas") or (hba and not found.cache):
        found.role = "hba"
    elif driver in ("megaraid_sas", "mpi3mr"):
        found.role = "raid"
    return found


def _pci(have: Pairs) -> str | None:
    """The address, which stands as `00:5e:00:00`, all hexadecimal, or as decimal numbers."""
    parts = re.findall(r"[0-9a-fA-F]+", have.find("PCI Address") or "")
    if len(parts) == 4:
        return pci_address(*(int(each, 16) for each in parts))
    bus = whole(have.find("Bus Number"))
    return pci_address(
        whole(have.find("Domain ID")) or 0,
        bus,
        whole(have.find("Device Number")) if bus is not None else None,
        whole(have.find("Function Number")) if bus is not None else None,
    )


def _backup(answer: _Answer, have: Pairs, controller: Controller) -> None:
    """What saves the cache: its own section first, then what the hardware list says."""
    for section in answer.sections:
        title = section.title.lower().replace("_", " ")
        kinds = {"cachevault": "cachevault", "bbu": "bbu", "energy pack": "energy pack"}
        kind = next((each for word, each in kinds.items() if title.startswith(word)), None)
        if kind is None:
            continue
        row = section.rows[0] if section.rows else {}
        stated = section.pairs
        model = known_text(text_of(row, "Model", "Type") or stated.find("Type", "Model"))
        if row or stated:
            controller.backup = megaraid.backup_kind(model) or kind
            controller.backup_model = model
            controller.backup_state = state(text_of(row, "State", "Status") or stated.find("State"))
    if controller.backup is None:
        pack = have.find("Energy Pack")
        listed = (have.find("BBU") or "").lower()
        if pack is not None:
            controller.backup = "none" if flag(pack) is False else "energy pack"
            controller.backup_state = state(have.find("Energy Pack Status"))
        elif listed in ("present", "yes") and answer.cut:
            # Which kind it is stands behind the lists of drives.
            controller.backup = None
        elif listed in ("present", "yes"):
            flash = size(have.find("CacheVault Flash Size") or "") is not None
            controller.backup = "cachevault" if flash else "bbu"
        elif listed in ("absent", "no", "not present"):
            controller.backup = "none"
    controller.replace = flag(have.find("Replacement required", "Battery Replacement required"))
    if any(section.pairs.find("Type") and controller.backup for section in answer.sections):
        good = controller.backup_state == "optimal" and not controller.replace
        controller.write_back_safe_now = good


def _drives(answer: _Answer, controller: int | None) -> list[Drive]:
    """Each drive once: of the rows that list drives, then of what is said of one."""
    found: dict[str, Drive] = {}
    for section in answer.sections:
        for row in section.rows:
            slot = _slot(row)
            if slot is not None and text_of(row, "Arr", "Row") is None and "Intf" in row:
                found.setdefault(slot, megaraid.drive_of(row, slot)).controller = controller
    for section in answer.sections:
        match = _PATH.search(section.title)
        if match is not None and section.pairs:
            slot = f"{match['e'] or ''}:{match['s']}"
            megaraid.refine(found.setdefault(slot, Drive(slot=slot)), section.pairs)
    return list(found.values())


def _slot(row: Row) -> str | None:
    slot = text_of(row, "EID:Slt", "EID:Slot")
    return slot.replace(" ", "") if slot and re.search(r"\d\s*$", slot) else None


def _arrays(
    answer: _Answer, have: Pairs, controller: Controller, drives: Sequence[Drive]
) -> Iterator[Array]:
    details: dict[str, Pairs] = {}
    members: dict[str, list[str]] = {}
    for section in answer.sections:
        match = _VOLUME.search(section.title)
        if match is None:
            continue
        if section.pairs:
            details.setdefault(match["v"], Pairs()).update(section.pairs)
        slots = [slot for row in section.rows if (slot := _slot(row)) and "Intf" in row]
        if slots:
            members[match["v"]] = slots
    topology = [row for section in answer.sections for row in section.rows
                if "Row" in row and ("Arr" in row or "Span" in row)]  # fmt: skip
    seen: set[str] = set()
    for section in answer.sections:
        for row in section.rows:
            place = text_of(row, "DG/VD", "VD")
            if place is None or text_of(row, "TYPE") is None or "/" not in place or place in seen:
                continue
            seen.add(place)
            group, _, volume = place.partition("/")
            stated = details.get(volume, Pairs())
            array = megaraid.array_of(row, stated)
            array.group, array.controller = group, controller.index
            own = members.get(volume)
            _members(array, own, [d for d in drives if d.group == group], topology)
            _policies(array, row, stated, have, controller)
            yield array


def _members(
    array: Array, listed: list[str] | None, group: Sequence[Drive], topology: Sequence[Row]
) -> None:
    """Places of an array: spans times drives a span, or its drives, spares aside."""
    spares = [each.slot or "" for each in group if each.state == "spare"]
    slots = listed or [each.slot or "" for each in group]
    array.drives = [slot for slot in slots if slot not in spares] or None
    own = [row for row in topology if str(row.get("DG", "")).strip() == array.group]
    places = [row for row in own if (text_of(row, "Type") or "").upper() == "DRIVE"
              and text_of(row, "Row") is not None]  # fmt: skip
    groups = {text_of(row, "Arr", "Span") for row in places}
    if array.spans is None and len(groups) > 1:
        array.spans = len(groups)
    if array.spans and array.members_per_span:
        array.members = array.spans * array.members_per_span
    elif places:
        array.members = len(places)
    elif array.drives:
        array.members = len(array.drives)
    states = [megaraid.drive_state(text_of(row, "State")) for row in places]
    array.missing = states.count("missing") or None
    array.lacking = [at for at, each in enumerate(states) if each in megaraid.AWAY] or None
    seated = [slot for row in places if (slot := _slot(row)) is not None]
    if places and sorted(seated) == sorted(array.drives or seated):
        # Rows of the topology stand in the order of spans and places.
        array.drives = seated or None
    failed = [each.slot or "" for each in group if each.state in ("failed", "offline")]
    array.failed = failed or None
    array.spares = spares or None


def _is_ready(controller: Controller) -> bool:
    """True if the backup would allow write-back: what runs then is what is set."""
    return controller.backup_state in ("optimal", "ok", "ready")


def _policies(array: Array, row: Row, stated: Pairs, have: Pairs, controller: Controller) -> None:
    """What is set and what runs: the volume's letters run; what is set may differ."""
    default = text_of(row, "DefaultCache", "Default Cache")
    now = megaraid.letters(text_of(row, "CurrentCache", "Cache"))
    wanted = megaraid.letters(default) if default else None
    initial = megaraid.write_policy(stated.find("Write Cache(initial setting)", "Write Cache"))
    array.write_policy_now = now.write
    array.read_ahead, array.io_policy = now.read_ahead, now.io
    if wanted is not None and wanted.write is not None:
        array.write_policy = wanted.write
    elif initial is not None:
        array.write_policy = initial
    elif now.write != "write-through":
        array.write_policy = now.write
    elif controller.default_write_policy not in (None, "write-through"):
        unready = controller.backup_state not in (None, "optimal", "ok", "ready")
        if unready or controller.backup == "none":
            array.write_policy = controller.default_write_policy
        elif controller.backup_state is not None:
            array.write_policy = "write-through"
    elif controller.default_write_policy == "write-through" or _is_ready(controller):
        array.write_policy = "write-through"
    array.drive_cache = on_off(stated.find("Disk Cache Policy"))
    array.write_back_without_battery = flag(have.find("Cache When BBU Bad"))
