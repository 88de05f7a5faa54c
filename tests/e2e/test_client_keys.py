#!/usr/bin/env python3
"""Keys that the configuration names: where they are needed, how many count, and what a reload
does."""

import re
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from tandem import Tandem, run, wait_until

KEYS = {"a": "key-of-a", "b": "key-of-b"}


def key(who):
    return {"Authorization": f"Bearer {KEYS[who]}"}


@case
def test_a_reload_reads_names_and_keys_and_the_keys_even_of_a_broken_file():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "keys"
        file.write_text(f"{KEYS['a']}\n{KEYS['b']}\nkey-of-c\n")
        config = f"server: {{api_keys_file: {file}}}\n"
        apps = "apps:\n- {name: z, key_env: Z, tenant: t}\n"
        of_c = {"Authorization": "Bearer key-of-c"}
        apps += "- {name: x, key_env: X, tenant: t}\n- {name: y, key_env: Y, tenant: t}\n"
        with Tandem(config, env={"X": KEYS["a"], "Y": KEYS["b"], "Z": "key-of-c"}) as tandem:
            equal(tandem.get("/metrics", headers=key("a")).status, 403)
            tandem.config.write_text(config + apps)
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(  # now they are one tenant
                lambda: tandem.get("/metrics", headers=key("a")).status == 200, what="the name"
            )
            own = tandem.chat("Hello.", key("a"), max_tokens=2).headers["x-tandem-exchange"]
            equal(tandem.get(f"/tandem/v1/exchanges/{own}", headers=key("b")).status, 200)
            # An application's own key is a key of the server, wherever else it stands.
            equal(tandem.get("/v1/models", headers=of_c).status, 200)
            tandem.config.write_text(config)
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda: tandem.get("/metrics", headers=key("a")).status == 403, what="no names"
            )
            tandem.config.write_text(config + "nonsense: true\n")
            file.write_text(f"{KEYS['a']}\n")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda: tandem.get("/v1/models", headers=key("b")).status == 401, what="the refusal"
            )
            wait_until(lambda: any("config_rejected" in line for line in tandem.log), 60, "a word")


@case
def test_a_reload_is_told_when_all_of_it_is_done():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "keys"
        file.write_text(KEYS["a"])
        config = f"server: {{api_keys_file: {file}}}\n"
        with Tandem(config) as tandem:
            file.write_text("")  # keys are read last, and say so when they cannot be
            for text, event in ((config, "config_reloaded"), ("none: 1\n", "config_rejected")):
                tandem.config.write_text(text)
                tandem.process.send_signal(signal.SIGHUP)
                wait_until(lambda e=event: f"event={e}" in "".join(tandem.log), 60, event)
                told = [line for line in tandem.log if "keys_" in line or "config_re" in line]
                events = [re.search(r"event=(\w+)", line)[1] for line in told]
                equal(events[-2:], ["keys_rejected", event])


@case
def test_a_server_that_others_can_reach_wants_keys_or_a_word():
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TANDEM_STATE_DIR": folder}
        for listen in ("0.0.0.0:0", "[::]:0", ":0"):
            code, _, err = run("serve", "--listen", listen, env=environment)
            assert code != 0 and "server.api_keys_env" in err and "without_keys: true" in err, err
        code, out, _ = run("doctor", env={**environment, "TANDEM_LISTEN": "0.0.0.0:0"})
        assert code == 1 and b"without_keys: true" in out, out
    for config in ("server: {without_keys: true}\n", "server: {api_keys_env: KEYS}\n"):
        environment = {"KEYS": "key-of-a,key-of-b", "TANDEM_LISTEN": "0.0.0.0:0"}
        with Tandem(config, env=environment) as tandem:
            equal(tandem.get("/healthz").status, 200)
            wanted = 401 if "KEYS" in config else 200
            equal(tandem.get("/v1/models").status, wanted)


@case
def test_all_keys_of_a_long_list_count_and_too_many_are_an_error():
    def keys(count):
        return "\n".join(f"key-number-{number}" for number in range(count))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "keys"
        file.write_text(keys(1000))
        with Tandem(f"server: {{api_keys_file: {file}}}\n") as tandem:
            for number in (0, 255, 256, 257, 999):
                headers = {"x-api-key": f"key-number-{number}"}
                equal(tandem.get("/v1/models", headers=headers).status, 200, str(number))
            equal(tandem.get("/v1/models", headers={"x-api-key": "key-number-1000"}).status, 401)
            file.write_text(keys(4097))
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(
                lambda: any("keys_rejected" in line and "4097" in line for line in tandem.log),
                what="the refusal of too many keys",
            )
            equal(tandem.get("/v1/models", headers={"x-api-key": "key-number-999"}).status, 200)
        code, _, err = run(
            "serve",
            env={
                "TANDEM_STATE_DIR": folder,
                "TANDEM_LISTEN": "127.0.0.1:0",
                "TANDEM_CONFIG": str(config_of(Path(folder), file)),
            },
        )
        assert code != 0 and "4097" in err and "4096" in err, err


def config_of(folder, keys):
    file = folder / "tandem.yaml"
    file.write_text(f"server: {{api_keys_file: {keys}}}\n")
    return file


if __name__ == "__main__":
    main()
