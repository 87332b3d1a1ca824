"""Disks and requests drawn by a seed, in DiskSim's syntax: every scheme, type and key."""

from pathlib import Path
from random import Random
from typing import NamedTuple

_OVERHEADS = (
    "Read hit over. after read",
    "Read hit over. after write",
    "Read miss over. after read",
    "Read miss over. after write",
    "Write hit over. after read",
    "Write hit over. after write",
    "Write miss over. after read",
    "Write miss over. after write",
    "Read completion overhead",
    "Write completion overhead",
    "Data preparation overhead",
    "First reselect overhead",
    "Other reselect overhead",
    "Read disconnect afterread",
    "Read disconnect afterwrite",
    "Write disconnect overhead",
    "Extradisc command overhead",
    "Extradisc disconnect overhead",
    "Extradisc inter-disconnect delay",
    "Extradisc 2nd disconnect overhead",
    "Extradisc seek delta",
)
SCHEMES = (1, 3, 7, 8, 9)


def _block(kind: str, entries: dict[str, object]) -> str:
    return (
        f"{kind} {{\n" + "".join(f"   {key} = {value},\n" for key, value in entries.items()) + "}"
    )


def _slips(draw: Random, most: int, below: int) -> list[int]:
    """Some in a row, some apart."""
    found: set[int] = set()
    while len(found) < min(most, below // 4):
        first = draw.randrange(below)
        found.update(range(first, min(below, first + draw.choice((1, 1, 1, 3)))))
    return sorted(found)[:most]


def _zone(draw: Random, layout: tuple[int, int, int], first: int) -> tuple[str, int]:
    """A zone, and its last cylinder."""
    scheme, surfaces, size = layout
    cylinders = draw.randint(6, 40)
    sectors = draw.randint(20, 120)
    cylinder = surfaces * sectors
    spares = {1: draw.randint(0, 4), 3: draw.randint(0, 3), 7: 0, 9: draw.randint(0, 40)}
    spared = spares.get(scheme, draw.randint(0, min(9, cylinder // 2)))
    if scheme == 1:
        slips = _slips(draw, spared, cylinders * surfaces)
    elif scheme == 8:
        lot = size * cylinder
        starts = range(0, cylinders // size * lot, lot)
        slips = [start + slip for start in starts for slip in _slips(draw, spared, lot)]
    elif scheme == 3:
        slips = []
    else:
        slips = _slips(draw, spared if scheme == 9 else 12, cylinders * cylinder)
    entries: dict[str, object] = {
        "First cylinder number": first,
        "Last cylinder number": first + cylinders - 1,
        "Blocks per track": sectors,
        "Offset of first block": draw.choice((f"{draw.randrange(sectors)}.000000", 0)),
        "Empty space at zone front": draw.choice((0, draw.randrange(cylinder))),
        "Skew for track switch": draw.randrange(sectors),
        "Skew for cylinder switch": draw.randrange(sectors + 5),
        "Number of spares": spared,
        "slips": slips,
        "defects": draw.choice(([], [7, 7])),
    }
    return _block("dm_layout_g1_zone", entries), first + cylinders - 1


def _model(draw: Random, scheme: int) -> str:
    surfaces, size = draw.randint(1, 6), draw.randint(1, 8)
    zones, next_cylinder = [], draw.choice((0, 3))
    for _ in range(draw.randint(1, 3)):
        zone, last = _zone(draw, (scheme, surfaces, size), next_cylinder)
        zones.append(zone)
        next_cylinder = last + 1 + draw.choice((0, 1, 4))
    layout: dict[str, object] = {
        "LBN-to-PBN mapping scheme": draw.choice((0, 0, 1)),
        "Sparing scheme used": scheme,
        "Rangesize for sparing": size,
        "Zones": "[\n" + ",\n".join(zones) + "]",
    }
    hpl = draw.random() < 0.3
    limit = draw.randint(11, 60)
    mechanics: dict[str, object] = {
        "Access time type": "trackSwitchPlusRotation",
        "Seek type": "hplplus10" if hpl else "extracted",
        "Full seek curve": "random.seek",
        "Add. write settling delay": f"{draw.uniform(-0.2, 0.8):.6f}",
        "HPL seek equation values": f"[{limit}, 3.81, 0.33, 5.75, 0.0259, -1.0]",
        "First ten seek times": [round(draw.uniform(1, 4), 3) for _ in range(10)],
        "Head switch time": f"{draw.uniform(0.2, 1.5):.6f}",
        "Rotation speed (in rpms)": draw.randint(3600, 10_100),
        "Percent error in rpms": 0.0,
    }
    return _block(
        "dm_disk RANDOM_model",
        {
            "Number of data surfaces": surfaces,
            "Number of cylinders": next_cylinder,
            "Block count": 1,
            "Layout Model": _block("dm_layout_g1", layout),
            "Mechanical Model": _block("dm_mech_g1", mechanics),
        },
    )


def _seek(draw: Random) -> str:
    """A table that is not monotone, with a deviation here and there."""
    distances = sorted(draw.sample(range(1, 140), draw.randint(2, 12)))
    lines = [f"Seek distances measured: {len(distances)}"]
    times = [0.4 + distance**0.5 * draw.uniform(0.4, 0.6) for distance in distances]
    # What is beyond the table goes on as its last line, which must not fall to 0.
    times[-1] = max(times[-2:])
    for distance, time in zip(distances, times, strict=True):
        lines.append(f"{distance},\t{time:.5f}{draw.choice(('', ', 0.01'))}")
    return "\n".join(lines) + "\n"


def _disk(draw: Random) -> str:
    size = draw.choice((16, 57, 64, 128, 256))
    segments = draw.randint(1, 6)
    entries: dict[str, object] = {
        "Model": "source random.model",
        "Bulk sector transfer time": f"{draw.choice((0, draw.uniform(0.02, 0.3))):.6f}",
        "Hold bus entire read xfer": draw.randint(0, 1),
        "Hold bus entire write xfer": draw.randint(0, 1),
        "Allow read hits on write data": draw.randint(0, 1),
        "Never disconnect": int(draw.random() < 0.2),
        "Scheduler": _block("disksim_ioqueue", {"Scheduling policy": 1}),
        "Number of buffer segments": segments,
        "Segment size (in blks)": size,
        "Use separate write segment": int(segments > 1 and draw.random() < 0.3),
        "High (read) water mark": draw.choice((0.0, 0.5, 0.75, 1.0)),
        "Buffer continuous read": draw.choice((0, 1, 3, 4)),
        "Maximum read-ahead (blks)": draw.choice((0, size // 2, size)),
        "Read-ahead on idle hit": draw.randint(0, 1),
        "Fast write level": draw.randint(0, 2),
        "Stop prefetch in sector": draw.randint(0, 1),
        "Extra write disconnect": draw.randint(0, 1),
        "Minimum seek delay": draw.choice((0, 0.61)),
    }
    overheads = draw.random() < 0.8
    for key in _OVERHEADS:
        entries[key] = f"{draw.uniform(0.01, 0.9) if overheads or 'over.' in key else 0:.6f}"
    return _block("disksim_disk RANDOM", entries)


def write(folder: Path, seed: int, scheme: int) -> Path:
    """Writes the files of a disk, and gives the `.parv`."""
    draw = Random(seed)
    read_ms, write_ms = (f"{draw.choice((0, draw.uniform(0.02, 0.2))):.6f}" for _ in range(2))
    bus = {"Read block transfer time": read_ms, "Write block transfer time": write_ms}
    (folder / "random.model").write_text(_model(draw, scheme))
    (folder / "random.seek").write_text(_seek(draw))
    (folder / "random.diskspecs").write_text(_disk(draw))
    parv = folder / "random.parv"
    parv.write_text(
        _block("disksim_bus BUS1", bus) + "\nsource random.diskspecs\n"
        "instantiate [ bus1 ] as BUS1\ninstantiate [ disk0 ] as RANDOM\n"
        "topology disksim_iodriver driver0 [ disksim_bus bus1 [ disksim_disk disk0 [] ] ]\n"
    )
    return parv


class Load(NamedTuple):
    """Requests to draw."""

    seed: int
    count: int
    longest_gap_ms: float


def write_trace(path: Path, load: Load, sectors: int) -> Path:
    """Requests near the last one and far from it, one after the other."""
    draw, lines, last = Random(load.seed), [], 0
    for _ in range(load.count):
        size = min(draw.choice((1, 2, 4, 8, 16, 57, 129)), sectors)
        if draw.random() < 0.6:
            first = last + draw.choice((0, 0, 0, -size, -3, 1, 8, 64, 200))
        else:
            first = draw.randrange(sectors)
        first = min(max(0, first), sectors - size)
        operation = "R" if draw.random() < 0.6 else "W"
        gap_us = 1000 * draw.uniform(0, load.longest_gap_ms)
        lines.append(f"{operation} Hit {first} {size} 1.0 {gap_us:.3f}\n")
        last = first + size
    path.write_text("".join(lines))
    return path
