// Runs a model file in this process: node local.mjs model.gguf "What can you do?"

import { Engine } from "tandem-llm/engine";

const [, , path, question] = process.argv;
const engine = await Engine.open(path);
console.log(`${engine.info.name}, ${engine.info.parameterCount} parameters`);
const tokens = engine.stream(question, { maxTokens: 64, temperature: 0 });
let step = await tokens.next();
for (; !step.done; step = await tokens.next()) process.stdout.write(step.value);
console.log(`\nconfidence ${step.value.confidence.toFixed(2)}`);
const scores = await engine.classify(question, ["a question", "an order"]);
console.log(`this is ${Object.keys(scores)[0]}`);
await engine.close();
