// Paste a text: what is found in it, and what each tier would be sent.
import { ScanSearch } from 'lucide-preact'
import { useEffect, useState } from 'preact/hooks'
import { checkText, type Check, type CheckedTier, type Span } from '../../api/privacy'
import type { Capabilities, DataClass } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { t, type TextName } from '../../texts'
import { Failure } from '../../ui/failure'
import { Select } from '../../ui/field'
import { percent } from '../../ui/format'
import { Empty, Table } from '../../ui/page'
import { placeClass, placeName } from '../../ui/place'
import { CLASS_NAMES } from '../../ui/data-class'
import { kindName } from '../../ui/egress-words'

const WAIT_MS = 250 // after the last key

const WHY: Record<DataClass, TextName> = {
  public: 'privacyWhyPublic',
  sensitive: 'privacyWhySensitive',
  contractual: 'privacyWhyContractual',
  restricted: 'privacyWhyRestricted',
}

const GETS: Record<CheckedTier['gets'], [TextName, string]> = {
  text: ['privacyGetsText', 'warn'],
  masked: ['privacyGetsMasked', 'good'],
  nothing: ['privacyGetsNothing', ''],
}

export function ClassBadge({ of }: { of: DataClass }) {
  return <span class={`badge class-${of}`}>{t(CLASS_NAMES[of] ?? 'classPublic')}</span>
}

interface Checked {
  text: string
  check: Check
}

/** Checks a text once nobody has typed for a moment. */
function useCheck(text: string, route: string) {
  const [checked, setChecked] = useState<Checked | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setError(null)
    if (!text.trim()) {
      setChecked(null)
      return
    }
    const abort = new AbortController()
    const timer = setTimeout(() => {
      checkText(text, route, abort.signal).then(
        (check) => !abort.signal.aborted && setChecked({ text, check }),
        (reason) => !abort.signal.aborted && setError(reason),
      )
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, route])
  return { checked, error }
}

/** The text with what was found marked in it. */
function Marked({ text, spans }: { text: string; spans: Span[] }) {
  const chars = Array.from(text)
  const parts = []
  let at = 0
  for (const span of spans) {
    if (span.char_start > at) parts.push(chars.slice(at, span.char_start).join(''))
    parts.push(
      <mark key={span.char_start} class={`class-${span.class}`} title={t(WHY[span.class])}>
        {chars.slice(span.char_start, span.char_end).join('')}
        <span class="mark-kind">{kindName(span.type)}</span>
      </mark>,
    )
    at = span.char_end
  }
  parts.push(chars.slice(at).join(''))
  return (
    <p class="checked-text" dir="auto">
      {parts}
    </p>
  )
}

function Findings({ text, spans }: { text: string; spans: Span[] }) {
  const chars = Array.from(text)
  if (!spans.length) return <Empty>{t('privacyNothingFound')}</Empty>
  return (
    <Table
      caption={t('privacyFound')}
      rows={spans}
      rowKey={(span) => String(span.char_start)}
      columns={[
        {
          name: t('privacyValue'),
          cell: (span) => (
            <bdi class="value">{chars.slice(span.char_start, span.char_end).join('')}</bdi>
          ),
        },
        { name: t('privacyKind'), cell: (span) => kindName(span.type) },
        { name: t('dataClass'), cell: (span) => <ClassBadge of={span.class} /> },
        { name: t('privacyMeans'), cell: (span) => t(WHY[span.class]) },
        { name: t('privacySure'), number: true, cell: (span) => percent(span.score) },
      ]}
    />
  )
}

function TierRow({ tier }: { tier: CheckedTier }) {
  const [text, tone] = GETS[tier.gets]
  const here = tier.place === 'device'
  return (
    <li class={placeClass(tier.place)}>
      <span class="dot" aria-hidden="true" />
      <strong>{tier.name}</strong>
      <span class="where">{placeName(tier.place)}</span>
      <span class={`badge ${here && tier.gets === 'text' ? 'good' : tone}`}>
        {t(here && tier.gets === 'text' ? 'privacyReadsHere' : text)}
      </span>
      {(tier.why || tier.first) && (
        <span class="why-not">{tier.why ?? t('privacyAskedFirst')}</span>
      )}
    </li>
  )
}

function Sent({ check }: { check: Check }) {
  const kept = check.tiers.some((tier) => tier.gets === 'nothing')
  return (
    <section class="stack" aria-label={t('privacySent')}>
      <h2>{t('privacySent')}</h2>
      <ol class="sent">
        {check.tiers.map((tier) => (
          <TierRow key={tier.name} tier={tier} />
        ))}
      </ol>
      {check.tiers.some((tier) => tier.gets === 'masked') && (
        <div class="card masked">
          <h3>{t('privacyMaskedTitle')}</h3>
          <p class="checked-text" dir="auto">
            {check.masked}
          </p>
          <p class="hint">{t('privacyMaskedHint')}</p>
        </div>
      )}
      {kept && check.class === 'sensitive' && check.masked === undefined && (
        <p class="hint">{t('privacyMaskOff')}</p>
      )}
    </section>
  )
}

function Result({ checked: { text, check } }: { checked: Checked }) {
  return (
    <>
      <p class="verdict" role="status">
        {t('privacyVerdict')} <ClassBadge of={check.class} />
        {check.rule && <span class="hint">{t('privacyByRule', { rule: check.rule })}</span>}
      </p>
      <Sent check={check} />
      <section class="stack" aria-label={t('privacyFound')}>
        <h2>{t('privacyFound')}</h2>
        {check.spans.length > 0 && <Marked text={text} spans={check.spans} />}
        <Findings text={text} spans={check.spans} />
      </section>
    </>
  )
}

export function CheckTab() {
  const [text, setText] = useState('')
  const [route, setRoute] = useState('auto')
  const { value } = useAsked<Capabilities>('/tandem/v1/capabilities')
  const { checked, error } = useCheck(text, route)
  const routes = value?.routes.map((one) => one.name) ?? ['auto']
  return (
    <>
      <div class="check-ask">
        <textarea
          class="input"
          rows={5}
          dir="auto"
          aria-label={t('privacyText')}
          placeholder={t('privacyPlaceholder')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="row inline">
          <p class="hint">{t('privacyStays')}</p>
          {routes.length > 1 && (
            <Select
              name={t('privacyRoute')}
              value={route}
              choices={routes.map((name) => ({ value: name, name }))}
              onChange={setRoute}
            />
          )}
        </div>
      </div>
      {error ? <Failure error={error} /> : null}
      {checked ? (
        <Result checked={checked} />
      ) : (
        !text && (
          <Empty>
            <p>{t('privacyEmpty')}</p>
            <button type="button" class="button" onClick={() => setText(t('privacySample'))}>
              <ScanSearch size={16} />
              {t('privacyTry')}
            </button>
          </Empty>
        )
      )}
    </>
  )
}
