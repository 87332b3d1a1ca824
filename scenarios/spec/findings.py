"""What a run says besides its figures, in types: warnings, events, and limits of its rates.

Texts are made of these, never the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict


class Code(StrEnum):
    """What a warning is about; docs/how-to/warnings.md has an entry for each."""

    NO_EFFECT = "no-effect"
    BITMAP_NOT_STATED = "bitmap-not-stated"
    FREE_PARITY = "free-parity"
    FITTED_ELSEWHERE = "fitted-elsewhere"
    PARTIAL_SECTORS = "partial-sectors"
    STRADDLED_UNITS = "straddled-units"
    WRITE_THROUGH = "write-through"
    DATA_AT_RISK = "data-at-risk"
    NO_REBUILD = "no-rebuild"
    REBUILDS_FOLLOW = "rebuilds-follow"
    TRACE_NOTE = "trace-note"
    FIO_NOTE = "fio-note"
    CACHE_FILLING = "cache-filling"
    UNWRITTEN_FLASH = "unwritten-flash"
    THROTTLED = "throttled"
    ASSUMED_RATE = "assumed-rate"
    OVERLOAD = "overload"
    UNSTEADY = "unsteady"
    SLOW_CHANGES = "slow-changes"
    BURSTY_TAIL = "bursty-tail"
    FEW_PERIODS = "few-periods"
    PRECISION = "precision"
    PARTIAL_STRIPE = "partial-stripe"
    BITMAP_WAITS = "bitmap-waits"
    LIMIT_UNUSED = "limit-unused"
    NOTHING_RECORDED = "nothing-recorded"
    JOB_FAILED = "job-failed"
    DATA_LOST = "data-lost"
    FEW_IOS = "few-ios"
    MONITORING_NOTE = "monitoring-note"
    EVENT_AFTER_END = "event-after-end"
    UNDETERMINED = "undetermined"
    SHEET_NOTE = "sheet-note"
    NOTE = "note"


@dataclass(frozen=True)
class Warning:
    """Something that a user should know of a run."""

    code: Code
    subject: str
    """The key, load, array, controller or device that it is about."""
    text: str

    def to_dict(self) -> dict[str, str]:
        """As in `warnings_typed`."""
        return {"code": str(self.code), "subject": self.subject, "text": self.text}

    def __str__(self) -> str:
        return self.text


TIMED = {
    "burst-credits": "burst credits are spent",
    "slc-cache-full": "the SLC cache is full",
    "media-cache-full": "the media cache is full",
    "temperature": "drives are slowed down by their temperature",
}
"""Kinds of limits that change in time, in words."""


class LimitData(TypedDict):
    """A limit as plain data."""

    kind: str
    component: str
    share: float
    from_s: float
    to_s: float


@dataclass(frozen=True)
class Limit:
    """What bounds a rate, and for which part of what was recorded."""

    kind: str
    """Of a component (`drive`, `host`, `link`), or of a limit that changes in time:
    `burst-credits`, `slc-cache-full`, `media-cache-full`, `temperature`."""
    component: str
    share: float
    """Of the time from `from_s` to `to_s` in which it was busy; 1 of what held all the while."""
    from_s: float
    """Seconds of simulated time, warm-up included."""
    to_s: float

    def to_dict(self) -> LimitData:
        """As in a row's `limits`."""
        return {
            "kind": self.kind,
            "component": self.component,
            "share": self.share,
            "from_s": self.from_s,
            "to_s": self.to_s,
        }


class EventData(TypedDict):
    """An event as plain data."""

    kind: str
    at_s: float
    subject: str
    to_s: float | None
    point: int
    replication: int


@dataclass(frozen=True)
class Event:
    """What happened in a run; with an end if it lasted."""

    kind: str
    at_s: float
    subject: str
    """A drive, array, load or controller; empty for the whole system."""
    to_s: float | None = None
    """When it ended, of what lasts."""
    point: int = 0
    replication: int = 0

    def to_dict(self) -> EventData:
        """As in `events_typed`."""
        return {
            "kind": self.kind,
            "at_s": self.at_s,
            "subject": self.subject,
            "to_s": self.to_s,
            "point": self.point,
            "replication": self.replication,
        }


class Coded(str):
    """The text of a warning that knows its code and subject: nobody reads them out of it."""

    __slots__ = ("code", "subject")

    code: Code
    subject: str

    def __new__(cls, text: str, code: Code, subject: str) -> Coded:
        """A text with its code and subject."""
        made = super().__new__(cls, text)
        made.code, made.subject = code, subject
        return made


def no_effect(key: str, said: str = "") -> Coded:
    """The warning of a setting that has no effect: its key, and on what or beside what."""
    return Coded(f"{key}: has no effect{said}", Code.NO_EFFECT, key)


def code_of(text: str) -> Code:
    """What a warning is about; `note` of a text that does not say."""
    return text.code if isinstance(text, Coded) else Code.NOTE


def about(warning: str, text: str) -> str:
    """Another text for a warning, with the code and subject that it had."""
    subject = warning.subject if isinstance(warning, Coded) else ""
    return Coded(text, code_of(warning), subject)


def typed_warnings(found: Iterable[str]) -> tuple[Warning, ...]:
    """Warnings with their codes."""
    return tuple(
        Warning(code_of(text), text.subject if isinstance(text, Coded) else "", str(text))
        for text in found
    )
