"""Runs `raidlab` in processes of their own, each a copy of one that has loaded the program.

Loading takes most of the time of a short command. Copies have their own folder, environment,
outputs and exit code, as a new interpreter has. What a test says of the start itself (signals while
it loads, encodings, limits, closed outputs) takes a new interpreter.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

LOADED = (
    "run", "validate", "devices", "controllers", "rebuild", "sweep", "size", "plan", "store",
    "replay", "check", "new", "fio",
)  # fmt: skip
"""Commands that are loaded before copies are made: none of them starts a thread."""
_LONGEST = 1 << 17
"""Bytes of a request: its words and its environment."""


def run(
    *words: object,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    bytes_most: int | None = None,
    kill_after_s: float | None = None,
    program: str = "raidlab",
    text: str = "",
) -> subprocess.CompletedProcess[str]:
    """What `raidlab WORDS` printed and its exit code; `env` beside the environment of the tests.

    Args:
        words: After `raidlab`.
        cwd: The folder it runs in.
        env: Variables beside those of the tests.
        bytes_most: Size that its files may have, as on a disk that is full.
        kill_after_s: When it is killed, unless it has ended.
        program: `raidlab`, or `raidlab-fio`.
        text: What it reads from its standard input.
    """
    texts = [str(word) for word in words]
    asked = json.dumps(
        {
            "words": [program, *texts],
            "cwd": str(cwd),
            "env": {**os.environ, **(env or {})},
            "bytes_most": bytes_most,
            "kill_after_s": kill_after_s,
        }
    )
    door = _door()
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(text.encode())
        given.seek(0)
        files = (given, out, errors)
        socket.send_fds(door, [asked.encode()], [file.fileno() for file in files])
        code = int(door.recv(64))
        printed = []
        for file in (out, errors):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess([program, *texts], code, *printed)


def line(text: str, *, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What a line of a shell printed: one of `raidlab` alone runs in a copy."""
    program, *words = shlex.split(text)
    if program == "raidlab" and not set(text) & set("|<>&;$*`\\"):
        return run(*words, cwd=cwd, env=env)
    return subprocess.run(
        text, shell=True, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True
    )


@cache
def _door() -> socket.socket:
    """The way to this session's server, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # -P: the folder of tests has a package of the same name.
    line = [sys.executable, "-P", __file__, str(theirs.fileno())]
    server = subprocess.Popen(line, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def serve(door: socket.socket) -> None:
    """Answers requests one after the other. In a copy it ends as the program does."""
    from raidlab.__main__ import main
    from raidlab.commands.fio import stand_in

    import_module("raidlab.cli")
    for name in LOADED:
        import_module(f"raidlab.commands.{name}")
    build()
    # A copy that looks for garbage, as each does when it ends, would write to the pages it shares.
    gc.freeze()
    programs = {"raidlab": main, "raidlab-fio": stand_in}
    while True:
        asked, files, *_ = socket.recv_fds(door, _LONGEST, 3)
        if not asked:
            return
        if len(list(Path("/proc/self/task").iterdir())) > 1:
            raise RuntimeError("a thread is lost in a copy: load a command less")
        request = json.loads(asked)
        child = os.fork()
        if not child:
            door.close()
            for place, file in enumerate(files):
                os.dup2(file, place)
                os.close(file)
            if request["bytes_most"] is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (request["bytes_most"],) * 2)
            os.chdir(request["cwd"])
            os.environ.clear()
            os.environ.update(request["env"])
            sys.argv = request["words"]
            programs[request["words"][0]]()
            return
        for file in files:
            os.close(file)
        status = _status(child, request["kill_after_s"])
        door.send(str(os.waitstatus_to_exitcode(status)).encode())


def build() -> None:
    """Builds once what a command builds when it first needs it: checks of files, digests."""
    from raidlab.devices.catalogue import KINDS
    from raidlab.scenarios.running.store import engine_digest
    from raidlab.scenarios.spec.schema import ScenarioTable

    for table in (ScenarioTable, *KINDS.values()):
        table.model_rebuild()
    engine_digest()


def _status(child: int, kill_after_s: float | None) -> int:
    """How a copy ended; it is killed after this time."""
    if kill_after_s is not None:
        end = time.monotonic() + kill_after_s
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            time.sleep(1e-3)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
