#!/usr/bin/env python3
"""Texts that attack, in every place where a view shows a text that somebody else has chosen.

One server is full of them: names of tiers, models, routes, rules, keys, tenants, applications and
users, questions and answers, arguments of tools, errors of the cloud, what people review. Then each
view is looked at in the browser."""

import json
import sys
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import ask, last_answer, open_page

WHY_NOT = browser.use_environment()

from xss import LETHAL

from check import case, equal, main
from key_store import Store, bearer
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The server refuses some on purpose, and says so with these codes.
REFUSED = ("status of 4", "status of 5")

# Before any script of a page, in each of its frames. The first faults of a policy are kept too.
CANARY = """window.hit = 0; window.refused = [];
for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => { window.hit++ };
document.addEventListener('securitypolicyviolation', (event) =>
  refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""

# What no text may become. The console's own scripts and styles are in the head.
ODD = r"""() => [...document.body.querySelectorAll('*')].filter((e) =>
  /^(iframe|object|embed|base|meta|style|link|frame|frameset|applet|isindex|keygen|marquee|xss|x)$/i
    .test(e.tagName) || (e.tagName === 'SCRIPT' && !e.src.startsWith(location.origin + '/console/'))
  || (e.tagName === 'IMG' && !/^(data:|blob:|\/console\/)/.test(e.getAttribute('src')))
  || e.getAttributeNames().some((name) => name.startsWith('on') || name === 'srcdoc' ||
       name === 'formaction')
  || (e.protocol && !/^(https?|mailto|blob):$/.test(e.protocol))
  || (e.tagName === 'FORM' && e.hasAttribute('action'))).map((e) => e.outerHTML.slice(0, 200))"""


def fitting(longest: int, forbidden: str = "") -> list[str]:
    """The printable ones that a field takes."""
    return [
        text
        for text in LETHAL
        if len(text) <= longest
        and text.isascii()
        and text.isprintable()
        and not any(letter in text for letter in forbidden)
    ]


# As the names of a configuration have to be; "tier:" and so on has a meaning in some.
NAMES = fitting(64, ' "\\,')
LONGER = fitting(120)


def configuration(near: str, cloud: str) -> str:
    """Tiers, routes, rules and budgets that all have such names, people among them."""
    names: Iterator[str] = iter(NAMES)
    tiers = [{"name": next(names), "kind": "local"}]
    for at in range(4):
        tiers.append(
            {
                "name": next(names),
                "kind": "openai",
                "model": LONGER[at],
                "place": ("device", "cloud")[at % 2],
                "base_url": (near, cloud)[at % 2],
                "api_key_env": "TEST_CLOUD_KEY",
            }
        )
    people = {"name": next(names), "kind": "review", "review": {"minutes": 5, "usd_hour": 60}}
    auto = [tier["name"] for tier in tiers]
    routes = [
        {"name": "auto", "kind": "hybrid", "tiers": auto},
        {"name": "people", "kind": "hybrid", "tiers": [*auto[1:3], people["name"]]},
    ]
    for _ in range(3):
        routes.append({"name": next(names), "kind": "hybrid", "tiers": [auto[1], auto[2]]})
    rules = [
        {"name": next(names), "when": {"tag": f"t{at}"}, "then": {"start": auto[at]}}
        for at in range(3)
    ]
    denies = {"name": next(names), "when": {"tag": "no"}, "then": {"deny": LONGER[7]}}
    budgets = [{"name": next(names), "usd_per_day": 100000}]
    parts = {
        "tiers": [*tiers, people],
        "routes": routes,
        "rules": [*rules, denies],
        "budgets": budgets,
        "ledger": {"store_prompts": True},
        "server": {"api_keys_env": "KEYS", "operator_keys_env": "BOSS"},
    }
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in parts.items()) + "\n"


BOSS = bearer("key-of-the-operator")
KEYS = {"KEYS": "key-of-a-client", "BOSS": "key-of-the-operator", "TEST_CLOUD_KEY": "k"}


def post(tandem: Tandem, path: str, body: dict[str, Any], want: int = 200) -> None:
    answer = tandem.request("POST", f"/tandem/v1/{path}", body, BOSS)
    equal((path, answer.status), (path, want), str(answer.body))


def plant(tandem: Tandem, clouds: list[ScriptedCloud]) -> dict[str, int]:
    """Uses every place; how many texts each has."""
    held = {}
    routes = [route["id"] for route in tandem.get("/v1/models", headers=BOSS).json["data"]]
    assert sum("<" in name for name in routes) >= 7, routes
    held["configured"] = len(routes)
    for at in range(0, len(LETHAL), 4):
        text = "\n".join(LETHAL[at : at + 4])
        for cloud in clouds:
            failing = {"status": 400, "error_message": text, "error_code": text, "error_type": text}
            cloud.script = Script(**failing) if at % 12 == 8 else Script(text=text)
        headers = {
            **BOSS,
            "x-tandem-app": LONGER[at % len(LONGER)],
            "x-tandem-mode": ("only-cloud", "prefer-cloud", "auto")[at % 3],
            "x-tandem-tag": ("t0", "t1", "t2", "no", "x")[at % 5],
            "x-tandem-session": LONGER[-1 - at % len(LONGER)],
        }
        tandem.chat(text, headers, user=LETHAL[at + 1][:120], max_tokens=40)
    texts = fitting(60)
    post(tandem, "keys", {"name": texts[0]}, 400)  # of letters, digits and . _ - @ : +
    for at in range(4):
        post(tandem, "keys", {"name": f"key{at}", "models": texts[4 * at : 4 * at + 4]})
        for text in (LETHAL[at], texts[at + 20]):
            until = int(time.time()) + 86400
            post(tandem, "consents", {"scope": "*", "user": text, "expires": until})
    for kind, path in (("keys", "keys"), ("consents", "consents")):
        data = tandem.get(f"/tandem/v1/{path}", headers=BOSS).json["data"]
        held[kind] = sum(any(mark in json.dumps(one) for mark in "<(") for one in data)
    for cloud in clouds:
        cloud.script = Script(text="\n\n".join(LETHAL))
    for at in range(3):
        words = {"cost_of_error": 1000000}
        whole = "\n\n".join(LETHAL[at * 40 : at * 40 + 40])
        tandem.chat(whole, BOSS, model="people", tandem=words, max_tokens=8)
    tickets = tandem.get("/tandem/v1/review/tickets", headers=BOSS).json["data"]
    held["tickets"] = len(tickets)
    return held


def harmless(page: "Page", where: str) -> None:
    page.wait_for_timeout(80)  # for what a text would load or begin
    found = [frame.evaluate("[window.hit, window.refused]") for frame in page.frames]
    equal((where, found), (where, [[0, []]]))
    equal((where, page.evaluate(ODD)), (where, []))


def go(page: "Page", url: str, where: str) -> None:
    page.goto(f"{url}/#/{where}")
    page.locator("main h1, main h2").first.wait_for()
    page.wait_for_load_state("networkidle") if where != "live" else page.wait_for_timeout(600)
    harmless(page, where)
    for summary in page.locator("main summary").all()[:12]:
        summary.click()
    harmless(page, f"{where}, opened")


def sign_in(page: "Page") -> None:
    page.get_by_label("API key").fill(KEYS["BOSS"])
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Ask something").wait_for()


def watched(page: "Page") -> None:
    """Follows the page from its beginning: the canaries are there before its scripts."""
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.add_init_script(CANARY)
    page.reload()


def play(page: "Page", clouds: list[ScriptedCloud]) -> None:
    """Answers in pieces, a tool's name and arguments, an attachment's name, an error."""
    page.get_by_label("Mode", exact=True).select_option("only-cloud")
    for text in ("\n\n".join(LETHAL), LETHAL[0]):
        for cloud in clouds:
            cloud.script = Script(text=text, pieces=[part + "\n\n" for part in LETHAL])
        name = f"{LETHAL[12]}.txt".replace("/", "_")
        file = {"name": name, "mimeType": "text/plain", "buffer": text[:20000].encode()}
        page.locator('input[type="file"]').set_input_files(file)
        ask(page, text[:9000])
        last_answer(page)
        harmless(page, "an answer")
    call = {"id": "c", "index": 0, "type": "function"}
    function = {"name": LETHAL[12], "arguments": json.dumps({text: text for text in LETHAL})}
    for cloud in clouds:
        delta = {"tool_calls": [{**call, "function": function}]}
        cloud.script = Script(text="", extra_delta=delta, finish="tool_calls")
    ask(page, "and?")
    last_answer(page)
    harmless(page, "a call of a tool")
    for text in LETHAL[:3]:
        for cloud in clouds:
            cloud.script = Script(status=400, error_message=text, error_type=text)
        ask(page, "and now?")
        last_answer(page).get_by_text("There is no answer").wait_for()
    harmless(page, "an error")
    page.get_by_role("button", name="Code").first.click()
    page.get_by_role("dialog").wait_for()
    harmless(page, "code")
    page.keyboard.press("Escape")


@case
def test_texts_that_attack_do_nothing_in_any_view() -> None:
    clouds = [ScriptedCloud(), ScriptedCloud()]
    config = configuration(*(cloud.base_url for cloud in clouds))
    with (
        Store() as store,
        store.serve(config, **KEYS) as tandem,
        open_page(tandem.url, allowed=REFUSED) as page,
    ):
        held = plant(tandem, clouds)
        equal(held, {"configured": 14, "keys": 4, "consents": 8, "tickets": 3})
        watched(page)
        sign_in(page)
        play(page, clouds)
        rows = tandem.get("/tandem/v1/exchanges?limit=100", headers=BOSS).json["data"]
        stories = [f"explain/{row['id']}" for row in rows[::6]]
        for where in [
            *("live", "explain", *stories, "privacy", "privacy/left", "privacy/consents"),
            *("privacy/forget", "keys", "keys/keys", "models", "models/calibration"),
            *("models/rollout", "whatif", "review"),
        ]:
            go(page, tandem.url, where)
        page.keyboard.press("n")  # takes a ticket
        page.get_by_role("timer").wait_for()
        page.keyboard.press("e")
        harmless(page, "a ticket")
        for text in LETHAL[:20]:  # an address that somebody sent
            page.goto(f"{tandem.url}/#/explain/{urllib.parse.quote(text)}")
            page.goto(f"{tandem.url}/#/{urllib.parse.quote(text)}")
            harmless(page, "an address")
        equal(page.url.split("#")[0], tandem.url + "/")
    for cloud in clouds:
        cloud.close()


ATTEMPTS = ("Content Security", "TrustedHTML")
CARELESS = """() => { const link = document.createElement('a');
  link.href = 'javascript:alert(1)'; document.body.append(link); link.click() }"""


@case
def test_a_page_that_is_careless_would_be_noticed() -> None:
    """The same watch, on a page with a link that it must not have, and one that takes HTML."""
    with Tandem() as tandem, open_page(tandem.url, allowed=ATTEMPTS) as page:
        watched(page)
        page.get_by_role("heading", name="Ask something").wait_for()
        harmless(page, "as it is")
        page.evaluate(CARELESS)
        wait_until(lambda: page.evaluate("refused.length") > 0, what="the policy refuses it")
        equal(len(page.evaluate(ODD)), 1)
        html = "(t => { try { document.body.innerHTML = t } catch (e) { return e.name } })"
        equal(page.evaluate(html, LETHAL[12]), "TypeError")  # trusted types


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
