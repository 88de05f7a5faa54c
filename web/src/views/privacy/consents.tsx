// Who allowed what, for how long; and taking it back.
import { Plus } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { CONSENTS, giveConsent, revokeConsent, type Consent } from '../../api/privacy'
import type { Capabilities } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { language, t, type TextName } from '../../texts'
import { Failure } from '../../ui/failure'
import { Field, Select } from '../../ui/field'
import { Dialog, Empty, Loading, Table } from '../../ui/page'

const DAY_S = 86400
const DAYS: [string, TextName][] = [
  ['1', 'consentDay'],
  ['30', 'consentMonth'],
  ['365', 'consentYear'],
]
const STATES: Record<string, [TextName, string]> = {
  valid: ['consentValid', 'good'],
  expired: ['consentExpired', ''],
  revoked: ['consentRevoked', 'bad'],
}

function State({ consent }: { consent: Consent }) {
  const [name, tone] = STATES[consent.state] ?? ['consentExpired', '']
  return <span class={`badge ${tone}`}>{t(name)}</span>
}

function Give({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const { value } = useAsked<Capabilities>('/tandem/v1/capabilities')
  const [scope, setScope] = useState('*')
  const [user, setUser] = useState('')
  const [days, setDays] = useState('30')
  const [error, setError] = useState<unknown>(null)
  const give = (event: Event) => {
    event.preventDefault()
    const expires = Math.floor(Date.now() / 1000) + Number(days) * DAY_S - 1
    giveConsent(scope, user.trim(), expires).then(onDone, setError)
  }
  return (
    <Dialog title={t('consentGive')} onClose={onClose}>
      <form class="stack" onSubmit={give}>
        <Select
          name={t('consentScope')}
          value={scope}
          choices={[
            { value: '*', name: t('consentAll') },
            ...(value?.routes ?? []).map(({ name }) => ({ value: name, name })),
          ]}
          onChange={setScope}
        />
        <Field name={t('consentUser')} hint={t('consentUserHint')}>
          {(id) => (
            <input
              id={id}
              class="input"
              dir="auto"
              value={user}
              onInput={(event) => setUser(event.currentTarget.value)}
            />
          )}
        </Field>
        <Select
          name={t('consentFor')}
          value={days}
          choices={DAYS.map(([one, name]) => ({ value: one, name: t(name) }))}
          onChange={setDays}
        />
        {error ? <Failure error={error} /> : null}
        <div class="actions end">
          <button type="button" class="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button class="button main">{t('consentGive')}</button>
        </div>
      </form>
    </Dialog>
  )
}

function List({ consents, onRevoke }: { consents: Consent[]; onRevoke: (id: string) => void }) {
  const day = new Intl.DateTimeFormat(language(), { dateStyle: 'medium' })
  return (
    <Table
      caption={t('consents')}
      rows={consents}
      rowKey={(one) => one.id}
      columns={[
        {
          name: t('consentUser'),
          cell: (one) => (
            <bdi>{one.user ?? (one.user_hash ? t('consentHashed') : t('consentAnybody'))}</bdi>
          ),
        },
        {
          name: t('consentScope'),
          cell: (one) => <bdi>{one.scope === '*' ? t('consentAll') : one.scope}</bdi>,
        },
        { name: t('consentUntil'), cell: (one) => day.format(new Date(one.expires * 1000)) },
        { name: t('consentState'), cell: (one) => <State consent={one} /> },
        { name: t('consentId'), cell: (one) => <code>{one.id}</code> },
        {
          name: t('consentChange'),
          cell: (one) =>
            one.state === 'valid' ? (
              <button type="button" class="button quiet" onClick={() => onRevoke(one.id)}>
                {t('consentRevoke')}
              </button>
            ) : (
              '–'
            ),
        },
      ]}
    />
  )
}

export function ConsentsTab() {
  const { value, error, again } = useAsked<{ data: Consent[] }>(CONSENTS)
  const [giving, setGiving] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  const revoke = (id: string) => {
    setFailed(null)
    revokeConsent(id).then(again, setFailed)
  }
  if (error && !value) return <Failure error={error} onRetry={again} />
  if (!value) return <Loading />
  const give = (
    <button type="button" class="button" onClick={() => setGiving(true)}>
      <Plus size={16} />
      {t('consentGive')}
    </button>
  )
  return (
    <>
      <p class="lead">{t('consentsText')}</p>
      {failed ? <Failure error={failed} /> : null}
      {value.data.length ? (
        <>
          <div class="actions">{give}</div>
          <List consents={value.data} onRevoke={revoke} />
        </>
      ) : (
        <Empty>
          <p>{t('consentsEmpty')}</p>
          {give}
        </Empty>
      )}
      {giving && (
        <Give
          onClose={() => setGiving(false)}
          onDone={() => {
            setGiving(false)
            again()
          }}
        />
      )}
    </>
  )
}
