#!/usr/bin/env python3
"""Kinds of servers by name: three lines in the configuration, and what then goes over the wire.
The providers themselves are stand-ins: what they document is what these expect."""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, run, stream_text

ROUTE = "routes:\n  - {name: auto, kind: hybrid, tiers: [cloud]}\n"


def tier(kind, **members):
    rest = "".join(f", {name}: {value}" for name, value in members.items())
    return f"tiers:\n  - {{name: cloud, kind: {kind}{rest}}}\n{ROUTE}"


def tool(*arguments, config, **variables):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tandem.yaml"
        path.write_text(config)
        env = clean_environment(TANDEM_STATE_DIR=folder, **variables)
        return run(*arguments, "--config", path, env=env)


def described(config, **variables):
    code, out, err = tool("models", "--json", config=config, **variables)
    equal(code, 0, err)
    return json.loads(out)["tiers"][0]


@case
def test_three_lines_are_enough():
    for kind, url, variable, place in [
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "cloud"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "cloud"),
        ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "cloud"),
        ("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "cloud"),
        ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "cloud"),
        ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "cloud"),
        ("xai", "https://api.x.ai/v1", "XAI_API_KEY", "cloud"),
        ("llama-server", "http://127.0.0.1:8081/v1", None, "device"),
    ]:
        said = described(tier(kind))
        equal((said["base_url"], said["place"], said["kind"]), (url, place, kind), kind)
        assert said["model"], said
        equal(said["key"], "missing" if variable else "not needed", kind)
        if variable:
            equal(described(tier(kind), **{variable: "k"})["key"], "present", kind)
    for kind, port in [("vllm", 8000), ("sglang", 30000), ("ollama", 11434), ("lmstudio", 1234)]:
        said = described(tier(kind, model="m"))
        equal(said["base_url"], f"http://127.0.0.1:{port}/v1", kind)
        equal((said["place"], said["key"]), ("device", "not needed"), kind)
        elsewhere = tier(kind, model="m", base_url="https://gpu.example.com/v1")
        equal(described(elsewhere)["place"], "cloud", kind)


@case
def test_what_a_kind_cannot_know_is_asked_for():
    for config, text in [
        (tier("vllm"), "tier 'cloud' of kind vllm needs a model"),
        (tier("azure", model="d"), "needs a base_url, or the variable AZURE_OPENAI_ENDPOINT"),
        (tier("groq", api_version="v1"), "api_version is of tiers of kind azure"),
        (tier("groqq"), "one of local, review, openai, openrouter, groq"),
        (tier("groq", headers="[{name: Host, value: x}]"), "may not set the header 'Host'"),
        (tier("groq", keys="[{name: a, env: A}, {name: a, env: B}]"), "two keys named 'a'"),
        (tier("groq", keys="[{name: a}]"), "needs an env or a file"),
        (tier("groq", keys="[{name: a, env: A}]", api_key_env="B"), "keys beside api_key_env"),
        (tier("groq", headers="[{name: X-A}]"), "needs a value or an env"),
        (tier("groq", headers="[{name: X-A, value: x}, {name: x-a, env: Y}]"), "twice"),
    ]:
        code, out, err = tool("policy", "check", config=config)
        assert code == 1 and text in out.decode() + err, (config, out, err)


@case
def test_an_address_of_the_environment_is_named_by_its_variable():
    for config, name in (
        (tier("openai"), "OPENAI_BASE_URL"),
        (tier("azure"), "AZURE_OPENAI_ENDPOINT"),
    ):
        code, out, err = tool("models", config=config, **{name: "localhost:1234"})
        text = f"{name} must begin with https:// or http://, not 'localhost:1234'"
        assert code == 1 and text in out.decode() + err, (out, err)


@case
def test_azure_by_deployment_and_by_its_v1_api():
    cloud = ScriptedCloud(Script(text="From Azure."))
    root = cloud.base_url.removesuffix("/v1")
    for members, paths in [
        (
            {"api_version": '"2024-10-21"', "models": "[{name: big}]"},
            "/openai/deployments/{}/chat/completions?api-version=2024-10-21",
        ),
        ({"models": "[{name: big}]"}, "/openai/v1/chat/completions"),
    ]:
        config = tier("azure", base_url=root, model="small", **members)
        cloud.clear()
        with Tandem(config, env={"AZURE_OPENAI_API_KEY": "az-secret"}) as tandem:
            equal(tandem.chat("Hello").text, "From Azure.")
            equal(tandem.chat("Hello", model="big").text, "From Azure.")
        small, big = cloud.calls()
        equal((small["path"], big["path"]), (paths.format("small"), paths.format("big")))
        equal((small["json"]["model"], big["json"]["model"]), ("small", "big"))
        equal(small["headers"]["api-key"], "az-secret")
        assert "authorization" not in small["headers"], small["headers"]


@case
def test_headers_of_an_operator():
    cloud = ScriptedCloud(Script(text="Hello there."))
    headers = "[{name: X-Title, value: My App}, {name: X-Org, env: ORG}, {name: X-Gone, env: GONE}]"
    config = tier("openrouter", base_url=cloud.base_url, headers=headers)
    with Tandem(config, env={"ORG": "org-1234"}) as tandem:
        _, _, chunks, done = tandem.stream("Hello")
        equal((stream_text(chunks), done), ("Hello there.", True))
    (sent,) = cloud.calls()
    equal((sent["headers"]["x-title"], sent["headers"]["x-org"]), ("My App", "org-1234"))
    assert "x-gone" not in sent["headers"] and "authorization" not in sent["headers"]


def prices(config, *more):
    code, out, err = tool("models", "prices", "--json", *more, config=config)
    assert out, err
    said = json.loads(out)
    return code, {row["model"]: row for row in said["models"]}, said


@case
def test_prices_come_from_the_configuration_or_the_table():
    config = """
tiers:
  - {name: a, kind: anthropic, models: [{name: claude-sonnet-4-5}, {name: mine,
     price: {input_usd_per_mtok: 7, output_usd_per_mtok: 8}}]}
  - {name: b, kind: openai, price: {input_usd_per_mtok: 9, output_usd_per_mtok: 10}}
  - {name: c, kind: vllm, model: own}
routes:
  - {name: auto, kind: hybrid, tiers: [a, b, c]}
"""
    code, rows, said = prices(config)
    equal((code, said["as_of"][:2]), (0, "20"))
    sonnet = rows["claude-sonnet-4-5"]
    equal((sonnet["input_usd_per_mtok"], sonnet["output_usd_per_mtok"]), (3.0, 15.0))
    equal((sonnet["source"], rows["claude-haiku-5-5"]["source"]), ("table", "table"))
    assert {"tools", "image", "reasoning"} <= set(sonnet["abilities"]), sonnet
    equal((rows["mine"]["source"], rows["mine"]["input_usd_per_mtok"]), ("configuration", 7.0))
    equal(
        (rows["gpt-6-luna"]["source"], rows["gpt-6-luna"]["input_usd_per_mtok"]),
        ("configuration", 9.0),
    )
    assert any("0.1 / 0.5" in text for text in rows["gpt-6-luna"]["notes"]), rows
    equal((rows["own"]["source"], rows["own"]["notes"]), ("none", []))  # a machine of one's own
    # At an address of somebody else the table knows nothing, and no price is a mistake.
    elsewhere = tier("openai", base_url="https://llm.example.com/v1", model="gpt-6-luna")
    code, rows, _ = prices(elsewhere)
    equal((code, rows["gpt-6-luna"]["source"]), (1, "none"))
    assert "counts as free" in rows["gpt-6-luna"]["notes"][0], rows


@case
def test_prices_are_compared_with_the_servers_own_list():
    cloud = ScriptedCloud()
    listed = {
        "id": "m",
        "context_length": 4096,
        "pricing": {"prompt": "0.000002", "completion": "0.000003"},
        "supported_parameters": ["tools", "logprobs"],
    }
    cloud.more_models = [listed]
    config = tier(
        "openrouter",
        base_url=cloud.base_url,
        model="m",
        context_tokens=8192,
        price="{input_usd_per_mtok: 1, output_usd_per_mtok: 3}",
    )
    code, rows, _ = prices(config, "--ask")
    equal((code, rows["m"]["abilities"]), (0, ["tools", "logprobs"]), str(rows))
    text = " ".join(rows["m"]["notes"])
    assert "list says 2 / 3" in text and "4096 tokens" in text, text


KEYS = "[{name: a, env: KEY_A, weight: 3}, {name: b, env: KEY_B}, {name: c, env: KEY_C}]"


def keys_used(cloud):
    return [call["headers"]["authorization"].removeprefix("Bearer ") for call in cloud.calls()]


@case
def test_several_keys_share_by_weight():
    cloud = ScriptedCloud(Script(text="Hello."))
    config = tier("openai", base_url=cloud.base_url, keys=KEYS)
    with Tandem(config, env={"KEY_A": "key-aaaaaa", "KEY_B": "key-bbbbbb"}) as tandem:
        for _ in range(8):
            equal(tandem.chat("Hello").text, "Hello.")
    used = keys_used(cloud)
    equal((used.count("key-aaaaaa"), used.count("key-bbbbbb")), (6, 2), str(used))


@case
def test_a_key_that_is_refused_rests_alone():
    for status in (401, 402, 403, 429):
        refused = {"Bearer key-aaaaaa": status}
        cloud = ScriptedCloud(Script(text="Hello.", refused_keys=refused))
        config = tier("openai", base_url=cloud.base_url, keys=KEYS)
        env = {"KEY_A": "key-aaaaaa", "KEY_B": "key-bbbbbb", "KEY_C": "key-cccccc"}
        with Tandem(config, env=env) as tandem:
            for _ in range(6):
                answer = tandem.chat("Hello")
                equal((answer.status, answer.text), (200, "Hello."), str(status))
            equal(keys_used(cloud).count("key-aaaaaa"), 1, f"{status} {keys_used(cloud)}")
            (line,) = [line for line in tandem.log if "event=key_rests" in line]
            assert "key=a" in line and f"http={status}" in line and "key-aaa" not in line, line
            # Nothing of it is the tier's: it does not rest.
            health = tandem.get("/healthz").json
            assert "resting" not in json.dumps(health), health


@case
def test_when_all_keys_are_refused_the_tier_fails():
    cloud = ScriptedCloud(Script(status=429, retry_after="20"))
    other = ScriptedCloud(Script(text="From the other."))
    config = f"""
tiers:
  - {{name: cloud, kind: openai, base_url: {cloud.base_url}, keys: {KEYS}}}
  - {{name: other, kind: openai, base_url: {other.base_url}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [cloud, other]}}
"""
    env = {"KEY_A": "key-aaaaaa", "KEY_B": "key-bbbbbb", "KEY_C": "key-cccccc"}
    with Tandem(config, env=env) as tandem:
        equal(tandem.chat("Hello").text, "From the other.")
        equal(sorted(keys_used(cloud)), sorted(env.values()))
        equal(tandem.chat("Hello").text, "From the other.")
        equal(len(cloud.calls()), 3)  # it rests as a whole, as one with a single key does


@case
def test_the_doctor_tries_each_key():
    cloud = ScriptedCloud(Script(refused_keys={"Bearer key-bbbbbb": 401}, models=["gpt-6-luna"]))
    config = tier("openai", base_url=cloud.base_url, keys=KEYS)
    _, out, _ = tool("doctor", "--json", config=config, KEY_A="key-aaaaaa", KEY_B="key-bbbbbb")
    found = {row["name"]: row["status"] for row in json.loads(out)["checks"]}
    equal((found["tier cloud"], found["tier cloud key b"]), ("ok", "fail"), str(found))


@case
def test_a_model_that_ends_is_told_by_doctor_and_in_the_log():
    ends = "models: [{name: gpt-4o-mini, price: {input_usd_per_mtok: 1, output_usd_per_mtok: 2}}]"
    config = f"""
tiers:
  - {{name: local, kind: local}}
  - {{name: own, kind: openai, {ends}}}
  - {{name: elsewhere, kind: openai, base_url: "https://llm.example.com/v1", {ends}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, own, elsewhere]}}
"""
    _, out, _ = tool("doctor", "--offline", "--json", config=config, OPENAI_API_KEY="key-aaaaaa")
    rows = [row for row in json.loads(out)["checks"] if "retire" in row["text"]]
    equal([(row["name"], row["status"]) for row in rows], [("model of own", "warn")], out)
    assert "gpt-4o-mini" in rows[0]["text"] and "2027-01-14" in rows[0]["text"], rows
    with Tandem(config) as tandem:
        (told,) = [line for line in tandem.log if "model_retires" in line]
        assert "tier=own model=gpt-4o-mini" in told and "2027-01-14" in told, told


@case
def test_a_model_that_takes_no_temperature_is_asked_without():
    message = "Unsupported value: 'temperature' does not support 0.2 with this model."
    script = Script(text="Hello.", refuses="temperature", refuse_message=message)
    cloud = ScriptedCloud(script)
    config = tier("openai", base_url=cloud.base_url)
    with Tandem(config) as tandem:
        for _ in range(2):
            equal(tandem.chat("Hi", temperature=0.2, max_tokens=9).text, "Hello.")
        asked = [
            ("temperature" in call["json"], "max_tokens" in call["json"]) for call in cloud.calls()
        ]
        equal(asked, [(True, True), (False, True), (False, True)])  # it is kept
        cloud.script = Script(
            text="Hello.",
            refuses="max_tokens",
            refuse_message="Unsupported parameter: use 'max_completion_tokens' instead.",
        )
        equal(tandem.chat("Hi", max_tokens=9).text, "Hello.")
        equal(cloud.calls()[-1]["json"]["max_completion_tokens"], 9)


@case
def test_the_doctor_asks_as_the_kind_does():
    cloud = ScriptedCloud(Script(models=["d"]))
    root = cloud.base_url.removesuffix("/v1")
    config = tier("azure", base_url=root, model="d", headers="[{name: X-A, value: b}]")
    _, out, _ = tool("doctor", "--json", config=config, AZURE_OPENAI_API_KEY="az-secret")
    (found,) = [row for row in json.loads(out)["checks"] if row["name"] == "tier cloud"]
    equal(found["status"], "ok", str(found))
    (sent,) = cloud.requests
    equal((sent["path"], sent["headers"]["api-key"]), ("/openai/v1/models", "az-secret"))
    equal(sent["headers"]["x-a"], "b")


if __name__ == "__main__":
    sys.exit(main())
