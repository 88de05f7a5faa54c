// Keys, tenants and the sums of the ledger (docs/operations.md).
import { ask } from './client'
import type { DataClass } from './types'

export interface Limits {
  requests_per_minute?: number
  tokens_per_minute?: number
  usd_per_day?: number
  usd_per_month?: number
  tokens_per_day?: number
  tokens_per_month?: number
  when_spent?: 'refuse' | 'local'
  models?: string[]
  tiers?: string[]
  classes?: DataClass[]
  role?: 'reviewer'
  clearance?: DataClass
}

interface Spent {
  usd: number
  tokens: number
}

export interface Key extends Limits {
  id: string
  name: string
  tenant: string | null
  operator: boolean
  state: 'live' | 'expired' | 'revoked'
  created: number // seconds since 1970, as all times here
  expires: number | null
  last_used: number | null
  spent?: { day: Spent; month: Spent }
  key?: string // once, when it is made
}

export interface Tenant extends Limits {
  name: string
  spent?: { day: Spent; month: Spent }
}

export interface KeyList {
  data: Key[]
  tenants: Tenant[]
}

export type Wish = Record<string, string | number | boolean | string[] | null>

export const KEYS = '/tandem/v1/keys'
const one = (id: string) => `${KEYS}/${encodeURIComponent(id)}`

export const addKey = (wish: Wish) => ask<Key>(KEYS, { body: wish })
export const limitKey = (id: string, wish: Wish) => ask<Key>(one(id), { body: wish })
export const revokeKey = (id: string) => ask<Key>(one(id), { method: 'DELETE' })
export const limitTenant = (name: string, wish: Wish) =>
  ask<Tenant>(`/tandem/v1/tenants/${encodeURIComponent(name)}`, { body: wish })

// --- the report ---

export type By = 'app' | 'user' | 'route' | 'model' | 'day' | 'key'

interface Sums {
  exchanges: number
  device: number
  cost_usd: number
  all_cloud_cost_usd: number
}

export interface Group extends Sums {
  name: string | null
  failed: number
  degraded: number
  tokens: number
}

export interface Report extends Sums {
  by: By
  since_wall_ms: number
  shadow_cost_usd: number
  saving_usd: number
  others: number
  groups: Group[]
}

export interface Scope {
  since: number // ms
  until: number
  key: string // "" = all
}

export function reportPath(by: By, { since, until, key }: Scope): string {
  const query = new URLSearchParams({ by, since_wall_ms: String(since) })
  if (until) query.set('until_wall_ms', String(until))
  if (key) query.set('key_id', key)
  return `/tandem/v1/report?${query}`
}
