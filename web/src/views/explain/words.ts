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

const nameIn = (names: Names, code: string) => (names[code] ? t(names[code]) : code)

export const outcomeName = (code: string | null) => nameIn(OUTCOMES, code ?? '')
export const gateName = (code: string | null) => nameIn(GATES, code ?? 'g3')
export const decidedBy = (code: string) => nameIn(DECIDED, code)
