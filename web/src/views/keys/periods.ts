// Weeks, months and days of UTC, as the ledger counts them. Weeks begin on Mondays.
import type { Group } from '../../api/keys'
import { language } from '../../texts'

const DAY_MS = 86_400_000

export type Span = 'day' | 'week' | 'month'

const dayOf = (ms: number) => new Date(Math.floor(ms / DAY_MS) * DAY_MS)

function monday(ms: number): number {
  const day = dayOf(ms)
  return day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS
}

const monthStart = (ms: number, by = 0) => {
  const day = new Date(ms)
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + by, 1)
}

const startOf = (span: Span, ms: number) =>
  span === 'week' ? monday(ms) : span === 'month' ? monthStart(ms) : dayOf(ms).getTime()

export interface Period {
  id: string
  since: number
  until: number
  span: Span // what a point of the chart is
}

/** The last weeks, the newest first; then longer ones. */
export function periods(now = Date.now()): Period[] {
  const week = monday(now)
  const weeks = Array.from({ length: 8 }, (_, at): Period => {
    const since = week - at * 7 * DAY_MS
    return { id: `w${at}`, since, until: since + 7 * DAY_MS, span: 'day' }
  })
  return [
    ...weeks,
    { id: 'month', since: monthStart(now), until: monthStart(now, 1), span: 'day' },
    { id: 'quarter', since: week - 12 * 7 * DAY_MS, until: week + 7 * DAY_MS, span: 'week' },
    { id: 'year', since: monthStart(now, -11), until: monthStart(now, 1), span: 'month' },
  ]
}

export function dayText(ms: number, span: Span = 'day'): string {
  const form: Intl.DateTimeFormatOptions =
    span === 'month' ? { month: 'short', year: 'numeric' } : { day: 'numeric', month: 'short' }
  return new Intl.DateTimeFormat(language(), { ...form, timeZone: 'UTC' }).format(ms)
}

export interface Point {
  at: number // ms
  cost: number
  cloud: number
  exchanges: number
}

/** The days of a report in days, weeks or months, with those that had nothing. */
export function points(days: Group[], { since, until, span }: Period, now = Date.now()): Point[] {
  const out = new Map<number, Point>()
  for (let at = since; at < Math.min(until, now); at += DAY_MS) {
    const start = startOf(span, at)
    if (!out.has(start)) out.set(start, { at: start, cost: 0, cloud: 0, exchanges: 0 })
  }
  for (const day of days) {
    const point = out.get(startOf(span, Date.parse(`${day.name}T00:00:00Z`)))
    if (!point) continue
    point.cost += day.cost_usd
    point.cloud += day.all_cloud_cost_usd
    point.exchanges += day.exchanges
  }
  return [...out.values()]
}
