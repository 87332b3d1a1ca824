"""Pictures of a comparison or a calibration: curves, errors, distributions, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Final

import numpy as np

from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.comparison.compare import Compared, shifted, summary
from raidlab.calibration.measurements.distribution import curve
from raidlab.calibration.measurements.measurement import WINDOWS, Latency, rates_of, seconds_of
from raidlab.calibration.report.residual_picture import residual_pictures
from raidlab.scenarios.report.chart import Figure, chart, draw_curve, panels
from raidlab.scenarios.report.look import BLACK, BLUE, GREY, depth_axis, log_axis
from raidlab.scenarios.report.page import HeatMap, Picture
from raidlab.scenarios.results.number_text import digits

_DISTRIBUTIONS: Final = 6
"""Points whose distributions are drawn."""
_JOBS: Final = 4
"""Numbers of jobs that have a picture of their own for each load."""
_VISIBLE_RATIO: Final = 1.02
"""Ratio of two points of a distribution that stand apart in a picture."""
_LEAST_SLOPE_SHARE: Final = 1e-4
"""Smallest share of a distribution that is drawn."""
_BAND = "rgba(0, 114, 178, 0.18)"
"""Blue, so that points and grid show through."""
_ERROR_FULL, _TAIL_FULL = 30.0, 100.0
"""Percent at which the colour of an error is full: rates, p99."""


def interval_pictures(estimates: Sequence[Estimate]) -> list[Picture]:
    """Each parameter with its interval inside its bounds."""
    if not estimates:
        return []
    drawn = chart(height=110 + 30 * len(estimates), legend=40)
    determined = [estimate for estimate in estimates if estimate.identifiable]
    for own, name, colour, symbol in (
        (determined, "determined", BLUE, "circle"),
        ([e for e in estimates if not e.identifiable], "not determined", GREY, "circle-open"),
    ):
        places = [[_inside(e, value) for value in (e.low, e.value, e.high)] for e in own]
        draw_curve(
            drawn,
            name,
            [100 * place[1] for place in places],
            [estimate.parameter.key for estimate in own],
            texts=[
                f"{digits(e.value)} {e.parameter.unit} ({digits(e.low)} to {digits(e.high)})"
                for e in own
            ],
            hover="%{y}: %{text}<extra></extra>",
            error_x={
                "type": "data",
                "array": [100 * (place[2] - place[1]) for place in places],
                "arrayminus": [100 * (place[1] - place[0]) for place in places],
            },
            mode="markers",
            marker={"size": 9, "color": colour, "symbol": symbol},
        )
    drawn.update_xaxes(
        title_text="from the lower to the upper bound, %", range=[-3, 103], showgrid=True,
        gridcolor="#D7DEE6",
    )  # fmt: skip
    order = [estimate.parameter.key for estimate in estimates]
    drawn.update_yaxes(type="category", categoryorder="array", categoryarray=order[::-1])
    seen = f"{len(determined)} of {len(estimates)} parameters are determined"
    text = "Each parameter with its 95 % interval inside its bounds."
    return [Picture(seen, text, drawn)]


def _inside(estimate: Estimate, value: float) -> float:
    """Where a value lies between the bounds, 0 to 1."""
    low, high = estimate.parameter.low, estimate.parameter.high
    value = min(max(value, low), high)
    if estimate.parameter.scale == "log" and low > 0:
        return (log10(value) - log10(low)) / ((log10(high) - log10(low)) or 1.0)
    return (value - low) / ((high - low) or 1.0)


Bands = Sequence[tuple[float, float]]
"""For each point the rates between which 95 % of drawn devices lie; empty if none were drawn."""


def point_pictures(rows: Sequence[Compared], bands: Bands = ()) -> list[Picture]:
    """Residuals; rates and p99 of each load, errors by depth and jobs, distributions.

    Args:
        rows: Points, measured and simulated.
        bands: Of these rows.
    """
    pictures = residual_pictures(rows)
    of_rows = {id(row): band for row, band in zip(rows, bands, strict=False)}
    unseen = any(row.part == "test" for row in rows)
    for load, of_load in _by_load(rows):
        hollow = " Hollow points were seen by the fit." if unseen else ""
        for jobs in _chosen_jobs(of_load):
            own = [row for row in of_load if row.point.numjobs == jobs]
            name = f"{load}, {jobs} job{'s' if jobs > 1 else ''}"
            found = summary(own)
            pictures.append(
                Picture(
                    f"{name}: rates {digits(found['median_abs_error_pct'])} % off in the median",
                    ("Rate above, p99 below" if _has_tails(own) else "Rate")
                    + "; points: measured, with the spread from sample to sample; blue:"
                    f" simulated.{hollow}"
                    + (" Band: 95 % of the devices drawn from the fit." if of_rows else ""),
                    curves(own, of_rows),
                )
            )
        if len({row.point.numjobs for row in of_load}) > 1:
            pictures += _heats(load, of_load)
    for row in rows:
        if row.simulated.rates:
            pictures.append(
                Picture(
                    f"{row.point.label()}: the rate over time",
                    "Means of twelve parts of the time; points: measured, blue: simulated.",
                    _over_time(row),
                )
            )
    return [*pictures, *_distribution_pictures(rows)]


def _by_load(rows: Sequence[Compared]) -> list[tuple[str, list[Compared]]]:
    found: dict[str, list[Compared]] = {}
    for row in rows:
        found.setdefault(row.point.label().rpartition(",")[0], []).append(row)
    return list(found.items())


def _chosen_jobs(rows: Sequence[Compared]) -> list[int]:
    """Up to four numbers of jobs, the fewest and the most among them."""
    every = sorted({row.point.numjobs for row in rows})
    if len(every) <= _JOBS:
        return every
    return [every[round(at * (len(every) - 1) / (_JOBS - 1))] for at in range(_JOBS)]


def _has_tails(rows: Sequence[Compared]) -> bool:
    """True if a p99 was measured."""
    return any(row.percentiles(99.0) for row in rows)


def _draw_band(
    drawn: Figure, own: Sequence[Compared], bands: Mapping[int, tuple[float, float]]
) -> None:
    """The band of the rates: its upper edge, and its lower one filled up to that."""
    depths = [row.point.outstanding for row in own]
    for at, name in ((1, "97.5 % of drawn devices, IO/s"), (0, "2.5 % of drawn devices, IO/s")):
        draw_curve(
            drawn, name, depths, [bands[id(row)][at] for row in own], panel=1, mode="lines",
            line={"width": 0}, showlegend=False, hoverinfo="skip",
            fill=None if at else "tonexty", fillcolor=None if at else _BAND,
        )  # fmt: skip


def curves(
    rows: Sequence[Compared], bands: Mapping[int, tuple[float, float]] | None = None
) -> Figure:
    """Rate, and p99 if it was measured, over outstanding I/Os of one load with one job number.

    Args:
        rows: Points, measured and simulated.
        bands: By a row's identity the interval of its rate, where devices were drawn.
    """
    own = sorted(rows, key=lambda row: row.point.outstanding)
    depths = [row.point.outstanding for row in own]
    symbols = ["circle-open" if row.part == "train" else "circle" for row in own]
    tails = [next(iter(row.percentiles(99.0)), ("", None, None)) for row in own]
    spreads = [
        max((side.spread for _, side in row.point.sides()), default=0.0) * row.point.iops
        for row in own
    ]
    count = 2 if _has_tails(own) else 1
    drawn = panels(count, height=440 if count == 2 else 280)
    p99s: list[float] = []
    if bands:
        _draw_band(drawn, own, bands)
    for panel, unit, measured, simulated in (
        (1, "IO/s", [row.point.iops for row in own], [row.simulated.iops for row in own]),
        (2, "p99, ms", [_ms(tail[1]) for tail in tails], [_ms(tail[2]) for tail in tails]),
    )[:count]:
        if panel == 2:
            p99s = [value for value in (*measured, *simulated) if value]
        # A curve of one point has no line to show.
        mode = "lines" if len(own) > 1 else "markers"
        draw_curve(
            drawn, f"simulated {unit}", depths, simulated, panel=panel, mode=mode,
            line={"color": BLUE, "width": 2.5},
            marker={"color": BLUE, "symbol": "line-ew-open", "size": 18},
        )  # fmt: skip
        spread = {"type": "data", "array": spreads, "thickness": 1}
        draw_curve(
            drawn, f"measured {unit}", depths, measured, panel=panel, mode="markers",
            marker={"color": BLACK, "symbol": symbols, "size": 8},
            error_y=spread if panel == 1 and any(spreads) else None,
        )  # fmt: skip
    axis = depth_axis(depths)
    drawn.update_xaxes(axis | {"title_text": None})
    drawn.update_xaxes(title_text="outstanding I/Os, all jobs", row=count, col=1)
    drawn.update_yaxes(title_text="IO/s", rangemode="tozero", tickformat=",~r", row=1, col=1)
    if count == 2:
        drawn.update_yaxes(log_axis(p99s, "p99, ms"), row=2, col=1)
    return drawn


def _over_time(row: Compared) -> Figure:

    x = ((np.arange(WINDOWS) + 0.5) * seconds_of(row.point) / WINDOWS).tolist()
    drawn = chart()
    draw_curve(
        drawn,
        "simulated",
        x,
        list(row.simulated.rates),
        mode="lines",
        line={"color": BLUE, "width": 2.5},
    )
    draw_curve(
        drawn,
        "measured",
        x,
        list(rates_of(row.point)),
        mode="markers",
        marker={"color": BLACK, "size": 8},
    )
    drawn.update_xaxes(title="seconds")
    drawn.update_yaxes(title="IO/s", rangemode="tozero", tickformat=",~r")
    return drawn


def _ms(latency_us: float | None) -> float | None:
    return None if latency_us is None else latency_us / 1e3


def _heats(load: str, rows: Sequence[Compared]) -> list[Picture]:
    """Errors of rate and p99 by depth and jobs."""
    depths = sorted({row.point.iodepth for row in rows})
    jobs = sorted({row.point.numjobs for row in rows})
    places = {(row.point.iodepth, row.point.numjobs): row for row in rows}
    pictures = []
    rates: dict[tuple[int, int], float | None] = {
        place: row.error_pct for place, row in places.items()
    }
    tails = {place: row.percentile_error_pct(99.0) for place, row in places.items()}
    for what, full, errors in (("rate", _ERROR_FULL, rates), ("p99", _TAIL_FULL, tails)):
        known = [abs(value) for value in errors.values() if value is not None]
        if not known:
            continue
        pictures.append(
            Picture(
                f"{load}: {what} {digits(float(np.median(known)))} % off in the median",
                f"Error of the {what} in percent; orange: simulated higher, blue: lower than"
                " measured.",
                heat_map=HeatMap(
                    "depth of each job \\ jobs",
                    [str(count) for count in jobs],
                    [
                        (str(depth), [errors.get((depth, count)) for count in jobs])
                        for depth in depths
                    ],
                    limit=full,
                    signed=True,
                ),
            )
        )
    return pictures


def _distribution_pictures(rows: Sequence[Compared]) -> list[Picture]:
    """The points whose latencies differ most, and the best one."""
    return [
        Picture(
            f"{row.point.label()}: latencies differ by {row.distance() or 0.0:.2f}",
            "Share of I/Os that take longer (dashed: writes); black: measured, blue: simulated."
            " The difference is the largest vertical distance of the shares (Kolmogorov's).",
            distribution(row),
        )
        for row in most_different(rows)
    ]


def most_different(rows: Sequence[Compared]) -> list[Compared]:
    """Points whose distributions differ most, and the best one; none where none is known."""
    known = [row for row in rows if row.distance() is not None]
    ordered = sorted(known, key=lambda row: -(row.distance() or 0.0))
    best = ordered[-1:] if len(ordered) >= _DISTRIBUTIONS else []
    return ordered[: _DISTRIBUTIONS - 1] + best


def distribution(row: Compared) -> Figure:
    """Shares of I/Os that take longer than a latency, measured and simulated."""
    drawn = chart()
    reach: list[float] = []
    for direction, side in row.point.sides():
        latencies = shifted(row.point, side), row.simulated.side(direction)
        for what, latency in zip(("measured", "simulated"), latencies, strict=True):
            if latency is None:
                continue
            at, longer = _tail(latency)
            reach += at
            draw_curve(
                drawn,
                f"{what} {direction}",
                at,
                longer,
                mode="lines",
                line={
                    "color": BLACK if what == "measured" else BLUE,
                    "dash": "dash" if direction == "write" else "solid",
                    "width": 2.5,
                    "shape": "hv",
                },
            )
    drawn.update_xaxes(log_axis(reach, "latency, ms"))
    ticks = [1.0, 0.1, 0.01, 0.001, 0.0001]
    drawn.update_yaxes(
        title_text="share that takes longer", type="log", range=[log10(_LEAST_SLOPE_SHARE), 0.1],
        tickvals=ticks, ticktext=["1", "0.1", "0.01", "0.001", "0.0001"],
    )  # fmt: skip
    return drawn


def _thinned(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without points that nobody would see beside their neighbours."""
    found: list[tuple[float, float]] = []
    for x, share in pairs:
        if found and x < _VISIBLE_RATIO * found[-1][0] and share * _VISIBLE_RATIO > found[-1][1]:
            continue
        found.append((x, share))
    return found


def _tail(latency: Latency) -> tuple[list[float], list[float]]:
    """Latencies in milliseconds and the share of I/Os beyond each, down to one in 10,000."""
    at, shares = curve(latency)
    pairs = [
        (float(x) / 1e3, 1.0 - float(share))
        for x, share in zip(at, shares, strict=True)
        if 1.0 - share >= _LEAST_SLOPE_SHARE
    ]
    pairs = _thinned(pairs)
    if len(at):
        # The last step down ends at the longest latency.
        pairs.append((float(at[-1]) / 1e3, _LEAST_SLOPE_SHARE))
    return [x for x, _ in pairs], [share for _, share in pairs]
