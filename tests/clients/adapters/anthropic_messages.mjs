// Anthropic's client for Node.
import Anthropic from '@anthropic-ai/sdk';
import { about, parameters, sampling, schema, serve, weather } from './speak.mjs';

const client = (ask) => new Anthropic({ baseURL: ask.url, apiKey: ask.key, maxRetries: 0 });
const request = (ask, content = ask.prompt) => ({
  model: ask.model,
  max_tokens: 200,
  messages: [{ role: 'user', content }],
  ...sampling(ask),
});
const tool = { name: 'weather', description: about, input_schema: parameters };

async function chat(ask, content) {
  return { text: (await client(ask).messages.create(request(ask, content))).content[0].text };
}

async function stream(ask) {
  const pieces = [];
  const events = client(ask).messages.stream(request(ask));
  events.on('text', (text) => pieces.push(text));
  await events.finalMessage();
  return { pieces };
}

async function tools(ask) {
  const [wanted, calls] = [request(ask), []];
  for (;;) {
    const { content } = await client(ask).messages.create({ ...wanted, tools: [tool] });
    const used = content.filter(({ type }) => type === 'tool_use');
    if (!used.length) return { text: content[0].text, calls };
    const results = used.map((block) => {
      calls.push([block.name, block.input]);
      return { type: 'tool_result', tool_use_id: block.id, content: weather(block.input) };
    });
    wanted.messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
}

async function structured(ask) {
  const answer = await client(ask).messages.create({
    ...request(ask),
    output_config: { format: { type: 'json_schema', schema } },
  });
  return { value: JSON.parse(answer.content[0].text) };
}

const image = (ask) =>
  chat(ask, [
    {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: ask.image_base64 },
    },
    { type: 'text', text: ask.prompt },
  ]);

async function abort(ask) {
  const events = await client(ask).messages.create({ ...request(ask), stream: true });
  for await (const event of events) {
    if (event.type !== 'content_block_delta') continue;
    events.controller.abort();
    return { pieces: [event.delta.text] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
