// What of a question was replaced before it left. Which kinds and how often says the record of what
// left; where they stand in the text says the server's own check, to which the text goes again. The
// values are those that were typed here: nothing brings them back from elsewhere.
import { EyeOff } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../api/client'
import { onePath, type Exchange } from '../../api/explain'
import { checkText, type Span } from '../../api/privacy'
import { t } from '../../texts'
import { kindName } from '../../ui/egress-words'
import { number } from '../../ui/format'
import { isRunning, type Answer, type Turn } from './conversation'

export interface Masked {
  kinds: Record<string, number> // of the whole request: the conversation, too
  spans: Span[] // in this text, in order, none within another
}

const CHECK_CHARS_MAX = 60_000 // the server's limit is in bytes
const TRIES = 5 // the record is written a moment after the answer
const TRY_AGAIN_MS = 300

/** The exchanges that answered a question with replaced values. */
export function maskedExchanges(next: Turn | undefined): string {
  const answers: Answer[] =
    next?.role === 'pair' ? next.answers : next?.role === 'assistant' ? [next] : []
  return answers
    .flatMap((one) => (one.other ? [one, one.other] : [one]))
    .filter((one) => !isRunning(one) && one.note?.pseudonyms?.sent)
    .map((one) => one.note!.exchange)
    .join(' ')
}

async function kindsOf(exchange: string, signal: AbortSignal): Promise<Record<string, number>> {
  for (let left = TRIES; ; left--) {
    const record = await ask<Exchange>(onePath(exchange), { signal }).catch((reason) => {
      if (left <= 1 || signal.aborted) throw reason
      return null
    })
    const kinds: Record<string, number> = {}
    for (const { replaced } of record?.egress ?? [])
      for (const [kind, count] of Object.entries(replaced))
        kinds[kind] = Math.max(kinds[kind] ?? 0, count) // asked twice, replaced once
    if (Object.keys(kinds).length || left <= 1) return kinds
    await new Promise((done) => setTimeout(done, TRY_AGAIN_MS))
  }
}

function apart(spans: Span[]): Span[] {
  let end = 0
  return [...spans]
    .sort((a, b) => a.char_start - b.char_start || b.char_end - a.char_end)
    .filter((span) => span.char_start >= end && (end = span.char_end) > span.char_start)
}

async function look(text: string, exchanges: string[], signal: AbortSignal): Promise<Masked> {
  const kinds: Record<string, number> = {}
  for (const exchange of exchanges)
    for (const [kind, count] of Object.entries(await kindsOf(exchange, signal)))
      kinds[kind] = Math.max(kinds[kind] ?? 0, count)
  const known = Object.keys(kinds).length > 0 && text.length <= CHECK_CHARS_MAX
  const found = known ? (await checkText(text, 'auto', signal)).spans : []
  return { kinds, spans: apart(found.filter((span) => span.type in kinds)) }
}

/** Null until it is known, and where nothing was replaced or the record is not kept. */
export function useMasked(text: string, exchanges: string): Masked | null {
  const [masked, setMasked] = useState<Masked | null>(null)
  useEffect(() => {
    setMasked(null)
    if (!exchanges) return
    const abort = new AbortController()
    look(text, exchanges.split(' '), abort.signal).then(
      (found) => !abort.signal.aborted && setMasked(found),
      () => {}, // no record: the answer's own facts say what left
    )
    return () => abort.abort()
  }, [text, exchanges])
  return masked
}

/** The kind; by hover, focus or touch the value. Both take the same room, so nothing moves. */
function Chip({ kind, value }: { kind: string; value: string }) {
  const [shown, setShown] = useState(false)
  return (
    <button
      type="button"
      class={`masked-chip ${shown ? 'shown' : ''}`}
      aria-label={shown ? `${kind}: ${value}` : t('maskedChip', { kind })}
      title={t('maskedChip', { kind })}
      onMouseEnter={() => setShown(true)}
      onMouseLeave={() => setShown(false)}
      onFocus={() => setShown(true)}
      onBlur={() => setShown(false)}
      onClick={() => setShown(true)}
      onKeyDown={(event) => event.key === 'Escape' && setShown(false)}
    >
      <span class="kind" aria-hidden="true">
        {kind}
      </span>
      <bdi class="value" aria-hidden="true">
        {value}
      </bdi>
    </button>
  )
}

export function MaskedText({ text, masked }: { text: string; masked: Masked }) {
  const chars = Array.from(text)
  const parts: ComponentChildren[] = []
  let at = 0
  for (const span of masked.spans) {
    parts.push(chars.slice(at, span.char_start).join(''))
    const value = chars.slice(span.char_start, span.char_end).join('')
    parts.push(<Chip key={span.char_start} kind={kindName(span.type)} value={value} />)
    at = span.char_end
  }
  parts.push(chars.slice(at).join(''))
  return <>{parts}</>
}

export function MaskedKinds({ kinds }: { kinds: Record<string, number> }) {
  const list = Object.entries(kinds)
    .map(([kind, count]) => kindName(kind) + (count > 1 ? ` × ${number(count)}` : ''))
    .join(', ')
  return (
    <p class="masked-kinds">
      <EyeOff size={14} />
      {t('maskedKinds', { list })}
    </p>
  )
}
