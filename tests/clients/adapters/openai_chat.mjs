// OpenAI's client for Node, chat completions.
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { about, dataUrl, parameters, sampling, serve, weather } from './speak.mjs';

const client = (ask) => new OpenAI({ baseURL: `${ask.url}/v1`, apiKey: ask.key, maxRetries: 0 });
const request = (ask, content = ask.prompt) => ({
  model: ask.model,
  messages: [{ role: 'user', content }],
  ...sampling(ask),
});
const tool = { type: 'function', function: { name: 'weather', description: about, parameters } };
const Weather = z.object({ city: z.string(), degrees: z.int() });

async function chat(ask, content) {
  const answer = await client(ask).chat.completions.create(request(ask, content));
  return { text: answer.choices[0].message.content };
}

async function stream(ask) {
  const pieces = [];
  const chunks = await client(ask).chat.completions.create({ ...request(ask), stream: true });
  for await (const chunk of chunks) pieces.push(chunk.choices[0]?.delta?.content ?? '');
  return { pieces };
}

async function tools(ask) {
  const [wanted, calls] = [request(ask), []];
  for (;;) {
    const answer = await client(ask).chat.completions.create({ ...wanted, tools: [tool] });
    const { message } = answer.choices[0];
    if (!message.tool_calls?.length) return { text: message.content, calls };
    wanted.messages.push(message);
    for (const call of message.tool_calls) {
      const given = JSON.parse(call.function.arguments);
      calls.push([call.function.name, given]);
      wanted.messages.push({ role: 'tool', tool_call_id: call.id, content: weather(given) });
    }
  }
}

async function structured(ask) {
  const answer = await client(ask).chat.completions.parse({
    ...request(ask),
    response_format: zodResponseFormat(Weather, 'weather'),
  });
  return { value: answer.choices[0].message.parsed };
}

const image = (ask) =>
  chat(ask, [
    { type: 'text', text: ask.prompt },
    { type: 'image_url', image_url: { url: dataUrl(ask) } },
  ]);

async function abort(ask) {
  const chunks = await client(ask).chat.completions.create({ ...request(ask), stream: true });
  for await (const chunk of chunks) {
    const text = chunk.choices[0]?.delta?.content;
    if (!text) continue;
    chunks.controller.abort();
    return { pieces: [text] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
