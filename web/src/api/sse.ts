// The one reader of server-sent events (WHATWG HTML, section 9.2.6).

export interface ServerEvent {
  event: string // '' where the stream names none
  data: string
}

const EVENT_CHARS_MAX = 16 << 20 // more than the server's largest event

/** The events of a response's body, until it ends. */
export async function* events(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read()
      rest += value ?? ''
      if (rest.length > EVENT_CHARS_MAX) throw new Error('an event of the stream is too large')
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length) yield { event, data: data.join('\n') }
          event = ''
          data = []
        } else if (line.startsWith('data:')) {
          data.push(line.slice(line[5] === ' ' ? 6 : 5))
        } else if (line.startsWith('event:')) {
          event = line.slice(6).trim()
        }
      }
      if (done) return
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** The same for streams whose events are JSON and whose last one is [DONE]. */
export async function* jsonEvents<T>(response: Response): AsyncGenerator<T> {
  for await (const { data } of events(response)) {
    if (data === '[DONE]') return
    yield JSON.parse(data) as T
  }
}
