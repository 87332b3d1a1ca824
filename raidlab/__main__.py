"""The program `raidlab`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
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
