// The record of an exchange, as GET /tandem/v1/exchanges and /exchanges/ID give it.
import type { DataClass, Place, Reason, Verification } from './types'

/** A row of the list. Members without a value are null. */
export interface ExchangeRow {
  id: string
  wall_ms: number // when it ended
  tenant: string | null
  route: string | null
  requested_model: string | null
  tier: string | null
  model: string | null
  place: Place | null
  data_class: DataClass | null
  status: 'ok' | 'failed' | 'cancelled' | null
  confidence: number | null
  prompt_tokens: number
  completion_tokens: number
  ttft_ms: number | null
  total_ms: number | null
  cost_usd: number | null
  all_cloud_cost_usd: number | null
  standing: string | null
  degraded: boolean
  disclosure: string | null
}

export interface Attempt {
  tier: string
  model: string | null
  place: Place | null
  outcome: string | null
  error: string | null
  confidence: number | null
  start_ms: number // since the exchange began
  first_ms: number // since the attempt began; 0: no text came
  total_ms: number
  cost_usd: number
  estimated: boolean
  egress_bytes: number
}

/** What the gates of an attempt compared last. */
export interface Gate {
  left_by: string | null // null: no gate left the answer
  value: number | null
  least: number | null
  tokens: number // 0: the whole answer
}

export interface Transfer {
  seq?: number
  time: string
  purpose: string
  tier: string | null
  place: Place | null
  region: string | null
  host?: string | null
  bytes: number
  sha256: string
  class: DataClass | null
  replaced: Record<string, number>
}

export interface Shadow {
  tier: string
  agreement: number | null
  same: boolean
  total_ms: number
  cost_usd: number
}

export interface Signals {
  plan?: { tiers?: Record<string, unknown> }
  findings?: Record<string, number>
  decision?: {
    by: string | null
    rule: string | null
    start: string | null
    runner_up: string | null
    flip?: string
  }
  gates?: (Gate | null)[]
  not_mine?: number
  task?: string | null
  verification?: Verification
  cache?: string
}

export interface Exchange extends ExchangeRow {
  signals: Signals | null
  reasons: Reason[] | null
  attempts: Attempt[]
  shadows: Shadow[]
  same_trace: string[]
  prompt?: string // only where the server stores texts
  answer?: string
  egress?: Transfer[] // none: this server keeps no such record
  egress_whole?: boolean
}

export interface Filter {
  tier: string
  route: string
  class: string
  degraded: boolean
}

export const anyExchange: Filter = { tier: '', route: '', class: '', degraded: false }

export const PATH = '/tandem/v1/exchanges'

export function listPath(filter: Filter, limit: number): string {
  const query = new URLSearchParams({ limit: String(limit) })
  for (const name of ['tier', 'route', 'class'] as const)
    if (filter[name]) query.set(name, filter[name])
  if (filter.degraded) query.set('degraded', '1')
  return `${PATH}?${query}`
}

export const onePath = (id: string) => `${PATH}/${encodeURIComponent(id)}`
