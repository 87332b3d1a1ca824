"""What the cost of a plan's answer has of energy, in words."""

from __future__ import annotations

from raidlab.scenarios.capacity.answer import Answer
from raidlab.scenarios.capacity.energy import assumed
from raidlab.scenarios.results.number_text import figure


def with_energy(found: Answer, before: str = "") -> str:
    """` with energy (usual watts of s4610-480)`: after a cost; empty if there is none in it."""
    best = found.recommended
    if best is None or not best.bill.energy:
        return ""
    names = assumed(found.fitting)
    return f"{before} with energy" + (f" (usual watts of {', '.join(names)})" if names else "")


def without_energy(found: Answer) -> str:
    """Which energy the cost has not, and from how many watts on another one is the better."""
    missing = found.uncounted
    if missing is None:
        return ""
    text = f" The cost has no energy of {', '.join(missing.devices)}: no watts are stated"
    if missing.overtaken_by is None or missing.above_watts is None:
        return f"{text}, but none would change the order."
    beyond = f" more than {' and '.join(missing.instead)}" if missing.instead else ""
    better = "cheaper" if found.question.table.prefer == "cost" else "better"
    return (
        f"{text}. Above {figure(missing.above_watts, 'W')} of"
        f" {' and '.join(missing.more)}{beyond}, {missing.overtaken_by} is {better}."
    )


def energy_note(found: Answer) -> str:
    """Below a table with costs or watts: which of them are assumed, and which are missing."""
    every = found.fitting or found.candidates
    names = assumed(every)
    said = [f"Watts of {', '.join(names)} are assumed: usual of the class."] if names else []
    unknown = dict.fromkeys(name for each in every for name in each.bill.unknown)
    if unknown and found.question.table.energy_price:
        said.append(f"Costs have no energy of {', '.join(unknown)}.")
    return " ".join(said)
