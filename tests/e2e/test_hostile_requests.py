#!/usr/bin/env python3
"""Requests that are wrong or enormous, in every dialect: a member of a wrong type is named, ten
thousand tools and thirty megabytes of picture are taken or refused with words, a length of twenty
gigabytes is refused before a byte of it, and the server goes on."""

import base64
import json
import os
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, edge_first

TAKES_ALL = "    modalities: [text, image, audio, file]\n    completions: true\n"
MB = 1 << 20
GB20 = 20 << 30
HI = [{"role": "user", "content": "Hello"}]

# A request of each dialect that is right.
RIGHT = {
    "/v1/chat/completions": {"model": "auto", "messages": HI},
    "/v1/completions": {"model": "auto", "prompt": "Hello", "max_tokens": 2},
    "/v1/messages": {"model": "auto", "max_tokens": 9, "messages": HI},
    "/v1/responses": {"model": "auto", "input": "Hello"},
    "/v1/embeddings": {"model": "auto", "input": "Hello"},
    "/api/chat": {"model": "auto", "messages": HI, "stream": False},
    "/api/generate": {"model": "auto", "prompt": "Hello", "stream": False},
    "/api/embed": {"model": "auto", "input": "Hello"},
    "/completion": {"prompt": "Hello", "n_predict": 2},
    "/infill": {"input_prefix": "Hello", "n_predict": 2},
}
VALUES = {
    "text": "words",
    "number": 1.25,
    "integer": 7,
    "flag": True,
    "list": [[]],
    "object": {"unlikely": []},
}
ALL = set(VALUES)
# Documented members: the kinds of values that they may have. Others are 400 and named.
MEMBERS = {
    "/v1/chat/completions": {
        "model": {"text"},
        "messages": {"list"},
        "max_tokens": {"integer"},
        "max_completion_tokens": {"integer"},
        "temperature": {"number", "integer"},
        "top_p": {"number", "integer"},
        "top_k": {"integer"},
        "min_p": {"number", "integer"},
        "presence_penalty": {"number", "integer"},
        "frequency_penalty": {"number", "integer"},
        "repetition_penalty": {"number", "integer"},
        "seed": {"integer"},
        "stop": {"text", "list"},
        "stream": {"flag"},
        "stream_options": {"object"},
        "logprobs": {"flag"},
        "top_logprobs": {"integer"},
        "logit_bias": {"object", "list"},
        "user": {"text"},
        "response_format": {"object"},
        "json_schema": {"object", "flag"},
        "grammar": {"text"},
        "tandem": {"object"},
        "ignore_eos": {"flag"},
    },
    "/v1/completions": {
        "model": {"text"},
        "prompt": {"text", "list"},
        "max_tokens": {"integer"},
        "temperature": {"number", "integer"},
        "top_p": {"number", "integer"},
        "n": {"integer"},
        "best_of": {"integer"},
        "logprobs": {"integer"},
        "echo": {"flag"},
        "stop": {"text", "list"},
        "suffix": {"text"},
        "stream": {"flag"},
        "stream_options": {"object"},
        "seed": {"integer"},
        "presence_penalty": {"number", "integer"},
        "frequency_penalty": {"number", "integer"},
        "logit_bias": {"object", "list"},
        "user": {"text"},
        "tandem": {"object"},
    },
    "/v1/messages": {
        "model": {"text"},
        "messages": {"list"},
        "max_tokens": {"integer"},
        "system": {"text", "list"},
        "temperature": {"number", "integer"},
        "top_p": {"number", "integer"},
        "top_k": {"integer"},
        "stop_sequences": {"list"},
        "stream": {"flag"},
        "tools": {"list"},
        "tool_choice": {"object"},
        "metadata": {"object"},
        "output_format": {"object"},
        "tandem": {"object"},
    },
    "/v1/responses": {
        "model": {"text"},
        "input": {"text", "list"},
        "instructions": {"text", "list"},
        "max_output_tokens": {"integer"},
        "temperature": {"number", "integer"},
        "top_p": {"number", "integer"},
        "top_logprobs": {"integer"},
        "stream": {"flag"},
        "store": {"flag"},
        "background": {"flag"},
        "previous_response_id": {"text"},
        "conversation": {"text", "object"},
        "tools": {"list"},
        "include": {"list"},
        "user": {"text"},
        "tandem": {"object"},
    },
    "/v1/embeddings": {
        "model": {"text"},
        "input": {"text", "list"},
        "encoding_format": {"text"},
        "dimensions": {"integer"},
        "user": {"text"},
    },
    "/api/chat": {
        "model": {"text"},
        "messages": {"list"},
        "stream": {"flag"},
        "format": {"text", "object"},
        "options": {"object"},
        "think": {"text", "flag"},
        "tools": {"list"},
    },
    "/api/generate": {
        "model": {"text"},
        "prompt": {"text"},
        "system": {"text"},
        "suffix": {"text"},
        "images": {"list"},
        "stream": {"flag"},
        "raw": {"flag"},
        "format": {"text", "object"},
        "options": {"object"},
        "think": {"text", "flag"},
    },
    "/api/embed": {"model": {"text"}, "input": {"text", "list"}, "dimensions": {"integer"}},
    "/completion": {
        "prompt": {"text"},
        "n_predict": {"integer"},
        "temperature": {"number", "integer"},
        "top_k": {"integer"},
        "seed": {"integer"},
        "stop": {"text", "list"},
        "stream": {"flag"},
        "json_schema": {"object", "flag"},
        "grammar": {"text"},
        "ignore_eos": {"flag"},
    },
    "/infill": {
        "input_prefix": {"text"},
        "input_suffix": {"text"},
        "input_extra": {"list"},
        "prompt": {"text"},
        "n_predict": {"integer"},
        "stop": {"text", "list"},
        "stream": {"flag"},
    },
}
# Ollama's options stand in an object of their own.
OPTIONS = {
    "num_predict": {"integer"},
    "temperature": {"number", "integer"},
    "top_k": {"integer"},
    "top_p": {"number", "integer"},
    "seed": {"integer"},
    "stop": {"text", "list"},
}


def server(cloud):
    return Tandem(edge_first(cloud.base_url, TAKES_ALL), env={"TEST_CLOUD_KEY": "k"})


def cpu_seconds(tandem):
    """What the server has computed for: the machine may have other work."""
    fields = Path(f"/proc/{tandem.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def named(answer):
    """The place that an error names, in each dialect's form."""
    error = answer.json.get("error")
    return answer.json.get("param") if isinstance(error, str) else error.get("param")


def begins(param, name):
    return param is not None and (param == name or param.startswith((name + ".", name + "[")))


def wrong_types():
    """(path, member, kind, body) of each request with one value of a wrong type."""
    for path, members in MEMBERS.items():
        for member, kinds in members.items():
            for kind in sorted(ALL - kinds):
                yield path, member, kind, {**RIGHT[path], member: VALUES[kind]}
    for path in ("/api/chat", "/api/generate"):
        for member, kinds in OPTIONS.items():
            for kind in sorted(ALL - kinds):
                yield path, member, kind, {**RIGHT[path], "options": {member: VALUES[kind]}}


@case
def test_a_member_of_a_wrong_type_is_400_and_named():
    cloud, wrong, count = ScriptedCloud(Script(text="Hello.")), [], 0
    with server(cloud) as tandem:
        for path, body in RIGHT.items():
            equal((path, tandem.request("POST", path, body).status), (path, 200))
        cloud.clear()
        for path, member, kind, body in wrong_types():
            answer = tandem.request("POST", path, body)
            place = named(answer) if answer.status == 400 else None
            count += 1
            if not any(begins(place, name) for name in (member, f"options.{member}")):
                wrong.append((path, member, kind, answer.status, place))
        for row in wrong:
            print(*row)
        equal(len(cloud.requests), 0, "requests that went on")
        equal(tandem.chat("Hello").status, 200)
    equal(len(wrong), 0, f"of {count} requests, those that were not refused by name")


def tool(i, arguments=1):
    names = {f"a{k}": {"type": "string", "description": "A word"} for k in range(arguments)}
    if not names:
        return f"tool_{i}", {}
    return f"tool_{i}", {"type": "object", "properties": names, "required": list(names)}


def with_tools(path, tools):
    """The right request with these tools, in the dialect's form."""
    made = []
    for name, schema in tools:
        function = {"name": name, "description": "Does something", "parameters": schema}
        if path == "/v1/messages":
            made.append({"name": name, "description": "Does something", "input_schema": schema})
        elif path == "/v1/responses":
            made.append({"type": "function", **function})
        else:
            made.append({"type": "function", "function": function})
    return {**RIGHT[path], "tools": made}


TOOLED = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat")


@case
def test_ten_thousand_tools_are_refused_with_words_and_two_hundred_arguments_are_taken():
    cloud = ScriptedCloud(Script(text="Done."))
    with server(cloud) as tandem:
        for path in TOOLED:
            for arguments, words in ((0, b"512"), (3, b"131072 JSON values")):
                began, before = cpu_seconds(tandem), tandem.rss_bytes()
                many = with_tools(path, [tool(i, arguments) for i in range(10000)])
                answer = tandem.request("POST", path, many)
                if arguments or path in ("/v1/messages", "/v1/responses"):
                    equal((path, answer.status), (path, 400), answer.body[:300])
                    assert words in answer.body, answer.body
                assert cpu_seconds(tandem) - began < 5, path
                assert tandem.rss_bytes() - before < 300 * MB, path
            wide = with_tools(path, [tool(i, 200) for i in range(20)])
            answer = tandem.request("POST", path, wide, {"x-tandem-mode": "only-cloud"})
            equal((path, answer.status), (path, 200), answer.body[:300])
        equal(tandem.chat("Hello").status, 200)


PICTURE_BYTES = 22 * MB  # 30 MB in base64


def with_picture(path, data):
    url = f"data:image/png;base64,{data}"
    if path == "/api/chat":
        return {**RIGHT[path], "messages": [{"role": "user", "content": "?", "images": [data]}]}
    if path == "/api/generate":
        return {**RIGHT[path], "images": [data]}
    if path == "/v1/messages":
        source = {"type": "base64", "media_type": "image/png", "data": data}
        part = {"type": "image", "source": source}
    elif path == "/v1/responses":
        part = {"type": "input_image", "image_url": url}
        return {**RIGHT[path], "input": [{"role": "user", "content": [part]}]}
    else:
        part = {"type": "image_url", "image_url": {"url": url}}
    return {**RIGHT[path], "messages": [{"role": "user", "content": [part]}]}


PICTURED = (*TOOLED, "/api/generate")


@case
def test_a_picture_of_thirty_megabytes_is_taken_and_a_larger_one_is_413():
    cloud = ScriptedCloud(Script(text="A harbour."))
    begin = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    data = base64.b64encode(begin + random.Random(3).randbytes(PICTURE_BYTES)).decode()
    assert 29 * MB < len(data) < 31 * MB
    with server(cloud) as tandem:
        for path in PICTURED:
            body = json.dumps(with_picture(path, data))
            began = cpu_seconds(tandem)
            answer = tandem.request("POST", path, body, {"x-tandem-mode": "only-cloud"}, 200)
            equal((path, answer.status), (path, 200), answer.body[:300])
            assert data[-1000:].encode() in cloud.requests[-1]["body"][-3000:], path
            assert cpu_seconds(tandem) - began < 10, path
            cloud.clear()
        assert tandem.rss_bytes("VmHWM") < 700 * MB, tandem.rss_bytes("VmHWM") // MB
        for path in PICTURED:  # its head alone: the rest is not awaited
            length = len(json.dumps(with_picture(path, data + data)))
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
            reply = tandem.raw(head.encode(), 2)
            assert reply.startswith(b"HTTP/1.1 413 ") and b"server.body_bytes_max" in reply, reply
        equal(tandem.chat("Hello").status, 200)


@case
def test_a_length_of_twenty_gigabytes_is_refused_before_the_body():
    with Tandem() as tandem:
        before = tandem.rss_bytes()
        for path in RIGHT:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {GB20}\r\n\r\n"
            reply = tandem.raw(head.encode(), 2)
            assert reply.startswith(b"HTTP/1.1 413 "), (path, reply[:100])
            refused = json.loads(reply.split(b"\r\n\r\n", 1)[1])
            assert refused, path
        assert tandem.rss_bytes() - before < 20 * MB
        equal(tandem.chat("Hello").status, 200)


@case
def test_deep_nesting_and_a_million_values_are_400():
    deep = "[" * 100_000 + "]" * 100_000
    many = "[" + "0," * 1_200_000 + "0]"
    with Tandem() as tandem:
        for path, right in RIGHT.items():
            for value in (deep, many):
                body = json.dumps({**right, "unknown": "HERE"}).replace('"HERE"', value)
                began = cpu_seconds(tandem)
                answer = tandem.request("POST", path, body)
                equal((path, answer.status), (path, 400), answer.body[:200])
                assert cpu_seconds(tandem) - began < 5, path
        equal(tandem.chat("Hello").status, 200)


@case
def test_another_callers_response_is_not_found():
    cloud = ScriptedCloud(Script(text="Noted."))
    config = "server:\n  api_keys_env: TEST_KEYS\n" + edge_first(cloud.base_url, TAKES_ALL)
    env = {"TEST_CLOUD_KEY": "k", "TEST_KEYS": "key-one,key-two"}
    one, two = ({"authorization": f"Bearer key-{name}"} for name in ("one", "two"))
    with Tandem(config, env=env) as tandem:
        kept = tandem.request("POST", "/v1/responses", RIGHT["/v1/responses"], one).json
        item = kept["output"][0]["id"]
        for asked in (
            {"previous_response_id": kept["id"]},
            {"input": [{"type": "item_reference", "id": item}]},
            {"input": [{"id": item}]},
        ):
            body = {**RIGHT["/v1/responses"], **asked}
            equal(tandem.request("POST", "/v1/responses", body, one).status, 200, str(asked))
            answer = tandem.request("POST", "/v1/responses", body, two)
            assert answer.status in (400, 404) and b"not found" in answer.body, answer.body
            answer = tandem.request("POST", "/v1/responses/input_tokens", body, two)
            assert answer.status in (400, 404) and b"not found" in answer.body, answer.body
        equal(tandem.get(f"/v1/responses/{kept['id']}", headers=two).status, 404)


# What browsers send with what a page of somebody else's asks for. The last two came by a name of
# the stranger's that now leads here, so that the browser takes the server for a part of its site.
STRANGERS = {
    "another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
    "another site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    "a sandbox": {"Origin": "null"},
    "a picture": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "another name": {"Host": "evil.example", "Origin": "http://evil.example"},
    "its picture": {"Host": "evil.example", "Sec-Fetch-Site": "same-origin"},
}


def all_endpoints():
    """Each method and path of the program's table, with something in the place of the stars."""
    table = (ROOT / "src" / "api" / "api.c").read_text()
    found = re.findall(r'^    ROW\((\w+), "([^"]+)"', table, re.MULTILINE)
    assert len(found) > 100, len(found)
    return [(method, path.replace("*", "x")) for method, path in found]


@case
def test_no_endpoint_does_anything_for_a_page_of_a_stranger():
    """On a server without keys, where nothing else would stand before it."""
    with Tandem() as tandem:
        for method, path in all_endpoints():
            for who, headers in STRANGERS.items():
                body = None if method in ("GET", "DELETE") else b"{}"
                answer = tandem.request(method, path, body, headers)
                where = f"{method} {path} for {who}: {answer.body[:200]}"
                equal(answer.status, 403, where)
                assert b"not_allowed" in answer.body or path.startswith(OTHER_FORMS), where
                assert "access-control-allow-origin" not in answer.headers, where
        equal(tandem.get("/tandem/v1/exchanges").json["data"], [])
        equal(tandem.get("/tandem/v1/keys").json["data"], [])


# The errors of these APIs have no codes.
OTHER_FORMS = ("/v1/messages", "/v1beta/", "/v1/models/x:", "/api/")


@case
def test_no_browser_takes_an_answer_for_a_page():
    cloud = ScriptedCloud(Script(text="<script>alert(1)</script>"))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        cloud_alone = {"x-tandem-mode": "only-cloud"}
        for answer in (
            tandem.get("/v1/models"),
            tandem.get("/tandem/v1/exchanges"),
            tandem.get("/nowhere"),
            tandem.get("/metrics"),
            tandem.chat("Hello", cloud_alone),
            tandem.chat("Hello", cloud_alone, stream=True),
            tandem.request("POST", "/v1/chat/completions", b"{", {}),
        ):
            equal(
                (answer.status, answer.headers.get("x-content-type-options")),
                (answer.status, "nosniff"),
            )
            assert "html" not in answer.headers["content-type"], answer.headers
    cloud.close()


if __name__ == "__main__":
    main()
