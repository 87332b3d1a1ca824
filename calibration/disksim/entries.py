"""Typed access to the blocks of DiskSim's parameter files, and what is wrong with them."""

from __future__ import annotations

from raidlab.calibration.disksim.syntax import Block, Value, Word, fault

_LARGEST_VALUE = 1e15


Range = tuple[float, float]
"""The least and the largest number that a key may have."""


class Entries:
    """Typed access to a block's entries, with faults that name file, line, key and value."""

    def __init__(self, block: Block) -> None:
        """Of a block as it was read."""
        self.block = block

    def _at(self, value: Value | None) -> Word:
        if isinstance(value, Word):
            return value
        if isinstance(value, Block):
            return value.at
        return self.block.at

    def has(self, key: str) -> bool:
        """True if the block says it."""
        return key.lower() in self.block.entries

    def get(self, key: str) -> Value:
        """The value; a fault if there is none."""
        value = self.block.entries.get(key.lower())
        if value is None:
            name = f"{self.block.type} {self.block.name}".strip()
            raise fault(self.block.at, name, None, f'misses the key "{key}"')
        return value

    def word(self, key: str) -> Word:
        """A value that is one word."""
        value = self.get(key)
        if not isinstance(value, Word):
            raise fault(self._at(value), key, None, "a single value")
        return value

    def number(
        self,
        key: str,
        default: float | None = None,
        within: Range = (-_LARGEST_VALUE, _LARGEST_VALUE),
    ) -> float:
        """A number."""
        if default is not None and not self.has(key):
            return default
        word = self.word(key)
        number = number_of(word, key)
        if not within[0] <= number <= within[1]:
            raise fault(word, key, word.text, f"{within[0]:.15g} to {within[1]:.15g}")
        return number

    def whole(
        self,
        key: str,
        default: int | None = None,
        within: Range = (-_LARGEST_VALUE, _LARGEST_VALUE),
    ) -> int:
        """A whole number."""
        number = self.number(key, default, within)
        if number != int(number):
            raise fault(self.word(key), key, self.word(key).text, "a whole number")
        return int(number)

    def items(self, key: str) -> list[Value]:
        """A list; empty if the block does not say it."""
        if not self.has(key):
            return []
        value = self.get(key)
        if not isinstance(value, list):
            raise fault(self._at(value), key, None, "a list: [ ... ]")
        return value

    def numbers(self, key: str) -> list[float]:
        """A list of numbers."""
        return [
            number_of(item, key) if isinstance(item, Word) else self._no_number(item, key)
            for item in self.items(key)
        ]

    def _no_number(self, item: Value, key: str) -> float:
        raise fault(self._at(item), key, None, "a list of numbers")

    def child(self, key: str, kind: str) -> Entries:
        """A block of a kind."""
        value = self.get(key)
        if not isinstance(value, Block) or value.type != kind:
            found = value.type if isinstance(value, Block) else self._at(value).text
            raise fault(self._at(value), key, found, f"a block of type {kind}: no other is known")
        return Entries(value)


def number_of(word: Word, key: str) -> float:
    """The number that a word is."""
    try:
        number = float(word.text)
    except ValueError:
        raise fault(word, key, word.text, "a number") from None
    if not abs(number) <= _LARGEST_VALUE:
        raise fault(word, key, word.text, "a number of at most 1e15")
    return number


def one_of(entries: Entries, key: str, known: dict[int, str], default: int | None = None) -> str:
    """What a number stands for."""
    number = entries.whole(key, default)
    if number not in known:
        allowed = ", ".join(f"{value} ({name})" for value, name in known.items())
        raise fault(entries.word(key), key, str(number), f"not supported; what is: {allowed}")
    return known[number]


def milliseconds(time: float) -> str:
    """A time as device files hold it."""
    return f"{time:.6f}".rstrip("0").rstrip(".") + " ms"
