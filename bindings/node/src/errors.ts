// What can go wrong. Every error of this package is a TandemError.

/** The words say what was wrong, where, and what to do. */
export class TandemError extends Error {
  override name = "TandemError";
}

/** The engine refused. `status` is the library's: "invalid", "not_found", "corrupt", "limit" and
 * the others of tandem/types.h. */
export class EngineError extends TandemError {
  override name = "EngineError";
  constructor(
    readonly status: string,
    message: string,
  ) {
    super(message || status);
  }
}

/** The server cannot be reached, left in the middle, or did not answer in time. */
export class ConnectionFailed extends TandemError {
  override name = "ConnectionFailed";
}

/** The server refused. `retryAfterS` says when to try again, where the server does. */
export class APIError extends TandemError {
  override name = "APIError";
  constructor(
    readonly status: number,
    message: string,
    readonly code: string | undefined,
    readonly param: string | undefined,
    readonly retryAfterS: number | undefined,
  ) {
    super(message || `status ${status}`);
  }
}
