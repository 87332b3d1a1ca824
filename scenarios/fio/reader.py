"""The options of one job: found by name, read by kind, faults with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from raidlab.devices.faults import Fault, Faults
from raidlab.scenarios.fio import engines, options, values
from raidlab.scenarios.fio.jobfile import ALIASES, Section

T = TypeVar("T")
Word = TypeVar("Word", bound=str)


@dataclass
class Findings(Faults):
    """What is found in all jobs of a file: faults, and what a reader should know."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Values of `${NAME}` besides those of the environment."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """The jobs that a note is about, by its text."""

    def once(self, fault: Fault) -> None:
        """Notes a fault that clones of a job have alike."""
        if fault not in self.found:
            self.found.append(fault)

    def note(self, job: str, text: str) -> None:
        """Something that a reader should know of a job."""
        names = self.notes.setdefault(text, [])
        if job not in names:
            names.append(job)

    def lines(self) -> tuple[str, ...]:
        """The notes, a line each."""
        return tuple(
            f"{', '.join(f'[{name}]' for name in names)}: {text}"
            for text, names in self.notes.items()
        )


class Reader:
    """The options of a job, those of `[global]` included."""

    def __init__(self, name: str, inherited: Section, own: Section, findings: Findings) -> None:
        self.name = name
        self.findings = findings
        self._found: dict[str, tuple[str | None, str]] = {}
        for section in (inherited, own):
            for (key, value), where in zip(
                section.options, section.places(findings.file), strict=True
            ):
                self._found[ALIASES.get(key, key)] = value, where

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def fault(self, key: str, allowed: str, choices: Iterable[str] = ()) -> None:
        """An option that cannot be as it is."""
        value, where = self._found.get(key, (None, self.findings.file))
        fault = Fault(f"[{self.name}] {key}", value, allowed, tuple(choices), where)
        self.findings.once(fault)

    def is_at_fault(self, *keys: str) -> bool:
        """True if one of these options has a fault."""
        own = {f"[{self.name}] {key}" for key in keys}
        return any(fault.key in own for fault in self.findings.found)

    def read(self, key: str, reader: Callable[[str], T], default: T) -> T:
        """The value of an option; its default where it is not there or at fault."""
        if key not in self._found:
            return default
        text = self._found[key][0]
        try:
            return reader(values.expand("1" if text is None else text, self.findings.variables))
        except values.OptionValueError as fault:
            self.fault(key, str(fault))
            return default

    def text(self, key: str, default: str = "") -> str:
        """An option as it is written there."""
        return self.read(key, str, default).strip()

    def flag(self, key: str, *, default: bool = False) -> bool:
        """A switch."""
        return self.read(key, values.flag, default)

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number."""
        return self.read(key, lambda text: values.whole(text, least), default)

    def bytes(self, key: str, default: int = 0) -> int:
        """A size."""
        return self.read(key, lambda text: values.size(text, self.kb_base), default)

    def bytes_or_share(self, key: str) -> int | values.Share:
        """A size, or a percentage; 0 where it is not there."""
        nothing: int | values.Share = 0
        return self.read(key, lambda text: values.size_or_share(text, self.kb_base), nothing)

    @property
    def kb_base(self) -> int:
        """What `k` is a power of."""
        return int(self.choice("kb_base", "1024", ("1024", "1000")))

    def time(self, key: str) -> int:
        """A time in nanoseconds, 0 where it is not there; a note says what a fraction is."""
        return self.read(key, lambda text: self._nanoseconds(key, text), 0)

    def times(self, key: str) -> tuple[int, int]:
        """Least and most of a time, which may be a range, in nanoseconds."""

        def span(text: str) -> tuple[int, int]:
            low, dash, high = text.partition("-")
            found = [self._nanoseconds(key, part) for part in (low, high if dash else low)]
            if found[0] > found[1]:
                raise values.OptionValueError("a time, or LOW-HIGH with LOW at most HIGH")
            return found[0], found[1]

        return self.read(key, span, (0, 0))

    def _nanoseconds(self, key: str, text: str) -> int:
        unit = values.TIMES[key]
        if (taken := values.cut(text, unit)) is not None:
            self.findings.note(self.name, f"{key}: {taken}")
        return values.duration(text, unit)

    def choice(self, key: str, default: Word, choices: Iterable[Word]) -> Word:
        """One of some words."""
        found = self.text(key, default)
        allowed = {str(choice): choice for choice in choices}
        if found not in allowed:
            self.fault(key, f"one of {', '.join(allowed)}", allowed)
        return allowed.get(found, default)

    def check_engine(self) -> None:
        """An engine that is not simulated."""
        engine = self.text("ioengine", "psync")
        if engines.name_of(engine) not in engines.SIMULATED_AS:
            why = engines.REFUSED.get(engines.name_of(engine), "is no engine that is simulated")
            self.fault("ioengine", f"{engines.simulated()}; {engine} {why}")

    def check_names(self) -> None:
        """Options that are unknown, refused, or without effect."""
        engine = engines.name_of(self.text("ioengine", "psync"))
        says = "direct" in self or "buffered" in self
        if engine in engines.SIMULATED_AS and engine not in engines.PAST_PAGE_CACHE and not says:
            self.findings.note(
                self.name, "I/O is direct: fio itself uses the page cache without direct=1"
            )
        for key, (value, _) in self._found.items():
            if key in options.EFFECTIVE:
                continue
            if key in options.WITHOUT_EFFECT:
                if value is not None and key in options.BOUNDS:
                    low, high = options.BOUNDS[key]
                    self.read(key, partial(values.between, low=low, high=high), low)
                if value is not None and key in options.OF_THIS_MACHINE:
                    self.read(key, options.OF_THIS_MACHINE[key], None)
                if not _is_default(key, value):
                    self.findings.note(
                        self.name, f"{key} has no effect: {options.WITHOUT_EFFECT[key]}"
                    )
            elif key in options.REFUSED:
                if (value or "1").strip() in options.OFF:
                    continue
                self.fault(key, options.REFUSED[key])
            elif engine not in engines.REFUSED:
                where = self._found[key][1]
                known = tuple(sorted(options.KNOWN))
                fault = Fault(f"[{self.name}]", key, "an option of fio", known, where)
                self.findings.found.append(fault)


_DEFAULTS = {"direct": "1", "buffered": "0", "invalidate": "1", "thread": "1", "gtod_reduce": "0"}


def _is_default(key: str, value: str | None) -> bool:
    """True if an option without effect asks for what is there anyway."""
    return (value or "1").strip() == _DEFAULTS.get(key)
