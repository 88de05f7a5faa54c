import { language } from '../texts'

/** The time of day; with the date where that is not today's. */
export function clockTime(wallMs: number): string {
  const at = new Date(wallMs)
  const today = at.toDateString() === new Date().toDateString()
  return new Intl.DateTimeFormat(language(), {
    ...(today ? {} : { dateStyle: 'medium' }),
    timeStyle: 'medium',
  }).format(at)
}

/** Of seconds since 1970, as charts have them: hours and minutes. */
export function minuteTime(seconds: number): string {
  const options = { hour: 'numeric', minute: '2-digit' } as const
  return new Intl.DateTimeFormat(language(), options).format(seconds * 1000)
}
