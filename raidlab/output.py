"""Standard output that may be full, or whose reader may have gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def print_version() -> None:
    """The engine's version on standard output."""
    from raidlab.scenarios import _engine

    print(_engine.version(), flush=True)


@contextmanager
def guarded_output() -> Iterator[None]:
    """Ends the program without a traceback if standard output is full or its reader has gone."""
    try:
        try:
            yield
        finally:
            # What is still in the buffer is written here, where a failure can be reported.
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        sys.exit(0)
    except OSError as error:
        discard_output()
        name = error.filename or "standard output"
        print(f"error: {name}: {error.strerror or error}", file=sys.stderr, flush=True)
        sys.exit(2)


def discard_output() -> None:
    """Sends what the interpreter would still write at its end to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
