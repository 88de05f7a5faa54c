// The installed package tandem-llm: node use_node.mjs SERVER SERVER_WITH_A_CLOUD MODEL
// Copied beside the folder node_modules into which it was installed.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { APIError, Client, ConnectionFailed, TandemError } from "tandem-llm";
import { Engine } from "tandem-llm/engine";

const [, , server, cloud, model] = process.argv;
const client = new Client({ url: `${server}/v1` });
const savings = "move 20 dollars to my savings";
const schema = {
  type: "object",
  properties: { age: { type: "integer" } },
  required: ["age"],
  additionalProperties: false,
};

let passed = 0;
let failed = 0;

async function test(name, run) {
  try {
    await run();
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n  ${error?.stack ?? error}`);
  }
}

await test("an answer says where it came from", async () => {
  const answer = await client.chat("What is 17 * 23?");
  assert.equal(answer.text, "391");
  assert.equal(answer.decision.place, "device");
  assert.ok(answer.decision.reasons.some((reason) => reason.code === "computed"));
  assert.equal((await client.explain(answer.decision.exchange)).id, answer.decision.exchange);
  await client.feedback(answer.decision.exchange, false, "a test");
});

await test("a stream comes in pieces and says the same", async () => {
  const stream = await new Client({ url: cloud }).stream("Hello.", {
    tandem: { mode: "only-cloud" },
  });
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join(""), stream.text);
  assert.equal(stream.finish, "stop");
  assert.equal(stream.decision.tier, "cloud");
});

await test("a stream can be left", async () => {
  const stream = await new Client({ url: cloud }).stream("Hello.");
  for await (const piece of stream) {
    assert.ok(piece);
    break;
  }
});

await test("labels, vectors and names", async () => {
  const [found] = await client.classify([savings], { set: "intents" });
  assert.equal(found.label, "transfer");
  assert.equal(found.scores.transfer, found.score);
  assert.equal((await client.embed(["one", "two"])).length, 2);
  assert.ok((await client.models()).includes("auto"));
  assert.ok((await client.capabilities()).tiers.length);
});

await test("refusals are errors that say why", async () => {
  await assert.rejects(client.chat("x", { tandem: { modee: "auto" } }), (error) => {
    assert.ok(error instanceof APIError && error instanceof TandemError);
    assert.equal(error.param, "tandem.modee");
    return error.message.includes("did you mean 'mode'");
  });
  await assert.rejects(client.stream("x", { model: "nobody" }), { code: "model_not_found" });
  await assert.rejects(new Client({ url: "http://127.0.0.1:1" }).models(), ConnectionFailed);
  assert.throws(() => new Client({ url: "ftp://here" }), TandemError);
});

await test("a server that talks nonsense or leaves is an error", async () => {
  let say;
  const broken = createServer((_, answer) => say(answer)).listen(0, "127.0.0.1");
  await new Promise((resolve) => broken.once("listening", resolve));
  const asked = new Client({ url: `http://127.0.0.1:${broken.address().port}` });
  const all = async () => {
    for await (const piece of await asked.stream("x")) assert.ok(piece);
  };
  const piece = 'data: {"choices": [{"delta": {"content": "a"}}]}\n\n';
  say = (answer) => answer.write(piece, () => answer.destroy());
  await assert.rejects(all(), ConnectionFailed);
  say = (answer) => answer.end(piece);
  await assert.rejects(all(), ConnectionFailed);
  say = (answer) => answer.end(`${piece}data: {"choices\n\n`);
  await assert.rejects(all(), TandemError);
  say = (answer) => answer.end(`${piece}data: {"error": {"message": "gone", "code": "x"}}\n\n`);
  await assert.rejects(all(), { name: "APIError", code: "x" });
  say = (answer) => answer.end(`data: ${"x".repeat(9 << 20)}`);
  await assert.rejects(all(), /too long/);
  for (const body of ["[]", "nonsense", '"x"', "null"]) {
    say = (answer) => answer.end(body);
    await assert.rejects(asked.chat("x"), TandemError);
  }
  say = (answer) => answer.writeHead(429, { "retry-after": "7" }).end("{}");
  await assert.rejects(asked.chat("x"), { status: 429, retryAfterS: 7 });
  say = (answer) => answer.socket.destroy();
  await assert.rejects(asked.models(), ConnectionFailed);
  broken.close();
  broken.closeAllConnections();
});

await test("the engine answers in this process, and the event loop goes on", async () => {
  const engine = await Engine.open(model);
  assert.ok(engine.info.parameterCount > 1e6 && engine.info.labelSets.includes("intents"));
  let turns = 0;
  const clock = setInterval(() => turns++, 1);
  const whole = await engine.chat("Tell me of the sea.", { maxTokens: 8, temperature: 0 });
  clearInterval(clock);
  assert.ok(turns > 0);
  assert.ok(whole.confidence > 0 && whole.confidence <= 1);
  await engine.chat("What can you do?", { maxTokens: 4 }); // nothing of it stays
  const tokens = engine.stream("Tell me of the sea.", { maxTokens: 8, temperature: 0 });
  let said = "";
  let step = await tokens.next();
  for (; !step.done; step = await tokens.next()) said += step.value;
  assert.equal(said, whole.text);
  assert.deepEqual(step.value, whole);
  assert.equal((await engine.chat("Ann is 7.", { schema, temperature: 0 })).text, '{"age": 7}');
  const cut = await engine.chat("What can you do?", { stop: [whole.text.slice(0, 1)], temperature: 0 });
  assert.equal(cut.finish, "stop");
  const labels = await engine.classify(savings, { set: "intents" });
  assert.equal(Object.keys(labels)[0], "transfer");
  assert.deepEqual(Object.keys(await engine.classify("hello", ["a", "b"])).sort(), ["a", "b"]);
  assert.equal((await engine.embed(["hello"]))[0].length, engine.info.embeddingSize);
  assert.ok(engine.tokenize("hello").length);
  await engine.close();
  await engine.close();
  assert.throws(() => engine.info, { status: "invalid" });
});

await test("calls at once take turns, and a stream can be left", async () => {
  const engine = await Engine.open(model);
  const options = { maxTokens: 4, temperature: 0 };
  const asked = [1, 2, 3].map(() => engine.chat("What can you do?", options));
  const texts = (await Promise.all(asked)).map((one) => one.text);
  assert.deepEqual(texts, [texts[0], texts[0], texts[0]]);
  for await (const piece of engine.stream("Tell me of the sea.", { maxTokens: 400 })) {
    assert.ok(piece);
    break;
  }
  await engine.close();
});

await test("what the engine refuses", async () => {
  await assert.rejects(Engine.open("/nowhere.gguf"), { status: "not_found" });
  await assert.rejects(Engine.open(process.argv[1]), { status: "corrupt" });
  const engine = await Engine.open(model); // and it is not closed: the process still ends well
  const bad = [{ role: "nobody", content: "x" }];
  await assert.rejects(engine.chat(bad), { status: "invalid" });
  await assert.rejects(engine.chat("x", { grammar: "root ::= (" }), { status: "invalid" });
  await assert.rejects(engine.chat("x", { grammar: "", schema: {} }), { status: "invalid" });
  await assert.rejects(engine.chat("word ".repeat(9000), { maxTokens: 1 }), { status: "limit" });
  await assert.rejects(engine.classify("x", { set: "nothing" }), { status: "not_found" });
});

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
