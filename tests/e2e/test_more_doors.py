#!/usr/bin/env python3
"""Azure's paths, moderations and rerank: other doors to what the server does already. What OpenAI's
clients make of them is tests/clients/client_openai.py's."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from gguf import write_ranker
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_sse, stream_text

CLOUD = {"x-tandem-mode": "only-cloud"}
MAIL = "mary.smith@acme-corp.com"
CARD = "4111 1111 1111 1111"
HELLO = {"messages": [{"role": "user", "content": "Hello."}]}


def server(cloud, more="", **env):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", **env})


# --- Azure ---


@case
def test_a_deployment_is_a_model():
    cloud = ScriptedCloud(Script(text="Hello there."))
    with server(cloud) as tandem:
        query = "?api-version=2024-10-21"
        path = "/openai/deployments/cloud/chat/completions" + query
        for body in (HELLO, {**HELLO, "model": "local"}):
            answer = tandem.request("POST", path, body)
            equal((answer.status, answer.text), (200, "Hello there."), answer.body.decode())
            equal(answer.tandem["tier"], "cloud")
        streamed = tandem.request("POST", path, {**HELLO, "stream": True})
        equal(stream_text(parse_sse(streamed.body)[0]), "Hello there.")
        prompt = {"prompt": "One two", "max_tokens": 2}
        path = "/openai/deployments/local/completions" + query
        answer = tandem.request("POST", path, prompt)
        equal((answer.status, answer.tandem["tier"]), (200, "local"), answer.body.decode())
        path = "/openai/deployments/auto/embeddings" + query
        answer = tandem.request("POST", path, {"input": "a b"})
        equal((answer.status, answer.json["object"]), (200, "list"), answer.body.decode())
        for path in ("chat/completions", "completions", "embeddings"):
            body = {**HELLO, "prompt": "x", "input": "x"}
            answer = tandem.request("POST", f"/openai/deployments/nope/{path}{query}", body)
            equal((answer.status, answer.json["error"]["code"]), (404, "model_not_found"), path)
        long = tandem.request("POST", f"/openai/deployments/{'x' * 300}/chat/completions", HELLO)
        equal((long.status, long.json["error"]["param"]), (400, "model"))


@case
def test_azures_newer_paths_are_openais():
    cloud = ScriptedCloud(Script(text="Hello there."))
    chat = {"model": "cloud", **HELLO}
    with server(cloud, "server: {api_keys_env: KEYS}\n", KEYS="secret") as tandem:
        for path, body in (
            ("/openai/v1/chat/completions", chat),
            ("/openai/v1/responses", {"model": "cloud", "input": "Hello."}),
            ("/openai/responses?api-version=2025-03-01-preview", {"model": "cloud", "input": "x"}),
            ("/openai/v1/completions", {"model": "local", "prompt": "x", "max_tokens": 2}),
            ("/openai/v1/embeddings", {"model": "auto", "input": "x"}),
        ):
            equal(tandem.request("POST", path, body).status, 401, path)
            answer = tandem.request("POST", path, body, {"api-key": "secret"})
            equal(answer.status, 200, f"{path} {answer.body.decode()}")
        for path in ("/openai/v1/models", "/openai/models?api-version=1"):
            models = tandem.get(path, headers={"api-key": "secret"})
            assert "cloud" in [model["id"] for model in models.json["data"]], models.body
        one = tandem.get("/openai/v1/models/cloud", headers={"api-key": "secret"})
        equal(one.json["id"], "cloud")


# --- moderations ---


@case
def test_moderations_say_which_private_data_texts_hold_and_no_more():
    with Tandem() as tandem:
        texts = [f"Write to {MAIL}.", f"My card is {CARD}.", "The sky is blue."]
        body = {"model": "omni-moderation-latest", "input": texts}
        answer = tandem.request("POST", "/v1/moderations", body)
        equal(answer.status, 200, answer.body.decode())
        mail, card, sky = answer.json["results"]
        equal([item["flagged"] for item in (mail, card, sky)], [True, True, False])
        assert mail["categories"]["pii"] and mail["categories"]["pii/EMAIL_ADDRESS"], mail
        assert card["categories"]["pii/CREDIT_CARD"] and not card["categories"]["pii/US_SSN"]
        equal(
            [item["tandem"]["data_class"] for item in (mail, card, sky)],
            ["sensitive", "restricted", "public"],
        )
        assert not any(sky["categories"].values()), sky
        equal((sky["category_scores"], sky["category_applied_input_types"]), ({}, {}))
        assert 0 < mail["category_scores"]["pii/EMAIL_ADDRESS"] <= 1, mail
        equal(mail["category_applied_input_types"]["pii/EMAIL_ADDRESS"], ["text"])
        # Nothing here judges these, so nothing is said of them.
        for name in ("hate", "violence", "sexual", "harassment", "self-harm"):
            assert name not in mail["categories"], mail
        equal(answer.json["model"], "tandem-detectors")
        equal(answer.headers["x-tandem-place"], "device")
        assert MAIL.encode() not in answer.body


@case
def test_moderations_take_one_text_many_or_parts_of_one():
    with Tandem() as tandem:

        def judge(value):
            return tandem.request("POST", "/moderations", {"input": value})

        parts = [{"type": "text", "text": "Hello."}, {"type": "text", "text": f"I am {MAIL}"}]
        equal([len(judge(value).json["results"]) for value in ("a", ["a", "b"], parts)], [1, 2, 1])
        equal(judge(parts).json["results"][0]["flagged"], True)
        equal(judge("").json["results"][0]["flagged"], False)
        image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
        for value, place in (
            (None, "input"),
            (3, "input"),
            ([], "input"),
            ([3], "input[0]"),
            (["a", {"type": "text", "text": "b"}], "input[1]"),
            ([{"type": "text"}], "input[0]"),
            ([{"type": "text", "text": "a"}, image], "input[1]"),
            (["a"] * 10000, "input"),
        ):
            refused = judge(value)
            equal((refused.status, refused.json["error"]["param"]), (400, place), str(value)[:40])
        equal(judge([image]).json["error"]["code"], "unsupported_content")
        for name, value in (("model", "x" * 257), ("user", "x" * 257), ("user", 3)):
            body = {"input": "a", name: value}
            refused = tandem.request("POST", "/v1/moderations", body)
            equal((refused.status, refused.json["error"]["param"]), (400, name))
        many = judge([f"{MAIL} {CARD} " * 40] * 1000)
        equal((many.status, len(many.json["results"])), (200, 1000))


@case
def test_moderations_are_recorded_without_their_texts():
    with Tandem("ledger: {store_prompts: true}\n") as tandem:
        answer = tandem.request("POST", "/v1/moderations", {"input": f"I am {MAIL}"})
        path = f"/tandem/v1/exchanges/{answer.headers['x-tandem-exchange']}"
        for _ in range(100):
            row = tandem.get(path)
            if row.status == 200:
                break
        equal((row.json["route"], row.json["data_class"]), ("moderations", "sensitive"))
        assert MAIL.encode() not in row.body


# --- rerank ---


@case
def test_documents_are_ranked_by_the_cosine_to_the_query():
    documents = [
        "Apples grow on trees.",
        "Paris is the capital of France.",
        {"text": "The capital of France is Paris."},
    ]
    texts = [item if isinstance(item, str) else item["text"] for item in documents]
    with Tandem() as tandem:
        body = {"model": "auto", "input": ["capital of France", *texts]}
        found = tandem.request("POST", "/v1/embeddings", body).json["data"]
        query, *vectors = (item["embedding"] for item in found)
        cosines = [sum(a * b for a, b in zip(query, vector)) for vector in vectors]
        ranked = sorted(range(3), key=lambda index: -cosines[index])
        for path in ("/v1/rerank", "/rerank", "/v2/rerank"):
            body = {"model": "auto", "query": "capital of France", "documents": documents}
            answer = tandem.request("POST", path, body)
            equal(answer.status, 200, answer.body.decode())
            results = answer.json["results"]
            scores = [item["relevance_score"] for item in results]
            equal([item["index"] for item in results], ranked)
            for score, index in zip(scores, ranked):
                assert abs(score - cosines[index]) < 1e-4, (scores, cosines)
            assert "document" not in results[0] and answer.json["usage"]["total_tokens"] > 0
        body = {"query": "France", "documents": documents, "top_n": 1, "return_documents": True}
        (best,) = tandem.request("POST", "/v1/rerank", body).json["results"]
        shown = documents[best["index"]]
        equal(best["document"], shown if isinstance(shown, dict) else {"text": shown})
        same = {"query": "a", "documents": ["b"] * 3}
        results = tandem.request("POST", "/v1/rerank", same).json["results"]
        equal([item["index"] for item in results], [0, 1, 2], "equal ones stay in order")


@case
def test_a_reranker_scores_pairs_and_makes_no_vectors():
    documents = ["w9 w10 w11", "w7", "w7 w8 w20 w21", "w40"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ranker.gguf"
        write_ranker(path)
        with Tandem(f"engine:\n  embedding_model: {path}\n") as tandem:

            def scores(documents, query="w5 w6", **headers):
                body = {"query": query, "documents": documents}
                answer = tandem.request("POST", "/v1/rerank", body, headers=headers)
                equal(answer.status, 200, answer.body.decode())
                results = answer.json["results"]
                found = [item["relevance_score"] for item in results]
                equal(found, sorted(found, reverse=True))
                assert all(0 < score < 1 for score in found), found
                return {item["index"]: item["relevance_score"] for item in results}

            whole = scores(documents)
            equal(len(set(whole.values())), len(documents), str(whole))
            for index, document in enumerate(documents):
                equal(scores([document])[0], whole[index], "a score does not depend on the others")
            assert scores(documents, query="w9") != whole
            # The confined worker gives the same.
            equal(scores(documents, **{"x-tandem-data-class": "restricted"}), whole)
            refused = tandem.request("POST", "/v1/embeddings", {"model": "auto", "input": "w5"})
            equal(refused.status, 400)
            assert "/v1/rerank" in refused.json["error"]["message"], refused.body
            long = tandem.request(
                "POST", "/v1/rerank", {"query": "w5", "documents": ["w6", "w7 " * 80]}
            )
            equal(long.status, 400)
            assert "text 2 has" in long.json["error"]["message"], long.body


@case
def test_a_rerank_that_cannot_be_done_says_why():
    good = {"query": "a", "documents": ["b"]}
    with Tandem() as tandem:
        for members, place in (
            ({"query": None}, "query"),
            ({"query": ""}, "query"),
            ({"query": ["a"]}, "query"),
            ({"documents": None}, "documents"),
            ({"documents": []}, "documents"),
            ({"documents": "b"}, "documents"),
            ({"documents": ["b", 3]}, "documents[1]"),
            ({"documents": ["b", ""]}, "documents[1]"),
            ({"documents": ["b"] * 10000}, "documents"),
            ({"top_n": 0}, "top_n"),
            ({"top_n": "1"}, "top_n"),
            ({"return_documents": 1}, "return_documents"),
            ({"model": 3}, "model"),
        ):
            refused = tandem.request("POST", "/v1/rerank", {**good, **members})
            equal((refused.status, refused.json["error"]["param"]), (400, place), str(members)[:40])
        absent = tandem.request("POST", "/v1/rerank", {**good, "model": "rerank-v3.5"})
        equal((absent.status, absent.json["error"]["code"]), (404, "model_not_found"))
    cloud = ScriptedCloud()
    only = edge_first(cloud.base_url).replace("  - name: local\n    kind: local\n", "")
    only = only.replace("[local, cloud]", "[cloud]")
    with Tandem(only, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        refused = tandem.request("POST", "/v1/rerank", good)
        equal((refused.status, refused.json["error"]["code"]), (503, "no_tier_available"))
        assert "embed" in refused.json["error"]["message"], refused.body


if __name__ == "__main__":
    main()
