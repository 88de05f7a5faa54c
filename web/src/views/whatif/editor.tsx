// A text field for YAML: numbers of lines, marks of mistakes, and what the schema offers at the
// cursor. It is a plain textarea, so that undo, dictation and screen readers work as everywhere.
import type { RefObject } from 'preact'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { readSchema, type Remark, type Schema } from '../../api/config'
import { t } from '../../texts'
import { complete, type Completion } from './complete'

const LINE_REM = 1.35 // as in whatif.css
const OFFERS_MAX = 8 // of which are seen at once
const OFFERS_REM = 5 // the hint below them
const SHOWN_MAX = 60

interface Props {
  value: string
  onChange: (value: string) => void
  readOnly: boolean
  errors: Remark[]
  warnings: Remark[]
  field: RefObject<HTMLTextAreaElement>
}

/** Puts a text in the place of a part, so that undo takes it back. */
function replace(field: HTMLTextAreaElement, from: number, to: number, text: string): void {
  field.focus()
  field.setSelectionRange(from, to)
  if (!document.execCommand('insertText', false, text)) field.setRangeText(text, from, to, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** Lines in which something is wrong; what is said of a line beyond the end stands at the last. */
const linesOf = (remarks: Remark[], last: number) =>
  new Set(remarks.flatMap(({ line }) => (line === null ? [] : [Math.min(line, last)])))

export function Editor({ value, onChange, readOnly, errors, warnings, field }: Props) {
  const id = useId()
  const gutter = useRef<HTMLDivElement>(null)
  const schema = useRef<Schema | null>(null)
  const [found, setFound] = useState<Completion | null>(null)
  const [chosen, setChosen] = useState(0)
  const [place, setPlace] = useState({ top: 0, column: 0, above: false })
  const count = useMemo(() => value.split('\n').length, [value])
  const bad = useMemo(() => linesOf(errors, count), [errors, count])
  const odd = useMemo(() => linesOf(warnings, count), [warnings, count])
  const options = found?.options.slice(0, SHOWN_MAX) ?? []

  useEffect(() => {
    if (!readOnly) readSchema().then((one) => (schema.current = one), () => {})
  }, [readOnly])
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, found])

  const scroll = () => {
    if (gutter.current && field.current)
      gutter.current.style.transform = `translateY(${-field.current.scrollTop}px)`
    setFound(null)
  }
  const look = (asked: boolean) => {
    const at = field.current
    if (!at || !schema.current || at.selectionStart !== at.selectionEnd) return setFound(null)
    const next = complete(schema.current, at.value, at.selectionStart)
    const typed = next ? at.selectionStart - next.from : 0
    if (!next || (!asked && !typed)) return setFound(null)
    const before = at.value.slice(0, next.from).split('\n')
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize)
    const top = (before.length * LINE_REM + 0.6) * size - at.scrollTop
    const rows = Math.min(next.options.length, OFFERS_MAX)
    const room = (rows * LINE_REM + OFFERS_REM) * size
    const above = top + room > at.clientHeight && top > room
    setPlace({
      top: above ? at.clientHeight - top + (LINE_REM + 0.2) * size : top,
      column: before.at(-1)!.length,
      above,
    })
    setChosen(0)
    setFound(next)
  }
  const take = (at: number) => {
    const option = options[at]
    if (!option || !found || !field.current) return
    replace(field.current, found.from, field.current.selectionStart, option.text)
    setFound(null)
  }
  const newLine = (at: HTMLTextAreaElement) => {
    const line = at.value.slice(0, at.selectionStart).split('\n').at(-1)!
    const indent = /^\s*(- )?/.exec(line)![0].length
    const deeper = /^\s*(- )?[\w.-]+:\s*$/.test(line) ? 2 : 0
    replace(at, at.selectionStart, at.selectionEnd, `\n${' '.repeat(indent + deeper)}`)
  }
  const key = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const { key: name } = event
    const open = options.length > 0
    if (readOnly || event.isComposing) return
    if (name === ' ' && event.ctrlKey) look(true)
    else if (open && name === 'ArrowDown') setChosen((chosen + 1) % options.length)
    else if (open && name === 'ArrowUp') setChosen((chosen + options.length - 1) % options.length)
    else if (open && (name === 'Enter' || name === 'Tab') && !event.shiftKey) take(chosen)
    else if (open && name === 'Escape') setFound(null)
    else if (name === 'Enter' && !event.shiftKey && !event.ctrlKey) newLine(event.currentTarget)
    else return
    event.preventDefault()
  }

  return (
    <div class="editor">
      <div class="editor-numbers" aria-hidden="true">
        <div ref={gutter}>
          {Array.from({ length: count }, (_, at) => (
            <span key={at} class={bad.has(at + 1) ? 'bad' : odd.has(at + 1) ? 'warn' : ''}>
              {at + 1}
            </span>
          ))}
        </div>
      </div>
      <textarea
        ref={field}
        value={value}
        readOnly={readOnly}
        aria-label={t('policyField')}
        aria-describedby={`${id}-hint`}
        aria-invalid={errors.length > 0}
        aria-autocomplete="list"
        aria-controls={options.length ? `${id}-list` : undefined}
        aria-activedescendant={options.length ? `${id}-${chosen}` : undefined}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        dir="ltr"
        onScroll={scroll}
        onBlur={() => setFound(null)}
        onKeyDown={key}
        onInput={(event) => {
          onChange(event.currentTarget.value)
          const { data } = event as InputEvent
          if (data && /^[\w.-]$/.test(data)) look(false)
          else setFound(null)
        }}
      />
      <span id={`${id}-hint`} class="unseen">
        {t('policyFieldHint')}
      </span>
      {options.length > 0 && (
        <div
          class="offers"
          style={{
            [place.above ? 'insetBlockEnd' : 'insetBlockStart']: `${place.top}px`,
            '--column': place.column,
          }}
        >
          <ul id={`${id}-list`} role="listbox" aria-label={t('policyOffers')}>
            {options.map((option, at) => (
              <li
                key={option.name}
                id={`${id}-${at}`}
                role="option"
                aria-selected={at === chosen}
                onMouseDown={(event) => {
                  event.preventDefault()
                  take(at)
                }}
              >
                {option.name}
              </li>
            ))}
          </ul>
          <p class="hint">{options[chosen]?.hint}</p>
        </div>
      )}
    </div>
  )
}
