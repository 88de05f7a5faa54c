// A conversation as plain data. Nothing of it is stored: it ends with the page.
import type { ApiError } from '../../api/client'
import type { ChatChunk, ChatMessage, Place, TandemNote, Usage } from '../../api/types'
import { contentOf, type Attachment } from './attachments'

export interface Question {
  role: 'user'
  id: number
  text: string
  files: Attachment[]
}

export interface Answer {
  role: 'assistant'
  id: number
  text: string
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  note: TandemNote | null
  model: string
  usage: Usage | null
  /** What a correction took away, and where the new text begins (in characters of Unicode). */
  replaced: { from: number; before: string; tier: string; place: Place } | null
  error: ApiError | Error | null
  sentAt: number // performance.now()
  firstAt: number | null
  lastAt: number | null
}

export type Turn = Question | Answer

let lastId = 0
export const newId = () => ++lastId

export const question = (text: string, files: Attachment[] = []): Question => ({
  role: 'user',
  id: newId(),
  text,
  files,
})

export const answer = (): Answer => ({
  role: 'assistant',
  id: newId(),
  text: '',
  state: 'waiting',
  note: null,
  model: '',
  usage: null,
  replaced: null,
  error: null,
  sentAt: performance.now(),
  firstAt: null,
  lastAt: null,
})

export const isRunning = (turn: Turn | undefined) =>
  turn?.role === 'assistant' && (turn.state === 'waiting' || turn.state === 'streaming')

/** What the model is told of the turns so far. */
export function messagesOf(turns: Turn[], system: string): ChatMessage[] {
  const before: ChatMessage[] = system.trim() ? [{ role: 'system', content: system.trim() }] : []
  return [
    ...before,
    ...turns
      .filter((turn) => turn.role === 'user' || turn.text)
      .map((turn): ChatMessage => ({
        role: turn.role,
        content: turn.role === 'user' ? contentOf(turn.text, turn.files) : turn.text,
      })),
  ]
}

const isOver = (state: string | undefined) =>
  state === 'committed' || state === 'corrected' || state === 'timeout' || state === 'failed'

/** Puts a chunk of the stream into the answer, in place. */
export function take(into: Answer, chunk: ChatChunk): void {
  const { tandem } = chunk
  if (chunk.error) throw new Error(chunk.error.message)
  if (chunk.model) into.model = chunk.model
  if (chunk.usage) into.usage = chunk.usage
  if (tandem) {
    const { correction, commit, timeout, ...rest } = tandem
    const known = into.note?.verification
    into.note = { ...into.note, ...rest }
    if (correction) correct(into, correction.from_chars, correction.tier, correction.place)
    const end = commit ?? timeout
    if (end) into.note.verification = { ...known, ...end }
    else if (isOver(known?.state) && !isOver(rest.verification?.state) && known)
      into.note.verification = known
  }
  for (const choice of chunk.choices) {
    const piece = choice.delta?.content
    if (!piece) continue
    into.text += piece
    into.state = 'streaming'
    into.lastAt = performance.now()
    into.firstAt ??= into.lastAt
  }
}

function correct(into: Answer, from: number, tier: string, place: Place): void {
  const chars = Array.from(into.text)
  into.replaced = { from, before: into.replaced?.before ?? into.text, tier, place }
  into.text = chars.slice(0, from).join('')
}
