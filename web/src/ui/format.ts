// Numbers as people read them, in the page's language.
import { language } from '../texts'

export function money(usd: number): string {
  const small = usd !== 0 && Math.abs(usd) < 0.01
  const cents = usd === 0 || Math.abs(usd) >= 10_000 ? 0 : 2
  return new Intl.NumberFormat(language(), {
    style: 'currency',
    currency: 'USD',
    ...(small
      ? { maximumSignificantDigits: 2, maximumFractionDigits: 9 }
      : { maximumFractionDigits: cents, minimumFractionDigits: cents }),
  }).format(usd)
}

export function percent(share: number): string {
  return new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: 0 }).format(
    share,
  )
}

export function duration(ms: number): string {
  const number = new Intl.NumberFormat(language(), { maximumSignificantDigits: 3 })
  return ms < 1000 ? `${number.format(Math.round(ms))} ms` : `${number.format(ms / 1000)} s`
}

export function bytes(count: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let at = 0
  while (count >= 1000 && at < units.length - 1) {
    count /= 1000
    at++
  }
  const digits = { maximumFractionDigits: count < 10 && at > 0 ? 1 : 0 }
  return `${new Intl.NumberFormat(language(), digits).format(count)} ${units[at]}`
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value)
}
