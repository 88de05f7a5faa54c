// Ollama's own library for Node.
import { Ollama } from 'ollama';
import { about, parameters, sampling, schema, serve, weather } from './speak.mjs';

const client = (ask) =>
  new Ollama({ host: ask.url, headers: { authorization: `Bearer ${ask.key}` } });
const request = (ask, more) => ({
  model: ask.model,
  messages: [{ role: 'user', content: ask.prompt, ...more }],
  options: sampling(ask),
});
const tool = { type: 'function', function: { name: 'weather', description: about, parameters } };

async function chat(ask, more) {
  return { text: (await client(ask).chat(request(ask, more))).message.content };
}

async function stream(ask) {
  const pieces = [];
  const parts = await client(ask).chat({ ...request(ask), stream: true });
  for await (const part of parts) pieces.push(part.message.content);
  return { pieces };
}

async function tools(ask) {
  const [wanted, calls] = [request(ask), []];
  for (;;) {
    const { message } = await client(ask).chat({ ...wanted, tools: [tool] });
    if (!message.tool_calls?.length) return { text: message.content, calls };
    wanted.messages.push(message);
    for (const call of message.tool_calls) {
      calls.push([call.function.name, call.function.arguments]);
      const content = weather(call.function.arguments);
      wanted.messages.push({ role: 'tool', tool_name: call.function.name, content });
    }
  }
}

async function structured(ask) {
  const answer = await client(ask).chat({ ...request(ask), format: schema });
  return { value: JSON.parse(answer.message.content) };
}

const image = (ask) => chat(ask, { images: [ask.image_base64] });

async function abort(ask) {
  const parts = await client(ask).chat({ ...request(ask), stream: true });
  for await (const part of parts) {
    parts.abort();
    return { pieces: [part.message.content] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
