"""The trained build: without the tool that reads counts the engine stays as it is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

RUSTC = """#!/bin/sh
case "$1" in
    -vV) printf 'rustc 9.9.0\\nhost: test-machine\\nLLVM version: 99.1.0\\n' ;;
    --print) echo /nowhere ;;
    *) exit 1 ;;
esac
"""


def test_without_llvm_profdata_it_says_what_is_missing_and_builds_nothing(tmp_path):
    for name, script in {"rustc": RUSTC, "rustup": "#!/bin/sh\nexit 1\n"}.items():
        path = tmp_path / name
        path.write_text(script)
        path.chmod(0o755)
    done = subprocess.run(
        [ROOT / "tools" / "train", sys.executable],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "llvm-profdata of LLVM 99" in done.stderr
    assert "the engine stays as it is" in done.stderr
