"""The README's picture: each published number of the tables beside its simulated one, as one SVG.

    raidlab validate --json > validation.json
    python -m raidlab.calibration.report.published_picture validation.json PICTURE.svg

x is the published value, y is simulated over published; both are logarithmic. The band is the
tolerance of 10 %. Bounds, ranges and ratios of two figures have no place on it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from raidlab.calibration.published.usage import USES
from raidlab.calibration.published.validate import FigureRow
from raidlab.devices.files import write_file

WIDTH, HEIGHT = 880, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 48
LOWEST_RATIO, HIGHEST_RATIO = 0.6, 1.7
MARKS = {"fitted": ("#56B4E9", "circle"), "chosen in view": ("#E69F00", "square")}
"""Okabe and Ito's colours, by what the figure was used for; what is none of them is predicted."""
PREDICTED = ("#D55E00", "diamond")
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1B2430 }
.title { font-size: 16px; font-weight: 600 } .grid { stroke: #D7DEE6 }
.one { stroke: #566370 } .band { fill: #00734F; opacity: .10 }
@media (prefers-color-scheme: dark) {
  text { fill: #E8ECF1 } .grid { stroke: #2C3742 } .one { stroke: #A7B3BF }
  .back { fill: #12181F } .band { opacity: .28 }
}
"""


def rows_of(rows: Sequence[FigureRow]) -> list[FigureRow]:
    """Rows with a number on both sides, in IO/s or MiB/s."""
    return [
        row
        for row in rows
        if row["relation"] in ("=", "~")
        and row["simulated"] is not None
        and row["quantity"] in ("iops", "mib_per_s", "mb_per_s")
    ]


def svg(rows: Sequence[FigureRow]) -> str:
    """The picture of `rows_of`."""
    of = {use: [row for row in rows if row["used"] == use] for use in USES}
    said = [_said(use, own) for use, own in of.items() if own]
    title = f"Rates within tolerance: {', '.join(said)}"
    about = (
        f"Simulated over published rate against the published rate, for {len(rows)} figures."
        f" {title}."
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
            f' aria-label="{about}">',
            f"<style>{STYLE}</style>",
            f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>',
            f'<text class="title" x="{LEFT}" y="20">{title}</text>',
            *_axes(),
            *_marks(rows),
            *_legend(rows),
            "</svg>",
            "",
        ]
    )


def _said(use: str, rows: Sequence[FigureRow]) -> str:
    """`6 of 7 predicted`."""
    return f"{sum(row['held'] for row in rows)} of {len(rows)} {use}"


def _x(value: float) -> float:
    """From 10 to 1,000,000."""
    return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - 1) / 5


def _y(ratio: float) -> float:
    at = math.log(min(max(ratio, LOWEST_RATIO), HIGHEST_RATIO) / LOWEST_RATIO) / math.log(
        HIGHEST_RATIO / LOWEST_RATIO
    )
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * at


def _axes() -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    high, low = _y(1.1), _y(0.9)
    yield (
        f'<rect class="band" x="{LEFT}" y="{high:.1f}" width="{right - LEFT}"'
        f' height="{low - high:.1f}"/>'
    )
    for ratio in (0.6, 0.8, 1.0, 1.25, 1.6):
        name = "one" if ratio == 1.0 else "grid"
        y = _y(ratio)
        yield f'<line class="{name}" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{ratio:g} x</text>'
    for power in range(1, 7):
        label = f"{10**power:,}" if power < 6 else "1 M"
        x = _x(10**power)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>'
    middle = (LEFT + right) / 2
    unit = "published, IO/s or MiB/s"
    yield f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{unit}</text>'
    yield f'<text x="{LEFT}" y="{TOP - 6}">simulated / published</text>'


def _marks(rows: Sequence[FigureRow]) -> Iterator[str]:
    """Predictions last, on top."""
    for row in sorted(rows, key=lambda row: (row["used"] not in MARKS, row["used"])):
        colour, shape = MARKS.get(row["used"], PREDICTED)
        x, y = _x(row["published"]), _y((row["simulated"] or 0.0) / row["published"])
        yield (
            f'<g fill="{colour}" stroke="#3A4653" stroke-width=".75">{_shape(shape, x, y)}'
            f"<title>{row['id']}: {row['published']:g} published, {row['simulated']:.4g}"
            f" simulated, {row['unit']}</title></g>"
        )


def _shape(name: str, x: float, y: float) -> str:
    if name == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if name == "diamond" else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"{turned}/>'


def _legend(rows: Sequence[FigureRow]) -> Iterator[str]:
    right = WIDTH - RIGHT + 24
    for number, use in enumerate(dict.fromkeys(row["used"] for row in rows)):
        colour, shape = MARKS.get(use, PREDICTED)
        count = sum(row["used"] == use for row in rows)
        y = TOP + 16 + 22 * number
        mark = _shape(shape, right, y - 4)
        yield f'<g fill="{colour}" stroke="#3A4653" stroke-width=".75">{mark}</g>'
        yield f'<text x="{right + 12}" y="{y}">{use} ({count})</text>'
    yield f'<text x="{WIDTH - RIGHT + 8}" y="{(_y(1.1) + _y(0.9)) / 2 + 4:.1f}">within 10 %</text>'


def main() -> None:
    """Draws the picture of a document of `raidlab validate --json`."""
    document, out = sys.argv[1:]
    write_file(Path(out), svg(rows_of(json.loads(Path(document).read_text())["rows"])))


if __name__ == "__main__":
    main()
