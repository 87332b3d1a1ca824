"""The planner's web server: the page, uploads, questions and files to download."""

from __future__ import annotations

import json
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from raidlab.devices.faults import SpecError
from raidlab.notebooks.frame.door import guarded
from raidlab.notebooks.planner.answers import PAGE_FILE, Desk
from raidlab.notebooks.planner.page import page
from raidlab.notebooks.planner.uploads import LARGEST_BYTES, Upload, UploadKind

PORT: Final = 8643
"""The usual one, beside that of the lab."""
_LARGEST_BODY: Final = 2 * LARGEST_BYTES
"""Of a request: JSON may take more bytes than the text in it."""
_NO_REQUEST: Final = "a JSON object, as the planner's page sends it"


class _Requests:
    """What the page asks for."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def upload(self, request: Request) -> Response:
        """Takes a file, and says what it is or why it is none."""
        body = await _body(request)
        name, text = str(body.get("name", "")), body.get("text")
        if not isinstance(text, str):
            return _wrong("the file is no text")
        try:
            found = await run_in_threadpool(self.desk.upload, name, text)
        except SpecError as error:
            return _wrong("; ".join(str(fault) for fault in error.faults))
        except Exception as error:  # A file that no reader foresaw is none; the page goes on.
            return _wrong(f"{name}: it cannot be read ({error})")
        return JSONResponse({"found": [_shown(each) for each in found]})

    async def uploads(self, request: Request) -> Response:
        """What was taken so far, for a page that is opened once more."""
        return JSONResponse({"found": [_shown(each) for each in self.desk.uploads.values()]})

    async def ask(self, request: Request) -> Response:
        """Begins to answer a question."""
        body = await _body(request)
        form = body.get("form")
        if not isinstance(form, dict):
            return _wrong(_NO_REQUEST)
        return JSONResponse({"number": self.desk.ask(str(body.get("tab", "")), form).number})

    async def answer(self, request: Request) -> Response:
        """Where a question stands; its answer once it is there."""
        asked = self.desk.asked.get(_number(request))
        if asked is None:
            return _wrong("this question is no longer here: ask it again", 404)
        return JSONResponse(asked.to_dict())

    async def stop(self, request: Request) -> Response:
        """Ends a question."""
        self.desk.stop(_number(request))
        return JSONResponse({})

    async def file(self, request: Request) -> Response:
        """A file of an answer."""
        asked = self.desk.asked.get(_number(request))
        name = request.path_params["name"]
        if asked is None or name not in asked.files:
            return PlainTextResponse("This file is no longer here: ask again.\n", 404)
        kind = "text/html" if name == PAGE_FILE else "application/octet-stream"
        disposition = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(asked.files[name], media_type=kind, headers=disposition)


def _shown(upload: Upload) -> dict[str, object]:
    return {
        "name": upload.name,
        "kind": upload.kind,
        "file": upload.file,
        "words": upload.words,
        "prices": [vars(each) for each in upload.prices],
        "warnings": list(upload.warnings),
        "load": upload.kind in (UploadKind.MONITORING, UploadKind.JOB),
        "closed": upload.closed,
    }


def _number(request: Request) -> int:
    return int(request.path_params["number"])


def _wrong(text: str, status: int = 200) -> JSONResponse:
    return JSONResponse({"wrong": text}, status)


async def _body(request: Request) -> dict[str, object]:
    """The request's object; empty for what is none, which then lacks what it must have."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST_BODY:
            return {}
        parts.append(part)
    try:
        found = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def application(token: str) -> Starlette:
    """The page at `/`, and what it asks for."""
    asked = _Requests(Desk())
    made = page()
    return Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(made)),
            Route("/upload", asked.upload, methods=["POST"]),
            Route("/uploads", asked.uploads),
            Route("/ask", asked.ask, methods=["POST"]),
            Route("/answer/{number:int}", asked.answer),
            Route("/stop/{number:int}", asked.stop, methods=["POST"]),
            Route("/files/{number:int}/{name}", asked.file),
        ],
        middleware=guarded(token),
    )
