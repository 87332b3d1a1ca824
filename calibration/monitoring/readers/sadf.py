"""`sadf` of sysstat: -d (semicolons), -p (a figure a line), -x (XML), -j (JSON), -g (SVG).

Every record says which seconds it covers; none is since boot.
"""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring import clock, json_text
from raidlab.calibration.monitoring.readers.reader import Options, Reader
from raidlab.calibration.monitoring.samples import Capture, Quantity, Recorder, RefusedError
from raidlab.calibration.monitoring.source import Source
from raidlab.calibration.monitoring.tables import steps_of, values_of

Q = Quantity


@dataclass
class _State:
    capture: Capture
    recorder: Recorder = field(default_factory=Recorder)
    hosts: list[str] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)
    restarts: int = 0
    several: bool = False

    def add(
        self, host: str, stamp: clock.Stamp, length: float, device: str, cells: Mapping[str, str]
    ) -> None:
        """A row of a device."""
        if host not in self.hosts:
            self.hosts.append(host)
        if self.capture.zone is None and stamp.zone:
            self.capture.zone = stamp.zone
        name = f"{host}/{device}" if self.several else device
        names, words = list(cells), list(cells.values())
        self.columns.update(name.lower() for name in names)
        self.recorder.add(name, stamp.seconds, length, values_of(names, words))
        for quantity, step in steps_of(names, words).items():
            self.recorder.coarse(name, quantity, step)

    def finish(self) -> Capture:
        """What was read."""
        capture = self.capture
        capture.series = self.recorder.series()
        if not capture.series:
            raise RefusedError("no row of a device is in it (sadf ... -- -d)", source="sadf")
        for series in capture.series.values():
            capture.saw(series.at)
        if len(self.hosts) == 1:
            capture.host = self.hosts[0]
        elif not self.several:
            raise RefusedError(f"several hosts are in it: {', '.join(self.hosts[:4])}")
        # Of version 12 -j and -x print the old units beside the new ones.
        new = self.columns & {"areq-sz", "aqu-sz"}
        capture.version = "12" if new else "10"
        if self.restarts:
            capture.note("restart", "", "the system was restarted: no interval lies across it")
        return capture


def _recognises(head: str) -> float:
    first = next((line for line in head.splitlines() if line.strip()), "")
    if first.startswith("# hostname;") or re.search(r"^# hostname;interval;", head, re.MULTILINE):
        return 0.9 if re.search(r";DEV\b", head) else 0.5
    if re.match(r"\S+\t-?\d+\t\S+( \S+)?( \S+)?\t\S+\t\S+\t[-\d.,]+$", first):
        return 0.85
    if "<sysstat" in head and ("<host" in head or "DTD" in head):
        return 0.9
    if '"sysstat"' in head and '"disk-device"' in head:
        return 0.95
    if "<svg" in head and ("sadf" in head or "sysstat" in head.lower()):
        return 0.9
    return 0.8 if '"sysstat"' in head and '"file-date"' in head else 0.0


def _read(sources: Sequence[Source], options: Options) -> Capture:
    state = _State(Capture("sadf"))
    for source in sources:
        head = source.head.lstrip("\ufeff").lstrip()
        if head.startswith("{") or '"sysstat"' in head:
            _json(source.text(), state)
        elif "<svg" in head:
            _svg(source.text(), state)
        elif head.startswith("<") or "<sysstat" in head:
            _xml(source.text(), state)
        elif re.search(r"^# hostname;", head, re.MULTILINE):
            _semicolons(source.lines(), state)
        else:
            _figures(source.lines(), state)
    return state.finish()


def _stamp(text: str) -> clock.Stamp | None:
    seconds = clock.epoch(text)
    if seconds is not None:
        return clock.Stamp(seconds, "Z")
    return clock.parse(text.replace("(local)", "").strip())


def _semicolons(lines: Iterator[str], state: _State) -> None:
    names: list[str] = []
    several = False
    for line in lines:
        line = line.lstrip("\ufeff")
        if line.startswith("# hostname;"):
            names = line[2:].strip().split(";")
            several = names[-1] == "[...]"
            names = names[:-1] if several else names
            continue
        if "RESTART" in line:
            state.restarts += 1
            continue
        if "COM" in line and ";COM" in line:
            continue
        words = line.strip().split(";")
        if "DEV" not in names or len(words) < 4:
            continue
        stamp = _stamp(words[2])
        if stamp is None:
            continue
        try:
            length = float(words[1])
        except ValueError:
            length = math.nan
        at = names.index("DEV")
        group = len(names) - at
        rest = words[at:]
        if len(rest) < group:
            state.capture.note("cut", "", "a row is cut off and left out")
            state.capture.repaired = True
            continue
        for first in range(0, len(rest) - group + 1, group):
            cells = dict(zip(names[at + 1 :], rest[first + 1 : first + group], strict=True))
            state.add(words[0], stamp, length, rest[first], cells)


def _figures(lines: Iterator[str], state: _State) -> None:
    """`sadf -p`: host, interval, time, device, name, value."""
    rows: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for line in lines:
        words = line.rstrip("\n").lstrip("\ufeff").split("\t")
        if "RESTART" in line:
            state.restarts += 1
            continue
        if len(words) < 6:
            continue
        host, length, time, device, name, value = words[:6]
        rows.setdefault((host, length, time, device), {})[name] = value
    for (host, length, time, device), cells in rows.items():
        stamp = _stamp(time)
        if (
            stamp is not None
            and device not in ("-", "all")
            and values_of(list(cells), list(cells.values()))
        ):
            state.add(host, stamp, float(length), device, cells)


def _xml(text: str, state: _State) -> None:
    """`sadf -x`; a file that ends early is read to its last whole record."""
    text = re.sub(r"<!DOCTYPE[^>]*>", "", text)
    host, stamp, length = "", None, math.nan
    for event, element in _events(text, state.capture):
        tag = element.tag.rpartition("}")[2]
        if event == "start" and tag == "host":
            host = element.get("nodename", "")
        elif event == "start" and tag == "timestamp":
            stamp = _stamp_of(element.attrib)
            length = float(element.get("interval", "nan"))
        elif event == "end" and tag == "disk-device" and stamp is not None:
            cells = {name: value for name, value in element.attrib.items() if name != "dev"}
            state.add(host, stamp, length, element.get("dev", ""), cells)
        elif event == "start" and tag == "boot":
            state.restarts += 1


def _events(text: str, capture: Capture) -> Iterator[tuple[str, ET.Element]]:
    """Elements as they begin and end, up to what is no XML."""
    try:
        for event, element in ET.iterparse(io.BytesIO(text.encode()), ["start", "end"]):
            if isinstance(element, ET.Element):
                yield str(event), element
    except ET.ParseError:
        capture.repaired = True
        capture.note("cut", "", "the XML is cut off or invalid: read to its last record")


def _stamp_of(fields: Mapping[str, object]) -> clock.Stamp | None:
    found = clock.parse(f"{fields.get('date', '')} {fields.get('time', '')}")
    if found is None:
        return None
    utc = str(fields.get("utc", "0")) == "1"
    return clock.Stamp(found.seconds, "Z" if utc else found.zone)


def _json(text: str, state: _State) -> None:
    found = re.search(r'"nodename"\s*:\s*"([^"]*)"', text)
    host = found[1] if found else ""
    repairs = json_text.Repairs()
    for element in json_text.elements(text, "statistics", repairs):
        if not isinstance(element, dict) or not isinstance(element.get("timestamp"), dict):
            continue
        stamp = _stamp_of(element["timestamp"])
        disks = element.get("disk")
        if isinstance(disks, dict):
            disks = disks.get("disk-device")
        if stamp is None or not isinstance(disks, list):
            continue
        length = float(element["timestamp"].get("interval", math.nan))
        for disk in disks:
            if isinstance(disk, dict) and isinstance(disk.get("disk-device"), str):
                cells = {n: str(v) for n, v in disk.items() if n != "disk-device"}
                state.add(host, stamp, length, disk["disk-device"], cells)
    state.restarts += len(re.findall(r'"boot"\s*:', text))
    for note in repairs.texts:
        state.capture.note("repaired", "", note)
    if repairs.cut:
        state.capture.note("cut", "", "the file is cut off: its last record is left out")
        state.capture.repaired = True


def _svg(text: str, state: _State) -> None:
    raise RefusedError(
        "a drawing of sadf -g: its points are rounded; print the same file with sadf -j -- -d",
        source="sadf",
    )


READER = Reader("sadf", "sadf -d, -p, -x or -j", _recognises, _read)
