#!/usr/bin/env python3
"""`tandem ask`: one question for scripts and pipes."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from conversations import HARD, LABEL, environment, last_exchange, read_until, state
from postgres import free_port
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, Tandem, clean_environment, run


@case
def test_ask_prints_the_answer_only():
    with state() as folder:
        code, out, err = run("ask", LABEL, env=environment(folder))
        equal((code, out, err), (0, b"play_music\n", ""))


@case
def test_what_comes_through_a_pipe_stands_below_the_question():
    cloud = ScriptedCloud(Script(text="Mend the fence"))
    with state() as folder:
        env = environment(folder, cloud)
        diff = b"--- a/fence\n+++ b/fence\n  indented\n"
        code, out, err = run(
            "ask", "Write a commit message", "--mode", "only-cloud", stdin=diff, env=env
        )
        equal((code, out), (0, b"Mend the fence\n"), err)
        equal(
            cloud.requests[-1]["json"]["messages"],
            [{"role": "user", "content": "Write a commit message\n\n" + diff.decode()}],
        )
        code, out, err = run("ask", "--route", "openai", stdin=b"Why?\n", env=env)
        equal((code, cloud.requests[-1]["json"]["messages"][0]["content"]), (0, "Why?\n"), err)


@case
def test_without_a_question_ask_says_how_it_is_used():
    with state() as folder:
        for arguments, stdin in ((["ask"], b""), (["ask", "  "], b" \n")):
            code, out, err = run(*arguments, stdin=stdin, env=environment(folder))
            equal((code, out), (2, b""), err)
            assert "there is no question" in err and "tandem ask --help" in err, err


@case
def test_binary_input_is_refused_before_anything_is_sent():
    cloud = ScriptedCloud()
    with state() as folder:
        env = environment(folder, cloud)
        for stdin, at in ((b"abc\x00def", 3), (b"ab\xff\xfe", 2), (bytes(range(256)), 0)):
            code, out, err = run("ask", "What is this?", stdin=stdin, env=env)
            equal((code, out), (2, b""), err)
            assert f"byte {at} is not UTF-8" in err or f"byte {at} is" in err, err
        code, out, err = run("ask", "Too long?", stdin=b"word " * 900000, env=env)
        equal((code, out), (1, b""), err)
        assert "too long: at most 4194304 bytes" in err, err
        code, out, _ = run("ask", "--json", "What?", stdin=b"\x00", env=env)
        equal(code, 2)
        assert json.loads(out)["ok"] is False, out
        equal(len(cloud.requests), 0)


@case
def test_ask_as_json_says_who_answered_and_what_left():
    cloud = ScriptedCloud(Script(text="Bread was dear."))
    with state() as folder:
        code, out, err = run("ask", "--json", HARD, env=environment(folder, cloud))
        equal((code, err), (0, ""))
        answer = json.loads(out)
        equal(answer["text"], "Bread was dear.")
        equal(answer["tandem"]["tier"], "openai")
        equal(answer["tandem"]["egress_bytes"], len(cloud.requests[-1]["body"]))


@case
def test_ask_fails_when_nothing_answers():
    cloud = ScriptedCloud(Script(status=500))
    with state() as folder:
        env = environment(folder, cloud)
        code, out, err = run("ask", "--mode", "only-cloud", HARD, env=env)
        equal((code, out), (1, b""), err)
        assert err.startswith("tandem ask: no tier could answer"), err
        code, out, _ = run("ask", "--json", "--mode", "only-cloud", HARD, env=env)
        equal(code, 1)
        assert "no tier could answer" in json.loads(out)["error"], out


@case
def test_the_words_of_a_server_do_not_steer_the_terminal():
    words = "no \x1b]0;title\x07 \x1b[2J \x9b31m \x7f end"
    cloud = ScriptedCloud(Script(status=400, error_message=words))
    with state() as folder:
        server = cloud.base_url.removesuffix("/v1")
        for verb in (["ask", "hi"], ["explain", "last"]):
            code, out, err = run(*verb, "--url", server, env=environment(folder))
            equal(code, 1, err)
            said = out.decode() + err
            assert not any(c in said for c in "\x1b\x07\x7f\x9b"), said
            assert verb[0] == "explain" or " end" in err, err
        env = environment(folder, cloud)
        code, out, err = run("ask", "hi", "--mode", "only-cloud", env=env)
        for shown in (err, run("explain", "last", env=env)[1].decode()):
            assert shown and not any(c in shown for c in "\x1b\x07\x7f\x9b"), shown


@case
def test_a_poor_answer_is_known_to_a_script_too():
    with state() as folder:
        code, out, err = run("ask", "Write a poem about the sea", env=environment(folder))
        equal(code, 0)
        assert out and out.count(b"\n") == 1, out
        assert err.startswith("tandem ask: ") and "OPENAI_API_KEY" in err, err


@case
def test_the_footer_is_on_standard_error_and_only_on_a_terminal():
    with state() as folder:
        master, slave = pty.openpty()
        done = subprocess.run(
            [str(BINARY), "ask", LABEL],
            env=environment(folder, TERM="xterm"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=slave,
            timeout=30,
        )
        os.close(slave)
        equal((done.returncode, done.stdout), (0, b"play_music\n"))
        shown = read_until(master, b"]")
        assert b"[local (tandem-nano, device), confidence" in shown, shown
        assert b"\033" not in shown, shown
        os.close(master)


@case
def test_an_interrupted_question_is_a_cancelled_exchange():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.03))
    with state() as folder:
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen(
                [str(BINARY), "ask", "--mode", "only-cloud", "Tell me a lot."],
                env=environment(folder, cloud),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # What a shell starts in the background inherits that SIGINT is ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            assert process.stdout
            assert process.stdout.read(14) == b"word word word"
            process.send_signal(number)
            out, _ = process.communicate(timeout=20)
            equal(process.returncode, code)
            assert out.endswith(b"\n") and out.count(b"word") < 390, out
            equal(last_exchange(folder)["status"], "cancelled")


@case
def test_a_reader_that_leaves_stops_the_answer():
    cloud = ScriptedCloud(Script(text="word " * 4000, piece_delay=0.01))
    with state() as folder:
        process = subprocess.Popen(
            [str(BINARY), "ask", "--mode", "only-cloud", "Tell me a lot."],
            env=environment(folder, cloud),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        process.stdout.read(10)
        process.stdout.close()
        equal(process.wait(10), 130)
        equal(last_exchange(folder)["status"], "cancelled")


@case
def test_a_running_server_is_asked_too():
    with Tandem() as server:
        code, out, err = run("ask", "--url", server.url, "2+2", env=server.environment)
        equal((code, out), (0, b"4\n"), err)


@case
def test_a_session_goes_on_with_what_was_said_and_keeps_it_for_its_owner():
    cloud = ScriptedCloud(Script(text="Conwy."))
    with state() as folder:
        env, path = environment(folder, cloud), Path(folder) / "trip.json"
        for question in ("Name a town in Wales.", "And where is it?"):
            code, out, err = run("ask", "--session", path, "--route", "openai", question, env=env)
            equal((code, out, err), (0, b"Conwy.\n", ""))
        said = [message["content"] for message in cloud.requests[-1]["json"]["messages"]]
        equal(said, ["Name a town in Wales.", "Conwy.", "And where is it?"])
        kept = path.read_bytes()
        equal((path.stat().st_mode & 0o777, len(json.loads(kept)["messages"])), (0o600, 4))
        code, _, err = run("chat", stdin=f"/load {path}\n".encode(), env=env)
        assert code == 0 and "Loaded 4 messages" in err, err
        code, out, err = run("ask", "-s", path, "--route", "nobody", "Why?", env=env)
        equal((code, out, path.read_bytes()), (1, b"", kept), err)
        path.write_text("{}")
        code, out, err = run("ask", "-s", path, "Why?", env=env)
        equal((code, out, path.read_text(), len(cloud.requests)), (1, b"", "{}", 2))
        assert "Not loaded" in err and str(path) in err, err


@case
def test_a_private_session_stays_on_the_device():
    cloud = ScriptedCloud(Script(text="Conwy."))
    with state() as folder:
        env, path = environment(folder, cloud), Path(folder) / "mine.json"
        equal(run("ask", "-s", path, "--private", LABEL, env=env)[1], b"play_music\n")
        code, _, err = run("ask", "-s", path, HARD, env=env)
        equal((code, len(cloud.requests)), (0, 0), err)
        assert "Private" in err, err


@case
def test_a_server_that_cannot_be_asked_is_named_with_what_to_do():
    for url, word in (
        ("127.0.0.1:8080", "http://HOST:PORT"),
        ("ftp://127.0.0.1", "http://HOST:PORT"),
        (f"http://127.0.0.1:{free_port()}", "'tandem serve' starts one"),
        ("unix:/nowhere/tandem.sock", "'tandem serve' starts one"),
    ):
        code, out, err = run("ask", "--url", url, "hi", env=clean_environment())
        assert (code, out) == (1, b"") and word in err, (url, err)


if __name__ == "__main__":
    main()
