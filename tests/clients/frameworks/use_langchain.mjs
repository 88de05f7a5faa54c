// LangChain's model for Node that speaks OpenAI's API.
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { about, dataUrl, parameters, serve, weather } from '../adapters/speak.mjs';

const Weather = z.object({ city: z.string(), degrees: z.int() });
const tool = { type: 'function', function: { name: 'weather', description: about, parameters } };
const model = (ask) =>
  new ChatOpenAI({
    model: ask.model,
    apiKey: ask.key,
    maxRetries: 0,
    configuration: { baseURL: `${ask.url}/v1` },
    ...(ask.top_p == null ? {} : { topP: ask.top_p }),
  });

const chat = async (ask, wanted = ask.prompt) => ({ text: (await model(ask).invoke(wanted)).text });

async function stream(ask) {
  const pieces = [];
  for await (const chunk of await model(ask).stream(ask.prompt)) pieces.push(chunk.text);
  return { pieces };
}

async function tools(ask) {
  const [messages, calls] = [[new HumanMessage(ask.prompt)], []];
  const bound = model(ask).bindTools([tool]);
  for (;;) {
    const answer = await bound.invoke(messages);
    if (!answer.tool_calls.length) return { text: answer.text, calls };
    messages.push(answer);
    for (const { id, name, args } of answer.tool_calls) {
      calls.push([name, args]);
      messages.push(new ToolMessage({ content: weather(args), tool_call_id: id }));
    }
  }
}

async function structured(ask) {
  return { value: await model(ask).withStructuredOutput(Weather).invoke(ask.prompt) };
}

const image = (ask) =>
  chat(ask, [
    new HumanMessage({
      content: [
        { type: 'text', text: ask.prompt },
        { type: 'image_url', image_url: { url: dataUrl(ask) } },
      ],
    }),
  ]);

async function abort(ask) {
  const control = new AbortController();
  const chunks = await model(ask).stream(ask.prompt, { signal: control.signal });
  for await (const { text } of chunks) {
    if (!text) continue;
    control.abort();
    return { pieces: [text] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
