#!/usr/bin/env python3
"""HTTP/2 as clients meet it: curl, and h2load's many streams. tests/unit/net/test_h2.c has the
hostile ones, tests/clients/test_python.py a Python client."""

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from certificates import Authority
from check import Skip, case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_sse, wait_until

CHAT = {"model": "auto", "messages": [{"role": "user", "content": "What is the weather?"}]}


class Served:
    """A server with TLS, and curl for it."""

    def __init__(self, more="", extra="", client_ca=False):
        if not shutil.which("curl"):
            raise Skip("curl is not here")
        self.folder = tempfile.TemporaryDirectory()
        self.authority = Authority(Path(self.folder.name))
        cert, key = self.authority.issue("server", "DNS:localhost,IP:127.0.0.1")
        clients = f", client_ca_file: {self.authority.file}" if client_ca else ""
        config = (
            f"server:\n  tls: {{certificate_file: {cert}, key_file: {key}{clients}}}\n{extra}"
            f"log: {{level: debug}}\n{more}"
        )
        self.tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k"})
        self.url = f"https://localhost:{self.tandem.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tandem.stop()
        self.folder.cleanup()

    def command(self, path, *more):
        version = "%{stderr}v%{http_version} %{http_code}"
        base = ["curl", "-sN", "--http2", "--cacert", str(self.authority.file), "-w", version]
        return [*base, *more, self.url + path]

    def curl(self, path, *more, data=None):
        """(version and code, body)"""
        sent = ["--data-binary", "@-", "-H", "content-type: application/json"]
        done = subprocess.run(
            self.command(path, *more, *(sent if data is not None else [])),
            input=data or b"",
            capture_output=True,
            timeout=120,
        )
        return done.stderr.decode(), done.stdout

    def chat(self, *more, **members):
        mode = ("-H", "x-tandem-mode: only-local")
        data = json.dumps({**CHAT, **members}).encode()
        return self.curl("/v1/chat/completions", *mode, *more, data=data)


@case
def test_answers_and_streams_over_http2():
    with Served() as served:
        version, body = served.chat()
        equal(version, "v2 200", body)
        assert json.loads(body)["choices"][0]["message"]["content"]
        version, body = served.chat(stream=True)
        chunks, done = parse_sse(body)
        assert version == "v2 200" and done and len(chunks) > 2, body
        equal(served.chat("--http1.1")[0], "v1.1 200")
        equal(served.curl("/healthz", "-I")[0], "v2 200")
        version, body = served.curl("/v1/chat/completions", data=b"{")
        assert version == "v2 400" and json.loads(body)["error"]["message"], body
        plain = subprocess.run(
            ["curl", "-s", "--http2-prior-knowledge", f"http://127.0.0.1:{served.tandem.port}"],
            capture_output=True,
        )
        assert plain.returncode != 0  # the port speaks TLS


@case
def test_without_tls_http2_is_spoken_to_whoever_begins_with_it():
    if not shutil.which("curl"):
        raise Skip("curl is not here")
    asked = ["curl", "-s", "--http2-prior-knowledge", "-w", " v%{http_version}"]
    with Tandem() as tandem:
        done = subprocess.run([*asked, f"{tandem.url}/healthz"], capture_output=True, timeout=30)
        equal(done.stdout, b'{"status":"ok"} v2')
    with Tandem("server: {http2: false}\n") as tandem:
        done = subprocess.run([*asked, f"{tandem.url}/healthz"], capture_output=True, timeout=30)
        assert b"v2" not in done.stdout or done.returncode != 0, done


@case
def test_compressed_and_large_and_too_large_bodies():
    with Served(extra="  body_bytes_max: 400000\n") as served:
        system = [{"role": "system", "content": "x " * 60000}]
        large = json.dumps({**CHAT, "messages": system, "max_tokens": 1}).encode()
        for _ in range(3):
            version, body = served.curl("/v1/chat/completions", data=large)
            assert version in ("v2 200", "v2 400"), (version, body)
        version, body = served.curl("/v1/chat/completions", data=b"x" * 500000)
        equal(version, "v2 413", body)
        version, body = served.curl(
            "/v1/chat/completions", "-H", "content-encoding: gzip", data=b"x" * 500
        )
        equal(version, "v2 400", body)
        version, body = served.curl("/healthz", "-H", "x-a: " + "v" * 20000)
        assert version.startswith("v2 431"), (version, body)


@case
def test_a_client_with_a_certificate_is_the_same_over_http2():
    apps = "apps:\n  - {name: seven, certificate: device-7.fleet}\n"
    with Served(apps, client_ca=True) as served:
        cert, key = served.authority.issue("device-7", "DNS:device-7.fleet")
        other = served.authority.issue("device-8", "DNS:device-8.fleet")
        identity = ("--cert", str(cert), "--key", str(key))
        equal(served.chat(*identity)[0], "v2 200")
        equal(served.chat("--cert", str(other[0]), "--key", str(other[1]))[0], "v2 401")
        # The request as a whole is known by then, also where it went to another loop.
        system = [{"role": "system", "content": "x " * 60000}]
        data = json.dumps({**CHAT, "messages": system, "max_tokens": 1}).encode()
        version, body = served.curl("/v1/chat/completions", *identity, data=data)
        assert version in ("v2 200", "v2 400"), (version, body)


@case
def test_who_waits_for_100_continue_gets_it():
    with Served() as served:
        data = json.dumps(CHAT).encode()
        more = ("-H", "expect: 100-continue", "--expect100-timeout", "100", "-i")
        begin = time.monotonic()
        version, body = served.curl("/v1/chat/completions", *more, data=data)
        assert version == "v2 200" and time.monotonic() - begin < 50, (version, body)


@case
def test_a_stream_ends_at_the_tier_when_its_client_leaves():
    cloud = ScriptedCloud(Script(stall_after=2))
    with Served(edge_first(cloud.base_url)) as served:
        data = json.dumps({**CHAT, "stream": True})
        sent = ["-d", data, "-H", "content-type: application/json", "-H"]
        curl = subprocess.Popen(
            served.command("/v1/chat/completions", *sent, "x-tandem-mode: only-cloud"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert curl.stdout.read(20)
        curl.kill()
        curl.wait()
        wait_until(lambda: cloud.gone_count == 1, what="the end at the tier")


@case
def test_a_stop_lets_streams_end():
    cloud = ScriptedCloud(Script(text="one two three four five six", piece_delay=0.2))
    with Served(edge_first(cloud.base_url)) as served:
        answers = []

        def ask():
            data = json.dumps({**CHAT, "stream": True}).encode()
            mode = ("-H", "x-tandem-mode: only-cloud")
            answers.append(served.curl("/v1/chat/completions", *mode, data=data))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(cloud.requests) == 4, what="four requests")
        time.sleep(0.3)
        served.tandem.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        for version, body in answers:
            assert version == "v2 200" and parse_sse(body)[1], (version, body)
        equal(served.tandem.ended(20), 0)


@case
def test_many_streams_cost_no_descriptor_and_no_memory_that_stays():
    if not shutil.which("h2load"):
        raise Skip("h2load is not here")
    with Served() as served:
        pid = served.tandem.process.pid

        def load(count):
            done = subprocess.run(
                ["h2load", "-n", str(count), "-c", "10", "-m", "50", f"{served.url}/healthz"],
                capture_output=True,
                text=True,
                timeout=120,
            )
            found = re.search(r"(\d+) succeeded, (\d+) failed", done.stdout)
            equal((int(found[1]), int(found[2])), (count, 0), done.stdout)

        def descriptors():
            return len(list(Path(f"/proc/{pid}/fd").iterdir()))

        load(5000)
        time.sleep(0.5)
        open_then, rss = descriptors(), served.tandem.rss_bytes()
        load(20000)
        wait_until(lambda: descriptors() <= open_then, what="closed descriptors")
        assert served.tandem.rss_bytes() < rss + (4 << 20), (served.tandem.rss_bytes(), rss)


if __name__ == "__main__":
    main()
