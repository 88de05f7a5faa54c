// What the page keeps of the stream: sums by the minute over an hour, the last times, the last
// exchanges. All of it is bounded, however much comes.
import type { Leaving, LiveExchange, LiveState } from '../../api/live'
import type { Place } from '../../api/types'

export const MINUTES = 60
export const ROWS_MAX = 50
const LEAVINGS_MAX = 12
const TIMES_MAX = 1000
const KNOWN_MAX = 2000
const TIERS_MAX = 32
const MINUTE_MS = 60000

/** The last so many numbers. */
class Ring {
  private values: number[] = []
  private next = 0
  add(value: number): void {
    this.values[this.next] = value
    this.next = (this.next + 1) % TIMES_MAX
  }
  /** By nearest rank; null while there are none. */
  percentiles(ranks: number[]): number[] | null {
    if (!this.values.length) return null
    const sorted = Float64Array.from(this.values).sort()
    return ranks.map((rank) => sorted[Math.max(Math.ceil(rank * sorted.length) - 1, 0)]!)
  }
}

export interface Minute {
  minute: number // since 1970
  count: number
  byTier: Record<string, number>
  device: number // answered there
  answered: number
  spent: number
  saved: number
  left: number // exchanges that went on from one tier to another
}

export interface Left extends Leaving {
  id: string
  wall_ms: number
}

const emptyMinute = (minute: number): Minute => ({
  minute,
  count: 0,
  byTier: {},
  device: 0,
  answered: 0,
  spent: 0,
  saved: 0,
  left: 0,
})

export class LiveModel {
  state: LiveState | null = null
  rows: LiveExchange[] = [] // newest first
  leavings: Left[] = [] // newest first
  newest = 0 // when the last one ended
  places = new Map<string, Place>() // of tiers that answered
  private known = new Set<string>() // the last ids
  private minutes = new Map<number, Minute>()
  private times = new Ring()
  private timesOf = new Map<string, Ring>()

  /** From the record, the oldest first: what the stream did not tell. */
  merge(earlier: LiveExchange[]): void {
    for (const exchange of earlier) if (!this.known.has(exchange.id)) this.add(exchange)
    this.rows.sort((a, b) => b.wall_ms - a.wall_ms)
  }

  add(exchange: LiveExchange): void {
    const { tier, place, total_ms: took } = exchange
    const minute = this.minuteOf(exchange.wall_ms)
    this.newest = Math.max(this.newest, exchange.wall_ms)
    this.known.add(exchange.id)
    if (this.known.size > KNOWN_MAX) this.known.delete(this.known.values().next().value!)
    if (minute) count(minute, exchange)
    if (tier && place && (this.places.has(tier) || this.places.size < TIERS_MAX))
      this.places.set(tier, place)
    if (exchange.status === 'ok' && took !== null) this.addTime(tier, took)
    this.rows.unshift(exchange)
    if (this.rows.length > ROWS_MAX) this.rows.length = ROWS_MAX
    for (const left of exchange.left ?? [])
      this.leavings.unshift({ ...left, id: exchange.id, wall_ms: exchange.wall_ms })
    if (this.leavings.length > LEAVINGS_MAX) this.leavings.length = LEAVINGS_MAX
  }

  /** The last hour, oldest first, also the minutes in which nothing came. */
  hour(nowMs: number): Minute[] {
    const last = Math.floor(nowMs / MINUTE_MS)
    return Array.from({ length: MINUTES }, (_, at) => {
      const minute = last - MINUTES + 1 + at
      return this.minutes.get(minute) ?? emptyMinute(minute)
    })
  }

  /** Of the last exchanges, of all tiers or one. */
  percentiles(ranks: number[], tier?: string): number[] | null {
    return (tier ? this.timesOf.get(tier) : this.times)?.percentiles(ranks) ?? null
  }

  private addTime(tier: string | null, took: number): void {
    this.times.add(took)
    if (!tier || !this.places.has(tier)) return
    const own = this.timesOf.get(tier) ?? new Ring()
    own.add(took)
    this.timesOf.set(tier, own)
  }

  private minuteOf(wallMs: number): Minute | null {
    const minute = Math.floor(wallMs / MINUTE_MS)
    const found = this.minutes.get(minute)
    if (found) return found
    const made = emptyMinute(minute)
    this.minutes.set(minute, made)
    const oldest = Math.max(...this.minutes.keys()) - MINUTES
    for (const key of this.minutes.keys()) if (key <= oldest) this.minutes.delete(key)
    return this.minutes.has(minute) ? made : null
  }
}

function count(minute: Minute, exchange: LiveExchange): void {
  const { tier, place, status, cost_usd: cost, all_cloud_cost_usd: cloud } = exchange
  minute.count++
  minute.spent += cost ?? 0
  minute.left += exchange.left?.length ? 1 : 0
  if (status !== 'ok' || !tier) return
  minute.answered++
  minute.device += place === 'device' ? 1 : 0
  minute.byTier[tier] = (minute.byTier[tier] ?? 0) + 1
  if (!exchange.degraded) minute.saved += (cloud ?? 0) - (cost ?? 0) // a poor answer saved nothing
}

export interface Sums extends Omit<Minute, 'minute'> {}

export function sumOf(minutes: Minute[]): Sums {
  const sums: Sums = emptyMinute(0)
  for (const minute of minutes) {
    for (const name of ['count', 'device', 'answered', 'spent', 'saved', 'left'] as const)
      sums[name] += minute[name]
    for (const [tier, tally] of Object.entries(minute.byTier))
      sums.byTier[tier] = (sums.byTier[tier] ?? 0) + tally
  }
  return sums
}
