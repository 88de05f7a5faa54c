// Single keys, for those who want them: not while somebody types, not with Ctrl or Alt, and not
// where they were switched off, as speech input presses keys by mistake.
import { useEffect, useRef, useState } from 'preact/hooks'

const STORED = 'tandem.review.keys'

export function useKeysOn(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => {
    try {
      return localStorage.getItem(STORED) !== 'off'
    } catch {
      return true // storage may be forbidden
    }
  })
  const choose = (value: boolean) => {
    setOn(value)
    try {
      localStorage.setItem(STORED, value ? 'on' : 'off')
    } catch {
      // for this page alone then
    }
  }
  return [on, choose]
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** actions: by key, in lower case. */
export function useKeys(on: boolean, actions: Record<string, (() => void) | false>): void {
  const now = useRef(actions)
  now.current = actions
  useEffect(() => {
    if (!on) return
    const run = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return
      if (event.repeat || event.isComposing) return
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return
      const action = now.current[event.key.toLowerCase()]
      if (!action) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', run)
    return () => removeEventListener('keydown', run)
  }, [on])
}
