"""What `raidlab lab` and `raidlab serve` share: a door on loopback, its address, a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from raidlab.commands.common import say
from raidlab.devices.faults import Fault, SpecError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Browser = Annotated[
    bool, typer.Option(help="Open a browser; without, the address is only printed.")
]


def needs_lab_packages(what: str) -> None:
    """Says which packages lack.

    Raises:
        SpecError: They are not installed.
    """
    try:
        import anywidget as _a  # noqa: F401
        import marimo as _m  # noqa: F401
        import uvicorn as _u  # noqa: F401
    except ImportError:
        allowed = f"{what} needs more packages: pip install 'raidlab[lab]'"
        raise SpecError([Fault("", None, allowed)]) from None


def open_in_browser(
    what: str,
    application: Callable[[str], ASGIApp],
    port: int | None,
    usual: int,
    *,
    path: str = "",
    browser: bool,
) -> None:
    """Serves an application until it is interrupted.

    Args:
        what: What is served, as a sentence begins with it.
        application: Makes it, given the token that lets a visitor in.
        port: As the user wants it: 0 is any that is free, None the usual one.
        usual: That of this application.
        path: The first page, behind the address.
        browser: Whether a browser is opened.

    Raises:
        SpecError: The port is taken.
    """
    import secrets
    import webbrowser

    from raidlab.notebooks.frame import door

    try:
        opened = door.listening(port, usual)
    except OSError as error:
        raise SpecError([Fault("--port", port, f"a port that is free ({error})")]) from None
    token = secrets.token_urlsafe(16)
    address = f"http://{door.LOOPBACK}:{opened.getsockname()[1]}/{path}?token={token}"
    say(f"{what} is at {address}")
    say("Ctrl-C ends it.")
    if browser:
        webbrowser.open(address)
    door.run(application(token), opened)
