// What the policy editor asks. docs/api.md says what each member means.
import { ask } from './client'

export interface ConfigFile {
  file: string | null
  text: string
  version: string | null
  may_change: boolean
  why_not: string | null
  sections: string[] // that alone may be changed; none: all
}

export interface Remark {
  line: number | null
  text: string
}

export interface PolicyTest {
  name: string
  line: number
  ok: boolean
  tier: string
  mismatch?: string
  because?: { text: string; code: string }[]
}

export interface PolicyTests {
  file: string
  passed: number
  failed: number
  error: string | null
  tests: PolicyTest[]
}

export interface ConfigCheck {
  ok: boolean
  errors: Remark[]
  error_count: number
  warnings?: Remark[]
  policy_version?: string
  tiers?: number
  routes?: number
  rules?: number
  tests?: PolicyTests | null
  restart?: string[]
}

export interface ConfigChange extends ConfigCheck {
  version: string
}

/** A part of the JSON Schema, as far as the editor reads it. */
export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  description?: string
}

export const readConfig = () => ask<ConfigFile>('/tandem/v1/config')
export const readSchema = () => ask<Schema>('/tandem/v1/config/schema')
export const checkConfig = (text: string, signal: AbortSignal) =>
  ask<ConfigCheck>('/tandem/v1/config/check', { body: { text }, signal })
export const applyConfig = (text: string, version: string) =>
  ask<ConfigChange>('/tandem/v1/config', { body: { text, version } })
