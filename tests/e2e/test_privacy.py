#!/usr/bin/env python3
"""Restricted data never leaves the device: 200 canaries, every path, every byte that the cloud
received."""

import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card, kept_bytes
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

CARRIERS = [
    "My card is {} please help me dispute a charge.",
    "Here: {}",
    "{} is what I have, is it valid?",
    "Explain the French revolution. Also note {} for the record.",
    "Write a long poem about the sea.\n\nReference: {}.",
    "a={};b=2",
    '("{}")',
    "Schlüssel „{}“ ok",
]


def luhn_complete(digits):
    total = 0
    for i, digit in enumerate(reversed(digits)):
        d = int(digit) * (2 if i % 2 == 0 else 1)
        total += d - 9 if d > 9 else d
    return digits + str(-total % 10)


def card(rng):
    digits = luhn_complete(
        rng.choice(["4", "51", "55"]).ljust(1)
        + "".join(rng.choice("0123456789") for _ in range(14))
    )[:16]
    digits = luhn_complete(digits[:15])
    return rng.choice(
        [
            digits,
            " ".join(digits[i : i + 4] for i in range(0, 16, 4)),
            "-".join(digits[i : i + 4] for i in range(0, 16, 4)),
        ]
    )


def iban(rng):
    account = "".join(rng.choice("0123456789") for _ in range(18))
    check = 98 - int(account + "131400") % 97
    text = f"DE{check:02d}{account}"
    return rng.choice([text, " ".join(text[i : i + 4] for i in range(0, 22, 4))])


def ssn(rng):
    return f"{rng.randint(1, 665):03d}-{rng.randint(1, 99):02d}-{rng.randint(1, 9999):04d}"


def key(rng):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    def body(n):
        return "".join(rng.choice(letters) for _ in range(n))

    return rng.choice(
        [
            lambda: "sk-" + body(48),
            lambda: "ghp_" + body(36),
            lambda: "sk-ant-api03-" + body(80),
            lambda: (
                "AKIA" + "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(16))
            ),
        ]
    )()


def private_key(rng):
    body = "".join(rng.choice("ABCDEFGHabcdefgh0123456789+/") for _ in range(120))
    return (
        f"-----BEGIN RSA PRIVATE KEY-----\n{body[:60]}\n{body[60:]}\n-----END RSA PRIVATE KEY-----"
    )


def canaries():
    rng = random.Random(20261121)
    makers = [card, iban, ssn, key, private_key]
    return [makers[i % len(makers)](rng) for i in range(200)]


def fragments(canary):
    """What must not be found: the canary, and its longest piece without separators. A short one
    has the separator beside it, because a random id in hexadecimal may hold four digits."""
    piece = max(canary.replace("-----", "").split(), key=len)
    at = canary.index(piece)
    if len(piece) < 8:
        piece = canary[at - 1 : at + len(piece)] if at else canary[: len(piece) + 1]
    return {canary.encode(), piece.encode()}


def server(cloud):
    return Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"})


@case
def test_no_canary_of_200_reaches_the_cloud_on_any_path():
    cloud = ScriptedCloud(Script(text="Cloud."))
    modes = ["auto", "prefer-cloud", "only-cloud", "prefer-local"]
    with server(cloud) as tandem:
        for i, canary in enumerate(canaries()):
            content = CARRIERS[i % len(CARRIERS)].format(canary)
            headers = {"x-tandem-mode": modes[i % len(modes)]}
            if i % 5 == 4:
                messages = [
                    {"role": "system", "content": content},
                    {"role": "user", "content": "Go on."},
                ]
            elif i % 5 == 3:
                messages = [
                    {"role": "user", "content": content},
                    {"role": "assistant", "content": "Noted."},
                    {"role": "user", "content": "Write a poem about it."},
                ]
            elif i % 5 == 2:
                messages = [{"role": "user", "content": [{"type": "text", "text": content}]}]
            else:
                messages = content
            answer = tandem.chat(messages, headers, stream=(i % 3 == 0))
            if headers["x-tandem-mode"] == "only-cloud":
                assert answer.status in (400, 403), (answer.status, answer.body)
                equal(answer.headers.get("x-should-retry"), "false")
            else:
                equal(answer.status, 200, content)
        for canary in canaries():
            for fragment in fragments(canary):
                assert fragment not in cloud.received, f"{canary!r} left the device"
        control = tandem.chat("Explain the French revolution.", {"x-tandem-mode": "only-cloud"})
        equal(control.status, 200)
        assert b"French revolution" in cloud.received, (
            "the tap does not work: nothing arrived at all"
        )


@case
def test_nothing_outside_the_messages_carries_a_canary_out_either():
    """Members forwarded untouched (user, metadata, tools, names) are scanned as well."""
    cloud = ScriptedCloud(Script(text="Cloud."))
    rng = random.Random(7)
    with server(cloud) as tandem:
        for place in ("user", "metadata", "tools", "name", "tool_calls", "unknown"):
            canary = card(rng)
            members, message = {}, {"role": "user", "content": "Explain the French revolution."}
            messages = [message]
            if place == "user":
                members["user"] = canary
            elif place == "metadata":
                members["metadata"] = {"note": canary}
            elif place == "tools":
                members["tools"] = [
                    {"type": "function", "function": {"name": "f", "description": canary}}
                ]
            elif place == "name":
                message["name"] = canary
            elif place == "tool_calls":
                call = {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": canary},
                }
                messages += [
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
                ]
            else:
                members["some_new_member"] = {"deep": [canary]}
            tandem.chat(messages, {"x-tandem-mode": "prefer-cloud"}, **members)
            for fragment in fragments(canary):
                assert fragment not in cloud.received, f"{place}: {canary} left the device"


@case
def test_a_class_only_rises_within_a_conversation():
    cloud = ScriptedCloud(Script(text="Cloud."))
    opening = {"role": "user", "content": "Let us talk about my bank."}
    secret = {"role": "user", "content": "My card is 4111 1111 1111 1111."}
    later = [
        opening,
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Write a poem about the sea."},
    ]
    with server(cloud) as tandem:
        tandem.chat([opening, {"role": "assistant", "content": "Yes?"}, secret])
        answer = tandem.chat(later, {"x-tandem-mode": "prefer-cloud"})
        equal(answer.tandem["data_class"], "restricted")
        equal(answer.tandem["tier"], "local")
        equal(len(cloud.requests), 0)
        other = tandem.chat("Write a poem about the sea.", {"x-tandem-mode": "prefer-cloud"})
        equal(other.tandem["tier"], "cloud", "another conversation")


@case
def test_a_class_is_bound_to_its_conversation_and_not_to_the_next_one_that_opens_alike():
    """Two people with one application's key both begin with "Hi": each gets another answer."""
    cloud = ScriptedCloud()
    only_cloud = {"x-tandem-mode": "only-cloud"}
    for streamed in (False, True):
        opening = [user(f"Hi, {streamed}!")]
        with server(cloud) as tandem:

            def begin(answer, opening=opening, streamed=streamed, tandem=tandem):
                cloud.script = Script(text=answer, piece_chars=3)
                equal(tandem.chat(opening, only_cloud, stream=streamed).status, 200)
                return [*opening, {"role": "assistant", "content": answer}]

            ann, bob = begin("Hello, who is there?"), begin("Hello, what can I do?")
            secret = [*ann, user("My card is 4111 1111 1111 1111.")]
            equal(tandem.chat(secret, only_cloud).status, 403)
            later = [*ann, user("Write a poem about the sea.")]
            equal(tandem.chat(later, only_cloud).status, 403, "hers")
            poem = [*bob, user("Write a poem about the sea.")]
            equal(tandem.chat(poem, only_cloud).status, 200, "his")
            eve = begin("Hello, welcome!")
            equal(tandem.chat([*eve, user("And now?")], only_cloud).status, 200, "a later one")
            responses = {"input": [*bob, user("And a rhyme?")]}
            answer = tandem.request("POST", "/v1/responses", responses, only_cloud)
            equal(answer.status, 200, "in another dialect")
            # whoever changes what was said early gets what any that opened so had
            for early in (
                [*opening, {"role": "assistant", "content": "Hello!"}],
                [*opening, {"role": "assistant", "content": ""}],
                opening,
                [{"role": "system", "content": "x"}, *ann],
            ):
                answer = tandem.chat([*early, user("Go on.")], only_cloud)
                equal(answer.status, 403, early)
            equal(tandem.chat(poem, only_cloud).status, 200, "still his")
            declared = {**only_cloud, "x-tandem-data-class": "restricted"}
            equal(tandem.chat(poem, declared).status, 403)
            equal(tandem.chat(poem, only_cloud).status, 403, "and now his is restricted")
    assert not has_card(cloud.received)


@case
def test_the_caller_and_the_route_can_raise_the_class():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        answer = tandem.chat(
            "Write a poem.", {"x-tandem-mode": "prefer-cloud", "x-tandem-data-class": "restricted"}
        )
        equal((answer.tandem["tier"], answer.tandem["data_class"]), ("local", "restricted"))
    config = edge_first(cloud.base_url) + "    data_class: restricted\n"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("Write a poem.", {"x-tandem-mode": "prefer-cloud"})
        equal((answer.tandem["tier"], answer.tandem["data_class"]), ("local", "restricted"))
    equal(len(cloud.requests), 0)


@case
def test_prompts_are_neither_logged_nor_stored_by_default():
    cloud = ScriptedCloud(Script(text="Cloud-answer-canary."))
    with server(cloud) as tandem:
        tandem.chat("Unusual-prompt-canary about the sea", {"x-tandem-mode": "only-cloud"})
        tandem.chat("Unusual-prompt-canary about the sea", {"x-tandem-mode": "only-local"})
        tandem.get("/tandem/v1/exchanges?limit=5")
        stored = b"".join(kept_bytes(path) for path in tandem.state.rglob("*") if path.is_file())
        seen = "".join(tandem.log).encode() + stored + tandem.get("/metrics").body
        assert b"prompt-canary" not in seen and b"answer-canary" not in seen
        assert b"scripted" in stored, "the ledger was not read at all"


@case
def test_the_api_key_is_never_shown():
    cloud = ScriptedCloud(Script(status=401, error_message="bad key"))
    secret = "sk-do-not-show-this-key-anywhere"
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": secret}) as tandem:
        answer = tandem.chat("Write a poem.", {"x-tandem-mode": "only-cloud"})
        stored = b"".join(kept_bytes(path) for path in tandem.state.rglob("*") if path.is_file())
        seen = "".join(tandem.log).encode() + stored + answer.body + tandem.get("/metrics").body
        assert secret.encode() not in seen
        assert secret.encode() in cloud.received


RULES = """
privacy:
  patterns:
    - {name: RUNAWAY, regex: '(a+)+$', class: sensitive}
    - {name: STAFF_ID, regex: 'EMP-\\d{5}', class: sensitive}
"""


@case
def test_a_rule_that_runs_away_keeps_the_text_here_and_is_named():
    cloud = ScriptedCloud(Script(text="Cloud."))
    runaway = "Explain " + "a" * 60 + "!"
    with Tandem(edge_first(cloud.base_url) + RULES, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for stream in (False, True):
            answer = tandem.chat(runaway, {"x-tandem-mode": "prefer-cloud"}, stream=stream)
            equal(
                (answer.status, answer.headers["x-tandem-tier"]),
                (200, "local"),
                answer.body.decode(),
            )
        answer = tandem.chat(runaway, {"x-tandem-mode": "only-cloud"})
        equal(answer.status, 403, answer.body.decode())
        assert "restricted" in answer.json["error"]["message"], answer.body
        equal(len(cloud.requests), 0)
        exchange = answer.headers["x-tandem-exchange"]
        code, out, err = run(
            "explain", exchange, "--json", "--url", tandem.url, env=tandem.environment
        )
        equal(code, 0, err)
        equal(json.loads(out)["signals"]["findings"].get("RULE_OVER_LIMIT"), 1, out)
        answer = tandem.chat("Explain the French revolution.", {"x-tandem-mode": "only-cloud"})
        equal((answer.status, len(cloud.requests)), (200, 1), "other texts are as ever")
        answer = tandem.chat("Who is EMP-12345?", {"x-tandem-mode": "only-cloud"})
        equal((answer.status, len(cloud.requests)), (403, 1))


CLASSES = """
tiers:
  - {{name: local, kind: local}}
  - {{name: near, kind: openai, place: region, region: us-east-1, certified: [dpa, no-retention],
      model: m, base_url: "{near}",
      api_key_env: TEST_CLOUD_KEY, context_tokens: 100000}}
  - {{name: plain, kind: openai, place: cloud, region: eu-central-1,
      model: m, base_url: "{plain}", api_key_env: TEST_CLOUD_KEY,
      context_tokens: 100000}}
  - {{name: contracted, kind: openai, place: cloud, region: eu-west-1,
      certified: [no-retention, dpa], model: m,
      base_url: "{contracted}", api_key_env: TEST_CLOUD_KEY, context_tokens: 100000}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, near, plain, contracted]}}
privacy:
  classes:
    - {{class: sensitive, places: [device, region, cloud], regions: [eu], certified: [dpa]}}
    - {{class: contractual, places: [cloud], regions: [eu], certified: [dpa, no-retention],
       tiers: [contracted]}}
"""


@case
def test_a_class_goes_only_where_its_regions_and_certificates_are_and_explain_says_so():
    clouds = {
        name: ScriptedCloud(Script(text=f"It was {name}."))
        for name in ("near", "plain", "contracted")
    }
    config = CLASSES.format(**{name: cloud.base_url for name, cloud in clouds.items()})
    private = "Who is ann.lee@acme-corp.com?"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for mode, text, data_class in (
            ("prefer-cloud", private, None),
            ("only-cloud", private, None),
            ("auto", "Explain the sea.", "contractual"),
        ):
            headers = {
                "x-tandem-mode": mode,
                **({"x-tandem-data-class": data_class} if data_class else {}),
            }
            answer = tandem.chat(text, headers)
            equal((answer.status, answer.tandem["tier"]), (200, "contracted"), answer.body.decode())
        equal([len(cloud.requests) for cloud in clouds.values()], [0, 0, 3])
        code, out, err = run(
            "explain",
            answer.tandem["exchange"],
            "--json",
            "--url",
            tandem.url,
            env=tandem.environment,
        )
        equal(code, 0, err)
        removed = {
            reason["tier"]: reason
            for reason in json.loads(out)["reasons"]
            if reason["code"] == "removed_class"
        }
        equal(set(removed), {"local", "near", "plain"})
        assert all("contractual" in reason["text"] for reason in removed.values()), removed
        for name in (
            "near",
            "plain",
        ):  # it fails: nobody else may have it, though they would answer
            clouds["contracted"].script = Script(status=500)
            answer = tandem.chat(f"{private} And {name}?", {"x-tandem-mode": "only-cloud"})
            assert answer.status >= 500, answer.body
            equal(len(clouds[name].requests), 0)
        equal(tandem.chat("My card is 4111 1111 1111 1111.").tandem["tier"], "local")
        tandem.chat("Explain the French revolution.", {"x-tandem-mode": "only-cloud"})
        equal(len(clouds["near"].requests), 1, "what is public goes where it always went")


def user(content):
    return {"role": "user", "content": content}


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


# What announces a value in one text or member, and the value in the next.
ANNOUNCED = [
    ("What is your social security number?", "536228745"),
    ("My ssn is", "536228745"),
    ("Please give me your passport number.", "C01X00T47"),
    ("What is your date of birth?", "12/03/1987"),
    ("What is your medical record number?", "00123456"),
    ("BSN?", "111222333"),
    ("What's your driver's license number?", "D1234567"),
    ("Diagnosis code?", "F32.1"),
]
MEMBERS = [
    {"metadata": {"ssn": "536228745"}},
    {"metadata": {"ssn": ["1", "536228745"]}},
    {"extra": {"ssn": 536228745}},
    {"metadata": {"password": "Geheim123!"}},
    {"metadata": {"passport_number": "C01X00T47"}},
    {"metadata": {"date_of_birth": "12/03/1987"}},
    {"extra": {"lat": 52.520008, "lon": 13.404954}},
    {"extra": [{"name": "ssn", "value": "536228745"}]},
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "s",
                "schema": {"type": "object", "properties": {"ssn": {"const": "536228745"}}},
            },
        }
    },
]
MASKINGS = (
    "",
    "privacy: {pseudonyms: {on: true}}\n",
    "privacy: {pseudonyms: {on: true, classes: [sensitive, restricted]}}\n",
)
MEMBER_VALUES = [b"536228745", b"Geheim123!", b"C01X00T47", b"12/03/1987", b"52.520008"]


@case
def test_what_announces_a_value_may_stand_in_the_text_before():
    cloud = ScriptedCloud(Script(text="Cloud."))
    for masking in MASKINGS:
        with Tandem(edge_first(cloud.base_url) + masking, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            for i, (question, value) in enumerate(ANNOUNCED):
                asked = [
                    user(f"Hello {i}"),
                    {"role": "assistant", "content": question},
                    user(value),
                ]
                requests = [
                    ("/v1/chat/completions", {"messages": asked}),
                    ("/v1/chat/completions", {"messages": [user(parts(question, value))]}),
                    ("/v1/messages", {"max_tokens": 5, "messages": [user(parts(question, value))]}),
                    (
                        "/v1/messages",
                        {
                            "max_tokens": 5,
                            "system": parts(question, value),
                            "messages": [user("hi")],
                        },
                    ),
                    (
                        "/v1/responses",
                        {
                            "input": [
                                {
                                    "role": "user",
                                    "content": [
                                        {"type": "input_text", "text": question},
                                        {"type": "input_text", "text": value},
                                    ],
                                }
                            ]
                        },
                    ),
                ]
                for path, body in requests:
                    answer = tandem.request(
                        "POST", path, {"model": "auto", **body}, {"x-tandem-mode": "only-cloud"}
                    )
                    assert answer.status in (200, 403), answer.body
                    assert masking or answer.status == 403, (path, body)
                    assert value.encode() not in cloud.received, (masking, path, body)


@case
def test_a_members_name_announces_its_value():
    cloud = ScriptedCloud(Script(text="Cloud."))
    for masking in MASKINGS:
        with Tandem(edge_first(cloud.base_url) + masking, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            for i, member in enumerate(MEMBERS):
                answer = tandem.chat(f"Hello {i}", {"x-tandem-mode": "only-cloud"}, **member)
                assert answer.status == 403 or (masking and answer.status == 200), (
                    member,
                    answer.body,
                )
            for value in MEMBER_VALUES:
                assert value not in cloud.received, (masking, value)


@case
def test_names_alone_keep_nothing_here():
    cloud = ScriptedCloud(Script(text="Cloud."))

    def text(description, **more):
        return {"type": "string", "description": description, **more}

    tool = {
        "type": "function",
        "function": {
            "name": "sign_up",
            "parameters": {
                "type": "object",
                "properties": {
                    "password": text("At least 8 characters", minLength=8),
                    "ssn": text("Social security number"),
                    "passport_number": text("Passport number"),
                    "lat": {"type": "number", "minimum": -90, "maximum": 90},
                    "card_number": text("Card number", minLength=13, maxLength=19),
                    "api_key": text("API key"),
                    "date_of_birth": text("YYYY-MM-DD"),
                },
                "required": ["password", "ssn"],
            },
        },
    }
    with server(cloud) as tandem:
        answer = tandem.chat(
            "What is the capital of France?",
            {"x-tandem-mode": "only-cloud"},
            tools=[tool],
            temperature=0.7,
            max_tokens=4096,
            seed=123456789,
            user="user_48213",
            metadata={"session": "abc123", "version": "1.2.3"},
        )
        equal(answer.status, 200, answer.body)
        talk = [
            user("What is a passport number?"),
            {"role": "assistant", "content": "Nine characters. An SSN?"},
            user("How do I renew mine in 2026?"),
        ]
        equal(tandem.chat(talk, {"x-tandem-mode": "only-cloud"}).status, 200)


@case
def test_a_declared_class_outlives_a_restart_and_what_a_client_may_change():
    cloud = ScriptedCloud(Script(text="Cloud."))
    first, rest = (
        "Our merger plan: buy Foo.",
        [
            {"role": "assistant", "content": "ok"},
            user("go on"),
        ],
    )
    only_cloud = {"x-tandem-mode": "only-cloud"}
    with tempfile.TemporaryDirectory() as state:
        for restart in range(2):
            with Tandem(
                edge_first(cloud.base_url) + "privacy: {zero_retention: true}\n",
                env={"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": state},
            ) as tandem:
                if restart == 0:
                    equal(
                        tandem.chat(
                            first, {**only_cloud, "x-tandem-data-class": "restricted"}
                        ).status,
                        403,
                    )
                for messages in (
                    [user(first)] + rest,
                    [{"role": "system", "content": "x"}, user(first)] + rest,
                    [user(first + " ")] + rest,
                    [user(parts("Our merger plan:", " buy Foo."))] + rest,
                ):
                    equal(tandem.chat(messages, only_cloud).status, 403, messages)
                equal(tandem.chat([user(first)] + rest, only_cloud, user="bob").status, 403)
                equal(
                    tandem.chat(
                        [user(first)] + rest, {**only_cloud, "x-tandem-user": "bob"}
                    ).status,
                    403,
                )
                equal(tandem.chat("Something else", only_cloud).status, 200)
        kept = Path(state, "classes.bin")
        equal(kept.stat().st_mode & 0o777, 0o600)
        assert b"merger" not in kept.read_bytes()
    assert b"merger" not in cloud.received


if __name__ == "__main__":
    main()
