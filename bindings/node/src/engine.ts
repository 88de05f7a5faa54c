// A model file in this process: chats, labels, vectors. Nothing leaves the process.
// An Engine has one session, so one thing runs at a time, on a thread beside the event loop; the
// others wait their turn. Needs the package koffi, and libtandem of an installed Tandem.

import koffi from "koffi";

import { enums } from "./declarations.js";
import { EngineError } from "./errors.js";
import { check, library, newError, onThread, textOf, view } from "./library.js";
import { asMessages, type Message } from "./messages.js";

export interface ModelInfo {
  name: string;
  architecture: string;
  quantization: string;
  parameterCount: number;
  contextTokens: number;
  embeddingSize: number;
  labelSets: string[];
}

/** A whole answer. `confidence` is the geometric mean of its tokens' probabilities, less those
 * that a grammar forced. */
export interface Generation {
  text: string;
  finish: string;
  confidence: number;
  promptTokens: number;
  completionTokens: number;
}

/** How an answer is made. `schema` (JSON Schema) or `grammar` (GBNF) hold its form. */
export interface Sampling {
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  seed?: number;
  stop?: readonly string[];
  schema?: object;
  grammar?: string;
}

export interface EngineOptions {
  contextTokens?: number;
  threads?: number;
}

const roleNames = enums.td_role.map((name) => name.slice("TD_ROLE_".length).toLowerCase());
const finishNames = enums.td_finish.map((name) => name.slice("TD_FINISH_".length).toLowerCase());

/** Opens a GGUF file: `await Engine.open(path)`. Close it when it is not needed any more. */
export class Engine {
  #model: unknown;
  #session: unknown;
  #cached: readonly number[] = []; // the tokens whose keys and values the session holds
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(model: unknown, session: unknown) {
    this.#model = model;
    this.#session = session;
  }

  static async open(path: string, options: EngineOptions = {}): Promise<Engine> {
    const error = newError();
    const model = [null];
    check(await onThread(library().td_model_open, path, null, model, error), error);
    const wanted = {
      context_tokens: options.contextTokens ?? 0,
      thread_count: options.threads ?? 0,
      kv_type: 0,
    };
    const session = [null];
    const status = library().td_session_new(model[0], wanted, session, error);
    if (status !== 0) library().td_model_close(model[0]);
    check(status, error);
    return new Engine(model[0], session[0]);
  }

  /** Waits for what runs, and gives the memory back. Twice is once. */
  async close(): Promise<void> {
    await this.#alone(async () => {
      if (!this.#model) return;
      library().td_session_free(this.#session);
      library().td_model_close(this.#model);
      this.#model = this.#session = null;
    });
  }

  /** One after the other, in the order in which they were asked. */
  #alone<T>(what: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(what);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  #opened(): unknown {
    if (!this.#model) throw new EngineError("invalid", "the engine is closed");
    return this.#model;
  }

  get info(): ModelInfo {
    const model = this.#opened();
    const info = koffi.decode(library().td_model_get_info(model), "td_model_info");
    const labelSets: string[] = [];
    for (let name; (name = textOf(library().td_label_set(model, labelSets.length))); )
      labelSets.push(name);
    return {
      name: koffi.decode.string(info.name),
      architecture: koffi.decode.string(info.architecture),
      quantization: koffi.decode.string(info.quantization),
      parameterCount: Number(info.parameter_count),
      contextTokens: info.context_tokens,
      embeddingSize: info.embedding_size,
      labelSets,
    };
  }

  tokenize(text: string): number[] {
    const said = view(text);
    const ids = new Int32Array(said.len + 2); // there are never more
    const count = [0];
    const error = newError();
    const status = library().td_tokenize(
      ...[this.#opened(), said, true, false, ids, ids.length, count, error],
    );
    check(status, error);
    return [...ids.subarray(0, count[0])];
  }

  /** The whole answer. */
  async chat(messages: string | readonly Message[], sampling: Sampling = {}): Promise<Generation> {
    return this.#generate(messages, sampling, () => true);
  }

  /** The same, piece by piece; the generator returns the whole. Leaving the loop early stops it. */
  async *stream(
    messages: string | readonly Message[],
    sampling: Sampling = {},
  ): AsyncGenerator<string, Generation> {
    const waiting: string[] = [];
    let wake = () => {};
    let left = false;
    let ended = false;
    const whole = this.#generate(messages, sampling, (piece) => {
      if (piece) waiting.push(piece);
      wake();
      return !left;
    });
    const end = whole.then(
      () => ((ended = true), wake()),
      () => ((ended = true), wake()),
    );
    try {
      while (!ended || waiting.length) {
        if (waiting.length) yield waiting.shift() as string;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      return await whole;
    } finally {
      left = true;
      await end;
    }
  }

  /** The probability of each label, the likeliest first: of these, or of a set that the model's
   * file brings (info.labelSets). */
  async classify(
    text: string,
    labels: readonly string[] | { set: string },
    instruction = "",
  ): Promise<Record<string, number>> {
    return this.#alone(async () => {
      const words = "set" in labels ? [] : labels.map(view);
      const set = "set" in labels ? Buffer.from(labels.set + "\0") : null;
      const options = { set, labels: words, label_count: words.length };
      const made = [null];
      const error = newError();
      const wanted = { ...options, instruction: view(instruction) };
      check(library().td_classifier_new(this.#opened(), wanted, made, error), error);
      try {
        const count = Number(library().td_classifier_count(made[0]));
        this.#cached = []; // the session's are replaced
        const scores = new Float32Array(count);
        const all = [this.#session, made[0], view(text), scores, {}, error];
        check(await onThread(library().td_classify, ...all), error);
        const rows = [...scores].map((score, i): [string, number] => [
          textOf(library().td_classifier_label(made[0], i)),
          score,
        ]);
        return Object.fromEntries(rows.sort((one, other) => other[1] - one[1]));
      } finally {
        library().td_classifier_free(made[0]);
      }
    });
  }

  /** One vector of length 1 for each text. */
  async embed(texts: readonly string[]): Promise<number[][]> {
    return this.#alone(async () => {
      const made = [null];
      const error = newError();
      check(library().td_embedder_new(this.#opened(), null, made, error), error);
      try {
        const vectors: number[][] = [];
        for (const text of texts) {
          const out = new Float32Array(this.info.embeddingSize);
          const all = [made[0], view(text), out, null, error];
          check(await onThread(library().td_embed_text, ...all), error);
          vectors.push([...out]);
        }
        return vectors;
      } finally {
        library().td_embedder_free(made[0]);
      }
    });
  }

  /** Rendered by the model's template; no text can spell a control token. */
  #chatIds(messages: readonly Message[]): Int32Array {
    const rows = messages.map((message) => {
      const role = roleNames.indexOf(message.role);
      if (role < 0)
        throw new EngineError("invalid", `a message's role is one of ${roleNames.join(", ")}`);
      return { role, content: view(message.content) };
    });
    const ids: [bigint | null] = [null];
    const count = [0];
    const error = newError();
    const all = [this.#opened(), rows, rows.length, ids, count, error];
    check(library().td_chat_tokenize(...all), error);
    try {
      return new Int32Array(koffi.view(ids[0], Number(count[0]) * 4).slice(0));
    } finally {
      library().free(ids[0]);
    }
  }

  #grammar(sampling: Sampling): unknown {
    const { schema, grammar } = sampling;
    if (schema !== undefined && grammar !== undefined)
      throw new EngineError("invalid", "an answer has a schema or a grammar, not both");
    if (schema === undefined && grammar === undefined) return null;
    const compile = schema ? library().td_grammar_from_schema : library().td_grammar_parse;
    const made = [null];
    const error = newError();
    check(compile(view(schema ? JSON.stringify(schema) : (grammar ?? "")), made, error), error);
    return made[0];
  }

  async #generate(
    messages: string | readonly Message[],
    sampling: Sampling,
    take: (piece: string) => boolean,
  ): Promise<Generation> {
    return this.#alone(async () => {
      const ids = this.#chatIds(asMessages(messages));
      const stops = (sampling.stop ?? []).map(view);
      const grammar = this.#grammar(sampling);
      const options = {
        sampling: {
          ...library().td_sampling_default(),
          temperature: sampling.temperature ?? 1,
          top_p: sampling.topP ?? 1,
          seed: sampling.seed ?? 0,
          seed_set: sampling.seed !== undefined,
        },
        tokens_max: sampling.maxTokens ?? 512,
        grammar,
        stops,
        stop_count: stops.length,
      };
      try {
        return await this.#run(ids, options, take);
      } finally {
        library().td_grammar_free(grammar);
      }
    });
  }

  /** The tokens that must run, as those before them are computed already in a conversation that
   * goes on. What the session holds beyond them is forgotten. */
  #notCached(ids: Int32Array): Int32Array {
    let count = 0;
    while (count < ids.length - 1 && this.#cached[count] === ids[count]) count++;
    library().td_session_truncate(this.#session, count);
    return ids.slice(count);
  }

  async #run(
    ids: Int32Array,
    options: object,
    take: (piece: string) => boolean,
  ): Promise<Generation> {
    let text = "";
    let logprob = 0;
    let judged = 0;
    const said = [...ids];
    const onToken = (_: unknown, at: bigint | null, piece: Parameters<typeof textOf>[0]) => {
      const token = at ? koffi.decode(at, "td_token") : null;
      if (token) said.push(token.id);
      if (token && !token.stats.forced) {
        logprob += token.stats.logprob;
        judged++;
      }
      const words = textOf(piece);
      text += words;
      return take(words);
    };
    const callback = koffi.register(onToken, "td_token_fn *");
    const result: Record<string, number> = {};
    const error = newError();
    try {
      const rest = this.#notCached(ids);
      const all = [this.#session, rest, rest.length, options, callback, null, result, error];
      check(await onThread(library().td_generate, ...all), error);
    } finally {
      this.#cached = said.slice(0, library().td_session_length(this.#session));
      koffi.unregister(callback);
    }
    return {
      text,
      finish: finishNames[result.finish ?? 0] ?? "stop",
      confidence: judged ? Math.exp(logprob / judged) : 1,
      promptTokens: ids.length,
      completionTokens: result.completion_tokens ?? 0,
    };
  }
}
