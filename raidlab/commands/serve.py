"""`raidlab serve`: the planner in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from raidlab.commands.common import command
from raidlab.commands.local_server import Browser, needs_lab_packages, open_in_browser


@command
def serve(
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="On loopback; 8643, or any that is free."),
    ] = None,
    browser: Browser = True,
) -> None:
    """Open the planner in the browser: what to buy for a load, without a question file.

    The server listens on loopback alone; its address has a random token. Ctrl-C ends it.
    """
    needs_lab_packages("the planner")
    from raidlab.notebooks.planner import server

    open_in_browser("The planner", server.application, port, server.PORT, browser=browser)
