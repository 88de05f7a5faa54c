// What the view "What if" asks. docs/api.md says what each member means.
import type { Weights } from '../ui/weights'
import { ask } from './client'

export interface TriedPolicy {
  confidence_min?: number // of whole answers
  early_min?: number // of the first tokens
  p_local_under?: number
  weights?: Weights
}

export interface Means {
  cost_usd: number | null
  ms: number | null
  share_local: number | null
  right: number | null
}

export interface After extends Means {
  right_before: number | null
  right_known: number
  start_changed: number
  refused: number
}

export interface Replay {
  exchanges: number
  skipped: number
  before: Means
  after: After[]
}

export interface ReplayWish {
  since_wall_ms: number
  route: string
  policies: TriedPolicy[]
}

export const replay = (body: ReplayWish, signal: AbortSignal) =>
  ask<Replay>('/tandem/v1/replay', { body, signal })
