"""The lab as a local web server: the index and every room, on loopback, behind a random token."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

import marimo
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from raidlab.notebooks.course.lessons import LESSONS, Lesson
from raidlab.notebooks.course.page import page_of
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.pages import index

LOOPBACK = "127.0.0.1"
PORT = 8642
"""The usual one: a browser keeps predictions by address and port."""
_HOSTS = [LOOPBACK, "localhost"]
_TOKEN = "token"
"""Of the address's query, and of the cookie that the first visit gets."""
_HEAD = """<style>@media (prefers-color-scheme: dark) {
:root, .dark, body { --background: #12181F !important; }
[data-testid=notebook-actions-dropdown] button {
  background: #12181F !important; color: #E8ECF1 !important; border-color: #2C3742 !important;
}
}
[data-testid=notebook-actions-dropdown] button:focus-visible {
  outline: 2px solid #005B8E !important; outline-offset: 2px;
}</style>
<script>new MutationObserver(() => {
  for (const each of document.querySelectorAll("button:not([aria-label])")) {
    if (!each.textContent.trim()) {
      const menu = each.closest("[data-testid=notebook-actions-dropdown]");
      each.setAttribute("aria-label", each.title || (menu ? "Menu of the notebook" : "marimo"));
    }
  }
}).observe(document.documentElement, {childList: true, subtree: true});</script>"""
"""The dark background of rooms, around them and for marimo's menu, too; its buttons get
names and an outline where they are focused."""
_REFUSED = "Open the address that raidlab lab printed: it has a token that this request lacks.\n"


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
        cookie = f"raidlab-lab-{asked.url.port}"
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


def _lesson(lesson: Lesson) -> Callable[[Request], HTMLResponse]:
    known = catalogue.names()

    def page(request: Request) -> HTMLResponse:
        return HTMLResponse(page_of(lesson, LESSONS, known, "/{}/", "/"))

    return page


def application(token: str) -> Starlette:
    """The index at `/`, and each room at `/NAME/`."""
    rooms = catalogue.rooms()
    listed = [(f"/{each.name}/", each.heading) for each in LESSONS]
    page = index(rooms, {room.name: f"/{room.name}/" for room in rooms}, listed)
    builder = marimo.create_asgi_app(quiet=True, include_code=True, html_head=_HEAD)
    for room in rooms:
        builder = builder.with_app(path=f"/{room.name}", root=str(catalogue.notebook(room.name)))
    return Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(page)),
            *(Route(f"/{each.name}/", _lesson(each)) for each in LESSONS),
            Mount("/", app=builder.build()),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS),
            Middleware(Guard, token=token),
        ],
    )


def listening(port: int | None) -> socket.socket:
    """A socket on loopback that takes connections, which wait until `serve` answers them.

    Args:
        port: 0 is any that is free; None the usual one, or if it is taken any that is free.

    Raises:
        OSError: The port is taken.
    """
    if port is None:
        try:
            return listening(PORT)
        except OSError:
            return listening(0)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((LOOPBACK, port))
    made.listen()
    return made


def serve(door: socket.socket, token: str) -> None:
    """Serves until it is interrupted."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(application(token), log_level="error")).run(sockets=[door])
