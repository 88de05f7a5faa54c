// What the server answers, as far as the console reads it. docs/api.md says what each member means.
// A server of another version may leave members out, so all but the plainest may be missing.

export type Place = 'device' | 'premises' | 'region' | 'cloud'
export type DataClass = 'public' | 'sensitive' | 'contractual' | 'restricted'
export type Mode = 'auto' | 'only-local' | 'prefer-local' | 'prefer-cloud' | 'only-cloud'
export type Role = 'viewer' | 'reviewer' | 'operator' | 'admin'

export interface Session {
  version: string
  needs_key: boolean
  role: Role | null
}

export interface Tier {
  name: string
  place: Place
  provider: string
  up: boolean
  code: string
  models: string[]
  context_tokens: number
  can: string[]
}

export interface Capabilities {
  version: string
  tiers: Tier[]
  routes: { name: string; tiers: string[] }[]
  limits: { body_bytes_max: number; deadline_ms: number }
  privacy: { classes: DataClass[]; pseudonyms: boolean }
  device: { level: string; reason: string; memory_free_bytes: number | null }
  network: string
}

export interface Model {
  id: string
  context_length: number
  tandem?: { kind: string; tier?: string; place?: Place; route?: string; usable?: boolean }
}

export interface Reason {
  code: string
  tier: string | null
  text: string
}

export interface Verification {
  state: 'provisional' | 'committed' | 'corrected' | 'timeout' | 'failed'
  by?: string // how it is checked: by a verdict, or by an answer
  tier?: string
  checked?: string
}

export interface Correction {
  replaces: 'rest' | 'all'
  from_chars: number
  tier: string
  place: Place
}

// The member `tandem` of an answer and of a stream's chunks.
export interface TandemNote {
  exchange: string
  tier?: string
  place?: Place
  model?: string
  confidence?: number | null
  data_class?: DataClass
  route?: string
  mode?: Mode
  degraded?: boolean
  disclosure?: string | null
  cost_usd?: number
  all_cloud_cost_usd?: number
  egress_bytes?: number
  pseudonyms?: { sent: number; restored: number } // only where values were replaced
  cache?: string
  reasons?: Reason[]
  verification?: Verification
  correction?: Correction
  commit?: Verification
  timeout?: Verification
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | ContentPart[] | null
  tool_calls?: ToolCall[]
  tool_call_id?: string
}

export interface ChatRequest {
  model: string
  messages: ChatMessage[]
  tools?: unknown[]
  stream: true
  stream_options: { include_usage: true }
  logprobs?: true
  tandem: Record<string, unknown>
}

/** A piece of a call: its arguments come bit by bit. */
export interface ToolCallPiece {
  index?: number
  id?: string
  function?: { name?: string; arguments?: string }
}

export interface TokenLogprob {
  token: string
  logprob: number
  bytes?: number[] | null // a character may come in several tokens
}

export interface ChatChunk {
  model?: string
  choices: {
    delta?: { content?: string | null; tool_calls?: ToolCallPiece[] | null }
    logprobs?: { content?: TokenLogprob[] | null } | null
    finish_reason?: string | null
  }[]
  usage?: Usage | null
  tandem?: TandemNote
  error?: { message: string; code?: string | null }
}
