// Erases what is held of a user, after the name was typed twice.
import { Eraser } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { forgetUser, type Forgotten } from '../../api/privacy'
import { t, type TextName } from '../../texts'
import { Failure } from '../../ui/failure'
import { Field } from '../../ui/field'
import { number } from '../../ui/format'
import { Dialog, Figures } from '../../ui/page'

const ERASED: [string, TextName][] = [
  ['exchanges', 'erasedExchanges'],
  ['texts', 'erasedTexts'],
  ['comments', 'erasedComments'],
  ['responses', 'erasedResponses'],
  ['files', 'erasedFiles'],
  ['consents', 'erasedConsents'],
  ['vaults', 'erasedVaults'],
  ['similar', 'erasedSimilar'],
  ['answers', 'erasedAnswers'],
  ['deferred', 'erasedDeferred'],
  ['tickets', 'erasedTickets'],
]

interface AskProps {
  user: string
  onDone: (forgotten: Forgotten) => void
  onClose: () => void
}

function Ask({ user, onDone, onClose }: AskProps) {
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const forget = (event: Event) => {
    event.preventDefault()
    if (typed !== user || busy) return
    setBusy(true)
    setError(null)
    forgetUser(user)
      .then(onDone, setError)
      .finally(() => setBusy(false))
  }
  return (
    <Dialog title={t('forgetSure')} onClose={onClose}>
      <form class="stack" onSubmit={forget}>
        <p>{t('forgetSureText')}</p>
        <Field name={t('forgetAgain', { user })}>
          {(id) => (
            <input
              id={id}
              class="input"
              dir="auto"
              autocomplete="off"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        {error ? <Failure error={error} /> : null}
        <div class="actions end">
          <button type="button" class="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button class="button danger" disabled={typed !== user || busy}>
            {t('forgetNow')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Erased({ user, forgotten }: { user: string; forgotten: Forgotten }) {
  const all = ERASED.map(([name, text]) => ({ text, count: Number(forgotten[name] ?? 0) }))
  const some = all.filter(({ count }) => count > 0)
  return (
    <section class="stack" role="status">
      <h2>{t('forgetDone', { user })}</h2>
      {some.length ? (
        <Figures figures={some.map(({ text, count }) => ({ name: t(text), value: number(count) }))} />
      ) : (
        <p class="hint">{t('forgetNothing')}</p>
      )}
      {forgotten['caches'] === true && <p class="hint">{t('forgetCaches')}</p>}
    </section>
  )
}

export function ForgetTab() {
  const [user, setUser] = useState('')
  const [asking, setAsking] = useState(false)
  const [done, setDone] = useState<{ user: string; forgotten: Forgotten } | null>(null)
  const name = user.trim()
  return (
    <>
      <p class="lead">{t('forgetText')}</p>
      <form
        class="forget"
        onSubmit={(event) => {
          event.preventDefault()
          if (name) setAsking(true)
        }}
      >
        <Field name={t('forgetUser')} hint={t('forgetUserHint')}>
          {(id) => (
            <input
              id={id}
              class="input"
              dir="auto"
              autocomplete="off"
              value={user}
              onInput={(event) => setUser(event.currentTarget.value)}
            />
          )}
        </Field>
        <button class="button" disabled={!name}>
          <Eraser size={16} />
          {t('forgetBegin')}
        </button>
      </form>
      {done && <Erased {...done} />}
      {asking && (
        <Ask
          user={name}
          onClose={() => setAsking(false)}
          onDone={(forgotten) => {
            setAsking(false)
            setUser('')
            setDone({ user: name, forgotten })
          }}
        />
      )}
    </>
  )
}
