#!/usr/bin/env python3
"""What the playground does beside a plain chat: code to copy, files, weights."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import PHONE, accessible, ask, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, tier_of, with_cloud

from check import case, equal, main
from clients import install_python, interpreter
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

ODD = "it's \"odd\": $HOME `id` \\n 'quoted' \u00fc\u4f60\U0001f600 </pre>\nsecond line"


def code_of(page: Any, kind: str) -> str:
    page.get_by_role("button", name="Code", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=kind, exact=True).click()
    text = str(dialog.locator("pre").inner_text())
    accessible(page)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    return text


def last_messages(cloud: ScriptedCloud) -> list[dict[str, Any]]:
    return json.loads(cloud.calls()[-1]["body"])["messages"]


@case
def test_the_code_of_a_request_runs_as_it_is_copied() -> None:
    install_python("light")
    for more in ("", KEYED):
        cloud, tandem = with_cloud(more=more)
        with tandem, open_page(tandem.url) as page:
            if more:
                page.get_by_label("API key").fill(KEYS["KEYS"])
                page.keyboard.press("Enter")
            page.get_by_label("Mode", exact=True).select_option("only-cloud")
            page.get_by_label("System prompt").fill("Answer in 'Latin'.")
            ask(page, ODD)
            last_answer(page)
            asked = last_messages(cloud)
            equal(asked[-1]["content"], ODD)
            env = {"PATH": "/usr/bin:/bin", "TANDEM_API_KEY": KEYS["KEYS"]}
            env["HOME"] = str(tandem.state)
            commands = (
                ["sh", "-c", code_of(page, "curl")],
                [str(interpreter("light")), "-c", code_of(page, "Python")],
            )
            for command in commands:
                done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
                equal((command[0], done.returncode), (command[0], 0), done.stderr)
                assert "Taxes and bread." in done.stdout, done.stdout
                equal(last_messages(cloud), asked)
            calls = len(cloud.calls())
            assert calls >= 3, calls
            script = code_of(page, "JavaScript")
            file = tandem.state / "asked.mjs"
            file.write_text(script)
            checked = subprocess.run(["node", "--check", file], capture_output=True, text=True)
            equal(checked.returncode, 0, checked.stderr)
        cloud.close()


def png(width: int, height: int) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        sum_ = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + sum_

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    rows = zlib.compress((b"\0" + b"\xc0\x40\x20" * width) * height)
    head = part(b"IHDR", size + bytes([8, 2, 0, 0, 0]))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", rows) + part(b"IEND", b"")


def add_file(page: Any, name: str, kind: str, data: bytes) -> None:
    page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": kind, "buffer": data}
    )


@case
def test_texts_and_images_go_with_a_question() -> None:
    cloud = ScriptedCloud(Script(text="A picture of nothing."))
    config = edge_first(cloud.base_url, "    modalities: [text, image]\n")
    tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k"})
    with tandem, open_page(tandem.url) as page:
        page.get_by_role("heading", name="Ask something").wait_for()
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        add_file(page, "notes.txt", "text/plain", "Grüße from <b>notes</b>".encode())
        page.get_by_text("notes.txt").wait_for()
        add_file(page, "broken.bin", "application/octet-stream", b"\xff\xfe\0\0")
        page.get_by_role("alert").get_by_text("broken.bin is no text").wait_for()
        add_file(page, "wide.png", "image/png", png(3000, 20))
        page.get_by_text("wide.png").wait_for()
        accessible(page)
        ask(page, "What is it?")
        last_answer(page)
        content = last_messages(cloud)[-1]["content"]
        text = "".join(part.get("text", "") for part in content)
        assert "<document>\nnotes.txt\n\nGrüße from <b>notes</b>\n</document>" in text, text
        image = next(part["image_url"]["url"] for part in content if part["type"] == "image_url")
        assert image.startswith("data:image/jpeg;base64,"), image[:40]
        data = base64.b64decode(image.split(",", 1)[1])
        frame = data.index(b"\xff\xc0") + 5  # SOF0: height, then width
        equal(int.from_bytes(data[frame + 2 : frame + 4], "big"), 1568)
        equal(page.locator(".composer .file").count(), 0)
        equal(page.get_by_role("article", name="You").locator(".file").count(), 2)
    cloud.close()


@case
def test_an_image_that_nobody_sees_is_refused_in_words() -> None:
    with Tandem() as tandem, open_page(tandem.url) as page:
        page.get_by_role("heading", name="Ask something").wait_for()
        add_file(page, "cat.png", "image/png", png(4, 4))
        page.get_by_role("alert").get_by_text("no tier that is ready sees images").wait_for()
        add_file(page, "cat.txt", "text/plain", b"x" * (1 << 20) + b"y")
        page.get_by_role("alert").get_by_text("cat.txt is too large").wait_for()
        equal(page.locator(".composer .file").count(), 0)


@case
def test_the_weights_choose_by_pointer_and_by_keyboard() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url) as page:
        page.get_by_role("heading", name="Ask something").wait_for()
        page.get_by_label("Privacy", exact=True).press("End")  # all of it
        ask(page, "What is 17.5 % of 240?")
        assert "on this device" in tier_of(last_answer(page))
        code = code_of(page, "curl")
        assert '"privacy": 1' in code and '"latency": 0' in code, code
        box = page.locator(".weights svg").bounding_box()
        assert box
        page.mouse.click(box["x"] + 2, box["y"] + 2)  # beside the triangle: at its nearest side
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 12)
        equal(page.get_by_label("Speed").evaluate("e => e.value"), "1")
        equal(page.locator(".weight output").all_inner_texts(), ["100%", "0%", "0%"])
        page.get_by_role("button", name="As the server has it").click()
        assert "weights" not in code_of(page, "curl")
        accessible(page)
    with Tandem() as small, open_page(small.url, viewport=PHONE) as page:
        page.get_by_role("button", name="Controls").click()
        page.locator(".weights svg").scroll_into_view_if_needed()
        accessible(page)
    cloud.close()


@case
def test_a_cloud_that_was_connected_in_a_terminal_is_seen_on_the_way_back() -> None:
    """The way of the first minutes: ask, see why it stayed, connect a cloud, see the next one climb
    and what it cost."""
    cloud = ScriptedCloud(Script(text="Taxes and bread."))
    with Tandem() as first, open_page(first.url, allowed=("ERR_CONNECTION",)) as page:
        page.get_by_role("heading", name="Connect a cloud").wait_for()
        page.get_by_role("button", name=HARD).click()
        card = last_answer(page)
        assert "on this device" in tier_of(card)
        card.get_by_text("Why here?").click()
        card.get_by_text("no API key (set OPENAI_API_KEY)").wait_for()
        page.get_by_role("button", name="New chat").click()
        first.stop()
        env = {"TANDEM_LISTEN": f"127.0.0.1:{first.port}", "OPENAI_API_KEY": "sk-test"}
        with Tandem(env={**env, "OPENAI_BASE_URL": cloud.base_url}):
            page.evaluate("dispatchEvent(new Event('focus'))")
            page.get_by_role("heading", name="Connect a cloud").wait_for(state="detached")
            page.get_by_role("button", name=HARD).click()
            card = last_answer(page)
            assert "in the cloud" in tier_of(card)
            assert "Cost" in card.locator(".facts dl").inner_text()
            card.get_by_text("Why here?").click()
            card.get_by_text("not its task").wait_for()
    cloud.close()


TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
ARGUMENTS = '{"text": "<img src=x onerror=alert(1)>", "n": [1, 2]}'
WRONG_TOOLS = (
    ("[{]", "This is no JSON:"),
    ("{}", "This has to be a list"),
    ("[1]", 'Tool 1: it has to be { "type": "function"'),
    (json.dumps([{"type": "function", "function": {"name": "a b"}}]), "Tool 1: its name has to be"),
    (json.dumps([TOOL, TOOL]), "Tool 2: there is a tool look_up already."),
    (
        json.dumps([{"type": "function", "function": {"name": "f", "parameters": 1}}]),
        "a JSON schema",
    ),
)


@case
def test_a_tool_is_offered_called_and_answered() -> None:
    cloud, tandem = with_cloud(Script(text=ARGUMENTS, echo_tool=True, finish="tool_calls"))
    with tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        box = page.get_by_label("Tools", exact=True)
        for text, why in WRONG_TOOLS:
            box.fill(text)
            page.locator(".tools-field .wrong").get_by_text(why).wait_for()
        accessible(page)
        ask(page, "Look it up.")
        page.get_by_text("There is no answer: Tool 1: the parameters of f").wait_for()
        equal(len(cloud.calls()), 0)
        box.fill(json.dumps([TOOL]))
        page.get_by_text("Tools that will be offered: 1").wait_for()
        page.get_by_role("button", name="Answer again").click()
        page.get_by_role("region", name="Call 1 of look_up").wait_for()
        card = last_answer(page)
        equal(json.loads(cloud.calls()[-1]["body"])["tools"], [TOOL])
        pretty = json.dumps(json.loads(ARGUMENTS), indent=2)
        equal(card.locator(".call pre").inner_text(), pretty)
        equal(page.locator(".call img").count(), 0)
        accessible(page)
        go_on = page.get_by_role("button", name="Give it back and go on")
        assert go_on.is_disabled()
        cloud.script = Script(text="It is <b>found</b>.")
        page.get_by_label("What it gives back").fill("<i>42</i>")
        go_on.click()
        page.get_by_text("It is <b>found</b>.").wait_for()
        last_answer(page)
        call, result = last_messages(cloud)[-2:]
        equal((result["role"], result["content"]), ("tool", "<i>42</i>"))
        equal(result["tool_call_id"], call["tool_calls"][0]["id"])
        equal(json.loads(call["tool_calls"][0]["function"]["arguments"]), json.loads(ARGUMENTS))
        page.get_by_role("article", name="Given back by the tool").get_by_text(
            "<i>42</i>"
        ).wait_for()
        assert "tool_call_id" in code_of(page, "curl")
        accessible(page)
    cloud.close()


@case
def test_a_call_without_a_result_is_not_sent_again() -> None:
    cloud, tandem = with_cloud(Script(text=ARGUMENTS, echo_tool=True, finish="tool_calls"))
    with tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        page.get_by_role("button", name="Put in an example").click()
        ask(page, "And the weather?")
        page.get_by_role("region", name="Call 1 of get_weather").wait_for()
        last_answer(page)
        cloud.script = Script(text="Never mind.")
        ask(page, "Leave it.")
        page.get_by_text("Never mind.").wait_for()
        equal([one["role"] for one in last_messages(cloud)], ["user", "user"])
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
