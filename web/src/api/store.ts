// Models that can be had, and the one that is on its way. docs/api.md says what each member means.
import { ask } from './client'

export interface StoreModel {
  name: string
  bytes: number
  licence: string
  parameters: number
  context_tokens: number
  use: 'chat' | 'code'
  good_at: string
  lacks: 'memory' | 'disk' | null
  tokens_per_s: number
  downloaded: boolean
}

export interface Store {
  checked: string
  is_old: boolean
  free_memory_bytes: number
  free_disk_bytes: number
  best: string | null
  default: string | null
  models: StoreModel[]
}

export interface Pull {
  state: 'none' | 'running' | 'done' | 'failed' | 'cancelled'
  model: string | null
  last?: {
    event: 'progress' | 'checking' | 'pulled' | 'present'
    name: string
    bytes?: number
    total?: number | null
    resumed_bytes?: number
    verified?: boolean
  }
  error?: string
}

export const STORE = '/tandem/v1/store'
export const PULL = `${STORE}/pull`

export const beginPull = (model: string) => ask<Pull>(PULL, { body: { model } })
export const endPull = () => ask<Pull>(PULL, { method: 'DELETE' })
export const chooseDefault = (model: string | null) =>
  ask<Pull>(`${STORE}/default`, { body: { model } })
