"""The computer: lscpu, /proc/cpuinfo, /proc/meminfo, uname, hostname."""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, Pairs, documents, pairs_of
from raidlab.calibration.discover.facts import UNNAMED, Facts, Host
from raidlab.calibration.discover.quantities import known_text, number, whole

_UNAME = re.compile(r"^Linux (?P<name>\S+) (?P<kernel>\d+\.\d+\S*) ", re.MULTILINE)
_VERSION = re.compile(r"^Linux version (?P<kernel>\d+\.\d+\S*) ", re.MULTILINE)


def claims(capture: Capture) -> bool:
    """True for outputs that describe the computer."""
    text = capture.text
    return bool(
        '"lscpu"' in text
        or re.search(
            r"^(CPU\(s\)|Socket\(s\)|Sockel|Model name|Modellname)\s*:", text, re.MULTILINE
        )
        or re.search(r"^processor\s*:\s*\d+", text, re.MULTILINE)
        or re.search(r"^MemTotal:\s+\d+ kB", text, re.MULTILINE)
        or _UNAME.search(text)
        or _VERSION.search(text)
        or _is_hostname(capture)
    )


def _is_hostname(capture: Capture) -> bool:
    named = re.search(r"(^|/)(hostname|uname)[^/]*$", capture.name) is not None
    return named and re.fullmatch(r"\s*[A-Za-z0-9][\w.-]*\s*", capture.text) is not None


def read(capture: Capture) -> Facts:
    """What is known of the host."""
    facts = Facts("host")
    text, host = capture.text, facts.host
    if (match := _UNAME.search(text)) is not None:
        host.name, host.kernel = match["name"], match["kernel"]
    elif (match := _VERSION.search(text)) is not None:
        host.kernel = match["kernel"]
    elif _is_hostname(capture):
        host.name = text.strip()
    if re.search(r"^processor\s*:\s*\d+", text, re.MULTILINE):
        _cpuinfo(host, text)
    elif '"lscpu"' in text or "CPU(s)" in text:
        _lscpu(host, _fields(capture))
    memory = re.search(r"^MemTotal:\s+(\d+) kB", text, re.MULTILINE)
    host.memory_bytes = int(memory[1]) * 1024 if memory else None
    return facts


def _fields(capture: Capture) -> Pairs:
    found = documents(capture.text) if '"lscpu"' in capture.text else None
    if found is None:
        return pairs_of(capture.lines)
    pairs = Pairs()

    def walk(rows: object) -> None:
        for row in rows if isinstance(rows, list) else []:
            pairs.put(str(row.get("field", "")), str(row.get("data") or ""))
            walk(row.get("children"))

    for value in found.values:
        walk(value.get("lscpu") if isinstance(value, dict) else None)
    return pairs


def _lscpu(host: Host, have: Pairs) -> None:
    host.cpu = known_text(have.find("Model name", "BIOS Model name", "Modellname"))
    host.threads = whole(have.find("CPU(s)"))
    host.sockets = whole(have.find("Socket(s)", "Sockel"))
    each = whole(have.find("Core(s) per socket", "Kern(e) pro Sockel", "Core(s) per cluster"))
    host.cores = each * host.sockets if each and host.sockets else None
    host.clock_mhz = number(have.find("CPU max MHz", "CPU MHz") or "")
    host.numa_nodes = whole(have.find("NUMA node(s)", "NUMA-Knoten"))
    host.hypervisor = known_text(have.find("Hypervisor vendor"))


def _cpuinfo(host: Host, text: str) -> None:
    blocks = [pairs_of(part.splitlines()) for part in re.split(r"\n\s*\n", text)]
    cpus = [each for each in blocks if each.find("processor") is not None]
    host.threads = len(cpus) or None
    sockets = {each.find("physical id") for each in cpus} - {None}
    host.sockets = len(sockets) or None
    cores = {(each.find("physical id"), each.find("core id")) for each in cpus}
    host.cores = len(cores) if sockets else None
    if cpus:
        host.cpu = known_text(cpus[0].find("model name", "Processor", "cpu"))
        stated = re.search(r"@\s*([\d.]+)\s*GHz", host.cpu or "")
        host.clock_mhz = (
            float(stated[1]) * 1000 if stated else number(cpus[0].find("cpu MHz") or "")
        )
        if "hypervisor" in (cpus[0].find("flags") or "").split():
            host.hypervisor = UNNAMED
