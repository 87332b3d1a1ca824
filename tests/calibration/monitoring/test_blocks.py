"""Rows found by blocks give what rows read line by line give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidlab.calibration.monitoring import blocks
from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.readers import iostat_text, sar_text
from tests.calibration.monitoring.printed import Printed
from tests.calibration.monitoring.test_printed import FORMS

TEXT = [form for form in FORMS if form.name.startswith(("iostat", "sar")) and form.suffix == ".txt"]


@pytest.mark.parametrize("form", TEXT, ids=lambda form: form.name)
@pytest.mark.parametrize("size", [700, 4 << 20], ids=["small blocks", "one block"])
def test_blocks_give_what_lines_give(
    form: Printed, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "capture.txt"
    path.write_bytes(form.text.encode(form.encoding))
    monkeypatch.setattr(blocks, "SIZE", size)
    by_blocks = json.dumps(import_monitoring([path]).to_dict())
    for reader in (iostat_text, sar_text):
        monkeypatch.setattr(reader, "by_lines", lambda source: None)
    assert by_blocks == json.dumps(import_monitoring([path]).to_dict())
