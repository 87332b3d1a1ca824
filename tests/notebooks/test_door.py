"""Who is let into the lab, and where a visitor is sent."""

import asyncio

import pytest

from raidlab.notebooks.frame.door import Guard

TOKEN = "a-long-random-token"


def asked(kind, path="/", query="", **headers):
    """What the door answers: a status and headers; 0 where the visitor is let in."""
    sent = []

    async def app(scope, receive, send):
        sent.append({"type": "in", "status": 0, "headers": []})

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind, "method": "GET", "scheme": "http", "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "server": ("127.0.0.1", 8642), "root_path": "",
        "headers": [
            (name.encode(), value.encode())
            for name, value in ({"host": "127.0.0.1:8642"} | headers).items()
        ],
    }  # fmt: skip
    asyncio.run(Guard(app, TOKEN)(scope, None, send))
    first = sent[0]
    return first.get("status", first.get("code")), dict(first.get("headers", []))


def test_a_token_of_other_letters_is_a_wrong_one():
    """It was a failure of the server, with a traceback."""
    assert asked("http", query="token=%C3%A9")[0] == 403
    assert asked("http", query="token=%ff")[0] == 403
    assert asked("http", cookie="raidlab-8642=\xe9")[0] == 403
    assert asked("http", query=f"token={TOKEN}")[0] == 303


@pytest.mark.parametrize("path", ["//other.example/", "/\\other.example/", "///x"])
def test_nobody_is_sent_to_another_host(path):
    status, headers = asked("http", path=path, query=f"token={TOKEN}")
    to = headers[b"location"].decode()
    assert status == 303 and to.startswith("/") and to[1] not in "/\\"


def test_a_websocket_is_for_pages_of_this_server():
    """Another port of the same host is the same site to a cookie."""
    cookie = {"cookie": f"raidlab-8642={TOKEN}"}
    assert asked("websocket", **cookie)[0] == 0
    assert asked("websocket", origin="http://127.0.0.1:8642", **cookie)[0] == 0
    for origin in ("http://127.0.0.1:9000", "http://localhost:8642", "https://x.example", "null"):
        assert asked("websocket", origin=origin, **cookie)[0] == 4403
