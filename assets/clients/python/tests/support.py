"""What the tests share: a website to import, and a server whose responses the test sets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = b"""<!doctype html><html lang="en"><head><title>Mug House</title>
<meta name="description" content="Mugs that last"></head>
<body><h1>Mug House</h1><p>We make stoneware mugs by hand in a small workshop near Porto. We ship every order within two days.</p>
<footer>Mug House Lda, Rua 1, 4000-001 Porto, Portugal</footer></body></html>"""


class Server:
    """A server on loopback. `handle(request, number)` responds."""

    def __init__(self, handle: Callable[[Handler, int], None]) -> None:
        self.requests: list[Handler] = []
        outer = self

        class Own(Handler):
            def respond(self) -> None:
                outer.requests.append(self)
                handle(self, len(outer.requests))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def respond(self) -> None:
        raise NotImplementedError

    def _read(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            self.body = b"".join(parts)
        else:
            self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.respond()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _read

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Sends an envelope, or bytes as a page."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, bytes) else "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def drop(self) -> None:
        """Closes the connection without a response."""
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_: Any) -> None:
        pass


def shop() -> Server:
    """Starts the website of a made-up shop."""
    return Server(lambda request, _: request.answer(200, PAGE))


def success(data: Any, **more: Any) -> dict[str, Any]:
    return {"success": True, "data": data, "error": None, "metadata": {}, **more}


def failure(code: str, error: str, data: Any = None) -> dict[str, Any]:
    return {"success": False, "error": error, "code": code, "data": data, "metadata": {}}
