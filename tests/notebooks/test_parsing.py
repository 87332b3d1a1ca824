"""Rooms are parsed by several threads at once."""

from __future__ import annotations

import ast
import builtins
import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("marimo")

from raidlab.notebooks.frame import catalogue, parsing

pytestmark = pytest.mark.skipif(
    sys.version_info >= parsing.RIGHT_SINCE, reason="this Python bears it"
)


@pytest.fixture
def often(monkeypatch):
    """Garbage is collected often, and another thread goes on meanwhile."""

    def rest(phase: str, found: object) -> None:
        time.sleep(1e-4)

    before = gc.get_threshold()
    monkeypatch.setattr(builtins, "compile", compile)  # put back in the end
    gc.callbacks.append(rest)
    gc.set_threshold(200)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(rest)


def _trees():
    text = catalogue.notebook("how-long").read_text()
    with ThreadPoolExecutor(2) as pool:
        return [each.exception() for each in [pool.submit(ast.parse, text) for _ in range(6)]]


def test_two_threads_parse_a_room(often):
    assert "recursion depth mismatch" in str(_trees())
    parsing.one_at_a_time()
    assert _trees() == [None] * 6


def test_code_is_compiled_as_before(monkeypatch):
    monkeypatch.setattr(builtins, "compile", compile)
    parsing.one_at_a_time()
    name = "def f(a: b): ..."
    assert builtins.compile.__module__ == parsing.__name__
    made: dict[str, object] = {}
    exec(compile(name, "<test>", "exec"), made)  # this file's __future__ holds for it
    assert made["f"].__annotations__ == {"a": "b"}
    with pytest.raises(NameError, match="'b'"):
        exec(compile(name, "<test>", "exec", dont_inherit=True), {})
    with pytest.raises(SyntaxError):
        ast.parse("def")
