// What the server answers to a GET, asked again when the path changes, and every few seconds where
// that is wanted and the page is looked at.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask } from './client'

export interface Asked<T> {
  value: T | null // the last answer
  error: unknown // why the last one did not come; the value stays
  again: () => void
}

export function useAsked<T>(path: string | null, everyMs = 0): Asked<T> {
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<unknown>(null)
  const abort = useRef<AbortController | null>(null)
  const again = useCallback(() => {
    abort.current?.abort()
    if (path === null) return
    const mine = new AbortController()
    abort.current = mine
    ask<T>(path, { signal: mine.signal }).then(
      (answer) => {
        if (mine.signal.aborted) return
        setValue(answer)
        setError(null)
      },
      (reason) => !mine.signal.aborted && setError(reason),
    )
  }, [path])
  useEffect(() => {
    setValue(null)
    setError(null)
    again()
    const timer = everyMs
      ? setInterval(() => document.visibilityState === 'visible' && again(), everyMs)
      : 0
    return () => {
      clearInterval(timer)
      abort.current?.abort()
    }
  }, [again, everyMs])
  return { value, error, again }
}
