// A conversation as plain data. Nothing of it is stored: it ends with the page.
import type { ApiError } from '../../api/client'
import type { ChatChunk, ChatMessage, Place, TandemNote, ToolCall, Usage } from '../../api/types'
import { contentOf, type Attachment } from './attachments'
import { TokenReader } from './tokens'
import { takeCall } from './tools'

export interface Question {
  role: 'user'
  id: number
  text: string
  files: Attachment[]
}

/** What the tools gave back that the answer before asked for: one text for each of its calls. */
export interface Results {
  role: 'tool'
  id: number
  texts: string[]
}

export interface Answer {
  role: 'assistant'
  id: number
  text: string
  calls: ToolCall[]
  tokens: TokenReader
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
  /** The one that was given at the same time, where this one was kept. */
  other: Answer | null
}

/** What two tiers said to the same question, until one of both is kept. */
export interface Pair {
  role: 'pair'
  id: number
  tiers: [string, string]
  answers: [Answer, Answer]
}

export type Turn = Question | Results | Answer | Pair

let lastId = 0
const newId = () => ++lastId

export const question = (text: string, files: Attachment[] = []): Question => ({
  role: 'user',
  id: newId(),
  text,
  files,
})

export const results = (texts: string[]): Results => ({ role: 'tool', id: newId(), texts })

export const answer = (): Answer => ({
  role: 'assistant',
  id: newId(),
  text: '',
  calls: [],
  tokens: new TokenReader(),
  state: 'waiting',
  note: null,
  model: '',
  usage: null,
  replaced: null,
  error: null,
  sentAt: performance.now(),
  firstAt: null,
  lastAt: null,
  other: null,
})

export const pair = (tiers: [string, string]): Pair => ({
  role: 'pair',
  id: newId(),
  tiers,
  answers: [answer(), answer()],
})

export const isRunning = (turn: Turn | undefined): boolean =>
  turn?.role === 'pair'
    ? turn.answers.some(isRunning)
    : turn?.role === 'assistant' && (turn.state === 'waiting' || turn.state === 'streaming')

export const hasSaid = (one: Answer) => one.text !== '' || one.calls.length > 0

/** Both said something, and nobody has chosen yet. */
export const isUndecided = (turn: Turn | undefined) =>
  turn?.role === 'pair' && turn.answers.every(hasSaid)

/** The one that goes on of a pair: the other keeps beside it. */
export function keep({ answers }: Pair, side: 0 | 1): Answer {
  const other = answers[1 - side]!
  return {
    ...answers[side],
    other: isRunning(other) ? { ...other, state: 'stopped' } : other,
  }
}

/** What the model is told of the turns so far. */
export function messagesOf(turns: Turn[], system: string): ChatMessage[] {
  const before: ChatMessage[] = system.trim() ? [{ role: 'system', content: system.trim() }] : []
  return [
    ...before,
    ...turns.flatMap((turn, at) => messagesOfTurn(turn, turns[at - 1], turns[at + 1])),
  ]
}

/** Calls that nobody answered are left out: providers refuse a call without a result. */
function messagesOfTurn(turn: Turn, before?: Turn, after?: Turn): ChatMessage[] {
  if (turn.role === 'user') return [{ role: 'user', content: contentOf(turn.text, turn.files) }]
  if (turn.role === 'pair') {
    const only = turn.answers.find(hasSaid)
    return only ? messagesOfTurn(only, before, after) : []
  }
  if (turn.role === 'tool') {
    const calls = before?.role === 'assistant' ? before.calls : []
    return calls.map((call, at) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: turn.texts[at] ?? '',
    }))
  }
  if (turn.calls.length && after?.role === 'tool')
    return [{ role: 'assistant', content: turn.text || null, tool_calls: turn.calls }]
  return turn.text ? [{ role: 'assistant', content: turn.text }] : []
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
    for (const token of choice.logprobs?.content ?? []) into.tokens.take(token)
    const piece = choice.delta?.content
    const calls = choice.delta?.tool_calls
    if (!piece && !calls?.length) continue
    into.text += piece ?? ''
    for (const call of calls ?? []) into.calls = takeCall(into.calls, call)
    into.state = 'streaming'
    into.lastAt = performance.now()
    into.firstAt ??= into.lastAt
  }
}

function correct(into: Answer, from: number, tier: string, place: Place): void {
  const chars = Array.from(into.text)
  into.replaced = { from, before: into.replaced?.before ?? into.text, tier, place }
  into.text = chars.slice(0, from).join('')
  into.calls = [] // they come after the text
  into.tokens = new TokenReader() // the rest is another tier's, so the whole has none
}
