// What left the device for an exchange, from the signed record of it.
import { ShieldCheck } from 'lucide-preact'
import type { Exchange, Transfer } from '../../api/explain'
import { t } from '../../texts'
import { bytes, number } from '../../ui/format'
import { DataClassName } from '../../ui/data-class'
import { Table, type Column } from '../../ui/page'
import { PlaceBadge } from '../../ui/place'
import { kindName, purposeName } from '../../ui/egress-words'

function Replaced({ kinds }: { kinds: Record<string, number> }) {
  const rows = Object.entries(kinds)
  if (!rows.length) return <>{t('leftAsIs')}</>
  return (
    <span class="kinds">
      {rows.map(([kind, count]) => (
        <span key={kind} class="badge">
          {kindName(kind)}
          {count > 1 && ` × ${number(count)}`}
        </span>
      ))}
    </span>
  )
}

const columns = (): Column<Transfer>[] => [
  {
    name: t('leftTo'),
    cell: (row) => (
      <span class="left-to">
        {row.tier && row.place ? <PlaceBadge place={row.place}>{row.tier}</PlaceBadge> : '–'}
        {(row.host || row.region) && (
          <span class="left-host">{[row.host, row.region].filter(Boolean).join(' · ')}</span>
        )}
      </span>
    ),
  },
  { name: t('leftWhy'), cell: (row) => purposeName(row.purpose) },
  { name: t('dataClass'), cell: (row) => row.class && <DataClassName value={row.class} /> },
  { name: t('leftReplaced'), cell: (row) => <Replaced kinds={row.replaced} /> },
  { name: t('leftBytes'), number: true, cell: (row) => bytes(row.bytes) },
  {
    name: t('leftHash'),
    cell: (row) => (
      <code class="left-hash" title={row.sha256}>
        {row.sha256.slice(0, 10)}…
      </code>
    ),
  },
]

export function Left({ exchange, bytesLeft }: { exchange: Exchange; bytesLeft: number }) {
  const { egress, egress_whole: whole } = exchange
  if (!egress?.length)
    return (
      <p class="left-nothing">
        {!bytesLeft && <ShieldCheck size={18} />}
        {bytesLeft ? t('leftUnrecorded', { bytes: bytes(bytesLeft) }) : t('leftNothingAtAll')}
      </p>
    )
  return (
    <>
      <p class="explain-hint">{t('leftHint')}</p>
      <Table
        caption={t('explainLeft')}
        columns={columns()}
        rows={egress}
        rowKey={(row) => `${row.time} ${row.sha256}`}
      />
      {whole === false && <p class="explain-hint">{t('leftPart')}</p>}
    </>
  )
}
