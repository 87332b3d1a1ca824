"""A table of models as machines print them: `string,kind,interface,bytes,rpm`."""

from __future__ import annotations

import csv

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Facts, StatedDrive
from raidlab.calibration.discover.quantities import whole


def claims(capture: Capture) -> bool:
    """True for a table with columns `string` and `kind`."""
    head = capture.text.lstrip("\ufeff").split("\n", 1)[0].strip().lower()
    return {"string", "kind"} <= {each.strip() for each in head.split(",")}


def read(capture: Capture) -> Facts:
    """The models, to be matched with the catalogue."""
    facts = Facts("match")
    for row in csv.DictReader(capture.text.lstrip("\ufeff").splitlines()):
        text = (row.get("string") or "").strip()
        if text:
            facts.stated.append(
                StatedDrive(
                    text,
                    (row.get("kind") or "drive").strip(),
                    (row.get("interface") or "").strip() or None,
                    whole(row.get("bytes") or None),
                    whole(row.get("rpm") or None),
                )
            )
    return facts
