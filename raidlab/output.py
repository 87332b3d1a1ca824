"""What is printed: text of users as text, standard output that may be full or unread.

Nothing else prints: `ruff` refuses `print` elsewhere.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from raidlab.devices.printable import printable, printable_lines


def echo(text: str = "") -> None:
    """Lines on standard output."""
    print(printable_lines(text))


def echo_styled(text: str) -> None:
    """Lines on standard output with control sequences of raidlab's own."""
    print(text)


def say(message: str) -> None:
    """A line on standard error; on a terminal, lines between its words."""
    text = printable(message)
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(
            text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    print(text, file=sys.stderr, flush=True)


def print_version() -> None:
    """The engine's version on standard output."""
    from raidlab.scenarios import _engine

    echo(_engine.version())


def prepare_output() -> None:
    """Makes standard streams take every text.

    One that is closed goes nowhere; what an encoding lacks is written as its escape sequence.
    """
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            # Files that are opened later would get the number of the closed one.
            with suppress(OSError):
                if not _is_open(descriptor):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@contextmanager
def guarded_output() -> Iterator[None]:
    """Ends the program without a traceback if standard output is full or its reader has gone."""
    prepare_output()
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
        say(f"error: {name}: {error.strerror or error}")
        sys.exit(2)


def discard_output() -> None:
    """Sends what the interpreter would still write at its end to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
