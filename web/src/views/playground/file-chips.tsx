import { FileText, X } from 'lucide-preact'
import { t } from '../../texts'
import { bytes } from '../../ui/format'
import type { Attachment } from './attachments'

interface Props {
  files: Attachment[]
  onRemove?: (file: Attachment) => void
}

/** The files of a question: images as they are sent, texts by their names. */
export function FileChips({ files, onRemove }: Props) {
  return (
    <ul class="files" aria-label={t('files')}>
      {files.map((file) => (
        <li key={file.name} class="file">
          {file.image ? <img src={file.image} alt="" /> : <FileText size={16} />}
          <span class="file-name" dir="auto">
            {file.name}
          </span>
          <span class="hint">{bytes(file.bytes)}</span>
          {onRemove && (
            <button
              type="button"
              class="button quiet icon"
              aria-label={t('fileRemove', { name: file.name })}
              onClick={() => onRemove(file)}
            >
              <X size={14} />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
