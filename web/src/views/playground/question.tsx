import { Pencil } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { t } from '../../texts'
import type { Question } from './conversation'
import { FileChips } from './file-chips'
import { MaskedKinds, MaskedText, useMasked } from './masked'

function Editor({ text, onSave, onCancel }: EditorProps) {
  const [now, setNow] = useState(text)
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault()
        if (now.trim()) onSave(now.trim())
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <textarea
        class="input"
        dir="auto"
        aria-label={t('edit')}
        rows={Math.min(12, now.split('\n').length + 1)}
        autoFocus
        value={now}
        onInput={(event) => setNow(event.currentTarget.value)}
      />
      <div class="actions">
        <button type="button" class="button" onClick={onCancel}>
          {t('cancel')}
        </button>
        <button class="button main" disabled={!now.trim()}>
          {t('editSave')}
        </button>
      </div>
    </form>
  )
}

interface EditorProps {
  text: string
  onSave: (text: string) => void
  onCancel: () => void
}

interface Props {
  turn: Question
  masked: string // the exchanges that replaced values of it before it left; '' = none
  onEdit: (text: string) => void
}

export function QuestionCard({ turn, masked: exchanges, onEdit }: Props) {
  const [editing, setEditing] = useState(false)
  const masked = useMasked(turn.text, exchanges)
  if (editing)
    return <Editor text={turn.text} onSave={onEdit} onCancel={() => setEditing(false)} />
  return (
    <article class="question" aria-label={t('you')}>
      <button
        type="button"
        class="button quiet icon"
        title={t('edit')}
        aria-label={t('edit')}
        onClick={() => setEditing(true)}
      >
        <Pencil size={15} />
      </button>
      <div class="asked">
        {turn.files.length > 0 && <FileChips files={turn.files} />}
        <p dir="auto">
          {masked ? <MaskedText text={turn.text} masked={masked} /> : turn.text}
        </p>
        {masked && <MaskedKinds kinds={masked.kinds} />}
      </div>
    </article>
  )
}
