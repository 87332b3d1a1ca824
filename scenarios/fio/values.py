"""Values of fio's options: sizes, times, lists, expressions, variables.

Source: fio's manual, "Parameter types"; what is unclear there was read off fio 3.33.
"""

from __future__ import annotations

import ast
import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SIZE = re.compile(r"(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*(?:([kmgtp])(ib|i|b)?|b)?", re.IGNORECASE)
_TIME = re.compile(r"(\d+)([.,]\d*)?\s*(us|usec|ms|msec|s|m|h|d)?", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_UNIT_NS = {
    "us": 1_000,
    "usec": 1_000,
    "ms": 1_000_000,
    "msec": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3600 * 1_000_000_000,
    "d": 86400 * 1_000_000_000,
}
TIMES: Mapping[str, str] = {
    **dict.fromkeys(("runtime", "ramp_time", "startdelay", "thinktime_iotime"), "s"),
    **dict.fromkeys(("steadystate_duration", "steadystate_ramp_time"), "s"),
    **dict.fromkeys(("thinktime", "thinktime_spin", "max_latency"), "us"),
    **dict.fromkeys(("latency_target", "latency_window"), "us"),
}
"""Options that are times, and the unit of a number without one."""
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_IN_EXPRESSION = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)", re.IGNORECASE)
_LARGEST_NUMBER = 1 << 63
_LONGEST_TEXT = 200
"""Characters of a number or an expression."""
_LARGEST_POWER = 64


class OptionValueError(ValueError):
    """A value that an option cannot have; the text says what is allowed."""


@dataclass(frozen=True)
class Share:
    """A size in percent of something."""

    percent: int

    def of(self, whole: int) -> int:
        """Bytes, of this many."""
        return whole * self.percent // 100


def expand(text: str, variables: Mapping[str, str] | None = None) -> str:
    """`text` with the values of variables in it, of its own and of the environment.

    Raises:
        OptionValueError: A variable is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = (variables or {}).get(match[1], os.environ.get(match[1]))
        if found is None:
            raise OptionValueError(f"a variable that is set: ${{{match[1]}}} is not")
        return found

    text = _VARIABLE.sub(value, text)
    for name, number in (
        ("$pagesize", 4096),
        ("$ncpus", os.cpu_count() or 1),
        ("$mb_memory", _memory_mib()),
    ):
        text = text.replace(name, str(number))
    return text


def _memory_mib() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError, AttributeError):
        return 1024


def size(text: str, kb_base: int = 1024) -> int:
    """Bytes: `4096`, `4k`, `0x1000`, `(4*1024)`.

    `kib` is the other base than `k`, as in fio 2.17 and later: 1000 unless `kb_base` is 1000.

    Raises:
        OptionValueError: It is none of these.
    """
    return round(amount(text, kb_base, whole=True))


def amount(text: str, kb_base: int = 1024, *, whole: bool = False) -> float:
    """As `size`, which an expression may make no whole number unless `whole`: `(1000/3)`.

    Raises:
        OptionValueError: It is no size.
    """
    if text.startswith("("):
        return _expression(text, lambda number: size(number, kb_base), whole=whole)
    match = _SIZE.fullmatch(text.strip())
    allowed = "a size such as 4096, 4k, 1m or (4*1024)"
    if match is None or len(text) > _LONGEST_TEXT:
        raise OptionValueError(allowed)
    unit = (match[2] or "").lower()
    base = kb_base
    if (match[3] or "").lower() == "ib":
        base = 1024 if kb_base == 1000 else 1000
    number = int(match[1], 16) if match[1][:2].lower() == "0x" else float(match[1])
    exact = int(match[1]) if match[1].isdecimal() else number
    found = int(exact * base ** " kmgtp".index(unit or " "))
    if found >= _LARGEST_NUMBER:
        raise OptionValueError(f"{allowed}, below 2^63 B")
    return found


def size_or_share(text: str, kb_base: int = 1024) -> int | Share:
    """Bytes, or a share: `1g`, `20%`.

    Raises:
        OptionValueError: It is neither.
    """
    text = text.strip()
    if text.endswith("%") and text[:-1].strip().isdecimal() and len(text) <= _LONGEST_TEXT:
        percent = int(text[:-1])
        if percent > 100:
            raise OptionValueError("at most 100%")
        return Share(percent)
    if text.endswith("z"):
        raise OptionValueError("bytes or a percentage: no zoned device is simulated")
    return size(text, kb_base)


def duration(text: str, unit: str = "s") -> int:
    """Nanoseconds: `30`, `500ms`, `2m`, `(60*5)`; a fraction as `cut` has it.

    Args:
        text: What stands there.
        unit: That of a number without one.

    Raises:
        OptionValueError: It is no time.
    """
    if text.startswith("("):
        return round(_expression(text, lambda number: duration(number, unit)))
    match = _TIME.fullmatch(text.strip())
    if match is None or len(text) > _LONGEST_TEXT:
        raise OptionValueError("a time such as 30, 30s, 500ms or 2m")
    found = int(match[1]) * _UNIT_NS[unit if match[2] else (match[3] or unit).lower()]
    if found >= 1 << 59:
        raise OptionValueError("a time of at most 18 years")
    return found


def cut(text: str, unit: str = "s") -> str | None:
    """What fio takes a time with a fraction for, in words; None if it has none.

    fio reads digits, then the letters right behind them: `1.5m` is 1 in the option's own unit.

    Raises:
        OptionValueError: Nothing is left of it, so that the option would be off.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or match[2] is None or len(text) > _LONGEST_TEXT:
        return None
    meant = float(f"{match[1]}.{match[2][1:]}") * _UNIT_NS[(match[3] or unit).lower()]
    # The largest unit of which it is a whole number.
    of = next((each for each in ("s", "ms") if meant % _UNIT_NS[each] == 0), "us")
    instead = f"{max(1, round(meant / _UNIT_NS[of]))}{of}"
    if meant and not int(match[1]):
        raise OptionValueError(f"a whole number, such as {instead}: fio takes {text} for 0")
    return f"{text} is {match[1]}{unit}, as fio takes no fractions: write {instead}"


def whole(text: str, least: int = 0, most: int = (1 << 31) - 1) -> int:
    """A whole number, units of sizes allowed.

    Raises:
        OptionValueError: It is none, or out of bounds.
    """
    allowed = f"a whole number from {least} to {most}"
    try:
        found = size(text)
    except OptionValueError:
        raise OptionValueError(allowed) from None
    if not least <= found <= most:
        raise OptionValueError(allowed)
    return found


def between(text: str, low: int, high: int) -> int:
    """A whole number between two, without a unit.

    Raises:
        OptionValueError: It is none, or out of bounds.
    """
    if not re.fullmatch(r"\s*-?\d{1,9}\s*", text) or not low <= int(text) <= high:
        raise OptionValueError(f"{low} or {high}" if high == low + 1 else f"{low} to {high}")
    return int(text)


def numbers(text: str) -> list[int]:
    """Whole numbers and ranges of them: `0,2-5`.

    Raises:
        OptionValueError: It is none.
    """
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise OptionValueError("numbers and ranges, such as 0,2-5")
        found += [int(match[1]), int(match[2] or match[1])]
    return found


def nodes(text: str) -> list[int]:
    """NUMA nodes: `all`, or numbers.

    Raises:
        OptionValueError: It is neither.
    """
    return [] if text.strip() == "all" else numbers(text)


def memory_policy(text: str) -> str:
    """How memory is spread over NUMA nodes: `interleave:0-1`; the policy's name.

    Raises:
        OptionValueError: It is none.
    """
    policy, colon, rest = text.strip().partition(":")
    allowed = "default, local, prefer:NODE, bind:NODES or interleave:NODES"
    if policy not in ("default", "local", "prefer", "bind", "interleave"):
        raise OptionValueError(allowed)
    if policy in ("bind", "interleave") and not colon:
        raise OptionValueError(allowed)
    if colon:
        nodes(rest)
    return policy


def flag(text: str | None) -> bool:
    """A switch; on where nothing stands behind its name.

    Raises:
        OptionValueError: It is neither 0 nor 1.
    """
    if text is None:
        return True
    if text.strip() not in ("0", "1"):
        raise OptionValueError("0 or 1")
    return text.strip() == "1"


def number(text: str) -> float:
    """A number with a point.

    Raises:
        OptionValueError: It is none.
    """
    if re.fullmatch(r"\d+(\.\d*)?|\.\d+", text.strip()) is None or len(text) > _LONGEST_TEXT:
        raise OptionValueError("a number")
    return float(text)


def by_direction(text: str, defaults: tuple[str, str, str]) -> tuple[str, str, str]:
    """What stands for reads, writes and trims: `8k`, `8k,32k`, `8k,,32k`; trims are as writes."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise OptionValueError("at most three values: reads, writes, trims")
    first = parts[0] or defaults[0]
    second = parts[1] or defaults[1] if len(parts) > 1 else first
    third = parts[2] or defaults[2] if len(parts) > 2 else second
    return first, second, third


def _expression(text: str, reader: Callable[[str], int], *, whole: bool = True) -> float:
    """The value of an expression whose numbers have units; as the reader takes it if `whole`."""
    allowed = "an expression such as (4*1024): numbers, + - * / % ^ and brackets"
    if len(text) > _LONGEST_TEXT:
        raise OptionValueError(allowed)
    plain = _IN_EXPRESSION.sub(lambda match: str(reader(match[0])), text).replace("^", "**")
    try:
        found = _value(ast.parse(plain.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError):
        raise OptionValueError(allowed) from None
    if not 0 <= found < _LARGEST_NUMBER:
        raise OptionValueError("an expression from 0 to 2^63")
    # Numbers without a unit are what the reader takes them for.
    with_units = plain != text.replace("^", "**")
    return found if with_units or not whole else float(reader(repr(found)))


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and abs(right) > _LARGEST_POWER:
            raise ValueError
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise ValueError
