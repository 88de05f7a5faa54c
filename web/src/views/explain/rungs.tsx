// The ladder: each tier that might have answered, in its order, and what became of it.
import { Ban, Check, CircleDashed, CornerDownRight, X } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import type { Attempt, Exchange, Gate } from '../../api/explain'
import type { Capabilities, Place, Reason } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { t } from '../../texts'
import { percent } from '../../ui/format'
import { placeClass, placeName } from '../../ui/place'
import { gateName, outcomeName } from './words'
import { ReasonText } from '../../ui/said'

interface Asked {
  attempt: Attempt
  gate: Gate | null
}

export interface Rung {
  tier: string
  place: Place | null
  removed: Reason[]
  said: Reason[] // all other reasons
  asked: Asked[]
  answered: boolean
}

/** The tiers in the order of the ladder: as the plan saw them, then whatever else was asked. */
function rungsOf(exchange: Exchange, placeOf: (tier: string) => Place | null): Rung[] {
  const { attempts, reasons, signals } = exchange
  const names = new Set(Object.keys(signals?.plan?.tiers ?? {}))
  for (const attempt of attempts) names.add(attempt.tier)
  for (const reason of reasons ?? [])
    if (reason.tier && reason.code.startsWith('removed_')) names.add(reason.tier)
  return [...names].map((tier) => {
    const own = (reasons ?? []).filter((reason) => reason.tier === tier)
    const asked = attempts
      .map((attempt, at) => ({ attempt, gate: signals?.gates?.[at] ?? null }))
      .filter(({ attempt }) => attempt.tier === tier)
    return {
      tier,
      place: asked[0]?.attempt.place ?? placeOf(tier),
      removed: own.filter((reason) => reason.code.startsWith('removed_')),
      said: own.filter((reason) => !reason.code.startsWith('removed_')),
      asked,
      answered: exchange.tier === tier && exchange.status === 'ok',
    }
  })
}

/** A scale from 0 to 1 with the value as a bar and what was needed as a mark. */
function Scale({ value, least }: { value: number; least: number | null }) {
  const at = (share: number) => `${Math.min(Math.max(share, 0), 1) * 100}%`
  return (
    <span class="gate-scale" aria-hidden="true">
      <span class="gate-value" style={{ inlineSize: at(value) }} />
      {least !== null && <span class="gate-least" style={{ insetInlineStart: at(least) }} />}
    </span>
  )
}

function GateRow({ gate, notMine }: { gate: Gate; notMine: number | undefined }) {
  const refused = gate.left_by === 'not_mine'
  const value = refused ? (notMine ?? null) : gate.value
  const least = refused ? 0.5 : gate.least // more than one half: it says that itself
  const kept = gate.left_by === null
  return (
    <div class={`gate ${kept ? 'kept' : 'left'}`}>
      <strong>{gateName(gate.left_by)}</strong>
      {value !== null && (
        <>
          <Scale value={value} least={least} />
          <span class="gate-numbers">
            {refused
              ? t('gateAtMost', { value: percent(value), least: percent(0.5) })
              : least === null
                ? percent(value)
                : t('gateAtLeast', { value: percent(value), least: percent(least) })}
          </span>
        </>
      )}
      <span class={`badge ${kept ? 'good' : 'warn'}`}>{kept ? t('gateKept') : t('gateLeft')}</span>
    </div>
  )
}

const iconOf = (rung: Rung) => {
  if (rung.answered) return <Check size={15} />
  if (rung.removed.length) return <Ban size={14} />
  if (rung.asked.some(({ attempt }) => attempt.outcome === 'failed')) return <X size={15} />
  if (rung.asked.length) return <CornerDownRight size={15} />
  return <CircleDashed size={14} />
}

function stateOf(rung: Rung, start: string | null | undefined): string {
  if (rung.answered) return t('rungAnswered')
  if (rung.removed.length) return t('rungRemoved')
  if (rung.asked.length) return outcomeName(rung.asked.at(-1)!.attempt.outcome)
  return start === rung.tier ? t('rungStart') : t('rungNotNeeded')
}

function Sentences({ reasons }: { reasons: Reason[] }) {
  return (
    <>
      {reasons.map((reason, at) => (
        <p key={at}>
          <ReasonText reason={reason} />
        </p>
      ))}
    </>
  )
}

/** Asked again, with the same result. */
function isAgain({ asked }: Rung, at: number): boolean {
  const [gate, earlier] = [asked[at]?.gate, asked[at - 1]?.gate]
  return at > 0 && gate?.left_by === earlier?.left_by && gate?.least === earlier?.least
}

function RungRow({ rung, exchange }: { rung: Rung; exchange: Exchange }) {
  const start = exchange.signals?.decision?.start
  const classes = ['rung', placeClass(rung.place ?? undefined)]
  if (rung.answered) classes.push('answered')
  else if (rung.removed.length) classes.push('removed')
  else if (!rung.asked.length) classes.push('unasked')
  const said = new Set(rung.said.map((reason) => reason.text))
  const details: ComponentChildren[] = rung.asked.map(({ attempt, gate }, at) => (
    <div key={at} class="rung-attempt">
      {gate && !isAgain(rung, at) && <GateRow gate={gate} notMine={exchange.signals?.not_mine} />}
      {attempt.error && !said.has(attempt.error) && (
        <p class="rung-error">
          <bdi>{attempt.error}</bdi>
        </p>
      )}
    </div>
  ))
  return (
    <li class={classes.join(' ')}>
      <span class="rung-mark" aria-hidden="true">
        {iconOf(rung)}
      </span>
      <div class="rung-body">
        <header>
          <strong>{rung.tier}</strong>
          <span class="rung-place">{placeName(rung.place ?? undefined)}</span>
          {start === rung.tier && <span class="badge">{t('rungStart')}</span>}
          <span class="rung-state">{stateOf(rung, start)}</span>
        </header>
        <Sentences reasons={rung.removed.length ? rung.removed : rung.said} />
        {details}
      </div>
    </li>
  )
}

export function Rungs({ exchange }: { exchange: Exchange }) {
  const { value } = useAsked<Capabilities>('/tandem/v1/capabilities')
  const places = new Map(value?.tiers.map((tier) => [tier.name, tier.place]))
  const rungs = rungsOf(exchange, (tier) => places.get(tier) ?? null)
  return (
    <ol class="rungs">
      {rungs.map((rung) => (
        <RungRow key={rung.tier} rung={rung} exchange={exchange} />
      ))}
    </ol>
  )
}
