import { ArrowUp, Paperclip, Square } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t, type TextName } from '../../texts'
import { FILES_MAX, readFile, RefusedFile, type Attachment } from './attachments'
import { FileChips } from './file-chips'

interface Props {
  running: boolean
  sees: boolean // a tier sees images
  blocked: string // what has to be done before something can be asked; '' = nothing
  above: ComponentChildren // whom to ask
  onAsk: (text: string, files: Attachment[]) => void
  onStop: () => void
  /** What stands at the start of the row below the text, such as what opens the controls. */
  tools?: ComponentChildren
}

const LINES_PX_MAX = 240

const REFUSALS: Record<RefusedFile['why'], TextName> = {
  tooLarge: 'fileTooLarge',
  noText: 'fileNoText',
  noImages: 'fileNoImages',
  brokenImage: 'fileBroken',
}

/** The files that will go with the next question. */
function useFiles(sees: boolean) {
  const [files, setFiles] = useState<Attachment[]>([])
  const [refused, setRefused] = useState('')
  const add = async (chosen: Iterable<File>) => {
    setRefused('')
    for (const file of chosen) {
      try {
        const read = await readFile(file, sees)
        setFiles((now) =>
          now.length < FILES_MAX ? [...now.filter((one) => one.name !== read.name), read] : now,
        )
      } catch (error) {
        if (!(error instanceof RefusedFile)) throw error
        setRefused(t(REFUSALS[error.why], { name: error.file }))
      }
    }
  }
  const remove = (file: Attachment) => setFiles((now) => now.filter((one) => one !== file))
  return { files, refused, add, remove, clear: () => setFiles([]) }
}

export function Composer({ running, sees, blocked, above, onAsk, onStop, tools }: Props) {
  const [text, setText] = useState('')
  const { files, refused, add, remove, clear } = useFiles(sees)
  const picker = useRef<HTMLInputElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = area.current!
    element.style.blockSize = 'auto'
    element.style.blockSize = `${Math.min(element.scrollHeight, LINES_PX_MAX)}px`
  }, [text])
  const submit = () => {
    if (!text.trim() || running || blocked) return
    onAsk(text.trim(), files)
    setText('')
    clear()
  }
  return (
    <form
      class="composer"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        void add(event.dataTransfer?.files ?? [])
      }}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {above}
      {refused && (
        <p class="note" role="alert">
          {refused}
        </p>
      )}
      {files.length > 0 && <FileChips files={files} onRemove={remove} />}
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
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void add([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <button
          type="button"
          class="button quiet icon"
          title={t('attach')}
          aria-label={t('attach')}
          onClick={() => picker.current?.click()}
        >
          <Paperclip size={16} />
        </button>
        {tools}
        <span class="hint" id="send-hint">
          {blocked || t('sendHint')}
        </span>
        {running ? (
          <button type="button" class="button main icon" title={t('stop')} aria-label={t('stop')} onClick={onStop}>
            <Square size={15} fill="currentColor" />
          </button>
        ) : (
          <button
            class="button main icon"
            title={blocked || t('send')}
            aria-label={t('send')}
            disabled={!text.trim() || blocked !== ''}
          >
            <ArrowUp size={18} />
          </button>
        )}
      </div>
    </form>
  )
}
