#!/usr/bin/env python3
"""Questions that wait for a connection: each is answered once, in order, with what holds when it
leaves; and what a server can is told while it changes."""

import http.client
import http.server
import json
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import SOON_S, Tandem, edge_first, run, wait_until

QUEUE = "/tandem/v1/deferred"
ONLY = {"x-tandem-defer": "only"}
ALLOW = {"x-tandem-defer": "allow", "x-tandem-mode": "only-cloud"}
FAST = "deferral: {per_minute: 60000}\n"


def serve(base_url: str, more: str = FAST, route: str = "", **env: str) -> Tandem:
    names = {"TEST_CLOUD_KEY": "k", **env}
    return Tandem(edge_first(base_url).rstrip("\n") + "\n" + route + more, env=names)


def again(before: Tandem, state: Path) -> Tandem:
    """A server that goes on with the state of one that has ended."""
    config = (state / "tandem.yaml").read_text()
    server = Tandem(config, env={**keys_of(before), "TANDEM_STATE_DIR": str(state)})
    shutil.rmtree(server.state)
    server.state = state
    return server


def keys_of(tandem: Tandem) -> dict[str, str]:
    return {
        name: value
        for name, value in tandem.environment.items()
        if name in ("TEST_CLOUD_KEY", "KEYS", "OPERATOR")
    }


def kill(tandem: Tandem, with_signal: signal.Signals) -> Path:
    """Ends the server, and gives its state folder, which stays."""
    tandem.process.send_signal(with_signal)
    tandem.ended(30)
    return tandem.state


def defer(tandem: Tandem, words: str, headers: dict[str, str] | None = None) -> str:
    answer = tandem.chat(words, headers or ALLOW)
    equal(answer.status, 202, answer.body.decode())
    equal(answer.json["status"], "waiting")
    equal(answer.headers["location"], f"{QUEUE}/{answer.json['id']}")
    return answer.json["id"]


def look(tandem: Tandem, name: str, headers: dict[str, str] | None = None) -> Any:
    return tandem.get(f"{QUEUE}/{name}", headers=headers).json


def wait_end(tandem: Tandem, name: str, headers: dict[str, str] | None = None) -> Any:
    wait_until(
        lambda: look(tandem, name, headers)["status"] not in ("waiting", "running"), 60, "its end"
    )
    return look(tandem, name, headers)


def said(one: Any) -> str:
    return one["response"]["body"]["choices"][0]["message"]["content"]


@case
def test_a_question_waits_while_no_cloud_can_be_reached_and_is_answered_when_one_can():
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1") as tandem:
        name = defer(tandem, "Question one")
        waiting = look(tandem, name)
        equal((waiting["object"], "response" in waiting), ("deferred", False))
        assert "reached" in waiting["reason"], waiting
        time.sleep(1.5)
        equal(look(tandem, name)["status"], "waiting")
        cloud = ScriptedCloud(Script(echo=True), port=port)
        ended = wait_end(tandem, name)
        equal((ended["status"], ended["response"]["status_code"]), ("answered", 200), str(ended))
        assert "Question one" in said(ended), ended
        equal(len(cloud.calls()), 1)
        listed = tandem.get(f"{QUEUE}?status=answered").json
        equal([one["id"] for one in listed["data"]], [name])
        equal(tandem.get(f"{QUEUE}?status=waiting").json["data"], [])


@case
def test_a_good_local_answer_is_given_at_once_and_only_waits_when_it_is_asked_to():
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1") as tandem:
        here = tandem.chat("Hello", {"x-tandem-defer": "allow", "x-tandem-mode": "only-local"})
        equal((here.status, here.tandem["place"]), (200, "device"))
        never = tandem.chat("Hello", {"x-tandem-mode": "only-cloud", "x-tandem-defer": "never"})
        equal(never.status, 503)
        equal(tandem.chat("Hello", {"x-tandem-mode": "only-cloud"}).status, 503)
        defer(tandem, "Hello", ONLY)
        equal(tandem.chat("Hello", {"x-tandem-defer": "perhaps"}).status, 400)
        body = {"stream": True, "tandem": {"defer": "allow", "mode": "prefer-cloud"}}
        streamed = tandem.chat("A stream", **body)
        equal(streamed.status, 202, streamed.body.decode())
        cloud = ScriptedCloud(Script(echo=True), port=port)
        assert "A stream" in said(wait_end(tandem, streamed.json["id"]))
        cloud.close()


@case
def test_other_dialects_wait_too_and_are_answered_in_their_own_form():
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1") as tandem:
        asked = {"messages": [{"role": "user", "content": "Hi"}]}
        bodies = {
            "/v1/messages": {"model": "auto", "max_tokens": 5, "stream": True, **asked},
            "/v1/responses": {"model": "auto", "input": "Hi", "stream": True},
            "/api/chat": {"model": "auto", **asked},
            "/v1beta/models/auto:streamGenerateContent": {
                "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]
            },
        }
        names = {}
        for path, body in bodies.items():
            answer = tandem.request("POST", path, body, ALLOW)
            equal(answer.status, 202, path + answer.body.decode())
            names[path] = answer.json["id"]
        ScriptedCloud(Script(text="Later."), port=port)
        ended = {path: wait_end(tandem, name) for path, name in names.items()}
        for path, one in ended.items():
            equal(one["status"], "answered", path + str(one))
        bodies = {path: one["response"]["body"] for path, one in ended.items()}
        equal(bodies["/v1/messages"]["content"][0]["text"], "Later.")
        equal(bodies["/v1/responses"]["output"][0]["content"][0]["text"], "Later.")
        equal(bodies["/api/chat"]["message"]["content"], "Later.")
        gemini = bodies["/v1beta/models/auto:streamGenerateContent"]
        equal(gemini["candidates"][0]["content"]["parts"][0]["text"], "Later.")


@case
def test_hours_offline_with_restarts_and_a_kill_answer_each_question_once_and_in_order():
    """200 questions, a withdrawn consent among them, and a server that ends five times: politely,
    and by a kill while it asks."""
    port = unused_port()
    route = "    consent: required\n"
    tandem = serve(f"http://127.0.0.1:{port}/v1", "deferral: {per_minute: 6000}\n", route)
    given = [
        tandem.request(
            "POST", "/tandem/v1/consents", {"scope": "auto", "expires": int(time.time()) + 9999}
        ).json["id"]
        for _ in range(2)
    ]
    names = []
    for number in range(200):
        consent = given[1] if number % 10 == 3 else given[0]
        names.append(defer(tandem, f"number {number:03}", {**ALLOW, "x-tandem-consent": consent}))
        if number in (60, 120):
            tandem = again(tandem, kill(tandem, signal.SIGTERM if number == 60 else signal.SIGKILL))
    tandem.request("DELETE", f"/tandem/v1/consents/{given[1]}")
    cloud = ScriptedCloud(Script(echo=True, first_delay=0.005), port=port)

    def ended() -> int:
        return sum(
            len(tandem.get(f"{QUEUE}?status={status}&limit=100").json["data"])
            for status in ("answered", "failed")
        )

    for share in (10, 25, 50):
        wait_until(lambda share=share: ended() >= share, 90, f"{share} answers")
        tandem = again(tandem, kill(tandem, signal.SIGKILL if share != 25 else signal.SIGTERM))
    wait_until(
        lambda: (
            not tandem.get(f"{QUEUE}?status=waiting").json["data"]
            and not tandem.get(f"{QUEUE}?status=running").json["data"]
        ),
        120,
        "the end of the queue",
    )
    order = []
    for number, name in enumerate(names):
        one = look(tandem, name)
        if number % 10 == 3:
            equal((one["status"], one["response"]["status_code"]), ("failed", 403), str(one))
            continue
        equal(one["status"], "answered", str(one))
        assert f"number {number:03}" in said(one), one
        order.append(f"number {number:03}")
    asked = [call["json"]["messages"][-1]["content"] for call in cloud.calls()]
    # A question that was being asked when the process died is asked again; nothing else is.
    once = [words for at, words in enumerate(asked) if at == 0 or asked[at - 1] != words]
    equal(once, order)
    assert len(asked) - len(once) <= 3, f"{len(asked)} requests of {len(once)} questions"
    tandem.stop()


@case
def test_a_full_queue_says_so_and_what_is_cancelled_or_forgotten_is_never_asked():
    port = unused_port()
    small = "deferral: {count_max: 3, per_minute: 60000}\n"
    with serve(f"http://127.0.0.1:{port}/v1", small) as tandem:
        first = defer(tandem, "first")
        second = defer(tandem, "second", {**ALLOW, "x-tandem-user": "ann"})
        third = defer(tandem, "third")
        full = tandem.chat("fourth", ALLOW)
        equal((full.status, full.json["error"]["code"]), (429, "deferral_full"), full.body)
        assert "deferral.count_max" in full.json["error"]["message"]
        gone = tandem.request("DELETE", f"{QUEUE}/{first}").json
        equal((gone["status"], gone["deleted"]), ("cancelled", False))
        equal(tandem.request("POST", "/tandem/v1/forget", {"user": "ann"}).json["deferred"], 1)
        equal(tandem.get(f"{QUEUE}/{second}").status, 404)
        fourth = defer(tandem, "fourth")
        cloud = ScriptedCloud(Script(echo=True), port=port)
        for name in (third, fourth):
            equal(wait_end(tandem, name)["status"], "answered")
        asked = [call["json"]["messages"][-1]["content"] for call in cloud.calls()]
        equal(asked, ["third", "fourth"])
        gone = tandem.request("DELETE", f"{QUEUE}/{third}").json
        equal((gone["status"], gone["deleted"]), ("answered", True))
        equal(tandem.get(f"{QUEUE}/{third}").status, 404)
        equal(tandem.request("DELETE", f"{QUEUE}/{third}").status, 404)


@case
def test_a_question_expires_and_its_text_goes():
    with serve(f"http://127.0.0.1:{unused_port()}/v1", "deferral: {expires_s: 1}\n") as tandem:
        name = defer(tandem, "a canary that nobody may find")
        data = (tandem.state / "deferred.db").read_bytes()
        data += (tandem.state / "deferred.db-wal").read_bytes()
        assert b"canary" not in data, "a question lies on the disk as it is"
        wait_until(lambda: look(tandem, name)["status"] == "expired", 80, "the end of its time")


@case
def test_tenants_see_their_own_questions_alone():
    port = unused_port()
    keys = "server: {api_keys_env: KEYS}\n"
    with serve(f"http://127.0.0.1:{port}/v1", FAST + keys, KEYS="key-of-a,key-of-b") as tandem:
        a, b = ({"Authorization": f"Bearer key-of-{who}"} for who in "ab")
        name = defer(tandem, "of a", {**ALLOW, **a})
        equal(tandem.get(f"{QUEUE}/{name}", headers=b).status, 404)
        equal(tandem.get(QUEUE, headers=b).json["data"], [])
        equal(tandem.request("DELETE", f"{QUEUE}/{name}", None, b).status, 404)
        equal([one["id"] for one in tandem.get(QUEUE, headers=a).json["data"]], [name])
        ScriptedCloud(Script(echo=True), port=port)
        equal(wait_end(tandem, name, a)["status"], "answered")


@case
def test_the_rate_after_a_connection_came_back_is_kept():
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1", "deferral: {per_minute: 120}\n") as tandem:
        names = [defer(tandem, f"n{number}") for number in range(5)]
        cloud = ScriptedCloud(Script(echo=True), port=port)
        times = []
        begin = time.monotonic()
        for name in names:
            wait_end(tandem, name)
            times.append(time.monotonic() - begin)
        equal(len(cloud.calls()), 5)
        assert times[-1] - times[0] >= 1.5, times  # four gaps of half a second


@case
def test_a_webhook_is_told_of_the_end_and_of_nothing_that_was_said():
    hook = Hook()
    more = f"""{FAST}webhooks:
  - {{name: own, url: "{hook.url}", secret_env: HOOK, events: [deferred.ended],
     allow_private: true}}
"""
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1", more, HOOK="a secret of 20 bytes") as tandem:
        name = defer(tandem, "a canary")
        cloud = ScriptedCloud(Script(text="Another canary."), port=port)
        wait_until(lambda: hook.bodies, what="the webhook")
        body = hook.bodies[0]
        equal((body["type"], body["data"]["id"]), ("deferred.ended", name))
        equal((body["data"]["status"], body["data"]["status_code"]), ("answered", 200))
        assert "canary" not in json.dumps(hook.bodies)
        equal(said(tandem.get(body["data"]["url"]).json), "Another canary.")
        cloud.close()


class Hook:
    """Takes webhooks."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.headers["webhook-signature"].startswith("v1,")
                outer.bodies.append(json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        threading.Thread(target=server.serve_forever, daemon=True).start()


@case
def test_the_command_lists_shows_and_cancels():
    with serve(f"http://127.0.0.1:{unused_port()}/v1") as tandem:
        name = defer(tandem, "Hello")
        url = ("--url", tandem.url)
        code, out, err = run("deferred", "list", *url)
        equal(code, 0, err)
        assert name in out.decode() and "waiting" in out.decode(), out
        code, out, err = run("deferred", "show", name, "--json", *url)
        equal((code, json.loads(out)["status"]), (0, "waiting"), err)
        code, out, err = run("deferred", "cancel", name, *url)
        equal(code, 0, err)
        assert "cancelled" in out.decode(), out
        code, out, err = run("deferred", "show", "def_none", *url)
        equal(code, 1)
        code, out, err = run("deferred", "show", *url)
        equal(code, 2)


# --- what the server can ---


class Events:
    """Reads the stream of capabilities in a thread: (seconds, event, data)."""

    def __init__(self, tandem: Tandem) -> None:
        self.seen: list[tuple[float, str, Any]] = []
        self._connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        self._connection.request("GET", "/tandem/v1/capabilities/events")
        self._answer = self._connection.getresponse()
        equal(self._answer.status, 200)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        event = ""
        while line := self._answer.readline():
            words = line.decode().rstrip("\n")
            if words.startswith("event: "):
                event = words[7:]
            elif words.startswith("data: "):
                self.seen.append((time.monotonic(), event, json.loads(words[6:])))

    def wait(self, count: int) -> tuple[float, str, Any]:
        wait_until(lambda: len(self.seen) >= count, what=f"{count} events")
        return self.seen[count - 1]


@case
def test_capabilities_name_what_is_missing_and_events_announce_its_return():
    cloud = ScriptedCloud(Script(echo=True))
    port = cloud.port
    with serve(cloud.base_url, FAST + "server: {shutdown_timeout_ms: 100000}\n") as tandem:
        whole = tandem.get("/tandem/v1/capabilities").json
        equal((whole["complete"], whole["missing"]), (True, []))
        equal((whole["features"]["larger_models"], whole["features"]["answers"]), (True, True))
        equal(whole["deferral"], {"default": "never"})
        events = Events(tandem)
        _, kind, state = events.wait(1)
        equal((kind, state["complete"], state["lost"]), ("capabilities", True, []))
        cloud.close()
        begin = time.monotonic()
        equal(tandem.chat("Hello", {"x-tandem-mode": "only-cloud"}).status, 503)
        at, kind, state = events.wait(2)
        assert at - begin < SOON_S, f"noticed after {at - begin:.2f} s"
        equal((kind, state["restored"]), ("changed", []))
        assert "larger_models" in state["lost"] and "tools" not in state["lost"], state
        (missing,) = state["missing"]
        equal((missing["tier"], missing["code"]), ("cloud", "unreachable"))
        assert "could not be reached" in missing["why"], missing
        assert "larger_models" in missing["features"]
        equal(tandem.get("/tandem/v1/capabilities").json["features"]["larger_models"], False)
        ScriptedCloud(Script(echo=True), port=port)
        _, kind, state = events.wait(3)
        equal((kind, state["complete"], state["lost"]), ("changed", True, []))
        assert "larger_models" in state["restored"], state
        begin = time.monotonic()
        tandem.process.send_signal(signal.SIGTERM)
        tandem.process.wait(2 * SOON_S)
        assert time.monotonic() - begin < SOON_S, "a stream of capabilities holds up the end"


@case
def test_one_key_leaves_streams_of_capabilities_to_others():
    keys = "server: {api_keys_env: KEYS, workers: 1}\n"
    path = "/tandem/v1/capabilities/events"
    with serve(f"http://127.0.0.1:{unused_port()}/v1", keys, KEYS="key-of-a,key-of-b") as tandem:
        held = []

        def open_as(who: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=20)
            connection.request("GET", path, headers={"Authorization": f"Bearer key-of-{who}"})
            answer = connection.getresponse()
            held.append((connection, answer))
            return answer.status

        equal([open_as("a") for _ in range(17)], [200] * 16 + [429])
        assert b"this key has too many" in held[-1][1].read()
        equal(open_as("b"), 200, "another key's")
        held.pop(0)[1].close()
        wait_until(lambda: open_as("a") == 200, what="room after one has gone")


@case
def test_a_link_that_goes_is_noticed_and_nothing_is_sent_to_find_out():
    cloud = ScriptedCloud(Script(echo=True))
    with tempfile_sys() as root:
        more = f"device: {{root: {root}}}\n{FAST}"
        with serve(cloud.base_url, more) as tandem:
            events = Events(tandem)
            events.wait(1)
            (root / "class/net/eth0/operstate").write_text("down\n")
            begin = time.monotonic()
            at, _, state = events.wait(2)
            # In two seconds, with the time that a busy machine takes.
            assert at - begin < SOON_S, f"noticed after {at - begin:.2f} s"
            equal(state["network"], "offline")
            wait_until(lambda: any("network_lost" in line for line in tandem.log), what="the log")
            (root / "class/net/eth0/operstate").write_text("up\n")
            _, _, state = events.wait(3)
            equal(state["network"], "online")
            wait_until(
                lambda: any("network_restored" in line for line in tandem.log), what="the log"
            )
        equal(cloud.received, b"")


class tempfile_sys:
    """A folder with one network interface, in the place of /sys."""

    def __enter__(self) -> Path:
        self.root = Path(tempfile.mkdtemp(prefix="tandem-sys-"))
        for folder in ("class/power_supply", "class/net/eth0/device"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "class/net/eth0/operstate").write_text("up\n")
        return self.root

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


@case
def test_an_outage_costs_one_probe_at_a_time_however_much_waits():
    """The door of a cloud that answers 502 to all but is watched: checks come seconds apart."""
    port = unused_port()
    with serve(f"http://127.0.0.1:{port}/v1") as tandem:
        for number in range(50):
            defer(tandem, f"n{number}")
        time.sleep(6)
        probes = sum("tier_probed" in line for line in tandem.log)
        assert probes <= 8, f"{probes} checks in 6 s"
        asked = sum("deferred_asked" in line for line in tandem.log)
        assert asked <= 2, f"{asked} questions were asked of a cloud that is away"


if __name__ == "__main__":
    main(at_once=4)
