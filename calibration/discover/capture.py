"""The script that captures a machine's storage: printed, or run."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from raidlab.calibration.discover.reading import Read, read_paths
from raidlab.devices.faults import Fault, SpecError

SCRIPT = Path(__file__).parent / "capture.sh"
_LONGEST_S = 900


def script() -> str:
    """The script's text: POSIX shell, it only reads."""
    return SCRIPT.read_text()


def capture(folder: Path) -> list[str]:
    """Runs the script on this machine.

    Args:
        folder: Where captures go; made if it does not exist.

    Returns:
        Names of the files.

    Raises:
        SpecError: The folder has files already, or the script cannot run.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise SpecError([Fault("--capture", str(folder), "a new or an empty folder")])
    try:
        done = subprocess.run(
            ["/bin/sh", str(SCRIPT), str(folder)],
            capture_output=True, text=True, check=False, timeout=_LONGEST_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SpecError([Fault("--capture", str(folder), f"cannot be captured: {error}")]) from None
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise SpecError([Fault("--capture", str(folder), why[-1] if why else "a shell that runs")])
    return sorted(path.name for path in folder.iterdir())


def read_machine() -> list[Read]:
    """What this machine says, without root as far as that goes."""
    with tempfile.TemporaryDirectory(prefix="raidlab-discover-") as folder:
        capture(Path(folder))
        return read_paths([Path(folder)])
