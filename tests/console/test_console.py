#!/usr/bin/env python3
"""The console in the system's Chromium, against the real program and a scripted cloud."""

import http.server
import json
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, ask, fits, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, tier_of, with_cloud
from xss import LETHAL

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, wait_until

WIRE_BYTES_MAX = 250_000


# --- the page ---


@case
def test_the_page_paints_soon_and_asks_nobody_else() -> None:
    with Tandem() as tandem, open_page(tandem.url) as page:
        page.get_by_role("heading", name="Ask something").wait_for()
        page.get_by_role("button", name="What is 17.5 % of 240?").wait_for()
        # Chromium writes it once the frame was shown.
        page.wait_for_function("performance.getEntriesByType('paint').length > 0")
        size = page.evaluate(
            "performance.getEntries().reduce((sum, x) => sum + (x.transferSize || 0), 0)"
        )
        assert 0 < size <= WIRE_BYTES_MAX, size


@case
def test_the_page_fits_a_phone_and_reads_from_right_to_left() -> None:
    with Tandem() as tandem:
        for size in (DESKTOP, PHONE):
            for direction in ("ltr", "rtl"):
                with open_page(tandem.url, viewport=size) as page:
                    page.get_by_role("heading", name="Ask something").wait_for()
                    page.evaluate(f"document.documentElement.dir = '{direction}'")
                    wide = page.evaluate(
                        "[...document.querySelectorAll('#app *')].filter(e => e.scrollWidth >"
                        " e.clientWidth + 1 && getComputedStyle(e).overflowX === 'auto')"
                        ".map(e => e.className)"
                    )
                    equal((size, direction, wide), (size, direction, []))


@case
def test_without_the_console_there_is_a_short_page_and_no_session() -> None:
    with Tandem("server: {console: false}\n") as tandem:
        headers = {"Accept": "text/html", "Accept-Encoding": "gzip"}
        page = tandem.get("/", headers=headers)
        assert b"Tandem is running" in page.body, page.body
        equal(tandem.get("/console/session").json["error"]["code"], "console_off")
        equal(tandem.get("/console/icon.svg").status, 404)


@case
def test_files_are_kept_by_the_browser_and_their_policy_is_strict() -> None:
    with Tandem() as tandem:
        headers = {"Accept": "text/html", "Accept-Encoding": "gzip"}
        page = tandem.get("/", headers=headers)
        equal(page.headers["content-encoding"], "gzip")
        policy = page.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy, policy
        headers["If-None-Match"] = page.headers["etag"]
        equal(tandem.get("/", headers=headers).status, 304)
        plain = tandem.get("/", headers={"Accept": "text/html"})  # without gzip
        assert b"<!doctype html>" in plain.body[:20].lower(), plain.body[:80]
        assert b"<style" not in plain.body and b"onload" not in plain.body
        asset = plain.body.split(b'src="')[1].split(b'"')[0].decode()
        assert "immutable" in tandem.get(asset).headers["cache-control"], asset
        equal(tandem.get("/console/assets/none.js").status, 404)


@case
def test_axe_finds_nothing_to_mend() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        for scheme in ("light", "dark"):
            with open_page(tandem.url, color_scheme=scheme) as page:
                page.get_by_role("heading", name="Ask something").wait_for()
                accessible(page)
                ask(page, HARD)
                last_answer(page).get_by_text("Why here?").click()
                accessible(page)
    cloud.close()


@case
def test_german_is_one_touch_away() -> None:
    with Tandem() as tandem, open_page(tandem.url) as page:
        page.get_by_role("button", name="Deutsch").click()
        page.get_by_role("heading", name="Fragen Sie etwas").wait_for()
        equal(page.evaluate("document.documentElement.lang"), "de")
        page.reload()
        page.get_by_role("heading", name="Fragen Sie etwas").wait_for()


@case
def test_both_languages_have_every_text() -> None:
    """The compiler sees names; here: no text is empty, and both have the same blanks to fill."""
    import re

    found = {}
    for tag in ("en", "de"):
        source = (ROOT / "web" / "src" / "texts" / f"{tag}.ts").read_text()
        rows = re.findall(r"^  (\w+):\s*'((?:[^'\\]|\\.)*)',$", source, re.MULTILINE)
        found[tag] = {name: sorted(re.findall(r"\{\w+\}", text)) for name, text in rows}
        assert all(text for _, text in rows)
    equal(found["en"], found["de"])


@case
def test_a_german_conversation_fits_the_narrowest_phone() -> None:
    """Its buttons have longer names, and there is one more once something was asked."""
    with Tandem() as tandem:
        for width in (360, PHONE["width"]):
            size = {"width": width, "height": 740}
            with open_page(tandem.url, locale="de-DE", viewport=size) as page:
                page.get_by_role("textbox", name="Stellen Sie eine Frage").fill("What is 2 + 2?")
                page.keyboard.press("Enter")
                new_chat = page.get_by_role("button", name="Neues Gespräch")
                for found in (new_chat, page.get_by_role("button", name="Senden")):
                    found.wait_for()
                    box = found.bounding_box()
                    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width, box
                fits(page)


@case
def test_what_the_server_says_is_said_in_german() -> None:
    """Each code of docs/reasons.md has its words, and each pattern is one that the server says."""
    import re

    german = (ROOT / "web" / "src" / "texts" / "de-server.ts").read_text()
    own = set(re.findall(r"^  (\w+): '.+',$", german.split("export const codes")[1], re.MULTILINE))
    told = re.findall(r"^\| (`.+?) \| ", (ROOT / "docs" / "reasons.md").read_text(), re.MULTILINE)
    codes = {code for row in told for code in re.findall(r"`(\w+)`", row)}
    equal(codes - own, set())
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.c"))
    sources = re.sub(r'"\s*"', "", sources)
    found = re.findall(r"""^  \[(?:'([^']+)'|"([^"]+)"), '(.+)'\],$""", german, re.MULTILINE)
    assert len(found) > 50, len(found)
    for single, double, words in found:
        english = single or double
        for part in english.split("{}"):
            assert part.strip() in sources, (english, part)
        blanks = {int(at) for at in re.findall(r"\{[=+]?(\d)\}", words)}
        assert max(blanks, default=0) < max(english.count("{}"), 1), (english, words)
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, locale="de-DE") as page:
        page.get_by_role("textbox", name="Stellen Sie eine Frage").fill(
            "My card number is 4111 1111 1111 1111. Which network is it?"
        )
        page.keyboard.press("Enter")
        page.get_by_text("Das kleine Modell auf dem Gerät hat geantwortet").wait_for()
        page.get_by_text("Warum hier?").click()
        said = page.locator(".why ol").inner_text()
        for words in (
            "Daten der Klasse „streng vertraulich“ dürfen nicht zu cloud (in der Cloud)",
            "nur local darf antworten",
            "nicht seine Aufgabe ist (Wahrscheinlichkeit",
        ):
            assert words in said, said
        assert " tier" not in said and " ask" not in said, said
    cloud.close()


# --- the conversation ---


@case
def test_a_chat_streams_and_says_where_it_is_from() -> None:
    cloud, tandem = with_cloud(Script(text="Taxes **and** bread.", piece_delay=0.2))
    with tandem, open_page(tandem.url) as page:
        ask(page, "What is 17.5 % of 240?")
        card = last_answer(page)
        assert "42" in card.inner_text(), card.inner_text()
        assert "on this device" in tier_of(card), tier_of(card)
        ask(page, HARD)
        page.get_by_text("Taxes", exact=False).last.wait_for()
        equal(page.get_by_role("button", name="Stop").count(), 1)  # it is still coming
        card = last_answer(page)
        assert "in the cloud" in tier_of(card), tier_of(card)
        equal(card.locator(".said strong").inner_text(), "and")
        card.get_by_text("Why here?").click()
        assert "not its task" in card.locator(".why ol").inner_text()
        facts = card.locator("dl").inner_text()
        for name in ("Confidence", "First text", "Cost", "In the cloud", "Left the device"):
            assert name in facts, facts
    cloud.close()


@case
def test_an_answer_can_be_stopped_made_anew_and_its_question_changed() -> None:
    cloud, tandem = with_cloud(Script(pieces=["One "] + ["more "] * 200, piece_delay=0.05))
    with tandem, open_page(tandem.url) as page:
        ask(page, HARD)
        page.get_by_text("One more").wait_for()
        page.get_by_role("button", name="Stop").click()
        last_answer(page).get_by_text("Stopped").wait_for()
        wait_until(lambda: cloud.gone_count == 1, what="the cloud sees that nobody reads")
        cloud.script = Script(text="Whole.")
        page.get_by_role("button", name="Answer again").click()
        page.get_by_text("Whole.").wait_for()
        equal(page.get_by_role("article", name="Answer").count(), 1)
        cloud.script = Script(text="Another.")
        page.get_by_role("article", name="You").hover()
        page.get_by_role("button", name="Edit").click()
        page.get_by_role("textbox", name="Edit").fill("Why did the Russian revolution begin?")
        page.get_by_role("button", name="Ask again").click()
        page.get_by_text("Another.").wait_for()
        sent = json.loads(cloud.calls()[-1]["body"])["messages"]
        equal([m["content"] for m in sent], ["Why did the Russian revolution begin?"])
    cloud.close()


@case
def test_controls_reach_the_request() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, allowed=("status of 4",)) as page:
        page.get_by_label("System prompt").fill("Answer in Latin.")
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        ask(page, "hello")
        assert "in the cloud" in tier_of(last_answer(page))
        sent = json.loads(cloud.calls()[-1]["body"])["messages"]
        equal(sent[0], {"role": "system", "content": "Answer in Latin."})
        page.get_by_label("Data class, at least").select_option("restricted")
        ask(page, "and now?")
        page.get_by_text("There is no answer").wait_for()
        page.get_by_label("Mode", exact=True).select_option("auto")
        page.get_by_role("button", name="Answer again").click()
        assert "on this device" in tier_of(last_answer(page))
        equal(len(cloud.calls()), 1)
    cloud.close()


CHECKED = """
tiers:
  - {{name: near, kind: openai, model: small, place: device, base_url: "{near}"}}
  - {{name: cloud, kind: openai, model: large, base_url: "{cloud}", api_key_env: TEST_CLOUD_KEY}}
routes:
  - {{name: auto, kind: hybrid, tiers: [near, cloud],
      gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}},
               g4: {{verify: answer, stakes: high}}}}}}
"""


@case
def test_a_provisional_answer_is_committed_or_visibly_corrected() -> None:
    right, wrong = "The capital of Australia is Canberra.", "The capital of Australia is Sydney."
    for said, mark in ((wrong, "Corrected by cloud"), (right, "Checked by cloud")):
        near = ScriptedCloud(Script(text=said))
        cloud = ScriptedCloud(Script(text=right, first_delay=0.6))
        config = CHECKED.format(near=near.base_url, cloud=cloud.base_url)
        tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k"})
        with tandem, open_page(tandem.url) as page:
            ask(page, "What is the capital of Australia?")
            page.get_by_text("Provisional: cloud is checking it").wait_for()
            page.get_by_text(said).wait_for()
            card = last_answer(page)
            card.get_by_text(mark).wait_for()
            equal(card.locator(".said").inner_text().strip(), right)
            if said == wrong:
                card.get_by_role("button", name="Show what it said before").click()
                equal(card.locator("del").inner_text(), wrong)
        near.close()
        cloud.close()


@case
def test_a_failure_is_said_in_words() -> None:
    cloud, tandem = with_cloud(Script(status=500))
    with tandem, open_page(tandem.url, allowed=("status of 5", "status of 4")) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        ask(page, "hello")
        page.get_by_text("There is no answer").wait_for()
    cloud.close()


# --- who may ---


@case
def test_login_and_its_failures() -> None:
    tandem = Tandem(KEYED, env=KEYS)
    with tandem, open_page(tandem.url, allowed=("status of 4",)) as page:
        field = page.get_by_label("API key")
        for wrong in ("nonsense", "key-of-a-clien"):
            field.fill(wrong)
            page.keyboard.press("Enter")
            page.get_by_text("does not take this key").wait_for()
        field.fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        page.get_by_text("Viewer").wait_for()
        cookie = page.context.cookies()[0]
        equal((cookie["httpOnly"], cookie["sameSite"]), (True, "Strict"))
        assert KEYS["KEYS"] not in json.dumps(cookie)
        equal(page.evaluate("document.cookie"), "")
        ask(page, "What is 17.5 % of 240?")
        assert "42" in last_answer(page).inner_text()
        page.reload()
        page.get_by_text("Viewer").wait_for()
        page.get_by_role("button", name="Sign out").click()
        field.wait_for()
        equal(page.context.cookies(), [])
        field.fill(KEYS["BOSS"])
        page.keyboard.press("Enter")
        page.get_by_text("Admin").wait_for()


@case
def test_a_session_that_ended_asks_for_the_key_again() -> None:
    tandem = Tandem(KEYED, env=KEYS)
    with tandem, open_page(tandem.url, allowed=("status of 4",)) as page:
        page.get_by_label("API key").fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        page.get_by_text("Viewer").wait_for()
        page.wait_for_load_state("networkidle")  # what the page asks first would tell it, too
        page.context.clear_cookies()
        ask(page, "hello")
        page.get_by_text("Your session has ended").wait_for()


@case
def test_guessing_keys_is_slowed() -> None:
    with Tandem(KEYED, env=KEYS) as tandem:
        codes = [login(tandem, f"guess-{number}").status for number in range(12)]
        equal(codes, [401] * 10 + [429] * 2)
        late = login(tandem, KEYS["KEYS"])
        equal(late.status, 429)  # also with the right one: a guesser must not learn which it is
        assert 0 < int(late.headers["retry-after"]) <= 60
        equal(tandem.chat("hi", {"Authorization": f"Bearer {KEYS['KEYS']}"}).status, 200)


@case
def test_asking_who_one_is_is_slowed_as_well_and_without_a_key_nothing_is_counted() -> None:
    with Tandem(KEYED, env=KEYS) as tandem:
        codes = {tandem.request("POST", "/console/session", None).status for _ in range(12)}
        equal(codes, {401})
        guesses = [{"Authorization": f"Bearer guess-{number}"} for number in range(12)]
        codes = [tandem.get("/console/session", headers=guess).status for guess in guesses]
        equal(codes, [200] * 10 + [429] * 2)
        equal(tandem.get("/console/session").status, 200)


@case
def test_a_session_makes_no_other_one() -> None:
    with Tandem(KEYED, env=KEYS) as tandem:
        cookie = login(tandem, KEYS["KEYS"]).headers["set-cookie"].split(";")[0]
        own = {"Cookie": cookie, "x-tandem-console": "1"}
        again = tandem.request("POST", "/console/session", None, own)
        equal((again.status, again.json["role"]), (200, "viewer"))
        assert "set-cookie" not in again.headers, again.headers


def login(tandem: Tandem, key: str, headers: dict[str, str] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {key}", **(headers or {})}
    return tandem.request("POST", "/console/session", None, headers)


@case
def test_a_cookie_counts_only_for_the_console_itself() -> None:
    with Tandem(KEYED, env=KEYS) as tandem:
        cookie = login(tandem, KEYS["KEYS"]).headers["set-cookie"].split(";")[0]
        own = {"Cookie": cookie, "x-tandem-console": "1"}
        equal(tandem.get("/v1/models", headers=own).status, 200)
        foreign = {**own, "Origin": "http://127.0.0.1:1"}
        for headers, code in (
            ({"Cookie": cookie}, 401),  # a form or a picture of another page
            ({**own, "Sec-Fetch-Site": "same-site"}, 403),  # a page of another port
            ({**own, "Sec-Fetch-Site": "cross-site"}, 403),
            (foreign, 403),
            ({**own, "Cookie": cookie[:-1] + ("0" if cookie[-1] != "0" else "1")}, 401),
            ({**own, "Cookie": cookie.replace("=", "=9")}, 401),  # a longer time
            ({**own, "Cookie": "tandem_session=" + "." * 70}, 401),
            ({**own, "Cookie": "tandem_session="}, 401),
        ):
            equal((headers, tandem.get("/v1/models", headers=headers).status), (headers, code))
        equal(tandem.get("/tandem/v1/keys", headers=own).status, 403)  # a client's key is no more


@case
def test_a_session_ends_with_its_key() -> None:
    with Tandem() as tandem:
        code, out, err = run_keys(tandem, "add", "anna", "--json")
        equal(code, 0, err)
        made = json.loads(out)
        wait_until(lambda: tandem.get("/v1/models").status == 401, what="keys are needed")
        answer = login(tandem, made["key"])
        equal(answer.json["role"], "viewer")
        own = {"Cookie": answer.headers["set-cookie"].split(";")[0], "x-tandem-console": "1"}
        equal(tandem.get("/v1/models", headers=own).status, 200)
        equal(run_keys(tandem, "revoke", made["id"])[0], 0)
        wait_until(lambda: tandem.get("/v1/models", headers=own).status == 401, what="it ended")


def run_keys(tandem: Tandem, *words: str) -> tuple[int, bytes, str]:
    from tandem import run

    return run("keys", *words, env=tandem.environment)


# --- strangers ---

STRANGER = """<!doctype html><title>stranger</title><body><script>
const done = [], url = %r;
const note = (name, what) => what.then(x => done.push([name, x]), e => done.push([name, 'no']));
const read = (name, path, options) =>
  note(name, fetch(url + path, options).then(r => r.text()).then(t => 'read ' + t.slice(0, 40)));
const body = JSON.stringify({model: 'cloud', messages: [{role: 'user', content: 'spend'}]});
const path = '/v1/chat/completions';
read('get', '/v1/models', {});
read('cookie', '/v1/models', {credentials: 'include'});
read('post', path, {method: 'POST', body, credentials: 'include'});
read('header', path, {method: 'POST', body, credentials: 'include',
  headers: {'x-tandem-console': '1', 'content-type': 'application/json'}});
note('no-cors', fetch(url + path, {method: 'POST', body, mode: 'no-cors', credentials: 'include'})
  .then(() => 'sent'));
const load = (name, tag, path) => note(name, new Promise((ok, fail) => {
  const e = document.body.appendChild(document.createElement(tag));
  e.onload = () => ok('loaded'); e.onerror = fail; e.src = url + path; }));
load('script', 'script', '/v1/models');
load('picture', 'img', '/console/icon.svg');
const frame = document.body.appendChild(document.createElement('iframe'));
frame.name = 'frame'; frame.src = url + '/';
const form = document.body.appendChild(document.createElement('form'));
form.method = 'POST'; form.action = url + path; form.enctype = 'text/plain'; form.target = 'frame';
const field = form.appendChild(document.createElement('input'));
field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}';
setTimeout(() => form.submit(), 500);
window.done = done;
</script>"""


class Stranger(http.server.BaseHTTPRequestHandler):
    page = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_: object) -> None:
        pass


@case
def test_a_page_of_another_origin_can_neither_read_nor_cause_an_exchange() -> None:
    for more, signed_in in (("", False), (KEYED, True)):
        cloud, tandem = with_cloud(more=more)
        Stranger.page = (STRANGER % tandem.url).encode()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tandem:
            assert browser.running
            profile = browser.running.new_context()
            page = profile.new_page()
            if signed_in:  # in the same browser, so that the cookie is there
                page.goto(tandem.url)
                page.get_by_label("API key").fill(KEYS["BOSS"])
                page.keyboard.press("Enter")
                page.get_by_text("Admin").wait_for()
            page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
            page.wait_for_function("done.length >= 7")
            page.wait_for_timeout(1200)  # and the form
            got = dict(page.evaluate("done"))
            equal(got.pop("no-cors"), "sent")  # it may be sent, but what comes back is not seen
            equal(
                got, dict.fromkeys(("get", "cookie", "post", "header", "script", "picture"), "no")
            )
            equal(cloud.calls(), [], "exchanges that a stranger caused")
            key = {"Authorization": f"Bearer {KEYS['BOSS']}"} if more else {}
            equal(tandem.get("/tandem/v1/exchanges", headers=key).json["data"], [])
            profile.close()
        server.shutdown()
        server.server_close()
        cloud.close()


@case
def test_texts_that_attack_do_nothing() -> None:
    """In answers, as markdown and in pieces, in questions, in errors, and in the model's name."""
    whole = "\n\n".join(LETHAL)
    cloud, tandem = with_cloud(Script(text=whole, pieces=[p + "\n\n" for p in LETHAL]))
    allowed = ("status of 4", "status of 5")
    with tandem, open_page(tandem.url, allowed=allowed) as page:
        page.evaluate("() => { window.hit = 0; window.alert = () => { window.hit++ } }")
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        ask(page, whole[:30000])
        card = last_answer(page)
        shown = card.locator(".said").inner_text()
        assert "<script" in shown and "onerror" in shown, shown[:300]
        allowed_tags = (
            "p br a strong em del code pre ol ul li h3 h4 h5 h6 hr blockquote div".split()
        )
        allowed_tags += "table thead tbody tr th td header span button svg path rect".split()
        tags = page.evaluate(
            "[...document.querySelectorAll('.said *')].map(e => e.tagName.toLowerCase())"
        )
        equal(set(tags) - set(allowed_tags), set())
        links = page.evaluate("[...document.querySelectorAll('.said a')].map(a => a.protocol)")
        equal(set(links) - {"http:", "https:", "mailto:"}, set())
        named = page.evaluate(
            "[...document.querySelectorAll('.said *, .question *')].flatMap(e =>"
            " e.getAttributeNames()).filter(n => n.startsWith('on') || n === 'style')"
        )
        equal(named, [])
        for text in LETHAL[:20]:
            cloud.script = Script(status=400, error_message=text)
            ask(page, "and?")
            last_answer(page).get_by_text("There is no answer").wait_for()
        equal(page.evaluate("window.hit"), 0)
        equal(page.url, tandem.url + "/")
    cloud.close()


@case
def test_markdown_of_any_length_is_drawn_at_once() -> None:
    """What makes careless readers slow: marks that never close, deep lists, long lines."""
    worst = ["*" * 20000, "[" * 20000, "`" * 20001, "_a " * 7000, "> " * 5000, "- " * 5000]
    worst += ["|" * 20000 + "\n|-|\n", "![](" * 5000, "**a" * 6000, "  - x\n" * 3000]
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        for text in worst:
            cloud.script = Script(text=text, pieces=[text])
            if page.get_by_role("button", name="New chat").count():
                page.get_by_role("button", name="New chat").click()
            ask(page, "again")
            last_answer(page)
            busy = page.evaluate(
                "new Promise(r => { const t = performance.now();"
                " requestAnimationFrame(() => setTimeout(() => r(performance.now() - t)))})"
            )
            assert busy < 2000, (text[:10], busy)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
