// Tools: the text of the controls as JSON that may be sent, and calls as they come in pieces.
import type { ToolCall, ToolCallPiece } from '../../api/types'
import { t } from '../../texts'

const CALLS_MAX = 128
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export interface CheckedTools {
  tools: unknown[]
  wrong: string // what is wrong with the text; '' when it may be sent
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function wrongTool(tool: unknown, names: Set<string>): string {
  const called = isObject(tool) && tool['type'] === 'function' ? tool['function'] : null
  if (!isObject(called)) return t('toolNoFunction')
  const name = called['name']
  if (typeof name !== 'string' || !NAME.test(name)) return t('toolNoName')
  if (names.has(name)) return t('toolTwice', { name })
  names.add(name)
  const parameters = called['parameters']
  return parameters === undefined || isObject(parameters) ? '' : t('toolNoSchema', { name })
}

export function checkTools(text: string): CheckedTools {
  if (!text.trim()) return { tools: [], wrong: '' }
  let tools: unknown
  try {
    tools = JSON.parse(text)
  } catch (error) {
    return { tools: [], wrong: t('toolsNoJson', { why: (error as Error).message }) }
  }
  if (!Array.isArray(tools) || tools.length > CALLS_MAX)
    return { tools: [], wrong: t('toolsNoList', { count: CALLS_MAX }) }
  const names = new Set<string>()
  for (const [at, tool] of tools.entries()) {
    const why = wrongTool(tool, names)
    if (why) return { tools: [], wrong: t('toolWrong', { number: at + 1, why }) }
  }
  return { tools, wrong: '' }
}

/** The calls with one more piece: a new list, so that what is drawn does not change under it. */
export function takeCall(calls: ToolCall[], piece: ToolCallPiece): ToolCall[] {
  const index = piece.index ?? 0
  if (!(index >= 0 && index <= calls.length && index < CALLS_MAX)) return calls
  const old = calls[index]
  const call: ToolCall = {
    id: piece.id || old?.id || `call_${index}`,
    type: 'function',
    function: {
      name: old?.function.name || (piece.function?.name ?? ''),
      arguments: (old?.function.arguments ?? '') + (piece.function?.arguments ?? ''),
    },
  }
  return [...calls.slice(0, index), call, ...calls.slice(index + 1)]
}

/** Arguments to read. What is no JSON yet, or has numbers that a browser rounds, stays as it is. */
export function prettyArguments(text: string): string {
  if (/\d{16}/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
