"""Runs the benchmark's systems and the library's scenarios on an engine that counts what it does.

    python benchmarks/training.py ENGINE

`tools/train` builds that engine, and another one by its counts.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

ENGINE = "raidlab.scenarios._engine"
SHARE = 10
"""Part of the benchmark's I/Os that each of its systems is trained on: one in this many."""

SCENARIO_IOS = 20_000
"""I/Os of each scenario of the library, which know mechanisms that no benchmark needs."""


def use(path: str) -> None:
    """Has the engine at `path` stand for raidlab's own."""
    spec = importlib.util.spec_from_file_location(ENGINE, path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no engine")
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)
    sys.modules[ENGINE] = engine


def main() -> None:
    use(sys.argv[1])
    import speed

    from raidlab.scenarios.planning import scenario as system

    for line in speed.LINES:
        speed.native(speed.plan_of(line, line.ios // SHARE))
    for path in sorted(Path(system.__file__).parents[1].glob("library/*.toml")):
        plan = system.load_scenario(path).plan(0, 0)
        speed.native(json.dumps(plan | {"max_ios": SCENARIO_IOS}))


if __name__ == "__main__":
    main()
