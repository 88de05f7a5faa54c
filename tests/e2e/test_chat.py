#!/usr/bin/env python3
"""`tandem chat` as people use it: in a terminal of a fixed size (tmux), and without one. Answers
come from the model in the program, or from a scripted cloud."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from conversations import HARD, LABEL, chat, environment, last_exchange, read_until, state
from screen import Screen, flat
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, run

# --- a line at a time ---


@case
def test_the_banner_says_what_answers_and_what_to_type():
    with chat() as screen:
        shown = screen.text()
        for words in (
            "local: tandem-nano, on this device",
            "openai: gpt-6-luna, in the cloud; off: OPENAI_API_KEY is not set",
            "Nothing that you type leaves this device.",
            "/help",
            "Ctrl-C",
        ):
            assert words in shown, shown
    with chat(ScriptedCloud()) as screen:
        shown = screen.text()
        assert "openai: gpt-6-luna, in the cloud\n" in shown, shown
        assert "hard ones may leave it" in shown, shown


@case
def test_the_line_after_an_answer_says_what_left_the_device():
    cloud = ScriptedCloud(Script(text="Bread was dear."))
    with chat(cloud) as screen:
        screen.say(LABEL)
        shown = screen.wait("nothing left the device]")
        assert "play_music\n[local (tandem-nano, device), confidence " in shown, shown
        screen.say(HARD)
        shown = screen.wait("bytes left the device]")
        sent = len(cloud.requests[-1]["body"])
        assert f"USD, {sent} bytes left the device]" in flat(shown), (sent, shown)
        assert "[openai (gpt-6-luna, cloud), " in shown, shown


@case
def test_arrow_keys_edit_the_line_and_bring_back_what_was_typed():
    with chat() as screen:
        screen.type("2+3")
        screen.keys("Left", "BSpace", "Home", "DC", "End")
        screen.type("*4")
        screen.keys("Home")
        screen.type("8")
        screen.keys("Enter")  # 8 and "3*4" without its plus
        shown = screen.wait("[local (")
        assert "> 83*4\n332\n" in shown, shown
        assert "^[[" not in shown, shown
        screen.wait_prompt()
        screen.keys("Up")
        screen.wait("> 83*4", times=2)
        screen.keys("C-a", "C-k")
        screen.wait_prompt()


@case
def test_wide_characters_are_edited_where_they_stand():
    with chat() as screen:
        screen.type("你好世界é")
        screen.wait_column(2 + 4 * 2 + 1)
        screen.keys("Left", "Left", "BSpace")
        screen.type("x")
        screen.wait_column(2 + 2 * 2 + 1)
        assert "> 你好x界é\n" in screen.text(), screen.text()


@case
def test_a_pasted_text_of_several_lines_is_one_message():
    cloud = ScriptedCloud(Script(echo=True))
    text = "Why is this so?\n\n\tfirst, 你好\n/quit\nlast line"
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.paste(text)
        screen.wait("last line")
        equal(len(cloud.requests), 0, "sent before Enter")
        screen.keys("Enter")
        screen.wait("bytes left")
        screen.wait_prompt()
        equal([r["json"]["messages"][-1]["content"] for r in cloud.requests], [text])
        # Where a terminal does not mark what is pasted, too.
        screen.paste("one more\nwith two lines\nand three\n", bracketed=False)
        screen.wait("[openai", times=2)
        screen.wait_prompt()
        equal(cloud.requests[-1]["json"]["messages"][-1]["content"].count("\n"), 2)
        equal(len(cloud.requests), 2)


@case
def test_a_long_paste_has_a_name_in_the_line_and_is_sent_whole():
    cloud = ScriptedCloud()
    lines = "\n".join(f"line {n} of something long" for n in range(3000))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.type("Summarise: ")
        screen.paste(lines)
        screen.wait("> Summarise: [pasted text 1: 3000 lines]")
        screen.type(" please")
        screen.keys("Enter")
        screen.wait("bytes left")
        sent = cloud.requests[-1]["json"]["messages"][-1]["content"]
        equal(sent, f"Summarise: {lines} please")
        screen.wait_prompt()
        screen.keys("Up")  # too long for the history: the line before it is not there either
        screen.keys("C-c")


@case
def test_pasted_control_characters_do_nothing():
    cloud = ScriptedCloud()
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.paste("a\033[31mred\a\x03b")
        screen.keys("Enter")
        screen.wait("bytes left")
        equal(cloud.requests[-1]["json"]["messages"][-1]["content"], "a[31mredb")


@case
def test_alt_enter_and_a_backslash_begin_a_new_line():
    cloud = ScriptedCloud()
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.type("one")
        screen.keys("M-Enter")
        screen.type("two\\")
        screen.keys("Enter")
        screen.type("three")
        screen.keys("Enter")
        screen.wait("bytes left")
        equal(cloud.requests[-1]["json"]["messages"][-1]["content"], "one\ntwo\nthree")


# --- Ctrl-C ---


@case
def test_ctrl_c_stops_the_answer_and_keeps_the_conversation():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.03))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("Tell me a lot.")
        screen.wait("word word word")
        screen.keys("C-c")
        shown = screen.wait("[stopped; openai (gpt-6-luna, cloud), ")
        assert "bytes left" in shown, shown
        screen.wait_prompt()
        cloud.script = Script(text="And this is the end.")
        screen.say("Go on.")
        screen.wait("And this is the end.")
        screen.wait_prompt()
        messages = cloud.requests[-1]["json"]["messages"]
        equal([m["role"] for m in messages], ["user", "assistant", "user"])
        assert messages[1]["content"].startswith("word word word"), messages
        assert len(messages[1]["content"]) < 1500, messages
        screen.say("/quit")
        equal(screen.ended(), 0)
        code, out, _ = run("report", "--json", env=environment(screen.state))
        equal((code, json.loads(out)["exchanges"]), (0, 2))


@case
def test_exit_and_quit_alone_leave_and_are_not_sent():
    for word in ("exit", "quit"):
        cloud = ScriptedCloud(Script(text="An answer."))
        with chat(cloud, ["--mode", "only-cloud"]) as screen:
            screen.say(f" {word}")
            screen.wait("An answer.")
            screen.wait_prompt()
            screen.say(word)
            equal(screen.ended(), 0)
            equal([r["json"]["messages"][-1]["content"] for r in cloud.requests], [word])


@case
def test_a_stopped_answer_is_a_cancelled_exchange_of_the_ledger():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.03))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("Tell me a lot.")
        screen.wait("word word word")
        screen.keys("C-c")
        screen.wait("[stopped")
        screen.wait_prompt()
        screen.keys("C-c")  # a second one, at an empty prompt
        equal(screen.ended(), 0)
        record = last_exchange(screen.state)
        equal((record["status"], record["tier"]), ("cancelled", "openai"))
        assert record["attempts"][0]["egress_bytes"] == len(cloud.requests[0]["body"]), record


@case
def test_an_answer_that_has_not_begun_can_be_stopped_too():
    cloud = ScriptedCloud(Script(first_delay=30))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("Are you there?")
        end = time.monotonic() + 10
        while not cloud.requests and time.monotonic() < end:
            time.sleep(0.02)
        screen.wait("Are you there?\n...")  # until the answer begins
        screen.keys("C-c")
        shown = screen.wait("[stopped", 5)
        assert "..." not in shown, shown
        screen.wait_prompt()
        cloud.script = Script(text="Yes.")
        screen.say("And now?")
        screen.wait("Yes.")
        messages = cloud.requests[-1]["json"]["messages"]
        equal([m["content"] for m in messages], ["And now?"], "what has no answer is forgotten")


@case
def test_ctrl_c_clears_what_was_typed_and_leaves_only_twice_in_a_row():
    with chat() as screen:
        screen.type("half a quest")
        screen.keys("C-c")
        screen.wait_prompt()
        screen.keys("C-c")
        screen.wait("Ctrl-C once more leaves")
        screen.wait_prompt()
        screen.say("/cost")  # something was said meanwhile
        screen.wait("since the start")
        screen.wait_prompt()
        screen.keys("C-c")
        screen.wait("Ctrl-C once more leaves", times=2)
        screen.wait_prompt()
        screen.keys("C-c")
        equal(screen.ended(), 0)


@case
def test_ctrl_d_leaves_an_empty_prompt():
    with chat() as screen:
        screen.keys("C-d")
        equal(screen.ended(), 0)


@case
def test_a_conversation_that_is_ended_from_outside_is_in_the_ledger():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.03))
    with state() as folder:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [str(BINARY), "chat", "--mode", "only-cloud"],
            env=environment(folder, cloud, TERM="xterm"),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        seen = read_until(master, b"> ")
        os.write(master, b"Tell me a lot.\r")
        seen = read_until(master, b"word word word")
        process.send_signal(signal.SIGTERM)
        seen = read_until(master, b"stopped")
        equal(process.wait(20), 128 + signal.SIGTERM, repr(seen))
        os.close(master)
        equal(last_exchange(folder)["status"], "cancelled")


@case
def test_ctrl_z_stops_the_program_and_it_goes_on_where_it_was():
    with state() as folder:
        env = environment(folder) | {"PS1": "shell$ "}
        with Screen(["bash", "--norc", "-i"], env) as screen:
            screen.wait_prompt("shell$")
            screen.say(f"{BINARY} chat")
            screen.wait_prompt()
            screen.type("2+")
            screen.keys("C-z")
            screen.wait("Stopped")
            screen.wait_prompt("shell$")
            screen.say("fg")
            screen.wait("> 2+", times=2)
            screen.type("2")
            screen.keys("Enter")
            screen.wait("\n4\n")
            screen.wait_prompt()
            screen.keys("C-d")
            screen.say("echo still $((6*7))")
            screen.wait("still 42")


# --- terminals of all kinds ---


@case
def test_words_are_not_broken_at_the_right_edge():
    text = " ".join(f"word{n}and{n * 7}" for n in range(60)) + " 你好世界" * 20
    for columns in (20, 80, 120):
        cloud = ScriptedCloud(Script(text=text))
        with chat(cloud, ["--mode", "only-cloud"], columns=columns, rows=40) as screen:
            screen.say("Say it")
            shown = screen.wait("left the device]")
            answer = shown.split("Say it\n")[1].split("[openai")[0]
            for word in text.split():
                assert word in answer or "你" in word, (columns, word, answer)
            equal("".join(answer.split()), "".join(text.split()))


@case
def test_a_terminal_of_20_columns_shows_everything():
    with chat(columns=20, rows=24) as screen:
        screen.say("/help")
        screen.wait("Tab completes commands.")
        screen.wait_prompt()
        screen.say(LABEL)
        screen.wait("play_music")
        shown = screen.wait_prompt()
        assert "nothing left the device]" in flat(shown), shown
        screen.type("a line that is longer than the terminal is wide")
        screen.keys("C-a")
        screen.type("X")
        time.sleep(0.2)
        joined = "".join(line.ljust(20) for line in screen.text().split("\n"))
        assert "Xa line that is longer than the terminal is wide" in joined, screen.text()


@case
def test_a_terminal_may_change_its_size():
    with chat(columns=80) as screen:
        screen.type("some words that fit into eighty columns but not into thirty of them")
        screen.resize(30, 24)
        screen.keys("C-e")
        screen.type("!")
        screen.keys("C-u")
        screen.wait_prompt()
        screen.say("what can you do?")
        screen.wait("device]")
        screen.wait_prompt()
        answer = screen.text(scrolled=True).split("do?\n")[-1]
        assert all(len(line) <= 30 for line in answer.split("\n")), answer


@case
def test_answers_cannot_steer_the_terminal():
    cloud = ScriptedCloud(Script(text="a \033[2J\033]0;title\a b"))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("Do it")
        shown = screen.wait("bytes left")
        assert "a �[2J�]0;title� b" in shown, shown


@case
def test_colour_is_only_where_it_is_wanted():
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
        with chat(**more) as screen:
            screen.say("2+2")
            screen.wait("[local")
            equal("\033[2m[local" in screen.raw(), coloured, str(more))


def in_a_pty(folder, keys, *, term, arguments=("chat",), wait=b"[local"):
    """Writes keys to the program in a terminal of this kind; what it wrote."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(BINARY), *arguments],
        env=environment(folder, TERM=term),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    seen = b""
    if keys:
        seen = read_until(master, b"> ")
        os.write(master, keys)
        seen += read_until(master, wait)
        os.write(master, b"/quit\n")
    with contextlib.suppress(OSError):
        while piece := os.read(master, 65536):
            seen += piece
    equal(process.wait(20), 0)
    os.close(master)
    return seen


@case
def test_a_dumb_terminal_gets_plain_lines():
    with state() as folder:
        for term in ("dumb", ""):
            seen = in_a_pty(folder, b"2+\\\n2\n", term=term)
            assert b"\033" not in seen, seen
            assert b"\r\n[local (tandem-nano, device)" in seen, seen
        seen = in_a_pty(folder, b"first\nsecond\nthird\n", term="dumb")  # pasted
        equal(seen.count(b"[local"), 1, repr(seen))


@case
def test_an_unknown_terminal_is_no_obstacle():
    with state() as folder:
        seen = in_a_pty(folder, b"2+2\n", term="no-such-terminal")
        assert b"4\r\n" in seen, seen


@case
def test_the_terminal_is_left_as_it_was():
    with state() as folder:
        env = environment(folder) | {"PS1": "shell$ "}
        with Screen(["bash", "--norc", "-i"], env) as screen:
            screen.wait_prompt("shell$")
            before = f"stty -a > {folder}/before; {BINARY} chat '2+2'; {BINARY} chat"
            screen.say(before)
            screen.wait_prompt()
            screen.say("2+3")
            screen.wait("[local", times=2)
            screen.wait_prompt()
            screen.keys("C-d")
            screen.wait_prompt("shell$")
            screen.say(f"stty -a > {folder}/after; echo done")
            screen.wait("\ndone")
            equal((folder / "before").read_text(), (folder / "after").read_text())


if __name__ == "__main__":
    main()
