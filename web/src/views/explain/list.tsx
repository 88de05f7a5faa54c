// The last exchanges, to choose one.
import { RefreshCw } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { anyExchange, listPath, type ExchangeRow, type Filter } from '../../api/explain'
import type { Capabilities, DataClass } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import { CLASS_NAMES, DataClassName } from '../../ui/data-class'
import { Failure } from '../../ui/failure'
import { Select } from '../../ui/field'
import { duration, money, percent } from '../../ui/format'
import { Empty, Loading, Page, Table, type Column } from '../../ui/page'
import { PlaceBadge } from '../../ui/place'
import { clockTime } from '../../ui/time'

const SHOWN = 50
const SHOWN_MAX = 1000 // as the server has it

let kept: Filter = anyExchange // of the view that was left: who comes back finds it as it was

interface FiltersProps {
  filter: Filter
  onChange: (filter: Filter) => void
}

function Filters({ filter, onChange }: FiltersProps) {
  const { value } = useAsked<Capabilities>('/tandem/v1/capabilities')
  const all = { value: '', name: t('explainAny') }
  const named = (names: string[]) => [all, ...names.map((name) => ({ value: name, name }))]
  const classes = Object.keys(CLASS_NAMES) as DataClass[]
  return (
    <div class="explain-filters" role="group" aria-label={t('explainFilters')}>
      <Select
        name={t('explainTier')}
        value={filter.tier}
        choices={named(value?.tiers.map((tier) => tier.name) ?? [])}
        onChange={(tier) => onChange({ ...filter, tier })}
      />
      <Select
        name={t('explainRoute')}
        value={filter.route}
        choices={named(value?.routes.map((route) => route.name) ?? [])}
        onChange={(route) => onChange({ ...filter, route })}
      />
      <Select
        name={t('dataClass')}
        value={filter.class}
        choices={[all, ...classes.map((one) => ({ value: one, name: t(CLASS_NAMES[one]) }))]}
        onChange={(name) => onChange({ ...filter, class: name })}
      />
      <label class="explain-check">
        <input
          type="checkbox"
          checked={filter.degraded}
          onChange={(event) => onChange({ ...filter, degraded: event.currentTarget.checked })}
        />
        {t('explainDegradedOnly')}
      </label>
    </div>
  )
}

/** What became of it, where that is not the usual. */
function State({ row }: { row: ExchangeRow }) {
  if (row.status === 'failed') return <span class="badge bad">{t('explainFailed')}</span>
  if (row.status === 'cancelled') return <span class="badge">{t('explainCancelled')}</span>
  if (row.degraded) return <span class="badge warn">{t('explainDegraded')}</span>
  return <span class="badge good">{t('explainOk')}</span>
}

const columns = (): Column<ExchangeRow>[] => [
  {
    name: t('explainWhen'),
    cell: (row) => (
      <a class="explain-link" href={hrefOf('explain', row.id)}>
        {clockTime(row.wall_ms)}
      </a>
    ),
  },
  {
    name: t('explainTier'),
    cell: (row) =>
      row.tier && row.place ? (
        <PlaceBadge place={row.place}>{row.tier}</PlaceBadge>
      ) : (
        t('explainNobody')
      ),
  },
  { name: t('explainRoute'), cell: (row) => row.route ?? '–' },
  {
    name: t('dataClass'),
    cell: (row) => row.data_class && <DataClassName value={row.data_class} />,
  },
  { name: t('explainState'), cell: (row) => <State row={row} /> },
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

interface RowsProps {
  rows: ExchangeRow[]
  filtered: boolean
  more: (() => void) | null
}

function Rows({ rows, filtered, more }: RowsProps) {
  if (!rows.length)
    return (
      <Empty>
        <p>{filtered ? t('explainNoneSuch') : t('explainNone')}</p>
        {!filtered && (
          <a class="button" href={hrefOf('playground')}>
            {t('playground')}
          </a>
        )}
      </Empty>
    )
  return (
    <>
      <Table
        caption={t('explainLast')}
        columns={columns()}
        rows={rows}
        rowKey={(row) => row.id}
      />
      {more && (
        <button type="button" class="button explain-more" onClick={more}>
          {t('explainMore')}
        </button>
      )}
    </>
  )
}

export function List() {
  const [filter, setFilter] = useState(kept)
  const [limit, setLimit] = useState(SHOWN)
  const { value, error, again } = useAsked<{ data: ExchangeRow[] }>(listPath(filter, limit))
  const change = (next: Filter) => {
    kept = next
    setFilter(next)
    setLimit(SHOWN)
  }
  const rows = value?.data
  const more = rows && rows.length === limit && limit < SHOWN_MAX
  return (
    <Page
      title={t('explain')}
      text={t('explainText')}
      actions={
        <button type="button" class="button" onClick={again}>
          <RefreshCw size={16} />
          {t('explainRefresh')}
        </button>
      }
    >
      <Filters filter={filter} onChange={change} />
      {error ? <Failure error={error} onRetry={again} /> : null}
      {rows ? (
        <Rows
          rows={rows}
          filtered={JSON.stringify(filter) !== JSON.stringify(anyExchange)}
          more={more ? () => setLimit(Math.min(limit * 4, SHOWN_MAX)) : null}
        />
      ) : (
        !error && <Loading />
      )}
    </Page>
  )
}
