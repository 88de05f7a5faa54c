#!/usr/bin/env python3
"""Responses that are kept: the next turn by previous_response_id, by a conversation and by
references to items; looking at them, deleting, cancelling, asking in the background. Each belongs
to its caller, and private ones stay private."""

import http.client
import json
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events, run, wait_until

KEYS = {"a": "key-of-a", "b": "key-of-b"}
CARD = "My card is 4111 1111 1111 1111."
WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL = {
    "tool_calls": [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
        }
    ]
}


def serve(cloud, more="", keys=False):
    config = edge_first(cloud.base_url) + more
    env = {"TEST_CLOUD_KEY": "k"}
    if keys:
        config += "server: {api_keys_env: KEYS}\n"
        env["KEYS"] = ",".join(KEYS.values())
    return Tandem(config, env=env)


def key(who):
    return {"Authorization": f"Bearer {KEYS[who]}"} if who else {}


def ask(tandem, words, who=None, mode="only-cloud", **members):
    body = {"model": "auto", "input": words, **members}
    return tandem.request("POST", "/v1/responses", body, {"x-tandem-mode": mode, **key(who)})


def asked(tandem, words, who=None, mode="only-cloud", **members):
    answer = ask(tandem, words, who, mode, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer.json


def messages(cloud):
    """What the cloud was asked last: [(role, content)]."""
    return [(one["role"], one.get("content")) for one in cloud.requests[-1]["json"]["messages"]]


def error_of(answer):
    return (answer.status, answer.json["error"]["code"], answer.json["error"]["param"])


def events(answer):
    lines = answer.body.decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@case
def test_the_next_turn_goes_on_from_a_response_by_its_id():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        first = asked(tandem, "Which colour has the sky?", instructions="Be brief.")
        equal((first["store"], first["previous_response_id"]), (True, None))
        second = asked(tandem, "And why?", previous_response_id=first["id"], stream=False)
        equal(second["previous_response_id"], first["id"])
        # As with OpenAI, instructions are the request's own and do not go on.
        turns = [
            ("user", "Which colour has the sky?"),
            ("assistant", "Blue."),
            ("user", "And why?"),
        ]
        equal(messages(cloud), turns)
        streamed = ask(tandem, "Sure?", previous_response_id=second["id"], stream=True)
        third = events(streamed)[-1]["response"]
        equal((third["store"], third["previous_response_id"]), (True, second["id"]))
        asked(tandem, "Thanks.", previous_response_id=third["id"])
        more = [("assistant", "Blue."), ("user", "Sure?"), ("assistant", "Blue.")]
        equal(messages(cloud), [*turns, *more, ("user", "Thanks.")])
        # Two turns may go on from one.
        asked(tandem, "And at night?", previous_response_id=first["id"])
        equal(messages(cloud), [*turns[:2], ("user", "And at night?")])


@case
def test_a_response_that_is_not_kept_is_not_found():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        once = asked(tandem, "hello", store=False)
        equal(once["store"], False)
        for name in (once["id"], "resp_0", "resp_" + "0" * 24, "x" * 10000, "conv_1"):
            refused = ask(tandem, "more", previous_response_id=name)
            equal(
                error_of(refused),
                (400, "previous_response_not_found", "previous_response_id"),
                name[:40],
            )
            equal(tandem.get(f"/v1/responses/{name[:100]}").status, 404)
        assert f"'{once['id']}'" in ask(tandem, "x", previous_response_id=once["id"]).body.decode()


@case
def test_members_of_a_wrong_type_are_named():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        kept = asked(tandem, "hello")["id"]
        for members, param in (
            ({"store": "yes"}, "store"),
            ({"background": 1}, "background"),
            ({"previous_response_id": 7}, "previous_response_id"),
            ({"previous_response_id": ""}, "previous_response_id"),
            ({"conversation": 7}, "conversation"),
            ({"conversation": {"id": 7}}, "conversation.id"),
            ({"conversation": {}}, "conversation.id"),
            ({"background": True, "store": False}, "background"),
        ):
            answer = ask(tandem, "hi", **members)
            equal((answer.status, answer.json["error"]["param"]), (400, param), str(members))
        both = ask(tandem, "hi", previous_response_id=kept, conversation="conv_1")
        equal((both.status, both.json["error"]["param"]), (400, "previous_response_id"))
        for item, param in (
            ({"type": "item_reference"}, "input[0].id"),
            ({"type": "item_reference", "id": 7}, "input[0].id"),
        ):
            answer = ask(tandem, [item], previous_response_id=kept)
            equal((answer.status, answer.json["error"]["param"]), (400, param))
        # The place is that of the request, whatever goes before it.
        answer = ask(tandem, [{"role": "king", "content": "x"}], previous_response_id=kept)
        equal((answer.status, answer.json["error"]["param"]), (400, "input[0].role"))


@case
def test_items_are_referred_to_as_the_ai_sdk_does_on_turn_two():
    cloud = ScriptedCloud(Script(text="", extra_delta=CALL, finish="tool_calls"))
    question = {"role": "user", "content": [{"type": "input_text", "text": "Weather in Oslo?"}]}
    with serve(cloud) as tandem:
        first = asked(tandem, [question], tools=[WEATHER])
        call = first["output"][-1]
        equal((call["type"], call["call_id"]), ("function_call", "call_1"))
        cloud.script = Script(text="It rains.")
        items = [
            question,
            {"type": "item_reference", "id": call["id"]},
            {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        ]
        second = asked(tandem, items, tools=[WEATHER])
        sent = cloud.requests[-1]["json"]["messages"]
        equal([one["role"] for one in sent], ["user", "assistant", "tool"])
        equal(sent[1]["tool_calls"][0]["function"]["name"], "weather")
        # A reference may come without its type, and to an item of an input.
        message = second["output"][0]
        inputs = tandem.get(f"/v1/responses/{first['id']}/input_items").json["data"]
        referred = [
            {"id": inputs[0]["id"]},
            {"id": message["id"]},
            {"role": "user", "content": "?"},
        ]
        asked(tandem, referred)
        equal(
            messages(cloud),
            [("user", "Weather in Oslo?"), ("assistant", "It rains."), ("user", "?")],
        )
        unknown = ask(tandem, [{"type": "item_reference", "id": "msg_0_0"}])
        equal(error_of(unknown), (404, None, "input"))
        asked(tandem, "x", instructions="y", store=False)


@case
def test_another_callers_responses_items_and_conversations_are_not_there():
    cloud = ScriptedCloud(Script(text="Secret of a."))
    with serve(cloud, keys=True) as tandem:
        first = asked(tandem, "hello", "a")
        item = first["output"][0]["id"]
        talk = tandem.request("POST", "/v1/conversations", {}, key("a")).json["id"]
        asked(tandem, "hi", "a", conversation=talk)

        def told(who, name):
            shown = []
            for method, path, body in (
                ("GET", f"/v1/responses/{name}", None),
                ("GET", f"/v1/responses/{name}/input_items", None),
                ("POST", f"/v1/responses/{name}/cancel", {}),
                ("DELETE", f"/v1/responses/{name}", None),
                ("GET", f"/v1/conversations/{name}", None),
                ("POST", f"/v1/conversations/{name}", {"metadata": {}}),
                ("GET", f"/v1/conversations/{name}/items", None),
                ("GET", f"/v1/conversations/{name}/items/{name}", None),
                ("POST", f"/v1/conversations/{name}/items", {"items": [{"id": name}]}),
                ("DELETE", f"/v1/conversations/{name}/items/{name}", None),
                ("DELETE", f"/v1/conversations/{name}", None),
            ):
                answer = tandem.request(method, path, body, key(who))
                shown.append((answer.status, answer.body.decode().replace(name, "")))
            for body in (
                {"input": "x", "previous_response_id": name},
                {"input": "x", "conversation": name},
                {"input": [{"type": "item_reference", "id": name}]},
            ):
                answer = tandem.request("POST", "/v1/responses", body, key(who))
                shown.append((answer.status, answer.body.decode().replace(name, "")))
            return shown

        for name in (first["id"], item, talk):
            foreign, absent = told("b", name), told("b", name[:-3] + "zzz")
            equal(foreign, absent)
            assert all(status in (400, 404) for status, _ in foreign), foreign
            assert "Secret" not in str(foreign)
        equal(tandem.get(f"/v1/responses/{first['id']}", headers=key("a")).status, 200)
        equal(tandem.get(f"/v1/conversations/{talk}", headers=key("a")).status, 200)


@case
def test_a_response_is_looked_at_and_deleted():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        for stream in (False, True):
            answer = ask(tandem, "Which colour?", tools=[WEATHER], user="ann", stream=stream)
            first = events(answer)[-1]["response"] if stream else answer.json
            shown = tandem.get(f"/v1/responses/{first['id']}")
            equal((shown.status, shown.json), (200, first))
            second = asked(tandem, "Why?", previous_response_id=first["id"])
            path = f"/v1/responses/{second['id']}/input_items"
            items = tandem.get(path + "?order=asc").json
            equal(
                [item["content"][0]["text"] for item in items["data"]],
                ["Which colour?", "Blue.", "Why?"],
            )
            equal((items["object"], items["has_more"]), ("list", False))
            newest = tandem.get(path + "?limit=1").json
            equal((newest["data"], newest["has_more"]), (items["data"][2:], True))
            after = tandem.get(f"{path}?order=asc&after={items['data'][0]['id']}").json
            equal(after["data"], items["data"][1:])
            for bad in ("limit=0", "limit=101", "limit=x", "order=up"):
                equal(tandem.get(f"{path}?{bad}").status, 400, bad)
            gone = tandem.request("DELETE", f"/v1/responses/{first['id']}")
            equal(gone.json, {"id": first["id"], "object": "response", "deleted": True})
            equal(tandem.get(f"/v1/responses/{first['id']}").status, 404)
            equal(tandem.request("DELETE", f"/v1/responses/{first['id']}").status, 404)
            refused = ask(tandem, "Why?", previous_response_id=second["id"])
            equal(refused.json["error"]["code"], "previous_response_not_found")


@case
def test_a_conversation_is_made_asked_in_and_changed():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        start = [{"type": "message", "role": "user", "content": "I am Ann."}]
        body = {"metadata": {"topic": "sky"}, "items": start}
        made = tandem.request("POST", "/v1/conversations", body).json
        path = f"/v1/conversations/{made['id']}"
        equal((made["object"], made["metadata"]), ("conversation", {"topic": "sky"}))
        equal(tandem.get(path).json, made)
        first = asked(tandem, "Which colour?", conversation=made["id"])
        equal(first["conversation"], {"id": made["id"]})
        asked(tandem, "Why?", conversation={"id": made["id"]}, store=False)
        turns = [
            ("user", "I am Ann."),
            ("user", "Which colour?"),
            ("assistant", "Blue."),
            ("user", "Why?"),
        ]
        equal(messages(cloud), turns)
        items = tandem.get(path + "/items?order=asc").json["data"]
        equal(len(items), 5)
        equal(tandem.get(f"{path}/items/{items[1]['id']}").json, items[1])
        added = tandem.request(
            "POST", path + "/items", {"items": [{"role": "user", "content": "Z"}]}
        )
        equal((added.status, added.json["data"][0]["content"][0]["text"]), (200, "Z"))
        gone = tandem.request("DELETE", f"{path}/items/{items[0]['id']}")
        equal((gone.status, gone.json["id"]), (200, made["id"]))
        equal(tandem.get(f"{path}/items/{items[0]['id']}").status, 404)
        asked(tandem, "End.", conversation=made["id"])
        equal(next(words for _, words in messages(cloud)), "Which colour?")
        changed = tandem.request("POST", path, {"metadata": {"topic": "sea"}}).json
        equal(changed["metadata"], {"topic": "sea"})
        for body in ({"items": 7}, {"items": [7]}, {"metadata": 7}, {"metadata": {"a": 1}}, []):
            equal(tandem.request("POST", "/v1/conversations", body).status, 400, str(body))
        bad = {"items": [{"type": "message", "role": "king", "content": "x"}]}
        equal(tandem.request("POST", path + "/items", bad).json["error"]["param"], "items[0].role")
        gone = tandem.request("DELETE", path)
        equal(gone.json, {"id": made["id"], "object": "conversation.deleted", "deleted": True})
        equal(error_of(ask(tandem, "x", conversation=made["id"])), (404, None, "conversation"))


@case
def test_a_response_in_the_background_is_waited_for():
    cloud = ScriptedCloud(Script(text="Blue at last.", think=0.5))
    with serve(cloud) as tandem:
        begun = asked(tandem, "Which colour?", background=True)
        equal((begun["background"], begun["output"]), (True, []))
        assert begun["status"] in ("queued", "in_progress"), begun
        path = f"/v1/responses/{begun['id']}"
        refused = ask(tandem, "more", previous_response_id=begun["id"])
        equal((refused.status, refused.json["error"]["param"]), (400, "previous_response_id"))
        wait_until(lambda: tandem.get(path).json["status"] == "completed", what="the answer")
        done = tandem.get(path).json
        equal(done["output"][0]["content"][0]["text"], "Blue at last.")
        equal((done["id"], done["background"]), (begun["id"], True))
        equal(tandem.request("POST", path + "/cancel", {}).json, done)
        once = asked(tandem, "x")
        answer = tandem.request("POST", f"/v1/responses/{once['id']}/cancel", {})
        equal(answer.status, 400)


@case
def test_a_background_response_is_cancelled_and_its_tier_stops():
    cloud = ScriptedCloud(Script(text="a b c d", stall_after=1))
    with serve(cloud) as tandem:
        begun = asked(tandem, "Which colour?", background=True)
        path = f"/v1/responses/{begun['id']}"
        wait_until(lambda: cloud.requests, what="the cloud's turn")
        cancelled = tandem.request("POST", path + "/cancel", {}).json
        equal((cancelled["id"], cancelled["status"]), (begun["id"], "cancelled"))
        wait_until(lambda: cloud.gone_count == 1, what="the tier to stop")
        equal(tandem.get(path).json, cancelled)
        equal(tandem.request("POST", path + "/cancel", {}).json, cancelled)


@case
def test_a_background_response_that_fails_says_so():
    cloud = ScriptedCloud(Script(status=400, error_message="scripted failure"))
    with serve(cloud) as tandem:
        begun = asked(tandem, "Which colour?", background=True)
        path = f"/v1/responses/{begun['id']}"
        wait_until(lambda: tandem.get(path).json["status"] == "failed", what="the failure")
        assert tandem.get(path).json["error"]["message"], tandem.get(path).json


@case
def test_a_background_stream_goes_on_without_its_client():
    cloud = ScriptedCloud(Script(text="one two three four", piece_delay=0.2))
    with serve(cloud) as tandem:
        body = {"model": "auto", "input": "Count.", "background": True, "stream": True}
        text = json.dumps(body)
        with socket.create_connection(("127.0.0.1", tandem.port), timeout=20) as connection:
            connection.sendall(
                b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nx-tandem-mode: only-cloud\r\n"
                b"Content-Type: application/json\r\n"
                + f"Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
            head = b""
            while b'"id":"resp_' not in head:
                head += connection.recv(65536)
        name = head.split(b'"id":"')[1].split(b'"')[0].decode()
        path = f"/v1/responses/{name}"
        wait_until(lambda: tandem.get(path).json["status"] == "completed", what="the answer")
        equal(tandem.get(path).json["output"][0]["content"][0]["text"], "one two three four")


@case
def test_a_complete_response_is_streamed_again():
    cloud = ScriptedCloud(Script(text="one two three four", piece_delay=0.3))
    with serve(cloud) as tandem:
        begun = asked(tandem, "Count.", background=True)
        path = f"/v1/responses/{begun['id']}"
        early = tandem.get(f"{path}?stream=true&starting_after=4")  # it still runs
        whole = tandem.get(path).json
        equal(whole["status"], "completed")
        answer = tandem.get(f"{path}?stream=true")
        equal(answer.headers["content-type"], "text/event-stream")
        events = parse_events(answer.body)
        equal([event["sequence_number"] for event in events], list(range(len(events))))
        equal((events[0]["type"], events[0]["response"]["output"]), ("response.created", []))
        deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
        equal("".join(deltas), "one two three four")
        done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
        equal(done, whole["output"])
        equal((events[-1]["type"], events[-1]["response"]), ("response.completed", whole))
        rest = parse_events(tandem.get(f"{path}?stream=true&starting_after=3").body)
        equal([event["sequence_number"] for event in rest], list(range(4, len(events))))
        equal(parse_events(early.body), events[5:])
        last = parse_events(tandem.get(f"{path}?starting_after=99&stream=true").body)
        equal([event["type"] for event in last], ["response.completed"])
        wrong = tandem.get(f"{path}?stream=true&starting_after=x")
        equal((wrong.status, wrong.json["error"]["param"]), (400, "starting_after"))
        absent = tandem.get("/v1/responses/resp_none?stream=true")
        equal(absent.status, 404)


@case
def test_a_response_that_runs_is_followed_until_it_ends_or_is_removed():
    gate = threading.Event()
    cloud = ScriptedCloud(Script(text="one two three four", gate=gate))
    with serve(cloud, "server: {workers: 1}\n") as tandem:  # requests in their order

        def following(path, seconds=30):
            client = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=seconds)
            client.request("GET", f"{path}?stream=true")
            return client

        paths = []
        for _ in range(3):
            paths.append(f"/v1/responses/{asked(tandem, 'Count.', background=True)['id']}")
        clients = [following(path) for path in paths]
        following(paths[0]).close()  # who leaves is forgotten
        equal(tandem.request("POST", f"{paths[1]}/cancel").json["status"], "cancelled")
        equal(tandem.request("DELETE", paths[2]).status, 200)
        gate.set()
        answers = [client.getresponse() for client in clients]
        equal([answer.status for answer in answers], [200] * 3)
        events = parse_events(answers[0].read())
        equal(events[-1]["type"], "response.completed")
        equal(events[-1]["response"]["output"][0]["content"][0]["text"], "one two three four")
        events = parse_events(answers[1].read())
        equal(events[-1]["response"]["status"], "cancelled")
        try:
            answers[2].read()
            raise AssertionError("a removed response has an end")
        except http.client.IncompleteRead:
            pass
        gate.clear()
        paths.append(f"/v1/responses/{asked(tandem, 'Count.', background=True)['id']}")
        last = following(paths[3])
        equal(tandem.get(paths[3]).json["status"], "in_progress")
        tandem.process.terminate()
        wait_until(lambda: "event=stopping" in "".join(tandem.log), what="the signal")
        gate.set()
        tandem.ended()  # it has waited for what runs
        equal(parse_events(last.getresponse().read())[-1]["type"], "response.completed")


@case
def test_what_was_private_stays_private_on_the_next_turn():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with serve(cloud) as tandem:
        first = asked(tandem, CARD, mode="auto", max_output_tokens=16)
        equal(first["tandem"]["place"], "device")
        for way in (
            {"previous_response_id": first["id"]},
            {"input": [{"id": first["output"][0]["id"]}, {"role": "user", "content": "hi"}]},
        ):
            body = {"input": "Thank you.", **way}
            refused = ask(tandem, **{"words": body.pop("input"), **body})
            equal(refused.status, 403, refused.body.decode())
        equal(cloud.requests, [])
        # What the client declared goes on, too, although no detector finds it.
        body = {"input": "Plain.", "tandem": {"data_class": "restricted"}, "max_output_tokens": 16}
        first = tandem.request("POST", "/v1/responses", body).json
        refused = ask(tandem, "More.", previous_response_id=first["id"])
        equal((refused.status, cloud.requests), (403, []))
        # The same in a conversation, and when its first turn was put there without an answer.
        body = {"items": [{"role": "user", "content": CARD}]}
        talk = tandem.request("POST", "/v1/conversations", body).json["id"]
        equal(ask(tandem, "hi", conversation=talk).status, 403)
        equal(cloud.requests, [])
        held = b"".join(file.read_bytes() for file in tandem.state.rglob("*") if file.is_file())
        assert not has_card(held), "a restricted text is on the disk"


@case
def test_forgetting_a_user_reaches_kept_responses():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud) as tandem:
        ann = asked(tandem, "hello", user="ann")["id"]
        bob = asked(tandem, "hello", user="bob")["id"]
        talk = tandem.request("POST", "/v1/conversations", {}).json["id"]
        asked(tandem, "hello", user="ann", conversation=talk, store=False)
        code, out, err = run("forget", "ann", "--json", "--url", tandem.url, env=tandem.environment)
        equal((code, json.loads(out)["responses"]), (0, 2), err)
        equal(tandem.get(f"/v1/responses/{ann}").status, 404)
        equal(tandem.get(f"/v1/conversations/{talk}").status, 404)
        equal(tandem.get(f"/v1/responses/{bob}").status, 200)


@case
def test_where_nothing_may_be_kept_nothing_is():
    cloud = ScriptedCloud(Script(text="Blue."))
    for more in ("privacy: {zero_retention: true}\n", "responses: {keep_s: 0}\n"):
        with serve(cloud, more) as tandem:
            first = asked(tandem, "hello")
            equal(first["store"], False)
            equal(tandem.get(f"/v1/responses/{first['id']}").status, 404)
            refused = ask(tandem, "more", previous_response_id=first["id"])
            equal(refused.json["error"]["code"], "previous_response_not_found")
            refused = ask(tandem, "more", background=True)
            equal((refused.status, refused.json["error"]["param"]), (400, "background"))
            equal(tandem.request("POST", "/v1/conversations", {}).status, 400)


@case
def test_time_and_room_are_limited_by_caller():
    cloud = ScriptedCloud(Script(text="Blue."))
    with serve(cloud, "responses: {keep_s: 1}\n") as tandem:
        first = asked(tandem, "hello")["id"]
        equal(tandem.get(f"/v1/responses/{first}").status, 200)
        time.sleep(1.3)
        equal(tandem.get(f"/v1/responses/{first}").status, 404)
    with serve(cloud, "responses: {caller_count_max: 3}\n", keys=True) as tandem:
        theirs = asked(tandem, "hello", "b")["id"]
        mine = [asked(tandem, str(number), "a")["id"] for number in range(5)]
        found = [tandem.get(f"/v1/responses/{name}", headers=key("a")).status for name in mine]
        equal(found, [404, 404, 200, 200, 200])
        equal(tandem.get(f"/v1/responses/{theirs}", headers=key("b")).status, 200)


def compact(tandem, words, who=None, mode="only-cloud", **members):
    body = {"model": "auto", "input": words} | members
    head = {"x-tandem-mode": mode, **key(who)}
    return tandem.request("POST", "/v1/responses/compact", body, head)


@case
def test_a_compaction_stands_for_the_conversation_it_was_made_of():
    cloud = ScriptedCloud(Script(text="They like blue."))
    with serve(cloud) as tandem:
        first = asked(tandem, "I like blue.")
        words = [
            {"role": "user", "content": "And red a little."},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        ]
        answer = compact(
            tandem,
            words,
            previous_response_id=first["id"],
            instructions="Be brief.",
            tools=[WEATHER],
        )
        equal(answer.status, 200, answer.body.decode())
        equal(answer.json["object"], "response.compaction")
        *kept, made = answer.json["output"]
        texts = [one["content"][0]["text"] for one in kept]
        equal(texts, ["I like blue.", "And red a little."])
        equal(made["type"], "compaction")
        if "blue" in json.dumps(made) or answer.json["usage"]["output_tokens"] <= 0:
            raise AssertionError(answer.body)
        sent = messages(cloud)
        equal([role for role, _ in sent[:4]], ["system", "user", "assistant", "user"])
        if not sent[-1][1].startswith("Write a summary") or "tools" in cloud.requests[-1]["json"]:
            raise AssertionError(cloud.requests[-1])
        # The next turn reads the summary in its place, and so does one that goes on from that.
        then = asked(tandem, [*answer.json["output"], {"role": "user", "content": "Which?"}])
        summary = ("user", "Summary of the conversation so far:\n\nThey like blue.")
        turns = [("user", "I like blue."), ("user", "And red a little."), summary]
        equal(messages(cloud), [*turns, ("user", "Which?")])
        asked(tandem, "Sure?", previous_response_id=then["id"])
        equal(messages(cloud)[:3], turns)
        # A second one has the first in its summary, not as the user's words.
        again = compact(tandem, answer.json["output"]).json["output"]
        equal([one["type"] for one in again], ["message", "message", "compaction"])


@case
def test_a_compaction_is_its_callers_and_keeps_its_class():
    cloud = ScriptedCloud(Script(text="A card."))
    with serve(cloud, keys=True) as tandem:
        public = compact(tandem, "Hello.", who="a").json["output"]
        equal(error_of(ask(tandem, public, "b"))[2], "input[1].encrypted_content")
        changed = [{**public[1], "encrypted_content": public[1]["encrypted_content"][:-1] + "g"}]
        for wrong in (changed, [{"type": "compaction", "encrypted_content": "zz"}]):
            answer = ask(tandem, wrong, "a")
            equal((answer.status, error_of(answer)[2]), (400, "input[0].encrypted_content"))
        before = len(cloud.requests)
        equal(compact(tandem, CARD, who="a").status, 403)
        equal(len(cloud.requests), before)
    # What may not reach the cloud may not reach it by a summary that a nearer server has made.
    house = ScriptedCloud(Script(text="Plans."))
    more = f"""
  - {{name: house, kind: openai, place: premises, model: m, base_url: "{house.base_url}"}}
"""
    with Tandem(edge_first(cloud.base_url).replace("\nroutes:", more + "\nroutes:")) as tandem:
        body = {"model": "house", "input": "Our plans.", "tandem": {"data_class": "sensitive"}}
        made = tandem.request("POST", "/v1/responses/compact", body)
        equal((made.status, len(house.requests)), (200, 1), made.body)
        then = ask(tandem, made.json["output"])
        equal((then.status, then.json["error"]["code"]), (403, "refused_by_policy"))
        equal(len(cloud.requests), before)


@case
def test_a_tier_that_only_stands_in_writes_no_summary():
    cloud = ScriptedCloud(Script(status=503))
    with serve(cloud) as tandem:
        answer = compact(tandem, "Why did the French revolution begin?", mode="auto")
        equal((answer.status, answer.json["error"]["code"]), (503, "no_summary"), answer.body)


if __name__ == "__main__":
    main()
