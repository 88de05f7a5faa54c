// What is sent for a question. The controls are its only input, so that it can also be shown as a
// command.
import type { ChatMessage, ChatRequest, DataClass, Mode } from '../../api/types'
import type { Weights } from '../../ui/weights'
import { checkTools } from './tools'

export interface Settings {
  model: string
  mode: Mode
  dataClass: DataClass | ''
  deadlineS: number // 0 = none
  weights: Weights | null // null: the server's
  system: string
  tools: string // JSON, as it was typed
  heat: boolean // shade words by how sure the model was of them
}

export const PATH = '/v1/chat/completions'

export const usualSettings: Settings = {
  model: 'auto',
  mode: 'auto',
  dataClass: '',
  deadlineS: 0,
  weights: null,
  system: '',
  tools: '',
  heat: false,
}

export function requestOf(messages: ChatMessage[], settings: Settings): ChatRequest {
  const tandem: Record<string, unknown> = { corrections: true }
  if (settings.mode !== 'auto') tandem['mode'] = settings.mode
  if (settings.dataClass) tandem['data_class'] = settings.dataClass
  if (settings.deadlineS) tandem['slo_ms'] = settings.deadlineS * 1000
  if (settings.weights) tandem['weights'] = settings.weights
  const { tools } = checkTools(settings.tools)
  return {
    model: settings.model,
    messages,
    ...(tools.length ? { tools } : {}),
    stream: true,
    stream_options: { include_usage: true },
    ...(settings.heat ? { logprobs: true } : {}),
    tandem,
  }
}
