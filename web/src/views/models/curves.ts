// What answers of the device that somebody judged say of its confidence: how reliable it is, and
// how many questions may stay for a share of them that is wrong.
import type { JudgedRow } from '../../api/models'

const BINS = 10
const BIN_LEAST = 5 // fewer answers say nothing
const POINTS_MAX = 200

export interface Bin {
  confidence: number // mean
  right: number // share
  count: number
}

export interface Point {
  kept: number // share of all questions
  wrong: number // share of all questions that are kept and wrong
  threshold: number
}

const judged = (rows: JudgedRow[]) =>
  rows.filter((row): row is [number, number, boolean] => row[1] !== null)

/** Bins of as many answers each, by rising confidence. */
export function reliability(rows: JudgedRow[]): Bin[] {
  const sorted = judged(rows).sort((a, b) => a[0] - b[0])
  const count = Math.min(BINS, Math.floor(sorted.length / BIN_LEAST))
  const bins: Bin[] = []
  for (let i = 0; i < count; i++) {
    const part = sorted.slice(
      Math.floor((i * sorted.length) / count),
      Math.floor(((i + 1) * sorted.length) / count),
    )
    const mean = (of: (row: [number, number, boolean]) => number) =>
      part.reduce((sum, row) => sum + of(row), 0) / part.length
    const confidence = mean((row) => row[0])
    const last = bins.at(-1)
    // Points at one place are one: a chart wants rising numbers.
    if (last && confidence <= last.confidence) {
      const all = last.count + part.length
      last.right = (last.right * last.count + mean((row) => row[1]) * part.length) / all
      last.count = all
    } else {
      bins.push({ confidence, right: mean((row) => row[1]), count: part.length })
    }
  }
  return bins
}

/** For each threshold, by conformal risk control: (n R + 1) / (n + 1). Questions that left the
 * device count as wrong, in the proportion in which its answers were judged; docs/thresholds.md. */
export function riskCurve(rows: JudgedRow[]): Point[] {
  const known = judged(rows)
  const kept = rows.filter((row) => row[2]).length
  const left = rows.filter((row) => !row[2] && row[1] === null)
  const share = kept ? Math.min(1, known.filter((row) => row[2]).length / kept) : 0
  const sample = known.map(([confidence, right]) => ({ confidence, loss: 1 - right }))
  left.forEach((row, at) => {
    if (Math.floor((at + 1) * share) > Math.floor(at * share))
      sample.push({ confidence: row[0], loss: 1 })
  })
  sample.sort((a, b) => b.confidence - a.confidence)
  const points: Point[] = []
  let loss = 0
  sample.forEach((one, at) => {
    loss += one.loss
    if (sample[at + 1]?.confidence === one.confidence) return
    points.push({
      kept: (at + 1) / sample.length,
      wrong: (loss + 1) / (sample.length + 1),
      threshold: one.confidence,
    })
  })
  const step = Math.ceil(points.length / POINTS_MAX)
  return points.filter((_, at) => at % step === 0 || at === points.length - 1)
}

/** The most that may stay at this risk. */
export const best = (points: Point[], risk: number): Point | undefined =>
  points.filter((point) => point.wrong <= risk).at(-1)
