// Vercel's AI SDK with its default OpenAI provider, which uses /v1/responses with `store`. On the
// second turn of a tool call it sends references to the items of the first.
import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const openai = createOpenAI({ baseURL: process.argv[2], apiKey: 'any' });
const weather = tool({
  description: 'The weather in a city.',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
  execute: async ({ city }) => `Rain in ${city}.`,
});
const sent = [];
const asked = (messages) => ({
  model: openai('auto'),
  headers: { 'x-tandem-mode': 'only-cloud' },
  messages,
  tools: { weather },
  stopWhen: stepCountIs(3),
  maxRetries: 0,
  onStepFinish: (step) => sent.push(step.request.body),
});

// The scripted cloud calls the tool, and answers with what it was asked once it has the result.
async function twoTurns(ask) {
  const messages = [{ role: 'user', content: 'What is the weather in Oslo?' }];
  sent.length = 0;
  const first = await ask(messages);
  assert.equal(first.steps, 2);
  messages.push(...first.messages, { role: 'user', content: 'And tomorrow?' });
  const second = await ask(messages);
  const types = JSON.stringify(sent);
  assert.match(types, /item_reference/, 'the SDK sends items again, so this tests nothing');
  assert.ok(second.text.length > 0);
}

const cases = {
  'a tool call over two turns': () =>
    twoTurns(async (messages) => {
      const result = await generateText(asked(messages));
      return {
        steps: result.steps.length,
        text: result.text,
        messages: result.response.messages,
      };
    }),
  'the same as a stream': () =>
    twoTurns(async (messages) => {
      const result = streamText(asked(messages));
      const text = await result.text;
      return {
        steps: (await result.steps).length,
        text,
        messages: (await result.response).messages,
      };
    }),
  'previous_response_id as an option': async () => {
    const first = await generateText({
      model: openai('auto'),
      headers: { 'x-tandem-mode': 'only-cloud' },
      prompt: 'Good morning.',
      maxRetries: 0,
    });
    const { responseId } = first.providerMetadata.openai;
    const second = await generateText({
      model: openai('auto'),
      headers: { 'x-tandem-mode': 'only-cloud' },
      prompt: 'And good night.',
      providerOptions: { openai: { previousResponseId: responseId } },
      maxRetries: 0,
    });
    assert.ok(second.text.length > 0);
  },
};

let passed = 0, failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    passed++;
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.stack}\n${error.responseBody ?? ''}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
