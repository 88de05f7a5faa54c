#!/usr/bin/env python3
"""What a model takes in memory is known before it is loaded, and given back when it is short."""

import contextlib
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from tandem import BINARY, NANO, Tandem, clean_environment, run, status_of, wait_until

MEASURES = ("kv_pages", "memory_bytes")


def peak_bytes(*arguments):
    """The most that a command had in memory, as its kernel counted while it ran."""
    peak = 0
    with subprocess.Popen(
        [str(BINARY), *arguments], stdout=subprocess.DEVNULL, env=clean_environment()
    ) as process:
        while process.poll() is None:
            with contextlib.suppress(OSError, KeyError, ValueError):
                status = status_of(Path(f"/proc/{process.pid}/status"))
                if "tandem" in status["Name"]:
                    peak = max(peak, int(status["VmHWM"].split()[0]) * 1024)
            time.sleep(0.002)
    equal(process.returncode, 0, " ".join(arguments)[:80])
    return peak


def check_estimate(model):
    code, out, err = run("models", "info", str(model), "--json")
    equal(code, 0, err)
    info = json.loads(out)
    # A prompt that fills the context but for the answer.
    count = info["memory_context_tokens"] - 100
    ids = ",".join(str(300 + number % 3000) for number in range(count))
    for cache in info["kv_caches"]:
        options = ["--kv-type", cache["type"], "--ignore-eos", "-n", "90", "--ids", ids]
        peak, estimate = peak_bytes("generate", "-m", str(model), *options), cache["process_bytes"]
        name = f"{model.name} {cache['type']}"
        print(f"  {name}: estimated {estimate / 1e6:.1f} MB, was {peak / 1e6:.1f} MB")
        assert abs(estimate - peak) <= 0.1 * peak, (cache["type"], estimate, peak)


@case
def test_the_estimate_of_a_process_is_within_a_tenth_of_what_it_takes():
    check_estimate(NANO)


@case
def test_the_context_that_a_model_could_have_is_not_counted_where_it_is_not_opened():
    with tempfile.TemporaryDirectory() as folder:
        wide, data = Path(folder) / "wide.gguf", bytearray(NANO.read_bytes())
        value = data.index(b".context_length") + len(".context_length") + 4
        struct.pack_into("<I", data, value, 131072)
        wide.write_bytes(data)
        check_estimate(wide)


def metric(tandem, name):
    found = re.search(rf"^{name} ([0-9.e+]+)$", tandem.get("/metrics").body.decode(), re.MULTILINE)
    return float(found.group(1))


def filled_server(engine, model, slots, context):
    """The memory of a server whose contexts are full, the engine's estimate of its part, and the
    most answers that ran at once."""

    def fill(number):
        ids = [300 + (number * 997 + at * (number + 1)) % 3000 for at in range(context - 40)]
        body = {"model": "auto", "prompt": ids, "max_tokens": 32, "ignore_eos": True}
        asked = tandem.request(
            "POST", "/v1/completions", body, {"x-tandem-mode": "only-local"}, timeout=240
        )
        equal(asked.status, 200, asked.body.decode())

    running = []
    config = f"engine: {{slots: {slots}, context_tokens: {context}, {engine}}}\n"
    with Tandem(config, env={"TANDEM_MODEL": str(model)}) as tandem:
        with ThreadPoolExecutor(slots) as pool:
            answers = [pool.submit(fill, number) for number in range(slots)]
            while not all(answer.done() for answer in answers):
                running.append(metric(tandem, "tandem_engine_running"))
                time.sleep(0.01)
            for answer in answers:
                answer.result()
        return tandem.rss_bytes(), metric(tandem, "tandem_engine_memory_bytes"), max(running)


@case
def test_the_estimate_of_a_server_is_within_a_tenth_of_what_it_takes():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "one.gguf"  # beside the default model stands one for tools
        shutil.copy(NANO, model)
        taken, estimate, _ = filled_server("kv_type: f16", model, 1, 1024)
        own = taken - estimate  # program, tables, connections: not the engine's
        for engine, slots, context, at_once in (
            ("kv_type: f16", 8, 2048, 8),
            ("kv_type: q8_0", 4, 2048, 4),
            # Pages for two contexts: no more than two are let in, and the others wait.
            ("kv_type: f16, cache_tokens: 2048", 8, 1024, 2),
            (f"speculation: draft, draft_model: {model}", 4, 1024, 4),
        ):
            taken, estimate, running = filled_server(engine, model, slots, context)
            print(f"  {engine}: {(own + estimate) / 1e6:.1f} MB, was {taken / 1e6:.1f} MB")
            assert abs(own + estimate - taken) <= 0.1 * taken, (engine, own, estimate, taken)
            assert abs(estimate - (taken - own)) <= 0.15 * estimate, (engine, own, estimate, taken)
            assert running <= at_once, (engine, running)


@case
def test_short_memory_unloads_the_second_model_until_it_is_wanted_and_there_is_room():
    with tempfile.TemporaryDirectory() as root:
        meminfo = Path(root) / "proc/meminfo"
        for folder in ("proc", "sys/class"):
            (Path(root) / folder).mkdir(parents=True)

        def free(kilobytes, level):
            meminfo.write_text(f"MemTotal: 16000000 kB\nMemAvailable: {kilobytes} kB\n")
            capable = "/tandem/v1/capabilities"
            wait_until(lambda: tandem.get(capable).json["device"]["level"] == level, what=level)

        meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n")
        config = f"engine: {{slots: 4, cache_tokens: 4096}}\ndevice: {{root: {root}}}\n"
        with Tandem(config) as tandem:
            whole, estimate = (metric(tandem, f"tandem_engine_{n}") for n in MEASURES)
            equal(tandem.chat("Say hello.", {"x-tandem-mode": "only-local"}).status, 200)
            free(700000, "warm")
            equal(metric(tandem, "tandem_engine_kv_pages"), whole)
            free(300000, "hot")
            wait_until(lambda: metric(tandem, "tandem_engine_kv_pages") == whole / 2, what="gone")
            assert any("model_unloaded" in line for line in tandem.log), tandem.log
            assert metric(tandem, "tandem_engine_memory_bytes") < estimate
            # What only this device may answer is answered with what is left.
            equal(tandem.chat("Say hello.", {"x-tandem-mode": "only-local"}).status, 200)
            free(9000000, "usual")
            tool = {"type": "function", "function": {"name": "now", "parameters": {}}}
            asked = {"x-tandem-mode": "only-local"}
            equal(tandem.chat("What time is it?", asked, tools=[tool]).status, 200)
            equal(metric(tandem, "tandem_engine_kv_pages"), whole)


main()
