// Times beside now, in words: "in 3 hours", "2 minutes ago".
import { serverNow } from '../../api/review'
import { language } from '../../texts'

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
]

export function timeUntil(atS: number): string {
  const seconds = atS - serverNow() / 1000
  const form = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' })
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return form.format(Math.trunc(seconds / size), unit)
  return form.format(0, 'minute')
}

export const clockTime = (atS: number) =>
  new Date(atS * 1000).toLocaleString(language(), { dateStyle: 'short', timeStyle: 'short' })
