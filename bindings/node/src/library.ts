// The shared library: found once, its structs and functions declared as the C headers have them.

import koffi, { type KoffiFunc, type LibraryHandle } from "koffi";

import { enums, functions, structs } from "./declarations.js";
import { EngineError, TandemError } from "./errors.js";

const NAME = "libtandem.so.0";
const HANDLES = ["model", "session", "adapter", "grammar", "classifier", "embedder"];
// What C writes into: koffi has to be told which arguments come back.
const WRITTEN =
  /\b(td_\w+ \*\*out|size_t \*count|int32_t \*\*ids|int32_t \*ids(?=, size_t capacity)|td_error \*err|td_generate_result \*result|td_classification \*out|float \*(?:out|probabilities))/g;

type Functions = Record<keyof typeof functions | "free", KoffiFunc<(...all: any[]) => any>>;

export interface View {
  data: Buffer;
  len: number;
}

/** A td_str of a text; whoever passes it keeps it until the call is over. */
export function view(text: string): View {
  const data = Buffer.from(text);
  return { data, len: data.length };
}

/** The text of a td_str that C gave. */
export function textOf(found: { data: bigint | null; len: number }): string {
  return found.len && found.data ? Buffer.from(koffi.view(found.data, found.len)).toString() : "";
}

// The engine's kernels keep whole tiles on the stack; koffi's own 256 KiB are too few for them.
const STACK_BYTES = 8 << 20;

let opened: Functions | undefined;

/** libtandem, from TANDEM_LIBRARY or where the system's loader finds it. */
export function library(): Functions {
  if (opened) return opened;
  let shared: LibraryHandle;
  koffi.config({ sync_stack_size: STACK_BYTES, async_stack_size: STACK_BYTES });
  try {
    shared = koffi.load(process.env.TANDEM_LIBRARY || NAME);
  } catch (error) {
    const why = (error as Error).message;
    throw new TandemError(
      `the engine's library cannot be opened (${why}). Install Tandem, or let TANDEM_LIBRARY ` +
        `name ${NAME}.`,
    );
  }
  for (const handle of HANDLES) koffi.opaque(`td_${handle}`);
  for (const [name, members] of Object.entries(structs)) koffi.struct(name, members);
  koffi.proto("bool td_token_fn(void *ctx, td_token *token, td_str text)");
  const found = Object.entries(functions).map(([name, prototype]) => {
    const marked = prototype.replace(WRITTEN, (all) =>
      all.startsWith("td_error") ? `_Inout_ ${all}` : `_Out_ ${all}`,
    );
    return [name, shared.func(marked)];
  });
  opened = {
    ...Object.fromEntries(found),
    free: koffi.load(null).func("void free(void *block)"),
  } as Functions;
  return opened;
}

export interface TdError {
  status: number;
  message: string;
}

/** A td_error that has no words yet. */
export const newError = (): TdError => ({ status: 0, message: "" });

export function check(status: number, error: TdError): void {
  if (status === 0) return;
  const name = enums.td_status[status] ?? "TD_INTERNAL";
  throw new EngineError(name.slice(3).toLowerCase(), error.message);
}

/** Runs a function of the library on another thread. */
export function onThread(
  run: KoffiFunc<(...all: any[]) => any>,
  ...all: unknown[]
): Promise<number> {
  return new Promise((resolve, reject) => {
    run.async(...all, (error: unknown, status: number) => (error ? reject(error) : resolve(status)));
  });
}
