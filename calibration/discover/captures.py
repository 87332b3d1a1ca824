"""A captured output, and the parts of one that many readers need: JSON, tables, pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_BARE_SIZE = re.compile(r"(:\s*)(\d+(?:[.,]\d+)?[KMGTPE]?i?B)(?=\s*[,}\]\n])")
_LAST_COMMA = re.compile(r",(\s*[}\]])")
_RULE = re.compile(r"^\s*-{8,}(?:\s+-{2,})*\s*$")


@dataclass(frozen=True)
class Capture:
    """What a tool printed."""

    name: str
    """Of the file, relative to the folder that is read."""
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines, without ends."""
        return self.text.splitlines()

    @property
    def head(self) -> str:
        """Its begin, to recognise it by."""
        return self.text[:4096]


@dataclass(frozen=True)
class Documents:
    """JSON of a capture, which may hold several documents one after the other."""

    values: list[Any]
    repairs: list[str]
    """What was wrong and has been repaired."""


def documents(text: str) -> Documents | None:
    """The JSON documents of a capture; None if there is none.

    Repairs sizes without quotes (util-linux 2.38), a comma before a closing bracket and a cut end.
    """
    found, repairs = _all_of(text), []
    if found is None and _BARE_SIZE.search(text):
        text = _BARE_SIZE.sub(r'\1"\2"', text)
        repairs.append("sizes such as 0B stand without quotes, which is no JSON")
        found = _all_of(text)
    if found is None and _LAST_COMMA.search(text):
        text = _LAST_COMMA.sub(r"\1", text)
        repairs.append("a comma stands before a closing bracket, which is no JSON")
        found = _all_of(text)
    if found is None:
        found = _closed(text)
        repairs.append("the document is cut: what is complete was read")
    return None if not found else Documents(found, repairs)


def _all_of(text: str) -> list[Any] | None:
    """Every document of a text; None if one of them is no JSON."""
    decoder, found, at = json.JSONDecoder(), [], _start(text, 0)
    while at is not None:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            return None
        found.append(value)
        at = _start(text, end)
    return found


def _start(text: str, at: int) -> int | None:
    """Where the next document begins: a bracket first on its line."""
    match = re.compile(r"^[ \t]*([{\[])", re.MULTILINE).search(text, at)
    return None if match is None else match.start(1)


def _closed(text: str) -> list[Any] | None:
    """The document of a text that ends too early, with its brackets closed."""
    begin = _start(text, 0)
    if begin is None:
        return None
    closing: list[str] = []
    ends: list[tuple[int, str]] = []
    quoted = escaped = False
    for at in range(begin, len(text)):
        char = text[at]
        if escaped or char == "\\":
            escaped = not escaped and quoted
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "{[":
            closing.append("}" if char == "{" else "]")
        elif not quoted and char in "}]" and closing:
            closing.pop()
            ends.append((at + 1, "".join(reversed(closing))))
        elif not quoted and char == ",":
            ends.append((at, "".join(reversed(closing))))
    for end, rest in reversed(ends[-200:]):
        try:
            return [json.loads(text[begin:end] + rest)]
        except ValueError:
            continue
    return None


def pair(line: str, sign: str = ":") -> tuple[str, str] | None:
    """Key and value of a line such as `Key : value`; None if it is no pair.

    A colon inside a key, as in `PCI Address (Domain:Bus:Device.Function)`, is no separator.
    """
    pattern = (
        r"\s*([^\s=:].*?)\s*" + (r":(?:\s+|$)" if sign == ":" else re.escape(sign)) + r"\s*(.*)"
    )
    match = re.match(pattern, line)
    if match is None and sign == ":":
        match = re.match(r"\s*([A-Za-z][^:=]*?)\s*:(.*)", line)
    return None if match is None else (match[1].strip(), match[2].strip())


def indent(line: str) -> int:
    """Blanks before a line's text, a tab as eight."""
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip(" "))


class Pairs(dict[str, str]):
    """Keys and values, looked up without regard to case, blanks and punctuation."""

    def put(self, key: str, value: str) -> None:
        """Adds a pair; the first of equal keys stays."""
        self.setdefault(plain_key(key), value)

    def find(self, *keys: str) -> str | None:
        """The value of the first key that stands there and says something."""
        for key in keys:
            value = self.get(plain_key(key))
            if value is not None and value.strip() not in ("", "-"):
                return value.strip()
        return None

    def like(self, pattern: str) -> str | None:
        """The value of the first key that matches a pattern (of plain keys)."""
        return next((value for key, value in self.items() if re.search(pattern, key)), None)


def plain_key(key: str) -> str:
    """A key in lower case, letters and digits alone."""
    return re.sub(r"[^a-z0-9]+", "", key.lower())


def pairs_of(lines: Sequence[str], sign: str = ":") -> Pairs:
    """Every pair of some lines."""
    found = Pairs()
    for line in lines:
        each = pair(line, sign)
        if each is not None:
            found.put(*each)
    return found


def ruled_tables(lines: Sequence[str]) -> Iterator[list[dict[str, str]]]:
    """Tables between lines of dashes: a header, and rows below the next line of dashes."""
    rules = [at for at, line in enumerate(lines) if _RULE.match(line)]
    past = -1
    for first, second in pairwise(rules):
        if first < past or second != first + 2 or not lines[first + 1].strip():
            continue
        end = next((at for at in rules if at > second), len(lines))
        rows = [line for line in lines[second + 1 : end] if line.strip()]
        past = end + 1
        if rows:
            yield table(lines[first + 1], rows)


def table(header: str, rows: Sequence[str]) -> list[dict[str, str]]:
    """Rows of a table by the names of its header.

    A column reaches over every place in which no line has a blank gap; texts with single blanks
    and values that stick out to the left of their name stay whole.
    """
    spans = _columns(header, rows)
    found = []
    for row in rows:
        own = _at_words(row, spans)
        cells = [row[begin:end].strip() for begin, end in own]
        names = [header[begin:end].strip() for begin, end in spans]
        found.append(dict(zip(names, cells, strict=True)))
    return found


def _at_words(row: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The columns of one row: a word across a boundary goes where more of it lies."""
    cuts = [begin for begin, _ in spans]
    for place, cut in enumerate(cuts):
        if 0 < cut < len(row) and row[cut - 1] != " " and row[cut] != " ":
            begin = row.rfind(" ", 0, cut) + 1
            end = row.find(" ", cut)
            end = len(row) if end < 0 else end
            cuts[place] = end if cut - begin >= end - cut else begin
    return list(zip(cuts, [*cuts[1:], max(len(row), spans[-1][1])], strict=True))


def _columns(header: str, rows: Sequence[str]) -> list[tuple[int, int]]:
    """Where each column of a table begins and ends: cut where every line has a blank."""
    words = [(each.start(), each.end()) for each in re.finditer(r"\S+", header)]
    width = max(map(len, (header, *rows)))
    lines = [line.ljust(width) for line in (header, *rows)]
    blank = [all(line[at] == " " for line in lines) for at in range(width)]
    cuts = [0]
    for (_, end), (begin, _) in pairwise(words):
        free = [at for at in range(end, begin) if blank[at]]
        if free:
            cuts.append(free[-1] + 1)
        else:
            cuts.append(_least_bad(lines, end, begin))
    return list(zip(cuts, [*cuts[1:], width], strict=True))


def _least_bad(lines: Sequence[str], end: int, begin: int) -> int:
    """The place between two names of a header at which most lines have a blank."""
    places = range(end, begin)
    best = max(places, key=lambda at: sum(line[at] == " " for line in lines))
    return best + 1


def text_of(row: Mapping[str, object], *keys: str) -> str | None:
    """A row's value under the first of some keys that it has, without regard to case."""
    plain = {plain_key(key): value for key, value in row.items()}
    for key in keys:
        value = plain.get(plain_key(key))
        if value is not None and str(value).strip() not in ("", "-", "N/A", "NA"):
            return str(value).strip()
    return None
