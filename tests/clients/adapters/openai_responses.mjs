// OpenAI's client for Node, the Responses API. The second turn names the first by its id.
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { about, dataUrl, parameters, sampling, serve, weather } from './speak.mjs';

const client = (ask) => new OpenAI({ baseURL: `${ask.url}/v1`, apiKey: ask.key, maxRetries: 0 });
const request = (ask, input = ask.prompt) => ({ model: ask.model, input, ...sampling(ask) });
const tool = { type: 'function', name: 'weather', description: about, parameters, strict: true };
const Weather = z.object({ city: z.string(), degrees: z.int() });

async function chat(ask, input) {
  return { text: (await client(ask).responses.create(request(ask, input))).output_text };
}

async function stream(ask) {
  const pieces = [];
  const events = await client(ask).responses.create({ ...request(ask), stream: true });
  for await (const event of events)
    if (event.type === 'response.output_text.delta') pieces.push(event.delta);
  return { pieces };
}

async function tools(ask) {
  const calls = [];
  let wanted = { ...request(ask), tools: [tool] };
  for (;;) {
    const answer = await client(ask).responses.create(wanted);
    const input = [];
    for (const item of answer.output.filter(({ type }) => type === 'function_call')) {
      const given = JSON.parse(item.arguments);
      calls.push([item.name, given]);
      const output = weather(given);
      input.push({ type: 'function_call_output', call_id: item.call_id, output });
    }
    if (!input.length) return { text: answer.output_text, calls };
    wanted = { ...wanted, input, previous_response_id: answer.id };
  }
}

async function structured(ask) {
  const text = { format: zodTextFormat(Weather, 'weather') };
  const answer = await client(ask).responses.parse({ ...request(ask), text });
  return { value: answer.output_parsed };
}

function image(ask) {
  const picture = { type: 'input_image', image_url: dataUrl(ask), detail: 'auto' };
  const text = { type: 'input_text', text: ask.prompt };
  return chat(ask, [{ role: 'user', content: [text, picture] }]);
}

async function abort(ask) {
  const events = await client(ask).responses.create({ ...request(ask), stream: true });
  for await (const event of events) {
    if (event.type !== 'response.output_text.delta') continue;
    events.controller.abort();
    return { pieces: [event.delta] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
