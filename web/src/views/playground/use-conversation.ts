// Asks, stops, asks again. The page is drawn once a frame, however fast a stream is.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { send } from '../../api/client'
import { jsonEvents } from '../../api/sse'
import type { ChatChunk } from '../../api/types'
import type { Attachment } from './attachments'
import {
  answer,
  isRunning,
  keep,
  messagesOf,
  pair,
  question,
  results,
  take,
  type Answer,
  type Turn,
} from './conversation'
import { PATH, requestOf, type Settings } from './request'
import { checkTools } from './tools'

export interface Conversation {
  turns: Turn[]
  running: boolean
  ask: (text: string, files?: Attachment[]) => void
  /** Asks the question with this id anew, with another text or the same. */
  askAgain: (id: number, text?: string) => void
  /** Gives back what the tools of the last answer found. */
  giveBack: (texts: string[]) => void
  /** Goes on with one of the two answers of the pair with this id. */
  keep: (id: number, side: 0 | 1) => void
  stop: () => void
  clear: () => void
}

async function run(
  into: Answer,
  turns: Turn[],
  settings: Settings,
  options: RunOptions,
): Promise<void> {
  try {
    const { wrong } = checkTools(settings.tools)
    if (wrong) throw new Error(wrong)
    const body = requestOf(messagesOf(turns, settings.system), settings)
    const response = await send(PATH, { body, signal: options.signal })
    for await (const chunk of jsonEvents<ChatChunk>(response)) {
      if (options.signal.aborted) break
      take(into, chunk)
      options.changed()
    }
    into.state = options.signal.aborted ? 'stopped' : 'done'
  } catch (error) {
    const { message = '' } = error as Partial<Error>
    if (settings.heat && !into.text && !options.signal.aborted && /logprob/i.test(message))
      return run(into, turns, { ...settings, heat: false }, options) // some servers refuse it
    into.state = options.signal.aborted ? 'stopped' : 'failed'
    into.error = error instanceof Error ? error : new Error(String(error))
  }
  options.changed()
}

interface RunOptions {
  signal: AbortSignal
  changed: () => void
}

/** beside: the two tiers that are asked at once; null: one way, as the settings have it. */
export function useConversation(
  settings: Settings,
  beside: [string, string] | null,
): Conversation {
  const [turns, setTurns] = useState<Turn[]>([])
  const running = useRef<AbortController | null>(null)
  const stop = useCallback(() => running.current?.abort(), [])
  useEffect(() => stop, [stop]) // a view that is left asks nothing more

  const start = (before: Turn[]) => {
    stop()
    const mine = new AbortController()
    running.current = mine
    const into = beside ? pair(beside) : answer()
    const shown = (): Turn =>
      into.role === 'pair'
        ? { ...into, answers: [{ ...into.answers[0] }, { ...into.answers[1] }] }
        : { ...into }
    let frame = 0
    const changed = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        setTurns((now) => now.map((turn) => (turn.id === into.id ? shown() : turn)))
      })
    }
    const options = { signal: mine.signal, changed }
    setTurns([...before, shown()])
    if (into.role === 'assistant') void run(into, before, settings, options)
    else
      into.answers.forEach(
        (one, side) =>
          void run(one, before, { ...settings, model: into.tiers[side]! }, options),
      )
  }

  return {
    turns,
    running: isRunning(turns.at(-1)),
    ask: (text, files) => start([...turns, question(text, files)]),
    askAgain: (id, text) => {
      const at = turns.findIndex((turn) => turn.id === id)
      const old = turns[at]
      if (old?.role !== 'user' && old?.role !== 'tool') return
      const asked = text && old.role === 'user' ? question(text, old.files) : old
      start([...turns.slice(0, at), asked])
    },
    giveBack: (texts) => start([...turns, results(texts)]),
    keep: (id, side) => {
      stop()
      setTurns((now) =>
        now.map((turn) => (turn.id === id && turn.role === 'pair' ? keep(turn, side) : turn)),
      )
    },
    stop,
    clear: () => {
      stop()
      setTurns([])
    },
  }
}
