// The attempts of an exchange on one line of time.
import type { Attempt, Exchange } from '../../api/explain'
import { t } from '../../texts'
import { duration, money } from '../../ui/format'
import { placeClass } from '../../ui/place'
import { outcomeName } from './words'

interface Span {
  attempt: Attempt
  begin: number // shares of the whole time
  first: number
  end: number
}

const TICKS = [0, 0.25, 0.5, 0.75, 1]

function spansOf(exchange: Exchange): { spans: Span[]; wholeMs: number } {
  const ends = exchange.attempts.map((attempt) => attempt.start_ms + attempt.total_ms)
  const wholeMs = Math.max(exchange.total_ms ?? 0, ...ends, 0.001)
  const share = (ms: number) => Math.min(Math.max(ms / wholeMs, 0), 1)
  const spans = exchange.attempts.map((attempt) => {
    const { start_ms: start, first_ms: first, total_ms: total } = attempt
    return {
      attempt,
      begin: share(start),
      first: share(start + (first > 0 ? Math.min(first, total) : total)),
      end: share(start + total),
    }
  })
  return { spans, wholeMs }
}

const percentOf = (share: number) => `${(share * 100).toFixed(3)}%`

function words(attempt: Attempt): string {
  const parts = [
    outcomeName(attempt.outcome),
    t('timeBegan', { time: duration(attempt.start_ms) }),
    attempt.first_ms > 0 ? t('explainFirst', { time: duration(attempt.first_ms) }) : '',
    t('timeTook', { time: duration(attempt.total_ms) }),
    attempt.cost_usd > 0 ? money(attempt.cost_usd) : '',
  ]
  return parts.filter(Boolean).join(' · ')
}

export function TimeLine({ exchange }: { exchange: Exchange }) {
  const { spans, wholeMs } = spansOf(exchange)
  return (
    <div class="time-line">
      <ol>
        {spans.map(({ attempt, begin, first, end }, at) => (
          <li key={at} class={placeClass(attempt.place ?? undefined)}>
            <strong>{attempt.tier}</strong>
            <span class="time-track" aria-hidden="true">
              <span
                class="time-wait"
                style={{ insetInlineStart: percentOf(begin), inlineSize: percentOf(first - begin) }}
              />
              <span
                class="time-write"
                style={{ insetInlineStart: percentOf(first), inlineSize: percentOf(end - first) }}
              />
            </span>
            <span class="time-words">{words(attempt)}</span>
          </li>
        ))}
      </ol>
      <div class="time-ticks" aria-hidden="true">
        {TICKS.map((tick) => (
          <span key={tick}>{duration(tick * wholeMs)}</span>
        ))}
      </div>
      <p class="time-legend">
        <span class="time-key wait" aria-hidden="true" /> {t('timeWaits')}
        <span class="time-key write" aria-hidden="true" /> {t('timeWrites')}
      </p>
    </div>
  )
}
