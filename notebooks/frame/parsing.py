"""Syntax trees by several threads at once, which Python before 3.11.8 does not bear.

It counts the depth of a tree in one place for all threads. Where garbage is collected midway,
another thread may go on, and the first one ends with "AST constructor recursion depth mismatch"
(python/cpython#106905). The server parses each room in a thread of its own.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import sys
from threading import RLock
from typing import Any, Final

RIGHT_SINCE: Final = (3, 11, 8)
"""The first Python that counts for each tree."""
_INHERITED: Final = sum(
    getattr(__future__, each).compiler_flag
    for each in __future__.all_feature_names
    if each != "nested_scopes"
)
"""Flags that `compile` takes from the code that calls it."""


def one_at_a_time() -> None:
    """From now on one thread of this process makes a syntax tree at a time, where it matters."""
    if sys.version_info >= RIGHT_SINCE or builtins.compile.__module__ == __name__:
        return
    plain, turn = builtins.compile, RLock()

    def compile(
        source: Any,
        filename: Any,
        mode: str,
        flags: int = 0,
        dont_inherit: bool = False,  # noqa: FBT001
        optimize: int = -1,
        **rest: Any,
    ) -> Any:
        if not dont_inherit:
            flags |= sys._getframe(1).f_code.co_flags & _INHERITED
        if not flags & ast.PyCF_ONLY_AST:
            return plain(source, filename, mode, flags, True, optimize, **rest)
        with turn:
            return plain(source, filename, mode, flags, True, optimize, **rest)

    builtins.compile = compile
