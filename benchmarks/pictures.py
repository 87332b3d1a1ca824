"""The pictures of the README and the pages: of the examples' pages, and of a recorded session.

`make pictures` writes docs/pictures/. Pages are drawn by headless Chromium, which the system has;
the session is one SVG, whose commands appear one after the other where animation is wanted.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
BROWSER = next(
    (path for path in map(Path, ("/usr/bin/chromium", "/usr/bin/google-chrome")) if path.exists()),
    None,
)
WIDTH, COLUMNS = 1000, 80


@dataclass(frozen=True)
class Drawn:
    """The top of a page that a command writes."""

    name: str
    command: str
    height: int


PAGES = (
    Drawn("run", "run examples/queue-depth.toml", 720),
    Drawn("plan", "plan examples/choose.toml", 800),
)


@dataclass(frozen=True)
class Step:
    """A command of the session, and how many lines of its answer are shown."""

    command: str
    lines: int


SESSION = (
    Step("raidlab run examples/queue-depth.toml", 11),
    Step("raidlab plan examples/choose.toml", 12),
    Step("raidlab rebuild examples/rebuild.toml --rates 30", 4),
)


def run(command: str, folder: Path) -> str:
    """What a command prints, in a folder with a link to examples/."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": str(COLUMNS)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def draw(folder: Path) -> None:
    """Writes a picture of each page, 1,000 pixels wide."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 1400})
        for drawn in PAGES:
            file = folder / f"{drawn.name}.html"
            run(f"raidlab {drawn.command} --html {file}", folder)
            page.goto(file.as_uri())
            page.wait_for_selector(".main-svg")
            page.wait_for_timeout(1000)
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": drawn.height}
            page.screenshot(path=PICTURES / f"page-{drawn.name}.png", clip=clip)
        browser.close()


STYLE = """
text { font: 14px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #D7DEE6; white-space: pre }
.typed { fill: #FFFFFF; font-weight: 600 } .prompt { fill: #56B4E9 }
@media (prefers-reduced-motion: no-preference) {
  g { opacity: 0; animation: appear .01s linear forwards }
}
@keyframes appear { to { opacity: 1 } }
"""


def session(answers: Sequence[str]) -> str:
    """The session as one SVG."""
    parts, y, second = [], 40.0, 0.5
    for step, answer in zip(SESSION, answers, strict=True):
        typed = html.escape(step.command)
        parts.append(
            f'<g style="animation-delay: {second:.1f}s"><text x="20" y="{y:.0f}">'
            f'<tspan class="prompt">$ </tspan><tspan class="typed">{typed}</tspan></text></g>'
        )
        second += 1.2
        parts.append(f'<g style="animation-delay: {second:.1f}s">')
        lines = answer.splitlines()
        shown = lines[: step.lines] + (["..."] if len(lines) > step.lines else [])
        for line in shown:
            y += 19
            text = html.escape(re.sub(r"\s+$", "", line))
            parts.append(f'<text x="20" y="{y:.0f}" xml:space="preserve">{text}</text>')
        parts.append("</g>")
        second += 3.0
        y += 38
    about = "A session in a terminal: " + "; ".join(step.command for step in SESSION)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {y:.0f}" role="img"'
            f' aria-label="{html.escape(about)}">',
            f"<style>{STYLE}</style>",
            f'<rect width="740" height="{y:.0f}" rx="8" fill="#12181F"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def badge(label: str, value: str) -> str:
    """A label and a value, as one small SVG."""
    left, right = (round(7.2 * len(text) + 14) for text in (label, value))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"'
        f' aria-label="{label}: {value}"><style>text {{ font: 12px system-ui, sans-serif;'
        f" fill: #FFFFFF; text-anchor: middle }}</style>"
        f'<rect width="{left}" height="20" fill="#3A4653"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="#005A8C"/>'
        f'<text x="{left / 2}" y="14">{label}</text>'
        f'<text x="{left + right / 2}" y="14">{value}</text></svg>\n'
    )


def badges() -> dict[str, str]:
    """What the project's own files say of it, by the name of the picture."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    return {
        "python": badge("Python", project["requires-python"].removeprefix(">=") + "+"),
        "rust": badge("Rust", workspace["rust-version"] + "+"),
        "licence": badge("licence", project["license"]),
        "version": badge("version", project["version"]),
    }


def main() -> None:
    """Writes all pictures, or those alone that need no browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", action="store_true", help="badges and session alone")
    given = parser.parse_args()
    (PICTURES / "badges").mkdir(exist_ok=True)
    for name, picture in badges().items():
        (PICTURES / "badges" / f"{name}.svg").write_text(picture)
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty)
        (folder / "examples").symlink_to(ROOT / "examples")
        answers = [run(step.command, folder) for step in SESSION]
        (PICTURES / "session.svg").write_text(session(answers))
        if not given.text:
            draw(folder)


if __name__ == "__main__":
    main()
