// The last exchanges.
import type { LiveExchange } from '../../api/live'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import { DataClassName } from '../../ui/data-class'
import { duration, money, percent } from '../../ui/format'
import { Table, type Column } from '../../ui/page'
import { PlaceBadge } from '../../ui/place'
import { clockTime } from '../../ui/time'

function state(row: LiveExchange): string {
  if (row.status === 'failed') return t('explainFailed')
  if (row.status === 'cancelled') return t('explainCancelled')
  return row.degraded ? t('explainDegraded') : ''
}

const columns = (): Column<LiveExchange>[] => [
  {
    name: t('explainWhen'),
    cell: (row) => (
      <a class="live-link" href={hrefOf('explain', row.id)}>
        {clockTime(row.wall_ms)}
      </a>
    ),
  },
  {
    name: t('explainTier'),
    cell: (row) => (
      <span class="live-tier">
        {row.tier && row.place ? (
          <PlaceBadge place={row.place}>{row.tier}</PlaceBadge>
        ) : (
          t('explainNobody')
        )}
        {state(row) && (
          <span class={`badge ${row.status === 'failed' ? 'bad' : 'warn'}`}>{state(row)}</span>
        )}
      </span>
    ),
  },
  {
    name: t('dataClass'),
    cell: (row) => row.data_class && <DataClassName value={row.data_class} />,
  },
  {
    name: t('confidence'),
    number: true,
    cell: (row) => (row.confidence === null ? '–' : percent(row.confidence)),
  },
  {
    name: t('explainTook'),
    number: true,
    cell: (row) => (row.total_ms === null ? '–' : duration(row.total_ms)),
  },
  { name: t('cost'), number: true, cell: (row) => money(row.cost_usd ?? 0) },
]

export function LiveTable({ rows }: { rows: LiveExchange[] }) {
  return <Table caption={t('liveLast')} columns={columns()} rows={rows} rowKey={(row) => row.id} />
}
