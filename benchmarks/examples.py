"""The files in examples/: each names its command and shows what that prints.

`make examples` runs every command and writes the outputs anew; `--check` compares them. A command
runs in an empty folder with a link to examples/, so what it writes stays out of the checkout.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples"
_HEAD = "Output, 80 columns wide:"


def commented() -> list[Path]:
    """The files that name a command, by name."""
    return sorted(path for path in FOLDER.iterdir() if command_of(path))


def command_of(path: Path) -> str | None:
    """What follows `$ ` in a comment or docstring of the file; None without one."""
    for line in path.read_text().splitlines():
        text = line.lstrip("#; ")
        if text.startswith("$ "):
            return text.removeprefix("$ ")
    return None


def split(path: Path) -> tuple[str, str]:
    """The file up to its output, and the output that it shows."""
    above, _, below = path.read_text().partition(f"\n# {_HEAD}\n#\n")
    shown = [line.removeprefix("#").removeprefix("   ") for line in below.splitlines()]
    return above.rstrip("\n") + "\n", "\n".join(shown)


def by_shell(text: str, *, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What a line of a shell prints."""
    return subprocess.run(
        text, shell=True, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True
    )


def printed(path: Path, line: Callable[..., subprocess.CompletedProcess[str]] = by_shell) -> str:
    """What the file's command prints now; `line` runs it."""
    command = command_of(path)
    assert command is not None
    folder = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "examples").symlink_to(FOLDER)
        env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
        done = line(command, cwd=Path(empty), env=env)
    if done.returncode:
        raise RuntimeError(f"{command}\n{done.stdout}{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def write(path: Path) -> None:
    """Replaces the output that the file shows."""
    above, _ = split(path)
    lines = [f"#   {line}".rstrip() for line in printed(path).splitlines()]
    path.write_text(f"{above}\n# {_HEAD}\n#\n" + "\n".join(lines) + "\n")


def main() -> int:
    """Writes or compares all outputs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("names", nargs="*", help="of files; all of them by default")
    given = parser.parse_args()
    wrong = []
    for path in commented():
        if given.names and path.name not in given.names:
            continue
        if given.check:
            wrong += [path.name] if printed(path) != split(path)[1] else []
        else:
            write(path)
    for name in wrong:
        print(f"examples/{name}: the output has changed: make examples")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
