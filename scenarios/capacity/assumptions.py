"""What the answer to a question rests on, in words."""

from __future__ import annotations

from collections.abc import Sequence

from raidlab.devices.draws import correlated, open_numbers
from raidlab.scenarios.capacity.bills import drawing_of
from raidlab.scenarios.capacity.candidates import Candidate
from raidlab.scenarios.capacity.energy import assumed
from raidlab.scenarios.capacity.question import Question, time_of
from raidlab.scenarios.results.goals import Source

REBUILD_SHARE = 0.3
"""Of a drive's time that a rebuild has by default."""
WHOLE_RUN = 2
"""Rung of a candidate that was simulated for the whole run."""


def assumptions(
    question: Question, shown: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[str]:
    """What the answer rests on, that of the candidates that are shown included."""
    table = question.table
    found = [
        f"Loads and capacity are those at the end of {time_of(table.horizon)}: rates"
        f" {question.growth:.3g}, capacity {question.grown_capacity:.3g} times today's."
        " `raidlab until` gives the month in which each candidate is outgrown."
        if (question.growth, question.grown_capacity) != (1.0, 1.0)
        else "Loads and capacity do not grow.",
        *(
            ["`usable` of a goal is in today's terms: what there is, over what capacity grows."]
            if question.grown_capacity != 1.0
            else []
        ),
        "SSDs are in their steady state and controllers' caches full, unless [run] says otherwise.",
        f"A rebuild takes {100 * REBUILD_SHARE:.0f} % of a drive's sequential rate half way, where"
        " no goal such as `rebuild p99 < 40 ms` asks for it; then it is simulated under the load.",
        "Failures of drives and unreadable sectors are at published rates"
        + ("." if table.afr is None else f", but for {100 * table.afr:g} % of drives a year."),
    ]
    arrays = [array for each in shown for array in each.tree.get("array", ())]
    if any(each.get("bitmap") == "internal" and "bitmap_chunk" not in each for each in arrays):
        found.append(
            "RAID in the host has a write-intent bitmap, as mdadm makes it: a bit for 64 MiB."
        )
    found += _prices(question, candidates)
    volumes = [
        name
        for name in dict.fromkeys(each.drive for each in shown)
        if (source := question.device(name).sources.get("latency.read")) is not None
        and source.source == "assumed"
    ]
    if volumes:
        found.append(f"Latencies of {_listed(volumes)} are assumed: their provider states none.")
    active = sorted(set[str]().union(*(each.bill.by_activity for each in shown)))
    if active:
        found.append(f"Watts of {', '.join(active)} are by activity at the end of the horizon.")
    lives = any(goal.source is Source.LIFE for goal in question.goals)
    for name in dict.fromkeys(each.drive for each in shown if lives and each.scenario):
        known = question.device(name).sources.get("nand.rated_cycles")
        if known is not None and known.source == "assumed":
            found.append(f"The life of {name} is by assumed cycles of its NAND: it states none.")
    if any(0 <= each.rung < WHOLE_RUN for each in candidates):
        found.append("Figures of candidates that were left out early are those of shorter runs.")
    if question.table.energy_price and any(e.rung < 0 and e.bill.drives for e in candidates):
        found.append("In costs of candidates that were not simulated their drives are idle.")
    spared = sum(each.spared is not None for each in candidates)
    if spared:
        found.append(
            f"{spared:,} of {len(candidates):,} candidates were not simulated: more drives of one"
            " kind are taken to cost more and not to be slower, so others decide about them."
        )
    return found + _open(shown)


def _prices(question: Question, candidates: Sequence[Candidate]) -> list[str]:
    """What costs, watts and rack units have in them, and what counts as nothing."""
    table = question.table
    if not question.prices:
        return ["Without prices the fewest drives count as the cheapest."]
    energy = table.energy_price
    found = [
        "Costs are the price list's"
        + (
            f", with energy at {energy:g} a kWh over the horizon."
            if energy
            else ", without energy."
        )
    ]
    hosts = dict.fromkeys(name for group in table.candidates for name in group.hosts)
    free = [name for name in hosts if name not in question.prices]
    if free and not table.base.cost:
        found.append(f"Hosts cost nothing: {_listed(free)} has no price and [base] no cost.")
    used = [
        each.choices[key] for each in candidates for key in ("drive", "controller")
        if each.choices[key] in question.prices
    ]  # fmt: skip
    found += _watts(question, candidates)
    bare = [name for name in dict.fromkeys(used) if question.prices[name].rack_units is None]
    if table.racked and bare:
        found.append(f"Rack units of {_listed(bare)} are not stated and count as none.")
    return found


def _watts(question: Question, candidates: Sequence[Candidate]) -> list[str]:
    """Watts that are usual of a class, and what has none."""
    found = []
    usual: dict[str, list[str]] = {}
    for name in assumed(candidates):
        drawing = drawing_of(question, name)
        if drawing is not None:
            words = f"{drawing.idle:g} W idle, {drawing.active:g} W at work"
            usual.setdefault(words, []).append(name)
    for words, names in usual.items():
        found.append(
            f"Watts of {_listed(names)} are assumed, as usual of the class: {words}; none are"
            " stated."
        )
    unknown = dict.fromkeys(name for each in candidates for name in each.bill.unknown)
    if unknown:
        energy = " The cost of a system with them has all other energy in it."
        found.append(
            f"Watts are not known: of {_listed(list(unknown))} none are stated."
            + energy * bool(question.table.energy_price)
        )
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _open(shown: Sequence[Candidate]) -> list[str]:
    """Devices of which data sheets leave numbers open, or fits give them with an error."""
    devices = {
        name: device
        for each in shown
        if each.scenario is not None
        for name, device in each.scenario.models.items()
    }
    found = []
    for name, device in devices.items():
        every = open_numbers(device)
        fitted = sum(device.sources[key].range is None for key in every)
        if len(every) > fitted:
            found.append(
                f"Open by the data sheet of {name} and assumed: {_numbers(len(every) - fitted)},"
                " within bounds from which --draws takes them."
            )
        if fitted:
            together = ""
            if fitted > 1:
                together = ", together" if correlated(device) else ", each by itself"
            found.append(
                f"Fitted, of {name}: {_numbers(fitted)}, with standard errors by which --draws"
                f" takes them{together}."
            )
        if not every and device.spec.kind in ("hdd", "ssd", "controller"):
            found.append(f"{name} states no errors of its numbers: --draws leaves them.")
    return found


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"
