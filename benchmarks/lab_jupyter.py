"""Every room as a Jupyter notebook, run without a browser: does it show its widget?

`make lab-jupyter` writes docs/evidence/lab-jupyter.md of it. Needs nbclient, nbformat, ipykernel.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbclient
import nbformat

from raidlab.notebooks.frame import catalogue

WIDGET = "application/vnd.jupyter.widget-view+json"
PATIENCE_S = 300
RESULT = """\
import raidlab
raidlab.simulate({"array": [{"drives": [{"model": "five"}]}],
                  "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": [1, 4]}],
                  "run": {"duration": "5 s"}})"""


@dataclass(frozen=True)
class Ran:
    """One notebook."""

    name: str
    seconds: float
    kinds: frozenset[str]
    """What its cells show, as media types."""
    fault: str
    """The error that ended it; nothing if none did."""


def ran(name: str, notebook: Any) -> Ran:
    """Runs a notebook from its first cell to its last."""
    began = time.monotonic()
    fault = ""
    try:
        nbclient.NotebookClient(notebook, timeout=PATIENCE_S, kernel_name="python3").execute()
    except nbclient.exceptions.CellExecutionError as error:
        fault = f"{error.ename}: {error.evalue}"
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", ())]
    kinds = frozenset(kind for each in outputs for kind in each.get("data", ()))
    return Ran(name, time.monotonic() - began, kinds, fault)


def exported(name: str, folder: Path) -> Any:
    """The notebook that marimo makes of a room."""
    path = folder / f"{name}.ipynb"
    command = [sys.executable, "-m", "marimo", "-q", "export", "ipynb"]
    subprocess.run([*command, str(catalogue.notebook(name)), "-o", str(path)], check=True)
    return nbformat.read(path, as_version=4)


def page(rooms: list[Ran], result: Ran) -> str:
    """The page of evidence."""
    failed = [each for each in rooms if each.fault or WIDGET not in each.kinds]
    seconds = [each.seconds for each in rooms]
    said = (
        f"{len(rooms) - len(failed)} of {len(rooms)} rooms run to their end and show their widget,"
        f" in {min(seconds):.1f} to {max(seconds):.1f} s."
    )
    said += "".join(f"\n`{each.name}`: {each.fault or 'no widget'}." for each in failed)
    html = "its answer and picture as HTML" if "text/html" in result.kinds else "text alone"
    return f"""# The lab in Jupyter

Do the rooms of the lab run in Jupyter? `make lab-jupyter` makes this page: each room is exported by
`marimo export ipynb` and run from its first cell to its last, without a browser.

{said}
A `Result` as the last line of a cell shows {html}.
"""


def main() -> int:
    """Runs every room; exit code 1 if one fails or shows nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="write the table to this file")
    options = parser.parse_args()
    rooms = []
    with TemporaryDirectory() as folder:
        for name in (room.name for room in catalogue.rooms()):
            rooms.append(ran(name, exported(name, Path(folder))))
            print(name, f"{rooms[-1].seconds:.1f} s", sorted(rooms[-1].kinds), rooms[-1].fault)
    result = ran("result", nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(RESULT)]))
    print("result", sorted(result.kinds), result.fault)
    if options.page:
        options.page.write_text(page(rooms, result))
    return int(any(each.fault or WIDGET not in each.kinds for each in rooms) or bool(result.fault))


if __name__ == "__main__":
    sys.exit(main())
