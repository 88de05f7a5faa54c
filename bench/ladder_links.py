"""Links between the gateway and the servers of its ladder, on which faults can be switched on.

A link looks like a server. It counts the requests that it gets and the tokens that it hands back,
and either answers by a script or passes everything on to a real server behind it."""

import json
import select
import socket
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from scripted_cloud import Script, ScriptedCloud

# What can be wrong with a link. A reload and a restart are done to processes, not to links.
FAULTS = ("refuse", "black hole", "429", "500", "cut", "slow", "garbage")

WORDS = "The answer to this is known and takes a few plain words to write down here ."


@dataclass
class Count:
    """What a link has seen."""

    requests: int = 0
    whole_answers: int = 0
    prompt_tokens: int = 0  # of whole answers, as they were told
    completion_tokens: int = 0
    bodies: list[bytes] = field(default_factory=list)


class Link(ScriptedCloud):
    """behind: the port of the real server; None = the script answers."""

    def __init__(self, behind: int | None = None) -> None:
        self.behind = behind
        self.fault: str | None = None
        self.count = Count()
        self._fillers: list[socket.socket] = []
        super().__init__(Script(text=WORDS, piece_delay=0.002))

    # -- faults ------------------------------------------------------------------------------------

    def begin(self, fault: str) -> None:
        if fault in ("refuse", "black hole"):
            self.close()
        if fault == "black hole":
            self._listen_to_nobody()
        self.fault = fault

    def end(self) -> None:
        fault, self.fault = self.fault, None
        for filler in self._fillers:
            filler.close()
        self._fillers.clear()
        if fault in ("refuse", "black hole"):
            if fault == "black hole":
                self._listener.close()
            self._listen(256)
            self._closed = False
            threading.Thread(target=self._accept, daemon=True).start()

    def _listen(self, backlog: int) -> None:
        """On the port that the link has had from the beginning."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(backlog)
        self._listener = listener

    def _listen_to_nobody(self) -> None:
        """A queue of connections that is full: the kernel then drops what knocks, as a firewall
        does."""
        self._listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.port))
            self._fillers.append(filler)

    # -- answers -----------------------------------------------------------------------------------

    def _answer(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        if request["method"] != "POST":
            return super()._answer(connection, request)
        with self._lock:
            self.count.requests += 1
            self.count.bodies.append(request["body"])
        fault = self.fault
        if fault in ("refuse", "black hole"):  # a connection of before
            self._wait(connection, 3600)
            return False
        if fault == "cut":
            return self._cut(connection, request)
        if fault == "garbage":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x00\xff{\x01garb")
            return False
        if fault in ("429", "500"):
            error = {"error": {"message": "too much", "type": "scripted"}}
            extra = ["Retry-After: 2"] if fault == "429" else []
            return self._send_json(connection, int(fault), error, extra)
        if fault == "slow":
            self._wait(connection, 20)
        return (
            self._pass_on(connection, request) if self.behind else self._script(connection, request)
        )

    def _script(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        usage = self._usage(self.script, request["json"] or {})
        going_on = super()._answer(connection, request)
        self._count_whole(usage)
        return going_on

    def _cut(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        """Three words, then a reset."""
        wants = request["json"] or {}
        if not wants.get("stream"):
            return self._reset(connection)
        return self._stream(connection, replace(self.script, cut_after=3), wants)

    def _count_whole(self, usage: dict[str, Any]) -> None:
        with self._lock:
            self.count.whole_answers += 1
            self.count.prompt_tokens += usage["prompt_tokens"]
            self.count.completion_tokens += usage["completion_tokens"]

    def _pass_on(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        """Bytes go on as they come, and who leaves on one side leaves on the other. The usage is
        read on the way."""
        body, accept = request["body"], request["headers"].get("accept", "*/*")
        head = (
            f"POST {request['path']} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nAccept: {accept}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        whole = b""
        try:
            with socket.create_connection(("127.0.0.1", self.behind)) as server:
                server.sendall(head.encode() + body)
                while True:
                    ready, _, _ = select.select([connection, server], [], [])
                    if connection in ready:
                        break
                    data = server.recv(65536)
                    if not data:
                        break
                    connection.sendall(data)
                    whole += data
        except OSError:
            return self._reset(connection)
        usage = _usage_in(whole)
        if usage:
            self._count_whole(usage)
        return False


def _dechunked(data: bytes) -> bytes:
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        count = int(size or b"0", 16)
        out, data = out + data[:count], data[count + 2 :]
    return out


def _usage_in(answer: bytes) -> dict[str, Any] | None:
    head, _, answer = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        return None
    if b"chunked" in head.lower():
        answer = _dechunked(answer)
    events = [line[6:] for line in answer.splitlines() if line.startswith(b"data: {")]
    for text in [*reversed(events), answer]:
        try:
            usage = json.loads(text).get("usage")
        except ValueError:
            continue
        if usage:
            return usage
    return None


class Schedule(threading.Thread):
    """Switches faults on and off, as a seeded lot has it, until it is stopped."""

    def __init__(self, plan: list[tuple[float, float, Any]]) -> None:
        """plan: (begin_s, end_s, (begin, end) functions)."""
        super().__init__(daemon=True)
        self.steps = sorted(
            [(begin, i, do[0]) for i, (begin, _, do) in enumerate(plan)]
            + [(end, i, do[1]) for i, (_, end, do) in enumerate(plan)],
            key=lambda step: step[:2],
        )
        self.stopped = threading.Event()

    def run(self) -> None:
        start = time.monotonic()
        for at, _, do in self.steps:
            if self.stopped.wait(max(0.0, at - (time.monotonic() - start))):
                return
            do()
