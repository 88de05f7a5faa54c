"""What bench_gateway.py runs: the mock, the load generator, nginx, the gateway, and CPU time."""

import contextlib
import json
import os
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tandem import BINARY, Tandem

BUILD = BINARY.resolve().parents[2]
PROGRAMS = BUILD / "bench"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
NGINX_CONFIG = """
daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_body_buffer_size 256k;
  keepalive_requests 1000000;
  upstream mock {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} reuseport;
    location / {{
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
"""
LITELLM = os.environ.get("LITELLM_BIN")
LITELLM_CONFIG = """
model_list:
  - model_name: auto
    litellm_params: {{model: openai/mock, api_base: "http://127.0.0.1:{upstream}/v1", api_key: k}}
litellm_settings: {{telemetry: false, num_retries: 0}}
"""
TIERS = """
tiers:
  - {{name: cloud, kind: openai, place: cloud, model: mock, base_url: "http://127.0.0.1:{port}/v1",
      api_key_env: TEST_CLOUD_KEY, context_tokens: 400000}}
routes: [{{name: auto, kind: cloud-only, tiers: [cloud]}}]
"""


def build_programs() -> None:
    wanted = [f"bench/{name}" for name in ("gateway_mock", "gateway_load")]
    subprocess.run(["ninja", "-C", str(BUILD), "--quiet", *wanted], check=True)


def allow_many_files() -> None:
    """For this process and what it starts: a stream through a gateway needs four descriptors."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (max(most, 65536), most):
        with contextlib.suppress(ValueError, OSError):  # only root may have more
            return resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))


def tasks(pid: int) -> list[int]:
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def cpu_us(pids: Iterable[int]) -> float:
    """CPU time of all threads of these processes, as the scheduler counts it (nanoseconds)."""
    total = 0
    for pid in pids:
        for task in tasks(pid):
            total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    return total / 1000


def pin(pids: Iterable[int], cpus: set[int]) -> None:
    for pid in pids:
        for task in tasks(pid):
            os.sched_setaffinity(task, cpus)


class Mock:
    """gateway_mock with so many tokens a stream, one each interval_us; port 0: any."""

    def __init__(self, tokens: int, interval_us: int, port: int = 0) -> None:
        self.process = subprocess.Popen(
            [str(PROGRAMS / "gateway_mock"), str(tokens), str(interval_us), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


class Nginx:
    """nginx as a plain proxy before a port, one worker."""

    def __init__(self, upstream: int) -> None:
        assert NGINX
        self.folder = Path(tempfile.mkdtemp(prefix="bench-nginx-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = self.folder / "nginx.conf"
        config.write_text(
            NGINX_CONFIG.format(folder=self.folder, upstream=upstream, port=self.port)
        )
        self.process = subprocess.Popen([NGINX, "-p", str(self.folder), "-c", str(config)])
        self.pids = [self.process.pid, *self._worker()]

    def _worker(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for _ in range(100):
            if found := children.read_text().split():
                return [int(pid) for pid in found]
            time.sleep(0.02)
        raise RuntimeError("nginx did not start")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class LiteLLM:
    """LiteLLM's proxy before a port, one worker, without a database; the program is named by
    LITELLM_BIN."""

    def __init__(self, upstream: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-litellm-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = self.folder / "config.yaml"
        config.write_text(LITELLM_CONFIG.format(upstream=upstream))
        words = [LITELLM, "--config", config, "--host", "127.0.0.1", "--port", self.port]
        env = {
            **os.environ,
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        }
        self.process = subprocess.Popen(
            [str(word) for word in words],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pids = [self.process.pid]
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"{LITELLM} did not start")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Gateway(Tandem):
    """The gateway before a port."""

    def __init__(self, upstream: int, more: str = "") -> None:
        super().__init__(TIERS.format(port=upstream) + more, env={"TEST_CLOUD_KEY": "k"})

    @property
    def pids(self) -> list[int]:
        return [self.process.pid]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        value: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.stop()


@dataclass
class Round:
    """What one run of the load generator saw; times in microseconds."""

    seconds: float
    tokens: int
    failed: int
    failure: str  # the first
    whole: list[float]
    first: list[float]
    per_token: list[float]
    gap: list[float]
    delay_p50: float
    delay_p99: float
    cpu: float = 0.0  # of the gateway, in all


@dataclass
class Load:
    """A kind of request, and how it is asked."""

    path: str
    body: bytes
    connections: int = 1
    requests: int = 200
    ramp_us: int = 0
    cpus: set[int] | None = None
    headers: Sequence[str] = ()
    file: Path = field(init=False)

    def __post_init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="bench-body-")
        with os.fdopen(handle, "wb") as file:
            file.write(self.body)
        self.file = Path(name)

    def start(self, port: int) -> subprocess.Popen[str]:
        words = [port, self.path, self.file, self.connections, self.requests, self.ramp_us]
        cpus = self.cpus
        return subprocess.Popen(
            [str(PROGRAMS / "gateway_load"), *map(str, words), *self.headers],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
        )

    def result(self, running: subprocess.Popen[str]) -> Round:
        out, _ = running.communicate(timeout=900)
        seen = json.loads(out)
        lists: dict[str, Any] = {
            name: [ns / 1000 for ns in seen[name]]
            for name in ("whole", "first", "per_token", "gap")
        }
        delays: dict[str, Any] = {name: seen[name] / 1000 for name in ("delay_p50", "delay_p99")}
        plain: dict[str, Any] = {
            name: seen[name] for name in ("seconds", "tokens", "failed", "failure")
        }
        return Round(**plain, **lists, **delays)

    def run(self, port: int, pids: Sequence[int] = ()) -> Round:
        before = cpu_us(pids)
        seen = self.result(self.start(port))
        if seen.failed:
            raise RuntimeError(f"{seen.failed} requests failed; the first: {seen.failure}")
        seen.cpu = cpu_us(pids) - before
        return seen
