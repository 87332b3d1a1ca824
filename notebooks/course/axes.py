"""Empty axes on a worksheet, to draw a predicted curve on paper."""

from __future__ import annotations

import math
from typing import Final
from xml.sax.saxutils import escape

from raidlab.notebooks.frame.room import Curve
from raidlab.scenarios.results.number_text import digits

WIDTH: Final = 600
"""Of the drawing; all lengths are in its own units."""
HEIGHT: Final = 260
LEFT: Final = 64
RIGHT: Final = 20
TOP: Final = 12
BOTTOM: Final = 46
LEAST_GAP: Final = 44
"""Between two numbers of the x axis."""


def paper(form: Curve) -> str:
    """The axes of a prediction that is drawn, as SVG: those of the room's page."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines, last = [], -math.inf
    for each in form.ticks:
        up = _share(each, form.least, form.most, log=form.least > 0)
        y = bottom - up * (bottom - TOP)
        lines.append(_line(LEFT, y, right, y))
        lines.append(_text(LEFT - 6, y + 5, digits(each), "end"))
    for each in form.x:
        x = LEFT + _share(each, form.x[0], form.x[-1], log=form.log) * (right - LEFT)
        lines.append(_line(x, TOP, x, bottom))
        if x - last >= LEAST_GAP:
            last = x
            lines.append(_text(x, bottom + 18, f"{each:,g}", "middle"))
    lines.append(_text((LEFT + right) / 2, HEIGHT - 6, form.across, "middle"))
    lines.append(_text(LEFT + 6, TOP + 14, form.up, "start"))
    said = escape(f"Empty axes: {form.up} over {form.across}", {'"': "&quot;"})
    head = f'<svg class="paper" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
    return "\n".join([head, *lines, "</svg>"])


def _share(value: float, low: float, high: float, *, log: bool) -> float:
    """Where a value lies on an axis: 0 at its lower end, 1 at its upper one."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / (high - low)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
