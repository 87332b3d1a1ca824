"""Claims of the reports near their bounds, by longer runs: docs/evidence/controllers.md.

    python benchmarks/near_bounds.py [TIMES [CLAIM...]]

Every claim that docs/evidence/claims.csv has within 2 % of a bound, or those named, is simulated by
runs TIMES as long, 20 by default: a Markdown row each.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Final

from raidlab.calibration.published.claims import DEPTHS
from raidlab.calibration.published.figures import Configuration, Figure, read_claims
from raidlab.calibration.published.rules import scenario_tree
from raidlab.calibration.published.validate import judge
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.running.simulate import simulate

LISTING: Final = Path(__file__).parent.parent / "docs/evidence/claims.csv"
NEAR: Final = 0.02


def is_near(claim: Figure, simulated: float) -> bool:
    """Whether a ratio is near one of the bounds that are stated."""
    bounds = (claim.value, claim.high)
    stated = claim.relation not in ("=", "~")
    return stated and any(bound and abs(simulated / bound - 1) < NEAR for bound in bounds)


def rate(configuration: Configuration, times: float) -> float:
    """IO/s at the best depth."""
    best = 0.0
    for depth in DEPTHS if configuration.outstanding == "max" else (None,):
        tree = scenario_tree(configuration)
        if depth is not None:
            for load in tree["workload"]:
                load["outstanding"] = depth
        if "max_ios" in tree["run"]:
            tree["run"]["max_ios"] = round(tree["run"]["max_ios"] * times)
            seconds = float(tree["run"]["duration"].removesuffix(" s"))
            tree["run"]["duration"] = f"{seconds * times:g} s"
        best = max(best, sum(row.iops for row in simulate(build_scenario(tree)).rows))
    return best


def main() -> None:
    """Prints the table."""
    times = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    with LISTING.open() as file:
        simulated = {row["figure"]: float(row["simulated"]) for row in csv.DictReader(file)}
    claims = [claim for claim in read_claims() if is_near(claim, simulated[claim.id])]
    named = sys.argv[2:]
    rows = []
    for claim in claims if not named else [each for each in read_claims() if each.id in named]:
        if claim.baseline is not None:
            ratio = rate(claim.configuration, times) / rate(claim.baseline, times)
            held = "held" if judge(claim, ratio)[1] else "not held"
            rows.append([claim.id, f"{simulated[claim.id]:.3f}", f"{ratio:.4f}", held])
    print("\n".join(markdown.table(f"claim | as listed | {times:g} times as long |", rows)))


if __name__ == "__main__":
    main()
