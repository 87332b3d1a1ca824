"""`raidlab schema`: JSON Schema of the files that people write."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.common import command
from raidlab.output import echo
from raidlab.scenarios.files.kinds import SchemaOf


@command
def schema(
    of: Annotated[SchemaOf, typer.Argument(help="Which kind of file.")],
) -> None:
    """Print the JSON Schema of a kind of file: scenario, device, sheet or question.

    Editors complete and check TOML by it: docs/how-to/editors.md.
    """
    from raidlab.scenarios.files.json_schema import schema_text

    echo(schema_text(of).rstrip("\n"))
