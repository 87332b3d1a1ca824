"""Files of a load generator become a measurement; what gives no point is named with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from raidlab.calibration.benchmarks import iometer, iozone
from raidlab.calibration.measurements.measurement import File, Measurement, Point, Skipped
from raidlab.calibration.measurements.results import (
    Refused,
    UnreadableError,
    files_below,
    read_result,
    written,
)
from raidlab.calibration.measurements.state import State
from raidlab.devices.faults import Fault, SpecError

Tool = Literal["iometer", "iozone"]
Reader = Callable[[str, str], tuple[list[Point], list[Refused]]]
_READERS: Final[Mapping[Tool, Reader]] = {
    "iometer": iometer.points_of,
    "iozone": iozone.points_of,
}
_SHOWN: Final = 20


def import_results(
    tool: Tool, paths: Iterable[str | Path], name: str = "", state: State | None = None
) -> Measurement:
    """Reads results of Iometer or IOzone: files, or folders with everything below them.

    Args:
        tool: Which program wrote them.
        paths: Files and folders.
        name: Of the measurement; the first path's last part if empty.
        state: Of the drive before each test, where it is known.

    Raises:
        SpecError: A path does not exist, or nothing of it gave a point.
    """
    given = [Path(path) for path in paths]
    missing = [path for path in given if not path.exists()]
    if missing or not given:
        why = f"a file or folder with results of {tool}"
        raise SpecError([Fault("", None, why, (), str(path)) for path in missing or [Path()]])
    points: list[Point] = []
    files: list[File] = []
    skipped: list[Skipped] = []
    for path in sorted({file for each in given for file in files_below(each)}):
        try:
            text, digest = read_result(path, tool)
            found, refused = _READERS[tool](text, written(path))
        except UnreadableError as error:
            skipped.append(Skipped(path=written(path), reason=str(error)))
            continue
        except ValidationError as error:
            reason = "; ".join(each["msg"] for each in error.errors(include_url=False))
            skipped.append(Skipped(path=written(path), reason=f"not in {tool}'s form: {reason}"))
            continue
        points += [point.model_copy(update={"state": state}) for point in found]
        skipped += [
            Skipped(path=f"{written(path)} ({of.test})", reason=of.reason) for of in refused
        ]
        files.append(File(path=written(path), sha256=digest, tool=tool))
    if not points:
        faults = [Fault("", None, skip.reason, (), skip.path) for skip in skipped[:_SHOWN]]
        raise SpecError(faults or [Fault("", str(given[0]), "holds no file")])
    return Measurement(
        name=name or Path(written(given[0].resolve())).stem,
        points=tuple(sorted(points, key=lambda p: (p.rw, p.bs, p.numjobs, p.iodepth, p.file))),
        files=tuple(files),
        skipped=tuple(skipped),
    )
