// What the view of models asks. docs/api.md says what each member means.
import { ask } from './client'
import type { Place, TandemNote } from './types'

export type JudgedBy = 'calibration' | 'confidence_model' | 'file' | 'rule' | 'nothing'

export interface ModelFile {
  architecture: string
  quantization: string
  bytes: number
  parameters: number
  context_tokens: number
  layers: number
  renderer: string
  fingerprint: string
}

export interface ModelTier {
  name: string
  place: Place
  provider: string
  model: string | null
  version: string | null
  fault: string | null
  judged_by: JudgedBy
  samples: number | null
  thresholds: { risk: number; threshold: number | null }[]
  kept_from: number | null
  file: ModelFile | null
}

export interface ModelVersion {
  version: string
  wall_ms: number // of its first use
  last_ms: number | null
  attempts: number
}

// An answer of the device: its confidence, how right it was (null: nobody said), and whether it was
// kept.
export type JudgedRow = [number, number | null, boolean]

export interface Calibration {
  tiers: ModelTier[]
  routes: { name: string; tiers: string[]; risk: number; early_min: number | null }[]
  loaded: number
  memory_bytes: number
  answers: JudgedRow[]
  versions: ModelVersion[]
}

export interface Watched {
  escalation_share: number | null
  score_psi: number
  calibration_error: number | null
}

export interface Shadow {
  tier: string | null
  shadow: string
  compared: number
  failed: number
  same: number
  same_share: number | null
  same_low: number | null
  same_high: number | null
  cost_usd: number | null
  examples: string[]
}

export interface Ramp {
  route: string
  to: string
  percent: number
  step: number // from 1
  steps: number
  stopped: boolean
  cause: string | null
  changed: string
  evidence: Record<string, { judged: number; loss: number | null }>
}

export interface Tested {
  ms: number
  text: string
  note: TandemNote | null
}

/** One short question to this tier alone: an exchange like any other. */
export async function testTier(tier: string, question: string): Promise<Tested> {
  const begin = performance.now()
  const answer = await ask<{
    choices: { message: { content: string | null } }[]
    tandem?: TandemNote
  }>('/v1/chat/completions', {
    body: { model: tier, messages: [{ role: 'user', content: question }], max_tokens: 24 },
  })
  return {
    ms: performance.now() - begin,
    text: answer.choices[0]?.message.content ?? '',
    note: answer.tandem ?? null,
  }
}

export const restartRamp = (route: string) =>
  ask(`/tandem/v1/ramps/${encodeURIComponent(route)}`, { body: { restart: true } })

/** What `tandem calibrate --json` says. */
export interface Found {
  model: string
  quantization: string
  questions: number
  right: number
  risks: { risk: number; threshold: number | null; coverage: number; risk_seen: number }[]
}

export interface CalibrationRun {
  state: 'none' | 'running' | 'done' | 'failed' | 'cancelled'
  tier: string | null
  asked: number
  questions: number
  right: number
  left_s: number | null
  error: string | null
  found: Found | null
  kept: boolean
}

const RUN = '/tandem/v1/calibration/run'

export const startRun = (tier: string, questions?: string) =>
  ask<CalibrationRun>(RUN, { body: { tier, questions } })
export const cancelRun = () => ask<CalibrationRun>(RUN, { method: 'DELETE' })
export const keepRun = () =>
  ask<CalibrationRun>('/tandem/v1/calibration/keep', { method: 'POST', body: {} })
