"""The line that makes a page again: every argument of the command that was not the usual one.

It is made of the call itself, so no option can be forgotten. What decides only where results go,
or how fast they come, is left out.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer.models

_LEFT_OUT = frozenset({
    "csv", "dask", "force", "host_out", "html", "json", "markdown", "out", "parquet", "report",
    "save_state", "store", "trace_json", "wide", "workers",
})  # fmt: skip
"""Parameters that do not change what a page says; those that a command wants stay."""

_CALL: ContextVar[tuple[Callable[..., Any], Mapping[str, object]]] = ContextVar("call")


@contextmanager
def called(function: Callable[..., Any], given: Mapping[str, object]) -> Iterator[None]:
    """While a command runs: what `again` is made of."""
    token = _CALL.set((function, given))
    try:
        yield
    finally:
        _CALL.reset(token)


def again(command: str) -> str:
    """The line of the command that runs; its page goes to `page.html`."""
    return line_of(command, *_CALL.get())


def line_of(command: str, function: Callable[..., Any], given: Mapping[str, object]) -> str:
    """The line of a call.

    Args:
        command: Its words behind `raidlab`.
        function: The command's function, whose annotations name arguments and options.
        given: Its arguments by parameter.
    """
    hints = get_type_hints(function, include_extras=True)
    arguments, options = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        value = given.get(name, parameter.default)
        is_left_out = name in _LEFT_OUT and parameter.default is not inspect.Parameter.empty
        if is_left_out or value is None or value == parameter.default:
            continue
        about = _about(hints[name])
        if isinstance(about, typer.models.ArgumentInfo):
            arguments += _texts(value)
        elif not _is_output(name, value):
            option = _option(name, about)
            options += [word for text in _texts(value) for word in (option, text) if word]
    page = "html" if "html" in hints else "report"
    words = ["raidlab", *command.split(), *map(_quoted, [*arguments, *options])]
    return " ".join([*words, f"--{page} page.html"])


def _option(name: str, about: typer.models.OptionInfo) -> str:
    """The option of a parameter; typer keeps the first name in Annotated as a default."""
    names = [about.default, *(about.param_decls or ())]
    said = (each for each in names if isinstance(each, str) and each.startswith("--"))
    return next(said, f"--{name.replace('_', '-')}")


def _is_output(name: str, value: Any) -> bool:
    """True of a folder for draws; a number of them decides what a page says."""
    return name == "draws" and isinstance(value, Path)


def _about(hint: Any) -> Any:
    """What typer knows of a parameter."""
    kinds = (typer.models.ArgumentInfo, typer.models.OptionInfo)
    return next(each for each in get_args(hint)[1:] if isinstance(each, kinds))


def _texts(value: Any) -> list[str]:
    """Words for a value; one that is empty for a switch, which has none."""
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]
    if value is True:
        return [""]
    if isinstance(value, Enum):
        return [str(value.value)]
    return [f"{value:.15g}" if isinstance(value, float) else str(value)]


def _quoted(text: str) -> str:
    """A word for a shell, in the quotes that every shell has where that is safe."""
    plain = shlex.quote(text)
    return plain if plain == text or set(text) & set('"$`\\!\n') else f'"{text}"'
