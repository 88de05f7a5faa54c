#!/usr/bin/env python3
"""The server over TLS, as its operator and its clients meet it."""

import http.client
import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from certificates import Authority
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, parse_sse, run, wait_until

CHAT = {"model": "auto", "messages": [{"role": "user", "content": "What is the weather?"}]}
LOCAL = {"x-tandem-mode": "only-local", "content-type": "application/json"}


def config_of(cert, key, extra="", more=""):
    return (
        f"server:\n  tls: {{certificate_file: {cert}, key_file: {key}{extra}}}\n"
        f"log: {{level: debug}}\n{more}"
    )


def connect(tandem, authority, identity=None):
    context = ssl.create_default_context(cafile=str(authority.file))
    if identity:
        context.load_cert_chain(*map(str, identity))
    return http.client.HTTPSConnection("127.0.0.1", tandem.port, timeout=30, context=context)


def ask(connection, body=CHAT, headers=LOCAL):
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    got = connection.getresponse()
    return got.status, got.read()


@case
def test_the_command_line_trusts_what_ssl_cert_file_names():
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name))
        with Tandem(config_of(*authority.issue("server", "DNS:localhost,IP:127.0.0.1"))) as tandem:
            address = f"https://127.0.0.1:{tandem.port}"
            code, _, err = run("ask", "--url", address, "2+2", env=clean_environment())
            assert code == 1 and "SSL_CERT_FILE" in err, err
            environment = clean_environment(SSL_CERT_FILE=str(authority.file))
            code, out, err = run("ask", "--url", address, "2+2", env=environment)
            equal((code, out), (0, b"4\n"), err)


def shown_for(tandem, authority, name):
    """The common name of the certificate that a client of that name is shown."""
    context = ssl.create_default_context(cafile=str(authority.file))
    context.check_hostname = False
    with (
        socket.create_connection(("127.0.0.1", tandem.port), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname=name) as secure,
    ):
        subject = dict(pair for (pair,) in secure.getpeercert()["subject"])
        return subject["commonName"]


@case
def test_the_name_that_a_client_asks_for_chooses_the_certificate():
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name))
        first = authority.issue("first", "DNS:first.example,IP:127.0.0.1")
        pairs = [
            authority.issue("second", "DNS:second.example,DNS:*.second.example"),
            authority.issue("third", "DNS:third.example", days=2),
        ]
        more = ", ".join(f"{{certificate_file: {c}, key_file: {k}}}" for c, k in pairs)
        with Tandem(config_of(*first, f", more: [{more}]")) as tandem:
            for asked, shown in (
                ("first.example", "first"),
                ("second.example", "second"),
                ("a.second.example", "second"),
                ("third.example", "third"),
                ("nobody.example", "first"),
                (None, "first"),
            ):
                equal(shown_for(tandem, authority, asked), shown, str(asked))
            warned = [line for line in tandem.log if "certificate_read" in line]
            assert "level=warn" in warned[0], warned  # the first to end counts
            connection = connect(tandem, authority)
            equal(ask(connection)[0], 200)
            # A certificate of the list is replaced: whoever is connected goes on.
            authority.issue("third", "DNS:third.example,DNS:new.example")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: shown_for(tandem, authority, "new.example") == "third")
            equal(ask(connection)[0], 200)
            # One that cannot be read changes nothing.
            pairs[0][0].write_text("nonsense")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: any("certificate_rejected" in line for line in tandem.log))
            equal(shown_for(tandem, authority, "second.example"), "second")


@case
def test_chats_streams_and_large_bodies_go_over_tls():
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name))
        files = authority.issue("server", "DNS:localhost,IP:127.0.0.1")
        with Tandem(config_of(*files)) as tandem:
            connection = connect(tandem, authority)
            equal(ask(connection)[0], 200)
            status, body = ask(connection, {**CHAT, "stream": True})
            chunks, done = parse_sse(body)
            assert status == 200 and done and len(chunks) > 2, body
            for _ in range(3):  # to the loop for large requests and back
                large = {**CHAT, "messages": [{"role": "system", "content": "x " * 60000}]}
                status, body = ask(connection, {**large, "max_tokens": 1})
                assert status in (200, 400), body
                equal(ask(connection)[0], 200)
            status, body = tandem.get("/healthz").status, tandem.get("/healthz").body
            assert status == 400 and b"use https" in body, body
            if shutil.which("curl"):
                asked = ["curl", "-s", "--http1.1", "--cacert", str(authority.file)]
                done = subprocess.run(
                    [*asked, f"https://localhost:{tandem.port}/healthz"], capture_output=True
                )
                equal(done.stdout, b'{"status":"ok"}')


@case
def test_a_client_that_leaves_in_mid_stream_ends_the_work_for_it():
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name))
        files = authority.issue("server", "IP:127.0.0.1")
        cloud = ScriptedCloud(Script(stall_after=2))
        config = config_of(*files, more=edge_first(cloud.base_url))
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            connection = connect(tandem, authority)
            headers = {**LOCAL, "x-tandem-mode": "only-cloud"}
            streamed = json.dumps({**CHAT, "stream": True})
            connection.request("POST", "/v1/chat/completions", streamed, headers)
            answer = connection.getresponse()
            equal(answer.status, 200)
            assert answer.read(100)
            connection.sock.close()
            answer.close()
            wait_until(lambda: cloud.gone_count == 1, what="the end at the tier")


@case
def test_certificates_are_replaced_without_dropping_a_request():
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name))
        files = authority.issue("server", "IP:127.0.0.1", days=40)
        with Tandem(config_of(*files)) as tandem:
            stop, failures, answered = threading.Event(), [], []

            def load():
                kept = connect(tandem, authority)
                while not stop.is_set():
                    try:
                        for connection in (kept, connect(tandem, authority)):
                            connection.request("GET", "/healthz")
                            answered.append(connection.getresponse().read())
                    except Exception as failure:
                        failures.append(failure)

            threads = [threading.Thread(target=load) for _ in range(2)]
            for thread in threads:
                thread.start()
            authority.issue("server", "IP:127.0.0.1", days=50)
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: any("days_left=50" in line for line in tandem.log), what="SIGHUP")
            authority.issue("server", "IP:127.0.0.1", days=60)
            wait_until(lambda: any("days_left=60" in line for line in tandem.log), what="a look")
            files[0].write_text("nonsense")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda: any("certificate_rejected" in line for line in tandem.log), what="rejected"
            )
            rejected = [line for line in tandem.log if "certificate_rejected" in line]
            assert "kept=old" in rejected[0] and "server.pem" in rejected[0], rejected
            stop.set()
            for thread in threads:
                thread.join()
            equal(failures, [])
            assert len(answered) > 20
            with socket.create_connection(("127.0.0.1", tandem.port)) as plain:
                context = ssl.create_default_context(cafile=str(authority.file))
                with context.wrap_socket(plain, server_hostname="127.0.0.1") as shown:
                    ends = ssl.cert_time_to_seconds(shown.getpeercert()["notAfter"])
                    begins = ssl.cert_time_to_seconds(shown.getpeercert()["notBefore"])
                    equal(round((ends - begins) / 86400), 60)


@case
def test_the_doctor_warns_before_a_certificate_ends():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        authority = Authority(folder)
        config = folder / "tandem.yaml"

        def doctor():
            env = clean_environment(TANDEM_STATE_DIR=name)
            code, out, _ = run("doctor", "--offline", "--json", "--config", config, env=env)
            checks = json.loads(out)["checks"]
            found = [check for check in checks if check["name"] == "certificate"]
            return code, found[0]

        files = authority.issue("server", "IP:127.0.0.1", days=90)
        config.write_text(config_of(*files))
        equal(doctor()[1]["status"], "ok")
        authority.issue("server", "IP:127.0.0.1", days=20)
        code, found = doctor()
        assert found["status"] == "warn" and "20 days" in found["text"], found
        authority.issue("server", "IP:127.0.0.1", days=-1)
        code, found = doctor()
        assert code == 1 and found["status"] == "fail" and "ended" in found["text"], found
        files[1].chmod(0o644)
        code, found = doctor()
        assert code == 1 and "server.key" in found["text"] and "0644" in found["text"], found
        code, _, err = run("serve", "--config", config, env=clean_environment())
        assert code == 1 and "server.tls" in err and "server.key" in err, err


@case
def test_a_fleet_is_known_by_its_certificates():
    with tempfile.TemporaryDirectory() as name:
        authority, stranger = Authority(Path(name)), Authority(Path(name), "stranger")
        files = authority.issue("server", "IP:127.0.0.1")
        seven = authority.issue("device-7", "DNS:device-7.fleet")
        eight = authority.issue("device-8", "URI:spiffe://fleet/device-8")
        nine = authority.issue("device-9", "DNS:device-9.fleet")
        false = stranger.issue("false", "DNS:device-7.fleet")
        apps = (
            "apps:\n  - {name: seven, certificate: device-7.fleet}\n"
            "  - {name: eight, certificate: 'spiffe://fleet/device-8'}\n"
        )
        extra = f", client_ca_file: {authority.file}"
        with Tandem(config_of(*files, extra, apps)) as tandem:
            status, body = ask(connect(tandem, authority, seven))
            equal(status, 200, body)
            exchange = json.loads(body)["tandem"]["exchange"]

            def sees(identity):
                connection = connect(tandem, authority, identity)
                connection.request("GET", f"/tandem/v1/exchanges/{exchange}")
                return connection.getresponse().status

            wait_until(lambda: sees(seven) == 200, what="the record")
            equal(sees(eight), 404)
            equal(ask(connect(tandem, authority, nine))[0], 401)
            forged = {**LOCAL, "authorization": "Bearer certificate,device-7.fleet"}
            equal(ask(connect(tandem, authority, nine), headers=forged)[0], 401)
            for identity in (None, false):
                try:
                    status = ask(connect(tandem, authority, identity))[0]
                    raise AssertionError(f"got in: {status}")
                except (ssl.SSLError, ConnectionError, http.client.HTTPException):
                    pass
        extra += ", client_auth: optional"
        with Tandem(config_of(*files, extra, apps)) as tandem:
            equal(ask(connect(tandem, authority))[0], 401)
            equal(ask(connect(tandem, authority, seven))[0], 200)


if __name__ == "__main__":
    main()
