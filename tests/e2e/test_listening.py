#!/usr/bin/env python3
"""Where the server listens: sockets of paths, sockets that the service manager hands over, and
connections by a proxy that says whose they are."""

import json
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from tandem import BINARY, ROOT, Tandem, clean_environment, run, wait_until

ASK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def connect(path):
    found = socket.socket(socket.AF_UNIX)
    found.settimeout(10)
    found.connect(str(path))
    return found


def talk(connection, data):
    """What comes until the server closes."""
    with connection:
        connection.sendall(data)
        got = b""
        while more := connection.recv(65536):
            got += more
        return got


def chat_request(host="localhost"):
    body = json.dumps(
        {"model": "auto", "messages": [{"role": "user", "content": "What is the weather?"}]}
    )
    return (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nx-tandem-mode: only-local\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        f"\r\n{body}"
    ).encode()


@case
def test_a_path_and_a_port_are_served_beside_each_other():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sock"
        env = {"TANDEM_LISTEN": f"127.0.0.1:0,unix:{path}"}
        with Tandem(env=env) as tandem:
            equal(stat.S_IMODE(path.stat().st_mode), 0o660)
            assert b'"status":"ok"' in talk(connect(path), ASK)
            assert b" 200 OK" in talk(connect(path), chat_request())
            equal(tandem.get("/healthz").status, 200)
            # A page of a stranger does not come by a path either, whatever a proxy passes on.
            assert b"host_not_allowed" in talk(connect(path), chat_request("evil.example"))
            code, _, err = run("serve", "--listen", f"unix:{path}")
            assert code == 1 and "in use" in err and str(path) in err, err
            tandem.process.send_signal(signal.SIGKILL)
            tandem.process.wait()
            assert path.exists()
            with Tandem(env=env):  # the socket that was left behind is replaced
                assert b'"status":"ok"' in talk(connect(path), ASK)
        assert not path.exists()


@case
def test_commands_reach_the_server_by_its_path():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sock"
        listen = f'server: {{listen: ["127.0.0.1:0", "unix:{path}"]}}\n'
        with Tandem(listen, env={"TANDEM_LISTEN": None}) as tandem:
            state = {"TANDEM_STATE_DIR": tandem.state, "TANDEM_CONFIG": tandem.config}
            code, out, err = run("forget", "nobody", env=clean_environment(**state))
            assert code == 0 and b"memory of the confined worker were dropped" in out, (out, err)
            code, out, err = run(
                "chat", "--url", f"unix:{path}", "What is 2 + 2?", env=clean_environment()
            )
            assert code == 0 and b"4" in out, (out, err)


@case
def test_the_mode_and_mistakes_of_a_path_are_the_configurations():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sock"
        config = f'server: {{listen: ["127.0.0.1:0", "unix:{path}"], unix_mode: "0600"}}\n'
        with Tandem(config, env={"TANDEM_LISTEN": None}):
            equal(stat.S_IMODE(path.stat().st_mode), 0o600)
        path.write_text("a file")
        code, _, err = run("serve", "--listen", f"unix:{path}")
        assert code == 1 and "no socket has this name" in err, err
        equal(path.read_text(), "a file")
        code, out, _ = run(
            "doctor", "--offline", env=clean_environment(TANDEM_LISTEN=f"unix:{folder}/no/t.sock")
        )
        assert re.search(rb"warn  socket .*No\s+such\s+file\s+or\s+directory", out, re.S), out


@case
def test_other_machines_are_not_let_in_by_a_second_address():
    code, _, err = run("serve", "--listen", "127.0.0.1:0,0.0.0.0:0")
    assert code == 1 and "0.0.0.0:0 can be reached from other machines" in err, err


# What sd_listen_fds(3) says of how a service is started.
LAUNCH = """
import fcntl, os, sys
high = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[1].split(",")]
for place, fd in enumerate(high):
    os.dup2(fd, 3 + place)
    os.close(fd)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(high))
os.execv(sys.argv[2], sys.argv[2:])
"""


def start_with(sockets, *arguments, env):
    fds = [one.fileno() for one in sockets]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            LAUNCH,
            ",".join(map(str, fds)),
            str(BINARY),
            "serve",
            *arguments,
        ],
        pass_fds=fds,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@case
def test_sockets_of_the_service_manager_are_used_instead_of_addresses():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sock"
        by_port, by_path = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
        by_path.bind(str(path))
        by_path.listen()
        env = clean_environment(TANDEM_STATE_DIR=folder, TANDEM_LISTEN="127.0.0.1:1")
        port = by_port.getsockname()[1]
        # A client that comes before the server waits for it.
        early = socket.create_connection(("127.0.0.1", port))
        early.sendall(ASK)
        server = start_with([by_port, by_path], "--json", env=env)
        try:
            early.settimeout(30)
            assert b'"status":"ok"' in early.recv(65536)
            line = server.stdout.readline()
            while b"socket_handed_over" in line:
                line = server.stdout.readline()
            equal(json.loads(line)["url"], f"http://127.0.0.1:{port}")
            for _ in range(20):
                assert b'"status":"ok"' in talk(connect(path), ASK)
                assert b'"status":"ok"' in talk(socket.create_connection(("127.0.0.1", port)), ASK)
        finally:
            server.send_signal(signal.SIGTERM)
            equal(server.wait(20), 0)
        assert path.exists()  # it is the manager's
        pair = socket.socketpair()
        server = start_with([pair[0]], env=env)
        out, _ = server.communicate(timeout=30)
        equal(server.returncode, 1)
        assert b"no socket that listens" in out, out


@case
def test_a_public_socket_of_the_service_manager_needs_keys_too():
    public = socket.create_server(("0.0.0.0", 0))
    with tempfile.TemporaryDirectory() as folder:
        server = start_with([public], env=clean_environment(TANDEM_STATE_DIR=folder))
        out, _ = server.communicate(timeout=30)
    equal(server.returncode, 1)
    assert b"can be reached from other machines" in out, out


@case
def test_conversations_are_kept_apart_by_the_address_that_a_proxy_names():
    config = "server: {proxy_protocol_from: [127.0.0.0/8]}\nlog: {level: debug}\n"
    with Tandem(config) as tandem:

        def ask(header):
            connection = socket.create_connection(("127.0.0.1", tandem.port), timeout=30)
            try:
                return talk(connection, header + chat_request())
            except ConnectionResetError:  # closed with the request unread
                return b""

        assert b" 200 OK" in ask(b"PROXY TCP4 192.0.2.9 192.0.2.2 1000 443\r\n")
        equal(ask(b""), b"")
        equal(ask(b"PROXY TCP4 300.0.2.9 192.0.2.2 1000 443\r\n"), b"")
        wait_until(
            lambda: any("proxy_header_refused" in line for line in tandem.log), what="log line"
        )
        if shutil.which("curl"):
            asked = ["curl", "-s", "--haproxy-protocol", f"{tandem.url}/healthz"]
            done = subprocess.run(asked, capture_output=True, timeout=30)
            assert b'"status":"ok"' in done.stdout, done


@case
def test_the_socket_unit_is_one():
    unit = ROOT / "packaging" / "tandem.socket"
    assert "ListenStream=127.0.0.1:8080" in unit.read_text()
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not here")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tandem.socket"
        shutil.copy(unit, copy)
        service = Path(folder) / "tandem.service"
        service.write_text("[Service]\nExecStart=/bin/true\n")
        done = subprocess.run(
            ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=60
        )
        assert not [line for line in done.stderr.splitlines() if "tandem.socket" in line], done


if __name__ == "__main__":
    main()
