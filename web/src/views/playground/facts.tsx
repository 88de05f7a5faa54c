// What stands below an answer: where it is from, how sure it is, how fast and how dear it was, and
// why. These are the server's own words and figures; times are those of this page.
import { Info } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import type { Reason, TandemNote } from '../../api/types'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import { DataClassName } from '../../ui/data-class'
import { bytes, duration, money, number, percent } from '../../ui/format'
import { placeClass, placeName, PlaceBadge } from '../../ui/place'
import type { Answer } from './conversation'
import { ReasonText, said } from '../../ui/said'

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Confidence({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <>{t('confidenceNone')}</>
  return (
    <>
      <span class="meter" aria-hidden="true">
        <span style={{ inlineSize: `${Math.round(Math.min(Math.max(value, 0), 1) * 100)}%` }} />
      </span>{' '}
      {percent(value)}
    </>
  )
}

/** None for an answer that waited for its check: the tokens came in two lots. */
function speed({ usage, firstAt, lastAt, note, replaced }: Answer): string | null {
  if (replaced || note?.verification) return null
  const tokens = usage?.completion_tokens ?? 0
  if (tokens < 2 || firstAt === null || lastAt === null || lastAt - firstAt < 5) return null
  return t('tokensPerSecond', { count: number(((tokens - 1) * 1000) / (lastAt - firstAt)) })
}

function Costs({ note }: { note: TandemNote }) {
  const cost = note.cost_usd ?? 0
  const cloud = note.all_cloud_cost_usd ?? 0
  const saved = cloud > cost && cost >= 0 && !note.degraded // a poor answer saved nothing
  return (
    <>
      <Fact name={t('cost')}>{money(cost)}</Fact>
      {cloud > 0 && (
        <Fact name={t('cloudCost')}>
          {money(cloud)}
          {saved && <span class="saved"> · {percent(1 - cost / cloud)} {t('saved')}</span>}
        </Fact>
      )}
    </>
  )
}

function Reasons({ reasons, exchange }: { reasons: Reason[]; exchange: string }) {
  return (
    <details class="why">
      <summary>{t('whyHere')}</summary>
      <ol>
        {reasons.map((reason, at) => (
          <li key={at} class={reason.code.split('_')[0] ?? ''}>
            <ReasonText reason={reason} />
          </li>
        ))}
      </ol>
      <p class="exchange">
        {t('exchange')} <a href={hrefOf('explain', exchange)}>{exchange}</a>
      </p>
    </details>
  )
}

export function Facts({ answer }: { answer: Answer }) {
  const { note } = answer
  if (!note?.place) return null
  const first = answer.firstAt === null ? null : answer.firstAt - answer.sentAt
  const rate = speed(answer)
  const dataClass = note.data_class
  return (
    <div class={`facts ${placeClass(note.place)}`}>
      {note.disclosure && (
        <div class="note">
          <Info size={17} />
          <p>{said(note.disclosure)}</p>
        </div>
      )}
      <dl>
        <Fact name={t('confidence')}>
          <Confidence value={note.confidence} />
        </Fact>
        {first !== null && <Fact name={t('firstToken')}>{duration(first)}</Fact>}
        {rate && <Fact name={t('speed')}>{rate}</Fact>}
        <Costs note={note} />
        {dataClass && (
          <Fact name={t('dataClass')}>
            <DataClassName value={dataClass} />
          </Fact>
        )}
        <Fact name={t('left')}>
          {note.egress_bytes ? bytes(note.egress_bytes) : t('leftNothing')}
        </Fact>
      </dl>
      {note.reasons?.length ? <Reasons reasons={note.reasons} exchange={note.exchange} /> : null}
    </div>
  )
}

/** The tier, its place and its model. */
export function Origin({ answer }: { answer: Answer }) {
  const { note } = answer
  if (!note?.place) return null
  return (
    <PlaceBadge place={note.place}>
      {note.tier} <span class="origin-place">{placeName(note.place)}</span>
    </PlaceBadge>
  )
}
