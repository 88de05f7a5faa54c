#!/usr/bin/env python3
"""What a request's `model` stands for: aliases, patterns, several models of one tier, what a key
may ask for, and the lists of models."""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, run

EASY = "Classify the intent: set a timer for ten minutes."
HARD = "Write an essay about the causes of the French revolution."

CONFIG = """
tiers:
  - {{name: local, kind: local}}
  - name: cloud
    kind: openai
    base_url: {url}
    model: small
    api_key_env: TEST_CLOUD_KEY
    context_tokens: 8000
    price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 2}}
    models:
      - name: large
        context_tokens: 100000
        modalities: [text, image]
        price: {{input_usd_per_mtok: 100, output_usd_per_mtok: 200}}
      - name: vendor/plain
routes:
  - name: auto
    kind: hybrid
    tiers: [local, cloud]
  - name: far
    aliases: [large-please, "far-*", "meta/*"]
    kind: cloud-only
    tiers: [cloud]
  - name: near
    kind: local-only
    tiers: [local]
    aliases: [vendor-x]
"""


def start(more="", config=CONFIG, env=None):
    cloud = ScriptedCloud(Script(text="From the cloud."))
    tandem = Tandem(
        config.format(url=cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", **(env or {})}
    )
    return cloud, tandem


def sent_models(cloud):
    return [request["json"]["model"] for request in cloud.calls()]


@case
def test_a_vendors_name_takes_the_hybrid_route_and_the_answer_says_so():
    cloud, tandem = start()
    with tandem:
        for model in ("gpt-4o-mini", "claude-sonnet-4-5", "openai/gpt-4.1", "gpt-4o:latest", "o3"):
            answer = tandem.chat(EASY, model=model)
            equal((model, answer.status, answer.tandem["tier"]), (model, 200, "local"))
            equal((answer.tandem["route"], answer.tandem["model"]), ("auto", "tandem-nano"))
            reasons = {reason["code"]: reason["text"] for reason in answer.tandem["reasons"]}
            assert "route auto takes it" in reasons["alias"], reasons
            answer = tandem.chat(HARD, model=model)
            equal((model, answer.tandem["tier"], answer.tandem["model"]), (model, "cloud", "small"))
        equal(set(sent_models(cloud)), {"small"})
        code, told, err = run("explain", answer.tandem["exchange"], env=tandem.environment)
        assert code == 0 and b"route auto takes it as 'o3*' [alias]" in told, (told, err)
        found = tandem.get("/tandem/v1/exchanges/" + answer.tandem["exchange"]).json
        equal(found["requested_model"], "o3")


@case
def test_names_with_prefix_and_tag_are_those_names():
    _, tandem = start()
    with tandem:
        for model in ("auto", "openai/auto", "models/auto", "auto:latest", "openrouter/auto"):
            answer = tandem.chat(EASY, model=model)
            equal((model, answer.status), (model, 200))
            assert "alias" not in {reason["code"] for reason in answer.tandem["reasons"]}
        for model in ("far", "openai/far", "large-please", "far-away", "meta/llama-4"):
            answer = tandem.chat(EASY, model=model)
            equal((model, answer.tandem["route"]), (model, "far"))
        equal(tandem.chat(HARD, model="vendor-x").tandem["tier"], "local")


@case
def test_without_a_file_the_default_model_of_the_cloud_means_the_hybrid_route():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": cloud.base_url}
    with Tandem(env=env) as tandem:
        answer = tandem.chat(EASY, model="gpt-6-luna")
        equal((answer.status, answer.tandem["tier"]), (200, "local"))
        equal(tandem.chat(HARD, model="gpt-6-luna").tandem["model"], "gpt-6-luna")
        equal(sent_models(cloud), ["gpt-6-luna"])
    with Tandem() as tandem:  # without a key the device answers, instead of an error
        equal(tandem.chat(EASY, model="gpt-6-luna").tandem["tier"], "local")


@case
def test_a_model_that_the_file_names_is_asked_for_by_its_name():
    cloud, tandem = start()
    with tandem:
        for model in ("small", "large", "vendor/plain", "openai/large", "large:latest"):
            answer = tandem.chat(EASY, model=model)
            asked = model.removeprefix("openai/").removesuffix(":latest")
            equal((answer.status, answer.tandem["tier"]), (200, "cloud"))
            equal((sent_models(cloud)[-1], answer.tandem["model"]), (asked, asked))
            cost = answer.tandem["cost_usd"]
            usage = answer.json["usage"]
            price = 100 if asked == "large" else 1
            wanted = (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) * price / 1e6
            assert abs(cost - wanted) < 1e-9, (asked, cost, wanted)
            found = tandem.get("/tandem/v1/exchanges/" + answer.tandem["exchange"]).json
            equal(found["attempts"][0]["model"], asked)
        answer = tandem.chat(EASY, model="auto", tandem={"mode": "only-cloud"})
        equal(answer.tandem["model"], "small")


@case
def test_context_and_images_are_those_of_the_model():
    picture = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 20},
    }
    long = "word " * 12000
    cloud, tandem = start("\nprivacy: {media_class: public}\n")
    with tandem:
        equal(tandem.chat(long, model="small").json["error"]["code"], "context_length_exceeded")
        equal(tandem.chat(long, model="large").status, 200)
        content = [{"type": "text", "text": "What is it?"}, picture]
        for model, status in (("small", 400), ("large", 200), ("vendor/plain", 400)):
            body = {"model": model, "messages": [{"role": "user", "content": content}]}
            answer = tandem.request("POST", "/v1/chat/completions", body)
            equal((model, answer.status), (model, status))
        equal(set(sent_models(cloud)), {"large"})


@case
def test_an_alias_of_a_models_name_makes_it_hybrid():
    config = CONFIG.replace("  - name: auto\n", "  - name: auto\n    aliases: [large]\n", 1)
    cloud, tandem = start(config=config)
    with tandem:
        equal(tandem.chat(EASY, model="large").tandem["tier"], "local")
        answer = tandem.chat(HARD, model="large")
        equal((answer.tandem["tier"], answer.tandem["model"]), ("cloud", "large"))
        # The aliases that were given stand in the place of the default ones.
        equal(tandem.chat(EASY, model="gpt-6-luna").status, 404)
        answer = tandem.chat(HARD, model="auto")
        equal(sent_models(cloud), ["large", "small"])


@case
def test_no_aliases_refuse_vendors_names():
    config = CONFIG.replace("  - name: auto\n", "  - name: auto\n    aliases: []\n", 1)
    _, tandem = start(config=config)
    with tandem:
        equal(tandem.chat(EASY, model="gpt-6-luna").status, 404)


@case
def test_an_unknown_name_is_refused_with_the_nearest():
    _, tandem = start()
    with tandem:
        for path, body in (
            ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}),
            ("/v1/responses", {"input": "x"}),
            ("/v1/messages", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 5}),
            ("/v1/completions", {"prompt": "x"}),
        ):
            answer = tandem.request("POST", path, {"model": "larg", **body})
            equal((path, answer.status), (path, 404))
            error = answer.json["error"]
            equal((error["code"], error["param"]), ("model_not_found", "model"))
            assert "did you mean 'large'?" in error["message"], error
        answer = tandem.get("/v1/models/larg")
        equal((answer.status, answer.json["error"]["code"]), (404, "model_not_found"))
        assert "did you mean 'large'?" in answer.json["error"]["message"]
        for model in ("gpt", "x" * 300, "openai/", "../auto", "auto/x"):
            equal((model, tandem.chat(EASY, model=model).status in (400, 404)), (model, True))


@case
def test_the_list_says_what_each_can_do():
    _, tandem = start()
    with tandem:
        rows = {row["id"]: row for row in tandem.get("/v1/models").json["data"]}
        kinds = {name: row["tandem"]["kind"] for name, row in rows.items()}
        for name, kind in (
            ("auto", "route"),
            ("far", "route"),
            ("large-please", "alias"),
            ("cloud", "tier"),
            ("large", "model"),
            ("vendor/plain", "model"),
        ):
            equal((name, kinds.get(name)), (name, kind))
        assert not [name for name in rows if "*" in name], rows
        equal(rows["large"]["context_length"], 100000)
        equal(rows["small"]["context_length"], 8000)
        equal(rows["large"]["architecture"]["input_modalities"], ["text", "image"])
        equal(rows["small"]["architecture"]["input_modalities"], ["text"])
        assert "tools" in rows["cloud"]["supported_parameters"]
        assert "tools" in rows["auto"]["supported_parameters"]
        equal(rows["large-please"]["tandem"]["route"], "far")
        for name in ("auto", "large", "vendor/plain", "vendor%2Fplain", "auto:latest", "claude-x"):
            answer = tandem.get("/v1/models/" + name)
            equal((name, answer.status), (name, 200))
        equal(tandem.get("/v1/models/gpt-6-luna").json["tandem"]["route"], "auto")
        equal(tandem.get("/v1/models/gpt-6-luna").json["id"], "gpt-6-luna")


@case
def test_anthropics_list_comes_in_pages():
    _, tandem = start()
    version = {"anthropic-version": "2023-06-01"}
    with tandem:
        whole = tandem.get("/v1/models?limit=1000", headers=version).json
        ids = [row["id"] for row in whole["data"]]
        equal((whole["has_more"], whole["first_id"], whole["last_id"]), (False, ids[0], ids[-1]))
        equal({row["type"] for row in whole["data"]}, {"model"})
        assert whole["data"][0]["created_at"].endswith("Z") and whole["data"][0]["display_name"]
        seen, after = [], ""
        while True:
            page = tandem.get("/v1/models?limit=2" + after, headers=version).json
            seen += [row["id"] for row in page["data"]]
            if not page["has_more"]:
                break
            after = "&after_id=" + page["last_id"].replace("/", "%2F")
        equal(seen, ids)
        page = tandem.get(f"/v1/models?limit=2&before_id={ids[-1]}", headers=version).json
        equal([row["id"] for row in page["data"]], ids[-3:-1])
        for query in ("limit=0", "limit=x", "limit=1001", "after_id=none", "before_id=%zz"):
            answer = tandem.get("/v1/models?" + query, headers=version)
            equal((query, answer.status), (query, 400))
        one = tandem.get("/v1/models/large", headers=version).json
        equal((one["type"], one["id"], one["max_input_tokens"]), ("model", "large", 100000))


@case
def test_a_key_sees_and_gets_only_what_it_may_use():
    keys = """
server: {api_keys_env: TEST_KEYS}
apps:
  - {name: narrow, key_env: NARROW_KEY, models: [near, "lar*"]}
"""
    _, tandem = start(keys, env={"TEST_KEYS": "wide,narrow", "NARROW_KEY": "narrow"})
    narrow, wide = ({"x-api-key": key} for key in ("narrow", "wide"))
    with tandem:
        listed = {
            name: [row["id"] for row in tandem.get("/v1/models", headers=headers).json["data"]]
            for name, headers in (("narrow", narrow), ("wide", wide))
        }
        assert {"auto", "far", "near", "cloud", "large"} <= set(listed["wide"]), listed
        equal(set(listed["narrow"]), {"auto", "near", "vendor-x", "large", "large-please"})
        for model, status in (
            ("near", 200),
            ("auto", 200),
            ("gpt-6-luna", 200),
            ("large", 200),
            ("far", 404),
            ("cloud", 404),
            ("small", 404),
            ("local", 404),
        ):
            answer = tandem.chat(EASY, narrow, model=model)
            equal((model, answer.status), (model, status))
            answer = tandem.get("/v1/models/" + model, headers=narrow)
            equal((model, answer.status), (model, status))
            equal((model, tandem.chat(EASY, wide, model=model).status), (model, 200))
        equal(tandem.chat(EASY, narrow, model="auto").tandem["route"], "near")
        equal(tandem.chat(EASY, narrow, model="gpt-4o").tandem["route"], "near")
        message = tandem.chat(EASY, narrow, model="smal").json["error"]["message"]
        assert "did you mean" not in message, message


@case
def test_names_that_can_never_be_used_are_refused_with_their_line():
    for old, new, words in (
        ("aliases: [vendor-x]", "aliases: [far]", "is the name of a route or tier"),
        ("aliases: [vendor-x]", "aliases: [auto]", "is the name of a route or tier"),
        ("aliases: [vendor-x]", 'aliases: ["far-*"]', "is given twice"),
        ("aliases: [vendor-x]", 'aliases: ["a b"]', "a name must be"),
        ("- name: vendor/plain", "- name: large", "twice"),
        ("- name: vendor/plain", "- name: far", "shares the name"),
        ("- name: vendor/plain", "- name: small", "twice"),
        ("kind: local}}", "kind: local, models: [{{name: x}}]}}", "one model"),
    ):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(CONFIG.replace(old, new, 1).format(url="http://127.0.0.1:1/v1"))
            file.flush()
            code, out, err = run("policy", "check", file.name, env=clean_environment())
            assert code != 0 and words in err + out.decode(), (new, out, err)


@case
def test_doctor_names_the_aliases():
    _, tandem = start()
    with tandem:
        _, out, _ = run("doctor", "--offline", "--json", env=tandem.environment)
        checks = {check["name"]: check["text"] for check in json.loads(out)["checks"]}
        assert "gpt-*" in checks["names of auto"], checks
        assert "far-*" in checks["names of far"], checks
        assert "large" in checks["tier cloud"], checks


if __name__ == "__main__":
    main()
