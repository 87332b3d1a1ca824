"""Captures against what a right reader gets of them: our own, and those of `RAIDLAB_MACHINES/B`.

Our own captures were written before the readers were tried on them.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring

OWN = Path(__file__).parents[2] / "data" / "monitoring"
FOLDER = Path(os.environ.get("RAIDLAB_MACHINES", "/nonexistent")) / "B"
EXPECTED = [*sorted(OWN.glob("*.expect.json")), *sorted(FOLDER.glob("*.expect.json"))]
NOT_COMPARED = {"notes", "rel_tol", "warnings", "reason", "interval_from", "refused"}


def wrong(got: dict[str, object], expected: dict[str, object]) -> list[str]:
    """Facts that are not as expected, by README's rules: absent keys are not compared."""
    tolerance = expected.get("rel_tol", 0.01)
    found = []

    def same(value: Any, wanted: Any) -> bool:
        if isinstance(wanted, dict):
            return isinstance(value, dict) and all(
                same(value.get(key), each) for key, each in wanted.items()
            )
        if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            number = isinstance(value, (int, float))
            return number and abs(value - wanted) <= tolerance * abs(wanted) + 1e-9
        return bool(value == wanted)

    for key, wanted in expected.items():
        if key in NOT_COMPARED:
            continue
        value = got.get(key)
        if key in ("start", "end"):
            right = value is not None
            right = right and datetime.fromisoformat(value) == datetime.fromisoformat(wanted)
        elif key == "default_devices":
            right = sorted(value or ()) == sorted(wanted)
        elif key in ("devices", "series"):
            for name, facts in wanted.items():
                of = (value or {}).get(name, {})
                found += [f"{name}.{k}: {of.get(k)} for {v}" for k, v in facts.items()
                          if not same(of.get(k), v)]  # fmt: skip
            continue
        else:
            right = same(value, wanted)
        if not right:
            found.append(f"{key}: {value} for {wanted}")
    if expected.get("refused", False) != got.get("refused", False):
        found.append(f"refused: {got.get('reason')}")
    if expected.get("warnings") and not got["warnings"]:
        found.append("no warning")
    return found


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name.removesuffix(".expect.json"))
def test_a_capture_gives_the_expected_facts(path: Path) -> None:
    stem = path.name.removesuffix(".expect.json")
    files = [each for each in sorted(path.parent.glob(f"{stem}.*")) if each != path]
    assert wrong(import_monitoring(files).to_dict(), json.loads(path.read_text())) == []
