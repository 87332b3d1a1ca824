"""Times as tools print them, in any order of day, month and year, in 12 or 24 hours.

A time is seconds since 1970 by the file's own clock, beside the clock's distance from UTC if the
text holds it.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum

DAY = 86_400.0

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ]\s*(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*"
    r"(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?"
)
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?![\d:])")
_CLOCK_CJK = re.compile(
    r"(\d{1,2})\s*[時时시点點]\s*(\d{1,2})\s*[分분]\s*(?:(\d{1,2})\s*[秒초])?()"
)
_CLOCK_POINTS = re.compile(r"(?<![\d.])(\d\d)\.(\d\d)\.(\d\d)()(?![\d.])")
_NUMERIC = re.compile(
    r"(?<!\d)(\d{1,4})\s*[./\-年년]\s*(\d{1,2})\s*[./\-月월]\s*(\d{4}|\d{2}|\d{1})(?!\d)"
)
_AM = ("am", "a.m", "午前", "上午", "오전", "π.μ", "πμ", "дп", "dop", "de.")
_PM = ("pm", "p.m", "午後", "下午", "오후", "μ.μ", "μμ", "пп", "odp", "du.")
_MONTHS = (
    ("jan", "ene", "gen", "янв", "sty", "led", "oca", "tam"),
    ("feb", "fév", "fev", "фев", "lut", "úno", "şub", "hel", "févr"),
    ("mar", "mär", "mrz", "mrt", "мар", "bře", "maa"),
    ("apr", "avr", "abr", "апр", "kwi", "dub", "nis", "huh"),
    ("may", "mai", "maj", "mag", "mei", "май", "мая", "kvě", "mayı", "tou"),
    ("jun", "giu", "июн", "cze", "čer", "haz", "kes", "juin"),
    ("jul", "lug", "июл", "lip", "tem", "hei", "juil"),
    ("aug", "aoû", "ago", "авг", "sie", "srp", "ağu", "elo"),
    ("sep", "set", "сен", "wrz", "zář", "eyl", "syy"),
    ("oct", "okt", "ott", "out", "окт", "paź", "říj", "eki", "lok"),
    ("nov", "ноя", "lis", "kas", "mar"),
    ("dec", "dez", "déc", "dic", "дек", "gru", "pro", "ara", "jou", "des"),
)
_ZONES = {"utc": 0, "gmt": 0, "z": 0, "cet": 60, "cest": 120, "bst": 60, "est": -300, "edt": -240,
          "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "jst": 540,
          "msk": 180}  # fmt: skip


class Order(Enum):
    """Of the parts of a date that is written in numbers."""

    MONTH_FIRST = "month first"
    DAY_FIRST = "day first"


@dataclass(frozen=True)
class Stamp:
    """A time of the file's clock."""

    seconds: float
    """Since 1970; of a text without a date, since midnight."""
    zone: str | None = None
    dated: bool = True


def parse(text: str, order: Order = Order.MONTH_FIRST) -> Stamp | None:
    """The time that a text is; None if it is none.

    Args:
        text: `2024-03-14T10:00:00+0100`, `03/14/2024 11:59:30 AM`, `18.01.2024 10:00:00`,
            `Thu Mar 14 10:00:00 UTC 2024`, `14-MAR-2024 23:59:20`, `10:00:01`.
        order: Of numbers with a slash or a dash between them.
    """
    text = text.strip().strip('"')
    found = _ISO.fullmatch(text)
    if found:
        return _iso(found)
    time = _time_of_day(text)
    if time is None:
        return None
    seconds, rest = time
    date = _date_of(rest, order)
    zone = _zone_of(rest)
    if date is None:
        words = re.sub(r"(?i)time|uhr|klo|h|kl", "", rest)
        return Stamp(seconds, zone, dated=False) if len(re.sub(r"\W", "", words)) <= 6 else None
    return Stamp(date + seconds, zone)


_PAST_HOUR = re.compile(r":(\d\d):(\d\d)(?![\d:])")


@dataclass
class Parsed:
    """Times of one form, one after the other: each hour is read once, and the rest is added."""

    order: Order = Order.MONTH_FIRST
    hours: dict[tuple[str, str], Stamp | None] = field(default_factory=dict)

    def at(self, text: str) -> Stamp | None:
        """As `parse`."""
        found = _PAST_HOUR.search(text)
        if found is None:
            return parse(text, self.order)
        past = 60 * int(found[1]) + int(found[2])
        if past > 3599:
            return parse(text, self.order)
        key = text[: found.start()], text[found.end() :]
        if key not in self.hours:
            stamp = parse(text, self.order)
            self.hours[key] = (
                None if stamp is None else Stamp(stamp.seconds - past, stamp.zone, stamp.dated)
            )
        hour = self.hours[key]
        return None if hour is None else Stamp(hour.seconds + past, hour.zone, hour.dated)


def _iso(found: re.Match[str]) -> Stamp | None:
    year, month, day, hour, minute, second, part, zone = found.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return None
    seconds = calendar.timegm(moment.timetuple()) + (float(f"0.{part}") if part else 0.0)
    return Stamp(seconds, _zone_text(zone))


def _zone_text(zone: str | None) -> str | None:
    if zone is None:
        return None
    if zone in ("Z", "UTC", "GMT"):
        return "Z"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"


def _time_of_day(text: str) -> tuple[float, str] | None:
    found = _CLOCK.search(text) or _CLOCK_CJK.search(text)
    if found is None:
        found = _CLOCK_POINTS.search(text)
        if found is None:
            return None
    hour, minute, second = (int(part or 0) for part in found.groups()[:3])
    if hour > 24 or minute > 59 or second > 60:
        return None
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    low = rest.lower()
    for marks, afternoon in ((_PM, True), (_AM, False)):
        mark = next((m for m in marks if re.search(rf"(?<!\w){re.escape(m)}(?!\w)", low)), None)
        if mark is None:
            mark = next((m for m in marks if not m.isascii() and m in low), None)
        if mark is not None and hour <= 12:
            hour = hour % 12 + (12 if afternoon else 0)
            at = low.index(mark)
            rest = rest[:at] + rest[at + len(mark) :].lstrip(".")
            break
    part = found[4]
    return 3600 * hour + 60 * minute + second + (float(f"0.{part}") if part else 0.0), rest


def _date_of(text: str, order: Order) -> float | None:
    found = _NUMERIC.search(text)
    if found:
        first, second, third = found.groups()
        if len(first) == 4:
            return _date(int(first), int(second), int(third))
        year = int(third) + (2000 if len(third) <= 2 else 0)
        a, b = int(first), int(second)
        day_first = "." in found[0] or order is Order.DAY_FIRST
        if a > 12:
            day_first = True
        elif b > 12:
            day_first = False
        return _date(year, b, a) if day_first else _date(year, a, b)
    for word in re.findall(r"[^\W\d_]{3,}", text):
        month = month_of(word)
        if month is not None:
            numbers = [int(each) for each in re.findall(r"(?<!\d)\d+(?!\d)", text)]
            years = [each for each in numbers if each > 1900]
            days = [each for each in numbers if 1 <= each <= 31]
            if not years and len(numbers) > 1 and "-" in text:
                years, days = [2000 + numbers[-1]], numbers[:-1]
            if days:
                return _date(years[0] if years else 1970, month, days[0])
    return None


def month_of(word: str) -> int | None:
    """The month that a word begins like, in the languages of the table."""
    low = word.lower()
    for at, names in enumerate(_MONTHS, 1):
        if any(low.startswith(name) for name in names):
            return at
    return None


def _date(year: int, month: int, day: int) -> float | None:
    try:
        return float(calendar.timegm(datetime(year, month, day).timetuple()))
    except ValueError:
        return None


def _zone_of(text: str) -> str | None:
    found = re.search(r"(?<![\w-])([+-]\d\d:?\d\d)(?!\d)", text)
    if found:
        return _zone_text(found[1])
    for word in re.findall(r"[A-Za-z]{1,4}", text):
        minutes = _ZONES.get(word.lower()) if word.isupper() else None
        if minutes is not None:
            return zone_of_minutes(minutes)
    return None


def zone_of_minutes(minutes: int) -> str:
    """`Z`, `+01:00`: the clock's distance from UTC."""
    if minutes == 0:
        return "Z"
    sign = "+" if minutes > 0 else "-"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def order_of(texts: Iterable[str]) -> tuple[Order, bool]:
    """The order of day and month in dates of one file, and whether the file shows it.

    A part above 12 is a day. Of two dates in a row, the part that changes first is the day.
    """
    firsts: list[int] = []
    seconds: list[int] = []
    twelve = False
    for text in texts:
        found = _NUMERIC.search(text)
        if found is None or len(found[1]) == 4 or "." in found[0]:
            continue
        firsts.append(int(found[1]))
        seconds.append(int(found[2]))
        twelve |= bool(re.search(r"(?i)\b[ap]m\b", text))
    if any(each > 12 for each in firsts):
        return Order.DAY_FIRST, True
    if any(each > 12 for each in seconds) or not firsts:
        return Order.MONTH_FIRST, True
    if len(set(firsts)) != len(set(seconds)):
        more = len(set(firsts)) > len(set(seconds))
        return (Order.DAY_FIRST if more else Order.MONTH_FIRST), True
    return Order.MONTH_FIRST, twelve


def written(seconds: float | None, zone: str | None) -> str | None:
    """A time as ISO 8601, whole seconds."""
    if seconds is None or math.isnan(seconds):
        return None
    moment = datetime.fromtimestamp(math.floor(seconds + 1e-6), UTC).replace(tzinfo=None)
    return moment.isoformat() + (zone or "")


def epoch(text: str) -> float | None:
    """Seconds since 1970 of a number of seconds, milli-, micro- or nanoseconds since then."""
    if not re.fullmatch(r"\d{9,19}(\.\d+)?", text.strip()):
        return None
    value = float(text)
    for scale in (1.0, 1e3, 1e6, 1e9):
        if 1e8 <= value / scale < 1e10:
            return value / scale
    return None


@dataclass
class Midnight:
    """Dates for times of day that come in order: a large step back is the next day."""

    date: float = 0.0
    last: float = -1.0

    def at(self, of_day: float) -> float:
        """The time, on the first day that is not before the last time."""
        if of_day < self.last - DAY / 2:
            self.date += DAY
        self.last = of_day
        return self.date + of_day


def duration_iso(text: str) -> float | None:
    """Seconds of an ISO 8601 duration such as `PT1M`, `PT5M`, `P1D`."""
    found = re.fullmatch(
        r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", text.strip()
    )
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 86_400 * days + 3600 * hours + 60 * minutes + seconds
