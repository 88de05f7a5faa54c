"""The installed package tandem_llm: use_python.py SERVER CLOUD_KEYED_SERVER MODEL.

The first server answers by itself; behind the second one is a scripted cloud."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud

sys.path.pop(0)
from tandem_llm import (
    APIError,
    Client,
    ConnectionFailed,
    Engine,
    EngineError,
    Generation,
    TandemError,
    __file__,
)

SERVER, CLOUD, MODEL = (sys.argv.pop(1) for _ in range(3))
SAVINGS = "move 20 dollars to my savings"
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}


def refused(kind, what):
    try:
        what()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


@case
def test_it_is_the_installed_one():
    assert "site-packages" in __file__, __file__


@case
def test_an_answer_says_where_it_came_from():
    with Client(SERVER + "/v1") as client:
        answer = client.chat("What is 17 * 23?")
        equal((answer.text, answer.finish), ("391", "stop"))
        decision = answer.decision
        equal((decision.tier, decision.place, decision.egress_bytes), ("local", "device", 0))
        assert "computed" in {reason.code for reason in decision.reasons}, decision.reasons
        equal(client.explain(decision.exchange)["id"], decision.exchange)
        client.feedback(decision.exchange, ok=False, comment="a test")


@case
def test_a_stream_comes_in_pieces_and_says_the_same():
    client = Client(CLOUD)
    stream = client.stream("Hello.", options={"mode": "only-cloud"})
    pieces = list(stream)
    assert len(pieces) > 1, pieces
    equal(("".join(pieces), stream.text, stream.finish), (stream.text, stream.text, "stop"))
    equal(stream.decision.tier, "cloud")
    with client.stream("Hello.", options={"mode": "only-cloud"}) as begun:
        next(begun)
    equal(client.chat("What is 2 + 2?", options={"mode": "only-local"}).text, "4")


@case
def test_labels_vectors_and_names():
    client = Client(SERVER)
    found = client.classify([SAVINGS], label_set="intents")[0]
    equal(found.label, "transfer")
    assert found.score > 0.9 and found.scores["transfer"] == found.score
    vectors = client.embed(["one", "two"])
    equal(len(vectors), 2)
    assert abs(sum(x * x for x in vectors[0]) - 1) < 1e-3
    assert "auto" in client.models()
    assert client.capabilities()["tiers"]


@case
def test_refusals_are_exceptions_that_say_why():
    client = Client(SERVER)
    error = refused(APIError, lambda: client.chat("x", options={"modee": "auto"}))
    equal((error.status, error.param), (400, "tandem.modee"))
    assert "did you mean 'mode'" in str(error)
    error = refused(APIError, lambda: client.stream("x", model="nobody"))
    equal((error.status, error.code), (404, "model_not_found"))
    refused(ConnectionFailed, lambda: Client("http://127.0.0.1:1").models())
    refused(TandemError, lambda: Client("127.0.0.1:8080"))
    refused(TandemError, lambda: Client("ftp://here"))


@case
def test_a_server_that_talks_nonsense_or_leaves_is_an_error():
    def of(script):
        return Client(ScriptedCloud(script).base_url)

    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    refused(ConnectionFailed, lambda: list(of(Script(cut_after=2)).stream("x")))
    refused(ConnectionFailed, lambda: list(of(Script(no_done=True)).stream("x")))
    refused(ConnectionFailed, lambda: of(Script(cut_at_once=True)).chat("x"))
    refused(TandemError, lambda: list(of(Script(garbage_after=1)).stream("x")))
    refused(APIError, lambda: list(of(Script(error_after=1)).stream("x")))
    for body in (b"[]", b"nonsense", b"\xff\xfe", b'"x"'):
        refused(TandemError, lambda said=head + body: of(Script(raw=said)).chat("x"))
    equal(of(Script(raw=head + b'{"choices": []}')).chat("x").text, "")
    late = refused(APIError, lambda: of(Script(status=429, retry_after="7")).chat("x"))
    equal((late.status, late.retry_after_s), (429, 7.0))
    line = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: " + b"x" * (9 << 20)
    long = refused(TandemError, lambda: list(of(Script(raw=line)).stream("x")))
    assert "more than" in str(long), long


@case
def test_the_engine_answers_in_this_process():
    with Engine(MODEL) as engine:
        assert engine.info.parameter_count > 1e6 and "intents" in engine.info.label_sets
        first = engine.chat("Tell me of the sea.", max_tokens=8, temperature=0)
        assert isinstance(first, Generation) and 0 < first.confidence <= 1
        equal(first.completion_tokens <= 8, True)
        # Nothing of an earlier question stays, and a beginning that is the same changes nothing.
        engine.chat("What can you do?", max_tokens=4)
        equal(engine.chat("Tell me of the sea.", max_tokens=8, temperature=0), first)
        equal(engine.chat("Tell me of the sea.", max_tokens=8, temperature=0), first)
        with engine.stream("Tell me of the sea.", max_tokens=8, temperature=0) as tokens:
            equal("".join(tokens), first.text)
        equal(tokens.result, first)
        equal(engine.chat("Ann is 7.", schema=SCHEMA, temperature=0).text, '{"age": 7}')
        equal(next(iter(engine.classify(SAVINGS, label_set="intents"))), "transfer")
        equal(set(engine.classify("hello", ["a", "b"])), {"a", "b"})
        equal(len(engine.embed(["hello"])[0]), engine.info.embedding_size)


@case
def test_a_stream_of_the_engine_can_be_left():
    with Engine(MODEL) as engine:
        tokens = engine.stream("Tell me of the sea.", max_tokens=400)
        next(tokens)
        tokens.close()
        equal(tokens.result, None)
        refused(StopIteration, lambda: next(tokens))
        assert engine.tokenize("hello")


@case
def test_threads_take_turns():
    with Engine(MODEL) as engine:
        said = []

        def ask():
            said.append(engine.chat("What can you do?", max_tokens=4, temperature=0).text)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(said, [said[0]] * 4)


@case
def test_what_the_engine_refuses():
    equal(refused(EngineError, lambda: Engine("/nowhere.gguf")).status, "not_found")
    equal(refused(EngineError, lambda: Engine(__file__)).status, "corrupt")
    with Engine(MODEL) as engine:
        bad = [{"role": "nobody", "content": "x"}]
        equal(refused(EngineError, lambda: engine.chat(bad)).status, "invalid")
        equal(
            refused(EngineError, lambda: engine.chat("x", grammar="root ::= (")).status, "invalid"
        )
        long = refused(EngineError, lambda: list(engine.stream("word " * 9000, max_tokens=1)))
        equal(long.status, "limit")
        refused(EngineError, lambda: engine.chat("x", grammar="", schema={}))
    equal(refused(EngineError, lambda: engine.info).status, "invalid")
    engine.close()


main()
