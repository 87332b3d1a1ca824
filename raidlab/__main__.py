"""The program `raidlab`."""

from __future__ import annotations

import gc
import os
import sys

_GARBAGE = 200_000
"""Objects that are made before garbage is looked for: what is loaded stays, and is many more than
the interpreter's 700."""


def _load_fast() -> None:
    """Spares the search for garbage in what is loaded, and for plug-ins of the checker of files."""
    gc.set_threshold(_GARBAGE)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def main() -> None:
    """Run the command line."""
    _load_fast()
    try:
        # Ctrl-C works while this is imported, too.
        from raidlab.output import guarded_output, print_version

        with guarded_output():
            if sys.argv[1:] == ["--version"]:
                print_version()
                return
            from raidlab.cli import app

            app()
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        if error.name != "raidlab.scenarios._engine":
            raise
        # Written plainly: what prints elsewhere may need what cannot be imported.
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
