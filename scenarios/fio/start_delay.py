"""`startdelay=LOW-HIGH`: when each clone of a job begins, drawn as fio draws it.

Source: fio 3.33, `setup_random_seeds` and `fixup_options`; the generator is L'Ecuyer's taus88
(Mathematics of Computation 65 (1996) 203).
"""

from __future__ import annotations

from raidlab.scenarios.fio.reader import Reader

_SEED_FACTOR = 0x9E370001
_FIXED_SEED = 0xB1899BED
_PLACE = 13
"""Of the delay among a thread's seeds."""
_WARM_UP = 6
_FIRST_DRAW = 29 + 19 + 5
_US = 1000


def start_delay_ns(reader: Reader, number: int, seed: int) -> int:
    """When a thread begins after its phase.

    Args:
        reader: The job's options.
        number: fio's number of the thread, from 1.
        seed: The job's `randseed`, or its default.
    """
    low, high = reader.times("startdelay")
    if high == low:
        return low
    if reader.flag("allrandrepeat"):
        own = _FIXED_SEED * number + _PLACE
    else:
        own = seed * pow(_SEED_FACTOR, 4 + _PLACE, 1 << 64) * number + _PLACE
    span = (high - low) // _US
    return low + int((span + 1) * (_taus88(own) / 2**32)) * _US


def _taus88(seed: int) -> int:
    """The first number of a generator with this seed."""
    mask = 0xFFFFFFFF
    state = []
    last = _FIRST_DRAW
    for least in (1, 7, 15):
        last = (last * 69069 & mask) ^ (seed & mask)
        last += least if last < least else 0
        state.append(last)
    s1, s2, s3 = state
    for _ in range(_WARM_UP + 1):
        s1 = ((s1 & 0xFFFFFFFE) << 12 & mask) ^ (((s1 << 13 & mask) ^ s1) >> 19)
        s2 = ((s2 & 0xFFFFFFF8) << 4 & mask) ^ (((s2 << 2 & mask) ^ s2) >> 25)
        s3 = ((s3 & 0xFFFFFFF0) << 17 & mask) ^ (((s3 << 3 & mask) ^ s3) >> 11)
    return s1 ^ s2 ^ s3
