"""The browser that tests of rooms share; they are skipped where there is none."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

UNNAMED = """
[...document.querySelectorAll("button, input, select, summary, svg[role], [role=img]")]
.filter((each) => each.checkVisibility() && !(each.getAttribute("aria-label")
  || each.textContent.trim() || each.labels?.[0]?.textContent.trim() || each.title))
.map((each) => each.outerHTML.slice(0, 80))"""
"""What a screen reader could not name."""
_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "lab.py"


@pytest.fixture(scope="module")
def lab():
    """What measures the rooms, used here for one of them."""
    spec = importlib.util.spec_from_file_location("lab_in_a_browser", _SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def browser(lab):
    from playwright import sync_api

    path = lab.browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=lab.ARGUMENTS)
        yield started
        started.close()
