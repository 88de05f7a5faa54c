// Tandem for Node: `Client` asks a server; `Engine` of "tandem-llm/engine" runs a model file here.

export * from "./client.js";
export * from "./errors.js";
export type { Message, Role } from "./messages.js";
