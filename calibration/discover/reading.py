"""Captured files and folders: which reader takes which file, and what it got."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.endings import ends_early
from raidlab.calibration.discover.facts import Facts
from raidlab.calibration.discover.readers import (
    arcconf,
    areca,
    bcache,
    diskstats,
    dmidecode,
    dmraid,
    hdparm,
    host,
    hwinfo,
    ircu,
    listing,
    lsblk,
    lshw,
    lspci,
    lsscsi,
    lvm,
    md,
    megacli,
    models,
    multipath,
    nvme,
    smartctl,
    ssacli,
    storcli,
    sysfs,
    tw_cli,
)
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import reason

_LARGEST_CAPTURE = 32 << 20
"""Bytes of a capture at most."""
_MOST_FILES = 20_000
_PART = re.compile(r"^#==\[ [^\]]+ \]=+#?[ \t]*\r?\n#[ \t]*(\S[^\n]*)\n", re.MULTILINE)
"""The begin of a part of a supportconfig, with its command."""


@dataclass(frozen=True)
class Reader:
    """What recognises a tool's output and reads it."""

    name: str
    claims: Callable[[Capture], bool]
    read: Callable[[Capture], Facts]


READERS = (
    Reader("match", models.claims, models.read),
    Reader("storcli", storcli.claims, storcli.read),
    Reader("smartctl", smartctl.claims, smartctl.read),
    Reader("lsblk", lsblk.claims, lsblk.read),
    Reader("nvme-list", nvme.claims_list, nvme.read_list),
    Reader("nvme-id-ctrl", nvme.claims_id, nvme.read_id),
    Reader("nvme-smart-log", nvme.claims_log, nvme.read_log),
    Reader("lvm", lvm.claims, lvm.read),
    Reader("mdstat", md.claims_mdstat, md.read_mdstat),
    Reader("mdadm", md.claims_mdadm, md.read_mdadm),
    Reader("megacli", megacli.claims, megacli.read),
    Reader("arcconf", arcconf.claims, arcconf.read),
    Reader("sas3ircu", ircu.claims, ircu.read),
    Reader("ssacli", ssacli.claims, ssacli.read),
    Reader("tw_cli", tw_cli.claims, tw_cli.read),
    Reader("areca", areca.claims, areca.read),
    Reader("dmraid", dmraid.claims, dmraid.read),
    Reader("bcache", bcache.claims, bcache.read),
    Reader("dmidecode", dmidecode.claims, dmidecode.read),
    Reader("hwinfo", hwinfo.claims, hwinfo.read),
    Reader("lshw", lshw.claims, lshw.read),
    Reader("multipath", multipath.claims, multipath.read),
    Reader("lspci", lspci.claims, lspci.read),
    Reader("hdparm", hdparm.claims, hdparm.read),
    Reader("lsscsi", lsscsi.claims, lsscsi.read),
    Reader("sysfs", sysfs.claims, sysfs.read),
    Reader(diskstats.SOURCE, diskstats.claims, diskstats.read),
    Reader("host", host.claims, host.read),
    Reader("sos", listing.claims, listing.read),
)
"""Readers in the order in which they are asked: the surest marks first."""


@dataclass(frozen=True)
class Read:
    """A file and what its reader got; None if no reader knows it."""

    file: str
    facts: Facts | None


def read_text(name: str, text: str) -> Read:
    """Facts of one captured output.

    Args:
        name: Of the file; the contents decide first.
        text: What the tool printed.
    """
    # What was pasted may be indented as a whole.
    plain = dedent(text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    capture = Capture(name, plain)
    for reader in READERS:
        if reader.claims(capture):
            facts = reader.read(capture)
            if not facts.refused and (lacks := ends_early(facts.source, capture)) is not None:
                facts.warn("cut", f"{name} ends early: {lacks}; what is not in it is unknown")
            facts.stamp(name)
            return Read(name, facts)
    return Read(name, None)


def read_file(name: str, text: str) -> list[Read]:
    """Facts of a file: of SUSE's supportconfig each command's output by itself.

    Args:
        name: Of the file.
        text: What it holds.
    """
    parts = list(supportconfig_parts(text))
    if not parts:
        return [read_text(name, text)]
    found = [read_text(f"{name}: {command}", output) for command, output in parts]
    known = [each for each in found if each.facts is not None]
    return known or [Read(name, None)]


def supportconfig_parts(text: str) -> Iterator[tuple[str, str]]:
    """Commands, or files, and what they gave, of a file of SUSE's supportconfig.

    Each part begins with `#==[ Command ]===...#` and a line `# COMMAND`.
    """
    marks = list(_PART.finditer(text))
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        output = text[mark.end() : end].strip("\n")
        if output.strip():
            yield mark[1].strip(), output + "\n"


def read_paths(paths: Sequence[Path]) -> list[Read]:
    """Facts of files and folders, in the order of their names.

    Raises:
        SpecError: A path does not exist or cannot be read; all such paths.
    """
    faults: list[Fault] = []
    found: list[Read] = []
    for path in paths:
        if not path.exists():
            faults.append(Fault("--from", str(path), "a file or folder that exists"))
        elif path.is_dir():
            found.extend(_folder(path))
        else:
            try:
                found.extend(read_file(path.name, _text(path)))
            except OSError as error:
                faults.append(Fault("", None, f"cannot be read: {reason(error)}", (), str(path)))
    if faults:
        raise SpecError(faults)
    return found


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_LARGEST_CAPTURE)
    for mark, encoding in (
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
        (b"\xef\xbb\xbf", "utf-8-sig"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def _folder(folder: Path) -> Iterator[Read]:
    """Each file of a captured folder; files of /sys in it are read together."""
    values: list[str] = []
    files = sorted(each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    for path in files[:_MOST_FILES]:
        name = path.relative_to(folder).as_posix()
        if path.name.endswith(".expect.json"):
            continue
        try:
            if re.search(r"(^|/)sys/(block|class|devices|bus)/", name):
                first = _text(path).split("\n", 1)[0]
                values.append(f"/{name[name.index('sys/') :]}:{first}")
                continue
            text = _text(path)
        except OSError as error:
            facts = Facts(refused=f"cannot be read: {reason(error)}")
            yield Read(name, facts)
            continue
        if "\0" in text[:1024]:
            yield Read(name, None)
        else:
            yield from read_file(name, text)
    if values:
        yield read_text("sys", "\n".join(values))
