"""What an array needs and what it offers: drives, usable bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

_WANTED: Mapping[str, tuple[Callable[[int], bool], str]] = {
    "raid1": (lambda n: n >= 2, "2 drives or more"),
    "raid1e": (lambda n: n >= 3, "3 drives or more"),
    "raid10": (lambda n: n >= 4 and n % 2 == 0, "4 drives or more, an even number"),
    "raid5": (lambda n: n >= 3, "3 drives or more"),
    "raid6": (lambda n: n >= 4, "4 drives or more"),
    "raid50": (lambda n: n >= 6 and n % 2 == 0, "6 drives or more, an even number"),
    "raid60": (lambda n: n >= 8 and n % 2 == 0, "8 drives or more, an even number"),
}


def wrong_count(level: str, drives: int) -> str | None:
    """What `level` wants if it cannot be made of `drives` drives."""
    fits, wanted = _WANTED.get(level, (lambda n: n >= 1, "1 drive or more"))
    return None if fits(drives) else wanted


def data_columns(level: str, drives: int) -> int:
    """Stripe units that are written back together: those whose parity ties them, else one."""
    return {
        "raid5": drives - 1,
        "raid6": drives - 2,
        "raid50": drives // 2 - 1,
        "raid60": drives // 2 - 2,
    }.get(level, 1)


def usable_bytes(level: str, stripe_unit: int, capacities: Sequence[int]) -> int:
    """Bytes that an array offers.

    Striped and mirrored levels use of every drive what the smallest has, in whole stripe units.
    """
    count, unit = len(capacities), stripe_unit
    if level == "jbod":
        return sum(capacities)
    least = min(capacities)
    rows = least // unit * unit
    match level:
        case "independent":
            return least
        case "raid1":
            return rows
        case "raid1e":
            return least // (2 * unit) * (2 * unit) * count // 2
        case "raid10":
            return rows * count // 2
        case "raid5":
            return rows * (count - 1)
        case "raid6" | "raid50":
            return rows * (count - 2)
        case "raid60":
            return rows * (count - 4)
    return rows * count
