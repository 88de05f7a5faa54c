#!/usr/bin/env python3
"""The words of an answer, shaded by how sure the model was of them."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import PHONE, accessible, ask, fits, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, tier_of, with_cloud

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem

SWITCH = "Shade words by how sure the model is"
HOSTILE = "<img src=x onerror=alert(1)>"


def entry(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode()), "top_logprobs": []}


def shades(page: Any) -> list[Any]:
    words: list[Any] = page.locator(".heat-text > span").evaluate_all(
        "all => all.map(e => [e.textContent, e.getAttribute('aria-label'), e.className.trim()])"
    )
    return words


@case
def test_each_token_has_the_shade_that_its_probability_says() -> None:
    with Tandem() as tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-local")
        page.get_by_label(SWITCH).check()
        ask(page, HARD)
        last_answer(page)
        body = {"model": "auto", "messages": [{"role": "user", "content": HARD}]}
        body |= {"logprobs": True, "tandem": {"mode": "only-local"}}
        told = tandem.request("POST", "/v1/chat/completions", body).json["choices"][0]
        tokens = [one["token"] for one in told["logprobs"]["content"]]
        equal([word for word, _, _ in shades(page)], tokens)
        sentence = page.locator(".heat-sentence").inner_text()
        assert sentence.startswith(f"{len(tokens)} tokens, the least sure is “"), sentence
        equal(page.locator(".heat-legend li").count(), 5)
        accessible(page)
        page.get_by_label(SWITCH).uncheck()
        equal(page.locator(".heat").count(), 0)


@case
def test_doubt_is_shown_by_steps_and_said_on_focus_and_hover() -> None:
    pieces = [("The", -0.01), (" king", -0.1), (" was", -0.5), (" \u00e9", -1.2), (HOSTILE, -3.0)]
    content = [entry(*piece) for piece in pieces]
    # The bytes of one character in two tokens: it is as sure as the less sure of both.
    eacute = "\u00e9".encode()
    content[3:4] = [
        {"token": "x", "logprob": -1.2, "bytes": [0x20, eacute[0]], "top_logprobs": []},
        {"token": "y", "logprob": -0.2, "bytes": [eacute[1]], "top_logprobs": []},
    ]
    script = Script(pieces=["The king was \u00e9" + HOSTILE], logprobs={"content": content})
    cloud, tandem = with_cloud(script)
    with tandem:
        for scheme in ("light", "dark"):
            look(cloud, tandem, scheme)
    cloud.close()


def look(cloud: ScriptedCloud, tandem: Tandem, scheme: str) -> None:
    with open_page(tandem.url, color_scheme=scheme) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        page.get_by_label(SWITCH).check()
        ask(page, HARD)
        last_answer(page)
        equal(json.loads(cloud.calls()[-1]["body"])["logprobs"], True)
        equal(
            [(label, shade) for _, label, shade in shades(page)],
            [
                ("The, 99%", "heat-0"),
                ("king, 90%", "heat-1"),
                ("was, 61%", "heat-2"),
                ("\u2423, 30%", "heat-3"),
                ("\u00e9, 30%", "heat-3"),
                (f"{HOSTILE}, 5%", "heat-4"),
            ],
        )
        equal(page.locator(".heat img").count(), 0)
        page.get_by_role("listbox").focus()
        page.keyboard.press("End")
        said = page.locator(".heat-legend [role=status]")
        assert said.inner_text().endswith("5%"), said.inner_text()
        page.locator(".heat-text > span").nth(1).hover()
        equal(said.inner_text(), "king 90%")
        accessible(page)


@case
def test_an_answer_without_numbers_says_so() -> None:
    refusal = {"refuses": "logprobs", "refuse_message": "this model gives no logprobs"}
    cloud, tandem = with_cloud(Script(text="Taxes and **bread**.", **refusal))
    with tandem, open_page(tandem.url, allowed=("status of 400",)) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        page.get_by_label(SWITCH).check()
        ask(page, HARD)
        card = last_answer(page)
        assert "in the cloud" in tier_of(card)
        card.get_by_text("There are no numbers for these words").wait_for()
        equal(card.locator(".said strong").inner_text(), "bread")
    cloud.close()


@case
def test_shades_fit_a_phone() -> None:
    with Tandem() as tandem, open_page(tandem.url, viewport=PHONE) as page:
        page.get_by_role("button", name="Controls").click()
        page.get_by_label(SWITCH).check()
        page.get_by_label("Mode", exact=True).select_option("only-local")
        page.get_by_role("button", name="Close").click()
        ask(page, HARD)
        last_answer(page)
        page.set_viewport_size({"width": 360, "height": 740})
        fits(page)
        accessible(page)


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
