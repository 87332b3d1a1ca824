"""The lab in headless Chromium: how soon a room is there, how soon a moved control is answered.

`make lab-evidence` writes docs/evidence/lab.md of it; with `--pictures FOLDER` each room is also
drawn for the gallery. Needs playwright and a Chromium of the system.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from raidlab.notebooks.frame import catalogue, pages
from raidlab.notebooks.frame.room import SEED, Room

GOAL_S = 0.3
"""Within which a moved control is to be answered, once the visitor has looked at the room."""
LOOK_S = 3.0
"""That a visitor looks at a picture before the next move."""
OTHER_SEED = "2"
"""Of the answers after a look: none was simulated before."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]
_ANSWERS = ("#result", "#pictures", ".controls", ".notice")
TRIED = "## Tried as a student and as a teacher"
"""Heading of the part of the page that is not measured here."""
_READY = "main .main-svg"
_PATIENCE_MS = 300_000
_SHOW = """
async ([body, about, answer, style]) => {
  document.querySelector("style").textContent = style;
  document.querySelector("#stage").innerHTML = "<main></main>";
  window.scrollTo(0, 0);
  const root = document.querySelector("main");
  root.innerHTML = body;
  room(root, about, async () => answer);
}"""


@dataclass(frozen=True)
class Measured:
    """One room."""

    room: Room
    load_s: float
    answers_s: list[float]
    """From a moved control until its answer is drawn, each at both ends, without a pause."""
    cpu_s: list[float]
    """What the server computed for each, on all cores together."""
    looked_s: list[float]
    """As `answers_s`, each control by one position, after a look of `LOOK_S`."""
    covered: bool
    """Whether result, pictures and claims were hidden until a prediction was kept or waived."""
    faults: list[str]
    """Errors of the console, and requests to anywhere but this machine."""


def browser_path() -> str | None:
    """The system's Chromium; None without one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def served(what: str = "lab") -> Iterator[tuple[str, int]]:
    """The address of a running server, token included, and its process."""
    command = [sys.executable, "-m", "raidlab", what, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[-1], process.pid
        finally:
            process.terminate()


def watch(page: Page) -> list[str]:
    """Collects what should not be there."""
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    allowed = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "file:")
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(allowed) else faults.append(asked.url),
    )
    return faults


def come_in(page: Page, address: str, patience_s: float = 30.0) -> None:
    """Opens the first page of a server that may still be starting."""
    for _ in range(int(10 * patience_s)):
        try:
            page.goto(address, timeout=_PATIENCE_MS)
        except Exception as error:
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(address)


def spent(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(page: Page, address: str, room: Room, process: int) -> Measured:
    """Opens a room and moves each control to both ends."""
    faults = watch(page)
    began = time.monotonic()
    page.goto(address, timeout=_PATIENCE_MS)
    page.wait_for_selector("#waive", timeout=_PATIENCE_MS)
    covered = not any(page.locator(place).first.is_visible() for place in _ANSWERS)
    look(page)
    loaded = time.monotonic() - began
    answers, computed = [], []
    for at, control in enumerate(room.controls):
        for end in (0, len(control.values) - 1):
            began, before = time.monotonic(), spent(process)
            move(page, at, end)
            answers.append(time.monotonic() - began)
            computed.append(spent(process) - before)
        move(page, at, list(control.values).index(room.opening[control.name]))
    return Measured(room, loaded, answers, computed, after_a_look(page, room), covered, faults)


def after_a_look(page: Page, room: Room) -> list[float]:
    """Moves each control by one position; before each move the visitor looks for a while."""
    answers = []
    page.locator("main").evaluate("main => main.dataset.answered = ''")
    page.fill("#seed", OTHER_SEED)
    page.wait_for_selector("main[data-answered='yes']", timeout=_PATIENCE_MS)
    for at, control in enumerate(room.controls):
        page.wait_for_timeout(1000 * LOOK_S)
        place = list(control.values).index(room.opening[control.name])
        began = time.monotonic()
        move(page, at, place + 1 if place + 1 < len(control.values) else place - 1)
        answers.append(time.monotonic() - began)
    return answers


def look(page: Page) -> None:
    """Opens a room without a prediction, and waits for its pictures."""
    page.click("#waive", timeout=_PATIENCE_MS)
    page.wait_for_selector(_READY, timeout=_PATIENCE_MS, state="attached")


def move(page: Page, control: int, value: int) -> None:
    """Moves a control and waits for the answer to it."""
    place = page.locator(f"#control-{control}")
    page.locator("main").evaluate("main => main.dataset.answered = ''")
    place.evaluate(
        "(input, value) => { input.value = value;"
        " input.dispatchEvent(new Event('input', {bubbles: true})); }",
        str(value),
    )
    page.wait_for_selector("main[data-answered='yes']", timeout=_PATIENCE_MS)


def table(rooms: list[Measured]) -> str:
    """The page of evidence."""
    rows = "\n".join(
        f"| {each.room.number} | `{each.room.name}` | {each.load_s:.1f} |"
        f" {statistics.median(each.answers_s):.2f} | {max(each.answers_s):.2f} |"
        f" {max(each.cpu_s):.2f} | {max(each.looked_s):.2f} |"
        f" {'no' if each.covered else 'yes'} | {len(each.faults)} |"
        for each in rooms
    )
    late = [each.room.name for each in rooms if max(each.looked_s) > GOAL_S]
    said = "all rooms meet it" if not late else "not met by " + ", ".join(late)
    goal = textwrap.fill(
        f"Goal: after a look an answer within {GOAL_S:g} s; {said}. Measured on"
        f" {os.cpu_count()} cores, under a load of {os.getloadavg()[2]:.1f} processes (mean of 15"
        " minutes).",
        width=98,
        break_on_hyphens=False,
    )
    return f"""# The lab in a browser

How fast do the rooms answer? `make lab-evidence` makes this page: it opens every room of `raidlab
lab` in headless Chromium and moves each control, first to both of its ends without a pause, then by
one position after a look of {LOOK_S:g} s. While a visitor looks, the lab simulates what may be
asked for next; a setting that was answered is remembered.

Time is from the moved control until the picture is drawn. Faults are errors of the browser's
console and requests to anywhere but this machine. CPU is what the server computed for the longest
answer without a pause, on all cores together: it does not depend on what else the machine does.
"Seen" asks whether result, pictures or questions can be seen before a prediction is kept or
waived.

{goal}

| room | name | page, s | median, s | longest, s | CPU, s | after a look, s | seen | faults |
|---|---|---|---|---|---|---|---|---|
{rows}
"""


def tried(page: Path) -> str:
    """What people found who tried the lab: written by hand, so it stays."""
    text = page.read_text() if page.exists() else ""
    return f"\n{text[text.index(TRIED) :]}" if TRIED in text else ""


def main() -> int:
    """Measures every room; exit code 1 if a room has faults or is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="write the table to this file")
    parser.add_argument("--rooms", nargs="*", help="these alone")
    parser.add_argument("--pictures", type=Path, help="draw each room into this folder")
    options = parser.parse_args()
    path = browser_path()
    if path is None:
        print("no Chromium on this machine", file=sys.stderr)
        return 2
    chosen = [each for each in catalogue.rooms() if each.name in (options.rooms or [each.name])]
    if options.pictures:
        with sync_playwright() as play:
            page = play.chromium.launch(executable_path=path, args=ARGUMENTS).new_page(
                viewport={"width": 1440, "height": 1000}
            )
            build_stage(page)
            for room in chosen:
                draw(page, room, options.pictures / f"{room.name}.png")
        return 0
    found = []
    with served() as (address, process), sync_playwright() as play:
        base = address.partition("?")[0]
        browser = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        come_in(context.new_page(), address)
        for room in chosen:
            page = context.new_page()
            found.append(measure(page, f"{base}{room.name}/", room, process))
            print(room.name, found[-1].answers_s, found[-1].looked_s, found[-1].faults)
            page.close()
        browser.close()
    if options.page:
        options.page.write_text(table(found) + tried(options.page))
    return int(any(each.faults or max(each.looked_s) > GOAL_S for each in found))


def build_stage(page: Page) -> None:
    """Makes a page on which one room after the other is shown, without a server."""
    page.set_content("<!doctype html><html lang=en><style></style><div id=stage></div>")
    page.add_script_tag(content=pages.script())


def show(page: Page, room: Room, answer: Mapping[str, object], *, live: bool) -> None:
    """Opens a room on the stage without a prediction; every setting has this answer."""
    links = catalogue.links(room, "/", "/{}/")
    style = pages.widget_style() if live else pages.style()
    body, about = pages.body(room, live=live, links=links), pages.about(room, live=live)
    page.evaluate(_SHOW, [body, about, answer, style])
    page.click("#waive")
    page.wait_for_selector("main[data-answered='yes'] .main-svg", state="attached")


def draw(page: Page, room: Room, path: Path) -> None:
    """The pictures of a room as an image, where its prediction asks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    show(page, room, pages.answered(room, room.start | dict(room.prediction.at), SEED), live=False)
    # What lies below the window's edge is not drawn: the window becomes as high as the room.
    height = page.locator("main").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": 1440, "height": height})
    page.wait_for_timeout(500)
    page.locator("#pictures").screenshot(path=str(path), timeout=_PATIENCE_MS)


if __name__ == "__main__":
    sys.exit(main())
