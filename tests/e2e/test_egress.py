#!/usr/bin/env python3
"""The record of what left, beside what the cloud received: the same bytes, whatever goes wrong; and
whatever is done to the record is found by the program and by the script that needs no program."""

import base64
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from certificates import certificate
from check import case, equal, main
from screen import flat
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, edge_first, run, wait_until

KEY = {"TEST_CLOUD_KEY": "k"}
CLOUD = {"x-tandem-mode": "only-cloud"}


def server(cloud, **options):
    return Tandem(edge_first(cloud.base_url), env=KEY, **options)


def shown(tandem, *arguments):
    code, out, err = run("egress", "show", "--json", *arguments, env=tandem.environment)
    equal(code, 0, err)
    return json.loads(out)


def verdict(tandem, *arguments):
    code, out, err = run("egress", "verify", "--json", *arguments, env=tandem.environment)
    assert out, err
    got = json.loads(out)
    equal(code, 0 if got["sound"] else 1)
    return got


def script_says(path, *key):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "verify_egress.py"), str(path), *key],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def check_same_bytes(tandem, cloud):
    """Every body that arrived is on record with its length and hash, and nothing is on record that
    the cloud never saw (but for connections that broke before the body was read)."""
    record = shown(tandem)["transfers"]
    hashes = [entry["sha256"] for entry in record]
    for request in cloud.requests:
        if request["body"]:
            digest = hashlib.sha256(request["body"]).hexdigest()
            assert digest in hashes, f"not on record: {request['body'][:200]}"
            entry = record[hashes.index(digest)]
            equal(entry["bytes"], len(request["body"]))
    return record


@case
def test_the_record_has_the_bytes_that_the_cloud_received():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        answers = [tandem.chat(f"Question {i}?", CLOUD, stream=i % 2 == 0) for i in range(6)]
        equal([answer.status for answer in answers], [200] * 6)
        tandem.chat("Say it here.", {"x-tandem-mode": "only-local"})
        record = check_same_bytes(tandem, cloud)
        equal(len(record), len(cloud.requests))
        equal(
            sum(entry["bytes"] for entry in record),
            sum(len(request["body"]) for request in cloud.requests),
        )
        first = record[0]
        equal(
            (first["tier"], first["place"], first["host"]),
            ("cloud", "cloud", f"127.0.0.1:{cloud.port}"),
        )
        equal((first["purpose"], first["class"], first["replaced"]), ("attempt", "public", {}))
        exchange = answers[1].tandem["exchange"]
        one = shown(tandem, "--exchange", exchange)
        equal((one["count"], one["transfers"][0]["exchange"]), (1, exchange))
        equal(shown(tandem, "--since", "1h")["count"], 6)
        code, out, _ = run("egress", "show", env=tandem.environment)
        assert code == 0 and out.decode().endswith(
            f"6 transfers, {sum(e['bytes'] for e in record)} bytes\n"
        ), out


@case
def test_the_record_says_what_the_tier_promises_and_which_rules_found_what():
    cloud = ScriptedCloud(Script(echo=True))
    tier = "    region: eu-central-1\n    certified: [dpa, no-retention]\n"
    rules = """
privacy:
  pseudonyms: {on: true, classes: [sensitive]}
  patterns:
    - {name: STAFF_ID, regex: 'EMP-\\d{5}', class: sensitive}
  words:
    - {name: PROJECT, list: [Bluebird], class: sensitive}
"""
    text = "EMP-12345 and EMP-54321 of Bluebird, ann@acme-corp.com"
    with Tandem(edge_first(cloud.base_url, tier) + rules, env=KEY) as tandem:
        answer = tandem.chat(text, CLOUD)
        equal((answer.status, answer.text), (200, text), answer.body)
        assert b"-12345 " not in cloud.received and b"Bluebird" not in cloud.received
        (entry,) = shown(tandem)["transfers"]
        equal((entry["region"], entry["certified"]), ("eu-central-1", ["dpa", "no-retention"]))
        equal(entry["replaced"], {"EMAIL_ADDRESS": 1, "STAFF_ID": 2, "PROJECT": 1})
        code, out, _ = run("egress", "show", env=tandem.environment)
        assert code == 0 and b"cloud, eu-central-1, certified dpa no-retention)" in out, out
        code, out, _ = run(
            "explain",
            answer.tandem["exchange"],
            "--json",
            "--url",
            tandem.url,
            env=tandem.environment,
        )
        whole = json.loads(out)
        equal((whole["egress"], whole["egress_whole"]), ([entry], True))
        found = whole["signals"]["findings"]
        equal((found["STAFF_ID"], found["PROJECT"], found["EMAIL_ADDRESS"]), (2, 1, 1), found)
        assert "CUSTOM" not in found, found
        for where in ([], ["--url", tandem.url]):
            code, out, err = run("explain", whole["id"], *where, env=tandem.environment)
            assert code == 0 and flat(
                f"What left the device ('tandem egress show --exchange {whole['id']}'): "
                f"1. {entry['bytes']} bytes to cloud, public;"
            ) in flat(out.decode()), (out, err)
            says = flat(out.decode()).split("; ")[-1]
            for words in ("1 EMAIL_ADDRESS", "2 STAFF_ID", "1 PROJECT", " replaced"):
                assert words in says, says
        exported = tandem.state / "export.jsonl"
        equal(run("egress", "export", "-o", exported, env=tandem.environment)[0], 0)
        equal(script_says(exported)[0], 0)


@case
def test_retries_and_broken_connections_are_on_record_too():
    cloud = ScriptedCloud(Script(text="Cloud.", statuses=[503]))
    with server(cloud) as tandem:
        equal(tandem.chat("Twice?", CLOUD).status, 200)
        equal([entry["purpose"] for entry in shown(tandem)["transfers"]], ["attempt", "retry"])
        cloud.script = Script(cut_at_once=True)
        tandem.chat("Broken?", {"x-tandem-mode": "prefer-cloud"})
        cloud.script = Script(text="Cloud.")
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("config_reloaded" in line for line in tandem.log), what="reload")
        tandem.chat("After the reload?", {"x-tandem-mode": "prefer-cloud"})
        check_same_bytes(tandem, cloud)
        assert verdict(tandem)["sound"]


@case
def test_a_transfer_is_on_record_though_the_process_is_killed_in_it():
    cloud = ScriptedCloud(Script(first_delay=30))
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-egress-"))
    config = edge_first(cloud.base_url) + f"ledger:\n  egress: {folder}/record\n"
    tandem = Tandem(config, env=KEY)
    environment = {**tandem.environment}
    try:
        import threading

        asking = threading.Thread(target=lambda: ask(tandem), daemon=True)
        asking.start()
        wait_until(lambda: cloud.requests, what="the request")
        tandem.process.kill()
        tandem.ended()
        tandem.config.parent.mkdir(exist_ok=True)
        tandem.config.write_text(config)
        code, out, err = run("egress", "show", "--json", env=environment)
        equal(code, 0, err)
        digest = hashlib.sha256(cloud.requests[0]["body"]).hexdigest()
        equal([entry["sha256"] for entry in json.loads(out)["transfers"]], [digest])
    finally:
        tandem.stop()
        shutil.rmtree(folder)


def ask(tandem):
    try:
        tandem.chat("Slow?", CLOUD)
    except OSError:
        pass  # the server is killed


@case
def test_without_a_record_nothing_leaves():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat("First?", CLOUD).status, 200)
        (tandem.state / "egress" / "entries.jsonl").write_bytes(b"")  # somebody tidies up
        count = len(cloud.requests)
        answer = tandem.chat("Second?", CLOUD)
        assert answer.status >= 500 or answer.status == 403, answer.status
        answer = tandem.chat("Third?", {"x-tandem-mode": "prefer-cloud"})
        equal((answer.status, answer.tandem["tier"]), (200, "local"))
        equal(len(cloud.requests), count, "requests that left")
        assert any("egress_refused" in line for line in tandem.log)


@case
def test_a_record_that_was_removed_refuses():
    cloud = ScriptedCloud(Script(text="Cloud."))
    for what in ("entries.jsonl", "heads.jsonl", "."):
        with server(cloud) as tandem:
            equal(tandem.chat("First?", CLOUD).status, 200)
            taken, away = tandem.state / "egress" / what, tandem.state / "away"
            taken.rename(away)
            count = len(cloud.requests)
            for _ in range(3):
                assert tandem.chat("Second?", CLOUD).status in (403, 500, 502, 503)
            equal(len(cloud.requests), count, f"requests that left without {what}")
            wait_until(
                lambda: any(
                    "egress_refused" in line and "was removed" in line for line in tandem.log
                ),
                what="the reason",
            )
            code, out, err = run("egress", "verify", env=tandem.environment)
            assert code == 1 and "nothing has left yet:" not in err, (out, err)
            away.rename(taken)
            wait_until(
                lambda: tandem.chat("Third?", CLOUD).status == 200,
                what="its use after it was put back",
            )
            assert verdict(tandem)["sound"]


@case
def test_what_a_record_says_does_not_steer_the_terminal():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat("First?", CLOUD).status, 200)
        entries = tandem.state / "egress" / "entries.jsonl"
        entries.write_bytes(entries.read_bytes().replace(b'"127.0.0.1', b'"\\u001b[31m\\u009bred'))
        for command in ("report", "show", "verify"):
            _, out, err = run("egress", command, env=tandem.environment)
            text = out.decode()
            assert command == "verify" or "\ufffd[31m\ufffdred" in text, (command, text, err)
            assert text and not set("\x1b\x9b") & set(text), (command, text)


def forged_row(rows):
    """One that follows: all that somebody without the key can append."""
    last = json.loads(rows[-1])
    body = (
        rows[-1]
        .partition(b',"previous":')[0]
        .replace(b'"seq":%d' % last["seq"], b'"seq":%d' % (last["seq"] + 1))
    )
    body += f',"previous":"{last["hash"]}"'.encode()
    return body + f',"hash":"{hashlib.sha256(body).hexdigest()}"}}\n'.encode()


@case
def test_a_damaged_record_is_refused_at_the_start():
    cloud = ScriptedCloud(Script(text="Cloud."))
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-egress-"))
    config = edge_first(cloud.base_url) + f"ledger:\n  egress: {folder}/record\n"
    entries, exported = folder / "record" / "entries.jsonl", folder / "export.jsonl"
    try:
        with Tandem(config, env=KEY) as tandem:
            equal([tandem.chat(f"Question {i}?", CLOUD).status for i in range(5)], [200] * 5)
        whole = entries.read_bytes()
        rows = whole.splitlines(keepends=True)
        cases = {
            "a byte of the first row": (whole.replace(b'"public"', b'"publik"', 1), 1),
            "a byte of a middle row": (
                b"".join([*rows[:2], rows[2].replace(b"cloud", b"clout"), *rows[3:]]),
                3,
            ),
            "a byte of the last row": (
                b"".join([*rows[:4], rows[4].replace(b"cloud", b"clout")]),
                5,
            ),
            "a removed row": (b"".join(rows[:2] + rows[3:]), 3),
            "a forged row": (whole + forged_row(rows), 6),
        }
        for what, (content, row) in cases.items():
            entries.write_bytes(content)
            try:
                Tandem(config, env=KEY).stop()
            except RuntimeError as error:
                assert "move the folder away" in str(error) and (
                    row == 6 or f"row {row}:" in str(error)
                ), (what, error)
            else:
                raise AssertionError(f"started on a record with {what}")
            exported.write_bytes(b"".join(exported_lines(folder / "record", content)))
            code, says = script_says(exported)
            assert code == 1 and f"row {row}:" in says, (what, says)
            equal(entries.read_bytes(), content, what)  # left as it was
        entries.write_bytes(whole)
        with Tandem(config, env=KEY) as tandem:
            equal(tandem.chat("On it goes?", CLOUD).status, 200)
    finally:
        shutil.rmtree(folder)


def exported_lines(folder, entries):
    """As `tandem egress export` gives it."""
    yield (
        json.dumps(
            {"public_key": (folder / "key.pub").read_text().strip()}, separators=(",", ":")
        ).encode()
        + b"\n"
    )
    yield (folder / "heads.jsonl").read_bytes()
    yield entries


@case
def test_what_is_done_to_the_record_is_found():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        for i in range(5):
            tandem.chat(f"Question {i}?", CLOUD)
        folder = tandem.state / "egress"
        entries, exported = folder / "entries.jsonl", tandem.state / "export.jsonl"
        code, key, _ = run("egress", "key", env=tandem.environment)
        key = key.decode().strip()
        equal((code, len(key)), (0, 64))

        def export():
            equal(run("egress", "export", "-o", exported, env=tandem.environment)[0], 0)

        export()
        assert verdict(tandem, exported, "--key", key)["sound"]
        equal(script_says(exported, key)[0], 0)
        assert not verdict(tandem, exported, "--key", "0" * 64)["sound"]
        equal(script_says(exported, "0" * 64)[0], 1)

        whole = entries.read_bytes()
        rows = whole.splitlines(keepends=True)
        heads = (folder / "heads.jsonl").read_bytes()
        cases = {
            "a flipped byte": (whole.replace(b'"public"', b'"publik"', 3), 1),
            "a removed row": (b"".join(rows[:2] + rows[3:]), 3),
            "two rows exchanged": (b"".join([rows[0], rows[2], rows[1], *rows[3:]]), 2),
            "a cut tail": (b"".join(rows[:3]), 4),
        }
        for what, (content, row) in cases.items():
            entries.write_bytes(content)
            equal(verdict(tandem)["bad_row"], row, what)
            export()
            code, says = script_says(exported, key)
            assert code == 1 and f"row {row}" in says, (what, says)
        entries.write_bytes(whole)
        (folder / "heads.jsonl").write_bytes(heads.replace(b'"count":5', b'"count":4'))
        got = verdict(tandem)
        assert not got["sound"] and "signature" in got["problem"], got
        export()
        equal(script_says(exported, key)[0], 1)
        (folder / "heads.jsonl").write_bytes(heads)
        assert verdict(tandem)["sound"]


def made_anew(rows):
    """The same transfers with another host each, in a chain that holds: all that somebody without
    the key can make."""
    previous = "0" * 64
    for row in rows:
        body = row.partition(b',"previous":')[0].replace(b'"host":"', b'"host":"other.')
        body += f',"previous":"{previous}"'.encode()
        previous = hashlib.sha256(body).hexdigest()
        yield body + f',"hash":"{previous}"}}\n'.encode()


@case
def test_an_exported_file_that_somebody_without_the_key_made_anew_is_found():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        for i in range(4):
            tandem.chat(f"Question {i}?", CLOUD)
        exported = tandem.state / "export.jsonl"
        equal(run("egress", "export", "-o", exported, env=tandem.environment)[0], 0)
        key = run("egress", "key", env=tandem.environment)[1].decode().strip()
        public, head, *rows = exported.read_bytes().splitlines(keepends=True)

        def more(members):
            return head.rstrip(b"}\n") + members + b"}\n"

        of_two = f',"count":2,"hash":"{json.loads(rows[1])["hash"]}"'.encode()
        others = list(made_anew(rows))
        cases = {
            "a head that says less after its signature": [public, more(of_two), *rows[:2]],
            "a head with a word that nobody signed": [public, more(b',"note":"approved"'), *rows],
            "other rows under the head": [public, head, *others],
            "other rows before the head": [public, *others, head],
            "other rows and no head": [public, *others],
        }
        for what, lines in cases.items():
            exported.write_bytes(b"".join(lines))
            for asked in ((), (key,)):
                assert not verdict(tandem, exported, *(["--key", key] if asked else []))["sound"], (
                    what
                )
                equal(script_says(exported, *asked)[0], 1, what)
        exported.write_bytes(b"".join([public, head, *rows]))
        equal(
            (verdict(tandem, exported, "--key", key)["sound"], script_says(exported, key)[0]),
            (True, 0),
        )


@case
def test_a_kept_head_finds_a_record_that_was_put_back():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        code, _, err = run("egress", "head", env=tandem.environment)
        assert code == 1 and "no signed head yet" in err, err
        folder, kept, exported = (
            tandem.state / "egress",
            tandem.state / "kept",
            tandem.state / "export.jsonl",
        )
        equal([tandem.chat(f"Question {i}?", CLOUD).status for i in range(3)], [200] * 3)
        shutil.copytree(folder, tandem.state / "old")
        equal([tandem.chat(f"More {i}?", CLOUD).status for i in range(2)], [200] * 2)
        code, head, err = run("egress", "head", env=tandem.environment)
        equal((code, json.loads(head)["count"]), (0, 5), err)
        kept.write_bytes(head)
        equal(tandem.chat("After it was kept?", CLOUD).status, 200)

        def says():
            equal(run("egress", "export", "-o", exported, env=tandem.environment)[0], 0)
            got, (code, text) = (
                verdict(tandem, "--head", kept),
                script_says(exported, "--head", kept),
            )
            equal(code, 0 if got["sound"] else 1, text)
            return got["sound"], got["bad_row"], "kept head" in text

        equal(says(), (True, None, False))
        for name in ("entries.jsonl", "heads.jsonl"):
            shutil.copy(tandem.state / "old" / name, folder / name)
        assert verdict(tandem)["sound"]  # by itself nothing shows it
        equal(says(), (False, 4, True))
        kept.write_bytes(b"\n")
        code, _, err = run("egress", "verify", "--head", kept, env=tandem.environment)
        assert code == 1 and "no head" in err, err


@case
def test_the_doctor_says_what_it_sent():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        run("doctor", env=tandem.environment)
        equal(
            [
                (entry["purpose"], entry["bytes"], entry["exchange"])
                for entry in shown(tandem)["transfers"]
            ],
            [("health_check", 0, None)],
        )


ELSEWHERE = """
tiers:
  - {{name: local, kind: local}}
  - {{name: near, kind: openai, model: m, place: {place}, allow_http: true, base_url: "http://192.0.2.2:9/v1",
     timeouts: {{connect_ms: 300, first_ms: 300}}}}
routes: [{{name: auto, kind: hybrid, tiers: [local, near]}}]
"""  # 192.0.2.0/24 is for documentation: nobody is there


@case
def test_another_machine_is_never_the_device():
    with Tandem(ELSEWHERE.format(place="device"), wait=False) as tandem:
        equal(tandem.ended(), 1)
        said = "".join(tandem.log)
        assert (
            "tandem.yaml:4: tier 'near' is elsewhere" in said and "write place: premises" in said
        ), said
        code, out, err = run("doctor", env=tandem.environment)
        assert code == 1 and "place: device is only for 127.0.0.1" in flat(out.decode()) + err, (
            out,
            err,
        )


@case
def test_what_the_premises_may_see_no_proxy_sees():
    for place, seen in (("premises", False), ("cloud", True)):
        proxy = ScriptedCloud(Script(status=503))
        address = f"http://127.0.0.1:{proxy.port}"
        with Tandem(
            ELSEWHERE.format(place=place), env={"http_proxy": address, "ALL_PROXY": address}
        ) as tandem:
            tandem.chat("Write an essay about CANARY-7", CLOUD, model="near")
            _code, out, _err = run("doctor", "--offline", env=tandem.environment)
        equal(b"CANARY-7" in proxy.received, seen, place)
        sees = "public, sensitive, contractual" if place == "premises" else "public"
        assert f"place {place} as configured, sees {sees} data" in flat(out.decode()), out


PINNED = """
tiers:
  - {{name: local, kind: local}}
  - {{name: right, kind: openai, model: m, base_url: "{url}", ca_file: {cert},
      pinned_key: {next};{now}}}
  - {{name: wrong, kind: openai, model: m, base_url: "{url}", ca_file: {cert}, pinned_key: {next}}}
routes: [{{name: auto, kind: hybrid, tiers: [local, right, wrong]}}]
"""


def pin(key):
    public = subprocess.run(
        ["openssl", "pkey", "-in", key, "-pubout", "-outform", "der"],
        capture_output=True,
        check=True,
    )
    return "sha256//" + base64.b64encode(hashlib.sha256(public.stdout).digest()).decode()


@case
def test_nothing_is_sent_to_a_server_whose_key_is_not_a_pinned_one():
    with tempfile.TemporaryDirectory() as temporary:
        now, coming = certificate(Path(temporary), "now"), certificate(Path(temporary), "next")
        cloud = ScriptedCloud(Script(text="Cloud."), tls=now)
        config = PINNED.format(
            url=cloud.base_url, cert=now[0], now=pin(now[1]), next=pin(coming[1])
        )
        with Tandem(config) as tandem:
            # The pinned connection is kept open: a tier with another pin must not get it.
            equal(tandem.chat("Write an essay about harbours", CLOUD, model="right").text, "Cloud.")
            answer = tandem.chat("Write an essay about CANARY-7", CLOUD, model="wrong")
            assert answer.status >= 500 and "not a pinned one" in answer.body.decode(), answer.body
            equal(len(cloud.requests), 1)
            assert b"CANARY-7" not in cloud.received
            _code, out, err = run("doctor", env=tandem.environment)
            assert (
                f"{cloud.base_url} cannot be reached: 127.0.0.1: the server's public key"
                in flat(out.decode())
            ), (out, err)
            equal(len(cloud.requests), 2)  # the doctor's look at the other tier
            equal(tandem.chat("Write an essay about rivers", CLOUD, model="right").text, "Cloud.")
        cloud.close()


if __name__ == "__main__":
    main()
