"""The program `raidlab`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        # Ctrl-C is heeded while this is imported, too.
        from raidlab.cli import app
        from raidlab.commands.common import guarded_output

        with guarded_output():
            app()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
