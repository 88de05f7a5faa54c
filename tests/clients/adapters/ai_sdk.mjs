// Vercel's AI SDK; its provider is named on the command line.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { about, parameters, schema, serve, weather } from './speak.mjs';

const providers = {
  openai: (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }),
  anthropic: (baseURL, apiKey) => createAnthropic({ baseURL, apiKey }),
  compatible: (baseURL, apiKey) =>
    createOpenAICompatible({
      name: 'tandem',
      baseURL,
      apiKey,
      supportsStructuredOutputs: true,
    }),
};
const provider = (ask) => providers[process.argv[2]](`${ask.url}/v1`, ask.key);
const request = (ask) => ({
  model: provider(ask)(ask.model),
  prompt: ask.prompt,
  maxRetries: 0,
  ...(ask.top_p == null ? {} : { topP: ask.top_p }),
});

async function chat(ask) {
  return { text: (await generateText(request(ask))).text };
}

async function stream(ask) {
  const pieces = [];
  let failed;
  const result = streamText({ ...request(ask), onError: ({ error }) => (failed = error) });
  for await (const text of result.textStream) pieces.push(text);
  if (failed) throw failed;
  return { pieces };
}

// The second turn is the SDK's own step; with OpenAI's provider it sends references to items.
async function tools(ask) {
  const calls = [];
  const execute = async (given) => {
    calls.push(['weather', given]);
    return weather(given);
  };
  const { text } = await generateText({
    ...request(ask),
    tools: {
      weather: tool({ description: about, inputSchema: jsonSchema(parameters), execute }),
    },
    stopWhen: stepCountIs(3),
  });
  return { text, calls };
}

async function structured(ask) {
  const output = Output.object({ schema: jsonSchema(schema) });
  const { output: value } = await generateText({ ...request(ask), output });
  return { value };
}

async function image(ask) {
  const { prompt, ...rest } = request(ask);
  const content = [
    { type: 'text', text: prompt },
    { type: 'image', image: ask.image_base64, mediaType: 'image/png' },
  ];
  const messages = [{ role: 'user', content }];
  return { text: (await generateText({ ...rest, messages })).text };
}

async function abort(ask) {
  const control = new AbortController();
  const result = streamText({ ...request(ask), abortSignal: control.signal, onError() {} });
  for await (const text of result.textStream) {
    control.abort();
    return { pieces: [text] };
  }
}

await serve({ chat, stream, tools, structured, image, abort });
