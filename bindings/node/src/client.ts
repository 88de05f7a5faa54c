// A server over HTTP: chats, vectors, labels, and why an answer came from where it came.
// The runtime's fetch is enough, so the client needs no other package.

import { APIError, ConnectionFailed, TandemError } from "./errors.js";
import { asMessages, type Message } from "./messages.js";

const DEFAULT_URL = "http://127.0.0.1:8080";
const BODY_BYTES_MAX = 64 << 20;
const LINE_CHARS_MAX = 8 << 20;

type Json = Record<string, any>;

export interface Reason {
  code: string;
  tier: string | null;
  text: string;
}

/** The `tandem` member of an answer: docs/api.md explains each. */
export interface Decision {
  exchange: string;
  tier: string;
  place: string;
  model: string;
  route: string;
  confidence: number | null;
  data_class: string;
  degraded: boolean;
  disclosure: string | null;
  cost_usd: number;
  egress_bytes: number;
  reasons: Reason[];
  [other: string]: unknown;
}

export interface Answer {
  text: string;
  finish: string;
  decision: Decision;
  message: Json;
  usage: Json;
}

export interface Classified {
  label: string;
  score: number;
  scores: Record<string, number>;
}

/** `tandem` is the request's object of options (mode, data_class, ...); others are members of the
 * request (temperature, max_tokens, tools, ...). */
export interface ChatOptions {
  model?: string;
  tandem?: Json;
  signal?: AbortSignal;
  [member: string]: unknown;
}

export interface ClientOptions {
  /** Default: TANDEM_URL, or http://127.0.0.1:8080. */
  url?: string;
  /** Default: TANDEM_API_KEY. */
  apiKey?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

function parsed(text: string): Json {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new TandemError(`the server's answer is not JSON: ${text.slice(0, 80)}`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new TandemError(`the server's answer is no object: ${text.slice(0, 80)}`);
  return found;
}

function refused(status: number, body: Json, retryAfter: string | null): APIError {
  const said: Json = typeof body.error === "object" && body.error ? body.error : {};
  const wait = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const words = String(said.message ?? body.error ?? "");
  return new APIError(status, words, said.code ?? undefined, said.param ?? undefined, wait);
}

function broken(error: unknown, what: string): TandemError {
  if (error instanceof TandemError) return error;
  const cause = (error as { cause?: { message?: string } }).cause?.message;
  return new ConnectionFailed(`${what}: ${cause ?? (error as Error).message}`, { cause: error });
}

async function* pieces(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of answer.body ?? []) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw broken(error, "the answer broke off");
  }
}

async function wholeText(answer: Response): Promise<string> {
  const parts: string[] = [];
  let size = 0;
  for await (const piece of pieces(answer)) {
    size += piece.length;
    if (size > BODY_BYTES_MAX) throw new TandemError(`the answer is above ${BODY_BYTES_MAX} bytes`);
    parts.push(piece);
  }
  return parts.join("");
}

async function* events(answer: Response): AsyncGenerator<Json> {
  let rest = "";
  for await (const piece of pieces(answer)) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_CHARS_MAX) throw new TandemError("a line of the answer is too long");
    for (const line of lines) {
      if (line.trim() === "data: [DONE]") return;
      if (line.startsWith("data: ")) yield parsed(line.slice(6));
    }
  }
  throw new ConnectionFailed("the answer broke off before its end");
}

/** The pieces of an answer as they come. `text` is what is there so far: where a correction
 * replaces what was shown, it is right, and the pieces alone are not. Leaving the loop early ends
 * the answer. */
export class Stream implements AsyncIterable<string> {
  text = "";
  finish: string | undefined;
  decision: Decision | undefined;
  usage: Json = {};
  readonly #answer: Response;

  constructor(answer: Response) {
    this.#answer = answer;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for await (const event of events(this.#answer)) {
      if (event.error) throw refused(0, event, null);
      this.#take(event.tandem ?? {});
      this.usage = event.usage ?? this.usage;
      for (const choice of event.choices ?? []) {
        this.finish = choice.finish_reason ?? this.finish;
        const piece: unknown = choice.delta?.content;
        if (typeof piece !== "string" || !piece) continue;
        this.text += piece;
        yield piece;
      }
    }
  }

  #take(tandem: Json): void {
    // The server counts characters of Unicode, a JavaScript string counts UTF-16.
    if (tandem.correction)
      this.text = [...this.text].slice(0, tandem.correction.from_chars).join("");
    else if (tandem.tier) this.decision = tandem as Decision;
  }
}

/** Asks a server. */
export class Client {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  constructor(options: ClientOptions = {}) {
    const given = options.url ?? process.env.TANDEM_URL ?? DEFAULT_URL;
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
      throw new TandemError(`${given} is no address such as ${DEFAULT_URL}`);
    this.#base = given.replace(/\/+$/, "").replace(/\/v1$/, "");
    const key = options.apiKey ?? process.env.TANDEM_API_KEY;
    this.#headers = {
      "Content-Type": "application/json",
      ...(key ? { Authorization: `Bearer ${key}` } : {}),
      ...options.headers,
    };
    this.#timeoutMs = options.timeoutMs ?? 600_000;
  }

  async #send(method: string, path: string, body?: Json, signal?: AbortSignal): Promise<Response> {
    const late = AbortSignal.timeout(this.#timeoutMs);
    let answer: Response;
    try {
      answer = await fetch(this.#base + path, {
        method,
        headers: this.#headers,
        signal: signal ? AbortSignal.any([signal, late]) : late,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    } catch (error) {
      throw broken(error, `${this.#base} cannot be reached`);
    }
    if (answer.status < 400) return answer;
    const said = parsed((await wholeText(answer)) || "{}");
    throw refused(answer.status, said, answer.headers.get("retry-after"));
  }

  /** Any endpoint of docs/api.md: the answer's JSON object, or an APIError. */
  async request(method: string, path: string, body?: Json, signal?: AbortSignal): Promise<Json> {
    return parsed((await wholeText(await this.#send(method, path, body, signal))) || "{}");
  }

  /** The whole answer. */
  async chat(messages: string | readonly Message[], options: ChatOptions = {}): Promise<Answer> {
    const { signal, ...members } = options;
    const body = { model: "auto", ...members, messages: asMessages(messages) };
    const found = await this.request("POST", "/v1/chat/completions", body, signal);
    const choice = found.choices?.[0] ?? {};
    return {
      text: choice.message?.content ?? "",
      finish: choice.finish_reason ?? "",
      decision: found.tandem ?? {},
      message: choice.message ?? {},
      usage: found.usage ?? {},
    };
  }

  /** The same, piece by piece. */
  async stream(messages: string | readonly Message[], options: ChatOptions = {}): Promise<Stream> {
    const { signal, ...members } = options;
    const body = { model: "auto", ...members, messages: asMessages(messages), stream: true };
    return new Stream(await this.#send("POST", "/v1/chat/completions", body, signal));
  }

  /** One vector for each text. */
  async embed(texts: readonly string[]): Promise<number[][]> {
    const found = await this.request("POST", "/v1/embeddings", { model: "auto", input: texts });
    return found.data.map((row: { embedding: number[] }) => row.embedding);
  }

  /** Which of the labels, or of a set that the model brings, each text has. */
  async classify(
    texts: readonly string[],
    labels: readonly string[] | { set: string },
  ): Promise<Classified[]> {
    const asked = "set" in labels ? labels : { labels };
    const found = await this.request("POST", "/tandem/v1/classify", { texts, ...asked });
    return found.data.map((row: Json) => ({
      label: row.label,
      score: row.score,
      scores: Object.fromEntries(row.scores.map((one: Classified) => [one.label, one.score])),
    }));
  }

  /** Every name that `model` may have. */
  async models(): Promise<string[]> {
    return (await this.request("GET", "/v1/models")).data.map((row: { id: string }) => row.id);
  }

  async capabilities(): Promise<Json> {
    return this.request("GET", "/tandem/v1/capabilities");
  }

  /** The record of an exchange (Decision.exchange): why it was answered where it was. */
  async explain(exchange: string): Promise<Json> {
    return this.request("GET", `/tandem/v1/exchanges/${encodeURIComponent(exchange)}`);
  }

  /** Says whether an answer was right. */
  async feedback(exchange: string, ok: boolean, comment?: string): Promise<void> {
    await this.request("POST", "/tandem/v1/feedback", {
      id: exchange,
      ok,
      ...(comment ? { comment } : {}),
    });
  }
}
