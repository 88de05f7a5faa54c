// The language of the page: as chosen, else as the browser asks. One file a language.
import { useEffect, useState } from 'preact/hooks'
import { de } from './de'
import { en, type TextName, type Texts } from './en'

export type { TextName }

interface Language {
  texts: Texts
  dir: 'ltr' | 'rtl'
}

export const languages: Record<string, Language> = {
  en: { texts: en, dir: 'ltr' },
  de: { texts: de, dir: 'ltr' },
}

const STORED = 'tandem.language'
const listeners = new Set<() => void>()
let current = 'en'

function read(): string {
  try {
    const stored = localStorage.getItem(STORED)
    if (stored && stored in languages) return stored
  } catch {
    // storage may be forbidden
  }
  return navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in languages) ?? 'en'
}

function use(tag: string): void {
  current = tag
  document.documentElement.lang = tag
  document.documentElement.dir = languages[tag]?.dir ?? 'ltr'
}

export function startLanguage(): void {
  use(read())
}

export function setLanguage(tag: string): void {
  use(tag)
  try {
    localStorage.setItem(STORED, tag)
  } catch {
    // for this page alone then
  }
  listeners.forEach((run) => run())
}

export const language = () => current

/** A text by its name, with the values of its {names}. */
export function t(name: TextName, values: Record<string, string | number> = {}): string {
  const text = (languages[current] ?? languages['en']!).texts[name]
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole))
}

/** For the root: draws everything anew when the language changes. */
export function useLanguage(): string {
  const [tag, setTag] = useState(current)
  useEffect(() => {
    const run = () => setTag(current)
    listeners.add(run)
    return () => void listeners.delete(run)
  }, [])
  return tag
}
