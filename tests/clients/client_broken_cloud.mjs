// What the official client raises when the cloud cuts a stream after text was shown.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "not-needed", maxRetries: 0 });
let failed = 1;
try {
  const stream = await client.chat.completions.create(
    { model: "auto", messages: [{ role: "user", content: "Write a poem." }], stream: true },
    { headers: { "x-tandem-mode": "only-cloud" } });
  for await (const _ of stream);
  console.log("FAIL the stream ended as if it were whole");
} catch (error) {
  if (error instanceof OpenAI.APIError && error.message.includes("cloud")) failed = 0;
  else console.log("FAIL", error);
}
console.log(`${1 - failed} passed, ${failed} failed`);
process.exit(failed);
