#!/usr/bin/env python3
"""The commands of `tandem chat`, its history, and what it does without a terminal."""

import os
import stat
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from conversations import HARD, LABEL, chat, environment, state
from kept_bytes import kept_bytes
from screen import flat
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, run

# --- commands ---


@case
def test_an_unknown_command_is_never_sent():
    cloud = ScriptedCloud()
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("/helpp me")
        shown = screen.wait("Nothing was sent")
        assert "did you mean '/help'?" in shown, shown
        screen.wait_prompt()
        screen.say("/usr/bin/x is what?")
        screen.wait("Nothing was sent", times=2)
        screen.wait_prompt()
        screen.say("/clear all of it")
        screen.wait("/clear takes nothing after it")
        screen.wait_prompt()
        equal(len(cloud.requests), 0)
        screen.say(" /usr/bin/x is what?")
        screen.wait("bytes left")
        equal(cloud.requests[-1]["json"]["messages"][-1]["content"], "/usr/bin/x is what?")


@case
def test_tab_completes_commands_and_what_stands_after_them():
    with chat() as screen:
        screen.type("/att")
        screen.keys("Tab")
        screen.wait("> /attach")
        folder = screen.state
        (folder / "notes-a.txt").write_text("A")
        (folder / "sub").mkdir()
        screen.type(f"{folder}/no")
        screen.keys("Tab")
        screen.wait("notes-a.txt")
        screen.keys("C-c")
        screen.wait_prompt()
        screen.type("/mo")
        screen.keys("Tab", "Tab")
        screen.wait("/model  /mode")
        screen.keys("C-c")
        screen.wait_prompt()
        screen.type("/mode only-")
        screen.keys("Tab")
        screen.wait("only-local  only-cloud")
        screen.type("l")
        screen.keys("Tab", "Enter")
        screen.wait("The mode is only-local from now on.")
        screen.wait_prompt()
        screen.type("/model na")  # nothing begins like this
        screen.keys("Tab")
        screen.type("x")
        screen.keys("Enter")
        screen.wait("There is no 'nax'")


@case
def test_help_lists_every_command():
    with chat() as screen:
        screen.say("/help")
        shown = screen.wait("Tab completes commands.")
        for name in "help model mode why clear system attach save load private cost quit".split():
            assert f"\n/{name}" in shown, (name, shown)


@case
def test_model_and_mode_decide_what_is_asked():
    cloud = ScriptedCloud(Script(text="Of the cloud."))
    with chat(cloud) as screen:
        screen.say("/model openai")
        screen.wait("From now on 'openai' is asked.")
        screen.wait_prompt()
        screen.say("2+2")
        screen.wait("Of the cloud.")
        screen.wait_prompt()
        screen.say("/model opnai")
        screen.wait("There is no 'opnai'; did you mean 'openai'?")
        screen.wait_prompt()
        screen.say("/model")
        screen.wait("Asked now: openai")
        screen.wait_prompt()
        screen.say("/model auto")
        screen.wait_prompt()
        screen.say("/mode only-lokal")
        screen.wait("There is no mode 'only-lokal'; did you mean 'only-local'?")
        screen.wait_prompt()
        screen.say("/mode only-local")
        screen.wait_prompt()
        screen.say(HARD)
        screen.wait("nothing left the device")
        equal(len(cloud.requests), 1)


@case
def test_why_explains_the_last_answer():
    with chat() as screen:
        screen.say("/why")
        screen.wait("Nothing has been asked yet.")
        screen.wait_prompt()
        screen.say(LABEL)
        screen.wait("[local (")
        screen.wait_prompt()
        screen.say("/why")
        shown = screen.wait("Attempts:")
        assert "It was answered by the tier local (tandem-nano, device)" in shown, shown
        assert all(len(line) <= 80 for line in shown.split("\n")), shown


@case
def test_why_says_what_gives_a_text_its_class():
    with chat(ScriptedCloud()) as screen:
        for text, says in (
            (
                "My card is 4111 1111 1111 1111, and 4111 1111 1111 1111 again",
                "It is restricted because it contains CREDIT_CARD (2 times, restricted). To ask "
                "openai all the same, take these values out first: 'tandem redact'",
            ),
            (
                "Write to anna.meier@gmx-post.de why the sky is blue",
                "It is sensitive because it contains EMAIL_ADDRESS (sensitive). To ask openai all "
                "the same, let it see surrogates: privacy.pseudonyms.on: true",
            ),
        ):
            screen.say("/clear")
            screen.wait_prompt()
            screen.say(text)
            screen.wait("nothing left the device")
            screen.wait_prompt()
            screen.say("/why")
            screen.wait(says)
            screen.wait_prompt()
            screen.forget()
    with chat(ScriptedCloud(), ["--data-class", "contractual"]) as screen:
        screen.say("Why is the sky blue?")
        screen.wait("nothing left the device")
        screen.wait_prompt()
        screen.say("/why")
        screen.wait("It is contractual because the request, its route or the conversation before")


@case
def test_clear_and_system_change_what_is_sent():
    cloud = ScriptedCloud(Script(text="Yes."))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        screen.say("/system Answer like a pirate.")
        screen.wait("The system prompt is set.")
        screen.wait_prompt()
        for text, times in (("One?", 1), ("Two?", 2)):
            screen.say(text)
            screen.wait("bytes left", times=times)
            screen.wait_prompt()
        screen.say("/clear")
        screen.wait("The system prompt stays.")
        screen.wait_prompt()
        screen.say("Three?")
        screen.wait("bytes left", times=3)
        screen.wait_prompt()
        screen.say("/system off")
        screen.wait("no system prompt any more")
        screen.wait_prompt()
        screen.say("/clear")
        screen.wait_prompt()
        screen.say("Four?")
        screen.wait("bytes left", times=4)
        said = [[m["content"] for m in r["json"]["messages"]] for r in cloud.requests]
        pirate = "Answer like a pirate."
        equal(said[1], [pirate, "One?", "Yes.", "Two?"])
        equal(said[2], [pirate, "Three?"])
        equal(said[3], ["Four?"])


@case
def test_attached_files_go_with_the_next_message_only():
    cloud = ScriptedCloud(Script(text="I see."))
    with chat(cloud, ["--mode", "only-cloud"]) as screen:
        folder = screen.state
        (folder / "notes.txt").write_text("The moon is made of cheese.\n")
        (folder / "binary").write_bytes(b"\x00\x01\x02")
        (folder / "large").write_text("x" * (1 << 20))
        for name, says in (
            ("binary", "is not a text"),
            ("large", "Not attached"),
            ("absent", "No such file"),
            (".", "not a regular file"),
        ):
            screen.say(f"/attach {folder}/{name}")
            screen.wait(says)
            screen.wait_prompt()
        screen.say(f"/attach {folder}/notes.txt")
        screen.wait("goes with your next message")
        screen.wait_prompt("[1 file]>")
        screen.say("What is this?")
        screen.wait("bytes left")
        screen.wait_prompt()
        equal(
            cloud.requests[-1]["json"]["messages"][-1]["content"],
            "File notes.txt:\n```\nThe moon is made of cheese.\n```\n\nWhat is this?",
        )


@case
def test_a_saved_conversation_is_gone_on_with_later():
    cloud = ScriptedCloud(Script(text="Blue."))
    with state() as folder:
        with chat(cloud, ["--mode", "only-cloud"], folder=folder) as screen:
            screen.say("Which colour?")
            screen.wait("bytes left")
            screen.wait_prompt()
            screen.say(f"/save {folder}/talk.json")
            screen.wait("Saved in")
            screen.wait_prompt()
            screen.say(f"/save {folder}/talk.json")  # its own file
            screen.wait("Saved in", times=2)
            screen.wait_prompt()
            (folder / "other").write_text("mine")
            screen.say(f"/save {folder}/other")
            screen.wait("is there already")
            equal((folder / "other").read_text(), "mine")
        equal(stat.S_IMODE((folder / "talk.json").stat().st_mode), 0o600)
        with chat(cloud, ["--mode", "only-cloud"], folder=folder) as screen:
            screen.say(f"/load {folder}/other")
            screen.wait("Not loaded")
            screen.wait_prompt()
            screen.say(f"/load {folder}/talk.json")
            screen.wait("Loaded 2 messages")
            screen.wait_prompt()
            screen.say("And now?")
            screen.wait("bytes left")
            said = [m["content"] for m in cloud.requests[-1]["json"]["messages"]]
            equal(said, ["Which colour?", "Blue.", "And now?"])


@case
def test_nothing_of_a_private_conversation_leaves_also_not_afterwards():
    cloud = ScriptedCloud(Script(text="Of the cloud."))
    with state() as folder:
        (folder / "p.yaml").write_text("ledger: {store_prompts: true}\n")
        config = folder / "p.yaml"
        with chat(cloud, folder=folder, TANDEM_CONFIG=config) as screen:
            screen.say("/private")
            screen.wait("nothing of this conversation leaves")
            screen.wait_prompt("private>")
            screen.say("Why is my marmot secret-sauce?")
            screen.wait("nothing left the device")
            screen.wait_prompt("private>")
            screen.say("/mode only-cloud")
            screen.wait("stays on the device")
            screen.wait_prompt("private>")
            screen.say(f"/save {folder}/talk.json")
            screen.wait("Saved in")
            screen.wait_prompt("private>")
            screen.say("/private off")
            screen.wait("A new conversation, not private.")
            screen.wait_prompt()
            screen.say(HARD)
            screen.wait("Of the cloud.")
            screen.wait_prompt()
            screen.say(f"/load {folder}/talk.json")
            screen.wait("Private:", times=2)
            screen.wait_prompt("private>")
            screen.keys("C-d")
            equal(screen.ended(), 0)
        assert b"marmot" not in cloud.received, cloud.received
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "talk.json":
                assert b"marmot" not in kept_bytes(path), path


@case
def test_cost_adds_up_the_conversation():
    cloud = ScriptedCloud(Script(text="Of the cloud."))
    with chat(cloud) as screen:
        screen.say("2+2")
        screen.wait("[local")
        screen.wait_prompt()
        screen.say(HARD)
        screen.wait("[openai")
        screen.wait_prompt()
        screen.say("/cost")
        shown = screen.wait("The cloud alone")
        assert "2 answers since the start: 0.0000" in shown, shown
        sent = len(cloud.requests[0]["body"])
        assert f"{sent} bytes left the device." in flat(shown), shown


# --- the history file ---


@case
def test_what_was_typed_is_there_the_next_time():
    with state() as folder:
        with chat(folder=folder) as screen:
            screen.say("What is 2+2 then?")
            screen.wait("[local")
            screen.wait_prompt()
            screen.say("My card is 4111 1111 1111 1111")  # restricted: not for a file
            screen.wait("class restricted")
            screen.wait_prompt()
        path = folder / "chat_history"
        equal(path.read_text(), "What is 2+2 then?\n")
        equal(stat.S_IMODE(path.stat().st_mode), 0o600)
        with chat(folder=folder) as screen:
            screen.keys("Up")
            screen.wait("> What is 2+2 then?")
            screen.keys("C-c")
            screen.wait_prompt()
            screen.keys("C-r")
            screen.type("2+2")
            screen.wait("What is 2+2 then?")


@case
def test_a_history_of_another_user_is_neither_read_nor_written():
    if os.geteuid() != 0:
        raise Skip("only root can make a file of another user")
    with state() as folder:
        path = folder / "chat_history"
        path.write_text("somebody's own words\n")
        os.chown(path, 12345, 12345)
        with chat(folder=folder) as screen:
            assert "belongs to another user (uid 12345)" in screen.text().replace("\n", " ")
            screen.keys("Up")
            screen.say("2+2")
            screen.wait("[local")
            screen.wait_prompt()
            assert "somebody's" not in screen.text()
        equal(path.read_text(), "somebody's own words\n")


# --- without a terminal ---


@case
def test_every_line_of_a_pipe_is_a_question_and_commands_work():
    cloud = ScriptedCloud(Script(text="Of the cloud."))
    with state() as folder:
        lines = b"/model openai\nOne?\n/clear\nTwo?\\\n/nonsense\n\n/quit\nThree?\n"
        code, out, err = run("chat", stdin=lines, env=environment(folder, cloud))
        equal(code, 1, err)  # of the unknown command
        assert "There is no command '/nonsense'" in err, err
        equal(out.count(b"[openai (gpt-6-luna, cloud), "), 2, out)
        said = [[m["content"] for m in r["json"]["messages"]] for r in cloud.requests]
        equal(said, [["One?"], ["Two?\\"]])
        assert b"\033" not in out and b"ex_" in out, out
        assert not (folder / "chat_history").exists()


@case
def test_a_line_that_is_too_long_ends_a_pipe():
    with state() as folder:
        code, _, err = run("chat", stdin=b"x" * (5 << 20), env=environment(folder))
        equal(code, 1)
        assert "too long" in err, err


@case
def test_a_conversation_with_a_running_server_is_stopped_there_too():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.03))
    env = {"OPENAI_BASE_URL": cloud.base_url, "OPENAI_API_KEY": "sk-test"}
    with Tandem(env=env) as server, chat(arguments=["--url", server.url]) as screen:
        assert f"The server at {server.url} answers." in screen.text(), screen.text()
        screen.say("/model openai")
        screen.wait("From now on")
        screen.wait_prompt()
        screen.say("Tell me a lot.")
        screen.wait("word word word")
        screen.keys("C-c")
        screen.wait("[stopped; openai")
        screen.wait_prompt()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            found = server.request("GET", "/tandem/v1/exchanges").json["data"]
            if found and found[0]["status"] == "cancelled":
                break
            time.sleep(0.1)
        equal(found[0]["status"], "cancelled")
        cloud.script = Script(text="Done.")
        screen.say("Go on")
        screen.wait("bytes left the server]")
        screen.wait_prompt()
        screen.say("/why")
        screen.wait("Attempts:")


if __name__ == "__main__":
    main()
