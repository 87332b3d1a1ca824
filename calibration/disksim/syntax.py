"""The syntax of DiskSim 4 parameter files: blocks, keys of several words, lists, inclusion.

A block is `type name { key = value, ... }`; a value is a number, a word, a list or a block;
`source file` stands for the content of another file. Comments run from `#` to the end of the
line. See docs/reference/formats/disksim.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import MIB, read_text

_MARKS = "{}[]=,"
_TO = ".."
_RANGE = "a range of names that differ in the number at their end, such as disk0 .. disk3"
_MOST_NAMES = 10_000
_DIGITS = 8
_DEEPEST_LEVEL = 8
_LARGEST_FILE = 4 * MIB


@dataclass(frozen=True)
class Word:
    """A word of a file and where it stands."""

    text: str
    file: Path
    line: int


Value = Union["Block", Word, list["Value"]]


@dataclass
class Block:
    """`type name { key = value, ... }`."""

    type: str
    name: str
    at: Word
    entries: dict[str, Value] = field(default_factory=dict)
    """By key, words joined by single blanks, in small letters."""


@dataclass
class Parameters:
    """What a file and all that it includes hold."""

    blocks: list[Block]
    instances: dict[str, str]
    """`instantiate [ disk0 ] as NAME`: block name by instance, both in small letters."""
    topology: list[str]
    """Words of the topology, in order."""


def fault(at: Word, key: str, value: str | None, allowed: str) -> SpecError:
    """A fault of a parameter file as an error, with file and line."""
    where = f"line {at.line}" + (f": {key}" if key else "")
    return SpecError([Fault(where, value, allowed, (), str(at.file))])


def read_parameters(path: Path) -> Parameters:
    """Reads a file and all that it includes.

    Raises:
        SpecError: A file is missing or is not of this form; says where.
    """
    words = list(_words(path, 0, None))
    return _Reader(words, path).file()


def _words(path: Path, depth: int, asked: Word | None) -> Iterator[Word]:
    """The words of a file, with those of included files in place."""
    words = iter(_split(path, asked))
    for word in words:
        if word.text != "source":
            yield word
            continue
        name = next(words, None)
        if name is None or name.text in _MARKS:
            raise fault(word, "source", None, "the name of a file to include")
        if depth == _DEEPEST_LEVEL:
            raise fault(word, "source", name.text, "files that do not include each other in turn")
        yield from _words(word.file.parent / name.text, depth + 1, name)


def _split(path: Path, asked: Word | None) -> Iterator[Word]:
    try:
        text = read_text(path, _LARGEST_FILE, "parameters")
    except SpecError as error:
        if asked is not None:
            raise fault(asked, "", asked.text, error.faults[0].allowed) from None
        raise
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0]
        for mark in _MARKS:
            content = content.replace(mark, f" {mark} ")
        for word in content.split():
            yield Word(word, path, number)


class _Reader:
    def __init__(self, words: list[Word], path: Path) -> None:
        self._words = words
        self._at = 0
        self._depth = 0
        self._end = Word("the end of the file", path, words[-1].line if words else 1)

    def _peek(self) -> Word:
        return self._words[self._at] if self._at < len(self._words) else self._end

    def _next(self) -> Word:
        word = self._peek()
        self._at += 1
        return word

    def _expect(self, text: str) -> None:
        word = self._next()
        if word is self._end or word.text != text:
            raise fault(word, "", word.text, f'"{text}" here')

    def file(self) -> Parameters:
        found = Parameters([], {}, [])
        while self._at < len(self._words):
            word = self._next()
            if word.text == "instantiate":
                self._instantiate(found)
            elif word.text == "topology":
                self._topology(found)
            elif word.text != ",":
                found.blocks.append(self._block(word))
        return found

    def _instantiate(self, found: Parameters) -> None:
        self._expect("[")
        names = []
        while (word := self._next()).text != "]":
            if word is self._end:
                raise fault(word, "instantiate", None, '"]" after the names')
            if word.text != ",":
                names.append(word)
        self._expect("as")
        block = self._next()
        for name in _expanded(names, "instantiate"):
            found.instances[name.lower()] = block.text.lower()

    def _topology(self, found: Parameters) -> None:
        depth = 0
        names: list[Word] = []
        while True:
            word = self._next()
            if word is self._end:
                raise fault(word, "topology", None, '"]" for every "["')
            if word.text == "[":
                depth += 1
            elif word.text == "]":
                depth -= 1
                if depth == 0:
                    break
            else:
                names.append(word)
        found.topology += [name.lower() for name in _expanded(names, "topology")]

    def _block(self, kind: Word) -> Block:
        """A block whose type has been read."""
        if kind is self._end or kind.text in _MARKS:
            raise fault(kind, "", kind.text, "the type of a block")
        name = ""
        if self._peek().text != "{":
            name = self._next().text
        self._expect("{")
        block = Block(kind.text, name, kind)
        while True:
            word = self._next()
            if word is self._end:
                raise fault(word, f"{kind.text} {name}".strip(), None, '"}" at its end')
            if word.text == "}":
                return block
            if word.text == ",":
                continue
            key = [word.text]
            while (following := self._next()).text != "=":
                if following is self._end or following.text in _MARKS:
                    raise fault(following, " ".join(key), following.text, '"=" after a key')
                key.append(following.text)
            block.entries[" ".join(key).lower()] = self._value()

    def _value(self) -> Value:
        if self._depth == _DEEPEST_LEVEL:
            raise fault(
                self._peek(), "", None, f"lists and blocks of {_DEEPEST_LEVEL} levels at most"
            )
        self._depth += 1
        value = self._any_value()
        self._depth -= 1
        return value

    def _any_value(self) -> Value:
        word = self._next()
        if word.text == "[":
            return self._list()
        if word is self._end or word.text in _MARKS:
            raise fault(word, "", word.text, "a value")
        following = self._peek().text
        if following == "{":
            return self._block(word)
        if following not in _MARKS and following != _TO:
            # `type name {`: a block that has a name although it is a value.
            return self._block(word)
        return word

    def _list(self) -> list[Value]:
        values: list[Value] = []
        while True:
            word = self._peek()
            if word is self._end:
                raise fault(word, "", None, '"]" at the end of a list')
            if word.text == "]":
                self._next()
                return values
            if word.text == ",":
                self._next()
            elif word.text == _TO and values and isinstance(values[-1], Word):
                self._next()
                first, last = values.pop(), self._value()
                if not (isinstance(first, Word) and isinstance(last, Word)):
                    raise fault(word, "", word.text, _RANGE)
                names = _range(first, last, "")
                values += [Word(name, first.file, first.line) for name in names]
            else:
                values.append(self._value())


def _expanded(words: list[Word], key: str) -> list[str]:
    """The names of a list in which `disk0 .. disk3` stands for all four."""
    names: list[str] = []
    at = 0
    while at < len(words):
        if at + 2 < len(words) and words[at + 1].text == _TO:
            names += _range(words[at], words[at + 2], key)
            at += 3
        else:
            names.append(words[at].text)
            at += 1
    return names


def _range(first: Word, last: Word, key: str) -> list[str]:
    """All names from one to another that ends in a larger number."""
    stem, from_ = _numbered(first.text)
    other, to = _numbered(last.text)
    if from_ is None or to is None or stem.lower() != other.lower() or not from_ <= to:
        raise fault(first, key, f"{first.text} {_TO} {last.text}", _RANGE)
    if to - from_ >= _MOST_NAMES:
        raise fault(first, key, f"{first.text} {_TO} {last.text}", f"at most {_MOST_NAMES} names")
    return [f"{stem}{number}" for number in range(from_, to + 1)]


def _numbered(name: str) -> tuple[str, int | None]:
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    return stem, int(digits) if 0 < len(digits) < _DIGITS else None
