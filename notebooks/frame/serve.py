"""The lab as a local web server: the index and every room, on loopback, behind a random token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import marimo
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from raidlab.notebooks.course import listed
from raidlab.notebooks.course.lessons import LESSONS, Lesson
from raidlab.notebooks.course.page import page_of
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.door import guarded
from raidlab.notebooks.frame.pages import index
from raidlab.notebooks.frame.parsing import one_at_a_time

PORT: Final = 8642
"""The usual one: a browser keeps predictions by address and port."""
_HEAD = """<noscript><style>body::before {
  content: "A live room needs scripts: allow them for this address. Lessons can be read without.";
  display: block; padding: 1rem;
}</style></noscript>
<style>#root:not(:has(marimo-anywidget))::before {
  content: "The room opens: Python starts and draws it, in some seconds on a quiet machine.";
  position: fixed; inset: 2rem auto auto 2rem; max-width: 75%; font: 16px system-ui, sans-serif;
}
@media (prefers-color-scheme: dark) {
:root, .dark, body { --background: #12181F !important; }
[data-testid=notebook-actions-dropdown] button {
  background: #12181F !important; color: #E8ECF1 !important; border-color: #2C3742 !important;
}
}
@media (max-width: 699px) {
[data-testid=notebook-actions-dropdown] { position: absolute !important; }
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
"""A word until a room is there; the dark background of rooms, around them and for marimo's menu,
too, which on a phone scrolls away; its buttons get names and an outline where they are focused."""


def _lesson(lesson: Lesson) -> Callable[[Request], HTMLResponse]:
    known = catalogue.names()

    def page(request: Request) -> HTMLResponse:
        return HTMLResponse(page_of(lesson, LESSONS, known, "/{}/", "/"))

    return page


def application(token: str) -> Starlette:
    """The index at `/`, and each room at `/NAME/`."""
    one_at_a_time()
    rooms = listed.rooms()
    lessons = [(f"/{each.name}/", each.heading) for each in LESSONS]
    page = index(rooms, {room.name: f"/{room.name}/" for room in rooms}, lessons)
    builder = marimo.create_asgi_app(quiet=True, include_code=True, html_head=_HEAD)
    for room in rooms:
        builder = builder.with_app(path=f"/{room.name}", root=str(catalogue.notebook(room.name)))
    return Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(page)),
            *(Route(f"/{each.name}/", _lesson(each)) for each in LESSONS),
            Mount("/", app=builder.build()),
        ],
        middleware=guarded(token),
    )
