// Light or dark: as the system wants it, until somebody chooses.
const STORED = 'tandem.theme'

export type Theme = 'light' | 'dark'

const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)').matches

export function startTheme(): void {
  try {
    const stored = localStorage.getItem(STORED)
    if (stored === 'light' || stored === 'dark') document.documentElement.dataset['theme'] = stored
  } catch {
    // storage may be forbidden
  }
}

export function theme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : systemIsDark() ? 'dark' : 'light'
}

export function toggleTheme(): Theme {
  const next = theme() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = next
  try {
    localStorage.setItem(STORED, next)
  } catch {
    // for this page alone then
  }
  return next
}
