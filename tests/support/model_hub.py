"""A server of files that can do what real ones do: ranges or none, redirects, cut connections,
changed files, wrong lengths. What it saw is in `requests`. And a folder that models are pulled
to."""

import hashlib
import http.server
import json
import re
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from check import equal
from tandem import BINARY, clean_environment, run


class Blob:
    """One file. The members say how it is served; they may be changed while a download runs."""

    def __init__(self, data: bytes, **how: Any) -> None:
        self.data = data
        self.etag = f'"{hashlib.md5(data).hexdigest()}"'
        self.last_modified: str | None = None
        self.ranges = True
        self.length = True  # Content-Length; without, chunked
        self.claimed_length: int | None = None  # Content-Length that is a lie
        self.redirect: str | None = None
        self.headers: dict[str, str] = {}
        self.cut_after: int | None = None  # bytes of each answer until the connection is dropped
        self.cuts = 0  # so many answers are cut; then no more
        self.status: int | None = None  # answer with this code
        self.failures = 0  # so many answers of 503 first
        self.delay: float = 0  # seconds between blocks
        self.wrong_range = False
        self.shorter_total = 0  # Content-Range claims so many bytes fewer
        self.on_request: Callable[[int], object] | None = (
            None  # called with the number of the request before it is answered
        )
        self.__dict__.update(how)

    def replace(self, data: bytes) -> None:
        self.data = data
        self.etag = f'"{hashlib.md5(data).hexdigest()}"'


class Hub:
    def __init__(self, files: dict[str, Blob], tls: tuple[Path, Path] | None = None) -> None:
        """files: path to Blob. tls: (certificate file, key file)."""
        self.files, self.lock = files, threading.Lock()
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.stopping = threading.Event()
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            server_version = "hub"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                hub.answer(self)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # a client that went away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server.server_port}"

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path.split("?")[0]
        with self.lock:
            self.requests.append((handler.path, {k.lower(): v for k, v in handler.headers.items()}))
            number = len(self.requests)
        blob = self.files.get(path)
        if blob is None:
            return self.plain(handler, 404)
        if blob.on_request:
            blob.on_request(number)
        if blob.redirect:
            return self.plain(handler, 302, Location=blob.redirect, **blob.headers)
        if blob.status:
            return self.plain(handler, blob.status)
        with self.lock:
            blob.failures -= 1
            fails = blob.failures >= 0
        if fails:
            return self.plain(handler, 503)
        self.file(handler, blob)

    @staticmethod
    def plain(handler: http.server.BaseHTTPRequestHandler, code: int, **headers: str) -> None:
        body = b"<html>not a model</html>"
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def file(self, handler: http.server.BaseHTTPRequestHandler, blob: Blob) -> None:
        data = blob.data
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range") or "")
        condition = handler.headers.get("If-Range")
        partial = (
            blob.ranges
            and wanted
            and (condition is None or condition in (blob.etag, blob.last_modified))
        )
        begin, end = 0, len(data)
        if partial and wanted:
            begin, end = int(wanted[1]), min(int(wanted[2] or len(data)) + 1, len(data))
            if begin >= len(data):
                return self.plain(handler, 416, **{"Content-Range": f"bytes */{len(data)}"})
        if partial and blob.wrong_range and end - begin > 1:
            begin += 1
        handler.send_response(206 if partial else 200)
        if partial:
            handler.send_header(
                "Content-Range", f"bytes {begin}-{end - 1}/{len(data) - blob.shorter_total}"
            )
        if blob.etag:
            handler.send_header("ETag", blob.etag)
        if blob.last_modified:
            handler.send_header("Last-Modified", blob.last_modified)
        for name, value in blob.headers.items():
            handler.send_header(name, value)
        if blob.length:
            handler.send_header("Content-Length", str(blob.claimed_length or end - begin))
        else:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        self.body(handler, blob, data[begin:end])

    def body(self, handler: http.server.BaseHTTPRequestHandler, blob: Blob, part: bytes) -> None:
        with self.lock:
            cut = (
                blob.cut_after
                if blob.cuts > 0 and blob.cut_after is not None and len(part) > 1
                else None
            )
            if cut is not None:
                blob.cuts -= 1
        for at in range(0, len(part), 65536):
            if cut is not None and at >= cut:
                handler.close_connection = True
                handler.connection.shutdown(2)
                return
            block = part[at : at + 65536]
            if not blob.length:
                handler.wfile.write(b"%x\r\n" % len(block))
            handler.wfile.write(block)
            if not blob.length:
                handler.wfile.write(b"\r\n")
            if blob.delay and self.stopping.wait(blob.delay):
                return
        if not blob.length:
            handler.wfile.write(b"0\r\n\r\n")


class Folder:
    """A model folder of its own."""

    def __init__(self, path: str | Path | None = None, **env: object) -> None:
        self.temporary = None if path else tempfile.TemporaryDirectory(prefix="tandem-models-")
        self.path = Path(path or (self.temporary.name if self.temporary else "")) / "models"
        self.env = clean_environment(TANDEM_MODELS=self.path, **env)
        for name in ("HF_TOKEN", "HF_ENDPOINT"):
            if name not in env:
                self.env.pop(name, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.temporary:
            self.temporary.cleanup()

    def pull(
        self, *arguments: object, timeout: float = 60
    ) -> tuple[int, list[dict[str, Any]], str]:
        code, out, err = run("models", "pull", *arguments, "--json", env=self.env, timeout=timeout)
        return code, [json.loads(line) for line in out.splitlines()], err

    def pulled(self, *arguments: object) -> dict[str, Any]:
        """Pulls, and gives the last event."""
        code, events, err = self.pull(*arguments)
        equal(code, 0, err)
        equal(events[-1]["event"], "pulled")
        return events[-1]

    def refused(self, *arguments: object, words: str | tuple[str, ...] = ()) -> str:
        """A pull that must fail, with these words, and leave no model."""
        code, events, err = self.pull(*arguments)
        equal(code, 1, err)
        for word in [words] if isinstance(words, str) else words:
            assert word in err, (word, err)
        assert err.count("\n") == 1, err
        equal(self.models(), [], "models after a failed pull")
        assert not any(event["event"] == "pulled" for event in events), events
        return err

    def models(self) -> list[str]:
        return sorted(path.name for path in self.path.glob("*.gguf")) if self.path.exists() else []

    def parts(self) -> list[str]:
        return sorted(path.name for path in self.path.glob("*.part*")) if self.path.exists() else []

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(BINARY), "models", "pull", *map(str, arguments)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
