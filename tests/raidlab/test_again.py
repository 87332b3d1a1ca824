"""Every page's command makes the same page: parsed again it has the arguments that were given."""

from __future__ import annotations

import inspect
import shlex
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from typer.testing import CliRunner

from raidlab.cli import COMMANDS, TRACES, app
from raidlab.commands.again import _LEFT_OUT, _about, line_of

PAGES = ("html", "report")
EVERY = {**COMMANDS, **{f"trace {name}": lazy for name, lazy in TRACES.items()}}


def parsed(name: str, words: list[str]) -> dict[str, Any]:
    command = EVERY[name].load(name)
    return dict(command.make_context(name, words).params)


def with_a_page() -> list[str]:
    names = []
    for name, lazy in EVERY.items():
        if not lazy.passes_on and {each.name for each in lazy.load(name).params} & {*PAGES}:
            names.append(name)
    return names


def plain(hint: Any) -> Any:
    """The type of one value: of `list[str] | None` it is `str`."""
    inner = [each for each in get_args(hint) if each is not type(None)]
    return plain(inner[0]) if inner and get_origin(hint) is not Literal else hint


def sample(hint: Any, usual: Any) -> str:
    """A value that is not the usual one."""
    kind, about = plain(hint), _about(hint)
    if get_origin(kind) is Literal:
        return next(str(each) for each in get_args(kind) if each != usual)
    if issubclass(kind, Enum):
        return next(str(each.value) for each in kind if each != usual)
    if issubclass(kind, int | float):
        number = 0.25 if about.max is not None and about.max <= 3 else (about.min or 0) + 3
        return str(number if number != usual else number + 1)
    return f"some {about.help or 'name'}"[:12]


@pytest.mark.parametrize("name", with_a_page())
def test_the_line_of_a_page_has_every_argument(name: str) -> None:
    lazy = EVERY[name]
    module = __import__(f"raidlab.commands.{lazy.module}", fromlist=["x"])
    function = getattr(module, lazy.function).__wrapped__
    hints = get_type_hints(function, include_extras=True)
    usual = inspect.signature(function).parameters
    words = []
    for param in lazy.load(name).params:
        if (param.name in _LEFT_OUT and not param.required) or param.name == "help":
            continue
        if param.param_type_name == "argument":
            words.append(sample(hints[param.name], usual[param.name].default))
        elif param.is_flag:
            words.append(param.opts[0])
        else:
            value = sample(hints[param.name], usual[param.name].default)
            words += [param.opts[0], value] * (2 if param.multiple else 1)
    given = parsed(name, words)
    line = line_of(name, function, given)
    again = shlex.split(line)
    assert again[: 1 + len(name.split())] == ["raidlab", *name.split()]
    found = parsed(name, again[1 + len(name.split()) :])
    pages = [key for key in PAGES if found.get(key) == Path("page.html")]
    assert len(pages) == 1
    for key, value in given.items():
        if key not in _LEFT_OUT and not (name == "calibrate" and key == "draws"):
            assert found[key] == value, key


def test_usual_values_are_left_out_and_what_a_shell_would_change_is_quoted() -> None:
    from raidlab.commands.run import run

    def line(*words: str) -> str:
        return line_of("run", run.__wrapped__, parsed("run", list(words)))

    assert line("s.toml") == "raidlab run s.toml --html page.html"
    assert line("s.toml", "--seed", "0", "--goal", "p99 < 2 ms", "--workers", "3") == (
        'raidlab run s.toml --seed 0 --goal "p99 < 2 ms" --html page.html'
    )
    assert line("$HOME `x`.toml") == "raidlab run '$HOME `x`.toml' --html page.html"


def test_a_page_has_the_line_of_its_own_call(tmp_path: Path) -> None:
    trace, page = tmp_path / "t.spc", tmp_path / "page.html"
    trace.write_text("".join(f"0,{8 * at},4096,R,{at / 10}\n" for at in range(20)))
    words = ["trace", "describe", str(trace), "--format", "spc", "--html", str(page)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert f"raidlab trace describe {trace} --format spc --html page.html" in page.read_text()
