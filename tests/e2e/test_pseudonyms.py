#!/usr/bin/env python3
"""Reversible pseudonyms: private values never reach the cloud, its echo comes back whole, however
the stream is cut, in tool calls' arguments too; what may not be replaced stays on the device."""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from private_letter import LETTER, PRIVATE
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, stream_text
from tandem import run as run_bytes

PRIVACY = """
privacy:
  pseudonyms: {on: true, classes: [sensitive, restricted]}
"""
CLOUD = {"x-tandem-mode": "only-cloud"}


def run(*arguments, **more):
    code, out, err = run_bytes(*arguments, **more)
    return (
        code,
        out.decode() if isinstance(out, bytes) else out,
        err.decode() if isinstance(err, bytes) else err,
    )


def server(cloud, more="", tier=""):
    return Tandem(edge_first(cloud.base_url, tier) + PRIVACY + more, env={"TEST_CLOUD_KEY": "k"})


def nothing_private(cloud):
    for value in PRIVATE:
        assert value.encode() not in cloud.received, f"{value!r} left the device"


def restored(answer):
    return answer.tandem["pseudonyms"]


@case
def test_an_echo_comes_back_whole_and_nothing_private_left():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, CLOUD)
        equal(answer.status, 200, answer.body)
        equal(answer.text, LETTER)
        nothing_private(cloud)
        assert b"your card" in cloud.received, "the tap does not work"
        counts = restored(answer)
        equal(counts["not_restored"], 0)
        assert counts["restored"] >= 8 and counts["sent"] >= 7, counts
        equal(answer.tandem["place"], "cloud")
        metrics = tandem.get("/metrics").body.decode()
        assert f'tandem_pseudonyms_total{{result="restored"}} {counts["restored"]}' in metrics, (
            metrics
        )


KNOWN = "I am Nina Kowalczyk, nina.kowalczyk@acme-corp.com."
FORMS = [  # of what is known from the line above
    "NinaKowalczyk",
    "ninakowalczyk",
    "NKowalczyk.md",
    "/home/nkowalczyk/x",
    "kowalczykn",
    "C:\\Users\\nkowalczyk",
    "nina.kowalczyk at acme-corp dot com",
    "TmluYSBLb3dhbGN6eWs=",  # base64 of the name
    "4b6f77616c637a796b",  # hex of the surname
    "6e696e612e6b6f77616c637a796b4061636d652d636f72702e636f6d",  # and of the mail
    "N%69na",
    "K\u200bowalczyk",
    "&#75;owalczyk",
]


@case
def test_what_is_known_is_masked_in_every_form_that_a_scan_sees_through():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for form in FORMS:
            text = f"{KNOWN} See {form} there."
            answer = tandem.chat(text, CLOUD)
            equal(answer.status, 200, answer.body)
            sent = cloud.requests[-1]["json"]["messages"][-1]["content"]
            assert form not in sent and "owalczyk" not in sent.lower(), (form, sent)
            equal(answer.text, text)


@case
def test_a_surrogate_with_an_escaped_letter_is_restored():
    cloud = ScriptedCloud(Script(text="ok"))
    with server(cloud) as tandem:
        tandem.chat(KNOWN, CLOUD)
        sent = cloud.requests[-1]["json"]["messages"][-1]["content"]
        name = sent.split()[2]
        for first in (name[0], name[0].lower()):
            for pieces in (1, 3, 1000):
                escaped = f"Dear \\u{ord(first):04x}{name[1:]}, hello."
                cloud.script = Script(text=escaped, piece_chars=pieces)
                expected = f"Dear {'N' if first.isupper() else 'n'}ina, hello."
                equal(tandem.chat(KNOWN, CLOUD).text, expected)
                equal(stream_text(tandem.stream(KNOWN, CLOUD)[2]), expected)


@case
def test_streams_cut_anywhere_come_back_whole():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for size in (1, 2, 3, 5, 7, 11, 1000):
            cloud.script = Script(echo=True, piece_chars=size)
            chunks = tandem.stream(LETTER, CLOUD)[2]
            equal(stream_text(chunks), LETTER, f"pieces of {size}")
        cloud.script = Script(echo=True, piece_chars=4, byte_by_byte=True, comments=True)
        equal(stream_text(tandem.stream(LETTER, CLOUD)[2]), LETTER)
        nothing_private(cloud)


def arguments_of(chunks):
    return "".join(
        call["function"].get("arguments", "")
        for chunk in chunks
        if isinstance(chunk, dict)
        for choice in chunk["choices"]
        for call in choice["delta"].get("tool_calls", [])
    )


@case
def test_tool_calls_get_the_values_in_streamed_arguments():
    tools = [
        {
            "type": "function",
            "function": {
                "name": "send_mail",
                "parameters": {
                    "type": "object",
                    "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
                },
            },
        }
    ]
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for size in (1, 3, 8, 1000):
            cloud.script = Script(echo=True, echo_tool=True, piece_chars=size, finish="tool_calls")
            chunks = tandem.stream(LETTER, CLOUD, tools=tools)[2]
            equal(json.loads(arguments_of(chunks))["text"], LETTER, f"fragments of {size}")
            answer = tandem.chat(LETTER, CLOUD, tools=tools)
            call = answer.json["choices"][0]["message"]["tool_calls"][0]
            equal(json.loads(call["function"]["arguments"])["text"], LETTER)
        nothing_private(cloud)


@case
def test_a_tools_result_and_the_call_before_it_are_masked_alike():
    cloud = ScriptedCloud(Script(text="Done."))
    arguments = json.dumps({"to": "mary.smith@acme-corp.com"})
    messages = [
        {"role": "user", "content": "Mail Mary Smith."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "mail", "arguments": arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "sent to mary.smith@acme-corp.com"},
    ]
    with server(cloud) as tandem:
        equal(tandem.chat(messages, CLOUD).status, 200)
        nothing_private(cloud)
        sent = cloud.requests[-1]["json"]["messages"]
        to = json.loads(sent[1]["tool_calls"][0]["function"]["arguments"])["to"]
        assert (
            to.split("@")[1].split(".")[1] == "example" and sent[2]["content"] == f"sent to {to}"
        ), sent


@case
def test_a_conversation_keeps_its_surrogates_and_another_has_others():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        first = [{"role": "user", "content": "I am mary.smith@acme-corp.com"}]
        tandem.chat(first, CLOUD)
        one = cloud.requests[-1]["json"]["messages"][0]["content"]
        again = first + [
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Who is mary.smith@acme-corp.com?"},
        ]
        tandem.chat(again, CLOUD)
        sent = cloud.requests[-1]["json"]["messages"]
        equal(sent[0]["content"], one)
        assert one.split()[-1] in sent[2]["content"], sent
        tandem.chat("Another: I am mary.smith@acme-corp.com", CLOUD)
        assert one.split()[-1] not in cloud.requests[-1]["json"]["messages"][0]["content"]


@case
def test_retries_and_fallbacks_send_the_same_masked_bytes():
    cloud = ScriptedCloud(Script(echo=True, statuses=[503]))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, CLOUD)
        equal((answer.status, answer.text), (200, LETTER), answer.body)
        equal(len(cloud.requests), 2)
        equal(cloud.requests[0]["body"], cloud.requests[1]["body"])
        cloud.script = Script(status=500)
        answer = tandem.chat(LETTER, {"x-tandem-mode": "prefer-cloud"})
        equal(answer.status, 200)
        equal(answer.tandem["place"], "device")
        assert "pseudonyms" not in answer.tandem, answer.tandem
        nothing_private(cloud)


@case
def test_a_callers_names_go_as_aliases():
    cloud = ScriptedCloud(Script(text="Cloud."))
    names = {
        "user": "patient kowalczyk",
        "safety_identifier": "kowalczyk-7",
        "prompt_cache_key": "kowalczyk-7",
    }
    with server(cloud) as tandem:
        for text in (LETTER, "Another: " + LETTER):
            equal(tandem.chat(text, CLOUD, **names).status, 200)
        equal(tandem.chat(LETTER, CLOUD, user="somebody else").status, 200)
        one, two, other = [request["json"] for request in cloud.requests]
        assert b"kowalczyk" not in cloud.received
        equal({key: one[key] for key in names}, {key: two[key] for key in names})
        equal(one["safety_identifier"], one["prompt_cache_key"])
        assert len({one["user"], one["prompt_cache_key"], other["user"]}) == 3, other


@case
def test_the_local_tier_sees_the_real_text():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, {"x-tandem-mode": "only-local"})
        equal(answer.status, 200)
        assert "pseudonyms" not in answer.tandem
        equal(len(cloud.requests), 0)


@case
def test_what_no_class_lets_be_replaced_stays_on_the_device():
    cloud = ScriptedCloud(Script(echo=True))
    config = edge_first(cloud.base_url) + "\nprivacy:\n  pseudonyms: {on: true}\n"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("My card is 4111 1111 1111 1111", CLOUD)
        equal(answer.status, 403, answer.body)
        answer = tandem.chat("I am mary.smith@acme-corp.com", CLOUD)
        equal((answer.status, answer.text), (200, "I am mary.smith@acme-corp.com"))
        # A caller's word is about the whole text: replacing values does not lower it.
        answer = tandem.chat("A plain text", {**CLOUD, "x-tandem-data-class": "sensitive"})
        equal(answer.status, 403, answer.body)
        nothing_private(cloud)


@case
def test_private_names_of_members_and_numbers_stay():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        answer = tandem.chat("Hello", CLOUD, metadata={"mary.smith@acme-corp.com": "x"})
        equal(answer.status, 403, answer.body)
        answer = tandem.chat("Hello again", CLOUD, seed=4111111111111111)
        equal(answer.status, 403, answer.body)
        answer = tandem.chat(
            "Write to mary.smith@acme-corp.com", CLOUD, metadata={"to": "mary.smith@acme-corp.com"}
        )
        equal(answer.status, 200, answer.body)
        nothing_private(cloud)
        sent = cloud.requests[-1]["json"]
        equal(sent["messages"][0]["content"], "Write to " + sent["metadata"]["to"])


@case
def test_a_tier_or_route_without_pseudonyms_gets_none():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, tier="    pseudonyms: false\n") as tandem:
        equal(tandem.chat(LETTER, CLOUD).status, 403)
        equal(len(cloud.requests), 0)


@case
def test_strict_replaces_likely_names_and_unknown_numbers():
    text = (
        "John Quennell wrote from john@acme-corp.com about case C1203345678; quennell is waiting."
    )
    for strict in (False, True):
        cloud = ScriptedCloud(Script(echo=True))
        privacy = PRIVACY.replace("on: true,", "on: true, strict: true,") if strict else PRIVACY
        with Tandem(edge_first(cloud.base_url) + privacy, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            answer = tandem.chat(text, CLOUD)
            equal(answer.status, 200, answer.body)
            equal(answer.text, text)
            equal(restored(answer)["not_restored"], 0)
            equal(b"C1203345678" in cloud.received, not strict)
            assert b"John Quennell" not in cloud.received and b"acme-corp" not in cloud.received
            if strict:
                assert b"quennell" not in cloud.received.lower(), cloud.received


@case
def test_escaped_values_are_replaced_and_come_back():
    cloud = ScriptedCloud(Script(echo=True))
    text = '{"to": "mary\\u0040acme-corp.com", "note": "first\\nmary@acme-corp.com"}'
    with server(cloud) as tandem:
        answer = tandem.chat(text, CLOUD)
        equal(answer.status, 200, answer.body)
        equal(json.loads(answer.text), json.loads(text))
        nothing_private(cloud)
        assert b"mary" not in cloud.received and b"first" in cloud.received, cloud.received


@case
def test_completions_are_masked_too():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, tier="    completions: true\n") as tandem:
        for stream in (False, True):
            answer = tandem.request(
                "POST",
                "/v1/completions",
                {"prompt": LETTER, "max_tokens": 200, "stream": stream},
                CLOUD,
            )
            equal(answer.status, 200, answer.body)
            if not stream:
                equal(answer.json["choices"][0]["text"], LETTER)
        nothing_private(cloud)


def dialogue(turns):
    """Ten subjects, one a turn, and a system message."""
    subjects = [
        "Lisbon trams",
        "sourdough bread",
        "violin strings",
        "glacier melting",
        "chess openings",
        "solar panels",
        "medieval bridges",
        "coral reefs",
        "pottery glazes",
        "railway gauges",
    ]
    messages = [{"role": "system", "content": "Be brief."}]
    for i in range(turns):
        messages += [
            {
                "role": "user",
                "content": f"Tell me about {subjects[i]} please. " + "Long story. " * 2,
            },
            {
                "role": "assistant",
                "content": f"Well, {subjects[i]} are interesting. " + "More words. " * 2,
            },
        ]
    return messages


@case
def test_only_the_turns_that_matter_are_sent():
    cloud = ScriptedCloud(Script(text="Cloud."))
    messages = dialogue(10) + [
        {"role": "user", "content": "How do the glazes compare with glacier melting?"}
    ]
    with Tandem(
        edge_first(cloud.base_url) + "\nprivacy:\n  minimise: {turns: 2, relevant: 1}\n",
        env={"TEST_CLOUD_KEY": "k"},
    ) as tandem:
        answer = tandem.chat(messages, CLOUD)
        equal(answer.status, 200, answer.body)
        sent = cloud.requests[-1]["json"]["messages"]
        equal(
            [m["role"] for m in sent], ["system", "user", "assistant", "user", "assistant", "user"]
        )
        assert "glacier" in sent[1]["content"] and "railway" in sent[3]["content"], sent
        equal(sent[-1], messages[-1])
        left_out = answer.tandem["left_out"]
        equal((left_out["turns"], left_out["messages"]), (8, 16))
        assert len(cloud.requests[-1]["body"]) < 0.5 * len(json.dumps(messages)), len(
            cloud.requests[-1]["body"]
        )
        local = tandem.chat(messages, {"x-tandem-mode": "only-local"})
        assert "left_out" not in local.tandem, local.tandem
        short = tandem.chat(messages[:3] + messages[-1:], CLOUD)
        assert "left_out" not in short.tandem and len(cloud.requests[-1]["json"]["messages"]) == 4


@case
def test_calls_and_their_results_stay_together_when_turns_are_left_out():
    cloud = ScriptedCloud(Script(text="Cloud."))
    turn = [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "w", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
    ]
    with Tandem(
        edge_first(cloud.base_url) + PRIVACY + "  minimise: {turns: 2}\n",
        env={"TEST_CLOUD_KEY": "k"},
    ) as tandem:
        messages = turn * 3 + [{"role": "user", "content": "And for mary.smith@acme-corp.com?"}]
        answer = tandem.chat(messages, CLOUD)
        equal(answer.status, 200, answer.body)
        sent = cloud.requests[-1]["json"]["messages"]
        equal([m["role"] for m in sent], ["user", "assistant", "tool", "assistant", "user"])
        equal(answer.tandem["left_out"]["turns"], 2)
        assert answer.tandem["pseudonyms"]["sent"] == 1
        nothing_private(cloud)


@case
def test_vaults_outlive_the_server_encrypted_where_that_is_asked_for():
    cloud = ScriptedCloud(Script(echo=True))
    text = "I am mary.smith@acme-corp.com"
    with tempfile.TemporaryDirectory() as folder:
        more = f"    vault: {{file: {folder}/vaults, key_env: TEST_VAULT_KEY}}\n"
        config = (
            edge_first(cloud.base_url)
            + PRIVACY.replace("{on: true, classes: [sensitive, restricted]}", "\n    on: true")
            + more
        )
        env = {"TEST_CLOUD_KEY": "k", "TEST_VAULT_KEY": "ab" * 32}
        sent = []
        for _ in range(2):
            with Tandem(config, env=env) as tandem:
                equal(tandem.chat(text, CLOUD).text, text)
                sent.append(cloud.requests[-1]["json"]["messages"][0]["content"])
        equal(sent[0], sent[1])
        stored = Path(f"{folder}/vaults").read_bytes()
        assert b"acme" not in stored and b"example" not in stored
        for key in ("cd" * 32, "short"):
            with Tandem(config, env={**env, "TEST_VAULT_KEY": key}, wait=False) as tandem:
                assert tandem.ended(20) != 0
        equal(Path(f"{folder}/vaults").read_bytes(), stored)
        with Tandem(config, env=env) as tandem:
            # What memory drops, expired or forgotten, must not lie on a disk meanwhile.
            assert not Path(f"{folder}/vaults").exists()
            tandem.chat(text, CLOUD)
            equal(cloud.requests[-1]["json"]["messages"][0]["content"], sent[0])


@case
def test_a_vaults_time_goes_on_while_nothing_runs():
    cloud = ScriptedCloud(Script(echo=True))
    with tempfile.TemporaryDirectory() as folder:
        config = (
            edge_first(cloud.base_url)
            + f"""
privacy:
  pseudonyms: {{on: true, ttl_s: 2, vault: {{file: {folder}/vaults, key_env: TEST_VAULT_KEY}}}}
"""
        )
        env = {"TEST_CLOUD_KEY": "k", "TEST_VAULT_KEY": "ab" * 32}
        for _ in range(2):
            with Tandem(config, env=env) as tandem:
                tandem.chat("I am mary.smith@acme-corp.com", CLOUD)
            time.sleep(2.1)
        sent = [request["json"]["messages"][0]["content"] for request in cloud.requests]
        assert len(sent) == 2 and sent[0] != sent[1], sent


@case
def test_vaults_that_take_too_much_memory_are_wiped():
    cloud = ScriptedCloud(Script(echo=True))
    privacy = "privacy:\n  pseudonyms: {on: true, bytes_max: 1048576}\n"
    config = edge_first(cloud.base_url).replace("128000", "100000000") + privacy
    text = "I am mary.smith@acme-corp.com"
    many = " ".join(f"anna.{i}@firma-{i}.de" for i in range(4000))
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for content in (text, text, many, text):
            equal(tandem.chat(content, CLOUD).status, 200)
    first, again, _, last = (r["json"]["messages"][0]["content"] for r in cloud.requests)
    equal(first, again)
    assert last not in (first, text), "the vault is another one, and masks as well"


@case
def test_forgetting_a_user_without_a_server_reaches_the_file_of_vaults():
    cloud = ScriptedCloud(Script(echo=True))
    with tempfile.TemporaryDirectory() as folder:
        config = (
            edge_first(cloud.base_url)
            + f"""
privacy:
  pseudonyms: {{on: true, vault: {{file: {folder}/vaults, key_env: TEST_VAULT_KEY}}}}
"""
        )
        Path(f"{folder}/tandem.yaml").write_text(config)
        env = {"TEST_CLOUD_KEY": "k", "TEST_VAULT_KEY": "ab" * 32}

        def ask():
            with Tandem(config, env=env) as tandem:
                for user in ("mary", "ann"):
                    tandem.chat(f"I am {user}, {user}.smith@acme-corp.com", CLOUD, user=user)
            return [request["json"]["messages"][0]["content"] for request in cloud.requests[-2:]]

        before = ask()
        code, out, err = run(
            "forget",
            "mary",
            "--json",
            env=clean_environment(
                TANDEM_CONFIG=f"{folder}/tandem.yaml",
                TANDEM_STATE_DIR=f"{folder}/state",
                TANDEM_LISTEN="127.0.0.1:9",
                **env,
            ),
        )
        equal(code, 0, err)
        equal(json.loads(out)["vaults"], 1)
        after = ask()
        assert after[0] != before[0] and after[1] == before[1], (before, after)


@case
def test_redact_writes_surrogates_and_an_encrypted_vault():
    text = "Mail john.doe@acme-corp.com, card 4111 1111 1111 1111, again 4111111111111111.\n"
    with tempfile.TemporaryDirectory() as folder:
        vault, key, other = f"{folder}/vault", f"{folder}/key", f"{folder}/other"
        Path(key).write_text("0f" * 32 + "\n")
        Path(other).write_text("0e" * 32)
        with_key = ["--vault", vault, "--vault-key-file", key]
        code, hidden, err = run("redact", "--surrogates", *with_key, stdin=text.encode())
        equal(code, 0, err)
        for value in ("john", "acme", "11111111", "1111 1111"):
            assert value not in hidden, hidden
        assert hidden.count(".example.") == 1, hidden
        stored = Path(vault).read_bytes()
        assert b"acme" not in stored and b"example" not in stored
        assert b"1111 1111" not in stored and b"11111111" not in stored
        equal(Path(vault).stat().st_mode & 0o777, 0o600)
        code, back, err = run("redact", "--restore", *with_key, stdin=hidden.upper().encode())
        equal(code, 0, err)
        assert "4111 1111 1111 1111" in back and "4111111111111111" in back, back
        code, back, err = run("redact", "--restore", *with_key, stdin=hidden.encode())
        equal((code, back), (0, text), err)
        code, again, err = run(
            "redact", "--surrogates", *with_key, stdin=b"Only john.doe@acme-corp.com"
        )
        equal((code, again), (0, "Only " + hidden.split()[1].rstrip(",")), err)
        for wrong, words in (
            (["--vault-key-file", other], "does not open with this key"),
            ([], "is encrypted"),
        ):
            code, out, err = run(
                "redact", "--restore", "--vault", vault, *wrong, stdin=hidden.encode()
            )
            assert code != 0 and out == "" and words in err, (code, out, err)
            code, out, err = run(
                "redact", "--surrogates", "--vault", vault, *wrong, stdin=text.encode()
            )
            assert code != 0 and out == "", (code, out, err)
        code, out, err = run(
            "redact", "--surrogates", "--vault", vault, "--vault-key-env", "NO_SUCH_KEY", stdin=b"x"
        )
        assert code != 0 and "NO_SUCH_KEY" in err, err
        Path(vault).write_bytes(stored[:-1] + bytes([stored[-1] ^ 1]))
        code, out, err = run("redact", "--restore", *with_key, stdin=hidden.encode())
        assert code != 0 and "changed" in err, err


@case
def test_placeholders_and_surrogates_keep_to_their_vaults():
    with tempfile.TemporaryDirectory() as folder:
        vault = f"{folder}/vault"
        code, hidden, err = run("redact", "--vault", vault, stdin=b"to a@acme.com")
        equal((code, hidden), (0, "to <EMAIL_ADDRESS_1>"), err)
        code, out, err = run("redact", "--surrogates", "--vault", vault, stdin=b"to a@acme.com")
        assert code != 0 and "without --surrogates" in err, err
        code, out, err = run("redact", "--surrogates", "--json", "-p", "to a@acme.com")
        answer = json.loads(out)
        equal([row["type"] for row in answer["replaced"]], ["EMAIL_ADDRESS"])
        equal(answer["text"], "to " + answer["replaced"][0]["surrogate"])
        Path(vault).write_text('{"version": 2, "key": "00", "pairs": []}')
        code, out, err = run("redact", "--restore", "--vault", vault, stdin=b"x")
        assert code != 0 and "vault" in err, err


if __name__ == "__main__":
    main()
