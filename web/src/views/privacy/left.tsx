// What left this device, and whether the record of it is whole.
import { ShieldAlert, ShieldCheck } from 'lucide-preact'
import { useState } from 'preact/hooks'
import type { Egress, Proof, Sum, SumName, Transfer } from '../../api/privacy'
import type { DataClass } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { hrefOf } from '../../router'
import { language, t, type TextName } from '../../texts'
import { CopyButton } from '../../ui/copy'
import { Failure } from '../../ui/failure'
import { Select } from '../../ui/field'
import { bytes, number } from '../../ui/format'
import { Empty, Figures, Loading, Table, type Column } from '../../ui/page'
import { PlaceBadge } from '../../ui/place'
import { CLASS_NAMES } from '../../ui/data-class'
import { ClassBadge } from './check'
import { kindName, purposeName } from '../../ui/egress-words'

const EVERY_MS = 60000 // each time the whole record is checked
const DAY_S = 86400

const BY: [SumName, TextName][] = [
  ['destinations', 'leftByDestination'],
  ['classes', 'leftByClass'],
  ['kinds', 'leftByKind'],
  ['purposes', 'leftByPurpose'],
  ['days', 'leftByDay'],
]
const SINCE: [string, TextName][] = [
  ['1', 'lastDay'],
  ['7', 'lastWeek'],
  ['30', 'lastMonth'],
  ['all', 'allTime'],
]
function ProofCard({ proof }: { proof: Proof }) {
  return (
    <section class={`card proof ${proof.sound ? 'sound' : 'broken'}`} aria-label={t('proof')}>
      {proof.sound ? <ShieldCheck size={22} /> : <ShieldAlert size={22} />}
      <div>
        <h2>{t(proof.sound ? 'proofSound' : 'proofBroken')}</h2>
        <p>
          {proof.sound
            ? t('proofSoundText', { count: number(proof.transfers) })
            : (proof.problem ?? '')}
        </p>
        {proof.unwritten_rows > 0 && <p>{t('proofUnwritten')}</p>}
        {proof.key && (
          <p class="key">
            {t('proofKey')} <code>{proof.key}</code>
            <CopyButton text={() => proof.key ?? ''} />
          </p>
        )}
      </div>
    </section>
  )
}

function nameOf(by: SumName, sum: Sum) {
  if (by === 'classes') return t(CLASS_NAMES[sum.name as DataClass] ?? 'classPublic')
  if (by === 'kinds') return kindName(sum.name)
  if (by === 'purposes') return purposeName(sum.name)
  return <bdi>{sum.name}</bdi>
}

function Sums({ by, sums }: { by: SumName; sums: Sum[] }) {
  const most = Math.max(1, ...sums.map((sum) => sum.bytes))
  const columns: Column<Sum>[] = [
    { name: t(BY.find(([name]) => name === by)![1]), cell: (sum) => nameOf(by, sum) },
    { name: t('leftTransfers'), number: true, cell: (sum) => number(sum.transfers) },
    ...(by === 'kinds'
      ? [{ name: t('leftValues'), number: true, cell: (sum: Sum) => number(sum.values ?? 0) }]
      : []),
    { name: t('leftBytes'), number: true, cell: (sum) => bytes(sum.bytes) },
    {
      name: t('leftShare'),
      cell: (sum) => (
        <span class="meter wide" aria-hidden="true">
          <span style={{ inlineSize: `${Math.round((sum.bytes / most) * 100)}%` }} />
        </span>
      ),
    },
  ]
  if (!sums.length) return <Empty>{t(by === 'kinds' ? 'leftNoKinds' : 'leftNothingThen')}</Empty>
  return (
    <Table caption={t('leftSums')} rows={sums} rowKey={(sum) => sum.name} columns={columns} />
  )
}

function Newest({ transfers }: { transfers: Transfer[] }) {
  const when = new Intl.DateTimeFormat(language(), { dateStyle: 'short', timeStyle: 'medium' })
  return (
    <Table
      caption={t('leftNewest')}
      rows={transfers}
      rowKey={(one) => String(one.seq)}
      columns={[
        { name: t('leftWhen'), cell: (one) => when.format(new Date(one.time)) },
        { name: t('leftTo'), cell: (one) => <PlaceBadge place={one.place}>{one.tier}</PlaceBadge> },
        { name: t('leftByPurpose'), cell: (one) => purposeName(one.purpose) },
        { name: t('dataClass'), cell: (one) => <ClassBadge of={one.class} /> },
        {
          name: t('transferReplaced'),
          cell: (one) =>
            Object.entries(one.replaced ?? {})
              .map(([type, count]) => `${kindName(type)} × ${count}`)
              .join(', ') || '–',
        },
        { name: t('leftBytes'), number: true, cell: (one) => bytes(one.bytes) },
        {
          name: t('exchange'),
          cell: (one) =>
            one.exchange ? <a href={hrefOf('explain', one.exchange)}>{t('transferWhy')}</a> : '–',
        },
      ]}
    />
  )
}

function Kept({ egress }: { egress: Egress }) {
  const [by, setBy] = useState<SumName>('destinations')
  return (
    <>
      <Figures
        figures={[
          { name: t('leftTransfers'), value: number(egress.transfers) },
          { name: t('left'), value: bytes(egress.bytes) },
          { name: t('leftDestinations'), value: number(egress.destinations.length) },
          {
            name: t('leftValues'),
            value: number(egress.kinds.reduce((sum, kind) => sum + (kind.values ?? 0), 0)),
          },
        ]}
      />
      <section class="stack">
        <div class="section-head inline">
          <h2>{t('leftSums')}</h2>
          <Select
            name={t('leftBy')}
            value={by}
            choices={BY.map(([value, name]) => ({ value, name: t(name) }))}
            onChange={setBy}
          />
        </div>
        <Sums by={by} sums={egress[by]} />
      </section>
      {egress.newest.length > 0 && (
        <section class="stack">
          <h2>{t('leftNewest')}</h2>
          <Newest transfers={egress.newest} />
        </section>
      )}
    </>
  )
}

/** From when on, steady so that it is not another question each time. */
const sinceOf = (days: string) =>
  days === 'all' ? 0 : Math.floor(Date.now() / 60000) * 60 - Number(days) * DAY_S

export function LeftTab() {
  const [days, setDays] = useState('30')
  const [since, setSince] = useState(() => sinceOf('30'))
  const { value, error, again } = useAsked<Egress>(`/tandem/v1/egress?since=${since}`, EVERY_MS)
  const change = (next: string) => {
    setDays(next)
    setSince(sinceOf(next))
  }
  if (error && !value) return <Failure error={error} onRetry={again} />
  if (!value) return <Loading />
  if (value.state === 'off') return <Empty>{t('leftOff')}</Empty>
  if (value.state === 'none') return <Empty>{t('leftNone')}</Empty>
  return (
    <>
      {value.proof && <ProofCard proof={value.proof} />}
      {value.proof?.transfers === 0 ? (
        <Empty>{t('leftNone')}</Empty>
      ) : (
        value.proof?.sound && (
          <>
            <div class="inline">
              <Select
                name={t('leftSince')}
                value={days}
                choices={SINCE.map(([one, name]) => ({ value: one, name: t(name) }))}
                onChange={change}
              />
            </div>
            <Kept egress={value} />
          </>
        )
      )}
    </>
  )
}
