import { ArrowUp, Square } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../texts'

interface Props {
  running: boolean
  onAsk: (text: string) => void
  onStop: () => void
  /** What stands at the start of the row below the text, such as what opens the controls. */
  tools?: ComponentChildren
}

const LINES_PX_MAX = 240

export function Composer({ running, onAsk, onStop, tools }: Props) {
  const [text, setText] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = area.current!
    element.style.blockSize = 'auto'
    element.style.blockSize = `${Math.min(element.scrollHeight, LINES_PX_MAX)}px`
  }, [text])
  const submit = () => {
    if (!text.trim() || running) return
    onAsk(text.trim())
    setText('')
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <textarea
        ref={area}
        rows={1}
        dir="auto"
        autoFocus
        placeholder={t('askHere')}
        aria-label={t('askHere')}
        aria-describedby="send-hint"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          submit()
        }}
      />
      <div class="row">
        {tools}
        <span class="hint" id="send-hint">
          {t('sendHint')}
        </span>
        {running ? (
          <button type="button" class="button main icon" title={t('stop')} aria-label={t('stop')} onClick={onStop}>
            <Square size={15} fill="currentColor" />
          </button>
        ) : (
          <button class="button main icon" title={t('send')} aria-label={t('send')} disabled={!text.trim()}>
            <ArrowUp size={18} />
          </button>
        )}
      </div>
    </form>
  )
}
