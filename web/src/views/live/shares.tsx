// Which tier answered how much: as shares of the hour, and by the minute.
import { useMemo } from 'preact/hooks'
import type { Place } from '../../api/types'
import { t } from '../../texts'
import { Chart, type Series } from '../../ui/chart'
import { number, percent } from '../../ui/format'
import { placeClass } from '../../ui/place'
import { minuteTime } from '../../ui/time'
import type { Minute, Sums } from './model'

const SHOWN_MAX = 6 // tiers; more lines are not told apart

const colorOf = (place: Place | undefined) => `--${place ?? 'muted'}`

interface Props {
  minutes: Minute[]
  sums: Sums
  places: Map<string, Place>
}

const ORDER: Place[] = ['device', 'premises', 'region', 'cloud']

/** The tiers that answered, the nearest first and among those the busiest. */
function tiersOf(sums: Sums, places: Map<string, Place>): string[] {
  const near = (tier: string) => ORDER.indexOf(places.get(tier) ?? 'cloud')
  return Object.keys(sums.byTier)
    .sort((a, b) => near(a) - near(b) || sums.byTier[b]! - sums.byTier[a]!)
    .slice(0, SHOWN_MAX)
}

function seriesOf(tiers: string[], { minutes, places }: Props): Series[] {
  const seen = new Map<string, number>()
  return tiers.map((tier) => {
    const color = colorOf(places.get(tier))
    const nth = seen.get(color) ?? 0
    seen.set(color, nth + 1)
    return {
      name: tier,
      values: minutes.map((minute) => minute.byTier[tier] ?? 0),
      color,
      fill: nth === 0,
      dashed: nth > 0,
    }
  })
}

export function Shares(props: Props) {
  const { minutes, sums, places } = props
  const tiers = tiersOf(sums, places)
  const last = minutes.at(-1)!.minute
  const x = useMemo(() => minutes.map(({ minute }) => minute * 60), [last])
  if (!tiers.length) return null
  const share = (tier: string) => sums.byTier[tier]! / sums.answered
  const words = tiers.map((tier) => `${tier} ${percent(share(tier))}`).join(', ')
  return (
    <section class="card live-card">
      <h2>{t('liveShares')}</h2>
      <div class="live-bar" aria-hidden="true">
        {tiers.map((tier) => (
          <span
            key={tier}
            class={placeClass(places.get(tier))}
            style={{ inlineSize: `${share(tier) * 100}%` }}
          />
        ))}
      </div>
      <ul class="live-shares">
        {tiers.map((tier) => (
          <li key={tier} class={placeClass(places.get(tier))}>
            <span class="dot" aria-hidden="true" />
            {tier} <strong>{percent(share(tier))}</strong>{' '}
            <span class="live-count">{number(sums.byTier[tier]!)}</span>
          </li>
        ))}
      </ul>
      <Chart
        label={t('liveChart', { words })}
        x={x}
        series={seriesOf(tiers, props)}
        time
        xFormat={minuteTime}
        height={180}
      />
    </section>
  )
}
