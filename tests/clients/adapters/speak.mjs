// What the adapters of Node clients share: speak.py in the other language.
import { createInterface } from 'node:readline';
import { writeSync } from 'node:fs';

export const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
export const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
export const about = 'The weather in a city.';
export const weather = ({ city }) => `Rain in ${city}.`;
export const dataUrl = (ask) => `data:image/png;base64,${ask.image_base64}`;
export const sampling = (ask) => (ask.top_p == null ? {} : { top_p: ask.top_p });

function classes(error) {
  const names = [error?.name];
  for (let at = error; at; at = Object.getPrototypeOf(at)) names.push(at.constructor?.name);
  return names;
}

const fault = (error) => ({
  classes: classes(error),
  status: error?.status ?? error?.statusCode ?? error?.status_code ?? null,
  message: String(error?.message).slice(0, 2000),
  trace: String(error?.stack).slice(0, 3000),
});

export async function serve(abilities) {
  console.log = console.info = console.warn = console.error;
  for await (const line of createInterface({ input: process.stdin })) {
    const ask = JSON.parse(line);
    const run = abilities[ask.ability];
    let said;
    try {
      said = run ? await run(ask) : { cannot: true };
    } catch (error) {
      said = { error: fault(error) };
    }
    writeSync(1, `${JSON.stringify(said)}\n`);
  }
  process.exit(0);
}
