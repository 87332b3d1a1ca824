"""What fio's jobs touch of this machine through the bridge: files opened to write, commands run.

    benchmarks/fio_touches.py JOB.fio|FOLDER ... [--limit SECONDS]

Each job runs through `raidlab fio` under strace in an empty folder, at most `--limit` seconds of
wall time; jobs of which that is the end count as run. What counts: a file that fio's process opens
to write, truncates, renames or removes, but for its own outputs in the folder and the run's own
temporary files; a command; memory that is locked; a CPU, a priority, a user or a network address
that is set. fio asks for some of it at every start, to measure its clock and to list memory nodes:
what a job without options asks for too does not count.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.fio.simulated import ARRAY_FILE

CALLS = (
    "open,openat,openat2,creat,truncate,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,"
    "link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,fchownat,execve,execveat,"
    "mlock,mlock2,mlockall,sched_setaffinity,setpriority,ioprio_set,setuid,setgid,setreuid,"
    "setregid,mbind,set_mempolicy,shmget,mount,connect,bind"
)
REFUSED = 2
_LINE = re.compile(r"^\d+ +(\w+)\((.*)$")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")


PLAIN = "[plain]\nrw=randread\nioengine=libaio\ndirect=1\nnumber_ios=10\n"


@dataclass(frozen=True)
class Outcome:
    """A job's run through the bridge."""

    code: int
    said: str
    """Its last line on standard error."""
    calls: tuple[str, ...]
    """Calls of fio's processes that touch this machine."""
    left: tuple[str, ...]
    """Files that it left in its folder."""


def run(job: Path, fio: str, limit: float) -> Outcome:
    """Runs a job under strace in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="touches-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "tmp").mkdir()
        trace = folder / "trace"
        command = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", str(trace), "-e"]
        command += [f"trace={CALLS}", "timeout", "-s", "TERM", str(limit)]
        command += [sys.executable, "-m", "raidlab", "fio", str(job.resolve())]
        command += ["--output=out.json"]
        environment = os.environ | {"TMPDIR": str(folder / "tmp")}
        done = subprocess.run(
            command, cwd=folder / "in", capture_output=True, text=True, env=environment, check=False
        )
        own = (str(folder / "tmp"), f"{folder}/in/", "/dev/null", "/dev/tty", ARRAY_FILE)
        calls = tuple(_touches(trace.read_text(errors="replace"), fio, own))
        left = tuple(sorted(each.name for each in (folder / "in").iterdir()))
        said = (done.stderr.strip().splitlines() or [""])[-1]
        return Outcome(done.returncode, said, calls, left)


def _touches(trace: str, fio: str, own: tuple[str, ...]) -> Iterator[str]:
    """Calls after fio has begun; raidlab's own process only waits then."""
    began = False
    for line in trace.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        call, rest = match.groups()
        if call == "execve" and f'"{fio}"' in rest:
            began = True
            continue
        if not began or " = -1 " in rest or (call.startswith("open") and not _WRITES.search(rest)):
            continue
        path = _PATH.search(rest)
        name = path.group(1) if path else "/"
        if name.startswith(own) or not (name.startswith("/") or ".." in name):
            continue
        yield f"{call}({rest[:160]}"


def _shape(call: str) -> str:
    """A call without its numbers, and without how it ended."""
    return re.sub(r"[0-9a-fx]*[0-9][0-9a-fx]*", "N", re.sub(r"\s*(=|<unfinished).*", "", call))


def main() -> int:
    """Prints a line for each job, and what touches this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--limit", type=float, default=20)
    given = parser.parse_args()
    jobs = [job for path in given.paths for job in (sorted(path.glob("*.fio")) or [path])]
    fio = shutil.which("fio") or sys.exit("fio is not installed")
    with tempfile.NamedTemporaryFile("w", suffix=".fio") as plain:
        plain.write(PLAIN)
        plain.flush()
        usual = {_shape(call) for call in run(Path(plain.name), fio, given.limit).calls}
    found = {job: run(job, fio, given.limit) for job in jobs}
    for job, outcome in found.items():
        print(f"{job.name}: exit {outcome.code}, leaves {', '.join(outcome.left) or 'nothing'}")
        if outcome.code == REFUSED:
            print(f"    {outcome.said}")
    wrong = 0
    for job, outcome in found.items():
        unusual = [call for call in outcome.calls if _shape(call) not in usual]
        wrong += bool(unusual)
        for call in unusual:
            print(f"{job.name}: {call}")
    refused = sum(outcome.code == REFUSED for outcome in found.values())
    print(
        f"{len(jobs)} jobs: {refused} refused, {len(jobs) - refused} run, {wrong} touch something"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
