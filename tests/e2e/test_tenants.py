#!/usr/bin/env python3
"""Keys share nothing: each endpoint of the table in src/api/api.c is walked with every object of
another tenant. What concerns all tenants takes an operator's key."""

import http.client
import json
import re
import shutil
import signal
import socket
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from foreign_bodies import BODIES, TEXT, chat_body, soon
from forms import upload
from kept_bytes import kept_bytes
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, SOON_S, Answer, Tandem, clean_environment, edge_first, run, wait_until

KEYS = {"a": "key-of-a", "b": "key-of-b", "boss": "key-of-the-operator"}
USER = "ann-canary"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
MASKING = "privacy: {pseudonyms: {on: true, classes: [sensitive, restricted]}}\n"
SERVER = "server: {api_keys_env: KEYS, operator_keys_env: BOSS}\nledger: {store_prompts: true}\n"
STRANGERS = "server: {api_keys_env: KEYS}\nledger: {store_prompts: true}\n"


def key(who):
    return {"Authorization": f"Bearer {KEYS[who]}"} if who else {}


def serve(config=SERVER, cloud=None, **env):
    env = {"TEST_CLOUD_KEY": "k", "KEYS": f"{KEYS['a']},{KEYS['b']}", "BOSS": KEYS["boss"], **env}
    return Tandem((edge_first(cloud.base_url) if cloud else "") + config, env=env)


def store_environment(state):
    return clean_environment(TANDEM_STATE_DIR=state)


# --- the walk ---


def routes():
    """The table of endpoints: [(method, path, owner)]."""
    source = (ROOT / "src" / "api" / "api.c").read_text()
    table = re.search(r"struct api_endpoint endpoints\[\] = \{\n(.*?)\n\};", source, re.DOTALL)
    assert table, "the table of endpoints is not where it was"
    found = []
    for line in table[1].splitlines():
        row = re.fullmatch(r'    ROW\((\w+), "([^"]+)", \w+, (\w+), \w+\),', line)
        assert row, f"a row of the table that this test cannot read: {line}"
        found.append(row.groups())
    return found


# Anybody may show a key there, and without one it says no.
LOGIN = ("POST", "/console/session")


def needs_key(method, path, owner):
    return owner != "NOBODY" or (method, path) == LOGIN


# What leaves things of the asking tenant's own, whatever is named.
INFERENCE = [
    path for path in BODIES if not path.startswith(("/tandem/", "/v1/files", "/v1/batches"))
]


def own_path(path):
    """The path in BODIES of which this one is another spelling."""
    plain = re.sub("^/(v1beta|v2|openai/v1|openai)/", "/v1/", path).replace("reranking", "rerank")
    return plain if plain in BODIES else "/v1" + plain


def body_of(path, name):
    own = own_path(path)
    assert own in BODIES, f"say in BODIES how a request to {path} names an object"
    return BODIES[own](name)


def own_things(tandem, who):
    """Makes one of each kind of object. {what it is: its name}"""
    headers = {**key(who), "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    answer = tandem.chat(
        TEXT,
        {**headers, "x-request-id": "order-canary", "x-tandem-mode": "only-local"},
        user=USER,
        max_tokens=2,
    )
    equal(answer.status, 200, answer.body.decode())
    exchange = answer.headers["x-tandem-exchange"]
    body = {"id": "consent-canary", "scope": "*", "expires": soon(), "user": USER}
    equal(tandem.request("POST", "/tandem/v1/consents", body, key(who)).status, 200)
    body = {"id": exchange, "ok": True, "comment": "comment-canary"}
    equal(tandem.request("POST", "/tandem/v1/feedback", body, key(who)).status, 200)
    body = {"model": "auto", "input": TEXT, "user": USER}
    embedded = tandem.request("POST", "/v1/embeddings", body, headers)
    equal(embedded.status, 200, embedded.body.decode())
    body = {"model": "local", "input": TEXT, "max_output_tokens": 16}
    kept = tandem.request("POST", "/v1/responses", body, key(who))
    equal(kept.status, 200, kept.body.decode())
    talk = tandem.request("POST", "/v1/conversations", {}, key(who))
    equal(talk.status, 200, talk.body.decode())
    row = {"custom_id": "line-canary", "method": "POST", "url": "/v1/embeddings", "body": {}}
    row["body"] = {"model": "auto", "input": TEXT}
    file = upload(tandem, json.dumps(row), "batch", "name-canary.jsonl", key(who))["id"]
    body = {"input_file_id": file, "endpoint": row["url"], "completion_window": "24h"}
    batch = tandem.request("POST", "/v1/batches", body, key(who))
    equal(batch.status, 200, batch.body.decode())
    path = f"/v1/batches/{batch.json['id']}"
    wait_until(
        lambda: tandem.get(path, headers=key(who)).json["status"] == "completed", what="the batch"
    )
    output = tandem.get(path, headers=key(who)).json["output_file_id"]
    waiting = tandem.chat(TEXT, {**key(who), "x-tandem-defer": "only"})
    equal(waiting.status, 202, waiting.body.decode())
    return {
        "deferred question": waiting.json["id"],
        "kept response": kept.json["id"],
        "exchange of a response": kept.headers["x-tandem-exchange"],
        "kept item": kept.json["output"][0]["id"],
        "conversation": talk.json["id"],
        "file": file,
        "batch": batch.json["id"],
        "file of a batch's answers": output,
        "exchange": exchange,
        "beginning of an id": exchange[:12],
        "trace": TRACE,
        "request": "order-canary",
        "consent": "consent-canary",
        "embeddings": embedded.headers["x-tandem-exchange"],
        "user": USER,
        "response": answer.json["id"],
    }


def state_of(tandem, who, things):
    """What a tenant's things are now, as its own key shows it."""
    shown = [
        tandem.get(f"/tandem/v1/exchanges/{things[name]}", headers=key(who))
        for name in ("embeddings", "exchange", "trace", "request")  # the last one is waited for
    ]
    equal([answer.status for answer in shown], [200] * 4)
    consents = tandem.get("/tandem/v1/consents", headers=key(who)).json["data"]
    return json.dumps([[answer.json for answer in shown], consents], sort_keys=True)


def showing(body, things):
    """What of somebody's things a body shows."""
    text = body.decode()
    canaries = ["canary", "Canary", things["exchange"], things["embeddings"], TRACE]
    return [canary for canary in canaries if canary in text]


def code_of(answer):
    """Ollama's errors have it beside the text."""
    error = answer.json["error"]
    return error["code"] if isinstance(error, dict) else answer.json["code"]


def events_of(path):
    """Whether it is a stream without an end."""
    return path.endswith(("/events", "/live"))


def first_event(tandem, path, headers):
    """What a stream without an end says first, or an error."""
    connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        got = connection.getresponse()
        named = {name.lower(): value for name, value in got.getheaders()}
        return Answer(got.status, named, got.read1(65536))
    finally:
        connection.close()


class Walk:
    """Asks for everything in the table, without a key and as a stranger, and keeps what is wrong.
    What leaves things of the stranger's own, with the names of the other's, comes last."""

    def __init__(self, tandem, table, things):
        self.tandem, self.things = tandem, things
        self.wrong, self.named = [], 0
        for method, path, owner in sorted(table):
            self.walk(method, path, owner)
            if owner == "TENANT":  # at once, because a look-up in vain takes a second
                with ThreadPoolExecutor(1 if path.endswith("/forget") else len(things)) as threads:
                    for what, name in things.items():
                        threads.submit(self.name_thing, method, path, what, name).add_done_callback(
                            self.count_named
                        )

    def expect(self, good, what):
        if not good:
            self.wrong.append(what)

    def ask(self, method, path, who, body=None):
        """An answer in which nothing of the other's may stand."""
        body = body if body is not None else {} if method == "POST" else None
        if events_of(path):
            return first_event(self.tandem, path, key(who))
        return self.tandem.request(method, path, body, key(who))

    def walk(self, method, path, owner):
        full, where = path.replace("*", "last"), f"{method} {path}"
        keyless, asked = self.ask(method, full, None), self.ask(method, full, "b")
        refused = keyless.status == 401
        self.expect(refused == needs_key(method, path, owner), where + " without a key")
        for answer in (keyless, asked):
            shown = showing(answer.body, self.things)
            self.expect(not shown, f"{where} shows {shown}")
        refused = asked.status == 403 and code_of(asked) == "operator_only"
        self.expect(refused == (owner == "OPERATOR"), f"{where}: {asked.status}")
        if owner in ("ALL", "NOBODY") and method == "GET":
            same = self.ask(method, full, "a")
            self.expect((same.status, same.body) == (asked.status, asked.body), where + " differs")

    def name_thing(self, method, path, what, name):
        """It is as if the other's thing were not there."""
        where = f"{method} {path} with another's {what}"
        absent = name[:-2] + ("zz" if name[-2:] != "zz" else "yy")
        told = []
        for asked in (name, absent):
            body = body_of(path, asked) if method == "POST" else None
            answer = self.ask(method, path.replace("*", asked), "b", body)
            text = answer.body.decode().replace(asked, "")
            told.append((answer.status, text))
            shown = showing(text.encode(), self.things)
            self.expect(asked == absent or not shown, f"{where} shows {shown}")
        self.expect("*" not in path or told[0][0] == 404, f"{where}: {told[0][0]}")
        makes = own_path(path) in INFERENCE or path.endswith("/consents") or events_of(path)
        self.expect(makes or told[0] == told[1], f"{where}: {told}")

    def count_named(self, done):
        self.named += done.exception() is None
        self.expect(done.exception() is None, repr(done.exception()))


@case
def test_a_stranger_gets_nothing_of_anybody_from_any_endpoint():
    table = routes()
    with serve(STRANGERS) as tandem:
        things = own_things(tandem, "a")
        before = state_of(tandem, "a", things)
        owned = [row for row in table if row[2] == "TENANT"]
        walk = Walk(tandem, table, things)
        assert not walk.wrong, "\n".join(walk.wrong)
        equal(walk.named, len(owned) * len(things), "what was named")
        equal(state_of(tandem, "a", things), before, "what was attacked")
        # The walk names things that are there: their owner finds them under these names.
        for what in ("exchange", "beginning of an id", "trace", "request"):
            found = tandem.get(f"/tandem/v1/exchanges/{things[what]}", headers=key("a"))
            equal(found.status, 200, what)
        path = f"/tandem/v1/consents/{things['consent']}"
        equal(tandem.request("DELETE", path, None, key("a")).status, 200)
        body = {"user": things["user"]}
        answer = tandem.request("POST", "/tandem/v1/forget", body, key("a"))
        equal(answer.status, 200, answer.body.decode())
        erased = [answer.json[name] for name in ("exchanges", "comments", "consents")]
        equal(erased, [2, 1, 1], "erased")
        own = (
            f"responses/{things['kept response']}",
            f"conversations/{things['conversation']}",
            f"files/{things['file']}",
            f"batches/{things['batch']}",
        )
        for path in own:
            equal(tandem.get(f"/v1/{path}", headers=key("a")).status, 200, path)
        path = f"/tandem/v1/deferred/{things['deferred question']}"
        equal(tandem.get(path, headers=key("a")).status, 200, path)


@case
def test_a_stranger_with_a_key_of_the_store_gets_nothing_and_a_revoked_one_nothing_at_all():
    state = tempfile.mkdtemp(prefix="tandem-tenants-state-")
    before = dict(KEYS)
    try:
        for who in ("a", "b", "boss"):
            more = ["--operator"] if who == "boss" else []
            code, out, err = run("keys", "add", who, "--json", *more, env=store_environment(state))
            equal(code, 0, err)
            KEYS[who] = json.loads(out)["key"]
        config = "ledger: {store_prompts: true}\n"
        with Tandem(config, env={"TANDEM_STATE_DIR": state}) as tandem:
            things = own_things(tandem, "a")
            earlier = state_of(tandem, "a", things)
            walk = Walk(tandem, routes(), things)
            assert not walk.wrong, "\n".join(walk.wrong)
            equal(state_of(tandem, "a", things), earlier, "what was attacked")
            code, _, err = run("keys", "revoke", "b", env=store_environment(state))
            equal(code, 0, err)
            wait_until(
                lambda: tandem.get("/v1/models", headers=key("b")).status == 401,
                SOON_S,
                "the refusal",
            )
            for method, path, owner in routes():
                body = body_of(path, "x") if method == "POST" and owner == "TENANT" else None
                answer = tandem.request(method, path.replace("*", "x"), body, key("b"))
                asked = f"{method} {path} by a revoked key"
                equal(answer.status == 401, needs_key(method, path, owner), asked)
            equal(state_of(tandem, "a", things), earlier, "what was attacked")
            for name in KEYS.values():
                for file in Path(state).rglob("*"):
                    assert not file.is_file() or name.encode() not in kept_bytes(file), file
    finally:
        KEYS.update(before)
        shutil.rmtree(state)


@case
def test_every_endpoint_says_whose_its_things_are():
    owners = {(method, path): owner for method, path, owner in routes()}
    assert set(owners.values()) == {"NOBODY", "ALL", "TENANT", "OPERATOR"}, owners
    nobody = [path for (_, path), owner in owners.items() if owner == "NOBODY"]
    free = ["/", "/console/*", *["/console/session"] * 3]
    free += ["/health", "/healthz", "/readyz", "/v1/health"]
    equal(sorted(nobody), free, "what needs no key")
    tandem = [path for (_, path), owner in owners.items() if owner == "ALL" and "tandem" in path]
    shared = [
        "/tandem/v1/classify",
        "/tandem/v1/capabilities",
        "/tandem/v1/capabilities/events",
    ]
    equal(tandem, shared, "what all keys share of Tandem's own paths")
    # What shows all tenants' requests together. An endpoint that leaves this list is everybody's.
    operators = [
        f"{method} {path}" for (method, path), owner in owners.items() if owner == "OPERATOR"
    ]
    reads = "alarms calibration calibration/run config config/schema egress keys keys/* ramps"
    writes = "calibration/keep calibration/run config config/check drill keys keys/* keys/*/rotate"
    equal(
        sorted(operators),
        [
            "DELETE /tandem/v1/calibration/run",
            "DELETE /tandem/v1/keys/*",
            "DELETE /tandem/v1/store/pull",
            "GET /metrics",
            "GET /slots",
            *(f"GET /tandem/v1/{name}" for name in (*reads.split(), "shadows", "store")),
            "GET /tandem/v1/store/pull",
            "POST /api/pull",
            *(f"POST /tandem/v1/{name}" for name in writes.split()),
            *(f"POST /tandem/v1/{name}" for name in ("ramps/*", "replay")),
            "POST /tandem/v1/store/default",
            "POST /tandem/v1/store/pull",
            "POST /tandem/v1/tenants/*",
        ],
    )
    for (method, path), owner in owners.items():
        if method == "POST" and owner == "TENANT":
            assert body_of(path, "name"), path


# --- the operator ---


@case
def test_the_operator_sees_all_and_forgets_a_user_of_all():
    with serve() as tandem:
        things = own_things(tandem, "a")
        other = tandem.chat("Hello.", key("b"), user=USER, max_tokens=2)
        ids = {things[name] for name in ("exchange", "embeddings", "exchange of a response")}
        ids.add(other.headers["x-tandem-exchange"])
        wait_until(
            lambda: len(tandem.get("/tandem/v1/exchanges", headers=key("boss")).json["data"]) == 5,
            what="the four exchanges and that of the batch",
        )
        rows = tandem.get("/tandem/v1/exchanges", headers=key("boss")).json["data"]
        assert ids < {row["id"] for row in rows}, (ids, rows)
        tenants = {row["tenant"] for row in rows}
        assert len(tenants) == 2 and all(re.fullmatch("[0-9a-f]{16}", name) for name in tenants)
        for method, path, owner in routes():
            if owner == "OPERATOR" and method == "GET":
                wanted = 404 if "*" in path else 200
                equal(tandem.get(path, headers=key("boss")).status, wanted, path)
                equal(tandem.get(path, headers=key("a")).status, 403, path)
        body = {"user": USER}
        erased = tandem.request("POST", "/tandem/v1/forget", body, key("boss")).json
        equal([erased["exchanges"], erased["consents"]], [3, 1], "erased of both tenants")


@case
def test_a_refusal_says_how_to_become_the_operator():
    with serve(STRANGERS) as tandem:
        error = tandem.get("/metrics", headers=key("a")).json["error"]
        assert "there is none yet" in error["message"], error
        assert "server.operator_keys_env" in error["message"], error
    with serve() as tandem:
        error = tandem.get("/metrics", headers=key("a")).json["error"]
        assert "there is none yet" not in error["message"], error
        equal(tandem.get("/metrics", headers=key("boss")).status, 200)


@case
def test_the_only_key_is_the_operators_until_there_is_another():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "keys"
        file.write_text(KEYS["a"] + "\n")
        with Tandem(f"server: {{api_keys_file: {file}}}\n") as tandem:
            own = tandem.chat("Hello.", key("a"), max_tokens=2).headers["x-tandem-exchange"]
            equal(tandem.get("/metrics", headers=key("a")).status, 200)
            file.write_text(f"{KEYS['a']}\n{KEYS['b']}\n")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda: tandem.get("/v1/models", headers=key("b")).status == 200, what="new key"
            )
            equal(tandem.get("/metrics", headers=key("a")).status, 403)
            path = f"/tandem/v1/exchanges/{own}"
            equal(tandem.get(path, headers=key("a")).status, 200)
            equal(tandem.get(path, headers=key("b")).status, 404)


@case
def test_without_keys_everybody_on_this_machine_is_the_operator():
    with Tandem() as tandem:
        own = tandem.chat("Hello.", user=USER, max_tokens=2).headers["x-tandem-exchange"]
        equal(tandem.get(f"/tandem/v1/exchanges/{own}").json["tenant"], None)
        for method, path, _owner in routes():
            if method == "GET" and "*" not in path:
                wanted = 503 if path == "/tandem/v1/shadows" else 200
                found = first_event(tandem, path, {}) if events_of(path) else tandem.get(path)
                assert found.status in (200, wanted), path
        code, out, err = run("explain", own, "--url", tandem.url, env=tandem.environment)
        assert code == 0 and own.encode() in out, (out, err)
        code, out, err = run("forget", USER, "--url", tandem.url, env=tandem.environment)
        assert code == 0 and b"exchanges            1\n" in out, (out, err)


@case
def test_a_request_is_its_keys_whoever_else_asks_while_its_body_comes():
    config = SERVER.replace("server: {", "server: {workers: 1, ")
    with serve(config) as tandem:
        body = json.dumps(chat_body("nobody")).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Authorization: Bearer {KEYS['a']}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", tandem.port), timeout=20) as connection:
            connection.sendall(head.encode() + body[:9])
            for who in ("b", "boss"):
                equal(tandem.get("/v1/models", headers=key(who)).status, 200)
                equal(tandem.chat("Hello.", key(who), max_tokens=2).status, 200)
            connection.sendall(body[9:])
            answer = b""
            while more := connection.recv(65536):
                answer += more
        exchange = re.search(rb"(?i)x-tandem-exchange: (\S+)", answer)
        assert exchange, answer[:300]
        path = f"/tandem/v1/exchanges/{exchange[1].decode()}"
        equal(tandem.get(path, headers=key("a")).status, 200)
        equal(tandem.get(path, headers=key("b")).status, 404)


@case
def test_under_zero_retention_an_exchange_is_still_its_tenants():
    with serve(SERVER.split("ledger")[0] + "privacy: {zero_retention: true}\n") as tandem:
        own = tandem.chat("Hello.", key("a"), user=USER, max_tokens=2).headers["x-tandem-exchange"]
        path = f"/tandem/v1/exchanges/{own}"
        equal(tandem.get(path, headers=key("a")).json["user"], None)
        equal(tandem.get(path, headers=key("b")).status, 404)
        body = {"id": own, "ok": True}
        equal(tandem.request("POST", "/tandem/v1/feedback", body, key("b")).status, 404)
        equal(tandem.request("POST", "/tandem/v1/feedback", body, key("a")).status, 200)


# --- what is remembered ---


@case
def test_one_name_with_two_tenants_is_two_users():
    cloud = ScriptedCloud(Script(text="Cloud."))
    budget = "budgets: [{name: each, per: user, usd_per_day: 0.000001}]\n"
    cloudy = {"x-tandem-mode": "prefer-cloud", "x-tandem-user": USER}
    state = tempfile.mkdtemp(prefix="tandem-tenants-state-")
    try:
        with serve(SERVER + budget, cloud, TANDEM_STATE_DIR=state) as tandem:
            asked = [tandem.chat("hi", {**cloudy, **key(who)}) for who in ("a", "a", "b", "b")]
            equal([one.tandem["tier"] for one in asked], ["cloud", "local", "cloud", "local"])
            body = {"user": USER}
            erased = tandem.request("POST", "/tandem/v1/forget", body, key("b")).json
            equal(erased["exchanges"], 2, "erased of b's user")
            rows = tandem.get("/tandem/v1/exchanges", headers=key("a")).json["data"]
            equal([row["user"] for row in rows], [USER, USER], "a's user")
        boss = {**cloudy, **key("boss")}
        with serve(SERVER + budget, cloud, TANDEM_STATE_DIR=state) as tandem:  # as before
            equal(tandem.chat("hi", {**cloudy, **key("a")}).tandem["tier"], "local")
            equal(tandem.chat("hi", boss).tandem["tier"], "cloud")
    finally:
        shutil.rmtree(state)


@case
def test_remembered_starts_are_forgotten_with_their_tenant():
    cloud = ScriptedCloud(Script(text="Paris."))
    with serve(SERVER, cloud) as tandem:
        for who in ("a", "b"):
            equal(tandem.chat("What is the capital of France?", key(who), user=USER).status, 200)
        body = {"user": USER}
        erased = [
            tandem.request("POST", "/tandem/v1/forget", body, key(who)).json["similar"]
            for who in ("b", "b", "boss", "boss")
        ]
        assert erased[0] == erased[2] > 0 == erased[1] == erased[3], erased


@case
def test_keys_of_one_tenant_remain_two_apps_with_two_budgets():
    cloud = ScriptedCloud(Script(text="Cloud."))
    more = """budgets: [{name: each, per: key, usd_per_day: 0.000001}]
apps:
- {name: first, key_env: FIRST, tenant: shop}
- {name: second, key_env: SECOND, tenant: shop}
"""
    cloudy = {"x-tandem-mode": "prefer-cloud"}
    names = {"FIRST": KEYS["a"], "SECOND": KEYS["b"]}
    with serve(SERVER + more, cloud, **names) as tandem:
        for who, app in (("a", "first"), ("b", "second")):
            asked = [tandem.chat("hi", {**cloudy, **key(who)}) for _ in range(2)]
            equal([one.tandem["tier"] for one in asked], ["cloud", "local"], who)
            path = f"/tandem/v1/exchanges/{asked[0].headers['x-tandem-exchange']}"
            equal(tandem.get(path, headers=key("a")).json["signals"]["app"], app)


@case
def test_pseudonyms_and_their_forgetting_are_a_tenants_own():
    cloud = ScriptedCloud(Script(text="Cloud."))
    cloudy = {"x-tandem-mode": "only-cloud"}
    with serve(SERVER + MASKING, cloud) as tandem:

        def sent(who):
            answer = tandem.chat(TEXT, {**cloudy, **key(who)}, user=USER)
            equal(answer.status, 200, answer.body.decode())
            return json.dumps(cloud.requests[-1]["json"]["messages"])

        first, alias = sent("a"), cloud.requests[-1]["json"]["user"]
        other = sent("b")
        assert USER not in alias != cloud.requests[-1]["json"]["user"], alias
        assert "annacanary@" not in first + other, (first, other)
        assert first != other, "two tenants have one vault"
        equal(sent("a"), first, "the same conversation of the same tenant")
        body = {"user": USER}
        erased = tandem.request("POST", "/tandem/v1/forget", body, key("b")).json
        equal(erased["vaults"], 1, "vaults of b's user")
        equal(sent("a"), first, "after another tenant forgot its user of that name")


@case
def test_a_class_and_computed_prompts_are_a_tenants_own():
    cloud = ScriptedCloud(Script(text="Cloud."))
    turn = {"role": "user", "content": "Please remember what I say from now on."}
    card = {"role": "user", "content": "My card is 4111 1111 1111 1111."}
    reply = {"role": "assistant", "content": "Yes."}
    more = {"role": "user", "content": "Thank you."}
    with serve(SERVER, cloud) as tandem:
        equal(tandem.chat([turn, reply, card], key("a")).tandem["tier"], "local")
        cloudy = {"x-tandem-mode": "only-cloud"}
        equal(tandem.chat([turn, reply, more], {**cloudy, **key("a")}).status, 403)
        equal(tandem.chat([turn, reply, more], {**cloudy, **key("b")}).status, 200)
        long = "Explain the French revolution again and again, please, " * 6
        cached = []
        for who in ("a", "a", "b"):
            answer = tandem.chat(
                long, {"x-tandem-mode": "only-local", **key(who)}, user=USER, max_tokens=2
            )
            cached.append(answer.json["usage"]["prompt_tokens_details"]["cached_tokens"])
        assert cached[0] == 0 < cached[1] and cached[2] == 0, cached


@case
def test_a_tenant_forgets_only_its_own_computed_prompts():
    long = "Explain the French revolution again and again, please, " * 12
    with serve() as tandem:

        def cached(who):
            answer = tandem.chat(
                long, {"x-tandem-mode": "only-local", **key(who)}, user=USER, max_tokens=2
            )
            return answer.json["usage"]["prompt_tokens_details"]["cached_tokens"]

        def forget(who):
            answer = tandem.request("POST", "/tandem/v1/forget", {"user": USER}, key(who))
            equal(answer.json["caches"], True)

        equal((cached("a"), cached("b")), (0, 0))
        forget("a")
        assert cached("b") > 0, "another tenant's forgetting made it compute its prompt again"
        equal(cached("a"), 0)
        forget("boss")
        equal((cached("a"), cached("b")), (0, 0))


@case
def test_keys_of_one_name_share_and_rows_of_before_are_the_operators():
    apps = """apps:
- {name: old, key_env: OLD, tenant: shop}
- {name: new, key_env: NEW, tenant: shop}
"""
    state = tempfile.mkdtemp(prefix="tandem-tenants-state-")
    names = {"OLD": KEYS["a"], "NEW": "key-of-a-next", "TANDEM_STATE_DIR": state}
    keys = f"{KEYS['a']},{KEYS['b']},key-of-a-next"
    following = {"Authorization": "Bearer key-of-a-next"}
    try:
        with Tandem(env={"TANDEM_STATE_DIR": state}) as tandem:
            before = tandem.chat("Hello.", max_tokens=2).headers["x-tandem-exchange"]
        with serve(SERVER + apps, **{**names, "KEYS": keys}) as tandem:
            things = own_things(tandem, "a")
        with serve(SERVER + apps, **{**names, "KEYS": keys}) as tandem:
            path = f"/tandem/v1/exchanges/{things['exchange']}"
            equal(tandem.get(path, headers=following).status, 200)
            equal(tandem.get(path, headers=key("a")).status, 200)
            equal(tandem.get(path, headers=key("b")).status, 404)
            consents = tandem.get("/tandem/v1/consents", headers=following).json["data"]
            equal([item["id"] for item in consents], ["consent-canary"])
            path = f"/tandem/v1/exchanges/{before}"
            equal(tandem.get(path, headers=key("a")).status, 404)
            equal(tandem.get(path, headers=key("boss")).status, 200)
            for name in KEYS.values():
                for file in Path(state).rglob("*"):
                    assert not file.is_file() or name.encode() not in kept_bytes(file), file
    finally:
        shutil.rmtree(state)


if __name__ == "__main__":
    main(at_once=4)
