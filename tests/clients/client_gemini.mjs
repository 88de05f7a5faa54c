// Google's official client for Node (@google/genai) against a running server:
// node client_gemini.mjs http://127.0.0.1:8080/v1
// The tier "cloud" behind the server says what tests/support/scripted_cloud.py says by default.

import { ApiError, GoogleGenAI, Type } from "@google/genai";
import assert from "node:assert/strict";

const ai = new GoogleGenAI({
  apiKey: "any",
  httpOptions: {
    baseUrl: process.argv[2].replace(/\/v1$/, ""),
    headers: { "x-tandem-mode": "only-cloud" },
  },
});

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

await test("a whole answer", async () => {
  const answer = await ai.models.generateContent({
    model: "auto",
    contents: "Hello.",
    config: { systemInstruction: "Be brief.", temperature: 0.2, maxOutputTokens: 50 },
  });
  assert.equal(answer.text, "This is the cloud's answer.");
  assert.equal(answer.candidates[0].finishReason, "STOP");
  assert.ok(answer.usageMetadata.totalTokenCount > 0);
});

await test("a stream", async () => {
  const stream = await ai.models.generateContentStream({ model: "auto", contents: "Hello." });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.equal(chunks.map((chunk) => chunk.text ?? "").join(""), "This is the cloud's answer.");
  assert.ok(chunks.length > 2);
  assert.ok(chunks.at(-1).usageMetadata.totalTokenCount > 0);
});

await test("a chat of two turns", async () => {
  const chat = ai.chats.create({ model: "auto" });
  await chat.sendMessage({ message: "One." });
  const answer = await chat.sendMessage({ message: "Two." });
  assert.equal(answer.text, "This is the cloud's answer.");
  assert.equal(chat.getHistory().length, 4);
});

await test("functions are offered and their answers are read", async () => {
  const weather = {
    name: "weather",
    parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } } },
  };
  const answer = await ai.models.generateContent({
    model: "auto",
    contents: [
      { role: "user", parts: [{ text: "Weather?" }] },
      { role: "model", parts: [{ functionCall: { name: "weather", args: { city: "Oslo" } } }] },
      {
        role: "user",
        parts: [{ functionResponse: { name: "weather", response: { output: "rain" } } }],
      },
    ],
    config: { tools: [{ functionDeclarations: [weather] }] },
  });
  assert.equal(answer.text, "This is the cloud's answer.");
});

await test("tokens, vectors and models", async () => {
  const counted = await ai.models.countTokens({ model: "auto", contents: "One two three." });
  assert.ok(counted.totalTokens > 3);
  const found = await ai.models.embedContent({ model: "auto", contents: ["a b", "c"] });
  assert.equal(found.embeddings.length, 2);
  const names = [];
  for await (const model of await ai.models.list()) names.push(model.name);
  assert.ok(names.includes("models/auto"));
});

await test("an error has its status", async () => {
  for (const method of ["generateContent", "generateContentStream"])
    await assert.rejects(ai.models[method]({ model: "nope", contents: "Hello." }), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 404);
      return true;
    });
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
