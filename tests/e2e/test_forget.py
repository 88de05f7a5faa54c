#!/usr/bin/env python3
"""tandem forget: after it no file and no cache holds anything of the user, others keep theirs, and
the record of what left still verifies."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, workers

STORE = "ledger:\n  store_prompts: true\n"
LONG = "Explain the French revolution again and again, please, " * 6


def stored(tandem):
    return b"".join(path.read_bytes() for path in tandem.state.rglob("*") if path.is_file())


def say(tandem, user, text, mode, **members):
    answer = tandem.chat(text, {"x-tandem-mode": mode}, user=user, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer


@case
def test_a_running_server_forgets_files_and_memory():
    cloud = ScriptedCloud(Script(text="Cloud answer for annacanary."))
    with Tandem(edge_first(cloud.base_url) + STORE, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        exchange = say(tandem, "annalisa", "Tell of annacanary.", "only-cloud").tandem["exchange"]
        say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        again = say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        assert again.json["usage"]["prompt_tokens_details"]["cached_tokens"] > 0, (
            "there is no cache to forget"
        )
        cloud.script = Script(text="Cloud answer.")
        say(tandem, "bob", "Tell of bobcanary.", "only-cloud")
        say(tandem, "annalisa", "My card is 4111 1111 1111 1111.", "auto")
        (worker,) = workers(tandem)
        equal(
            tandem.request(
                "POST",
                "/tandem/v1/feedback",
                {"id": exchange, "ok": True, "comment": "annacomment"},
            ).status,
            200,
        )
        assert tandem.get(f"/tandem/v1/exchanges/{exchange}").json["user"] == "annalisa"

        code, out, err = run(
            "forget", "annalisa", "--json", "--url", tandem.url, env=tandem.environment
        )
        equal(code, 0, err)
        result = json.loads(out)
        equal(
            (result["server"], result["exchanges"], result["comments"], result["caches"]),
            (True, 4, 1, True),
        )
        assert result["texts"] >= 3, result  # the restricted one was never stored
        held = stored(tandem)
        for canary in (b"annacanary", b"annalisa", b"annacomment"):
            assert canary not in held, f"{canary} is still in a file"
        assert b"bobcanary" in held
        fresh = say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        equal(fresh.json["usage"]["prompt_tokens_details"]["cached_tokens"], 0, "computed before")
        equal(fresh.text, again.text)
        say(tandem, "bob", "My card is 4111 1111 1111 1111.", "auto")
        assert worker not in workers(tandem), "the confined worker still knows"
        code, out, _ = run("egress", "verify", "--json", env=tandem.environment)
        verdict = json.loads(out)
        equal((code, verdict["sound"], verdict["transfers"]), (0, True, 2))
        answer = tandem.get(f"/tandem/v1/exchanges/{exchange}").json
        equal((answer["user"], answer.get("prompt"), answer["tier"]), (None, None, "cloud"))


@case
def test_without_a_server_the_file_is_erased():
    import shutil
    import tempfile

    cloud = ScriptedCloud(Script(text="Cloud."))
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-forget-"))
    config = edge_first(cloud.base_url) + STORE + f"  path: {folder}/ledger.db\n"
    try:
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            say(tandem, "annalisa", "Tell of annacanary.", "only-cloud")
            environment = {**tandem.environment, "TANDEM_CONFIG": str(folder / "tandem.yaml")}
        (folder / "tandem.yaml").write_text(config)
        assert b"annacanary" in (folder / "ledger.db").read_bytes()
        code, out, err = run("forget", "annalisa", env=environment)
        equal(code, 0, err)
        assert b"1 exchanges" in out and b"1 stored texts" in out, out
        for path in folder.rglob("ledger.db*"):
            assert (
                b"annacanary" not in path.read_bytes() and b"annalisa" not in path.read_bytes()
            ), path
    finally:
        shutil.rmtree(folder)


@case
def test_bad_requests_to_forget():
    with Tandem() as tandem:
        for body in ({}, {"user": ""}, {"user": 7}, {"user": "x" * 600}, {"user": "a\0b"}):
            equal(tandem.request("POST", "/tandem/v1/forget", body).status, 400, str(body)[:40])
        equal(tandem.request("POST", "/tandem/v1/forget", {"user": "nobody"}).json["exchanges"], 0)
    equal(run("forget")[0], 2)


if __name__ == "__main__":
    main()
