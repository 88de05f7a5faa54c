// The calls of tools in an answer, and the box that gives their results back.
import { CornerDownLeft, Wrench } from 'lucide-preact'
import { useState } from 'preact/hooks'
import type { ToolCall } from '../../api/types'
import { t } from '../../texts'
import { Field } from '../../ui/field'
import type { Results } from './conversation'
import { prettyArguments } from './tools'

interface CallProps {
  call: ToolCall
  number: number
  result: string | null // null: it is not given here
  onResult: (text: string) => void
}

function Call({ call, number, result, onResult }: CallProps) {
  const name = call.function.name
  return (
    <section class="call" aria-label={t('toolCall', { number, name })}>
      <p class="title">
        <Wrench size={15} />
        <code>{name}</code>
      </p>
      <pre tabIndex={0} aria-label={t('toolArguments')}>
        {prettyArguments(call.function.arguments)}
      </pre>
      {result !== null && (
        <Field name={t('toolResult')}>
          {(id) => (
            <textarea
              id={id}
              class="input"
              dir="auto"
              rows={3}
              value={result}
              onInput={(event) => onResult(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </section>
  )
}

interface Props {
  calls: ToolCall[]
  onResults: ((texts: string[]) => void) | null // null: they are not awaited (any more)
}

export function ToolCalls({ calls, onResults }: Props) {
  const [texts, setTexts] = useState<string[]>([])
  const given = calls.map((_, at) => texts[at] ?? '')
  return (
    <form
      class="calls"
      onSubmit={(event) => {
        event.preventDefault()
        onResults?.(given)
      }}
    >
      {calls.map((call, at) => (
        <Call
          key={at}
          call={call}
          number={at + 1}
          result={onResults && given[at]!}
          onResult={(text) => setTexts(given.map((old, i) => (i === at ? text : old)))}
        />
      ))}
      {onResults && (
        <button class="button main" disabled={!given.every((text) => text.trim())}>
          <CornerDownLeft size={16} />
          {t('toolGiveBack')}
        </button>
      )}
    </form>
  )
}

export function ResultsCard({ turn }: { turn: Results }) {
  return (
    <article class="results" aria-label={t('toolGiven')}>
      <p class="title">{t('toolGiven')}</p>
      {turn.texts.map((text, at) => (
        <pre key={at} dir="auto" tabIndex={0}>
          {text}
        </pre>
      ))}
    </article>
  )
}
