import { TriangleAlert } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { ApiError } from './api/client'
import { openSession } from './api/session'
import type { Session } from './api/types'
import { t } from './texts'
import { failureText } from './ui/failure'
import { Field } from './ui/field'

function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return failureText(error)
  if (error.status === 401) return t('loginWrong')
  if (error.status === 429) return t('loginOften', { seconds: error.retryAfterS ?? 60 })
  return failureText(error)
}

export function Login({ ended, onOpen }: { ended: boolean; onOpen: (session: Session) => void }) {
  const [key, setKey] = useState('')
  const [why, setWhy] = useState(ended ? t('loginEnded') : '')
  const [busy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setWhy('')
    try {
      onOpen(await openSession(key.trim()))
    } catch (error) {
      setWhy(explain(error))
      setBusy(false)
    }
  }
  return (
    <main class="alone">
      <form class="login" onSubmit={submit}>
        <div class="brand">
          <img src="/console/icon.svg" alt="" />
          Tandem
        </div>
        <h1>{t('loginTitle')}</h1>
        <p>{t('loginText')}</p>
        <Field name={t('loginKey')}>
          {(id) => (
            <input
              id={id}
              class="input"
              type="password"
              autoComplete="current-password"
              spellcheck={false}
              autoFocus
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <div role="alert">
          {why && (
            <div class="note bad">
              <TriangleAlert size={17} />
              <p>{why}</p>
            </div>
          )}
        </div>
        <button class="button main" disabled={busy || !key.trim()}>
          {t('loginButton')}
        </button>
      </form>
    </main>
  )
}
