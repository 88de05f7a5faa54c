#!/usr/bin/env python3
"""What is in force and why (`tandem config show`), the schema for editors, variables that stand for
keys, all mistakes at once, and `tandem init`."""

import json
import re
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from screen import Screen
from tandem import BINARY, ROOT, clean_environment, run

EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
EXAMPLES += sorted((ROOT / "examples" / "scenarios").glob("*.yaml"))
FOLDER = Path(tempfile.mkdtemp(prefix="tandem-config-"))


class Loader(yaml.SafeLoader):
    """As YAML 1.2, and the program, read it: on and off are words."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def read_yaml(text):
    return yaml.load(text, Loader)


def written(name, text):
    path = FOLDER / name
    path.write_text(text)
    return path


def shown(*arguments, **variables):
    code, out, err = run("config", "show", *arguments, env=clean_environment(**variables))
    equal(code, 0, err)
    return out.decode()


def origins(text):
    """{key: what stands behind its #}, of the last key of that name."""
    return dict(re.findall(r"^[ -]*(\w+): .*?  *# (.+)$", text, re.MULTILINE))


@case
def test_show_names_the_origin_of_each_value():
    path = written("origin.yaml", "server:\n  workers: 3\n")
    text = shown(path, TANDEM_SERVER__SHUTDOWN_TIMEOUT_MS="7000", TANDEM_LISTEN="127.0.0.1:9")
    values = read_yaml(text)["server"]
    equal(
        (values["workers"], values["shutdown_timeout_ms"], values["listen"]),
        (3, 7000, ["127.0.0.1:9"]),
    )
    of = origins(text)
    equal(of["workers"], f"{path}:2")
    equal(of["shutdown_timeout_ms"], "TANDEM_SERVER__SHUTDOWN_TIMEOUT_MS")
    equal(of["listen"], "TANDEM_LISTEN")
    equal(of["header_timeout_ms"], "default")


@case
def test_what_is_shown_is_a_configuration_of_the_same_values():
    for example in EXAMPLES:
        first = shown(example)
        again = written("again.yaml", first)
        equal(read_yaml(shown(again)), read_yaml(first), str(example))


@case
def test_set_leaves_out_defaults():
    text = shown("--set", TANDEM_TIERS__0__NAME="near", TANDEM_TIERS__0__KIND="local")
    equal(read_yaml(text), {"tiers": [{"name": "near", "kind": "local"}]})


@case
def test_variables_reach_every_kind_of_key():
    text = shown(
        TANDEM_SERVER__CORS_ORIGINS="https://a, https://b",
        TANDEM_SERVER__API_KEYS_FILE="/k",
        TANDEM_PRIVACY__NAMES__ON="false",
        TANDEM_WATCH__OBJECTIVE="0.5",
        TANDEM_TIERS__1__NAME="far",
        TANDEM_TIERS__1__KIND="openai",
        TANDEM_TIERS__1__MODALITIES="[text, image]",
        TANDEM_TIERS__0__NAME="near",
        TANDEM_TIERS__0__KIND="local",
        TANDEM_ROUTES__0__NAME="r",
        TANDEM_ROUTES__0__KIND="hybrid",
        TANDEM_ROUTES__0__TIERS="near,far",
        TANDEM_ROUTES__0__GATES__COMMIT_TOKENS="all",
    )
    values = read_yaml(text)
    equal(values["server"]["cors_origins"], ["https://a", "https://b"])
    equal(values["privacy"]["names"]["on"], False)
    equal(values["watch"]["objective"], 0.5)
    equal([tier["name"] for tier in values["tiers"]], ["near", "far"])
    equal(values["tiers"][1]["modalities"], ["text", "image"])
    equal(values["routes"][0]["tiers"], ["near", "far"])
    equal(values["routes"][0]["gates"]["commit_tokens"], "all")


@case
def test_a_variable_reaches_a_section_whose_keys_are_comments():
    path = written("comments.yaml", "engine:\n  # model: m\ntiers: [{name: a, kind: local}]\n")
    text = shown(path, TANDEM_ENGINE__THREADS="3")
    equal(read_yaml(text)["engine"]["threads"], 3)
    equal(origins(text)["threads"], "TANDEM_ENGINE__THREADS")


@case
def test_a_variable_that_names_no_key_is_refused():
    wrong = {
        "TANDEM_SERVR__LISTEN": "did you mean 'server'",
        "TANDEM_SERVER__TLS": "has keys of its own",
        "TANDEM_LOG__LEVEL__X": "has no keys of its own",
        "TANDEM_TIERS__NEAR__MODEL": "must be the index of an entry",
        "TANDEM_TIERS__7__MODEL": "from 0 to 0",
        "TANDEM_SERVER__WORKERS": "server.workers must be a whole number",
        "TANDEM_SERVER__API_KEYS": "names no key",
        "TANDEM_SERVER__": "name one of them",
    }
    for name, message in wrong.items():
        code, _, err = run("serve", env=clean_environment(**{name: "x"}))
        assert code == 1 and name in err and message in err, err


@case
def test_all_mistakes_are_said_at_once_with_their_lines():
    keys = written(
        "keys.yaml",
        "server: {workers: x, lissten: a}\n"
        "tiers:\n  - kind: local\n  - {name: b, kind: openay}\n"
        "log: {level: loud}\n",
    )
    sense = written(
        "sense.yaml",
        "server: {tls: {key_file: k}}\n"
        "tiers:\n  - {name: a, kind: local}\n  - {name: a, kind: local}\n"
        "routes:\n  - {name: r, kind: hybrid, tiers: [a, b]}\n",
    )
    for path, lines, words in (
        (keys, [1, 1, 3, 4, 5], ["workers", "lissten", "name", "openay", "loud"]),
        (sense, [1, 4, 6], ["key_file", "two tiers", "'b'"]),
    ):
        for verb in (["policy", "check", path], ["serve", "--config", path]):
            code, _, err = run(*verb)
            said = err.splitlines()
            equal((code, len(said)), (1, len(lines)), err)
            for text, line, word in zip(said, lines, words, strict=True):
                assert f"{path}:{line}: " in text and word in text, text
        code, out, _ = run("policy", "check", "--json", path)
        equal((code, json.loads(out)["error_count"]), (1, len(lines)))
        code, out, _ = run("doctor", "--json", "--config", path)
        equal((code, len(json.loads(out)["checks"])), (1, len(lines)))


@case
def test_the_number_of_mistakes_is_bounded():
    path = written("many.yaml", "".join(f"key{i}: 1\n" for i in range(5000)))
    code, _, err = run("policy", "check", path)
    said = err.splitlines()
    assert code == 1 and len(said) == 33 and said[-1].endswith("and 4968 more"), said[-1]


@case
def test_the_schema_takes_what_the_program_takes():
    code, out, err = run("config", "schema")
    equal(code, 0, err)
    equal(run("help", "config", "--schema")[1], out)
    schema = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for example in EXAMPLES:
        validator.validate(read_yaml(example.read_text()))
        validator.validate(read_yaml(shown(example)))
    for wrong in (
        {"server": {"lissten": 1}},
        {"server": {"workers": 300}},
        {"tiers": [{"kind": "local"}]},
        {"log": {"level": "loud"}},
        {"routes": {}},
    ):
        assert not validator.is_valid(wrong), wrong


@case
def test_a_share_may_be_a_percentage():
    path = written("share.yaml", "models:\n  max_skew: 25%\n  skewed_local_share: .5\n")
    code, out, err = run("config", "show", path)
    assert code == 0 and b"max_skew: 0.25" in out, (out, err)
    path = written("share.yaml", 'models: {max_skew: "25%"}\n')
    code, out, err = run("config", "show", path)
    assert code == 0 and b"max_skew: 0.25" in out, (out, err)
    for wrong in ("250%", "'0.25'", "'much%'"):
        path = written("share.yaml", f"models: {{max_skew: {wrong}}}\n")
        code, _, err = run("policy", "check", path)
        assert code == 1 and "a number from 0 to 1, or a percentage" in err, err
    schema = json.loads(run("config", "schema")[1])
    check = jsonschema.Draft202012Validator(schema).is_valid
    assert check({"models": {"max_skew": "25%"}}) and check({"models": {"max_skew": 0.25}})
    assert not check({"models": {"max_skew": "much"}}) and not check({"models": {"max_skew": 2}})


@case
def test_init_writes_a_file_that_serves():
    path = FOLDER / "tandem.yaml"
    for arguments, expected in (
        ([], [("local", None)]),
        (["--cloud", "anthropic", "--usd-per-day", "2"], [("local", None), ("cloud", 2)]),
        (["--cloud", "vllm", "--network", "-m", 'a"b.gguf'], [("local", None), ("cloud", 5)]),
        (["--cloud", "none", "--risk", ".02"], [("local", None)]),
    ):
        path.unlink(missing_ok=True)
        code, out, err = run("init", path, *arguments, env=clean_environment())
        equal(code, 0, err)
        assert f"tandem serve --config {path}" in out.decode()
        values = read_yaml(path.read_text())
        equal([tier["name"] for tier in values["tiers"]], [name for name, _ in expected])
        if expected[-1][1]:
            equal(values["budgets"][0]["usd_per_day"], expected[-1][1])
        if "-m" in arguments:
            equal(values["engine"]["model"], 'a"b.gguf')
            equal(values["server"], {"listen": "0.0.0.0:8080"})
            assert f"tandem keys add --operator NAME --config {path}" in out.decode(), out
        code, _, err = run("policy", "check", path, env=clean_environment())
        equal(code, 0, err)


@case
def test_init_asks_five_questions():
    path = FOLDER / "asked.yaml"
    with Screen(
        [str(BINARY), "init", str(path)], clean_environment(PATH="/usr/bin:/bin")
    ) as screen:
        for question, answer in (
            ("1. Local model", ""),
            ("2. Where harder questions go", "openai"),
            ("3. How many answers", "much"),
            ("Not understood. An answer would be: 5%", "10%"),
            ("4. US dollars", "none"),
            ("5. Who may connect", "network"),
        ):
            screen.wait(question)
            screen.say(answer)
        screen.wait("Wrote")
        equal(screen.ended(), 0)
    values = read_yaml(path.read_text())
    equal(values["routes"][0]["gates"], {"risk": "10%"})
    equal(values["server"]["listen"], "0.0.0.0:8080")
    assert "budgets" not in values


@case
def test_init_writes_nothing_when_it_is_interrupted():
    path = FOLDER / "interrupted.yaml"
    with Screen(
        [str(BINARY), "init", str(path)], clean_environment(PATH="/usr/bin:/bin")
    ) as screen:
        screen.wait("1. Local model")
        screen.keys("C-c")
        screen.wait("nothing was written")
        equal(screen.ended(), 1)
    assert not path.exists()


@case
def test_init_takes_the_cloud_whose_key_is_there():
    path = FOLDER / "keyed.yaml"
    code, _, err = run("init", path, env=clean_environment(GROQ_API_KEY="k"))
    equal(code, 0, err)
    equal(read_yaml(path.read_text())["tiers"][1]["kind"], "groq")


@case
def test_init_keeps_what_is_there_and_refuses_nonsense():
    path = written("there.yaml", "x")
    code, _, err = run("init", path)
    assert code == 1 and "exists already" in err and path.read_text() == "x", err
    fresh = FOLDER / "fresh.yaml"
    for arguments, message in (
        (["--cloud", "opnai"], "there is no cloud 'opnai'"),
        (["--cloud", "azure"], "needs an address"),
        (["--risk", "80%"], "--risk must be 2%"),
        (["--cloud", "openai", "--risk", "1%"], "--risk must be 2%"),
        (["--usd-per-day", "much"], "--usd-per-day must be"),
    ):
        code, _, err = run("init", fresh, *arguments)
        assert code == 1 and message in err and not fresh.exists(), err
    code, _, err = run("init", "/nonexistent/tandem.yaml", "--yes")
    assert code == 1 and "/nonexistent" in err, err


if __name__ == "__main__":
    main()
