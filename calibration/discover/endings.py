"""Captures that end early: what a tool prints last, or counts first, is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from raidlab.calibration.discover.captures import Capture

_ENDS: Final = (
    ("arcconf", r"^Controllers found:", r"^Command (completed|failed|aborted)",
     "Command completed successfully."),
    ("megacli", r"^\s*Adapter\s*[:#]?\s*#?\d", r"Exit Code\s*:", "Exit Code: 0x00"),
    ("ircu", r"Read configuration has been initiated", r"Completed Successfully|Command .* Failed",
     "Utility Completed Successfully."),
    ("mdstat", r"^Personalities\s*:", r"^unused devices", "unused devices: <none>"),
)  # fmt: skip
"""Reader, what opens a whole output of its tool, what closes it, and how that reads."""
_RULE = re.compile(r"^\s*-{8,}(?:\s+-{2,})*\s*$")


def ends_early(source: str, capture: Capture) -> str | None:
    """What an output lacks at its end; None if it is whole, or its tool prints no last line.

    Args:
        source: The reader that took it.
        capture: The output.
    """
    text = capture.text
    for tool, begin, end, last in _ENDS:
        if source.endswith(tool) and re.search(begin, text, re.MULTILINE | re.IGNORECASE):
            if re.search(end, text, re.MULTILINE | re.IGNORECASE):
                return None
            return f"the line that {source} prints last, `{last}`, is not there"
    return None


def open_table(lines: Sequence[str]) -> bool:
    """True if the last table between lines of dashes lacks the one that closes it."""
    rules = [at for at, line in enumerate(lines) if _RULE.match(line)]
    while len(rules) >= 2:
        first, second = rules[:2]
        if second != first + 2:
            rules = rules[1:]
        elif len(rules) == 2:
            return True
        else:
            rules = rules[3:]
    return bool(rules) and not any(line.strip() for line in lines[rules[0] + 2 :])
