// Names of the record's codes, in words. A code that a newer server has is shown as it is.
import { t, type TextName } from '../../texts'

type Names = Record<string, TextName>

const OUTCOMES: Names = {
  answered: 'outcomeAnswered',
  escalated: 'outcomeEscalated',
  failed: 'outcomeFailed',
  cancelled: 'outcomeCancelled',
  continued: 'outcomeContinued',
  checked: 'outcomeChecked',
  pending: 'outcomePending',
  planned: 'outcomePlanned',
}

const GATES: Names = {
  not_mine: 'gateNotMine',
  g1: 'gateProbe',
  values: 'gateValues',
  uncalibrated: 'gateUncalibrated',
  g2: 'gateEarly',
  abandon: 'gateAbandon',
  g3: 'gateWhole',
  stakes: 'gateStakes',
  cut: 'gateCut',
}

const DECIDED: Names = {
  denied: 'byDenied',
  mode: 'byMode',
  rule: 'byRule',
  device: 'byDevice',
  ramp: 'byRamp',
  route: 'byRoute',
  gate: 'byGate',
  score: 'byScore',
  slo: 'bySlo',
  overflow: 'byOverflow',
  similar: 'bySimilar',
  conversation: 'byConversation',
  draw: 'byDraw',
}

const PURPOSES: Names = {
  attempt: 'purposeAttempt',
  retry: 'purposeRetry',
  hedge: 'purposeHedge',
  shadow: 'purposeShadow',
  verification: 'purposeVerification',
  continuation: 'purposeContinuation',
  document: 'purposeDocument',
}

const nameIn = (names: Names, code: string) => (names[code] ? t(names[code]) : code)

export const outcomeName = (code: string | null) => nameIn(OUTCOMES, code ?? '')
export const gateName = (code: string | null) => nameIn(GATES, code ?? 'g3')
export const decidedBy = (code: string) => nameIn(DECIDED, code)
export const purposeName = (code: string) => nameIn(PURPOSES, code)

/** CREDIT_CARD, as people write it. */
export function kindName(kind: string): string {
  if (kind === 'NRP') return t('kindNrp')
  const short = (word: string) => word.length < 4 && word !== 'OF' // IP, URL, SSN
  const words = kind.split('_').map((word) => (short(word) ? word : word.toLowerCase()))
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
