// What happens now, as GET /tandem/v1/live tells it.
import { send } from './client'
import { events } from './sse'
import type { DataClass, Place } from './types'

export interface Leaving {
  from: string
  to: string | null
  code: string
  text: string | null
}

export interface LiveExchange {
  id: string
  wall_ms: number
  route: string | null
  tier: string | null
  place: Place | null
  data_class: DataClass | null
  status: 'ok' | 'failed' | 'cancelled' | null
  confidence: number | null
  ttft_ms: number | null
  total_ms: number | null
  cost_usd: number | null
  all_cloud_cost_usd: number | null
  degraded: boolean
  left?: Leaving[] // not in rows of the record
}

export interface LiveTier {
  name: string
  place: Place
  up: boolean
  code: string
  under_way?: number // operators alone
}

export interface LiveDevice {
  level: string
  reason: string
  network: string
  battery: number | null
  on_battery: boolean
  heat: { temperature_c: number | null; wall_c: number | null; throttled: boolean } | null
  memory_free_bytes: number | null
}

export interface LiveAlarm {
  kind: string
  subject: string
  begun: number
  text: string
}

export interface LiveState {
  at: number
  left_out: number
  tiers: LiveTier[]
  device?: LiveDevice
  queue?: { running: number; waiting: number }
  engine_bytes?: number
  alarms?: LiveAlarm[]
}

export interface Listener {
  open: () => void
  exchange: (exchange: LiveExchange) => void
  state: (state: LiveState) => void
}

/** Reads until the server or the signal ends it. */
export async function readLive(listener: Listener, signal: AbortSignal): Promise<void> {
  const response = await send('/tandem/v1/live', { signal })
  listener.open()
  for await (const { event, data } of events(response)) {
    if (signal.aborted) return
    if (event === 'exchange') listener.exchange(JSON.parse(data) as LiveExchange)
    else if (event === 'state') listener.state(JSON.parse(data) as LiveState)
  }
}
