"""Starts the real program on a free port with a state directory of its own, and talks to it."""

import contextlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("TANDEM_BINARY", ROOT / "build" / "tandem"))
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
NANO = ROOT / "models" / "nano" / "nano.gguf"


# Until what must come has come, or a test has failed: it costs nothing where it comes.
WAIT_S = 60.0
# The same for what is promised "within a second": a busy machine may be late, but what only comes
# by itself, as a limit of a minute that ends, is not taken for it.
SOON_S = 20.0

# Of variables that configure a tier.
PROVIDERS = ("OPENAI_", "ANTHROPIC_", "AZURE_", "GEMINI_", "GOOGLE_", "AWS_", "GROQ_", "MISTRAL_")


def clean_environment(**extra: object) -> dict[str, str]:
    """The environment less everything that would configure the program."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TANDEM_", "OTEL_", *PROVIDERS)) and "proxy" not in key.lower()
    }
    env["AWS_EC2_METADATA_DISABLED"] = "true"  # a machine of AWS's may run the tests
    env.update({key: str(value) for key, value in extra.items() if value is not None})
    return env


def run(
    *arguments: object,
    stdin: bytes = b"",
    env: dict[str, Any] | None = None,
    timeout: float = 2 * WAIT_S,
) -> tuple[int, bytes, str]:
    """Runs a subcommand to its end: (exit code, stdout bytes, stderr text)."""
    done = subprocess.run(
        [str(BINARY), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=env or clean_environment(),
        timeout=timeout,
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self._member("choices")[0]["message"]["content"]

    @property
    def tandem(self) -> dict[str, Any]:
        return self._member("tandem")

    def _member(self, name: str) -> Any:
        """What a test expects of an answer; where it is missing, the answer itself says why."""
        found = self.json
        assert name in found, f"no {name} in an answer with {self.status}: {self.body!r}"
        return found[name]


class Tandem:
    """One running server. config: YAML text or None; `before` is called in its process before it
    starts; use as a context manager."""

    def __init__(
        self,
        config: str | None = None,
        env: dict[str, Any] | None = None,
        arguments: Sequence[str] = (),
        wait: bool = True,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.state = Path(tempfile.mkdtemp(prefix="tandem-test-"))
        self.config = None
        extra = {"TANDEM_STATE_DIR": self.state, "TANDEM_LISTEN": "127.0.0.1:0", **(env or {})}
        if config is not None:
            self.config = self.state / "tandem.yaml"
            self.config.write_text(config)
            extra["TANDEM_CONFIG"] = self.config
        self.environment = clean_environment(**extra)
        self._lines: list[str] = []
        self._unfinished = b""
        self._log_lock = threading.Lock()
        self.process = subprocess.Popen(
            [str(BINARY), "serve", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=before,
        )
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        self.port: int | None = None
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        if wait and not self._ready.wait(WAIT_S):
            self.stop(signal.SIGKILL)
            raise RuntimeError("tandem did not start:\n" + "".join(self.log))
        if wait and self.port is None:
            raise RuntimeError("tandem ended at once:\n" + "".join(self.log))

    @property
    def log(self) -> list[str]:
        """The lines written so far. A line that was written before an answer was given is there
        when the answer is: the pipe is read by whoever asks, not only by the thread beside."""
        self._drain()
        return self._lines

    def _drain(self) -> bool:
        """Takes what lies in the pipe; false at its end."""
        assert self.process.stdout
        with self._log_lock:
            while True:
                try:
                    piece = os.read(self.process.stdout.fileno(), 1 << 16)
                except BlockingIOError:
                    return True
                *lines, self._unfinished = (self._unfinished + piece).split(b"\n")
                if not piece and self._unfinished:
                    lines, self._unfinished = [self._unfinished], b""
                self._lines += [line.decode(errors="replace") + "\n" for line in lines]
                if not piece:
                    return False

    def _read_log(self) -> None:
        """Keeps the pipe from filling, and finds the port."""
        assert self.process.stdout
        seen, more = 0, True
        written = select.poll()
        written.register(self.process.stdout, select.POLLIN)
        while more:
            written.poll()
            more = self._drain()
            for line in self._lines[seen:]:
                found = re.search(r"ready.*https?://127\.0\.0\.1:(\d+)", line)
                if found and self.port is None:
                    self.port = int(found.group(1))
                    self._ready.set()
                seen += 1
        self._ready.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ended(self, timeout: float = WAIT_S) -> int:
        """Waits for the server to end by itself; its exit code. The log is whole then."""
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        return code

    def stop(self, with_signal: signal.Signals = signal.SIGTERM, timeout: float = WAIT_S) -> int:
        """Ends the server and gives its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        code = self.ended()
        if with_signal == signal.SIGTERM and any("Sanitizer" in line for line in self.log):
            raise AssertionError("a sanitizer reported:\n" + "".join(self.log))
        if self.state.exists():
            shutil.rmtree(self.state, ignore_errors=True)
        return code

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        timeout: float = 2 * WAIT_S,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(
                method, path, body, {"Content-Type": "application/json", **(headers or {})}
            )
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def chat(
        self,
        content: str | list[dict[str, Any]],
        headers: dict[str, str] | None = None,
        timeout: float = 2 * WAIT_S,
        **members: Any,
    ) -> Answer:
        """content: text of one user message, or a list of messages."""
        messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
        return self.request(
            "POST",
            "/v1/chat/completions",
            {"model": "auto", "messages": messages, "temperature": 0, **members},
            headers,
            timeout,
        )

    def stream(
        self,
        content: str | list[dict[str, Any]],
        headers: dict[str, str] | None = None,
        **members: Any,
    ) -> tuple[int, dict[str, str], list[dict[str, Any]], bool]:
        """A streamed chat: (status, headers, list of chunks, saw [DONE])."""
        answer = self.chat(content, headers, stream=True, **members)
        if "text/event-stream" not in answer.headers.get("content-type", ""):
            return answer.status, answer.headers, [answer.json], False
        chunks, done = parse_sse(answer.body)
        return answer.status, answer.headers, chunks, done

    def raw(self, data: bytes, timeout: float = 5) -> bytes:
        """Sends bytes as they are and reads until the server closes or is quiet."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            connection.sendall(data)
            got = b""
            try:
                while True:
                    more = connection.recv(65536)
                    if not more:
                        break
                    got += more
            except TimeoutError:
                pass
            return got

    def rss_bytes(self, field: str = "VmRSS") -> int:
        """field: VmHWM for the most that it ever was."""
        return rss_bytes(self.process.pid, field)


def rss_bytes(pid: int, field: str = "VmRSS") -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no " + field)


def parse_sse(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Chunks of an event stream; every event must be complete JSON or [DONE], [DONE] last."""
    chunks, done = [], False
    for block in body.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        if done:
            raise AssertionError(f"an event after [DONE]: {lines}")
        data = "\n".join(line.removeprefix("data:").lstrip(" ") for line in lines)
        if data == "[DONE]":
            done = True
        else:
            chunks.append(json.loads(data))
    return chunks, done


def parse_events(body: bytes) -> list[dict[str, Any]]:
    """The data of a stream whose events have names, as /v1/messages and /v1/responses write it:
    each says its name again as its type."""
    events = []
    for block in body.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        name, data = lines
        value = json.loads(data.removeprefix("data: "))
        if name != f"event: {value['type']}":
            raise AssertionError(f"an event whose name is not its type: {lines}")
        events.append(value)
    return events


def stream_text(chunks: list[dict[str, Any]]) -> str:
    return "".join(
        choice["delta"].get("content") or ""
        for chunk in chunks
        for choice in chunk.get("choices", [])
    )


def wait_until(
    condition: Callable[[], Any], seconds: float = WAIT_S, what: str = "condition"
) -> None:
    """Returns as soon as the condition holds. How long that may take is no promise of a test: a
    busy machine has its time. `seconds` is for what takes longer by itself."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError(f"{what} did not come true within {seconds} s")


def check_prompt(measure: Callable[[], float], seconds: float) -> None:
    """A promise of time: `measure` tells how long one try took. A busy machine may be late, so the
    promise holds where one of some tries keeps it."""
    took: list[float] = []
    while not took or (min(took) > seconds and len(took) < 8):
        took.append(measure())
    assert min(took) <= seconds, f"at best {min(took):.2f} s, and {seconds} s were promised"


def status_of(path: Path) -> dict[str, str]:
    """The fields of a /proc/PID/status."""
    return dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)


def workers(tandem: Tandem) -> list[int]:
    """Process ids of the server's children: the confined workers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            status = status_of(path)
        except OSError:
            continue
        if int(status["PPid"]) == tandem.process.pid and "Z" not in status["State"]:
            found.append(int(status["Pid"]))
    return found


def kill_workers(tandem: Tandem) -> int:
    """Kills the confined workers; how many there were. One may have ended by itself by then."""
    killed = 0
    for worker in workers(tandem):
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
            killed += 1
    return killed


EDGE_FIRST = """
tiers:
  - name: local
    kind: local
  - name: cloud
    kind: openai
    place: cloud
    model: scripted
    base_url: {base_url}
    api_key_env: TEST_CLOUD_KEY
    context_tokens: 128000
    price:
      input_usd_per_mtok: 0.15
      output_usd_per_mtok: 0.60
{tier_extra}
routes:
  - name: auto
    kind: hybrid
    tiers: [local, cloud]
"""


def edge_first(base_url: str, tier_extra: str = "") -> str:
    """The two-tier configuration that most tests use; tier_extra is indented YAML for the cloud
    tier."""
    return EDGE_FIRST.format(base_url=base_url, tier_extra=tier_extra)
