"""A machine's facts from captured files, folders, or from the machine itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.discover.capture import read_machine
from raidlab.calibration.discover.facts import Facts, Link
from raidlab.calibration.discover.merging import merged
from raidlab.calibration.discover.readers.diskstats import SOURCE as LOAD
from raidlab.calibration.discover.reading import Read, read_paths


@dataclass(frozen=True)
class Found:
    """What the captures of one machine say."""

    facts: Facts
    readers: list[tuple[str, str | None]]
    """Each file and the reader that took it; None if none knows it."""
    refused: list[str]
    """Files that cannot be read, each with the cause; empty if anything was read."""


def find(paths: Sequence[Path]) -> Found:
    """Facts of captured outputs, or of this machine.

    Args:
        paths: Files and folders; this machine if there are none.

    Raises:
        SpecError: A path cannot be read.
    """
    return found_of(read_paths(paths) if paths else read_machine())


def _check_link(facts: Facts, name: str, now: Link | None, most: Link | None) -> None:
    """A PCI Express link that trained with fewer lanes or a lower generation than it could."""
    if now is None or most is None or None in (now.gen, now.width, most.gen, most.width):
        return
    if (now.gen or 0) < (most.gen or 0) or (now.width or 0) < (most.width or 0):
        text = (
            f"{name}: its link runs at PCIe {now.gen}.0 x{now.width}, though {most.gen}.0"
            f" x{most.width} is possible; a link at rest may be slower than under load"
        )
        facts.warn("link", text)


def found_of(reads: Sequence[Read]) -> Found:
    """The facts of some captures together."""
    taken = [
        each.facts for each in reads
        if each.facts is not None and not each.facts.refused and each.facts.source != LOAD
    ]  # fmt: skip
    facts = merged(taken) if taken else Facts()
    refused = []
    for each in reads:
        if each.facts is not None and each.facts.refused:
            refused.append(f"{each.file}: {each.facts.refused}")
        elif each.facts is not None and each.facts.source == LOAD and not taken:
            text = "counters of load, not what a machine consists of: raidlab import monitoring"
            refused.append(f"{each.file}: {text}")
        elif each.facts is None and len(reads) == 1:
            refused.append(f"{each.file}: no reader knows this output")
        elif each.facts is None:
            facts.ignored.append(each.file)
    if taken:
        for refusal in refused:
            facts.warn("refused", refusal)
    for drive in facts.drives:
        name = drive.name or drive.address or drive.model or "a drive"
        _check_link(facts, name, drive.link, drive.link_possible)
        if drive.failing is not None and drive.state not in ("failed", "missing"):
            place = drive.slot or drive.name or drive.model or "a drive"
            text = f"{place}: its failure is predicted ({drive.failing}); it is taken as sound"
            facts.warn("failing", text)
    for card in facts.controllers:
        name = card.model or card.address or "a controller"
        _check_link(facts, name, card.link, card.link_possible)
    readers = [(r.file, r.facts.source if r.facts is not None else None) for r in reads]
    return Found(facts, readers, [] if taken else refused)
