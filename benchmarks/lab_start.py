"""From a clone to a moving slider: the commands of the course's page, each with its time.

`make lab-start` writes docs/evidence/lab-start.md of it. Clones this repository into a temporary
folder, runs the commands there, opens a room in headless Chromium and moves a slider. Run it on an
idle machine. Needs git, playwright and a Chromium of the system.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab import ARGUMENTS, browser_path, come_in, move
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent.parent
ROOM = "knee"
_READY = "main[data-answered='yes']"
_PATIENCE_MS = 60_000


@dataclass(frozen=True)
class Step:
    """What one does, and how long it takes."""

    what: str
    seconds: float
    is_command: bool = True


def timed(what: str, command: Sequence[str], folder: Path) -> Step:
    """Runs a command in a folder.

    Raises:
        CalledProcessError: It failed.
    """
    began = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return Step(what, time.monotonic() - began)


def opened(checkout: Path, chromium: str) -> list[Step]:
    """Starts the lab of a checkout, opens it, a room, and moves the room's first slider."""
    command = [checkout / ".venv/bin/raidlab", "lab", "--no-browser", "--port", "0"]
    steps = []
    since = time.monotonic()

    def done(what: str, *, is_command: bool = False) -> None:
        nonlocal since
        steps.append(Step(what, time.monotonic() - since, is_command))
        since = time.monotonic()

    with subprocess.Popen(command, cwd=checkout, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            address = process.stderr.readline().split()[-1]
            done("`.venv/bin/raidlab lab`, until it prints its address", is_command=True)
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS)
                page: Any = browser.new_page()
                come_in(page, address)
                page.wait_for_selector(".rooms a")
                done("the browser and the list of rooms")
                page.goto(f"{address.partition('?')[0]}{ROOM}/")
                page.wait_for_selector(_READY, timeout=_PATIENCE_MS)
                done(f"the room `{ROOM}`")
                move(page, 0, 0)
                done("a slider moves and is answered")
                browser.close()
        finally:
            process.terminate()
    return steps


def table(steps: Sequence[Step], load: float) -> str:
    """The page of evidence; `load` is that of the machine before the first step."""
    rows = "\n".join(f"| {step.what} | {step.seconds:.1f} |" for step in steps)
    total = sum(step.seconds for step in steps)
    commands = sum(step.is_command for step in steps)
    sentence = textwrap.fill(
        f"**{commands} commands, {total / 60:.1f} minutes** on {os.cpu_count()} cores, under a load"
        f" of {load:.1f} processes when it began. What pip and cargo had downloaded before was used"
        " again: a first download adds its own time.",
        width=98,
        break_on_hyphens=False,
    )
    return f"""# From a clone to a moving slider

For a teacher who has fifteen minutes before class. `make lab-start` makes this page: it clones the
repository into an empty folder, types the commands below, and moves a slider in Chromium.

{sentence}

| step | s |
|---|---|
{rows}
"""


def main() -> int:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--page", type=Path, help="write the page to this file")
    parser.add_argument("--repository", default=str(HERE), help="what to clone; this one")
    options = parser.parse_args()
    chromium = browser_path()
    if chromium is None:
        print("no Chromium on this machine", file=sys.stderr)
        return 2
    load = os.getloadavg()[0]
    with TemporaryDirectory(prefix="raidlab-start-") as made:
        folder, checkout = Path(made), Path(made, "raidlab")
        clone = ["git", "clone", "--quiet", options.repository, "raidlab"]
        steps = [
            timed("`git clone ... raidlab`", clone, folder),
            timed("`make setup`", ["make", "setup"], checkout),
            *opened(checkout, chromium),
        ]
        text = table(steps, load)
        if options.page:
            options.page.write_text(text)
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
