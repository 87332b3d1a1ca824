"""Kills the collector, and fills the disk of its bundle, again and again; no step may be lost.

`python -m tests.reference.interrupted_collector PROGRAM --kills 10 --full 5`, as root, measures a
file with the real fio. The bundle is on a small file system in memory, which is filled up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOUNTED_BYTES = 4 << 20


@dataclass
class Seen:
    """What was seen of the collector."""

    killed: int = 0
    full: int = 0
    lost: int = 0
    """Steps that were done and then were not."""
    damaged: int = 0
    """Files of done steps without the manifest's checksum."""
    bundles: int = 0
    left: int = 0
    """Files to be measured that were there after the end of a bundle."""


def done(bundle: Path) -> dict[int, dict[str, str]]:
    """Checksums of the finished steps, by number."""
    manifest = bundle / "manifest.json"
    if not manifest.exists():
        return {}
    steps: list[dict[str, Any]] = json.loads(manifest.read_text())["steps"]
    return {each["number"]: each["sha256"] for each in steps if each["state"] == "done"}


def damaged(bundle: Path) -> int:
    """Files of finished steps that are not what the manifest says."""
    sums = {name: value for step in done(bundle).values() for name, value in step.items()}
    found = {name: bundle / name for name in sums}
    return sum(
        not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != sums[name]
        for name, path in found.items()
    )


def disturb(program: Path, kills: int, full: int, seed: int = 1) -> Seen:
    """Kills at random moments and fills the disk; a bundle that is complete is begun anew."""
    draw, seen = random.Random(seed), Seen()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={MOUNTED_BYTES}", "raidlab", str(small)]
        subprocess.run(mount, check=True)
        try:
            bundle, target = small / "bundle", folder / "target.bin"
            words = [
                str(program), "--plan", "quick", "--size", "64 MiB", "--runtime", "100 ms",
                "--repeat-noisy", "0", "--out", str(bundle), str(target),
            ]  # fmt: skip
            while (seen.killed, seen.full) != (kills, full):
                left = kills - seen.killed, full - seen.full
                way = draw.randrange(sum(left)) < left[0]
                before = done(bundle)
                if way:
                    seen.killed += _kill(words, draw.uniform(0.1, 5.0))
                else:
                    seen.full += _fill(words, small / "filler", draw.randrange(0, 200_000))
                after = done(bundle)
                seen.lost += sum(after.get(number) != sums for number, sums in before.items())
                seen.damaged += damaged(bundle)
                if done(bundle) and _ended(bundle):
                    _conclude(words, bundle, target, seen)
            _conclude(words, bundle, target, seen)
        finally:
            subprocess.run(["umount", str(small)], check=True)
    return seen


def _ended(bundle: Path) -> bool:
    return json.loads((bundle / "manifest.json").read_text())["end"] is not None


def _conclude(words: Sequence[str], bundle: Path, target: Path, seen: Seen) -> None:
    """Runs the rest of a bundle and removes it."""
    subprocess.run(words, check=True, capture_output=True)
    seen.bundles += 1
    seen.damaged += damaged(bundle)
    seen.lost += 13 - len(done(bundle))
    seen.left += target.exists()
    shutil.rmtree(bundle)


def _kill(words: Sequence[str], after_s: float) -> bool:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    ran = process.poll() is None
    process.kill()
    process.wait()
    time.sleep(0.3)  # The guard ends fio.
    return ran


def _fill(words: Sequence[str], filler: Path, free_bytes: int) -> bool:
    """Runs with so little space that it ends with a message; True if it did."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.5)
    space = shutil.disk_usage(filler.parent).free
    filler.write_bytes(bytes(max(0, space - free_bytes)))
    said = process.communicate()[1]
    filler.unlink()
    return process.returncode in (1, 2) and b"space" in said


def main() -> None:
    """Disturbs the collector and prints what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--full", type=int, default=5)
    asked = parser.parse_args()
    print(disturb(asked.program.absolute(), asked.kills, asked.full))


if __name__ == "__main__":
    main()
