#!/usr/bin/env python3
"""The console's view "What if", in the system's Chromium against the real program."""

import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, with_cloud

from check import case, equal, main
from tandem import Tandem, run, wait_until

AT = "/#/whatif"
KEEP = "Keep an answer of the device from a confidence of"
INTENTS = ("pay my card", "weather music loan", "gas time zone the book", "freeze my account")


def traffic(tandem: Tandem) -> None:
    for words in INTENTS:
        tandem.chat(f"Classify the intent: {words}", max_tokens=4)
    tandem.chat(HARD, max_tokens=4)
    wait_until(lambda: len(tandem.get("/tandem/v1/exchanges").json["data"]) == 5)


@case
def test_a_slider_shows_what_would_change_and_its_policy_is_sound() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        traffic(tandem)
        asked = len(cloud.calls())
        with open_page(tandem.url, path=AT) as page:
            page.get_by_text("Over 5 exchanges").wait_for()
            local = page.locator(".figure", has_text="Stays on the device")
            value, now = local.locator(".value"), local.locator(".hint")
            equal(f"now {value.inner_text()}", now.inner_text())
            page.get_by_text("Move a slider").wait_for()
            page.get_by_label(KEEP, exact=True).fill("1")
            value.get_by_text("0%", exact=True).wait_for()
            page.get_by_label(KEEP, exact=True).fill("0")
            value.get_by_text("100%", exact=True).wait_for()
            assert "g2: {confidence_min: 0}" in page.locator(".export pre").inner_text()
            page.get_by_label(KEEP, exact=True).fill("0.7")
            yaml = page.locator(".export pre", has_text="confidence_min: 0.7").inner_text()
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as other:
                lines = "".join(f"    {line}\n" for line in yaml.splitlines())
                other.write(Path(str(tandem.config)).read_text() + lines)
                other.flush()
                code, _, err = run("policy", "check", other.name, env=tandem.environment)
                equal(code, 0, err)
            page.get_by_role("button", name=f"As now: {KEEP}").click()
            page.get_by_text("Move a slider").wait_for()
            page.locator(".weights svg").click(position={"x": 20, "y": 140})
            triangle = page.locator(".export pre").inner_text()
            assert "weights: {latency: 0" in triangle and "gates" not in triangle, triangle
            page.get_by_text("Over 5 exchanges").wait_for()
            page.get_by_role("button", name="As the server has it").click()
            page.get_by_text("Move a slider").wait_for()
        equal(len(cloud.calls()), asked, "no model is asked")
    cloud.close()


@case
def test_where_quality_is_known_the_front_shows_what_is_worth_its_cost() -> None:
    draw = random.Random(1)
    words = "budget report letter plan table".split()
    easy, hard = "Classify the intent: pay my {}", "Prove and explain in detail why the {} fails"
    lines = []
    for _ in range(400):
        is_hard = draw.random() < 0.5
        text = f"{(hard if is_hard else easy).format(draw.choice(words))} {draw.randrange(99)}"
        lines.append({"text": text, "local_ok": not is_hard, "strong_ok": True})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "small.tdr"
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        code, _, err = run("router", "train", "-", "-o", file, stdin=data)
        equal(code, 0, err)
        cloud, tandem = with_cloud(more=f"router: {{classifier: {file}}}\n")
        with tandem:
            for at, word in enumerate(words):
                tandem.chat((easy if at % 2 else hard).format(word), max_tokens=4)
            wait_until(lambda: len(tandem.get("/tandem/v1/exchanges").json["data"]) == 5)
            with open_page(tandem.url, path=AT) as page:
                page.get_by_role("heading", name="What is worth its cost").wait_for()
                front = page.get_by_role("img", name="What is worth its cost")
                points = str(front.get_attribute("aria-label")).split(": ", 1)[1].split(", ")
                shares = [int(point.split(": ")[1].rstrip("%")) for point in points]
                equal(shares, sorted(shares))
                assert points[0].startswith("$0: "), points
                right = page.locator(".figure", has_text="Expected right").locator(".value")
                assert right.inner_text().endswith("%"), right.inner_text()
    cloud.close()


@case
def test_without_traffic_it_says_how_to_get_some() -> None:
    with Tandem() as tandem, open_page(tandem.url, path=AT) as page:
        page.get_by_text("There is no exchange in this time").wait_for()
        page.get_by_label("Exchanges of").select_option("720")
        page.get_by_text("There is no exchange in this time").wait_for()


@case
def test_axe_finds_nothing_to_mend_and_it_fits_a_phone() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        traffic(tandem)
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            with open_page(tandem.url, path=AT, color_scheme=scheme, viewport=size) as page:
                page.get_by_text("What would stay").wait_for()
                page.get_by_label(KEEP, exact=True).fill("0.8")
                page.locator(".export pre").wait_for()
                accessible(page)
                fits(page)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
