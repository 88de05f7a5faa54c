// What the view of privacy asks. docs/api.md says what each member means.
import { ask } from './client'
import type { DataClass, Place } from './types'

export interface Span {
  type: string
  score: number
  class: DataClass
  char_start: number // in code points
  char_end: number
}

export interface CheckedTier {
  name: string
  place: Place
  gets: 'text' | 'masked' | 'nothing'
  first: boolean
  why: string | null
}

export interface Check {
  class: DataClass
  spans: Span[]
  route: string
  rule: string | null
  masked?: string
  masked_class?: DataClass
  why_not_masked?: string
  replaced?: { type: string; count: number }[]
  tiers: CheckedTier[]
}

export const checkText = (text: string, model: string, signal: AbortSignal) =>
  ask<Check>('/tandem/v1/privacy/check', { body: { text, model }, signal })

export interface Sum {
  name: string
  transfers: number
  bytes: number
  values?: number
}

export type SumName = 'destinations' | 'classes' | 'kinds' | 'purposes' | 'days'

export interface Transfer {
  seq: number
  time: string
  exchange: string | null
  purpose: string
  tier: string
  place: Place
  host: string
  bytes: number
  class: DataClass
  replaced?: Record<string, number>
}

export interface Proof {
  sound: boolean
  transfers: number
  heads: number
  bad_row: number | null
  problem: string | null
  unwritten_rows: number
  key: string | null
}

export interface Egress extends Record<SumName, Sum[]> {
  state: 'kept' | 'none' | 'off'
  transfers: number
  bytes: number
  newest: Transfer[]
  proof: Proof | null
}

export interface Consent {
  id: string
  scope: string
  user?: string | null
  user_hash?: string
  expires: number // seconds since 1970
  state: string
}

export const CONSENTS = '/tandem/v1/consents'

export const giveConsent = (scope: string, user: string, expires: number) =>
  ask<Consent>(CONSENTS, { body: { scope, expires, ...(user ? { user } : {}) } })

export const revokeConsent = (id: string) =>
  ask<Consent>(`${CONSENTS}/${encodeURIComponent(id)}`, { method: 'DELETE' })

export type Forgotten = Record<string, number | boolean | string>

export const forgetUser = (user: string) =>
  ask<Forgotten>('/tandem/v1/forget', { body: { user } })
