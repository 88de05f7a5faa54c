"""Mixed traffic as many clients would send it, from a process of its own, so that nothing else
delays its clock. `python3 ladder_load.py PORT COUNT RATE SEED` writes one JSON line a request."""

import asyncio
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

LATE_MS = 50.0  # what the client's own side may add
TOPICS = [
    "a river",
    "the weather",
    "an alarm",
    "a loan",
    "a garden",
    "a train",
    "a poem",
    "a proof",
]
SECRET = "patient Anna Bergmann, born 1971-03-04"
DIALECTS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}


@dataclass
class Result:
    number: int
    dialect: str
    streamed: bool
    slo_ms: int
    mode: str
    restricted: bool
    status: int = 0
    ms: float = 0.0
    first_ms: float | None = None
    text: str = ""
    exchange: str = ""
    ends: int = 0  # how often the stream said that it was over
    error: str = ""
    corrections: int = 0
    faults: list[str] = field(default_factory=list)  # what is wrong with the answer


def make(number: int, lots: random.Random) -> tuple[Result, dict[str, Any], dict[str, str]]:
    result = Result(
        number=number,
        dialect=lots.choices(list(DIALECTS), [8, 1, 1])[0],
        streamed=lots.random() < 0.6,
        slo_ms=lots.choice([1000, 2000, 4000, 8000]),
        mode=lots.choices(["auto", "prefer-cloud", "only-cloud", "only-local"], [16, 2, 1, 1])[0],
        restricted=lots.random() < 0.1,
    )
    text = f"Request {number}: tell me about {lots.choice(TOPICS)}" + " please" * lots.randrange(40)
    if result.restricted:
        text += f" ({SECRET})"
    tokens = lots.choice([8, 16, 32, 48])
    members: dict[str, Any] = {"model": "auto", "stream": result.streamed}
    if result.dialect == "responses":
        members |= {"input": text, "max_output_tokens": tokens}
    else:
        members |= {"messages": [{"role": "user", "content": text}], "max_tokens": tokens}
    headers = {"x-tandem-mode": result.mode, "x-tandem-slo-ms": str(result.slo_ms)}
    if result.restricted:
        headers["x-tandem-data-class"] = "restricted"
    return result, members, headers


async def send(port: int, result: Result, body: Any, headers: dict[str, str]) -> None:
    payload = json.dumps(body).encode()
    lines = [f"POST {DIALECTS[result.dialect]} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(payload)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    begin = time.perf_counter()
    head, answer, chunks = b"", b"", []
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + payload)
        async with asyncio.timeout(60):
            head = await reader.readuntil(b"\r\n\r\n")
            while data := await reader.read(65536):
                chunks.append((time.perf_counter(), data))
        writer.close()
    except TimeoutError:
        result.faults.append("no end within a minute")
    except (OSError, asyncio.IncompleteReadError) as err:
        result.faults.append(f"connection: {type(err).__name__}")
    result.ms = ((chunks[-1][0] if chunks else time.perf_counter()) - begin) * 1000
    answer = b"".join(data for _, data in chunks)
    if head:
        read(result, head, answer)


def read(result: Result, head: bytes, answer: bytes) -> None:
    result.status = int(head.split(b" ", 2)[1])
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        answer = unchunk(result, answer)
    result.exchange = fields.get(b"x-tandem-exchange", b"").decode()
    if b"event-stream" in fields.get(b"content-type", b""):
        read_stream(result, answer)
        return
    try:
        value = json.loads(answer)
    except ValueError:
        result.faults.append("no JSON")
        return
    if result.status != 200:
        result.error = value.get("error", {}).get("message", "")
        if not result.error:
            result.faults.append("a refusal without words")
        return
    result.ends = 1
    result.text = whole_text(result.dialect, value)
    result.exchange = value.get("tandem", {}).get("exchange", result.exchange)


def unchunk(result: Result, data: bytes) -> bytes:
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        count = int(size or b"0", 16)
        if count == 0:
            return out
        out, data = out + data[:count], data[count + 2 :]
    result.faults.append("cut in the middle")
    return out


def whole_text(dialect: str, value: dict[str, Any]) -> str:
    if dialect == "chat":
        return value["choices"][0]["message"]["content"] or ""
    blocks = value["content"] if dialect == "messages" else value["output"]
    if dialect == "responses":
        blocks = [part for item in blocks for part in item.get("content", [])]
    return "".join(block.get("text", "") for block in blocks)


def read_stream(result: Result, answer: bytes) -> None:
    for event in answer.split(b"\n\n"):
        data = b"".join(line[6:] for line in event.split(b"\n") if line.startswith(b"data: "))
        if data == b"[DONE]":
            result.ends += result.dialect == "chat"
            continue
        if not data:
            continue
        value = json.loads(data)
        tandem = value.get("tandem") or {}
        result.exchange = tandem.get("exchange", result.exchange)
        if "correction" in tandem:
            result.corrections += 1
        error = value.get("error") or (value.get("response") or {}).get("error")
        if error:
            result.error = error.get("message", "?")
            result.ends += result.dialect != "chat"
        kind = value.get("type", "")
        result.ends += kind in ("message_stop", "response.completed", "response.incomplete")
        for choice in value.get("choices", []):
            result.text += choice["delta"].get("content") or ""
        if kind == "content_block_delta":
            result.text += value["delta"].get("text", "")
        if kind == "response.output_text.delta":
            result.text += value["delta"]
    if result.ends != 1:
        result.faults.append(f"{result.ends} ends of a stream")


async def main() -> None:
    port, count, rate, seed = (float(word) for word in sys.argv[1:5])
    lots = random.Random(int(seed))
    running = set()
    begin = time.perf_counter()
    at = 0.0
    for number in range(int(count)):
        at += lots.expovariate(rate)
        result, body, headers = make(number, lots)
        await asyncio.sleep(max(0.0, begin + at - time.perf_counter()))
        task = asyncio.create_task(send(int(port), result, body, headers))
        running.add(task)

        def done(task: asyncio.Task, result: Result = result) -> None:
            running.discard(task)
            print(json.dumps(asdict(result)), flush=True)

        task.add_done_callback(done)
    while running:
        await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(main())
