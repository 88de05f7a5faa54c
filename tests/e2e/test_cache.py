#!/usr/bin/env python3
"""An answer that was kept is given again to the same request of the same user, in every dialect and
form, and nothing is sent for it. Nobody else gets it, and nothing private is in it."""

import hashlib
import json
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from gguf import write_embedder, write_ranker
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run, wait_until

ON = "\ncache: {answers: deterministic}\n"
CLOUD = {"x-tandem-mode": "only-cloud"}
ASK = "Why are there tides?"


def server(cloud, config=ON, **options):
    keys = {"TEST_CLOUD_KEY": "k", **options.pop("env", {})}
    return Tandem(edge_first(cloud.base_url) + config, env=keys, **options)


def ask(on, text=ASK, headers=None, **members):
    answer = on.chat(text, {**CLOUD, **(headers or {})}, **{"temperature": 0, **members})
    equal(answer.status, 200, answer.body.decode())
    return answer


def verdict(answer):
    return answer.headers.get("x-tandem-cache")


def reload(tandem, before, after):
    """Changes the configuration, and waits until it is in use."""
    tandem.config.write_text(tandem.config.read_text().replace(before, after))
    lines = len(tandem.log)
    tandem.process.send_signal(signal.SIGHUP)
    wait_until(lambda: any("config_reloaded" in line for line in tandem.log[lines:]))


@case
def test_the_same_request_is_sent_once():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    with server(cloud) as tandem:
        first, second = ask(tandem), ask(tandem)
        equal((verdict(first), verdict(second), len(cloud.calls())), ("miss", "hit", 1))
        equal((first.text, second.text), ("Because of the moon.",) * 2)
        equal((first.json["usage"], second.tandem["cache"]), (second.json["usage"], "hit"))
        assert 0 <= int(second.headers["age"]) < 60, second.headers
        assert first.tandem["exchange"] != second.tandem["exchange"]
        codes = [reason["code"] for reason in second.tandem["reasons"]]
        assert "cache_hit" in codes, codes
        record = tandem.get("/tandem/v1/exchanges/" + second.tandem["exchange"]).json
        equal([attempt["egress_bytes"] for attempt in record["attempts"]], [0])
        equal(record["signals"]["cache"], "hit")


@case
def test_a_hit_takes_nothing_of_the_tiers_limits():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    limited = edge_first(cloud.base_url, "    limits: {requests_per_minute: 2}\n") + ON
    with Tandem(limited, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        equal([verdict(ask(tandem)) for _ in range(5)], ["miss", *["hit"] * 4])
        equal(verdict(ask(tandem, "And why two a day?")), "miss")  # the second that is asked for
        answer = tandem.chat("And the sun?", CLOUD, temperature=0)
        assert answer.status in (429, 503), answer.body.decode()
        equal(verdict(ask(tandem)), "hit")  # also while the tier may not be asked
        equal(len(cloud.calls()), 2)


@case
def test_an_answer_that_was_kept_is_given_while_all_places_of_its_tier_are_taken():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    limited = edge_first(cloud.base_url, "    limits: {concurrent: 1}\n") + ON
    with Tandem(limited, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        equal(verdict(ask(tandem)), "miss")
        cloud.script.first_delay = 4
        slow = threading.Thread(target=lambda: tandem.chat("And the sun?", CLOUD), daemon=True)
        slow.start()
        wait_until(lambda: len(cloud.calls()) == 2)
        assert tandem.chat("And Mars?", CLOUD, temperature=0).status in (429, 503)
        equal(verdict(ask(tandem)), "hit")
        equal(len(cloud.calls()), 2)


@case
def test_answers_on_disk_outlive_a_restart_encrypted():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    on = "\ncache: {answers: deterministic, on_disk: true}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers"
        env = {"TANDEM_STATE_DIR": folder}
        with server(cloud, on, env=env) as tandem:
            equal(verdict(ask(tandem, user="u1")), "miss")
            equal(verdict(ask(tandem, "And the sun?")), "miss")
            assert not file.exists()
            tandem.stop()
        kept = file.read_bytes()
        assert b"moon" not in kept and b"TDANSW" not in kept, kept[:80]
        equal(file.stat().st_mode & 0o077, 0)
        with server(cloud, on, env=env) as tandem:
            assert not file.exists()
            time.sleep(1.2)
            again = ask(tandem, user="u1")
            equal(
                (verdict(again), again.text, len(cloud.calls())), ("hit", "Because of the moon.", 2)
            )
            assert int(again.headers["age"]) >= 1, again.headers
            equal(tandem.request("POST", "/tandem/v1/forget", {"user": "u1"}).status, 200)
            tandem.stop()
        with server(cloud, on, env=env) as tandem:  # what was forgotten is not there any more
            equal(verdict(ask(tandem, user="u1")), "miss")
            equal(verdict(ask(tandem, "And the sun?")), "hit")
            tandem.stop()
        # A changed byte anywhere, or nothing of it, is a cache less.
        kept = file.read_bytes()
        for broken in (kept[:-1] + bytes([kept[-1] ^ 1]), kept[: len(kept) // 2], b"", b"nonsense"):
            file.write_bytes(broken)
            with server(cloud, on, env=env) as tandem:
                assert any("answers_not_read" in line for line in tandem.log), tandem.log
                equal(verdict(ask(tandem, "And the sun?")), "miss")
                tandem.stop()
        brief = on.replace("true", "true, ttl_s: 2")
        with server(cloud, brief, env=env) as tandem:
            equal(verdict(ask(tandem, "And the wind?", user="u1")), "miss")
            tandem.stop()
        time.sleep(3)
        with server(cloud, brief, env=env) as tandem:  # and its time goes on while nothing runs
            equal(verdict(ask(tandem, "And the wind?", user="u1")), "miss")
            tandem.stop()
        assert file.exists()
        code, _, err = run("forget", "u1", env=clean_environment(**env))
        equal((code, file.exists()), (0, False), err)


@case
def test_without_the_key_nothing_is_kept():
    cloud = ScriptedCloud()
    with server(cloud, "") as tandem:
        answers = [ask(tandem), ask(tandem)]
        equal(([verdict(answer) for answer in answers], len(cloud.calls())), ([None, None], 2))


@case
def test_every_parameter_is_part_of_the_key():
    cloud = ScriptedCloud()
    changes = [
        {"max_tokens": 9},
        {"seed": 7},
        {"stop": ["x"]},
        {"top_p": 0.5},
        {"user": "bob"},
        {"response_format": {"type": "json_object"}},
        {"a_member_of_tomorrow": {"a": [1, 2]}},
        {"a_member_of_tomorrow": {"a": [2, 1]}},
        {"logit_bias": {"5": 1}},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": ASK}]},
    ]
    with server(cloud) as tandem:
        equal(verdict(ask(tandem)), "miss")
        for change in changes:
            members = {"model": "auto", "temperature": 0, **change}
            members.setdefault("messages", [{"role": "user", "content": ASK}])
            got = [tandem.request("POST", "/v1/chat/completions", members, CLOUD) for _ in range(2)]
            equal([answer.status for answer in got], [200, 200], f"{change} {got[0].body!r}")
            equal([verdict(answer) for answer in got], ["miss", "hit"], str(change))
        equal(verdict(ask(tandem)), "hit")


@case
def test_the_order_of_members_and_streaming_are_not():
    cloud = ScriptedCloud(Script(text="Because of the moon, and of the sun."))
    with server(cloud) as tandem:
        members = [
            '"model":"auto"',
            '"temperature":0',
            '"x":{"a":1,"b":2}',
            '"messages":[{"role":"user","content":"Hi"}]',
        ]
        body = "{" + ",".join(members) + "}"
        turned = "{" + ",".join(reversed(members)).replace('"a":1,"b":2', '"b":2,"a":1') + "}"
        got = [tandem.request("POST", "/v1/chat/completions", b, CLOUD) for b in (body, turned)]
        equal([verdict(answer) for answer in got], ["miss", "hit"])
        whole = ask(tandem)
        status, headers, chunks, done = tandem.stream(ASK, CLOUD, temperature=0)
        equal((status, done, headers["x-tandem-cache"]), (200, True, "hit"))
        text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
        equal(text, whole.text)
        equal(chunks[-1]["tandem"]["cache"], "hit")
        equal(len(cloud.calls()), 2)


@case
def test_random_answers_are_kept_where_the_request_or_the_configuration_says_so():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        equal([verdict(ask(tandem, temperature=1)) for _ in range(2)], [None, None])
        equal([verdict(ask(tandem, temperature=None)) for _ in range(2)], [None, None])
        use = {"x-tandem-cache": "use"}
        got = [verdict(ask(tandem, headers=use, temperature=1)) for _ in range(2)]
        equal(got, ["miss", "hit"])
        equal([verdict(ask(tandem, temperature=1, seed=3)) for _ in range(2)], ["miss", "hit"])
        reload(tandem, "deterministic", "all")
        equal([verdict(ask(tandem, "Else?", temperature=1)) for _ in range(2)], ["miss", "hit"])


@case
def test_a_request_may_refuse_or_refresh():
    cloud = ScriptedCloud(Script(text="old"))
    with server(cloud) as tandem:
        equal(verdict(ask(tandem)), "miss")
        for headers in ({"cache-control": "no-store"}, {"x-tandem-cache": "off"}):
            equal(verdict(ask(tandem, headers=headers)), None, str(headers))
        equal(verdict(ask(tandem, tandem={"cache": "off"})), None)
        cloud.script = Script(text="new")
        equal(ask(tandem).text, "old")
        fresh = ask(tandem, headers={"cache-control": "no-cache"})
        equal((verdict(fresh), fresh.text), ("miss", "new"))
        again = ask(tandem)
        equal((verdict(again), again.text), ("hit", "new"))
        equal(verdict(ask(tandem, tandem={"cache": "refresh"})), "miss")
        time.sleep(1.1)
        equal(verdict(ask(tandem, headers={"cache-control": "max-age=600"})), "hit")
        equal(verdict(ask(tandem, headers={"cache-control": "max-age=1"})), "miss")
        bad = tandem.chat(ASK, {**CLOUD, "x-tandem-cache": "please"})
        equal((bad.status, bad.json["error"]["param"]), (400, "x-tandem-cache"))


@case
def test_an_answer_grows_too_old():
    cloud = ScriptedCloud()
    with server(cloud, "\ncache: {answers: deterministic, ttl_s: 1}\n") as tandem:
        for number in range(50):  # until both came within the second, however busy the machine is
            asked, began = f"Question {number}?", time.monotonic()
            got = [verdict(ask(tandem, asked)) for _ in range(2)]
            if time.monotonic() - began < 1:
                break
        equal(got, ["miss", "hit"])
        time.sleep(1.2)
        equal(verdict(ask(tandem, asked)), "miss")


@case
def test_it_takes_no_more_memory_than_it_may():
    cloud = ScriptedCloud(Script(text="x" * 7000))
    with server(cloud, "\ncache: {answers: deterministic, bytes_max: 65536}\n") as tandem:
        for number in range(12):
            equal(verdict(ask(tandem, f"Question {number}?")), "miss")
        equal(
            (verdict(ask(tandem, "Question 11?")), verdict(ask(tandem, "Question 0?"))),
            ("hit", "miss"),
        )
        cloud.script = Script(text="y" * 20000)  # more than an eighth of all
        equal([verdict(ask(tandem, "Much?")) for _ in range(2)], ["miss", "miss"])
        metrics = tandem.get("/metrics").body.decode()
        values = dict(
            line.split(" ") for line in metrics.splitlines() if "tandem_cache" in line[:12]
        )
        assert 0 < float(values["tandem_cache_bytes"]) <= 65536, values
        assert float(values["tandem_cache_evicted_total"]) >= 4, values
        equal(float(values["tandem_cache_hits_total"]), 1.0)


@case
def test_only_whole_answers_are_kept():
    cloud = ScriptedCloud(Script(statuses=[500, 500], text="good"))
    with server(cloud) as tandem:
        tandem.chat(ASK, CLOUD, temperature=0)
        equal(ask(tandem).text, "good")
        cloud.script = Script(text="cut off here", cut_after=1)
        tandem.chat("Cut?", CLOUD, temperature=0)
        cloud.script = Script(text="by the server's own limit", finish="length")
        equal([verdict(ask(tandem, "Length?")) for _ in range(2)], ["miss", "miss"])
        cloud.script = Script(text="filtered", finish="content_filter")
        equal([verdict(ask(tandem, "Filter?")) for _ in range(2)], ["miss", "miss"])
        cloud.script = Script(text="now whole")
        answer = ask(tandem, "Cut?")
        equal((verdict(answer), answer.text), ("miss", "now whole"))


@case
def test_another_tenant_and_another_user_ask_anew():
    cloud = ScriptedCloud()
    keys = {"CLIENT_KEYS": "key-of-anna,key-of-bob"}
    config = ON + "server: {api_keys_env: CLIENT_KEYS}\n"
    with server(cloud, config, env=keys) as tandem:

        def by(key, **members):
            return verdict(ask(tandem, headers={"authorization": "Bearer " + key}, **members))

        equal([by("key-of-anna"), by("key-of-anna"), by("key-of-bob")], ["miss", "hit", "miss"])
        equal([by("key-of-anna", user="u"), by("key-of-anna", user="v")], ["miss", "miss"])


@case
def test_restricted_data_and_what_must_not_be_kept_is_not():
    cloud = ScriptedCloud()
    with server(cloud, "\ncache: {answers: all}\n") as tandem:
        card = "My card is 4111 1111 1111 1111."
        for _ in range(2):
            equal(verdict(tandem.chat(card, max_tokens=3, temperature=0)), None)
        for members in ({"tandem": {"data_class": "restricted"}},):
            answer = tandem.chat("Hello there", max_tokens=3, temperature=0, **members)
            equal((answer.status, verdict(answer)), (200, None))
        web = {"web_search_options": {}}
        equal([verdict(ask(tandem, **web)) for _ in range(2)], [None, None])
        several = ask(tandem, "Two?", temperature=1, n=2)
        equal((several.status, len(several.json["choices"])), (200, 2))
        count = len(cloud.calls())
        ask(tandem, "Two?", temperature=1, n=2)
        equal(len(cloud.calls()), count + 1, "the second of two answers is a new one")


@case
def test_with_pseudonyms_a_hit_has_the_callers_own_values():
    cloud = ScriptedCloud(Script(echo=True))
    pseudonyms = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
    with server(cloud, ON + pseudonyms) as tandem:
        letters = [f"Write to {name}@acme-corp.com at once." for name in ("mary.smith", "john.doe")]
        first = [ask(tandem, letter) for letter in letters]
        second = [ask(tandem, letter) for letter in letters]
        for letter, answer in zip(letters + letters, first + second, strict=True):
            assert letter.split()[2] in answer.text, (letter, answer.text)
        assert b"mary.smith" not in cloud.received and b"john.doe" not in cloud.received
        equal([verdict(answer) for answer in second], ["hit", "hit"])
        equal(len(cloud.calls()), 2)


@case
def test_every_dialect_replays_whole_and_as_a_stream():
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "mail", "arguments": '{"text":"hi"}'},
    }
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    chat_tool = {"type": "function", "function": {"name": "mail", "parameters": schema}}
    user = [{"role": "user", "content": ASK}]
    asked = {
        "/v1/chat/completions": {"messages": user, "tools": [chat_tool]},
        "/v1/messages": {
            "messages": user,
            "max_tokens": 50,
            "tools": [{"name": "mail", "input_schema": schema}],
        },
        "/v1/responses": {
            "input": ASK,
            "store": False,
            "tools": [{"type": "function", "name": "mail", "parameters": schema}],
        },
        "/api/chat": {"messages": user, "tools": [chat_tool], "options": {"temperature": 0}},
    }

    for path, members in asked.items():
        cloud = ScriptedCloud(
            Script(text="", pieces=[], extra_delta={"tool_calls": [call]}, finish="tool_calls")
        )
        with server(cloud) as tandem:
            base = {"model": "auto", "temperature": 0, **members}
            got = []
            for stream in (False, True, False, True):
                answer = tandem.request("POST", path, {**base, "stream": stream}, CLOUD)
                equal(answer.status, 200, f"{path} {answer.body!r}")
                assert b"mail" in answer.body and b"hi" in answer.body, (path, answer.body)
                got.append(verdict(answer))
            equal((got, len(cloud.calls())), (["miss", "hit", "hit", "hit"], 1), path)


@case
def test_a_hit_of_the_local_model_is_judged_as_before():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        got = [
            tandem.chat(
                "Say hello to my friend.",
                {"x-tandem-mode": "only-local"},
                temperature=0,
                max_tokens=8,
            )
            for _ in range(2)
        ]
        if verdict(got[0]) == "miss":  # a greeting is computed, and nothing of that is kept
            equal(verdict(got[1]), "hit")
        equal(
            (got[0].text, got[0].headers.get("x-tandem-confidence")),
            (got[1].text, got[1].headers.get("x-tandem-confidence")),
        )


@case
def test_what_a_hit_would_have_cost_is_saved():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    with server(cloud) as tandem:
        first, second = ask(tandem), ask(tandem)
        cost = first.tandem["cost_usd"]
        assert cost > 0, first.tandem
        equal((second.tandem["cost_usd"], second.tandem["all_cloud_cost_usd"]), (0, cost))
        wait_until(lambda: b"tandem_cache_saved_usd_total 0\n" not in tandem.get("/metrics").body)
        metrics = tandem.get("/metrics").body.decode().splitlines()
        saved = next(line for line in metrics if line.startswith("tandem_cache_saved_usd_total"))
        assert abs(float(saved.split()[1]) - cost) < 1e-9, (saved, cost)
        saved_usd = [0, 0]

        def written():
            code, out, err = run("report", "--json", env=tandem.environment)
            equal(code, 0, err)
            report = json.loads(out)
            saved_usd[:] = [report["cache_saved_usd"], report["saving_usd"]]
            return report["cache_hits"] == 1

        wait_until(written)
        assert max(abs(usd - cost) for usd in saved_usd) < 1e-9, (saved_usd, cost)
        _, out, _ = run("report", env=tandem.environment)
        assert "1 of 2 answers" in out.decode(), out.decode()


@case
def test_another_model_of_the_server_ends_what_the_last_one_gave():
    cloud = ScriptedCloud(Script(says={"system_fingerprint": "fp_1"}))
    with server(cloud) as tandem:
        equal([verdict(ask(tandem)) for _ in range(2)], ["miss", "hit"])
        cloud.script = Script(says={"system_fingerprint": "fp_2"})
        equal(verdict(ask(tandem, "Something else?")), "miss")
        equal([verdict(ask(tandem)) for _ in range(2)], ["miss", "hit"])


@case
def test_a_reload_keeps_answers_while_the_policy_stays():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        equal([verdict(ask(tandem)) for _ in range(2)], ["miss", "hit"])
        reload(tandem, "cache:", "# nothing\ncache:")
        equal(verdict(ask(tandem)), "hit")
        reload(tandem, "cache: {answers: deterministic", "cache: {answers: off")
        equal(verdict(ask(tandem)), None)
        reload(tandem, "answers: off", "answers: deterministic")
        equal(verdict(ask(tandem)), "miss")
        equal(verdict(ask(tandem)), "hit")


@case
def test_forget_drops_the_users_answers():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for user in ("anna", "bob"):
            equal([verdict(ask(tandem, user=user)) for _ in range(2)], ["miss", "hit"])
        answer = tandem.request("POST", "/tandem/v1/forget", {"user": "anna"})
        equal((answer.status, answer.json["answers"]), (200, 1))
        equal(
            (verdict(ask(tandem, user="anna")), verdict(ask(tandem, user="bob"))), ("miss", "hit")
        )


@case
def test_a_client_that_leaves_a_replay_does_no_harm():
    cloud = ScriptedCloud(Script(text=hashlib.sha256(b"x").hexdigest() * 2000))
    with server(cloud) as tandem:
        ask(tandem)
        body = json.dumps(
            {
                "model": "auto",
                "temperature": 0,
                "stream": True,
                "messages": [{"role": "user", "content": ASK}],
            }
        ).encode()
        head = (
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"x-tandem-mode: only-cloud\r\ncontent-type: application/json\r\n"
            b"content-length: " + str(len(body)).encode() + b"\r\n\r\n"
        )
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", tandem.port)) as connection:
                connection.sendall(head + body)
        equal(verdict(ask(tandem)), "hit")


MODELS = tempfile.TemporaryDirectory()
EMBEDDER = Path(MODELS.name) / "words.gguf"
WORDS = "why are there tides at the sea in on can i pay this by card a for it"
write_embedder(EMBEDDER, WORDS.split())
SIMILAR = (
    "\ncache: {answers: deterministic, similar: true, similar_threshold: 0.8}\n"
    f"engine: {{embedding_model: {EMBEDDER}}}\n"
)
WHY, WHY_SO = "Why are there tides at the sea?", "why are there tides in the sea"


@case
def test_a_similar_question_gets_the_answer_and_is_told_so():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    with server(cloud, SIMILAR) as tandem:
        first, again, similar = ask(tandem, WHY), ask(tandem, WHY), ask(tandem, WHY_SO)
        equal([verdict(answer) for answer in (first, again, similar)], ["miss", "hit", "similar"])
        equal((similar.text, len(cloud.calls())), ("Because of the moon.", 1))
        equal((similar.tandem["cache"], similar.tandem["cost_usd"]), ("similar", 0))
        likeness = float(similar.headers["x-tandem-cache-similarity"])
        assert 0.8 <= likeness < 1 and likeness == similar.tandem["cache_similarity"], likeness
        assert int(similar.headers["age"]) < 60
        told = similar.headers["x-tandem-disclosure"]
        assert "to a similar question" in told and told == similar.tandem["disclosure"], told
        equal((again.tandem["disclosure"], first.tandem["disclosure"]), (None, None))
        codes = [reason["code"] for reason in similar.tandem["reasons"]]
        assert "cache_similar" in codes and "cache_hit" not in codes, codes
        record = tandem.get("/tandem/v1/exchanges/" + similar.tandem["exchange"]).json
        equal(record["signals"]["cache"], "similar")
        equal([attempt["egress_bytes"] for attempt in record["attempts"]], [0])
        _, headers, chunks, done = tandem.stream(WHY_SO, CLOUD, temperature=0)
        text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
        equal((headers["x-tandem-cache"], text, done), ("similar", "Because of the moon.", True))
        metrics = tandem.get("/metrics").body.decode()
        assert "tandem_cache_similar_total 2\n" in metrics, metrics

        def hits():
            _, out, _ = run("report", "--json", env=tandem.environment)
            return json.loads(out)["cache_hits"]

        wait_until(lambda: hits() == 3)


@case
def test_what_two_questions_differ_in_forbids_the_answer():
    cloud = ScriptedCloud(Script(echo=True))
    pairs = {
        "numbers": ("Can I pay 50 euros by card?", "Can I pay 500 euros by card?"),
        "negations": ("Can I pay this by card?", "Can't I pay this by card?"),
        "names": ("Can I pay for it in Rome?", "Can I pay for it in Bonn?"),
        "quotations": ("Can I pay a 'gold' card?", "Can I pay a 'blue' card?"),
    }
    with server(cloud, SIMILAR) as tandem:
        for differs_in, (one, other) in pairs.items():
            equal(verdict(ask(tandem, one, user=differs_in)), "miss", one)
            answer = ask(tandem, other, user=differs_in)
            equal((verdict(answer), answer.text), ("miss", other))
            (why,) = [r for r in answer.tandem["reasons"] if r["code"] == "cache_unlike"]
            assert f"has other {differs_in}" in why["text"], why
        metrics = tandem.get("/metrics").body.decode()
        for differs_in in pairs:
            line = f'tandem_cache_unlike_total{{differs_in="{differs_in}"}} 1\n'
            assert line in metrics, metrics


@case
def test_all_but_the_question_must_be_the_same():
    cloud = ScriptedCloud()
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    schema = {"name": "s", "schema": {"type": "object", "properties": {}}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400}}

    def user(text):
        return {"role": "user", "content": text}

    def said(first, *others):
        return {"messages": [*({"role": r, "content": c} for r, c in first), *others]}

    changes = [
        {"max_tokens": 9},
        {"seed": 7},
        {"user": "bob"},
        {"tools": [tool]},
        {"a_member_of_tomorrow": 1},
        said([("system", "Be brief.")], user(WHY_SO)),
        said([("user", "Hello there"), ("assistant", "Hello.")], user(WHY_SO)),
    ]
    never = [
        {"response_format": {"type": "json_schema", "json_schema": schema}},
        {"logprobs": True},
        said([], {"role": "user", "content": WHY_SO, "name": "bob"}),
        {
            "messages": [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "x"},
                user(WHY_SO),
            ],
            "tools": [tool],
        },
        said([], user([{"type": "text", "text": WHY}, image])),
        {"tandem": {"data_class": "restricted"}},
    ]
    with server(cloud, SIMILAR) as tandem:
        equal(verdict(ask(tandem, WHY)), "miss")
        for change in changes + never:
            members = {"model": "auto", "temperature": 0, "messages": [user(WHY_SO)], **change}
            answer = tandem.request("POST", "/v1/chat/completions", members, CLOUD)
            assert verdict(answer) in ("miss", None), (change, answer.headers)
            assert b"cache_unlike" not in answer.body, change
        headers = {"cache-control": "no-cache"}
        equal(verdict(ask(tandem, WHY_SO, headers=headers)), "miss")
        equal(verdict(ask(tandem, "Why are there tides on the sea?")), "similar")
        # A part that is a text alone is the same as a text.
        parts = [{"type": "text", "text": "Why are tides there at the sea?"}]
        members = {"model": "auto", "temperature": 0, "messages": [user(parts)]}
        answer = tandem.request("POST", "/v1/chat/completions", members, CLOUD)
        equal(verdict(answer), "similar")


@case
def test_another_tenant_never_gets_a_similar_answer():
    cloud = ScriptedCloud()
    keys = {"CLIENT_KEYS": "key-of-anna,key-of-bob"}
    config = SIMILAR + "server: {api_keys_env: CLIENT_KEYS}\n"
    with server(cloud, config, env=keys) as tandem:

        def by(key, text):
            return verdict(ask(tandem, text, headers={"authorization": "Bearer " + key}))

        equal((by("key-of-anna", WHY), by("key-of-bob", WHY_SO)), ("miss", "miss"))
        equal(by("key-of-anna", WHY_SO), "similar")


@case
def test_a_call_is_of_its_question_alone():
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "mail", "arguments": '{"text":"hi"}'},
    }
    tool = {"type": "function", "function": {"name": "mail", "parameters": {"type": "object"}}}
    cloud = ScriptedCloud(
        Script(text="", pieces=[], extra_delta={"tool_calls": [call]}, finish="tool_calls")
    )
    with server(cloud, SIMILAR) as tandem:
        got = [verdict(ask(tandem, text, tools=[tool])) for text in (WHY, WHY_SO, WHY)]
        equal(got, ["miss", "miss", "hit"])


@case
def test_similar_questions_need_a_model_of_embeddings():
    cloud = ScriptedCloud()
    ranker = Path(MODELS.name) / "ranker.gguf"
    write_ranker(ranker)
    needs = {
        "cache: {answers: all, similar: true}\n": "add engine.embedding_model: FILE.gguf",
        f"cache: {{similar: true}}\nengine: {{embedding_model: {EMBEDDER}}}\n": "cache.answers",
        SIMILAR.replace(str(EMBEDDER), str(ranker)): "is a reranker",
    }
    for config, words in needs.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tandem.yaml"
            path.write_text(edge_first(cloud.base_url) + "\n" + config)
            env = clean_environment(
                TANDEM_CONFIG=path, TANDEM_STATE_DIR=folder, TANDEM_LISTEN="127.0.0.1:0"
            )
            code, _, err = run("serve", env=env)
            assert code != 0 and words in err, (code, err)


@case
def test_a_client_that_leaves_while_its_question_is_compared_does_no_harm():
    cloud = ScriptedCloud(Script(text="Because of the moon."))
    with server(cloud, SIMILAR) as tandem:
        equal(verdict(ask(tandem, WHY)), "miss")
        for number in range(20):
            members = {"model": "auto", "temperature": 0}
            text = f"Why are there tides at the sea, {'x' * 40 * (number % 8)}?"
            members["messages"] = [{"role": "user", "content": text}]
            body = json.dumps(members).encode()
            head = (
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                b"x-tandem-mode: only-cloud\r\ncontent-type: application/json\r\n"
                b"content-length: " + str(len(body)).encode() + b"\r\n\r\n"
            )
            with socket.create_connection(("127.0.0.1", tandem.port)) as connection:
                connection.sendall(head + body)
                time.sleep(0.001 * (number % 5))
        equal(verdict(ask(tandem, WHY_SO)), "similar")


main()
