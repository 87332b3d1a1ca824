"""What ties the columns of a sample together: Little's law, and rate times size.

    queue = (r/s x r_await + w/s x w_await + d/s x d_await + f/s x f_await) / 1000
    bytes/s = requests/s x bytes per request

Both fill what is missing and find what is wrong. Source: J. D. C. Little, A Proof for the Queuing
Formula L = λW, Operations Research 9 (1961).
"""

from __future__ import annotations

import numpy as np

from raidlab.calibration.monitoring.samples import Array, Capture, Quantity, Series

Q = Quantity
_DIRECTIONS = (
    (Q.READS, Q.READ_SIZE, Q.READ_BYTES, "r"),
    (Q.WRITES, Q.WRITE_SIZE, Q.WRITE_BYTES, "w"),
    (Q.IOS, Q.SIZE, Q.BYTES, ""),
)
_PAIRS = ((Q.READS, Q.R_AWAIT), (Q.WRITES, Q.W_AWAIT), (Q.DISCARDS, Q.D_AWAIT),
          (Q.FLUSHES, Q.F_AWAIT))  # fmt: skip
_CONFLICT_RATIO = 1.5
"""Ratio of two figures for one thing from which on one of them is wrong."""
_LITTLE_SHARE = 0.15


def complete(name: str, series: Series, capture: Capture) -> None:
    """Fills what follows from other columns, and notes what contradicts itself."""
    for rate, size, amount, letter in _DIRECTIONS:
        _bytes(name, series, capture, (rate, size, amount), letter)
        if series.column(rate) is not None and series.column(amount) is not None:
            # Bytes over requests: a day of seconds need not keep it twice.
            series.columns.pop(size, None)
    _totals(series)
    _waits(series)
    _queue(name, series, capture)
    _utilisation(name, series, capture)


def _bytes(
    name: str,
    series: Series,
    capture: Capture,
    which: tuple[Quantity, Quantity, Quantity],
    letter: str,
) -> None:
    rate, _, amount = which
    rates, sizes, amounts = (series.column(each) for each in which)
    if rates is not None and sizes is not None:
        product = rates * sizes
        product[rates == 0] = 0.0
        if amounts is None:
            series.columns[amount] = product
            series.step[amount] = 0.0
            return
        ratio = _ratio(amounts, product)
        if ratio is not None and not 1 / _CONFLICT_RATIO < ratio < _CONFLICT_RATIO:
            series.columns[amount] = product
            capture.note(
                "rate-times-size",
                name,
                f"{letter}MB/s or {letter}kB/s is {ratio:.4g} times {letter}/s x {letter}areq-sz:"
                f" {letter}/s x {letter}areq-sz is used",
            )
            return
        series.columns[amount] = _finer(series, which, product, amounts)
    elif rates is None and sizes is not None and amounts is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            series.columns[rate] = np.where(sizes > 0, amounts / sizes, 0.0)


def _ratio(first: Array, second: Array) -> float | None:
    both = ~np.isnan(first) & ~np.isnan(second)
    total = float(second[both].sum())
    return float(first[both].sum()) / total if total > 0 and first[both].sum() > 0 else None


def _finer(
    series: Series, which: tuple[Quantity, Quantity, Quantity], product: Array, amounts: Array
) -> Array:
    """Of bytes/s as printed and rate x size, in each sample the one that was rounded less."""
    rate, size, amount = (series.step.get(each) for each in which)
    found = np.where(np.isnan(amounts), product, amounts)
    if rate is None or size is None or not amount:
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        of_amount = amount / amounts
        of_product = rate / series.columns[which[0]] + size / series.columns[which[1]]
        better = ~np.isnan(product) & (product > 0) & (of_product < of_amount)
    return np.where(better, product, found)


def _totals(series: Series) -> None:
    for whole, parts in (
        (Q.IOS, (Q.READS, Q.WRITES)),
        (Q.BYTES, (Q.READ_BYTES, Q.WRITE_BYTES)),
    ):
        first, second = (series.column(part) for part in parts)
        total = series.column(whole)
        if first is not None and second is not None:
            both = first + second
            series.columns[whole] = both if total is None else np.where(np.isnan(both), total, both)
        elif total is not None and (first is None) != (second is None):
            known, missing = (first, parts[1]) if second is None else (second, parts[0])
            if known is not None:
                series.columns[missing] = np.maximum(total - known, 0.0)


def _waits(series: Series) -> None:
    """The wait of reads and writes together."""
    reads, writes = series.column(Q.READS), series.column(Q.WRITES)
    of_reads, of_writes = series.column(Q.R_AWAIT), series.column(Q.W_AWAIT)
    ios = series.column(Q.IOS)
    if reads is None or writes is None or (of_reads is None and of_writes is None) or ios is None:
        return
    if of_reads is None and not (reads > 0).any():
        of_reads = np.zeros_like(ios)
    if of_writes is None and not (writes > 0).any():
        of_writes = np.zeros_like(ios)
    if of_reads is None or of_writes is None:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        both = (_product(reads, of_reads) + _product(writes, of_writes)) / ios
    wait = series.column(Q.AWAIT)
    series.columns[Q.AWAIT] = both if wait is None else np.where(np.isnan(both), wait, both)


def _product(rate: Array, each: Array) -> Array:
    """Rate times what a request has; nothing where there are no requests."""
    return np.where(rate > 0, rate * each, 0.0)


def expected_queue(series: Series) -> Array | None:
    """The mean queue of each sample by Little's law."""
    found: Array | None = None
    for rate, latency in _PAIRS:
        rates, waits = series.column(rate), series.column(latency)
        if rates is None or waits is None:
            if rate in (Q.READS, Q.WRITES) and not (
                rates is not None and not (np.nan_to_num(rates) > 0).any()
            ):
                found = None
                break
            continue
        part = _product(rates, waits) / 1000
        found = part if found is None else found + part
    if found is None:
        ios, wait = series.column(Q.IOS), series.column(Q.AWAIT)
        if ios is None or wait is None:
            return None
        found = _product(ios, wait) / 1000
    return found


def _queue(name: str, series: Series, capture: Capture) -> None:
    expected = expected_queue(series)
    printed = series.column(Q.QUEUE)
    if expected is None:
        ios = series.column(Q.IOS)
        waits = (series.column(each) for each in (Q.AWAIT, Q.R_AWAIT, Q.W_AWAIT))
        if printed is not None and ios is not None and all(each is None for each in waits):
            with np.errstate(divide="ignore", invalid="ignore"):
                series.columns[Q.AWAIT] = np.where(ios > 0, 1000 * printed / ios, np.nan)
            capture.note("await", name, "await is queue / rate (Little's law)")
        return
    if printed is None:
        series.columns[Q.QUEUE] = expected
        return
    missing = np.isnan(printed) & ~np.isnan(expected)
    series.columns[Q.QUEUE] = np.where(missing, expected, printed)
    both = ~np.isnan(printed) & ~np.isnan(expected)
    first, second = float(printed[both].sum()), float(expected[both].sum())
    count = max(1, int(both.sum()))
    slack = _LITTLE_SHARE * max(first, second) + count * _rounding(series)
    if abs(first - second) > slack:
        capture.note(
            "little",
            name,
            f"the mean queue is {first / count:.3g}, rate x latency {second / count:.3g}:"
            " by Little's law they should agree",
        )


def _rounding(series: Series) -> float:
    """By how much rounding alone can part both sides of Little's law."""
    found = series.step.get(Q.QUEUE, 0.0)
    for rate, latency in (*_PAIRS, (Q.IOS, Q.AWAIT)):
        rates = series.column(rate)
        if rates is not None and series.column(latency) is not None:
            found += series.step.get(latency, 0.0) * float(np.nanmean(rates)) / 1000
    return found


def _utilisation(name: str, series: Series, capture: Capture) -> None:
    busy = series.column(Q.UTIL)
    if busy is None:
        return
    most = float(np.nanmax(busy))
    if most > 101.0:
        capture.note(
            "util",
            name,
            f"%util {most:.2f} is over 100: the kernel's count is wrong there; it is not used",
        )
        del series.columns[Q.UTIL]
