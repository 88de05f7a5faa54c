// The last question, or the next one, as code to copy.
import { useState } from 'preact/hooks'
import { useAsked } from '../../api/use-asked'
import type { ChatRequest, Session } from '../../api/types'
import { t } from '../../texts'
import { CopyButton } from '../../ui/copy'
import { Dialog } from '../../ui/page'
import { codeOf, type CodeKind } from './code'

const KINDS: [CodeKind, string][] = [
  ['curl', 'curl'],
  ['python', 'Python'],
  ['javascript', 'JavaScript'],
]

interface Props {
  request: ChatRequest
  onClose: () => void
}

export function CodeDialog({ request, onClose }: Props) {
  const [kind, setKind] = useState<CodeKind>('curl')
  const needsKey = useAsked<Session>('/console/session').value?.needs_key ?? false
  const code = codeOf(kind, request, `${location.origin}/v1`, needsKey)
  return (
    <Dialog title={t('codeTitle')} onClose={onClose}>
      <p class="code-text">{needsKey ? t('codeTextKey') : t('codeText')}</p>
      <div class="code-kinds" role="group" aria-label={t('codeTitle')}>
        {KINDS.map(([one, name]) => (
          <button
            key={one}
            type="button"
            class="button"
            aria-pressed={kind === one}
            onClick={() => setKind(one)}
          >
            {name}
          </button>
        ))}
        <CopyButton text={() => code} />
      </div>
      <pre class="code" tabIndex={0}>
        {code}
      </pre>
    </Dialog>
  )
}
