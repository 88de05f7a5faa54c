// The one way to the server. Each request has the header that makes the session's cookie count: a
// page of another origin cannot send it (docs/console.md).

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: the server cannot be reached
    readonly code: string,
    message: string,
    readonly retryAfterS?: number,
  ) {
    super(message)
  }
}

let onSignedOut: () => void = () => {}

/** Called when the server does not know the session any more. */
export function whenSignedOut(run: () => void): void {
  onSignedOut = run
}

export interface Options {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

async function failure(response: Response): Promise<ApiError> {
  let code = ''
  let message = `${response.status} ${response.statusText}`
  try {
    const error = (await response.json())?.error
    code = String(error?.code ?? '')
    message = String(error?.message ?? message)
  } catch {
    // not JSON: the status has to do
  }
  const after = Number(response.headers.get('retry-after'))
  return new ApiError(response.status, code, message, after > 0 ? after : undefined)
}

/** The response, once it has begun well; else an ApiError. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { 'x-tandem-console': '1', ...options.headers }
  if (options.body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(path, {
      method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
      credentials: 'same-origin',
      redirect: 'error',
      cache: 'no-store',
    })
  } catch (reason) {
    if (options.signal?.aborted) throw reason
    throw new ApiError(0, 'unreachable', String(reason))
  }
  if (response.ok) return response
  if (response.status === 401 && path !== '/console/session') onSignedOut()
  throw await failure(response)
}

export async function ask<T>(path: string, options: Options = {}): Promise<T> {
  return (await (await send(path, options)).json()) as T
}
