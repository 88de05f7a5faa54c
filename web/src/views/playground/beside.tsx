// One question to two tiers at once: which two, and what both said. Each is asked by its name, so
// policy decides as it does for anybody who names a tier, and says why in the tier's column.
import { Check, Columns2, RefreshCw } from 'lucide-preact'
import type { Model } from '../../api/types'
import { t } from '../../texts'
import { PlaceBadge, placeName } from '../../ui/place'
import { AnswerCard } from './answer'
import { hasSaid, isRunning, isUndecided, type Pair } from './conversation'

/** The tiers that the key may name, in the order of the ladder. */
export const tiersOf = (models: Model[]) => models.filter((one) => one.tandem?.kind === 'tier')

/** The two that differ most: the device, and the farthest one that is ready. */
function usualPair(tiers: Model[]): [string, string] | null {
  const [first, ...rest] = tiers
  const far = rest.findLast((one) => one.tandem?.usable !== false) ?? rest.at(-1)
  return first && far ? [first.id, far.id] : null
}

interface ToggleProps {
  tiers: Model[]
  value: [string, string] | null
  onChange: (value: [string, string] | null) => void
}

export function BesideToggle({ tiers, value, onChange }: ToggleProps) {
  const usual = usualPair(tiers)
  if (!usual) return null
  return (
    <button
      type="button"
      class={`button quiet ${value ? 'changed' : ''}`}
      aria-pressed={value !== null}
      aria-label={t('beside')}
      title={t('besideTitle')}
      onClick={() => onChange(value ? null : usual)}
    >
      <Columns2 size={16} />
      <span class="word">{t('beside')}</span>
    </button>
  )
}

/** Whom to ask, as long as two are asked. */
export function BesideChoice({ tiers, value, onChange }: ToggleProps) {
  if (!value) return null
  const choose = (side: 0 | 1, name: string) => {
    const other = value[1 - side]!
    const next: [string, string] = side ? [other, name] : [name, other]
    onChange(name === other ? [value[1], value[0]] : next)
  }
  return (
    <div class="beside-choice" role="group" aria-label={t('beside')}>
      {([0, 1] as const).map((side) => (
        <label key={side}>
          <span>{t(side ? 'besideRight' : 'besideLeft')}</span>
          <select
            class="input"
            value={value[side]}
            onChange={(event) => choose(side, event.currentTarget.value)}
          >
            {tiers.map((tier) => (
              <option key={tier.id} value={tier.id}>
                {tier.id} ({placeName(tier.tandem?.place)})
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  )
}

interface CardProps {
  turn: Pair
  tiers: Model[]
  heat: boolean
  onKeep: (side: 0 | 1) => void
  onAgain: (() => void) | null // null: it is not the last turn
}

export function PairCard({ turn, tiers, heat, onKeep, onAgain }: CardProps) {
  const placeOf = (name: string) => tiers.find((one) => one.id === name)?.tandem?.place
  return (
    <section class="pair" aria-label={t('beside')}>
      <div class="columns">
        {turn.answers.map((answer, side) => {
          const name = turn.tiers[side]!
          const place = placeOf(name)
          return (
            <div key={side} class="answered">
              <AnswerCard
                answer={answer}
                heat={heat}
                asked={
                  place && (
                    <PlaceBadge place={place}>
                      {name} <span class="origin-place">{placeName(place)}</span>
                    </PlaceBadge>
                  )
                }
                onAgain={null}
                onResults={null}
              />
              {hasSaid(answer) && !isRunning(answer) && (
                <button
                  type="button"
                  class="button"
                  aria-label={t('besideKeepOf', { tier: name })}
                  onClick={() => onKeep(side as 0 | 1)}
                >
                  <Check size={16} />
                  {t('besideKeep')}
                </button>
              )}
            </div>
          )
        })}
      </div>
      {!isRunning(turn) && onAgain && (
        <footer>
          <p class="hint">{isUndecided(turn) ? t('besideChoose') : ''}</p>
          <button type="button" class="button quiet" onClick={onAgain}>
            <RefreshCw size={15} />
            {t('besideAgain')}
          </button>
        </footer>
      )}
    </section>
  )
}
