"""OpenAI's client for Python over HTTP/2 (httpx with h2): run by test_python.py inside the
environment that has it."""

import asyncio
import ssl
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import httpx
import openai

from certificates import Authority
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

CLOUD = {"x-tandem-mode": "only-cloud"}
ASKED = {"model": "auto", "messages": [{"role": "user", "content": "Hello"}]}


class Served:
    def __init__(self, script):
        self.cloud = ScriptedCloud(script)
        self.folder = tempfile.TemporaryDirectory()
        authority = Authority(Path(self.folder.name))
        cert, key = authority.issue("server", "IP:127.0.0.1")
        config = f"server: {{tls: {{certificate_file: {cert}, key_file: {key}}}}}\n"
        self.context = ssl.create_default_context(cafile=str(authority.file))
        self.tandem = Tandem(config + edge_first(self.cloud.base_url), env={"TEST_CLOUD_KEY": "k"})
        self.url = f"https://127.0.0.1:{self.tandem.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tandem.stop()
        self.folder.cleanup()

    def options(self, kind):
        http = kind(http2=True, verify=self.context)
        return {
            "base_url": f"{self.url}/v1",
            "api_key": "any",
            "max_retries": 0,
            "default_headers": CLOUD,
            "http_client": http,
        }


@case
def test_httpx_speaks_http2_with_it():
    with Served(Script()) as served, httpx.Client(http2=True, verify=served.context) as client:
        answer = client.get(served.url + "/healthz")
        equal((answer.http_version, answer.json()), ("HTTP/2", {"status": "ok"}))
        answer = client.post(served.url + "/v1/chat/completions", content=b"{")
        equal((answer.http_version, answer.status_code), ("HTTP/2", 400))

        def pieces():
            yield b'{"model": "auto", "messages": [{"role": "user", '
            yield b'"content": "Hello"}]}'

        headers = {**CLOUD, "content-type": "application/json"}
        answer = client.post(served.url + "/v1/chat/completions", content=pieces(), headers=headers)
        equal(answer.status_code, 200, answer.text)


@case
def test_thirty_streams_of_one_connection_are_whole():
    text = "one two three four five six seven eight nine ten"
    with Served(Script(text=text, piece_delay=0.02)) as served:

        async def one(client):
            words = []
            stream = await client.chat.completions.create(**ASKED, stream=True)
            async for chunk in stream:
                if chunk.choices:
                    words.append(chunk.choices[0].delta.content or "")
            return "".join(words)

        async def all_of_them():
            async with openai.AsyncOpenAI(**served.options(httpx.AsyncClient)) as client:
                return await asyncio.gather(*[one(client) for _ in range(30)])

        equal(asyncio.run(all_of_them()), [text] * 30)


@case
def test_a_stream_that_stalls_holds_up_no_other_and_ends_with_its_client():
    with Served(Script(stall_after=2)) as served:
        with openai.OpenAI(**served.options(httpx.Client)) as client:
            stream = client.chat.completions.create(**ASKED, stream=True)
            next(iter(stream))
            served.cloud.script = Script(text="Still here.")
            answer = client.chat.completions.create(**ASKED)
            equal(answer.choices[0].message.content, "Still here.")
            equal(served.cloud.gone_count, 0)
        wait_until(lambda: served.cloud.gone_count == 1, what="the end at the tier")


if __name__ == "__main__":
    main()
