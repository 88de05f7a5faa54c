// The official OpenAI client against a running Tandem (base URL in argv). Prints "N passed, N failed".
import OpenAI from "openai";

const [baseURL, mode] = [process.argv[2], process.argv[3]];
const client = new OpenAI({ baseURL, apiKey: "not-needed", maxRetries: 0 });
const EASY = [{ role: "user", content: "Classify the intent: play some music" }];
const HARD = [{ role: "user", content: "Explain in three sentences why the French revolution began." }];
const onlyCloud = { headers: { "x-tandem-mode": "only-cloud" } };

let passed = 0, failed = 0;
async function test(name, body) {
  try {
    await body();
    passed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n`, error);
  }
}
function equal(got, expected, what = "value") {
  if (JSON.stringify(got) !== JSON.stringify(expected))
    throw new Error(`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
}
async function throws(kind, status, body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof kind)) throw new Error(`expected ${kind.name}, got ${error?.constructor?.name}: ${error}`);
    if (status !== undefined) equal(error.status, status, "status");
    return error;
  }
  throw new Error(`expected ${kind.name}, nothing was thrown`);
}

await test("a chat completion", async () => {
  const answer = await client.chat.completions.create({ model: "auto", messages: EASY, temperature: 0 });
  equal(answer.object, "chat.completion");
  equal(answer.choices[0].message, { role: "assistant", content: "play_music", refusal: null });
  equal(answer.choices[0].finish_reason, "stop");
  equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  equal(answer.tandem.tier, "local");
});

await test("headers are readable through withResponse", async () => {
  const { response, request_id } = await client.chat.completions.create({ model: "auto", messages: EASY }).withResponse();
  equal(response.headers.get("x-tandem-tier"), "local");
  if (!request_id) throw new Error("no x-request-id");
});

await test("a stream", async () => {
  const stream = await client.chat.completions.create({
    model: "auto", messages: HARD, stream: true, stream_options: { include_usage: true } });
  let text = "", usage = null, finish = null, id = null;
  for await (const chunk of stream) {
    id ??= chunk.id;
    equal(chunk.id, id, "one id for the whole stream");
    equal(chunk.object, "chat.completion.chunk");
    text += chunk.choices[0]?.delta?.content ?? "";
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  equal(text, "This is the cloud's answer.");
  equal(finish, "stop");
  if (!(usage?.total_tokens > 0)) throw new Error("no usage");
});

await test("the client's stream helper accumulates the same", async () => {
  const runner = client.chat.completions.stream({ model: "auto", messages: EASY, temperature: 0 });
  const final = await runner.finalChatCompletion();
  equal(final.choices[0].message.content, "play_music");
});

await test("logprobs", async () => {
  const answer = await client.chat.completions.create({ model: "auto", messages: EASY, logprobs: true, top_logprobs: 2 });
  const entry = answer.choices[0].logprobs.content[0];
  equal(entry.token, "play_music");
  equal(entry.bytes, [...Buffer.from("play_music")]);
  equal(entry.top_logprobs.length, 2);
});

await test("an aborted stream ends without an error of ours", async () => {
  const stream = await client.chat.completions.create({ model: "auto", messages: HARD, stream: true }, onlyCloud);
  for await (const _ of stream) break;
  stream.controller.abort();
  const answer = await client.chat.completions.create({ model: "auto", messages: EASY });
  equal(answer.choices[0].message.content, "play_music");
});

await test("a bad request is BadRequestError with param", async () => {
  const error = await throws(OpenAI.BadRequestError, 400, () =>
    client.chat.completions.create({ model: "auto", messages: [{ role: "king", content: "x" }] }));
  equal(error.param, "messages[0].role");
  equal(error.type, "invalid_request_error");
});

await test("an unknown model is NotFoundError", async () => {
  const error = await throws(OpenAI.NotFoundError, 404, () =>
    client.chat.completions.create({ model: "no-such-model", messages: EASY }));
  equal(error.code, "model_not_found");
});

await test("restricted data for the cloud only is PermissionDeniedError", async () => {
  await throws(OpenAI.PermissionDeniedError, 403, () => client.chat.completions.create(
    { model: "auto", messages: [{ role: "user", content: "My card is 4111 1111 1111 1111." }] }, onlyCloud));
});

await test("models are listed and found", async () => {
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  for (const id of ["auto", "local", "cloud"]) if (!ids.includes(id)) throw new Error(`${id} is not in ${ids}`);
  equal((await client.models.retrieve("local")).id, "local");
  await throws(OpenAI.NotFoundError, 404, () => client.models.retrieve("none"));
});

await test("embeddings, as the client asks for them (base64) and as numbers", async () => {
  const input = ["set a timer", "play some jazz"];
  const answer = await client.embeddings.create({ model: "auto", input });
  equal(answer.data.map((row) => row.index), [0, 1]);
  const length = Math.hypot(...answer.data[1].embedding);
  if (Math.abs(length - 1) > 1e-4) throw new Error(`a vector of length ${length}`);
  const floats = await client.embeddings.create({ model: "local", input: input[1], encoding_format: "float" });
  const off = Math.max(...floats.data[0].embedding.map((x, i) => Math.abs(x - answer.data[1].embedding[i])));
  if (!(off < 1e-6)) throw new Error(`base64 and float differ by ${off}`);
  if (!(answer.usage.prompt_tokens > floats.usage.prompt_tokens)) throw new Error("no usage");
  const short = await client.embeddings.create({ model: "auto", input, dimensions: 16 });
  equal(short.data[0].embedding.length, 16);
  const error = await throws(OpenAI.BadRequestError, 400, () => client.embeddings.create({ model: "auto", input: "" }));
  equal(error.param, "input");
  await throws(OpenAI.NotFoundError, 404, () => client.embeddings.create({ model: "text-none", input }));
});

await test("completions, whole, scored and streamed", async () => {
  const ask = { model: "auto", prompt: "Classify the intent: play", temperature: 0, logprobs: 2, echo: true };
  const answer = await client.completions.create({ ...ask, max_tokens: 4 });
  equal(answer.object, "text_completion");
  const { text, logprobs, finish_reason } = answer.choices[0];
  equal([text.startsWith(ask.prompt), finish_reason], [true, "length"]);
  equal(logprobs.tokens.length, answer.usage.total_tokens);
  equal(logprobs.token_logprobs[0], null);
  const scored = await client.completions.create({ ...ask, max_tokens: 0 });
  equal(scored.choices[0].text, ask.prompt);
  equal(scored.choices[0].logprobs.token_logprobs, logprobs.token_logprobs.slice(0, answer.usage.prompt_tokens));
  let streamed = "";
  for await (const chunk of await client.completions.create({ ...ask, max_tokens: 4, stream: true }))
    streamed += chunk.choices[0]?.text ?? "";
  equal(streamed, text);
  const error = await throws(OpenAI.BadRequestError, 400, () => client.completions.create({ ...ask, suffix: "x" }));
  equal([error.param, error.code], ["suffix", "unsupported"]);
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
