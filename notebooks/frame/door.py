"""The door of a local web server: on loopback, behind a random token."""

from __future__ import annotations

import secrets
import socket
from http.cookies import SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK: Final = "127.0.0.1"
_HOSTS: Final = (LOOPBACK, "localhost")
_TOKEN: Final = "token"
"""Of the address's query, and of the cookie that the first visit gets."""
_REFUSED: Final = (
    "Open the address that the command printed: it has a token that this request lacks.\n"
)


def guarded(token: str) -> list[Middleware]:
    """What stands before an application: its own hosts alone, and the token."""
    return [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(_HOSTS)),
        Middleware(Guard, token=token),
    ]


class Guard:
    """Lets only those in who know the token; the address is asked once, then a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        cookie = f"raidlab-{asked.url.port}"
        given = parse_qs(asked.url.query).get(_TOKEN, [""])[0]
        if scope["type"] == "websocket" and not _own_origin(asked):
            await send({"type": "websocket.close", "code": 4403})
        elif self._right(SimpleCookie(asked.headers.get("cookie", "")).get(cookie)):
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and _same(given, self.token):
            # With two slashes a browser takes what follows for the name of another host.
            response = RedirectResponse("/" + asked.url.path.lstrip("/\\"), status_code=303)
            response.set_cookie(cookie, self.token, httponly=True, samesite="strict")
            await response(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(_REFUSED, status_code=403)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4403})

    def _right(self, morsel: object) -> bool:
        return _same(str(getattr(morsel, "value", "")), self.token)


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(errors="surrogatepass"), token.encode())


def _own_origin(asked: HTTPConnection) -> bool:
    """Whether a page of this server asks; to a cookie other ports of the host are the same site."""
    origin = asked.headers.get("origin")
    return origin is None or origin == f"http://{asked.headers.get('host', '')}"


def listening(port: int | None, usual: int) -> socket.socket:
    """A socket on loopback that takes connections, which wait until `serve` answers them.

    Args:
        port: 0 is any that is free; None the usual one, or if it is taken any that is free.
        usual: The port that a browser keeps what it stores by.

    Raises:
        OSError: The port is taken.
    """
    if port is None:
        try:
            return listening(usual, usual)
        except OSError:
            return listening(0, usual)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((LOOPBACK, port))
    made.listen()
    return made


def run(application: ASGIApp, door: socket.socket) -> None:
    """Serves until it is interrupted."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(application, log_level="error")).run(sockets=[door])
