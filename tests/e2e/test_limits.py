#!/usr/bin/env python3
"""What a key may use: requests and tokens a minute, budgets, models, tiers and classes, in each
dialect's own words."""

import contextlib
import json
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from key_store import Store, bearer
from scripted_cloud import Script, ScriptedCloud
from tandem import SOON_S, clean_environment, edge_first, run, wait_until

CLOUDY = {"x-tandem-mode": "only-cloud"}


def cloud_of(**script):
    return contextlib.closing(ScriptedCloud(Script(text="Cloud.", **script)))


def config_of(cloud, more=""):
    return edge_first(cloud.base_url) + more


def ask(tandem, key, headers=None, **members):
    return tandem.chat("Hello.", {**bearer(key), **(headers or {})}, max_tokens=4, **members)


def code_of(answer):
    return answer.status, answer.json["error"]["code"]


# --- a minute ---


@case
def test_requests_a_minute_are_counted_told_and_refused():
    with Store() as store, cloud_of() as cloud:
        key = store.add("shop", "--requests-per-minute", "3")
        free = store.add("free")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            left, began = [], time.monotonic()
            for _ in range(3):
                answer = ask(tandem, key, CLOUDY)
                equal(answer.status, 200, answer.body.decode())
                equal(answer.headers["x-ratelimit-limit-requests"], "3")
                left.append(answer.headers["x-ratelimit-remaining-requests"])
                said = re.fullmatch(
                    r"(?:(1)m0|(\d\d(?:\.\d+)?))s", answer.headers["x-ratelimit-reset-requests"]
                )
                assert said, answer.headers
                passed = time.monotonic() - began
                assert 59 - passed <= (60 if said[1] else float(said[2])) <= 60, said
            equal(left, ["2", "1", "0"])
            refused = ask(tandem, key, CLOUDY)
            equal(code_of(refused), (429, "rate_limit_exceeded"))
            passed = time.monotonic() - began
            assert 59 - passed <= int(refused.headers["retry-after"]) <= 60, refused.headers
            equal(refused.headers["x-ratelimit-remaining-requests"], "0")
            assert "x-should-retry" not in refused.headers, refused.headers
            assert "3" not in json.dumps(cloud.requests[3:]), "nothing of it reached the cloud"
            equal(len(cloud.requests), 3)
            other = ask(tandem, free, CLOUDY)
            equal(other.status, 200)
            assert not [name for name in other.headers if "ratelimit" in name], other.headers
            # What is no question to a model is not counted.
            equal(tandem.get("/v1/models", headers=bearer(key)).status, 200)
            store.keys("limit", "shop", "--requests-per-minute", "4")
            wait_until(lambda: ask(tandem, key, CLOUDY).status == 200, SOON_S, "the higher limit")


@case
def test_each_dialect_says_it_in_its_own_words():
    hello = [{"role": "user", "content": "Hello."}]
    forms = {
        "/v1/messages": {"model": "auto", "max_tokens": 4, "messages": hello},
        "/v1/responses": {"model": "auto", "input": "Hello.", "max_output_tokens": 16},
        "/v1/completions": {"model": "auto", "prompt": "Hello.", "max_tokens": 4},
        "/v1beta/models/auto:generateContent": {"contents": [{"parts": [{"text": "Hello."}]}]},
        "/api/chat": {"model": "auto", "messages": hello, "stream": False},
        "/v1/embeddings": {"model": "auto", "input": "Hello."},
        "/v1/moderations": {"input": "Hello."},
        "/tandem/v1/classify": {"text": "Hello.", "set": "intents"},
    }
    with Store() as store:
        keys = {
            path: store.add(f"k{i}", "--requests-per-minute", "1", "--tokens-per-minute", "9999")
            for i, path in enumerate(forms)
        }
        with store.serve() as tandem:
            for path, body in forms.items():
                first = tandem.request("POST", path, body, bearer(keys[path]))
                equal(first.status, 200, f"{path}: {first.body.decode()}")
                second = tandem.request("POST", path, body, bearer(keys[path]))
                equal(second.status, 429, path)
                assert int(second.headers["retry-after"]) > 50, (path, second.headers)
                names = ("x-ratelimit-limit-requests", "x-ratelimit-remaining-tokens")
                if path == "/v1/messages":
                    names = (
                        "anthropic-ratelimit-requests-limit",
                        "anthropic-ratelimit-tokens-remaining",
                    )
                    reset = first.headers["anthropic-ratelimit-requests-reset"]
                    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", reset), reset
                    equal(second.json["type"], "error")
                    equal(second.json["error"]["type"], "rate_limit_error")
                elif "v1beta" in path:
                    equal(second.json["error"]["status"], "RESOURCE_EXHAUSTED")
                elif path == "/api/chat":
                    assert isinstance(second.json["error"], str), second.json
                else:
                    equal(second.json["error"]["code"], "rate_limit_exceeded", path)
                for answer in (first, second):
                    assert set(names) <= set(answer.headers), (path, answer.headers)


@case
def test_tokens_a_minute_are_settled_by_what_was_used():
    with Store() as store, cloud_of() as cloud:
        key = store.add("shop", "--tokens-per-minute", "2000")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            headers = {**bearer(key), **CLOUDY}
            first = tandem.chat("Hello.", headers, max_tokens=1500)
            held = 2000 - int(first.headers["x-ratelimit-remaining-tokens"])
            assert 1500 < held < 1600, first.headers
            second = tandem.chat("Hello.", headers, max_tokens=1500)
            equal(second.status, 200, second.body.decode())
            used = sum(first.json["usage"][name] for name in ("prompt_tokens", "completion_tokens"))
            left = int(second.headers["x-ratelimit-remaining-tokens"])
            equal(2000 - left, held + used, "what the first used, and what the second holds")
            for _ in range(100):
                last = tandem.chat("word " * 300, headers, max_tokens=700)
                if last.status != 200:
                    break
            equal(code_of(last), (429, "rate_limit_exceeded"))
            huge = tandem.chat("word " * 3000, headers, max_tokens=4)
            equal(code_of(huge), (429, "rate_limit_exceeded"))
            equal(huge.headers["x-should-retry"], "false")


@case
def test_what_was_refused_or_cancelled_gives_its_reservation_back():
    with Store() as store, cloud_of(first_delay=30) as cloud:
        key = store.add("shop", "--tokens-per-minute", "2000")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            headers = {**bearer(key), **CLOUDY}

            def hang():
                try:
                    tandem.chat("Hello.", headers, timeout=0.5, max_tokens=1900)
                except OSError:
                    pass

            hang()
            cloud.script = Script(text="Cloud.")
            wait_until(
                lambda: tandem.chat("Hi.", headers, max_tokens=1900).status == 200,
                SOON_S,
                "its return",
            )
            for body in (
                {"model": "nothing-like-it"},
                {"tandem": {"adapters": [{"name": "none"}]}},
            ):
                answer = tandem.chat("Hi.", headers, max_tokens=1900, **body)
                assert answer.status in (400, 404), answer.body
            equal(tandem.chat("Hi.", headers, max_tokens=1900).status, 200)


@case
def test_a_hundred_at_once_get_no_more_than_the_limit():
    with Store() as store, cloud_of(first_delay=0.2) as cloud:
        key = store.add("shop", "--requests-per-minute", "20")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            codes = []
            threads = [
                threading.Thread(target=lambda: codes.append(ask(tandem, key, CLOUDY).status))
                for _ in range(100)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            equal((codes.count(200), codes.count(429)), (20, 80))


# --- budgets ---


def spend(tandem, key):
    """One call that costs something; the cloud's price is the configuration's."""
    return ask(tandem, key, {"x-tandem-mode": "prefer-cloud"})


@case
def test_a_spent_budget_refuses_or_leaves_the_device_and_outlives_a_restart():
    with Store() as store, cloud_of() as cloud:
        strict = store.add("strict", "--usd-per-day", "0.0000001")
        local = store.add("local", "--usd-per-month", "0.0000001", "--when-spent", "local")
        team = [store.add(f"t{i}", "--tenant", "team") for i in range(2)]
        store.keys("limit", "--tenant", "team", "--tokens-per-day", "1")
        for _ in range(2):
            with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
                if not cloud.requests:
                    equal(
                        [spend(tandem, key).status for key in (strict, local, team[0])], [200] * 3
                    )
                    equal(len(cloud.requests), 3)
                answer = spend(tandem, strict)
                equal(code_of(answer), (429, "budget_exceeded"))
                assert "key's budget of US dollars for this day" in answer.body.decode()
                equal(answer.headers["x-should-retry"], "false")
                answer = spend(tandem, team[1])
                equal(code_of(answer), (429, "budget_exceeded"))
                assert "tenant's budget of tokens" in answer.body.decode(), answer.body
                answer = spend(tandem, local)
                equal((answer.status, answer.tandem["tier"]), (200, "local"))
                removed = {r["code"]: r["text"] for r in answer.tandem["reasons"]}
                assert "this month" in removed["removed_budget"], removed
                equal(ask(tandem, local, CLOUDY).status, 429)
            equal(len(cloud.requests), 3, "what the cloud was asked")
        rows = {row["name"]: row for row in store.keys("list")["data"]}
        code, out, err = run("report", "--json", env=clean_environment(**store.environment))
        equal(code, 0, err)
        report = {row["key_id"]: row for row in json.loads(out)["keys"]}
        told = report[rows["strict"]["id"]]
        assert abs(told["cost_usd"] - rows["strict"]["spent"]["day"]["usd"]) < 1e-9, told
        equal(told["tokens"], rows["strict"]["spent"]["day"]["tokens"])
        assert rows["strict"]["spent"]["day"]["usd"] > 0, rows
        assert rows["local"]["spent"]["month"]["tokens"] > 0, rows
        store.keys("limit", "strict", "--usd-per-day", "none")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            equal(spend(tandem, strict).status, 200)


@case
def test_spent_budgets_are_seen_by_key_ids_in_metrics_and_lists():
    with Store() as store, cloud_of() as cloud:
        boss = store.add("boss", "--operator")
        made = store.keys("add", "secret-name", "--tenant", "secret-team", "--usd-per-day", "1e-7")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            equal(spend(tandem, made["key"]).status, 200)
            equal(spend(tandem, made["key"]).status, 429)
            text = tandem.get("/metrics", headers=bearer(boss)).body.decode()
            label = f'key="{made["id"]}"'
            assert f"tandem_key_requests_total{{{label}}} 1" in text, text
            assert f'tandem_key_refused_total{{{label},limit="budget"}} 1' in text, text
            found = re.search(rf'tandem_key_spent_usd\{{{label},period="day"\}} (\S+)', text)
            assert found and float(found[1]) > 0, text
            assert "secret" not in text and made["key"] not in text, text

            def spent():
                row = tandem.get("/tandem/v1/keys/secret-name", headers=bearer(boss)).json
                return row["spent"]["day"]["usd"]

            wait_until(lambda: spent() > 0, what="the sum in the list")


# --- what it may ask for ---


@case
def test_a_key_names_only_its_models_and_sees_no_others():
    with Store() as store, cloud_of() as cloud:
        key = store.add("shop", "--models", "local,gpt-*")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:

            def named(model):
                body = {"model": model, "messages": [{"role": "user", "content": "Hello."}]}
                return tandem.request("POST", "/v1/chat/completions", body, bearer(key))

            equal(named("local").status, 200)
            equal(named("gpt-4o").status, 200, "a pattern of its own")
            for model in ("cloud", "scripted", "claude-3"):
                equal(code_of(named(model)), (404, "model_not_found"), model)
            rows = tandem.get("/v1/models", headers=bearer(key)).json["data"]
            equal([row["id"] for row in rows], ["local"])
            equal(tandem.get("/v1/models/cloud", headers=bearer(key)).status, 404)
            body = {"model": "other", "input": "Hello."}
            answer = tandem.request("POST", "/v1/embeddings", body, bearer(key))
            equal(code_of(answer), (404, "model_not_found"))
            store.keys("limit", "shop", "--models", "all")
            wait_until(lambda: named("cloud").status == 200, SOON_S, "all models")


@case
def test_a_key_is_answered_only_by_its_tiers_and_with_its_classes_of_data():
    with Store() as store, cloud_of() as cloud:
        near = store.add("near", "--tiers", "local")
        public = store.add("public", "--classes", "public")
        with store.serve(config_of(cloud), TEST_CLOUD_KEY="k") as tandem:
            answer = spend(tandem, near)
            equal((answer.status, answer.tandem["tier"]), (200, "local"))
            reasons = {r["code"]: (r["tier"], r["text"]) for r in answer.tandem["reasons"]}
            equal(reasons["removed_key_terms"], ("cloud", "the API key may not use cloud"))
            equal(code_of(ask(tandem, near, CLOUDY)), (403, "refused_by_policy"))
            equal(ask(tandem, public).status, 200)
            answer = ask(tandem, public, {"x-tandem-data-class": "sensitive"})
            equal(code_of(answer), (403, "refused_by_policy"))
            assert "may not send sensitive data" in answer.body.decode(), answer.body
            equal(len(cloud.requests), 0)


@case
def test_answers_to_several_prompts_are_one_request_and_all_their_tokens():
    with Store() as store:
        key = store.add("shop", "--requests-per-minute", "2", "--tokens-per-minute", "1000")
        with store.serve() as tandem:
            body = {"model": "local", "prompt": ["Hello.", "Bye.", "Yes."], "max_tokens": 5}
            first = tandem.request("POST", "/v1/completions", body, bearer(key))
            equal(first.status, 200, first.body.decode())
            equal(first.headers["x-ratelimit-remaining-requests"], "1")
            second = tandem.request("POST", "/v1/completions", body, bearer(key))
            used = first.json["usage"]["total_tokens"]
            held = 1000 - int(first.headers["x-ratelimit-remaining-tokens"])
            equal(1000 - int(second.headers["x-ratelimit-remaining-tokens"]), used + held)


@case
def test_batches_wait_for_the_limits_of_their_key():
    from forms import upload

    with Store() as store:
        key = store.add("shop", "--tokens-per-minute", "100000", "--requests-per-minute", "2")
        with store.serve() as tandem:
            line = {"custom_id": "x", "method": "POST", "url": "/v1/embeddings"}
            lines = [
                {**line, "custom_id": f"l{i}", "body": {"model": "auto", "input": "Hi."}}
                for i in range(3)
            ]
            text = "\n".join(json.dumps(line) for line in lines)
            file = upload(tandem, text, "batch", "b.jsonl", bearer(key))["id"]
            body = {"input_file_id": file, "endpoint": line["url"], "completion_window": "24h"}
            batch = tandem.request("POST", "/v1/batches", body, bearer(key))
            path = f"/v1/batches/{batch.json['id']}"

            def counts():
                return tandem.get(path, headers=bearer(key)).json["request_counts"]

            wait_until(lambda: counts()["completed"] == 2, what="two lines")
            time.sleep(1)
            equal((counts()["completed"], counts()["failed"]), (2, 0), "the third waits")
            store.keys("limit", "shop", "--requests-per-minute", "none")
            wait_until(lambda: counts()["completed"] == 3, SOON_S, "the third")


if __name__ == "__main__":
    main()
