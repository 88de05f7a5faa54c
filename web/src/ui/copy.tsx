import { Check, Copy } from 'lucide-preact'
import { useEffect, useState } from 'preact/hooks'
import { t } from '../texts'

/** A button that copies a text, and says so for a moment. */
export function CopyButton({ text, label }: { text: () => string; label?: string }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])
  const copy = () => void navigator.clipboard?.writeText(text()).then(() => setDone(true), () => {})
  const name = done ? t('copied') : (label ?? t('copy'))
  return (
    <button type="button" class="button quiet icon" title={name} aria-label={name} onClick={copy}>
      {done ? <Check size={15} /> : <Copy size={15} />}
    </button>
  )
}

/** A command for a terminal. */
export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <CopyButton text={() => text} />
    </div>
  )
}
