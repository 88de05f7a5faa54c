#!/usr/bin/env python3
"""What somebody types who has not read the documentation works, or the answer says what would."""

import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from conversations import environment, state
from screen import Screen
from tandem import BINARY, Tandem, clean_environment, run


@case
def test_a_port_is_enough_of_an_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Tandem(arguments=["--port", str(port)]) as tandem:
        equal(tandem.port, port)
    code, _, err = run("serve", "--port", "1", "--listen", "127.0.0.1:2")
    assert code == 2 and "contradict" in err, err
    code, _, err = run("serve", "--port", "0")
    assert code == 2 and "from 1 to 65535" in err, err


@case
def test_a_wrong_path_names_the_two_nearest():
    with Tandem() as tandem:
        for path, first in (
            ("/v1/v1/chat/completions", "/v1/chat/completions"),
            ("/v1/chat/completion", "/v1/chat/completions"),
            ("/api/v1/models", "/v1/models"),
            ("/v1/embedding", "/v1/embeddings"),
            ("/nothing/of/the/kind/at/all", "/v1/chat/completions"),
        ):
            answer = tandem.get(path)
            equal(answer.status, 404, path)
            words = answer.json["error"]["message"]
            assert f"did you mean '{first}" in words and "docs/api.md" in words, words
            assert words.count("'/") <= 3, words


@case
def test_a_chat_with_a_server_that_is_not_there_ends_at_once():
    with state() as folder:
        command = [str(BINARY), "chat", "--url", "http://127.0.0.1:1"]
        with Screen(command, environment(folder)) as screen:
            shown = screen.wait("tandem serve")
            assert "answers" not in shown, shown
            equal(screen.ended(), 1)


@case
def test_a_recipe_without_an_evaluation_says_what_to_write():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.yaml"
        path.write_text("source: a.gguf\noutput: b.gguf\n")
        code, _, err = run("models", "build", path, env=clean_environment())
        equal(code, 2)
        for words in ("needs the key 'evaluate'", "gate: gate.yaml", "docs/quantize.md"):
            assert words in err, err
        assert "unnamed" not in err, err
    code, _, err = run("models", "verify", "x", "--key", "5f0c...")
    assert code == 2 and "64 hexadecimal digits" in err, err


if __name__ == "__main__":
    main()
