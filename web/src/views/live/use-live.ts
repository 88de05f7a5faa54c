// Keeps the stream open, and has the page drawn twice a second at most, however much comes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, ask } from '../../api/client'
import { PATH as EXCHANGES } from '../../api/explain'
import { readLive, type LiveExchange } from '../../api/live'
import { LiveModel, MINUTES } from './model'

const DRAW_MS = 500
const RETRY_MS = 2000
const RETRY_MS_MAX = 15000
const EARLIER_MAX = 1000 // as the server has it

export interface Live {
  model: LiveModel
  connected: boolean
  error: unknown // why the stream is not there
  earlier: boolean // the record was asked for what came before
  partial: boolean // it had more of the hour than it gives at once
}

/** What the record has since then (ms), as far as the stream has not told it. */
async function loadSince(model: LiveModel, since: number, signal: AbortSignal): Promise<boolean> {
  const query = `limit=${EARLIER_MAX}&since_wall_ms=${since}`
  const { data } = await ask<{ data: LiveExchange[] }>(`${EXCHANGES}?${query}`, { signal })
  model.merge(data.reverse())
  return data.length === EARLIER_MAX
}

export function useLive(): Live {
  const model = useRef<LiveModel>(null!)
  model.current ??= new LiveModel()
  const [live, setLive] = useState<Omit<Live, 'model'>>({
    connected: false,
    error: null,
    earlier: false,
    partial: false,
  })
  const [, draw] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    let drawing = 0
    let retrying = 0
    let wait = RETRY_MS
    const change = (part: Partial<Live>) => {
      if (!signal.aborted) setLive((now) => ({ ...now, ...part }))
    }
    const changed = () => {
      drawing ||= window.setTimeout(() => {
        drawing = 0
        draw((count) => count + 1)
      }, DRAW_MS)
    }
    const listener = {
      open: () => {
        wait = RETRY_MS
        change({ connected: true, error: null })
        const since = model.current.newest || Date.now() - MINUTES * 60000
        loadSince(model.current, since, signal).then(
          (partial) => change({ earlier: true, partial }),
          () => change({ earlier: true }), // without a record the stream alone tells
        )
      },
      exchange: (exchange: LiveExchange) => {
        model.current.add(exchange)
        changed()
      },
      state: (state: LiveModel['state']) => {
        model.current.state = state
        changed()
      },
    }
    const connect = async () => {
      let error: unknown = null
      try {
        await readLive(listener, signal)
      } catch (reason) {
        error = reason
      }
      if (signal.aborted) return
      change({ connected: false, error: error ?? new ApiError(0, 'unreachable', '') })
      retrying = window.setTimeout(() => void connect(), wait)
      wait = Math.min(wait * 2, RETRY_MS_MAX)
    }
    void connect()
    return () => {
      abort.abort()
      clearTimeout(drawing)
      clearTimeout(retrying)
    }
  }, [])
  return { model: model.current, ...live }
}
