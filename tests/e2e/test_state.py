#!/usr/bin/env python3
"""What lies in files: one owner, nothing forgotten that protects somebody, honest when it cannot be
written."""

import http.client
import json
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import ledger_rows
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, Tandem, edge_first, run, wait_until

CLOUD = {"x-tandem-mode": "only-cloud"}
PREFER = {"x-tandem-mode": "prefer-cloud"}
EASY = "Classify the intent: play some music"
CARD = "My card is 4111 1111 1111 1111."


def server(cloud, more="", **env):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", **env})


def later(first):
    """A turn that does not quote what was said before."""
    return [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Write a poem about the sea."},
    ]


def rows(path):
    return dict(ledger_rows(path, "SELECT id, status FROM exchange"))


def not_ready(tandem):
    answer = tandem.get("/readyz")
    return answer.status == 503 and answer.json["reason"]


# --- one owner ---


@case
def test_a_second_server_on_one_state_folder_is_refused_and_told_who_has_it():
    with Tandem() as first:
        begin = time.monotonic()
        second = Tandem(env={"TANDEM_STATE_DIR": first.state}, wait=False)
        code = second.ended(30)
        said = "".join(second.log)
        assert code != 0, said
        assert f"process {first.process.pid}" in said and first.url in said, said
        assert "TANDEM_STATE_DIR" in said and str(first.state) in said, said
        assert time.monotonic() - begin > 2, "an owner that ends is awaited"
        equal(first.chat(EASY).status, 200)
        second.stop()


@case
def test_a_restricted_conversation_stays_here_after_a_second_server_was_tried():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with tempfile.TemporaryDirectory() as state:
        with server(cloud, TANDEM_STATE_DIR=state) as first:
            second = Tandem(
                edge_first(cloud.base_url),
                env={"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": state},
                wait=False,
            )
            time.sleep(1)
            opening = "Let us talk about my bank."
            said = [*later(opening)[:2], {"role": "user", "content": CARD}]
            equal(first.chat(said, PREFER).tandem["data_class"], "restricted")
            second.process.kill()
            second.stop()
            first.process.kill()
            first.ended()
        with server(cloud, TANDEM_STATE_DIR=state) as again:
            answer = again.chat(later(opening), PREFER)
            equal((answer.tandem["data_class"], answer.tandem["tier"]), ("restricted", "local"))
        equal(len(cloud.requests), 0, "requests that left")


@case
def test_a_server_waits_for_one_that_ends_and_takes_over():
    cloud = ScriptedCloud(Script(text="one two three", piece_delay=0.5))
    with server(cloud) as first:
        client = threading.Thread(target=lambda: first.stream("Write a poem.", CLOUD))
        client.start()
        wait_until(lambda: cloud.requests, what="request at the cloud")
        first.process.send_signal(signal.SIGTERM)
        with server(cloud, TANDEM_STATE_DIR=first.state) as second:
            equal(second.chat(EASY).status, 200)
            client.join()
            equal(first.ended(10), 0)


@case
def test_what_a_killed_server_leaves_behind_holds_nobody_up():
    begin = time.monotonic()
    with Tandem() as first:
        usual = time.monotonic() - begin
        first.process.kill()
        first.ended()
        assert (first.state / "server.lock").exists()
        begin = time.monotonic()
        with Tandem(env={"TANDEM_STATE_DIR": first.state}) as second:
            equal(second.chat(EASY).status, 200)
            assert not any("state_awaited" in line for line in second.log), second.log
        assert time.monotonic() - begin < 20 + 10 * usual


@case
def test_chat_beside_a_server_changes_only_the_ledger_and_the_egress_record():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        consent = {"scope": "*", "user": "anna", "expires": int(time.time()) + 3600}
        equal(tandem.request("POST", "/tandem/v1/consents", consent).status, 200)
        tandem.chat(EASY, user="anna")

        def files():
            return {
                path.relative_to(tandem.state): (path.stat().st_ino, path.read_bytes())
                for path in tandem.state.rglob("*")
                if path.is_file()
                and path.parent.name != "egress"
                and not path.name.startswith(("ledger.db", "watch.json", "tandem.yaml"))
            }

        before = files()
        assert {str(path) for path in before} >= {"consents.json", "classes.bin", "server.lock"}
        zero = tandem.state / "zero.yaml"  # would hash the names in the consents
        zero.write_text(tandem.config.read_text() + "privacy: {zero_retention: true}\n")
        for config in (tandem.config, zero):
            env = {**tandem.environment, "TANDEM_CONFIG": str(config)}
            code, _, err = run("chat", EASY, env=env)
            equal(code, 0, err)
        zero.unlink()
        after = files()
        equal(sorted(before), sorted(after), "files")
        for path in before:
            equal(after[path] == before[path], True, f"{path} is as it was")
        assert tandem.chat("Second?", CLOUD).status == 200


@case
def test_chat_that_was_begun_first_does_not_bar_a_server_from_its_files():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as first:
        equal(first.chat(EASY, user="anna").status, 200)
        first.process.send_signal(signal.SIGTERM)
        first.ended()
        chat = subprocess.Popen(
            [str(BINARY), "chat"],
            env=first.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert chat.stdin and chat.stdout
        chat.stdin.write(EASY.encode() + b"\n")
        chat.stdin.flush()
        assert chat.stdout.readline()
        with server(cloud, TANDEM_STATE_DIR=first.state) as second:
            memory = first.state / "consistency.bin"
            before = memory.read_bytes()
            second.chat("What is the capital of France?", user="bert")
            wait_until(lambda: memory.read_bytes() != before, what="what the server keeps")
            assert not any("in_memory" in line for line in second.log), second.log
        chat.stdin.close()
        equal(chat.wait(20), 0)


@case
def test_forget_beside_a_server_that_does_not_answer_says_who_has_the_files():
    with Tandem(env={"TANDEM_LISTEN": "127.0.0.1:0"}) as tandem:
        code, _, err = run("forget", "anna", env=tandem.environment)
        assert code != 0 and "a server is running" in err, err
        assert f"process {tandem.process.pid}" in err, err


@case
def test_two_servers_do_not_share_a_file_of_vaults():
    key = "11" * 32
    with tempfile.TemporaryDirectory() as folder:
        config = (
            "privacy:\n  pseudonyms:\n    vault:\n"
            f"      file: {folder}/vaults\n      key_env: VAULT_KEY\n"
        )
        with Tandem(config, env={"VAULT_KEY": key}) as first:
            second = Tandem(config, env={"VAULT_KEY": key}, wait=False)
            code = second.ended(30)
            said = "".join(second.log)
            assert code != 0 and f"process {first.process.pid}" in said, said
            second.stop()


@case
def test_a_lock_that_was_removed_is_taken_again():
    with Tandem() as first:
        (first.state / "server.lock").unlink()
        wait_until(lambda: (first.state / "server.lock").exists(), what="the lock")
        second = Tandem(env={"TANDEM_STATE_DIR": first.state}, wait=False)
        code = second.ended(30)
        assert code != 0 and first.url in "".join(second.log), second.log
        second.stop()
        equal(first.get("/readyz").status, 200)


# --- the memory of classes ---


@case
def test_a_flood_of_restricted_conversations_pushes_nobody_out():
    cloud = ScriptedCloud(Script(text="Cloud."))
    opening = "Let us talk about my bank."
    victim = {"Authorization": "Bearer victim-key-0123456789"}
    attacker = {"Authorization": "Bearer attacker-key-0123456789"}
    more = "server: {api_keys_env: KEYS}\nprivacy: {conversations_max: 32}\n"
    keys = "victim-key-0123456789,attacker-key-0123456789"
    with tempfile.TemporaryDirectory() as state:
        for restart in range(2):
            with server(cloud, more, TANDEM_STATE_DIR=state, KEYS=keys) as tandem:
                if restart == 0:
                    said = [*later(opening)[:2], {"role": "user", "content": CARD}]
                    equal(
                        tandem.chat(said, {**PREFER, **victim}).tandem["data_class"], "restricted"
                    )
                    for i in range(100):
                        equal(
                            tandem.chat(f"{i} {CARD}", {**PREFER, **attacker}, max_tokens=1).tandem[
                                "data_class"
                            ],
                            "restricted",
                        )
                answer = tandem.chat(later(opening), {**PREFER, **victim})
                equal((answer.tandem["data_class"], answer.tandem["tier"]), ("restricted", "local"))
        equal(len(cloud.requests), 0, "requests that left")


@case
def test_what_the_memory_gave_up_counts_as_restricted_when_it_goes_on():
    cloud = ScriptedCloud(Script(text="Cloud."))
    restricted = {**PREFER, "x-tandem-data-class": "restricted"}
    with tempfile.TemporaryDirectory() as state:
        for restart in range(2):
            with server(
                cloud, "privacy: {conversations_max: 16}\n", TANDEM_STATE_DIR=state
            ) as tandem:
                if restart == 0:
                    for i in range(60):
                        tandem.chat(f"Our merger plan {i}.", restricted, max_tokens=1)
                    assert any("classes_full" in line for line in tandem.log), tandem.log
                for i in range(0, 60, 7):
                    answer = tandem.chat(later(f"Our merger plan {i}."), PREFER, max_tokens=1)
                    equal(
                        (answer.tandem["data_class"], answer.tandem["tier"]),
                        ("restricted", "local"),
                        f"conversation {i}",
                    )
                equal(len(cloud.requests), restart, "requests that left")
                answer = tandem.chat("What is the sea?", PREFER)
                equal(answer.tandem["tier"], "cloud", "a conversation that begins")


# --- what cannot be written ---


@case
def test_a_failed_egress_record_is_not_the_tiers_fault():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat("First?", CLOUD).status, 200)
        kept, away = tandem.state / "egress" / "entries.jsonl", tandem.state / "away"
        kept.rename(away)
        for _ in range(5):
            answer = tandem.chat("Second?", CLOUD)
            equal((answer.status, answer.json["error"]["code"]), (500, "internal_error"))
            assert str(tandem.state) not in answer.body.decode(), answer.body
            assert "could not be reached" not in answer.body.decode(), answer.body
        reason = tandem.chat("Third?", PREFER).tandem["disclosure"]
        assert "tier cloud was not asked" in reason, reason
        wait_until(lambda: not_ready(tandem), what="the fault to be noticed")
        away.rename(kept)
        answer = tandem.chat("Fourth?", CLOUD)
        equal(answer.status, 200, answer.body.decode())  # it does not rest
        wait_until(lambda: tandem.get("/readyz").status == 200, what="readiness")


@case
def test_a_ledger_that_was_removed_is_noticed_and_what_was_held_is_written_at_the_end():
    with Tandem() as tandem:
        path = tandem.state / "ledger.db"
        before = tandem.chat(EASY).tandem["exchange"]
        wait_until(lambda: before in rows(path), what="the first row")
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            (tandem.state / name).unlink()
        wait_until(lambda: not_ready(tandem), what="the fault to be noticed")
        reason = not_ready(tandem)
        assert "ledger" in reason and str(tandem.state) not in reason, reason
        held = tandem.chat(EASY).tandem["exchange"]
        assert any("storage_failed" in line and "removed" in line for line in tandem.log)
        assert not path.exists(), "nobody is to take a new ledger for the old one"
        tandem.process.send_signal(signal.SIGTERM)
        equal(tandem.ended(), 0)
        equal(rows(path), {held: "ok"})


@case
def test_a_ledger_that_was_moved_and_comes_back_goes_on():
    with Tandem() as tandem:
        path, away = tandem.state / "ledger.db", tandem.state / "away.db"
        path.rename(away)
        wait_until(lambda: not_ready(tandem), what="the fault to be noticed")
        held = tandem.chat(EASY).tandem["exchange"]
        away.rename(path)
        wait_until(lambda: tandem.get("/readyz").status == 200, what="readiness")
        wait_until(lambda: held in rows(path), what="the row that was held")


@case
def test_another_ledger_in_its_place_is_written():
    with Tandem() as other:
        other.chat(EASY)
        other.process.send_signal(signal.SIGTERM)
        other.ended()
        with Tandem() as tandem:
            tandem.chat(EASY)
            wait_until(lambda: rows(tandem.state / "ledger.db"), what="the first row")
            for name in ("ledger.db-wal", "ledger.db-shm"):
                (tandem.state / name).unlink()
            (other.state / "ledger.db").rename(tandem.state / "ledger.db")
            fresh = tandem.chat(EASY).tandem["exchange"]
            wait_until(lambda: fresh in rows(tandem.state / "ledger.db"), what="its row")
            equal(tandem.get("/readyz").status, 200)


@case
def test_a_classes_file_that_was_removed_is_written_again():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        said = [*later("Our plan.")[:2], {"role": "user", "content": CARD}]
        tandem.chat(said, PREFER)
        (tandem.state / "classes.bin").unlink()
        wait_until(lambda: (tandem.state / "classes.bin").exists(), what="the file")
        wait_until(lambda: tandem.get("/readyz").status == 200, what="readiness")
        tandem.process.kill()
        tandem.ended()
        with server(cloud, TANDEM_STATE_DIR=tandem.state) as again:
            equal(again.chat(later("Our plan."), PREFER).tandem["tier"], "local")


@case
def test_a_file_at_its_limit_kills_nothing_and_is_noticed():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat("First?", CLOUD).status, 200)
        wait_until(lambda: rows(tandem.state / "ledger.db"), what="the first row")
        resource.prlimit(tandem.process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        equal(tandem.chat("Second?", CLOUD).status, 500)
        sensitive = {"x-tandem-mode": "only-local", "x-tandem-data-class": "sensitive"}
        equal(tandem.chat("Our plan.", sensitive).status, 200)
        wait_until(lambda: not_ready(tandem), what="the fault to be noticed")
        held = tandem.chat(EASY).tandem["exchange"]
        count = len(cloud.requests)
        resource.prlimit(
            tandem.process.pid,
            resource.RLIMIT_FSIZE,
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
        )
        wait_until(lambda: tandem.get("/readyz").status == 200, what="readiness")
        wait_until(lambda: held in rows(tandem.state / "ledger.db"), what="the row that was held")
        equal(tandem.chat("Third?", CLOUD).status, 200)
        equal(len(cloud.requests), count + 1)
        code, out, err = run("egress", "verify", "--json", env=tandem.environment)
        equal((code, json.loads(out)["sound"]), (0, True), err)


# --- the record and the answer agree ---


@case
def test_an_answer_that_cannot_be_given_is_recorded_as_failed():
    cloud = ScriptedCloud(Script(text="word " * 20000))
    with server(cloud, "server: {answer_bytes_max: 65536}\n") as tandem:
        whole = tandem.chat("Long?", CLOUD)
        equal((whole.status, whole.json["error"]["code"]), (500, "answer_too_large"))
        body = {"model": "auto", "input": "Long?"}
        text = tandem.request("POST", "/v1/responses", body, CLOUD)
        equal((text.status, text.json["error"]["code"]), (500, "answer_too_large"))
        cloud.script = Script(text="Short.")
        equal(tandem.chat("Short?", CLOUD).text, "Short.")
        ledger = tandem.state / "ledger.db"
        wait_until(lambda: len(rows(ledger)) == 3, what="the rows")
        equal(sorted(rows(ledger).values()), ["failed", "failed", "ok"])
        code, out, err = run("explain", whole.headers["x-tandem-exchange"], env=tandem.environment)
        assert code == 0 and b"not given: answer_too_large" in out, (out, err)


DURABLE = "ledger: {durable: answer}\n"


def answered_until_killed(tandem, after):
    """Ids of the answers that came whole, streamed and not, before a kill -9 so long after the
    first ones."""
    ids, lock, stop = [], threading.Lock(), threading.Event()

    def ask(stream):
        while not stop.is_set():
            try:
                if stream:
                    _, headers, _, done = tandem.stream(EASY, max_tokens=4)
                else:
                    answer = tandem.chat(EASY, max_tokens=4)
                    headers, done = answer.headers, answer.status == 200
            except (OSError, http.client.HTTPException, AssertionError, ValueError, KeyError):
                return
            if done:
                with lock:
                    ids.append(headers["x-tandem-exchange"])

    clients = [threading.Thread(target=ask, args=(i % 2 == 0,)) for i in range(6)]
    for client in clients:
        client.start()
    wait_until(lambda: len(ids) > 5, what="the first answers")
    time.sleep(after)
    tandem.process.kill()
    stop.set()
    for client in clients:
        client.join()
    tandem.ended()
    return ids


@case
def test_with_durable_answers_every_answer_that_came_is_on_record_after_a_kill():
    for after in (0.2, 0.35, 0.5):
        with Tandem(DURABLE) as tandem:
            ids = answered_until_killed(tandem, after)
            missing = set(ids) - set(rows(tandem.state / "ledger.db"))
            equal(missing, set(), f"lost of {len(ids)}")


@case
def test_with_durable_answers_none_ends_without_a_record_and_the_record_says_so():
    with Tandem(DURABLE) as tandem:
        path = tandem.state / "ledger.db"
        equal(tandem.chat(EASY).status, 200)
        path.rename(tandem.state / "away.db")
        answer = tandem.chat(EASY)
        equal((answer.status, answer.json["error"]["code"]), (503, "no_tier_available"))
        assert "could not be recorded" in answer.json["error"]["message"], answer.body
        _, _, chunks, _ = tandem.stream(EASY)
        assert "could not be recorded" in chunks[-1]["error"]["message"], chunks
        (tandem.state / "away.db").rename(path)
        wait_until(lambda: tandem.get("/readyz").status == 200, what="readiness")
        last = tandem.chat(EASY)
        equal(last.status, 200)
        found = rows(path)
        equal(found[last.tandem["exchange"]], "ok")
        equal(sorted(found.values()), ["failed", "failed", "ok", "ok"])


@case
def test_with_durable_answers_a_client_that_leaves_leaves_nothing_behind():
    cloud = ScriptedCloud(Script(text="one two three", piece_delay=0.05))
    with server(cloud, DURABLE) as tandem:
        for _ in range(30):
            with socket.create_connection(("127.0.0.1", tandem.port)) as connection:
                body = json.dumps(
                    {
                        "model": "auto",
                        "messages": [{"role": "user", "content": "hi"}],
                        "stream": True,
                    }
                )
                connection.sendall(
                    b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                    b"x-tandem-mode: only-cloud\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(body), body.encode())
                )
                time.sleep(0.1)
        wait_until(lambda: len(rows(tandem.state / "ledger.db")) == 30, what="the rows")
        equal(tandem.chat("hi", CLOUD).status, 200)
        tandem.process.send_signal(signal.SIGTERM)
        equal(tandem.ended(), 0)


if __name__ == "__main__":
    main(at_once=4)
